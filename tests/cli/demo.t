Workloads on a simulated card. Each is a process that reports as any program does; --rounds makes it go without pauses.

  $ export TIDEMARK_DIR=$PWD/shm; mkdir shm
  $ demo() { tidemark demo --view none "$@"; }

Training: the tables are those of tt-train's documents, to the hundredth of a MB.

  $ demo --workload training --rounds 1
  === Memory Usage Summary ===
  
  --- MODEL_CREATION ---
    DRAM: Segment Peak 1863.25 MB, Allocations 1863.25 MB, Deallocations 0.00 MB, Segment Change +1863.25 MB
    DRAM: Cumulative Peak 1863.25 MB, Cumulative Current 1863.25 MB
    L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB
  --- OPTIMIZER_CREATION ---
    DRAM: Segment Peak 3708.76 MB, Allocations 3708.76 MB, Deallocations 0.00 MB, Segment Change +3708.76 MB
    DRAM: Cumulative Peak 5572.01 MB, Cumulative Current 5572.01 MB
    L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB
  --- FORWARD_PASS ---
    DRAM: Segment Peak 996.35 MB, Allocations 21076.83 MB, Deallocations 20883.88 MB, Segment Change +192.95 MB
    DRAM: Cumulative Peak 6568.36 MB, Cumulative Current 5764.96 MB
    L1: Peak CB 0.76 MB, Peak Buffer 0.06 MB, Peak Total 0.76 MB
  --- BACKWARD_PASS ---
    DRAM: Segment Peak 2513.69 MB, Allocations 32126.74 MB, Deallocations 30463.67 MB, Segment Change +1663.07 MB
    DRAM: Cumulative Peak 8278.65 MB, Cumulative Current 7428.04 MB
    L1: Peak CB 0.76 MB, Peak Buffer 0.06 MB, Peak Total 0.76 MB
  --- FIRST_ITERATION_COMPLETE ---
    DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, Deallocations 1856.03 MB, Segment Change -1856.03 MB
    DRAM: Cumulative Peak 8278.65 MB, Cumulative Current 5572.01 MB
    L1: Peak CB 0.09 MB, Peak Buffer 0.00 MB, Peak Total 0.09 MB
  
  === Final Totals ===
  Overall DRAM Peak: 8278.65 MB, Final DRAM Usage: 5572.01 MB
  
  $ demo --workload training --rounds 3 | tail -2
  Overall DRAM Peak: 8278.65 MB, Final DRAM Usage: 5572.01 MB
  
  $ demo --workload training --rounds 1 --mode default
  === Memory Usage Summary ===
  
  --- MODEL_CREATION ---
    DRAM: Segment Peak 1863.12 MB, Allocations 1863.12 MB, Deallocations 0.00 MB, Segment Change +1863.12 MB
    DRAM: Cumulative Peak 1863.12 MB, Cumulative Current 1863.12 MB
    L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB
  --- OPTIMIZER_CREATION ---
    DRAM: Segment Peak 3708.75 MB, Allocations 3708.75 MB, Deallocations 0.00 MB, Segment Change +3708.75 MB
    DRAM: Cumulative Peak 5571.88 MB, Cumulative Current 5571.88 MB
    L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB
  --- FORWARD_PASS ---
    DRAM: Segment Peak 10019.39 MB, Allocations 21076.39 MB, Deallocations 11440.38 MB, Segment Change +9636.02 MB
    DRAM: Cumulative Peak 15591.27 MB, Cumulative Current 15207.89 MB
    L1: Peak CB 0.76 MB, Peak Buffer 0.06 MB, Peak Total 0.76 MB
  --- BACKWARD_PASS ---
    DRAM: Segment Peak 458.75 MB, Allocations 10890.79 MB, Deallocations 18671.67 MB, Segment Change -7780.87 MB
    DRAM: Cumulative Peak 15666.65 MB, Cumulative Current 7427.02 MB
    L1: Peak CB 0.76 MB, Peak Buffer 0.00 MB, Peak Total 0.76 MB
  --- FIRST_ITERATION_COMPLETE ---
    DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, Deallocations 1855.14 MB, Segment Change -1855.14 MB
    DRAM: Cumulative Peak 15666.65 MB, Cumulative Current 5571.88 MB
    L1: Peak CB 0.09 MB, Peak Buffer 0.00 MB, Peak Total 0.09 MB
  
  === Final Totals ===
  Overall DRAM Peak: 15666.65 MB, Final DRAM Usage: 5571.88 MB
  
  This was captured without dispatch. It needs 15.30 GiB of DRAM; n150 has 11.99 GiB, so it does not fit and ends here.
  $ demo --workload training --rounds 2 --mode default --card p150 | tail -1
  This was captured without dispatch. It needs 15.30 GiB of DRAM; p150 has 31.87 GiB, so it fits and goes on with dispatch.

