"""The daemons of several machines, watched by the real Prometheus and Alertmanager with what is in deploy/."""

import json
import os
import signal
import subprocess
import unittest

from fleet import DEPLOY, FleetTest, ask
from server import ALLOC, DRAM, FREE

GB = 10**9


class Fleet(FleetTest):
    def setUp(self):
        super().setUp()
        self.held = {"lab-1": 1 * GB, "lab-2": 2 * GB, "lab-3": 4 * GB}
        self.clients, self.daemons = {}, {}
        for name, size in self.held.items():
            self.daemons[name] = self.add_machine(name, "--process-metrics", "--leak-watch", "6s")
            self.claim_job(os.getpid(), 8 if name == "lab-3" else 7)
            self.clients[name] = self.client()
            self.clients[name].send(ALLOC, 0, size, DRAM, id=1)
            self.assertEqual(self.clients[name].query()[0], size)
        self.start_prometheus()

    def by_instance(self, values):
        return {self.addresses[name]: value for name, value in values.items()}

    def wait_values(self, expression, label, values):
        self.wait_for(lambda: self.values(expression, label) == values,
                      lambda: f"{expression} = {values}, but {self.values(expression, label)},")

    def check_recorded_sums(self):
        """Per machine, per job and of the fleet."""
        wanted = (
            ('up{job="tidemark"}', "instance", dict.fromkeys(self.held, 1)),
            ('up{rack="b2"}', "instance", {"lab-2": 1, "lab-3": 1}),
            ("instance:tt_dram_used_bytes:sum", "instance", self.held),
            ("instance:tt_devices:count", "instance", dict.fromkeys(self.held, 2)),  # the card, and that of the client
        )
        for expression, label, values in wanted:
            self.wait_values(expression, label, self.by_instance(values))
        self.wait_values("job:tt_dram_bytes:sum", "exported_job", {"7": 3 * GB, "8": 4 * GB})
        self.wait_values("job:tt_devices:count", "exported_job", {"7": 2, "8": 1})
        for name, value in (("hosts:count", 3), ("devices:count", 6), ("dram_used_bytes:sum", 7 * GB)):
            self.wait_values("fleet:tt_" + name, None, value)
        # A client that changes is seen in all of them.
        self.clients["lab-2"].send(FREE, 0, 0, DRAM, id=1)
        self.wait_values("job:tt_dram_bytes:sum", "exported_job", {"7": 1 * GB, "8": 4 * GB})
        self.wait_values("fleet:tt_dram_used_bytes:sum", None, 5 * GB)

    def check_dashboard(self):
        """Every expression gives data."""
        with open(os.path.join(DEPLOY, "grafana", "tidemark.json"), encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        expressions = [target["expr"].replace("$instance", ".*").replace("$device", ".*")
                       for panel in panels for target in panel.get("targets", [])]
        self.assertGreaterEqual(len(expressions), 27)
        for expression in expressions:
            self.wait_for(lambda e=expression: self.query(e), f"data of the expression {expression}")

    def check_exposition(self):
        """Both formats, with all demos and with series of processes."""
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        for address in self.addresses.values():
            text = self.get_metrics(address, "text/plain")
            done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, b""))
            text = self.get_metrics(address, "application/openmetrics-text").decode()
            self.assertIn("tt_process_dram_bytes", {family.name for family in text_string_to_metric_families(text)})

    def check_rules_are_well(self):
        groups = json.loads(ask(self.prometheus, "/api/v1/rules"))["data"]["groups"]
        self.assertEqual([rule["name"] for group in groups for rule in group["rules"] if rule["health"] != "ok"], [])

    def wait_alerts(self, state, **alerts):
        """Until Alertmanager has told the receiver about them. `alerts`: alert=machine"""
        wanted = {(alert, self.addresses[machine], state) for alert, machine in alerts.items()}
        self.wait_for(lambda: wanted <= self.received, lambda: f"{wanted}, only {self.received},")

    def cause_trouble(self):
        """A leak on lab-1, a source that cannot be read on lab-2, a full device and a refused message on lab-3."""
        self.go_to("lab-1")
        demos = [self.demo("leak", 0)]
        self.go_to("lab-2")
        self.regions = os.path.join(self.machine, "shm")
        os.rename(self.regions, self.regions + ".away")
        self.go_to("lab-3")
        self.clients["lab-3"].send(ALLOC, -5, 1, DRAM, id=2)
        return demos + [self.demo(*words) for words in (("training", 0), ("training", 0), ("inference", 1), ("clash", 2))]

    def test_sums_dashboard_and_alerts_of_three_machines(self):
        self.check_recorded_sums()
        self.assertEqual(self.alerts(), set())
        demos = self.cause_trouble()
        trouble = {"LeakFound": "lab-1", "SourceFailing": "lab-2", "DramAlmostFull": "lab-3", "EventsLost": "lab-3"}
        self.wait_alerts("firing", **trouble)
        self.wait_for(lambda: ("SourceFailing", self.addresses["lab-2"]) in self.alerts(), "the alert in Alertmanager")
        self.check_dashboard()
        self.check_exposition()
        self.end(demos)
        os.rename(self.regions + ".away", self.regions)
        self.wait_alerts("resolved", **trouble)
        self.halt(self.daemons["lab-1"])
        self.wait_alerts("firing", TidemarkDown="lab-1")
        self.daemons["lab-1"].send_signal(signal.SIGCONT)
        self.wait_alerts("resolved", TidemarkDown="lab-1")
        self.wait_for(lambda: self.alerts() == set(), "the end of all alerts")
        self.check_rules_are_well()


if __name__ == "__main__":
    unittest.main()
