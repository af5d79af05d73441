Devices and processes at one moment. The machine is made by fake_machine; the program is tests/integration/tracked.c.

  $ mkdir -p m/sys m/proc m/shm ledgers
  $ export TIDEMARK_SYSFS_ROOT=$PWD/m/sys TIDEMARK_PROC_ROOT=$PWD/m/proc TIDEMARK_SHM_DIR=$PWD/m/shm TIDEMARK_DIR=$PWD/ledgers
  $ make() { "$TESTDIR/fake_machine" m "$@"; }
  $ calm() { # what differs from run to run
  >   sed -E "s/^tidemark [0-9.]+, [0-9: -]{19}/tidemark VERSION, TIME/; s/^( *[0-9]+) [^ ]+ +([0-9]+ +[-0-9c])/\1 USER     \2/; s|$PWD|.|g; s|$TOOLS/||"
  > }

Nothing is there.

  $ tidemark status | calm
  tidemark VERSION, TIME: 0 devices, 0 processes
  
  No card and no tracked process is visible: try 'tidemark demo', which needs no card, and see 'tidemark doctor', which says what was looked for.
  $ tidemark status --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["device_info"], d["processes"])'
  [] []
  $ tidemark status -d 0
  tidemark status: no device '0': no card and no tracked process is visible; see 'tidemark doctor'
  [2]

A card that nobody uses, and one of a kind that its driver does not name.

  $ make card 0 0000:01:00.0 n150 wormhole 0100018611902010 tt_asic_id=0000000000001234 tt_aiclk=1000 tt_axiclk=900 \
  >   tt_fw_bundle_ver=18.3.0.0 device/hwmon/hwmon5/temp1_input=47250 device/hwmon/hwmon5/temp1_max=100000 \
  >   device/hwmon/hwmon5/power1_input=35500000 device/hwmon/hwmon5/in0_input=850 device/hwmon/hwmon5/power1_max=85000000 device/hwmon/hwmon5/curr1_max=95000 \
  >   "device/current_link_speed=16.0 GT/s PCIe" device/current_link_width=16
  $ make card 1 0000:02:00.0 unknown blackhole 0000041236789ABC
  $ mkdir -p m/sys/module/tenstorrent; echo 2.4.0 > m/sys/module/tenstorrent/version
  $ tidemark status | calm
  tidemark VERSION, TIME: 2 devices, 0 processes, driver 2.4.0
  
  /0  n150  number unknown  /dev/tenstorrent/0  0000:01:00.0  Wormhole  chip id unknown
    47.2 / 100 °C  35.5 / 85 W  1000 MHz  0.85 V
    ~64 cores  ~12 DRAM banks  hardware queues unknown
    Memory           Used      Total       Free    Largest       Peak  Share Src
    dram          unknown   11.99GiB    unknown    unknown    unknown      - -/M
    l1            unknown   85.05MiB    unknown    unknown    unknown      - -/M
    cb            unknown   85.05MiB    unknown    unknown    unknown      - -/M
    Free: l1 (shared with cb), cb (shared with l1): both use the same memory
  
  /1  card unknown  number unknown  /dev/tenstorrent/1  0000:02:00.0  Blackhole  chip id unknown
    telemetry unknown: the driver offers none
    cores unknown  DRAM banks unknown  hardware queues unknown
    memory unknown: no source counts it, and the card is not known
  
  No process is known to use a device.
  
  M model: the card's tables. '>=': highest seen, it may have been more. '~': inferred, not counted.