The table is of one copy of the model, also on several chips.

  $ demo --workload training --rounds 2 --chips 2 | tail -2
  Overall DRAM Peak: 8278.65 MB, Final DRAM Usage: 5572.01 MB
  

The other workloads.

  $ demo --workload inference --rounds 400
  It answered 50 requests and wrote 6638 tokens.
  $ demo --workload inference --rounds 400
  It answered 50 requests and wrote 6638 tokens.
  $ demo --workload leak --rounds 7
  It forgot 7 buffers of 1 MiB (mask_cache.entry).
  $ demo --workload clash --rounds 40
  Statically allocated circular buffers in program 13 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 buffer allocated at 860160 and static circular buffer region ends at 892096
  The circular buffers of conv2d are 31.19 KiB too many in each core, because 13 activations (halo.out) hold 624 KiB of L1 there.
  It moved them out of L1 and went on: 3 clashes in all.
  $ demo --workload clash --rounds 3
  The activations did not grow far enough to clash.
  $ demo -w training --card quasar --rounds 1
  Out of memory: layers.1.attention.q.adamw.second needs 4194304 B in each of 2 banks of dram; 3145600 B are free there, the largest block is 3145600 B.

They leave nothing behind.

  $ ls shm

What the other commands see of them.

  $ tidemark run -- tidemark demo --workload leak --rounds 7 --view none 2>&1 | sed -n '/Never/,$p' | sed -E 's/ +[0-9.]+ [num]?s  /  AGE  /'
    Never freed
    Kind          Buffers   Reserved  Oldest  Site
    dram                7    7.05MiB  AGE  mask_cache.entry
  $ (TIDEMARK_KEEP=1 TIDEMARK_STACKS=8 demo -w leak --rounds 2 >/dev/null); tidemark dump --stacks --json >dump.json; python3 - <<'END'
  > import json
  > for process in json.load(open("dump.json"))["dump"]["processes"]:
  >     print(process["command"])
  >     for buffer in process["buffers"]:
  >         calls = [frame["function"] for frame in buffer["stack"]]
  >         print(buffer["name"], *(c for c in calls if c in ("cache_mask", "classify_batch", "run_leak")))
  > END
  tidemark demo --view none -w leak --rounds 2
  mask_cache.entry cache_mask classify_batch run_leak
  mask_cache.entry cache_mask classify_batch run_leak
  $ COLUMNS=300 LC_ALL=C tidemark leaks --fail | grep -o 'allocated in tdm_demo_alloc\|<- cache_mask ([a-z_]*.c\|<- classify_batch ([a-z_]*.c'
  allocated in tdm_demo_alloc
  <- cache_mask (demo_workloads.c
  <- classify_batch (demo_workloads.c
  $ tidemark dump --reap >/dev/null; ls shm
  tidemark dump: removed 1 ledger

Without room for their ledgers their figures are wrong, and they say so.

  $ (trap '' XFSZ; ulimit -f 100; demo -w training --rounds 1 >/dev/null)
  tidemark demo: * events were lost, so the figures are wrong: is there room in */shm? (glob)
  [2]

All of them, each in a process of its own, with what they print behind. Nobody is left when the parent is killed.

  $ calm() { sed -E 's/process [0-9]+/process PID/; s/[0-9]+ requests/N requests/; s/[0-9]+ tokens/N tokens/'; }
  $ demo --rounds 20 --chips 2 | calm | grep -v -E '^(---|  (DRAM|L1):)'
  4 programs on simulated cards (n150):
    training   process PID, device 0 to 1: trains a model with the shape of TinyLlama
    inference  process PID, device 2 to 3: serves requests with a paged key-value cache
    leak       process PID, device 4 to 5: forgets one buffer in every iteration
    clash      process PID, device 6 to 7: fills L1 until circular buffers clash with it
  
  clash
  Statically allocated circular buffers in program 13 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 buffer allocated at 860160 and static circular buffer region ends at 892096
  The circular buffers of conv2d are 31.19 KiB too many in each core, because 13 activations (halo.out) hold 624 KiB of L1 there.
  It moved them out of L1 and went on: 2 clashes in all.
  
  leak
  It forgot 40 buffers of 1 MiB (mask_cache.entry).
  
  inference
  It answered N requests and wrote N tokens.
  
  training
  === Memory Usage Summary ===
  
  
  === Final Totals ===
  Overall DRAM Peak: 8278.65 MB, Final DRAM Usage: 5572.01 MB
  
  
  Next: start 'tidemark demo --view none' and look at it from another terminal:
  'tidemark top', 'tidemark status', 'tidemark dump --stacks',
  'tidemark leaks --for 10s'; kill -9 one of its programs and look again.
  $ ls shm
  $ ended() { for i in $(seq 200); do [ -z "$(ls shm)" ] && return; sleep 0.05; done; ls shm; }
  $ begun() { until [ $(ls shm/* 2>/dev/null | wc -l) = $1 ]; do sleep 0.02; done; }
  $ tidemark demo --view none >/dev/null 2>&1 & begun 4; kill -9 $!; wait $! 2>/dev/null; ended
  $ tidemark demo --view none >out 2>&1 & begun 4; kill -INT $!; wait $!; ls shm; grep -c 'Overall DRAM Peak: 8278.65 MB' out
  1
  $ tidemark demo -w leak --view none >out 2>&1 & begun 1; kill -TERM $!; wait $!; ls shm; grep -c 'It forgot' out
  1
  $ tidemark demo --view none >out 2>&1 & begun 4; pid=$(tidemark dump | sed -n 's/Process \([0-9]*\): .*leak.*/\1/p'); kill -9 $pid; kill -TERM $!; wait $!; grep killed out | sed "s/$pid/PID/"; ls shm/* | sed "s/$pid.*/PID/"
  tidemark demo: leak was killed by signal 9; what it held: tidemark dump --pid PID
  PID
  $ tidemark dump --reap >/dev/null; ls shm
  tidemark dump: removed 1 ledger

The views: plain frames where there is no terminal, the screen of top on one, frames where that cannot be shown.

  $ tidemark demo --seconds 4 >out 2>&1; grep -q 'DRAM Memory' out && tail -1 out; ls shm
  'tidemark leaks --for 10s'; kill -9 one of its programs and look again.
  $ TERM=xterm script -qec 'tidemark demo --rounds 30' out >/dev/null </dev/null; grep -c 'Overall DRAM Peak: 8278.65 MB' out; ls shm
  1
  $ TERM=none script -qec 'tidemark demo --seconds 4' out >/dev/null </dev/null; grep -q 'DRAM Memory' out && grep -o 'terminfo does not know TERM=none' out; ls shm
  terminfo does not know TERM=none
  $ (begun 4; until [ -z "$(ls shm)" ]; do printf q; sleep 0.1; done) | TERM=xterm script -qec 'tidemark demo' out >/dev/null; grep -c 'Overall DRAM Peak: 8278.65 MB' out
  1

With the daemon, as its clients: it hears of every buffer and of every release.

  $ tidemark demo --server --rounds 20 --view none >out 2>&1; sed -E '/^They report/,$d; s/process [0-9]+/process PID/' out
  4 programs on simulated cards (n150):
    training   process PID, device 0, messages of 144 bytes: trains a model with the shape of TinyLlama
    inference  process PID, device 1, messages of 128 bytes: serves requests with a paged key-value cache
    leak       process PID, device 2, messages of 112 bytes: forgets one buffer in every iteration
    clash      process PID, device 3, messages of 72 bytes: fills L1 until circular buffers clash with it
  $ grep -E 'It forgot|Releases of unknown|Refused|Processes ended|Buffers they left|perfect' out
  It forgot 20 buffers of 1 MiB (mask_cache.entry).
    Refused: device: 0
    Refused: size or kind: 0
    Refused: no room: 0
    Refused: unknown process: 0
    Refused: too many lists: 0
    Releases of unknown buffers: 0
    Processes ended: 4
    Buffers they left: 0
  ✓ No buffers remaining - perfect cleanup!
  $ find shm -type f; ls -d tidemark-demo*
  ls: cannot access 'tidemark-demo*': No such file or directory
  [2]

Wrong usage.

  $ demo --workload sleeping
  tidemark demo: --workload 'sleeping': expected training, inference, leak, clash or all
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --card n99
  tidemark demo: --card 'n99': unknown card 'n99'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --card grayskull
  tidemark demo: --card 'grayskull': dram_base of grayskull is not known: the runtime's part of DRAM is not published for Grayskull
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --message-size 72
  tidemark demo: --message-size is for --socket
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --server --socket here
  tidemark demo: --server starts a server on a socket of its own; --socket names another one
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo -w leak --rounds 1 --socket nobody
  tidemark demo: no server answers at nobody: No such file or directory
  [2]
  $ TIDEMARK_DIR=/nowhere tidemark demo -w leak --rounds 1 --view none
  tidemark demo: no ledger could be made in /nowhere
  [2]
  $ TIDEMARK_DIR=/nowhere tidemark demo -w leak --rounds 1 --view plain | grep -v process
  1 program on simulated cards (n150):
  
  leak
  tidemark demo: no ledger could be made in /nowhere
  $ demo --chips 0
  tidemark demo: --chips '0': expected a number from 1 to 32
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --chips 33
  tidemark demo: --chips '33': expected a number from 1 to 32
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --first-device x
  tidemark demo: --first-device 'x': expected a number from 0 to 4096
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --mode fast
  tidemark demo: --mode 'fast': expected efficient or default
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --seconds -1
  tidemark demo: --seconds '-1': expected a number from 0 to 31536000
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo --rounds 0
  tidemark demo: --rounds '0': expected a number from 1 to 1000000
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ tidemark demo --view window
  tidemark demo: --view 'window': expected auto, top, plain or none
  tidemark demo: see 'tidemark demo --help'
  [2]
  $ demo training
  tidemark demo: unexpected argument 'training'
  tidemark demo: see 'tidemark demo --help'
  [2]

Every step of `make demo` before the programs works, and says something.

  $ grep '^show tidemark [^d]' $TESTDIR/../../scripts/demo | sed 's/^show //' | while IFS= read -r step; do
  >     lines=$(cd $TESTDIR/../..; bash -c "$step" | wc -l); echo "$((lines > 5)) $step"
  > done
  1 tidemark simulate --trace tests/data/demo.trace
  1 tidemark pressure 16 16
  1 tidemark scan tests/data/scan/add_cb.cpp
  1 tidemark report --limit 3 tests/data/demo.trace tests/data/logs/demo.log
