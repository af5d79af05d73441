The live monitor, as it prints where there is no terminal.

  $ mkdir -p m/sys m/proc m/shm ledgers
  $ export TIDEMARK_SYSFS_ROOT=$PWD/m/sys TIDEMARK_PROC_ROOT=$PWD/m/proc TIDEMARK_SHM_DIR=$PWD/m/shm TIDEMARK_DIR=$PWD/ledgers
  $ make() { "$TESTDIR/fake_machine" m "$@"; }
  $ calm() { sed -E 's/Time: [0-9: -]{19}/Time: NOW/; s/^( {4,}[0-9]+) [^ ]+ +/\1 USER /'; }
  $ stop() { until [ -s $1 ]; do sleep 0.05; done; kill $!; wait $!; } # once there is something in the file
  $ tidemark top --once | calm

A card, and a program that fills its L1.

  $ make card 0 0000:01:00.0 n150 wormhole 0100018611902010; make process 4242 python3 0
  $ fill() { make region $((16#0100018611902010)) 0 "$@" 4242; }
  $ fill dram=$((5 << 30)) l1=$((75 << 20)) cb=$((8 << 20))
  $ tidemark top -n 1 | calm

The recipes: a log, what is full to 80 % or more, and a check of a log.

  $ tidemark top -r 100 -n 3 | tee memory_log.txt | grep -c '^Device 0 (ID: 0)'
  $ grep -c 'Refresh: 100ms' memory_log.txt
  $ tidemark top -r 100 -n 1 | grep -A 5 "Allocated.*[89][0-9]%"
  $ grep -q "L1.*[89][0-9]\.[0-9]%" memory_log.txt && echo "Warning: High L1 utilization detected!"
  Warning: High L1 utilization detected!
  $ fill dram=$((11 << 30)) l1=$((68 << 20)); tidemark top -1 > full_dram.txt
  $ grep "Allocated.*[89][0-9]%" full_dram.txt
  $ grep -q "L1.*[89][0-9]\.[0-9]%" full_dram.txt
  $ fill l1=89180000; tidemark top -1 | grep -A 3 'L1 Memory'; tidemark top -1 | grep -c "L1.*[89][0-9]\.[0-9]%"
  $ fill l1=99180000; tidemark top -1 | grep -E 'L1 Memory|Allocated.*%|Usage: .*%'
  $ tidemark top -1 | grep -c "L1.*[89][0-9]\.[0-9]%"
  $ tidemark top -r 1000 > mem.txt & stop mem.txt; grep -c 'Refresh: 1000ms' mem.txt

Readers that leave, signals, outputs that are full, other alphabets.

  $ set -o pipefail
  $ tidemark top -r 60000 | head -1
  $ tidemark top -r 100 | grep -q 'Device 0'
  $ python3 -c 'import signal, subprocess as s
  > for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
  >     p = s.Popen(["tidemark", "top", "-r", "60000"], stdout=s.PIPE)
  >     p.stdout.readline()
  >     p.send_signal(number)
  >     print(p.wait())'
  $ tidemark top -n 2 > /dev/full
  $ LC_ALL=C tidemark top -1 | grep 'Usage: \['
  $ tidemark top -1 --ascii | grep 'Usage: \['

Choosing.

  $ make card 1 0000:02:00.0 p150a blackhole 0000041236789ABC
  $ tidemark top -1 -d 02:00.0 | calm | sed -n '5,20p'
  $ tidemark top -1 -p 4242 | grep -E '^Device|Devices'
  $ tidemark top -1 -p 1 | grep -E '^Device|Devices'

Wrong usage.

  $ tidemark top -r 99
  $ tidemark top --refresh soon
  $ tidemark top -d card
  $ tidemark top -n 0
  $ tidemark top now
