Live buffers of tracked programs. The program is tests/integration/tracked.c.

  $ export TIDEMARK_DIR=$PWD/shm; mkdir shm
  $ calm() { # what differs from run to run
  >   sed -E "s|$PWD|.|; s|$TOOLS/||; s/Process [0-9]+/Process PID/; s/user [0-9]+/user UID/; s/[0-9.]+ [num]?s ago/TIME ago/" |
  >   sed -E 's/after [0-9.]+ [num]?s/after TIME/; s/ {2,}[0-9.]+ [num]?s {2,}[0-9]+ /  AGE  THREAD /; s/ {2,}[0-9.]+ [num]?s {2}/  AGE  /'
  > }
  $ tidemark dump | calm
  no ledgers in ./shm: no tracked program runs, and none has left buffers behind
  (a program is tracked when it uses libtidemark and TIDEMARK=1 is set; 'tidemark run -- CMD' does that)

A program that frees everything leaves nothing; without tracking it makes no ledger at all.

  $ TIDEMARK=1 $TOOLS/tracked clean; $TOOLS/tracked leak; ls shm

A program that runs.

  $ mkfifo pipe; TIDEMARK=1 $TOOLS/tracked wait >pipe & read ready <pipe; echo $ready
  ready
  $ tidemark dump | calm
  Process PID: tracked wait
    alive, user UID, tracking began TIME ago, phase forward
  
    Device          Kind             Live       Peak      Asked    Buffers       Peak     Allocs
    0 (n150)        dram         24.00KiB   24.00KiB   24.00KiB          2          2          2
    0 (n150)        trace          1000 B     1000 B     1000 B          1          1          1
  
    Device Kind              Address      Asked   Reserved Banks     Age   Thread Stack  Program          Name
    0      dram               0xa000   12.00KiB   12.00KiB    12  AGE  THREAD     -  matmul           weights
    0      dram               0xb000   12.00KiB   12.00KiB    12  AGE  THREAD     -  matmul           weights
    0      trace              0x5000     1000 B     1000 B     1  AGE  THREAD     -  matmul           trace
  $ tidemark dump --sort address --kind dram --limit 1 | tail -3 | calm
    Device Kind              Address      Asked   Reserved Banks     Age   Thread Stack  Program          Name
    0      dram               0xa000   12.00KiB   12.00KiB    12  AGE  THREAD     -  matmul           weights
    and 1 more
  $ tidemark dump --device 1 | tail -1
    no live buffers
  $ tidemark dump --pid 1 | head -1 | cut -c -14
  no ledgers in 
  $ kill -USR1 $!; wait $!
  [7]

What is left behind when it has ended by itself, and when it was killed.

  $ tidemark dump --limit 1 | sed -n '2p' | calm
    ended by itself (post-mortem), user UID, tracking began TIME ago, phase forward
  $ { TIDEMARK=1 $TOOLS/tracked crash; } 2>/dev/null
  [137]
  $ tidemark dump | grep -c 'killed or crashed'
  1

The same for programs.

  $ tidemark dump --json --sort size --limit 2 --kind dram >dump.json; python3 - <<'END'
  > import json
  > top = json.load(open("dump.json"))
  > assert top["schema"] == "tidemark.dump" and top["dump"]["unreadable"] == []
  > for process in sorted(top["dump"]["processes"], key=lambda p: not p["closed"]):
  >     device = process["devices"][0]
  >     print(process["comm"], process["state"], process["closed"], process["phase"], device["card"], device["chip_id"])
  >     print([(k["kind"], k["reserved_bytes"], k["buffers"], k["source"], k["exact"]) for k in device["kinds"]])
  >     print(process["buffer_count"], [(b["id"], b["reserved_bytes"], b["banks"], b["name"], b["program"]) for b in process["buffers"]])
  > END
  tracked ended True forward n150 4660
  [('dram', 24576, 2, 'ledger', True)]
  2 [(10, 12288, 12, 'weights', 'matmul'), (11, 12288, 12, 'weights', 'matmul')]
  tracked ended False forward n150 4660
  [('dram', 24576, 2, 'ledger', True)]
  2 [(10, 12288, 12, 'weights', 'matmul'), (11, 12288, 12, 'weights', 'matmul')]

Ledgers that cannot be read are named.

  $ echo nothing >shm/tidemark.1.1.1; ln -s /etc/passwd shm/tidemark.1.1.2; : >shm/tidemark.1.1.3
  $ tidemark dump --pid 1 | calm
  Ledgers that could not be read:
    ./shm/tidemark.1.1.1: not a ledger: it has 8 bytes only
    ./shm/tidemark.1.1.2: a symbolic link, which is not followed
    ./shm/tidemark.1.1.3: its writer has not finished setting it up
  $ tidemark dump --json --pid 1 | grep -c reason
  3
  $ rm shm/tidemark.1.1.2 shm/tidemark.1.1.3

Cleaning up: only what the dead have left.

  $ TIDEMARK=1 $TOOLS/tracked wait >pipe & read ready <pipe
  $ tidemark dump --reap >/dev/null
  tidemark dump: removed 3 ledgers
  $ ls shm | wc -l
  1
  $ kill -USR1 $!; wait $!
  [7]
  $ tidemark dump --reap >/dev/null; ls shm
  tidemark dump: removed 1 ledger

Call stacks.

  $ TIDEMARK=1 TIDEMARK_STACKS=8 TIDEMARK_UNWIND=fp $TOOLS/tracked leak; tidemark dump --stacks --kind dram >out
  $ sed -nE 's|\(.*/|(|; s/:[0-9]+\)/:LINE)/; s/^ +#[0-9]+ +((allocate|leak) .*)/\1/p' out
  allocate (tracked.c:LINE)
  leak (tracked.c:LINE)
  $ tidemark dump --json --stacks --kind dram | grep -A1 '"function": "allocate"' | sed 's|/.*/||'
                  "function": "allocate",
                  "file": "tracked.c",

Wrong usage.

  $ tidemark dump 4242
  tidemark dump: unexpected argument '4242'
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --pid x
  tidemark dump: --pid 'x': expected the number of a process
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --sort weight
  tidemark dump: --sort 'weight': expected size, age, site or address
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --limit 0
  tidemark dump: --limit '0': expected a number from 1 on
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --kind ram
  tidemark dump: --kind 'ram': expected dram, l1, l1_small, trace, cb, dfb, scratchpad, kernel, firmware, system or config
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --device -1
  tidemark dump: --device '-1': expected the number of a device
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --dir /nowhere
  tidemark dump: cannot list /nowhere: No such file or directory
  [2]
