What a runtime in a program says about traces and its own allocator. The program is tests/integration/traced.c.

  $ export TIDEMARK_DIR=$PWD/shm COLUMNS=100; mkdir shm
  $ calm() { sed -n '/^  \(danger\|warning\|info\|ok\) /,$p'; } # from the first finding on
  $ tidemark run -- $TOOLS/traced traces 2>&1 | calm
    danger   kv_cache: 3 dram buffers of 48 KiB on device 0, the first at 0x4000, were allocated in ttnn::add while a captured trace existed and were live when trace 7 was replayed: their content may have been overwritten
             -> Allocate such buffers before the first capture: run every operation once, so that tensors and programs that are made at their first use exist, and capture all traces after that, one after the other. Write new inputs into buffers that existed before the capture. Free what is only needed for a while, or release the trace, before a replay. A buffer that the trace itself fills before anything reads it is safe.
    info     scratch: 1 dram buffer of 48 KiB on device 0 at 0x9000 was allocated while a captured trace existed (trace 7); no trace has been replayed since
             -> Free such buffers before the trace is replayed, or release the trace first. Allocate before the capture what must live longer.
    info     prompt: 1 dram buffer of 48 KiB on device 0 at 0x8000 was allocated while a captured trace existed and had been freed when trace 7 was replayed
             -> This is safe as long as they are always freed, and no longer read, before the replay.
    ok       the figures agree with the runtime's allocator (2 reports)
  
    Sizes for opening the device, as this run needed them
      trace_region_size=196608          device 0 has 23887872
      l1_small_size=2048                device 0 has 32768
  $ tidemark run -- $TOOLS/traced mesh 2>&1 | grep -A1 'kv_cache:'
    danger   kv_cache: 12 dram buffers of 48 KiB on 4 devices, the first at 0x4000, were allocated in ttnn::add while a captured trace existed and were live when trace 7 was replayed: their content may have been overwritten
             -> Allocate such buffers before the first capture: run every operation once, so that tensors and programs that are made at their first use exist, and capture all traces after that, one after the other. Write new inputs into buffers that existed before the capture. Free what is only needed for a while, or release the trace, before a replay. A buffer that the trace itself fills before anything reads it is safe.

Both stacks.

  $ tidemark run --stacks 8 -- $TOOLS/traced traces 2>&1 | grep -A4 -E '^ +(allocated|replayed) in:' | grep -o -E '(allocated|replayed) in:|(allocate|traces) \(.*traced.c' | sed 's|(.*/||' | head -5
  allocated in:
  allocate traced.c
  traces traced.c
  replayed in:
  traces traced.c
  $ tidemark run --json - -- $TOOLS/traced traces 2>/dev/null >run.json
  $ python3 - <<X
  > import json
  > process = json.load(open("run.json"))["run"]["processes"][0]
  > for f in process["findings"]:
  >     print(f["what"], f["verdict"], f["about"]["name"], f["figures"].get("buffers"), f["figures"].get("trace"), f["evidence"].get("program"))
  > for s in process["open_sizes"]:
  >     print(s)
  > device = process["devices"][0]
  > print([(t["trace"], t["replays"], t["allocations_meanwhile"]) for t in device["traces"]], device["trace_hazards_lost"])
  > print([(s["kind"], s["reports"], s["differing"], s["counted_bytes_per_bank"]) for s in device["statistics"]])
  > X
  trace_live danger kv_cache 3 7 ttnn::add
  trace_waits info scratch 1 7 None
  trace_freed info prompt 1 7 None
  statistics_agree ok None None None None
  {'option': 'trace_region_size', 'needed_bytes': 196608, 'device': 0, 'opened_with_bytes': 23887872, 'traces_in_dram': False, 'at_least': False}
  {'option': 'l1_small_size', 'needed_bytes': 2048, 'device': 0, 'opened_with_bytes': 32768, 'traces_in_dram': False, 'at_least': False}
  [(7, 2, 5)] 0
  [('dram', 1, 0, 20480), ('l1_small', 1, 0, 2048)]

More places than the ledger keeps.

  $ tidemark run -- $TOOLS/traced many 2>&1 | grep -c 'danger'
  50
  $ tidemark run -- $TOOLS/traced many 2>&1 | grep -E -A1 'more'
    and 580 more
    those hold 27.19 MiB
  --
    and 206 more
    warning  344 more buffers were allocated while a captured trace existed; the ledger had no room to keep where
  

