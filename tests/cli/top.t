The live monitor, as it prints where there is no terminal.

  $ mkdir -p m/sys m/proc m/shm ledgers
  $ export TIDEMARK_SYSFS_ROOT=$PWD/m/sys TIDEMARK_PROC_ROOT=$PWD/m/proc TIDEMARK_SHM_DIR=$PWD/m/shm TIDEMARK_DIR=$PWD/ledgers
  $ make() { "$TESTDIR/fake_machine" m "$@"; }
  $ calm() { sed -E 's/Time: [0-9: -]{19}/Time: NOW/; s/^( {4,}[0-9]+) [^ ]+ +/\1 USER /'; }
  $ stop() { until [ -s $1 ]; do sleep 0.05; done; kill $!; wait $!; } # once there is something in the file
  $ tidemark top --once | calm
  ================================================================================
  |                     TT Device Memory Utilization Monitor                     |
  ================================================================================
  
  System Info:
    Time: NOW
    Refresh: none
    Devices: 0 (no card and no tracked process is visible: try 'tidemark demo', which needs no card, and see 'tidemark doctor', which says what was looked for)
  

A card, and a program that fills its L1.

  $ make card 0 0000:01:00.0 n150 wormhole 0100018611902010; make process 4242 python3 0
  $ fill() { make region $((16#0100018611902010)) 0 "$@" 4242; }
  $ fill dram=$((5 << 30)) l1=$((75 << 20)) cb=$((8 << 20))
  $ tidemark top -n 1 | calm
  ================================================================================
  |                     TT Device Memory Utilization Monitor                     |
  ================================================================================
  Press Ctrl+C to exit
  
  System Info:
    Time: NOW
    Refresh: 1000ms
    Devices: 1
    Note: the figures are tt-metal's own statistics: allocations of other threads may be missing, and the CB total may be the last writer's alone
  
  Device 0 (ID: 0)
    ------------------------------------------------------------------------------
  
    Device Information:
      Architecture: Wormhole (n150)
      Node: /dev/tenstorrent/0
      PCI: 0000:01:00.0
      Chip ID: 0x100018611902010
      Initialized: Yes (1 process)
      Hardware CQs: unknown (no source reports them)
      DRAM Channels: 12
      Compute Grid: 8x8 (64 cores), inferred (model)
  
    Real-Time Memory Utilization:
  
    DRAM Memory: 41.7%
      Banks: 12
      Total:               11.99 GiB
      Allocated:            5.00 GiB (41%)
      Free:                 6.99 GiB
      Largest Block:         unknown
      Usage: [█████████████████░░░░░░░░░░░░░░░░░░░░░░░] 41.7%
  
    L1 Memory: 88.1%
      Banks: 64
      Total:               85.05 MiB
      Allocated:           75.00 MiB (88%)
      Free:                10.05 MiB
      Largest Block:         unknown
      Usage: [███████████████████████████████████░░░░░] 88.1%
  
    L1_SMALL Memory:
      Banks: unknown
      Total:                 unknown
      Allocated:                 0 B (share unknown)
      Free:                  unknown
      Largest Block:         unknown
      Usage: unknown (its size is not known)
  
    TRACE Memory:
      Banks: unknown
      Total:                 unknown
      Allocated:                 0 B (share unknown)
      Free:                  unknown
      Largest Block:         unknown
      Usage: unknown (its size is not known)
  
    CB Memory: 9.4%
      Banks: 64
      Total:               85.05 MiB
      Allocated:            8.00 MiB (9%)
      Free:                 2.05 MiB
      Largest Block:         unknown
      Usage: [████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░] 9.4%
  
    Processes:
         4242 USER DRAM 5.00 GiB  L1 75.00 MiB  CB 8.00 MiB  /usr/bin/python3 train.py
  

The recipes: a log, what is full to 80 % or more, and a check of a log.

  $ tidemark top -r 100 -n 3 | tee memory_log.txt | grep -c '^Device 0 (ID: 0)'
  3
  $ grep -c 'Refresh: 100ms' memory_log.txt
  3
  $ tidemark top -r 100 -n 1 | grep -A 5 "Allocated.*[89][0-9]%"
      Allocated:           75.00 MiB (88%)
      Free:                10.05 MiB
      Largest Block:         unknown
      Usage: [███████████████████████████████████░░░░░] 88.1%
  
    L1_SMALL Memory:
  $ grep -q "L1.*[89][0-9]\.[0-9]%" memory_log.txt && echo "Warning: High L1 utilization detected!"
  Warning: High L1 utilization detected!
  $ fill dram=$((11 << 30)) l1=$((68 << 20)); tidemark top -1 > full_dram.txt
  $ grep "Allocated.*[89][0-9]%" full_dram.txt
      Allocated:           11.00 GiB (91%)
  $ grep -q "L1.*[89][0-9]\.[0-9]%" full_dram.txt
  [1]
  $ fill l1=89180000; tidemark top -1 | grep -A 3 'L1 Memory'; tidemark top -1 | grep -c "L1.*[89][0-9]\.[0-9]%"
    L1 Memory: 99.9%
      Banks: 64
      Total:               85.05 MiB
      Allocated:           85.05 MiB (99%)
  1
  $ fill l1=99180000; tidemark top -1 | grep -E 'L1 Memory|Allocated.*%|Usage: .*%'
      Allocated:                 0 B (0%)
      Usage: [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░] 0.0%
    L1 Memory: 99.9%+
      Allocated:           94.59 MiB (99%+)
      Usage: [████████████████████████████████████████] 111.2%
  $ tidemark top -1 | grep -c "L1.*[89][0-9]\.[0-9]%"
  1
  $ tidemark top -r 1000 > mem.txt & stop mem.txt; grep -c 'Refresh: 1000ms' mem.txt
  1

Readers that leave, signals, outputs that are full, other alphabets.

  $ set -o pipefail
  $ tidemark top -r 60000 | head -1
  ================================================================================
  $ tidemark top -r 100 | grep -q 'Device 0'
  $ python3 -c 'import signal, subprocess as s
  > for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
  >     own = lambda: signal.signal(number, signal.SIG_DFL) # a job in the background ignores some of them
  >     p = s.Popen(["tidemark", "top", "-r", "60000"], stdout=s.PIPE, preexec_fn=own)
  >     p.stdout.readline()
  >     p.send_signal(number)
  >     print(p.wait())'
  0
  0
  0
  $ tidemark top -n 2 > /dev/full
  tidemark top: cannot write to standard output: No space left on device
  [2]
  $ LC_ALL=C tidemark top -1 | grep 'Usage: \['
      Usage: [........................................] 0.0%
      Usage: [########################################] 111.2%
  $ tidemark top -1 --ascii | grep 'Usage: \['
      Usage: [........................................] 0.0%
      Usage: [########################################] 111.2%

Choosing.

  $ make card 1 0000:02:00.0 p150a blackhole 0000041236789ABC
  $ tidemark top -1 -d 02:00.0 | calm | sed -n '5,20p'
  System Info:
    Time: NOW
    Refresh: none
    Devices: 1 of 2
  
  Device /1 (ID: unknown)
    ------------------------------------------------------------------------------
  
    Device Information:
      Architecture: Blackhole (p150a)
      Node: /dev/tenstorrent/1
      PCI: 0000:02:00.0
      Initialized: No (no process is known to use it)
      Hardware CQs: unknown (no source reports them)
      DRAM Channels: 8
      Compute Grid: 11x10 (110 cores), inferred (model)
  $ tidemark top -1 -p 4242 | grep -E '^Device|Devices'
    Devices: 1 of 2
  Device 0 (ID: 0)
  $ tidemark top -n 1 -d 1 -p 4242 | grep Devices
    Devices: 0 of 2 (no process 4242 is known to use device "1")
  $ tidemark top -n 3 -d 77
  tidemark top: no device '77' among the 2 that are visible; 'tidemark status' lists them
  [2]
  $ tidemark top -n 3 -p 1
  tidemark top: no process 1 is known to use a device; 'tidemark status' lists those that do
  [2]
  $ tidemark status --watch -d 77
  tidemark status: no device '77' among the 2 that are visible; 'tidemark status' lists them
  [2]
  $ tidemark status --watch -p 4242 -p 1
  tidemark status: no process 1 is known to use a device; 'tidemark status' lists those that do
  [2]
  $ tidemark top --once -d 77
  tidemark top: no device '77' among the 2 that are visible; 'tidemark status' lists them
  [2]
  $ tidemark top --once -p 4242 -p 1
  tidemark top: no process 1 is known to use a device; 'tidemark status' lists those that do
  [2]

A device keeps its number when another one vanishes, here and in the other commands.

  $ mkdir -p n/sys n/proc n/shm
  $ export TIDEMARK_SYSFS_ROOT=$PWD/n/sys TIDEMARK_PROC_ROOT=$PWD/n/proc TIDEMARK_SHM_DIR=$PWD/n/shm
  $ for i in 0 1; do "$TESTDIR/fake_machine" n region $((77 + i)) $i dram=$((1 << 30)); done
  $ numbers() { tidemark top --once | grep '^Device'; tidemark status --json | grep -o '"number": [0-9]*'; }
  $ numbers
  Device 0 (ID: 0)
  Device 1 (ID: 1)
  "number": 0
  "number": 1
  $ rm n/shm/tt_device_77_memory; numbers
  Device 1 (ID: 1)
  "number": 1
  $ tidemark top --once -d 1 | grep '^Device'
  Device 1 (ID: 1)
  $ tidemark top --once -d 0
  tidemark top: no device '0' among the 1 that are visible; 'tidemark status' lists them
  [2]

Wrong usage.

  $ tidemark top -r 99
  tidemark top: --refresh '99': expected a number of milliseconds from 100 to 86400000
  tidemark top: see 'tidemark top --help'
  [2]
  $ tidemark top --refresh soon
  tidemark top: --refresh 'soon': expected a number of milliseconds from 100 to 86400000
  tidemark top: see 'tidemark top --help'
  [2]
  $ tidemark top -d card
  tidemark top: --device 'card': expected a number, /dev/tenstorrent/N, a PCI address, a chip id (0x...) or a '#N' of the list
  tidemark top: see 'tidemark top --help'
  [2]
  $ tidemark top -n 0
  tidemark top: --frames '0': expected a number, 1 or more
  tidemark top: see 'tidemark top --help'
  [2]
  $ tidemark top now
  tidemark top: unexpected argument 'now'
  tidemark top: see 'tidemark top --help'
  [2]