A program uses it, another one has ended and left its counters, and a third only has the card open.

  $ make process 4242 python3 0; make process 777 idle 0
  $ make region $((16#0100018611902010)) 0 dram=$((9 << 30)) l1=$((75 << 20)) cb=$((8 << 20)) 4242 99999
  $ tidemark smi | calm
  tidemark VERSION, TIME: 2 devices, 2 processes, driver 2.4.0
  
  0  n150  /dev/tenstorrent/0  0000:01:00.0  Wormhole  chip 0x100018611902010
    47.2 / 100 °C  35.5 / 85 W  1000 MHz  0.85 V
    ~64 cores  ~12 DRAM banks  hardware queues unknown
    Memory           Used      Total       Free    Largest       Peak  Share Src
    dram          4.50GiB   11.99GiB    7.49GiB    unknown  >=4.50GiB  37.5% S/M
    l1           37.50MiB   85.05MiB   47.55MiB    unknown >=37.50MiB  44.0% S/M
    cb            4.00MiB   85.05MiB   43.55MiB    unknown  >=4.00MiB   4.7% S/M
    Free: l1 (shared with cb), cb (shared with l1): both use the same memory
    All L1: 91.50 MiB in 64 cores of 1464 KiB
      allocator buffers      37.50MiB  40.9%  metal_shm
      circular buffers        4.00MiB   4.3%  metal_shm
      kernels                 unknown      -  no program reports them
      kernel-config ring     ~4.31MiB   4.7%  inferred (model), with the kernels
      firmware               ~2.14MiB   2.3%  inferred (model)
      free or not counted   ~43.55MiB  47.5%  what is left
  
  /1  card unknown  number unknown  /dev/tenstorrent/1  0000:02:00.0  Blackhole  chip id unknown
    telemetry unknown: the driver offers none
    cores unknown  DRAM banks unknown  hardware queues unknown
    memory unknown: no source counts it, and the card is not known
  
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
      777 USER     0              -          -          -          -          -          -        - D   /usr/bin/idle train.py
     4242 USER     0        4.50GiB   37.50MiB        0 B        0 B    4.00MiB          -        - S   /usr/bin/python3 train.py
                    0        4.50GiB   37.50MiB        0 B        0 B    4.00MiB        0 B              (stale)
  
  S metal_shm: tt-metal's own statistics, bytes asked for; allocations of other threads may be missing, and the CB total may be the last writer's alone. D driver: the process has the card open. M model: the card's tables. '>=': highest seen, it may have been more. '~': inferred, not counted. stale: left by ended processes, no longer on the device.
  $ COLUMNS=120 tidemark smi -d /dev/tenstorrent/0 | calm | sed -n '3,10p;18,22p'
  0  n150  /dev/tenstorrent/0  0000:01:00.0  Wormhole  chip 0x100018611902010
    47.2 / 100 °C  35.5 / 85 W  1000 MHz  0.85 V
    ~64 cores  ~12 DRAM banks  hardware queues unknown
    Memory           Used      Total       Free    Largest       Peak  Share                               Source
    dram          4.50GiB   11.99GiB    7.49GiB    unknown  >=4.50GiB  37.5%  ██████████░░░░░░░░░░░░░░░░░  metal_shm/model
    l1           37.50MiB   85.05MiB   47.55MiB    unknown >=37.50MiB  44.0%  ████████████░░░░░░░░░░░░░░░  metal_shm/model
    cb            4.00MiB   85.05MiB   43.55MiB    unknown  >=4.00MiB   4.7%  █░░░░░░░░░░░░░░░░░░░░░░░░░░  metal_shm/model
    Free: l1 (shared with cb), cb (shared with l1): both use the same memory
  
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
      777 USER     0              -          -          -          -          -          -        - D   /usr/bin/idle train.py
     4242 USER     0        4.50GiB   37.50MiB        0 B        0 B    4.00MiB          -        - S   /usr/bin/python3 train.py
                    0        4.50GiB   37.50MiB        0 B        0 B    4.00MiB        0 B              (stale)
  $ COLUMNS=120 LC_ALL=C tidemark smi -d 01:00.0 | grep dram
    dram          4.50GiB   11.99GiB    7.49GiB    unknown  >=4.50GiB  37.5%  ##########.................  metal_shm/model

Choosing.

  $ tidemark status -p 777 | calm | grep -E '^[0-9] |USER'
  0  n150  /dev/tenstorrent/0  0000:01:00.0  Wormhole  chip 0x100018611902010
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
      777 USER     0              -          -          -          -          -          -        - D   /usr/bin/idle train.py
  $ tidemark status -d 0x0100018611902010 | calm | head -3 | tail -1
  0  n150  /dev/tenstorrent/0  0000:01:00.0  Wormhole  chip 0x100018611902010
  $ tidemark status -p 777 -p 4242 | grep -cE ' (777|4242) '
  2
  $ tidemark status -p 1
  tidemark status: no process 1 is known to use a device; 'tidemark status' lists those that do
  [2]
  $ tidemark status -p 777 -p 1
  tidemark status: no process 1 is known to use a device; 'tidemark status' lists those that do
  [2]
  $ tidemark status -p 1 -n 1
  tidemark status: no process 1 is known to use a device; 'tidemark status' lists those that do
  [2]
  $ tidemark status -d 5
  tidemark status: no device '5' among the 2 that are visible; 'tidemark status' lists them
  [2]
  $ tidemark status -d n150
  tidemark status: --device 'n150': expected a number, /dev/tenstorrent/N, a PCI address, a chip id (0x...) or a '#N' of the list
  tidemark status: see 'tidemark status --help'
  [2]
  $ tidemark status --pid x
  tidemark status: --pid 'x': expected a process id
  tidemark status: see 'tidemark status --help'
  [2]
  $ tidemark status extra
  tidemark status: unexpected argument 'extra'
  tidemark status: see 'tidemark status --help'
  [2]
  $ tidemark status -r 99
  tidemark status: --refresh '99': expected a number of milliseconds from 100 to 86400000
  tidemark status: see 'tidemark status --help'
  [2]
  $ tidemark status -n 0
  tidemark status: --count '0': expected a number, 1 or more
  tidemark status: see 'tidemark status --help'
  [2]

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
  tidemark.status 1 True
  ['Distro', 'Driver', 'Hostname', 'Kernel', 'Memory', 'OS', 'Platform', 'Python'] TT-KMD 2.4.0 N/A
  ['pyluwen', 'tidemark', 'tt_smi', 'tt_umd']
  {"bus_id": "0000:01:00.0", "board_type": "n150 L", "board_id": "0100018611902010", "coords": "N/A", "dram_status": null, "dram_speed": "N/A", "pcie_speed": 4, "pcie_width": "16"}
  {"voltage": "0.85", "current": "N/A", "power": " 35.5", "board_power": "N/A", "aiclk": "1000", "asic_temperature": "47.2", "fan_speed": "N/A", "heartbeat": "N/A"}
  {"vdd_min": "N/A", "vdd_max": "N/A", "tdp_limit": " 85", "tdc_limit": " 95", "asic_fmax": "N/A", "therm_trip_l1_limit": "N/A", "thm_limit": "100", "bus_peak_limit": "N/A", "fan_rpm_limit": "N/A", "board_power_limit": "N/A"}
  {"fw_bundle_version": "18.3.0.0", "tt_flash_version": "N/A", "cm_fw": "N/A", "cm_fw_date": "N/A", "eth_fw": "N/A", "dm_bl_fw": "N/A", "dm_app_fw": "N/A", "gddr_fw": "N/A"}
  {"BOARD_ID": "0x100018611902010", "BOARD_ID_HIGH": "0x1000186", "BOARD_ID_LOW": "0x11902010", "AXICLK": "0x384", "VCORE": "0x352"}
  {"index": 0, "host": null, "number": 0, "node": 0, "pci": "0000:01:00.0", "chip_id": 72059269369831440, "virtual": false, "board": false, "card": "n150", "card_source": "driver", "architecture": "Wormhole", "grid_x": null, "grid_y": null, "hardware_queues": null, "process_count": 2, "sources": ["metal_shm", "driver"], "space_is_old": false}
  {"kind": "dram", "used": 4831838208, "total": 12872318208, "free": 8040480000, "largest_free": null, "peak": 4831838208, "peak_is_exact": false, "estimated": false, "asked": 4831838208, "buffers": null, "unattributed": 0, "stale": 4831838208, "banks": 12, "base": 1048640, "bank_bytes": 1072693184, "allocations": null, "out_of_memory": null, "source": "metal_shm", "total_source": "model", "rival": null}
  ['dram', 'l1', 'l1_small', 'trace', 'cb', 'dfb', 'scratchpad', 'kernel', 'firmware', 'system', 'config']
  buffers | 39321600 | False | metal_shm
  circular_buffers | 4194304 | False | metal_shm
  kernels | None | False | no program reports them
  kernel_config | 4521984 | True | inferred (model), with the kernels
  firmware | 2240512 | True | inferred (model)
  rest | 45666304 | True | what is left
  None None N/A
  777 0 /usr/bin/idle train.py {}
  4242 0 /usr/bin/python3 train.py {'dram': 4831838208, 'l1': 39321600, 'l1_small': 0, 'trace': 0, 'cb': 4194304}

To a file, and again and again.

  $ tidemark status -f out.json; ls; python3 -m json.tool out.json > /dev/null
  check.py
  ledgers
  m
  out.json
  snapshot.json
  $ tidemark status --filename=- | head -2
  {
    "schema": "tidemark.status",
  $ tidemark status -f none/out.json
  tidemark status: cannot write 'none/out.json': No such file or directory
  [2]
  $ tidemark status --json -n 3 -r 100 | python3 -c 'import json, sys; print([json.loads(l)["schema"] for l in sys.stdin])'
  ['tidemark.status', 'tidemark.status', 'tidemark.status']
  $ tidemark status -n 2 -r 100 -f out.json; wc -l < out.json
  1
  $ tidemark status -n 2 -r 100 | grep -c '^tidemark'
  2
  $ tidemark status --watch | head -1 | calm
  tidemark VERSION, TIME: 2 devices, 2 processes, driver 2.4.0
  $ tidemark status --watch -r 60000 > log & until [ -s log ]; do sleep 0.05; done; kill $!; wait $!; calm < log | head -1
  tidemark VERSION, TIME: 2 devices, 2 processes, driver 2.4.0
  $ tidemark status --watch --json > /dev/full
  tidemark status: cannot write to standard output: No space left on device
  [2]

What cannot be read is said.

  $ echo short > m/shm/tt_device_5_memory
  $ COLUMNS=1000 tidemark status | calm | sed -n '/^Problems/,/^$/p'
  Problems ('tidemark doctor' says more)
    ./m/shm/tt_device_5_memory: version 1919903859 is not known (1 to 4 are)
  
  $ tidemark status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["unreadable"])' | calm
  [{'source': 'metal_shm', 'place': './m/shm/tt_device_5_memory', 'reason': 'version 1919903859 is not known (1 to 4 are)'}]
  $ rm -r m/shm/* m/sys m/proc; mkdir m/sys m/proc

Two processes of a region. The total of circular buffers is that of the last writer: no problem.

  $ make card 0 0000:01:00.0 n150 wormhole 0100018611902010; make process 4242 python3; make process 4243 python3
  $ make region $((16#0100018611902010)) 0 dram=4096 cb=98304 4242 4243
  $ printf '\000\300' | dd of=m/shm/tt_device_$((16#0100018611902010))_memory bs=1 seek=80 conv=notrunc status=none
  $ printf '\000' | dd of=m/shm/tt_device_$((16#0100018611902010))_memory bs=1 seek=82 conv=notrunc status=none
  $ tidemark status | calm | grep -E '^  cb |^ +424|Problems'
    cb           0.094MiB   85.05MiB   84.96MiB    unknown >=0.094MiB   0.1% S/M
     4242 USER     0        2.00KiB        0 B        0 B        0 B   48.00KiB          -        - S   /usr/bin/python3 train.py
     4243 USER     0        2.00KiB        0 B        0 B        0 B   48.00KiB          -        - S   /usr/bin/python3 train.py
  $ printf '\001' | dd of=m/shm/tt_device_$((16#0100018611902010))_memory bs=1 seek=48 conv=notrunc status=none
  $ printf '\000' | dd of=m/shm/tt_device_$((16#0100018611902010))_memory bs=1 seek=49 conv=notrunc status=none
  $ COLUMNS=1000 tidemark status | calm | sed -n '/^Problems/,/^$/p'
  Problems ('tidemark doctor' says more)
    ./m/shm/tt_device_72059269369831440_memory: the processes' figures exceed the device's total
  
  $ rm -r m/shm/* m/sys m/proc; mkdir m/sys m/proc

A T3000: four cards with two chips each, and a region for every chip. The driver's ids do not say which chip is on which
card, but all cards are of one type.

  $ for i in 0 1 2 3; do make card $i 0000:0$((i + 1)):00.0 n300 wormhole 010001436191609$i tt_aiclk=1000 device/hwmon/hwmon5/temp1_input=4${i}250; done
  $ make process 4242 python3 0 1 2 3; make process 777 idle 2
  $ for i in 0 1 2 3 4 5 6 7; do make region $((16#261916091 + (i << 32))) $i dram=$((i << 30)) l1=$((i * 10 << 20)) cb=$((8 << 20)) 4242; done
  $ tidemark status | calm
  tidemark VERSION, TIME: 8 devices, 4 cards, 2 processes
  
                      Temp Power Clock    DRAM      of            L1            CB            of
  Dev Card               C     W   MHz     GiB     GiB    %      MiB    %      MiB    %      MiB Procs
  0   ~n300              -     -     -    0.00  ~11.99   0%     0.00   0%     8.00  10%   ~74.42     1
  1   ~n300              -     -     -    1.00  ~11.99   8%    10.00  13%     8.00  10%   ~74.42     1
  2   ~n300              -     -     -    2.00  ~11.99  16%    20.00  26%     8.00  10%   ~74.42     1
  3   ~n300              -     -     -    3.00  ~11.99  25%    30.00  40%     8.00  10%   ~74.42     1
  4   ~n300              -     -     -    4.00  ~11.99  33%    40.00  53%     8.00  10%   ~74.42     1
  5   ~n300              -     -     -    5.00  ~11.99  41%    50.00  67%     8.00  10%   ~74.42     1
  6   ~n300              -     -     -    6.00  ~11.99  50%    60.00  80%     8.00  10%   ~74.42     1
  7   ~n300              -     -     -    7.00  ~11.99  58%    70.00  94%!    8.00  10%   ~74.42     1
  all 8                  -     -     -   28.00  ~95.91  29%   280.00  47%    64.00  10%  ~595.36     2
  
  4 cards with 2 chips each; it is not known which device is on which card:
  Dev Card            Node               PCI             Temp C Power W   MHz Procs
  /0  n300            /dev/tenstorrent/0 0000:01:00.0        40       -  1000     1
  /1  n300            /dev/tenstorrent/1 0000:02:00.0        41       -  1000     1
  /2  n300            /dev/tenstorrent/2 0000:03:00.0        42       -  1000     2
  /3  n300            /dev/tenstorrent/3 0000:04:00.0        43       -  1000     1
  
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
      777 root      /2             -          -          -          -          -          -        - D   /usr/bin/idle train.py
     4242 USER     0            0 B        0 B        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
     4242 USER     1        1.00GiB   10.00MiB        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
     4242 USER     2        2.00GiB   20.00MiB        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
     4242 USER     3        3.00GiB   30.00MiB        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
     4242 USER     4        4.00GiB   40.00MiB        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
     4242 USER     5        5.00GiB   50.00MiB        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
     4242 USER     6        6.00GiB   60.00MiB        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
     4242 USER     7        7.00GiB   70.00MiB        0 B        0 B    8.00MiB          -        - S   /usr/bin/python3 train.py
  
  L1 and CB use the same memory; its size is the last 'of'. '!': 90 % or more is used, for CB in the fullest core. --long shows all figures. S metal_shm: tt-metal's own statistics, bytes asked for; allocations of other threads may be missing, and the CB total may be the last writer's alone. D driver: the process has the card open. T card_type: the tables of the type that all cards have. '>': at least. '~': inferred, not counted.
  $ on_terminal() { COLUMNS=80 TERM=dumb python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" < /dev/null | tr -d '\r'; }
  $ printf 'python3\0%080d\0' 7 > m/proc/4242/cmdline
  $ on_terminal tidemark status -p 4242 | calm | grep -E '^Dev|^[01] |PID|4242 USER     [01] '
  Dev Card       C     GiB     GiB    %      MiB    %      MiB    %      MiB Procs
  0   ~n300      -    0.00  ~11.99   0%     0.00   0%     8.00  10%   ~74.42     1
  1   ~n300      -    1.00  ~11.99   8%    10.00  13%     8.00  10%   ~74.42     1
  Dev Card    Node               PCI             Temp C Power W   MHz Procs
      PID USER      DEV         DRAM         L1      AGE SRC COMMAND
     4242 USER     0            0 B        0 B        - S   python3 000000000...
     4242 USER     1        1.00GiB   10.00MiB        - S   python3 000000000...
  $ tidemark status -p 4242 | calm | grep -E '4242 USER     0 '
     4242 USER     0            0 B        0 B        0 B        0 B    8.00MiB          -        - S   python3 00000000000000000000000000000000000000000000000000000000000000000000000000000007
  $ tidemark status -d 77
  tidemark status: no device '77' among the 8 that are visible; 'tidemark status' lists them
  [2]
  $ tidemark status --long -d 5 | calm
  tidemark VERSION, TIME: 1 device, 1 process
  
  5  ~n300  Wormhole  chip 0x761916091
    telemetry unknown: no card of the driver is known to be this device
    ~56 cores  ~12 DRAM banks  hardware queues unknown
    Memory           Used      Total       Free    Largest       Peak  Share Src
    dram          5.00GiB  ~11.99GiB   ~6.99GiB    unknown  >=5.00GiB  41.7% S/T
    l1           50.00MiB  ~74.42MiB  ~24.42MiB    unknown >=50.00MiB  67.1% S/T
    cb            8.00MiB  ~74.42MiB  ~16.42MiB    unknown  >=8.00MiB  10.7% S/T
    Free: l1 (shared with cb), cb (shared with l1): both use the same memory
    All L1: 80.06 MiB in 56 cores of 1464 KiB
      allocator buffers      50.00MiB  62.4%  metal_shm
      circular buffers        8.00MiB   9.9%  metal_shm
      kernels                 unknown      -  no program reports them
      kernel-config ring     ~3.77MiB   4.7%  inferred (model), with the kernels
      firmware               ~1.87MiB   2.3%  inferred (model)
      free or not counted   ~16.42MiB  20.5%  what is left
  
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
     4242 USER     5        5.00GiB   50.00MiB        0 B        0 B    8.00MiB          -        - S   python3 00000000000000000000000000000000000000000000000000000000000000000000000000000007
  
  S metal_shm: tt-metal's own statistics, bytes asked for; allocations of other threads may be missing, and the CB total may be the last writer's alone. T card_type: the tables of the type that all cards have. '>=': highest seen, it may have been more. '~': inferred, not counted.
  $ tidemark status --short -d 5 | calm | sed -n '3,7p'
                      Temp Power Clock    DRAM      of            L1            CB            of
  Dev Card               C     W   MHz     GiB     GiB    %      MiB    %      MiB    %      MiB Procs
  5   ~n300              -     -     -    5.00  ~11.99  41%    50.00  67%     8.00  10%   ~74.42     1
  all 1                  -     -     -    5.00  ~11.99  41%    50.00  67%     8.00  10%   ~74.42     1
  
  $ tidemark status -d /dev/tenstorrent/2 | calm
  tidemark VERSION, TIME: 0 devices, 1 card, 2 processes
  
  1 card with 2 chips; it is not known which device is on which card:
  Dev Card            Node               PCI             Temp C Power W   MHz Procs
  /2  n300            /dev/tenstorrent/2 0000:03:00.0        42       -  1000     2
  
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
      777 root      /2             -          -          -          -          -          -        - D   /usr/bin/idle train.py
     4242 root      /2             -          -          -          -          -          -        - D   python3 00000000000000000000000000000000000000000000000000000000000000000000000000000007
  
  D driver: the process has the card open. '>=': highest seen, it may have been more. '~': inferred, not counted.
  $ tidemark status -n 1 | grep -c '^[0-7]  '
  8
  $ tidemark top --once | sed -n '/System/,/^Device 0/p' | sed 's/Time: .*/Time: NOW/'
  System Info:
    Time: NOW
    Refresh: none
    Devices: 8
    Cards: 4 (it is not known which device is on which card)
    Note: the figures are tt-metal's own statistics: allocations of other threads may be missing, and the CB total may be the last writer's alone
  
  Device 0 (ID: 0)
  $ tidemark top --once -d 7 | sed -n '/^Device/,/Usage/p'
  Device 7 (ID: 7)
    ------------------------------------------------------------------------------
  
    Device Information:
      Architecture: Wormhole (~n300)
      Chip ID: 0x961916091
      Initialized: Yes (1 process)
      Hardware CQs: unknown (no source reports them)
      DRAM Channels: 12
      Compute Grid: 8x7 (56 cores), inferred (model)
  
    Real-Time Memory Utilization:
  
    DRAM Memory: 58.3%
      Banks: 12
      Total:              ~11.99 GiB
      Allocated:            7.00 GiB (58%)
      Free:                ~4.99 GiB
      Largest Block:         unknown
      Usage: [███████████████████████░░░░░░░░░░░░░░░░░] 58.3%
  $ tidemark top --once | grep '^Card'
  Card 8: n300 /dev/tenstorrent/0 0000:01:00.0
  Card 9: n300 /dev/tenstorrent/1 0000:02:00.0
  Card 10: n300 /dev/tenstorrent/2 0000:03:00.0
  Card 11: n300 /dev/tenstorrent/3 0000:04:00.0
  $ tidemark status --json | python3 -c 'import json, sys
  > for d in json.load(sys.stdin)["device_info"]:
  >     m, t = d["memory"], d["telemetry"]
  >     print(m["number"], m["node"], m["board"], m["card"], m["card_source"], m["kinds"][0]["used"], m["kinds"][0]["total"], m["kinds"][0]["total_source"], t["asic_temperature"])'
  0 None False n300 card_type 0 12872318208 card_type N/A
  1 None False n300 card_type 1073741824 12872318208 card_type N/A
  2 None False n300 card_type 2147483648 12872318208 card_type N/A
  3 None False n300 card_type 3221225472 12872318208 card_type N/A
  4 None False n300 card_type 4294967296 12872318208 card_type N/A
  5 None False n300 card_type 5368709120 12872318208 card_type N/A
  6 None False n300 card_type 6442450944 12872318208 card_type N/A
  7 None False n300 card_type 7516192768 12872318208 card_type N/A
  None 0 True n300 driver None 12872318208 model 40.2
  None 1 True n300 driver None 12872318208 model 41.2
  None 2 True n300 driver None 12872318208 model 42.2
  None 3 True n300 driver None 12872318208 model 43.2

One card of another type: nothing is inferred.

  $ make card 4 0000:05:00.0 n150 wormhole 0100018611902010
  $ tidemark status | sed -n '3,18p'
                      Temp Power Clock    DRAM      of            L1            CB            of
  Dev Card               C     W   MHz     GiB     GiB    %      MiB    %      MiB    %      MiB Procs
  /0  n300              40     -  1000       -   11.99    -        -    -        -    -    74.42     1
  /1  n300              41     -  1000       -   11.99    -        -    -        -    -    74.42     1
  /2  n300              42     -  1000       -   11.99    -        -    -        -    -    74.42     2
  /3  n300              43     -  1000       -   11.99    -        -    -        -    -    74.42     1
  /4  n150               -     -     -       -   11.99    -        -    -        -    -    85.05     0
  0   -                  -     -     -    0.00       -    -     0.00    -     8.00    -        -     1
  1   -                  -     -     -    1.00       -    -    10.00    -     8.00    -        -     1
  2   -                  -     -     -    2.00       -    -    20.00    -     8.00    -        -     1
  3   -                  -     -     -    3.00       -    -    30.00    -     8.00    -        -     1
  4   -                  -     -     -    4.00       -    -    40.00    -     8.00    -        -     1
  5   -                  -     -     -    5.00       -    -    50.00    -     8.00    -        -     1
  6   -                  -     -     -    6.00       -    -    60.00    -     8.00    -        -     1
  7   -                  -     -     -    7.00       -    -    70.00    -     8.00    -        -     1
  all 13                 -     -     -  >28.00  >59.94    -  >280.00    -   >64.00    -  >382.73     2
  $ rm -r m/shm/* m/sys/class; unset TIDEMARK_PROC_ROOT

A program that uses the library, on a machine without cards.

  $ mkfifo pipe; TIDEMARK=1 $TOOLS/tracked wait > pipe & read ready < pipe
  $ steady() { calm | sed -E "s/^ +$1 /    PID /; s/ +[0-9.]+ [num]?s / AGE /"; }
  $ tidemark status -p $! | steady $!
  tidemark VERSION, TIME: 1 device, 1 process
  
  0  n150  Wormhole  chip 0x1234
    telemetry unknown: no card of the driver is known to be this device
    64 cores  12 DRAM banks  hardware queues unknown
    Memory           Used      Total       Free    Largest       Peak  Share Src
    dram         0.023MiB 12288.0MiB 12288.0MiB 12287.5MiB   0.023MiB   0.0% L
    l1                0 B   64.00MiB   64.00MiB   64.00MiB        0 B   0.0% L
    trace          1000 B    unknown    unknown    unknown     1000 B      - L
    cb                0 B   64.00MiB   64.00MiB   64.00MiB        0 B   0.0% L
    Free: l1 (shared with cb), cb (shared with l1): both use the same memory
    1 MiB free between buffers and CBs, fullest core
    All L1: 91.50 MiB in 64 cores of 1464 KiB
      allocator buffers           0 B   0.0%  ledger
      circular buffers            0 B   0.0%  ledger
      kernels                 unknown      -  no program reports them
      kernel-config ring     ~4.31MiB   4.7%  inferred (model), with the kernels
      firmware               ~2.14MiB   2.3%  inferred (model)
      free or not counted   ~85.05MiB  92.9%  what is left
  
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
      PID USER     0       24.00KiB        0 B        0 B     1000 B        0 B        0 B AGE L   tracked wait
  
  L ledger: tracked by libtidemark, bytes reserved. '>=': highest seen, it may have been more. '~': inferred, not counted.
  $ tidemark status -j -p $! | python3 -c 'import json, sys
  > for p in json.load(sys.stdin)["processes"]:
  >     print(p["device"], p["memory"]["device_number"], p["memory"]["phase"], p["memory"]["sources"])
  >     print([(k["kind"], k["used"], k["peak"], k["buffers"]) for k in p["memory"]["kinds"] if k["used"]])'
  None 0 forward ['ledger']
  [('dram', 24576, 24576, 2), ('trace', 1000, 1000, 1)]
  $ pid=$!; kill -KILL $pid; wait $pid 2> /dev/null; tidemark status -d 0x1234 | steady $pid | grep -E 'PID|stale  '
  tidemark status: no device '0x1234': no card and no tracked process is visible; see 'tidemark doctor'
  [1]
  $ tidemark status -a -d 0x1234 | steady $pid | grep -E '^ +PID'
      PID USER      DEV         DRAM         L1   L1_SMALL      TRACE         CB      OTHER      AGE SRC COMMAND
      PID USER     0       24.00KiB        0 B        0 B     1000 B        0 B        0 B  crashed L   tracked wait

A copy of another program's ledger, whose lock another process holds. Its pid is only claimed, and the device's sums
leave it out.

  $ rm -rf ledgers/*; TIDEMARK=1 $TOOLS/tracked wait > pipe & read ready < pipe; pid=$!
  $ path=$(ls -d ledgers/*/*); mkdir ledgers/tidemark-$(id -u).7; cp $path ledgers/tidemark-$(id -u).7
  $ mkfifo locked; python3 -c 'import fcntl, sys, time
  > with open(sys.argv[1], "r+") as f:
  >     fcntl.lockf(f, fcntl.LOCK_EX, 1)
  >     print("locked", flush=True)
  >     time.sleep(60)' ledgers/tidemark-$(id -u).7/* > locked & read ready < locked; holder=$!
  $ tidemark status | sed -E 's/ +/ /g' | grep -o -e '^ dram [^ ]*' -e "^ $pid?" | sed "s/$pid/PID/"
   dram 0.023MiB
   PID?
  $ tidemark status | tr -s ' \n' ' ' | grep -o "is only claimed: its ledger names"
  is only claimed: its ledger names
  $ tidemark top --once | grep -c "$pid?"
  1
  $ tidemark dump | sed -E "s/$pid/PID/; s|$TOOLS/||" | grep -A2 '(claimed)' | sed -E 's/user.*/user UID, .../'
  Process PID (claimed): tracked wait
    alive, user UID, ...
    its ledger names a process that did not write it; its figures are not counted
  $ tidemark dump --json | python3 -c 'import json, sys; print(sorted(p["claimed"] for p in json.load(sys.stdin)["dump"]["processes"]))'
  [False, True]
  $ tidemark status --json | python3 -c 'import json, sys; print(sorted(p["memory"]["claimed"] for p in json.load(sys.stdin)["processes"]))'
  [False, True]
  $ kill $holder; kill -KILL $pid; wait $pid $holder 2> /dev/null
  [143]

A program in another pid namespace has a pid for itself and one for us. Every command knows it by both, and by no other.

  $ rm -rf ledgers/*; in_namespace() { unshare -r -p -f --mount-proc --kill-child -- "$@"; }
  $ in_namespace true 2> /dev/null && can=1; mkfifo quiet
  $ TIDEMARK=1; export TIDEMARK; if [ -n "$can" ]; then in_namespace $TOOLS/tracked wait > pipe 2> /dev/null & else $TOOLS/tracked wait > pipe & fi; read ready < pipe
  $ $TOOLS/tracked wait > quiet & read ready < quiet; other=$!
  $ unset TIDEMARK; seen=$(tidemark status --json | python3 -c 'import json, sys
  > print(*(p["pid"] for p in json.load(sys.stdin)["processes"] if p["pid"] != int(sys.argv[1])))' $other)
  $ own=$(ls ledgers/* | cut -d. -f1 | grep -v "^$other$"); [ -z "$can" ] || [ $own != $seen ] || echo the same
  $ for pid in $seen $own; do for command in "status --json" "dump --json" "leaks --json --all" "top --once" phases; do
  >   IFS=' '; tidemark $command -p $pid > out; echo $? $(grep -c "$seen" out | sed 's/^[1-9].*/it/') $(grep -cE "pid\": $other|^ +$other " out); IFS=$'\t\n'
  > done; done
  0 it 0
  0 it 0
  0 it 0
  0 it 0
  0 0 0
  0 it 0
  0 it 0
  0 it 0
  0 it 0
  0 0 0
  $ kill $other; kill -KILL $seen; wait