The runtime's allocator, clashes, and devices without a trace region.

  $ tidemark run -- $TOOLS/traced differs 2>&1 | calm
    warning  device 0, dram: the runtime's allocator has 12,288 B in each bank, Tidemark counted 4,096 B (1 of 1 reports differed)
             -> The runtime holds memory that was not reported: it was allocated before the tracking began, or by a way that is not seen.
  
    Sizes for opening the device, as this run needed them
      trace_region_size=0               device 0 has 23887872
      l1_small_size=0                   device 0 has 32768
  $ tidemark run -- $TOOLS/traced clash 2>&1 | calm
    danger   device 0: circular buffers of matmul do not fit into L1: they need 1,462,272 of the 1,396,736 B that a core has for them, and would end at 0x17e000, 65,536 B beyond the end of L1 at 0x16e000; cores 0-0 to 1-1 (once)
             -> Give the program smaller circular buffers: smaller blocks, or more cores. Nothing that is freed in L1 helps.
    danger   device 0: circular buffers of matmul clash with L1 buffers: they end at 0x5a000, the lowest L1 buffer is at 0x58000, which is 8,192 B too low; they need 266,240 B in each core; cores 0-0 to 1-1 (once)
             -> Free L1 buffers or move them to DRAM before this program runs, or give it smaller circular buffers: smaller blocks, or more cores. 'tidemark dump --map' shows both ends of L1 while the program runs.
    danger   device 0: circular buffers were refused: they reach into L1 buffers or beyond the end of L1; where is not known (once)
  
    Sizes for opening the device, as this run needed them
      trace_region_size=0               device 0 has 23887872
      l1_small_size=0                   device 0 has 32768

The ledger keeps them: dump has the same findings, and none of them is a lack of memory.

  $ TIDEMARK=1 TIDEMARK_KEEP=1 $TOOLS/traced clash; tidemark dump >dump.txt; grep -o -E 'danger .{0,36}|out-of-memory' dump.txt
  danger   device 0: circular buffers of matm
  danger   device 0: circular buffers of matm
  danger   device 0: circular buffers were re
  $ tidemark dump --json | python3 -c '
  > import json, sys
  > for f in json.load(sys.stdin)["dump"]["processes"][0]["findings"]:
  >     print(f["what"], *(f["figures"][k] for k in ("clashes", "cb_begin", "cb_end", "lowest_l1", "l1_bytes")), f["evidence"]["program"], f["figures"]["core_range"])'
  beyond_l1 1 102400 1564672 None 1499136 matmul {'x0': 0, 'y0': 0, 'x1': 1, 'y1': 1}
  clash 1 102400 368640 360448 None matmul {'x0': 0, 'y0': 0, 'x1': 1, 'y1': 1}
  clash 1 None None None None None None
  $ tidemark dump --reap 2>&1 | tail -1
  tidemark dump: removed 1 ledger
  $ tidemark run -- $TOOLS/traced dynamic 2>&1 | tail -2
    Sizes for opening the device, as this run needed them
      trace_region_size=0               without a trace region, traces are in DRAM

Circular buffers of three programs share their addresses: a core has the union, and the sum is the producer's.

  $ tidemark run --keep -- $TOOLS/traced shared 2>&1 | grep -E ' cb '| sed -E 's/ +[0-9.]+ .?s / AGE /'
    0 (n150)        cb            3.00MiB    3.00MiB        0 B          3          3          3
    cb                  3          - AGE  matmul
  $ tidemark dump --json | python3 -c '
  > import json, sys
  > process = json.load(sys.stdin)["dump"]["processes"][0]
  > print([(b["shared"], b["reserved_bytes"]) for b in process["buffers"]], process["devices"][0]["kinds"][0]["reserved_bytes"])'
  [(True, 2097152), (True, 2097152), (True, 1048576)] 3145728
  $ tidemark dump --map | grep -i -E 'overlap|clash|fullest|largest core|average'
      8 x 8 cores with 48 KiB on average, at most 64 KiB on core (0,0), of 1464 KiB
  $ tidemark dump --map --json | python3 -c '
  > import json, sys
  > cores = json.load(sys.stdin)["dump"]["map"][0]["cores"]
  > print(cores["max_bytes"], cores["average_bytes"])'
  65536 49152
  $ tidemark leaks | grep -c matmul
  0
  [1]
  $ tidemark dump --reap >/dev/null; ls shm
  tidemark dump: removed 1 ledger

While it runs.

  $ mkfifo in out; TIDEMARK=1 $TOOLS/traced wait <in >out & exec 3>in; read ready <out
  $ tidemark status --pid $! | sed -n '/^Findings/,/^$/p' | tr -s ' \n' ' ' | sed -E 's/\) [0-9]+ /) PID /; s/ $//'; echo
  Findings ('tidemark dump' says what to do) PID traced: kv_cache: 3 dram buffers of 48 KiB on device 0, the first at 0x4000, were allocated in ttnn::add while a captured trace existed and were live when trace 7 was replayed: their content may have been overwritten
  $ tidemark status --pid $! --json | python3 -c '
  > import json, sys
  > status = json.load(sys.stdin)
  > print([(f["what"], "stack" in f["evidence"]) for f in status["status"]["findings"]])
  > print([t["trace"] for t in status["processes"][0]["memory"]["traces"]])'
  [('trace_live', False), ('trace_waits', False), ('trace_freed', False), ('statistics_agree', False)]
  [7]
  $ tidemark dump | grep -c -- '-> Allocate such buffers before the first capture'
  1
  $ exec 3>&-; wait
