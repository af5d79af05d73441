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
  $ tidemark dump --device 1 2>&1 | tail -2
    no live buffers on device 1
  tidemark dump: no process that can be read uses device 1
  $ tidemark dump --kind cb | tail -1
    no live buffers of kind cb
  $ tidemark dump --device 1 >/dev/null
  tidemark dump: no process that can be read uses device 1
  [2]
  $ tidemark dump --pid 1 2>/dev/null | head -1 | cut -c -14
  no ledger in /
  $ kill -USR1 $!; wait $!
  [7]

A program whose ledger is deleted while it reports: all of it is in a new one.

  $ rm -rf shm/*; TIDEMARK=1 $TOOLS/tracked renew >pipe & read ready <pipe; ls shm/*/* | sed -E 's/.*\.//'
  1
  $ tidemark dump | grep -v ' l1 ' | calm
  Process PID: tracked renew
    alive, user UID, tracking began TIME ago, phase forward
    its ledger was deleted while it ran, and made anew
  
    Device          Kind             Live       Peak      Asked    Buffers       Peak     Allocs
    0 (n150)        dram         24.00KiB   24.00KiB   24.00KiB          2          2          2
    0 (n150)        trace          1000 B     1000 B     1000 B          1          1          1
  
    Device Kind              Address      Asked   Reserved Banks     Age   Thread Stack  Program          Name
    0      dram               0xa000   12.00KiB   12.00KiB    12  AGE  THREAD     -  matmul           weights
    0      dram               0xb000   12.00KiB   12.00KiB    12  AGE  THREAD     -  matmul           weights
    0      trace              0x5000     1000 B     1000 B     1  AGE  THREAD     -  matmul           trace
  $ tidemark dump --json | grep -c '"pid":'
  1
  $ kill -USR1 $!; wait $!; rm -rf shm/*; TIDEMARK=1 $TOOLS/tracked wait >pipe & read ready <pipe; kill -USR1 $!; wait $!
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
  $ tidemark dump --pid 1 2>/dev/null | calm
  Ledgers that could not be read:
    ./shm/tidemark.1.1.1: not a ledger: it has only 8 bytes
    ./shm/tidemark.1.1.2: a symbolic link, which is not followed
    ./shm/tidemark.1.1.3: its writer has not finished setting it up
  $ tidemark dump --json --pid 1 2>/dev/null | grep -c reason
  3
  $ rm shm/tidemark.1.1.2 shm/tidemark.1.1.3
  $ mkdir many; for i in $(seq 200); do echo nothing >many/tidemark.$i.1.1; done
  $ tidemark dump --dir many | tail -3
    many/tidemark.9.1.1: not a ledger: it has only 8 bytes
    many/tidemark.10.1.1: not a ledger: it has only 8 bytes
    and 190 more
  $ tidemark leaks --dir many | grep -c "not a ledger"
  10
  $ tidemark dump --dir many --json | grep -c "not a ledger"
  200
  $ tidemark doctor --dir many | grep -c "not a ledger: it has"
  10
  $ tidemark doctor --dir many | grep -o "190 more files cannot be read"
  190 more files cannot be read
  $ mkdir flood; (cd flood; seq -f 'tidemark.%.0f.1.1' 20000 | xargs -d '\n' touch); tidemark dump --dir flood | tail -2
    and 8182 more
  flood: 11808 ledgers more than can be watched
  $ rm -r flood
  $ tidemark dump --dir many --reap >/dev/null
  tidemark dump: removed 200 ledgers

Others than those that were asked for are not "no ledgers".

  $ tidemark dump --pid 999999999 2>&1 | calm
  no ledger in ./shm is of a process that was asked for; 3 of others are there
  tidemark dump: no ledger of process 999999999 can be read in ./shm
  $ tidemark leaks --pid 999999999 2>&1 | calm
  no ledger in ./shm is of a process that was asked for; 3 of others are there
  tidemark leaks: no ledger of process 999999999 can be read in ./shm
  $ tidemark dump --pid 999999999 >/dev/null 2>&1
  [2]
  $ tidemark leaks --pid 999999999 >/dev/null 2>&1
  [2]

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
  $ tidemark dump --json --stacks --kind dram | grep -A1 '"function": "allocate"' | sed 's|"[^"]*/|"|'
                  "function": "allocate",
                  "file": "tracked.c",

