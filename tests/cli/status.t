Devices and processes at one moment. The machine is made by fake_machine; the program is tests/integration/tracked.c.

  $ mkdir -p m/sys m/proc m/shm ledgers
  $ export TIDEMARK_SYSFS_ROOT=$PWD/m/sys TIDEMARK_PROC_ROOT=$PWD/m/proc TIDEMARK_SHM_DIR=$PWD/m/shm TIDEMARK_DIR=$PWD/ledgers
  $ make() { "$TESTDIR/fake_machine" m "$@"; }
  $ calm() { # what differs from run to run
  >   sed -E "s/^tidemark [0-9.]+, [0-9: -]{19}/tidemark VERSION, TIME/; s/^( *[0-9]+) [^ ]+ +#/\1 USER     #/; s|$PWD|.|g"
  > }

Nothing is there.

  $ tidemark status | calm
  $ tidemark status --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["device_info"], d["processes"])'

A card that nobody uses, and one of a kind that its driver does not name.

  $ make card 0 0000:01:00.0 n150 wormhole 0100018611902010 tt_asic_id=0000000000001234 tt_aiclk=1000 tt_axiclk=900 \
  >   tt_fw_bundle_ver=18.3.0.0 device/hwmon/hwmon5/temp1_input=47250 device/hwmon/hwmon5/temp1_max=100000 \
  >   device/hwmon/hwmon5/power1_input=35500000 device/hwmon/hwmon5/in0_input=850 device/hwmon/hwmon5/power1_max=85000000 \
  >   "device/current_link_speed=16.0 GT/s PCIe" device/current_link_width=16
  $ make card 1 0000:02:00.0 unknown blackhole 0000041236789ABC
  $ mkdir -p m/sys/module/tenstorrent; echo 2.4.0 > m/sys/module/tenstorrent/version
  $ tidemark status | calm

A program uses it, another one has ended and left its counters, and a third only has the card open.

  $ make process 4242 python3 0; make process 777 idle 0
  $ make region $((16#0100018611902010)) 0 dram=$((9 << 30)) l1=$((75 << 20)) cb=$((8 << 20)) 4242 99999
  $ tidemark smi | calm
  $ COLUMNS=120 tidemark smi -d /dev/tenstorrent/0 | calm | sed -n '3,9p;16,20p'
  $ COLUMNS=120 LC_ALL=C tidemark smi -d 01:00.0 | grep dram

Choosing.

  $ tidemark status -p 777 | calm | grep -E '^#|USER'
  $ tidemark status -d 0x0100018611902010 | calm | head -3 | tail -1
  $ tidemark status -p 1 | calm
  $ tidemark status -d 5
  $ tidemark status -d n150
  $ tidemark status --pid x
  $ tidemark status extra
  $ tidemark status -r 99
  $ tidemark status -n 0

JSON has what a snapshot of tt-smi has, in its strings, and memory in bytes.

  $ tidemark status -s > snapshot.json; cat > check.py <<'END'
  > import datetime, json, sys
  > d = json.load(open("snapshot.json"))
  > print(d["schema"], d["version"], bool(datetime.datetime.fromisoformat(d["time"].replace("Z", "+00:00"))))
  > print(sorted(d["host_info"]), d["host_info"]["Driver"], d["host_info"]["Python"])
  > assert all(isinstance(v, str) for v in d["host_info"].values())
  > print(sorted(d["host_sw_vers"]))
  > one, two = d["device_info"]
  > print(json.dumps(one["board_info"]))
  > print(json.dumps(one["telemetry"]))
  > print(json.dumps(one["limits"]))
  > print(json.dumps(one["firmwares"]))
  > print(json.dumps({k: v for k, v in one["smbus_telem"].items() if v}))
  > memory = one["memory"]
  > print(json.dumps({k: v for k, v in memory.items() if k not in ("kinds", "l1", "chips")}))
  > print(json.dumps(memory["kinds"][0]))
  > print([k["kind"] for k in memory["kinds"]])
  > for part in memory["l1"]["parts"]:
  >     print(part["part"], part["bytes"], part["inferred"], part["source"], sep=" | ")
  > assert sum(p["bytes"] or 0 for p in memory["l1"]["parts"]) == memory["l1"]["total"]
  > print(two["memory"]["card"], two["memory"]["kinds"][0]["used"], two["telemetry"]["power"])
  > for p in d["processes"]:
  >     print(p["pid"], p["device"], p["cmdline"], {k["kind"]: k["used"] for k in p["memory"]["kinds"]})
  > for k in memory["kinds"]:
  >     held = sum(h["used"] for p in d["processes"] for h in p["memory"]["kinds"] if h["kind"] == k["kind"])
  >     assert k["used"] is None or held + k["unattributed"] == k["used"], k
  > END
  $ python3 check.py

To a file, and again and again.

  $ tidemark status -f out.json; ls; python3 -m json.tool out.json > /dev/null
  $ tidemark status --filename=- | head -2
  $ tidemark status -f none/out.json
  $ tidemark status --json -n 3 -r 100 | python3 -c 'import json, sys; print([json.loads(l)["schema"] for l in sys.stdin])'
  $ tidemark status -n 2 -r 100 -f out.json; wc -l < out.json
  $ tidemark status -n 2 -r 100 | grep -c '^tidemark'
  $ tidemark status --watch | head -1 | calm
  $ tidemark status --watch -r 60000 > log & until [ -s log ]; do sleep 0.05; done; kill $!; wait $!; calm < log | head -1
  $ tidemark status --watch --json > /dev/full

What cannot be read is said.

  $ echo short > m/shm/tt_device_5_memory
  $ COLUMNS=1000 tidemark status | calm | sed -n '/^Not read/,/^$/p'
  $ tidemark status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["unreadable"])' | calm
  $ rm m/shm/*; unset TIDEMARK_PROC_ROOT

A program that uses the library. Its device says that it is the chip 0x1234, which is no card of this machine.

  $ mkfifo pipe; TIDEMARK=1 $TOOLS/tracked wait > pipe & read ready < pipe
  $ steady() { calm | sed -E "s/^ +$1 /    PID /; s/ +[0-9.]+ [num]?s / AGE /"; }
  $ tidemark status -p $! | steady $!
  $ tidemark status -j -p $! | python3 -c 'import json, sys
  > for p in json.load(sys.stdin)["processes"]:
  >     print(p["device"], p["memory"]["device_number"], p["memory"]["phase"], p["memory"]["sources"])
  >     print([(k["kind"], k["used"], k["peak"], k["buffers"]) for k in p["memory"]["kinds"] if k["used"]])'
  $ pid=$!; kill -KILL $pid; wait $pid 2> /dev/null; tidemark status -d 0x1234 | steady $pid | grep -E 'PID|stale  '
  $ tidemark status -a -d 0x1234 | steady $pid | grep -E '^ +PID'
