"""Several machines, each with a daemon of its own, and the real Prometheus and Alertmanager that watch them."""

import ctypes
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request

from server import DaemonTest

DEPLOY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy")
CLONE_NEWNET = 0x40000000
TOKEN = "a-token-of-the-fleet"


def run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ask(port, path, **query):
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read()


def replace(text, *changes):
    """Each change must find its text: an example that has changed is not left as it is by mistake."""
    for before, after in changes:
        changed = re.sub(before, after, text)
        if changed == text:
            raise AssertionError(f"no {before!r}")
        text = changed
    return text


def enter_network():
    """Puts this process into a network of its own, with only a loopback. Returns why not, or None."""
    libc = ctypes.CDLL(None, use_errno=True)
    if shutil.which("ip") is None or shutil.which("nsenter") is None:
        return "ip or nsenter is not installed"
    if os.getuid() != 0:
        return "only root may"
    if libc.unshare(CLONE_NEWNET) != 0:
        return os.strerror(ctypes.get_errno())
    run("ip", "link", "set", "lo", "up")
    return None


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes what Alertmanager sends: (alert, instance, "firing" or "resolved")."""

    def log_message(self, *args):
        pass

    def do_POST(self):
        for alert in json.loads(self.rfile.read(int(self.headers["Content-Length"])))["alerts"]:
            self.server.received.add((alert["labels"]["alertname"], alert["labels"]["instance"], alert["status"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


class FleetTest(DaemonTest):
    """Machines have addresses of their own: in network namespaces, or where these are not permitted, on loopback."""

    @classmethod
    def setUpClass(cls):
        cls.no_network = enter_network()
        if cls.no_network:
            print(f"no network namespaces here, the daemons use addresses of loopback: {cls.no_network}", flush=True)

    def setUp(self):
        super().setUp()
        self.addresses = {}
        self.token = os.path.join(self.folder, "token")
        with open(self.token, "w", encoding="ascii") as file:
            file.write(TOKEN + "\n")
        os.chmod(self.token, 0o600)

    def add_machine(self, name, *options):
        """A daemon on port 9740 of a machine that has a card."""
        number = len(self.addresses) + 1
        self.live_in(os.path.join(self.folder, name))
        self.add_card("0", "0000:01:00.0", "n150", "wormhole", f"10001861190201{number}")
        os.mkdir(os.path.join(self.machine, "shm"))
        block = os.getpid() % 16384  # runs at the same time do not meet on loopback
        address = f"127.{64 + block // 256}.{block % 256}.{number}" if self.no_network else f"10.77.{number}.2"
        daemon = self.start("--quiet", "--http-port", "9740", "--token-file", self.token, "--http-host",
                            address if self.no_network else "0.0.0.0", *options,
                            before=[] if self.no_network else ["unshare", "--net"])
        self.assertIsNone(daemon.poll(), self.text())
        if not self.no_network:
            inside = ["nsenter", "--target", str(daemon.pid), "--net", "ip"]
            run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", str(daemon.pid))
            run("ip", "address", "add", f"10.77.{number}.1/24", "dev", f"to-{name}")
            run("ip", "link", "set", f"to-{name}", "up")
            run(*inside, "address", "add", f"{address}/24", "dev", "eth0")
            run(*inside, "link", "set", "eth0", "up")
        self.addresses[name] = address
        return daemon

    def go_to(self, name):
        """What is started from now on runs on that machine."""
        self.live_in(os.path.join(self.folder, name))

    def claim_job(self, pid, job):
        """The daemon of the machine sees the process in the control group of a Slurm job."""
        folder = os.path.join(self.machine, "proc", str(pid))
        os.makedirs(folder)
        for file in "stat", "status", "comm", "cmdline":
            shutil.copyfile(f"/proc/{pid}/{file}", os.path.join(folder, file))
        with open(os.path.join(folder, "cgroup"), "w", encoding="ascii") as file:
            file.write(f"0::/slurm/uid_1000/job_{job}/step_0/task_0\n")

    def serve(self, argv, ready):
        """Starts a server on a free port of loopback. The port may be taken before the server has it: then another one is
        tried. Returns the port."""
        log = os.path.join(self.folder, os.path.basename(argv[0]) + ".log")
        for _ in range(10):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            with open(log, "w", encoding="utf-8") as file:
                server = self.spawn([*argv, f"--web.listen-address=127.0.0.1:{port}"], stdout=file, stderr=file)
            while server.poll() is None:
                try:
                    ask(port, ready)
                    return port
                except OSError:
                    time.sleep(0.05)
        with open(log, encoding="utf-8") as file:
            return self.fail(f"{argv[0]} does not start: {file.read()[-2000:]}")

    def change(self, file, *changes):
        """Changes a file of the copy of deploy/prometheus."""
        path = os.path.join(self.config, file)
        with open(path, encoding="utf-8") as example:
            text = replace(example.read(), *changes)
        with open(path, "w", encoding="utf-8") as copy:
            copy.write(text)

    def start_alertmanager(self):
        """With the receiver that the example has as a comment, and no time to wait."""
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        receiver.received = self.received = set()
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        self.change("alertmanager.yml", ("group_wait: 30s", "group_wait: 1s\n  group_interval: 1s"),
                    ("# (webhook_configs:)", r"\1"),
                    (r"#   (- url: http://127.0.0.1:)8080", rf"  \g<1>{receiver.server_port}"))
        return self.serve(["prometheus-alertmanager", f"--config.file={self.config}/alertmanager.yml",
                           f"--storage.path={self.folder}/alerts", "--cluster.listen-address="], "/-/ready")

    def start_prometheus(self):
        """With the first machine in the configuration and the others in a file. The examples are as they are but for the
        targets, the token, and times: minutes are seconds."""
        self.config = os.path.join(self.folder, "prometheus")
        shutil.copytree(os.path.join(DEPLOY, "prometheus"), self.config)
        alertmanager = self.start_alertmanager()
        targets = [f"{address}:9740" for address in self.addresses.values()]
        self.change("prometheus.yml", ("_interval: 15s", "_interval: 1s"), ("localhost:9740", targets[0]),
                    ("127.0.0.1:9093", f"127.0.0.1:{alertmanager}"), (r"# (authorization:)", r"\1"),
                    (r"#   (credentials_file:).*", rf"  \1 {self.token}"))
        for rules in "recording.yml", "alerts.yml":
            self.change("rules/" + rules, (r"\[\d+m\]", "[10s]"))
        self.change("rules/alerts.yml", (r"for: \d+m", "for: 1s"))
        with open(os.path.join(self.config, "targets", "more.yml"), "w", encoding="utf-8") as file:
            json.dump([{"targets": targets[1:], "labels": {"rack": "b2"}}], file)
        self.alertmanager = alertmanager
        self.prometheus = self.serve(["prometheus", f"--config.file={self.config}/prometheus.yml",
                                      f"--storage.tsdb.path={self.folder}/data"], "/-/ready")

    def query(self, expression):
        return json.loads(ask(self.prometheus, "/api/v1/query", query=expression))["data"]["result"]

    def values(self, expression, label=None):
        """The values by a label, or the only one."""
        found = {series["metric"].get(label): float(series["value"][1]) for series in self.query(expression)}
        return found if label else found.get(None)

    def alerts(self):
        """(alert, instance) of those that Alertmanager has."""
        return {(alert["labels"]["alertname"], alert["labels"].get("instance"))
                for alert in json.loads(ask(self.alertmanager, "/api/v2/alerts"))}

    def get_metrics(self, address, accept):
        request = urllib.request.Request(f"http://{address}:9740/metrics",
                                         headers={"Authorization": "Bearer " + TOKEN, "Accept": accept})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def demo(self, workload, device):
        return self.spawn([os.path.join(os.environ["TIDEMARK_BIN"], "tidemark"), "demo", "--workload", workload, "--view",
                           "none", "--first-device", str(device)], stdout=subprocess.DEVNULL,
                          env=dict(self.environment(), TIDEMARK_DIR=self.shm))

    def end(self, processes):
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait()