Where buffers lie: which cores, and the map of a device.

  $ rm -r shm/*; TIDEMARK=1 $TOOLS/tracked map; tidemark dump --kind cb --sort address | tail -2 | calm
    0      cb                0x19cc0   0.062MiB    4.00MiB    64  AGE  THREAD     -  matmul           cb 0  (0,0)-(7,7)
    0      cb                0x29cc0  128.00KiB  768.00KiB     6  AGE  THREAD     -  matmul           cb 1  (2,1)-(4,2)
  $ tidemark dump --json --kind cb --sort address | tr -d ' \n' | grep -o '"core_ranges":[^a-z]*'
  "core_ranges":[[0,0,7,7]],"
  "core_ranges":[[2,1,4,2]],"
  $ tidemark dump --map --ascii | calm | sed 's/process [0-9]*/process PID/'
  Device 0 (n150): 9 buffers, as process PID left them
  
    DRAM: 12 banks of 1 GiB from 0x20 to 0x40000020
      [##################+........-#########....................................-]
      385 MiB used in each bank by 3 buffers, 639 MiB free
      largest hole 511 MiB, fragmentation 20.0%
                Hole      Bytes  Below                         Above
          0x20000020  511.00MiB  cache                         tail
          0x10000020  128.00MiB  weights                       cache
  
    L1: 64 banks of 1 MiB from 0x186a0 to 0x1186a0
      [.........................................................-##-.....-####+..]
      96 KiB used in each bank by 2 buffers, 928 KiB free
      largest hole 798.34 KiB, fragmentation 14.0%
                Hole      Bytes  Below                         Above
             0x186a0  798.34KiB  end of the region             scores
             0xe8000   96.00KiB  scores                        activations
            0x110000   33.66KiB  activations                   end of the region
  
    TRACE: the region was not described; its buffers span 1000 B from 0x5000 to 0x53e8
      [##########################################################################]
      1000 B used in each bank by 1 buffer; how much is free is not known
  
    L1 of one core
      600.81 KiB between circular buffers and L1 buffers
  
    1499136  0x16e000 +----------------------------+
                      |============================|
                      |============================|  L1_SMALL           350,560 B
                      |============================|
    1148576  0x1186a0 +----------------------------+
                      |::::::::::::::::::::::::::::|
                      |::::::::::::::::::::::::::::|  L1 buffers         231,072 B
                      |::::::::::::::::::::::::::::|
     917504  0x0e0000 +----------------------------+
                      |   v L1 buffers grow down   |
                      |                            |
                      |                            |  free               615,232 B
                      |                            |
                      | ^ circular buffers grow up |
     302272  0x049cc0 +----------------------------+
                      |::::::::::::::::::::::::::::|
                      |::::::::::::::::::::::::::::|  circular buffers   202,272 B
     100000  0x0186a0 +----------------------------+
                      |============================|  kernel config       64,992 B
      35008  0x0088c0 +----------------------------+
                      |############################|  firmware            35,008 B
          0  0x000000 +----------------------------+
  
    L1 core by core
      8 x 8 cores with 172.08 KiB on average, at most 288 KiB on core (2,1), of 1464 KiB
             0     1     2     3     4     5     6     7
       0  160K  160K  160K  160K  160K  160K  160K  160K
       1  160K  160K  288K  288K  288K  160K  160K  160K
       2  160K  160K  288K  288K  288K  160K  160K  160K
       3  160K  160K  160K  160K  160K  160K  160K  160K
       4  160K  160K  160K  160K  160K  160K  160K  160K
       5  160K  160K  160K  160K  160K  160K  160K  160K
       6  160K  160K  160K  160K  160K  160K  160K  160K
       7  160K  160K  160K  160K  160K  160K  160K  165K
  $ tidemark dump --map --kind dram --limit 1 --ascii | tail -3
                Hole      Bytes  Below                         Above
          0x20000020  511.00MiB  cache                         tail
    and 1 more
  $ tidemark dump --map --json >map.json; python3 - <<'END'
  > import json
  > (map,) = json.load(open("map.json"))["dump"]["map"]
  > for region in map["regions"]:
  >     print(region["kind"], region["source"], region["used_bytes"], region["free_bytes"], region["hole_count"])
  > print([(h["bytes"], h["below"] and h["below"]["name"], h["above"] and h["above"]["name"]) for h in map["regions"][1]["holes"]])
  > print(map["l1"])
  > cores = map["cores"]
  > print(cores["max_bytes"], (cores["max_x"], cores["max_y"]), cores["everywhere"], cores["rows"][1])
  > END
  dram ledger 403701760 670040064 2
  l1 ledger 98304 950272 3
  l1_small None 0 None 0
  trace None 1000 None 0
  [(817504, None, 'scores'), (98304, 'scores', 'activations'), (34464, 'activations', None)]
  {'lowest_l1': 917504, 'highest_cb': 302272, 'gap_bytes': 615232, 'clash': False, 'unplaced_l1': 0, 'unplaced_cb': 0, 'firmware_bytes': 35008, 'kernel_config_bytes': 64992}
  294912 (2, 1) {'l1': 98304} [163840, 163840, 294912, 294912, 294912, 163840, 163840, 163840]

A region of which nothing is known but that something is in it.

  $ rm -r shm/*; TIDEMARK=1 $TOOLS/tracked unplaced; tidemark dump --map --kind l1_small | sed -n 2,4p
  
    L1_SMALL: the region was not described, and the addresses of its buffers are not known
      1 buffer without a known place: 4 KiB in all banks

Programs that run share the map of their device, and what both claim is said.

  $ rm -r shm/*; TIDEMARK=1 $TOOLS/tracked wait >pipe & read ready <pipe; first=$!
  $ TIDEMARK=1 $TOOLS/tracked wait >pipe & read ready <pipe
  $ tidemark dump --map --kind dram --ascii | sed -E 's/ of [0-9]{2,} */ of PID  /g; s/ +$//'
  Device 0 (n150): 6 buffers of 2 processes
  
    DRAM: 12 banks of 1 GiB from 0x20 to 0x40000020
      [-.........................................................................]
      2 KiB used in each bank by 4 buffers, 1024.00 MiB free
      largest hole 1023.96 MiB, fragmentation 0.0%
      2 buffers begin inside another one: 2 KiB claimed more than once
                Hole      Bytes  Below                         Above
              0xb400 1023.96MiB  weights of PID  end of the region
                0x20   39.97KiB  end of the region             weights of PID
              0xa400    3.00KiB  weights of PID  weights of PID
  $ kill -USR1 $!; wait $!
  [7]
  $ kill -USR1 $first; wait $first
  [7]
  $ rm -r shm/*; tidemark dump --map | head -1 | cut -c -14
  no ledgers in 

Wrong usage.

  $ tidemark dump 4242
  tidemark dump: unexpected argument '4242'
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --pid x
  tidemark dump: --pid 'x': expected a process id
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --sort weight
  tidemark dump: --sort 'weight': expected size, age, site or address
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --limit 0
  tidemark dump: --limit '0': expected a number, 1 or more
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --kind ram
  tidemark dump: --kind 'ram': expected dram, l1, l1_small, trace, cb, dfb, scratchpad, kernel, firmware, system or config
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --device -1
  tidemark dump: --device '-1': expected a device number
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --dir /nowhere
  tidemark dump: cannot list /nowhere: No such file or directory
  [2]

Charts: one bank by address, L1 core by core; on the terminal or as a file.

  $ rm -rf shm/*; { TIDEMARK=1 $TOOLS/tracked crash; } 2>/dev/null
  [137]
  $ tidemark dump --chart bank --ascii | sed -n "1,4p; 18,\$p"
  One bank of dram: 2 KiB of 1 GiB used, the largest hole has 1023.96 MiB
  # weights
  0x20       [_.................................................................]
  0x4000020  [..................................................................]
  0x3c000020 [..................................................................]
              0 B                                                         64 MiB
  _ less than half is used
  $ tidemark dump --chart bank -o bank.svg && grep -c 'weights: ' bank.svg
  tidemark dump: the chart is in bank.svg
  1
  $ tidemark dump --chart bank --kind cb
  tidemark dump: banks have dram, l1, l1_small and trace, not cb
  [2]
  $ tidemark dump --chart bank --device 7
  tidemark dump: nothing to draw: no device holds anything
  [2]
  $ tidemark dump --chart heap
  tidemark dump: --chart 'heap': expected bank or cores
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --chart cores --json
  tidemark dump: --chart with --json needs --output FILE
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump -o bank.svg
  tidemark dump: --output is for a chart: which? --chart bank or cores
  tidemark dump: see 'tidemark dump --help'
  [2]

A folder whose name is not plain ASCII is used and shown as it is.

  $ d=$PWD/$(printf 'h\303\251'); u=tidemark-$(id -u); mkdir -p -m 700 $d/$u
  $ head -c 2000 /dev/zero | tr '\0' x >$d/$u/9285.17.0
  $ tidemark dump --dir $d --reap 2>&1 | sed "s|$PWD|.|; s|$u|UID|"; ls $d
  A ledger that could not be read:
    ./hé/UID/9285.17.0: not a ledger: it does not begin like one
  tidemark dump: removed 1 ledger

Buffers from before the tracking count, but not as allocations; they are older than everything else.

  $ rm -rf shm/*; TIDEMARK=1 $TOOLS/tracked adopt; tidemark dump --sort age | calm | sed -E '1,2d; s/before +[0-9]+/before  THREAD/'
  
    Device          Kind             Live       Peak      Asked    Buffers       Peak     Allocs
    0 (n150)        dram         36.00KiB   36.00KiB   36.00KiB          3          3          1
                      2 buffers from before the tracking
    0 (n150)        trace          1000 B     1000 B     1000 B          1          1          1
  
    Device Kind              Address      Asked   Reserved Banks     Age   Thread Stack  Program          Name
    0      dram               0xa000   12.00KiB   12.00KiB    12  before  THREAD     -  matmul           older
    0      dram               0xb000   12.00KiB   12.00KiB    12  before  THREAD     -  matmul           older
    0      trace              0x5000     1000 B     1000 B     1  AGE  THREAD     -  matmul           trace
    0      dram               0x9000   12.00KiB   12.00KiB    12  AGE  THREAD     -  matmul           newer
  $ tidemark dump --json --kind dram --sort age | python3 -c '
  > import json, sys
  > process = json.load(sys.stdin)["dump"]["processes"][0]
  > print([(k["allocations"], k["adopted"]) for k in process["devices"][0]["kinds"]])
  > print([(b["adopted"], b["age_ns"] is None, b["name"]) for b in process["buffers"]])'
  [(1, 2)]
  [(True, True, 'older'), (True, True, 'older'), (False, False, 'newer')]
