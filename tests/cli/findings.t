Findings have the same members in the JSON of every command.

  $ export TIDEMARK_DIR=$PWD/shm TIDEMARK_SHM_DIR=$PWD/metal TIDEMARK_SYSFS_ROOT=$PWD/sys; mkdir shm metal sys
  $ cat >members.py <<'END'
  > import json, sys
  > MEMBERS = {"what": str, "severity": str, "verdict": str, "text": str, "about": dict, "figures": dict, "evidence": dict, "advice": list}
  > ABOUT = ["comm", "device", "host", "kind", "ledger", "name", "phase", "pid"]
  > def look(finding, more={}):
  >     assert {k: type(v) for k, v in finding.items()} == MEMBERS | more, finding
  >     assert finding["severity"] in ("ok", "note", "warning", "error"), finding
  >     about = finding["about"]
  >     assert sorted(k for k in about if k != "virtual") == ABOUT and ("virtual" in about) == (about["device"] is not None), finding
  >     for advice in finding["advice"]:
  >         assert isinstance(advice["text"], str) and sorted(set(advice) - {"change"}) == ["command", "text"], finding
  > def walk(value, path, seen):
  >     for key, inside in value.items() if isinstance(value, dict) else ((None, v) for v in value):
  >         at = path if key is None else f"{path}.{key}"
  >         found = inside if key in ("findings", "sites") else [inside] if at == ".failure" else []
  >         for finding in found:
  >             look(finding, {"part": int, "name": str, "source": str} if at == ".report.findings" else {})
  >             seen.add(at)
  >         if isinstance(inside, (dict, list)):
  >             walk(inside, at, seen)
  > seen = set()
  > text, at = sys.stdin.read(), 0
  > while text[at:].strip():
  >     document, at = json.JSONDecoder().raw_decode(text, len(text) - len(text[at:].lstrip()))
  >     walk(document, "", seen)
  > print(*sorted(seen), sep="\n")
  > END
  $ $DATADIR/ttnn/make_report 3 ttnn.sqlite; mkfifo in out; TIDEMARK=1 $TOOLS/traced wait <in >out & exec 3>in; read ready <out
  $ D=$DATADIR; (
  >   tidemark simulate --json $D/demo.trace
  >   tidemark info --json $D/graph/*.json $D/reports/*.csv ttnn.sqlite
  >   tidemark phases --json --logs $D/train/tinyllama.log
  >   tidemark scan --json --fail-over 0.01 $D/scan_versions/old
  >   tidemark pressure --json 16 16 --l1-used 1300K
  >   tidemark dump --json --stacks
  >   tidemark leaks --json --all
  >   tidemark status --json
  >   tidemark run --json - -- $TOOLS/traced traces
  >   tidemark doctor --json
  >   tidemark report --json $D/demo.trace $D/logs/demo.log $D/train $D/graph/add_l1.json $D/scan_versions/old shm 16 16
  >   tidemark report --json
  >   tidemark log --events --errors --json $D/logs/demo.log
  > ) 2>/dev/null | python3 members.py
  .doctor.findings
  .dump.processes.findings
  .failure
  .info.findings
  .leaks.sites
  .phases.findings
  .pressure.findings
  .report.findings
  .report.parts.doctor.findings
  .report.parts.dump.processes.findings
  .report.parts.info.findings
  .report.parts.info.phases.findings
  .report.parts.simulate.findings
  .report.parts.status.status.findings
  .run.processes.findings
  .scan.findings
  .simulate.findings
  .status.findings
  $ exec 3>&-; wait
