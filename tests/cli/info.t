What files say about memory. A capture of an addition of two tensors: peaks of both kinds, why they differ, what was there.

  $ export COLUMNS=100 NO_COLOR=1
  $ D=$TESTDIR/../data/graph
  $ tidemark info $D/add_l1.json | sed "s|$D/||"
  Graph capture  add_l1.json: 21 nodes, 3 calls, 3 buffers, 1 device, 5.70 KiB
  
  Peaks                     exact    bytes  runtime's own
  DRAM of one device          0 B        0              0  dram_peak
  L1 of one device        786 KiB  804,864         30,720  l1_peak
  L1 of the fullest core   14 KiB   14,336         14,336  core_peak_total
    buffers                 2 KiB    2,048          2,048  core_peak_l1
    circular buffers       12 KiB   12,288         12,288  core_peak_cb
  
    note     l1_peak: differs by -774,144 B: program memory is counted once, not for each core that has it
    note     2 buffers were there before the capture began
    note     2 buffers from before the capture are in L1 without their bytes per core: figures for one core do not include them
  
  Device  chips  DRAM  L1 device   L1 core  L1 buffers  circular  fullest core
       0  0       0 B  786.00KiB  14.00KiB     2.00KiB  12.00KiB  0-0
  
  When L1 was fullest: device 0, 14 KiB at node 14 in core 0-0
       size  per bank  kind  node  tensor                   allocated by
    6.00KiB   unknown  l1       3  [1, 3, 32, 32] BFLOAT16  before the capture
    6.00KiB   unknown  l1       5  [1, 3, 32, 32] BFLOAT16  before the capture
    6.00KiB   2.00KiB  l1       7  [1, 3, 32, 32] BFLOAT16  ... > tt::tt_metal::create_device_tensor
    per core  cores  kind  node  address  allocated by
     4.00KiB     64  cb      12   105664  BinaryNgDeviceOperation
     4.00KiB     64  cb      13   109760  BinaryNgDeviceOperation
     4.00KiB     64  cb      14   113856  BinaryNgDeviceOperation
  
  By operation
  peak core  DRAM       L1  buffers  calls  operation
   14.00KiB   0 B  6.00KiB        1      1  BinaryNgDeviceOperation
    2.00KiB   0 B  6.00KiB        1      1  ... > tt::tt_metal::create_device_tensor
          -   0 B      0 B        0      1  Tensor::deallocate

Two programs of which the capture does not say that the first is gone: the same addresses count once.

  $ tidemark info --limit 2 $D/mock_no_dispatch.json | sed "s|$D/||"
  Graph capture  mock_no_dispatch.json: 22 nodes, 2 calls, 4 buffers, 1 device, 6.25 KiB
  
  Peaks                      exact       bytes  runtime's own
  DRAM of one device        65 MiB  68,157,440     68,157,440  dram_peak
  L1 of one device        6656 KiB   6,815,744      5,332,992  l1_peak
  L1 of the fullest core   158 KiB     161,792        186,368  core_peak_total
    buffers                 94 KiB      96,256         96,256  core_peak_l1
    circular buffers        64 KiB      65,536         90,112  core_peak_cb
  
    note     l1_peak: differs by 2,621,440 B: buffers allocated directly in an outermost function are counted twice
    note     l1_peak: differs by 24,576 B: program memory that the next program has replaced is still counted
    note     l1_peak: differs by -4,128,768 B: program memory is counted once, not for each core that has it
    note     core_peak_cb: differs by 24,576 B: program memory that the next program has replaced is still counted
    note     core_peak_total: differs by 24,576 B: program memory that the next program has replaced is still counted
  
  Device  chips      DRAM  L1 device    L1 core  L1 buffers  circular  fullest core
       0  0      65.00MiB    6.50MiB  158.00KiB    94.00KiB  64.00KiB  0-0
  
  When L1 was fullest: device 0, 158 KiB at node 14 in core 0-0
         size  per bank  kind  node  tensor  allocated by
      2.00MiB  30.00KiB  l1       2  -       ttnn::add
    512.00KiB  64.00KiB  l1      11  -       ttnn::matmul
    per core  cores  kind  node  address  allocated by
    32.00KiB     64  cb      13   105664  ttnn::matmul
    32.00KiB     64  cb      14   138432  ttnn::matmul
  
  When DRAM was fullest: device 0, 65 MiB at node 16
        size  per bank  kind  node  tensor  allocated by
    64.00MiB   5.33MiB  dram     4  -       ttnn::add
     1.00MiB  86.00KiB  dram    15  -       ttnn::matmul
  
  By operation
  peak core      DRAM         L1  buffers  calls  operation
  158.00KiB   1.00MiB  512.00KiB        2      1  ttnn::matmul
   54.00KiB  64.00MiB    2.00MiB        2      1  ttnn::add

A device that is described in part: what it does not say is unknown.

  $ echo '{"graph":[{"counter":0,"node_type":"capture_start"}],"devices":[{"arch":"wormhole_b0"},{"device_id":3,"num_x_compute_cores":8}]}' > part.json
  $ tidemark info part.json | sed -n 2,5p
  
  Device  architecture  columns  rows  L1 a core  DRAM channels  each
       -  wormhole_b0         -  -             -  -                 -
       3  -                   8  -             -  -                 -
  $ tidemark info --json part.json | grep -A 8 '"device": null'
            "device": null,
            "arch": "wormhole_b0",
            "grid_x": null,
            "grid_y": null,
            "l1_per_core": null,
            "l1_banks": null,
            "dram_channels": null,
            "dram_per_channel": null
          },
  $ rm part.json

Two devices, many buffers, and everything that the runtime's figures add up or lose.

  $ tidemark info -n 3 $D/g23-d2.json | sed "s|$D/||"
  Graph capture  g23-d2.json: 304 nodes, 24 calls, 75 buffers, 2 devices, 77.19 KiB
  
  Peaks                          exact      bytes  runtime's own
  DRAM of one device          1.82 MiB  1,905,408      1,905,408  dram_peak
  L1 of one device          <=2954 KiB  3,024,896      3,301,312  l1_peak
  L1 of the fullest core  <=142.81 KiB    146,240        335,296  core_peak_total
    buffers                 142.81 KiB    146,240        158,528  core_peak_l1
    circular buffers       <=36.81 KiB     37,696        276,480  core_peak_cb
  
    note     l1_peak: differs by 46,080 B: buffers allocated directly in an outermost function are counted twice
    note     l1_peak: differs by 16,384 B: program memory that the next program has replaced is still counted
    note     l1_peak: differs by 1,897,984 B: memory on several devices is added up
    note     l1_peak: differs by -772,096 B: program memory is counted once, not for each core that has it
    note     l1_peak: differs by -911,936 B: the right peak is at another moment
    note     core_peak_cb: differs by 253,952 B: program memory that the next program has replaced is still counted
    note     core_peak_cb: differs by 4,096 B: memory on several devices is added up
    note     core_peak_cb: differs by -19,264 B: the right peak is at another moment
    note     core_peak_l1: differs by 12,288 B: memory on several devices is added up
    note     core_peak_total: differs by 253,952 B: program memory that the next program has replaced is still counted
    note     core_peak_total: differs by 18,432 B: memory on several devices is added up
    note     core_peak_total: differs by -83,328 B: the right peak is at another moment
    note     6 circular or dataflow buffers use a tensor's memory and have no bytes of their own
    note     2 programs whose circular buffers are not in the capture: they were cached before, or they have none
    note     2 circular buffers may belong to a second program of the same call, but no release or address says so: sizes are added up, and figures that include them are upper bounds
  
  Device  chips       DRAM  L1 device    L1 core  L1 buffers  circular  fullest core
       0  0        1.82MiB    2.88MiB  142.81KiB   142.81KiB  36.81KiB
       1  1      864.00KiB    2.22MiB   68.00KiB    62.00KiB  32.00KiB  1-2
  
  When L1 was fullest: device 0, 142.81 KiB at node 100
         size  per bank  kind  node  tensor  allocated by
    800.00KiB  52.00KiB  l1      91  -       MatmulDeviceOperation
    640.00KiB  80.00KiB  l1      99  -       outside of functions
    174.38KiB   2.81KiB  l1      50  -       ... > ttnn::softmax
    and 1 more
  
  When DRAM was fullest: device 0, 1.82 MiB at node 172
         size  per bank  kind  node  tensor  allocated by
    738.00KiB  62.00KiB  dram   171  -       ttnn::matmul
    490.00KiB  42.00KiB  dram   157  -       ... > ttnn::softmax
    386.75KiB  32.94KiB  dram   162  -       ... > BinaryNgDeviceOperation
    and 1 more
  
  By operation
  peak core     DRAM       L1  buffers  calls  operation
  123.06KiB  3.54MiB  4.96MiB       26      2  ttnn::matmul
  123.06KiB  1.17MiB  3.07MiB       15      1  ... > ttnn::matmul
  115.81KiB  2.42MiB  7.66MiB       23      1  MatmulDeviceOperation
    and 17 more

The runtime's figures as JSON are those of the runtime.

  $ for c in g21-d1 g22-d1 g23-d2; do
  >   tidemark info --json $D/$c.json | python3 -c '
  > import json, sys
  > stock = json.load(sys.stdin)["info"][0]["stock"]
  > expected = json.load(open(sys.argv[1]))
  > print({k: stock[k] for k in expected} == expected)' $D/$c.expected.json
  > done
  True
  True
  True

JSON, with its keys.

  $ cat > one.json <<'.'
  > [{"arguments": [], "connections": [1], "counter": 0, "node_type": "capture_start", "params": null},
  >  {"connections": [], "counter": 1, "node_type": "function_start", "params": {"inputs": "1", "name": "ttnn.add"}},
  >  {"connections": [], "counter": 2, "node_type": "buffer", "params": {"buffer_type": 1, "device_id": 0, "size": 640, "type": "L1"}},
  >  {"connections": [2], "counter": 3, "node_type": "buffer_allocate", "params": {"address": 4096, "buffer_type": 1, "device_id": 0, "max_size_per_bank": 64, "size": 640, "type": "L1"}},
  >  {"connections": [], "counter": 4, "node_type": "circular_buffer_allocate", "params": {"address": 1024, "core_range_set": "{[0-0 - 1-0]}", "device_id": 0, "globally_allocated": "0", "size": 32}}]
  > .
  $ tidemark info --json one.json | grep -v '"time"\|"host"'
  {
    "schema": "tidemark.info",
    "version": 1,
    "info": [
      {
        "file": "one.json",
        "format": "graph_capture",
        "complete": true,
        "bytes": 726,
        "nodes": 5,
        "refused_nodes": 0,
        "cut_texts": 0,
        "unknown_types": 0,
        "error_count": 0,
        "errors": [],
        "devices": [],
        "stock": {
          "source": "capture",
          "dram_peak": 0,
          "dram_allocations": 0,
          "dram_deallocations": 0,
          "l1_peak": 1312,
          "core_peak_cb": 32,
          "core_peak_l1": 64,
          "core_peak_dfb": 0,
          "core_peak_scratchpad": 0,
          "core_peak_total": 96,
          "unknown": {}
        },
        "findings": [
          {
            "what": "counted_twice",
            "severity": "note",
            "verdict": "note",
            "text": "differs by 640 B: buffers allocated directly in an outermost function are counted twice",
            "about": {
              "name": "l1_peak",
              "kind": null,
              "device": null,
              "pid": null,
              "comm": null,
              "ledger": null,
              "phase": null
            },
            "figures": {
              "bytes": 640
            },
            "evidence": {},
            "advice": []
          },
          {
            "what": "each_core",
            "severity": "note",
            "verdict": "note",
            "text": "differs by -32 B: program memory is counted once, not for each core that has it",
            "about": {
              "name": "l1_peak",
              "kind": null,
              "device": null,
              "pid": null,
              "comm": null,
              "ledger": null,
              "phase": null
            },
            "figures": {
              "bytes": -32
            },
            "evidence": {},
            "advice": []
          }
        ],
        "exact": {
          "source": "capture",
          "dram_peak": 0,
          "l1_peak": 704,
          "core_peak_cb": 32,
          "core_peak_l1": 64,
          "core_peak_dfb": 0,
          "core_peak_scratchpad": 0,
          "core_peak_total": 96,
          "unknown_releases": 0,
          "double_releases": 0,
          "second_allocations": 0,
          "views": 0,
          "undivided": 0,
          "ignored": 0,
          "devices": [
            {
              "device": 0,
              "chips": [
                {
                  "chip": 0,
                  "known_by": "same_number"
                }
              ],
              "kinds": [
                {
                  "kind": "l1",
                  "peak_asked_bytes": 640,
                  "peak_bytes_per_bank": 64,
                  "peak_reserved_bytes": null,
                  "asked_bytes_at_end": 640,
                  "allocations": 1,
                  "allocated_bytes": 640,
                  "releases": 0,
                  "released_bytes": 0,
                  "existing_buffers": 0,
                  "existing_bytes": 0
                }
              ],
              "dram": {
                "peak_asked_bytes": 0,
                "node": 0,
                "buffer_count": 0,
                "buffers": []
              },
              "peak_l1_bytes": 704,
              "views": 0,
              "core": {
                "peak_total": 96,
                "peak_l1": 64,
                "peak_program": 32,
                "peak_cb": 32,
                "peak_dfb": 0,
                "peak_scratchpad": 0,
                "node": 4,
                "fullest": {
                  "x": 0,
                  "y": 0
                },
                "buffer_count": 1,
                "buffers": [
                  {
                    "asked_bytes": 640,
                    "bytes_per_bank": 64,
                    "kind": "l1",
                    "node": 2,
                    "tensor": null,
                    "existing": false,
                    "operation": "ttnn.add"
                  }
                ],
                "program_count": 1,
                "program": [
                  {
                    "bytes_per_core": 32,
                    "cores": 2,
                    "kind": "cb",
                    "node": 4,
                    "address": 1024,
                    "operation": "ttnn.add"
                  }
                ]
              }
            }
          ],
          "operation_count": 1,
          "operations": [
            {
              "peak_core": 96,
              "dram_bytes": 0,
              "l1_bytes": 640,
              "buffers": 1,
              "calls": 1,
              "operation": "ttnn.add"
            }
          ],
          "existing": []
        }
      }
    ]
  }

Bad input: each file has its error, the others are shown, and the exit code says that something was wrong.

  $ : > empty.json
  $ head -c 700 one.json > cut.json
  $ printf '\001\002junk' > junk
  $ printf '[{"node_type": "buffer", "params": {"size": -1, "type": "L1"}}, 5, {"node_type": "buffer"}]' > bad.json
  $ mkdir nothing; tidemark info empty.json missing.json junk nothing bad.json cut.json
  empty.json: the file is empty
  missing.json: cannot be read: No such file or directory
  junk: not a kind of file that is known here (graph capture, report of ttnn, compiled kernel, memory report, performance report, inspector's log of mesh buffers, inspector's list of kernels, core dump of circular buffers, log)
  nothing: no file in this folder is of a kind that is known here
  bad.json: node 0 at byte 1: size of buffer is negative
  bad.json: node 1 at byte 64: it is not an object
  bad.json: node 2 at byte 67: buffer without params
  Graph capture  bad.json: 3 nodes, 0 calls, 0 buffers, 0 devices, 91 B
  
  Peaks                   exact  bytes  runtime's own
  DRAM of one device        0 B      0        unknown  dram_peak
  L1 of one device          0 B      0        unknown  l1_peak
  L1 of the fullest core    0 B      0        unknown  core_peak_total
    buffers                 0 B      0        unknown  core_peak_l1
    circular buffers        0 B      0        unknown  core_peak_cb
    dataflow buffers        0 B      0        unknown  core_peak_dfb
    scratchpads             0 B      0        unknown  core_peak_scratchpad
  
    warning  3 nodes cannot be used
    warning  dram_*: unknown: node 1: node_type is missing
    warning  l1_peak: unknown: node 1: node_type is missing
    warning  core_peak_*: unknown: node 0: counter out of order, expected 0
  
  cut.json: byte 700, after node 4: the file ends too early
  Graph capture  cut.json: 4 nodes, 1 call, 1 buffer, 1 device, 700 B
  Incomplete     the file could not be read to its end; this is what came before
  
  Peaks                   exact  bytes  runtime's own
  DRAM of one device        0 B      0              0  dram_peak
  L1 of one device        640 B    640          1,280  l1_peak
  L1 of the fullest core   64 B     64             64  core_peak_total
    buffers                64 B     64             64  core_peak_l1
    circular buffers        0 B      0              0  core_peak_cb
  
    note     l1_peak: differs by 640 B: buffers allocated directly in an outermost function are counted twice
  
  Device  chips  DRAM  L1 device  L1 core  L1 buffers  circular  fullest core
       0  -       0 B      640 B     64 B        64 B       0 B
  
  When L1 was fullest: device 0, 64 B at node 3
     size  per bank  kind  node  tensor  allocated by
    640 B      64 B  l1       2  -       ttnn.add
  
  By operation
  peak core  DRAM     L1  buffers  calls  operation
       64 B   0 B  640 B        1      1  ttnn.add
  [2]
  $ tidemark info --json empty.json bad.json 2>/dev/null | python3 -c '
  > import json, sys
  > for f in json.load(sys.stdin)["info"]:
  >     print(f["file"], f["format"], f.get("error"), f.get("complete"), f.get("refused_nodes"))'
  empty.json None the file is empty None None
  bad.json graph_capture None True 3

A file whose reading fails.

  $ tidemark info /proc/self/mem one.json 2>&1 | head -2
  /proc/self/mem: cannot be read: Input/output error
  Graph capture  one.json: 5 nodes, 1 call, 1 buffer, 1 device, 726 B

A capture of nothing is one, and says so.

  $ echo '[]' > nothing.json; tidemark info nothing.json | head -2
  Graph capture  nothing.json: 0 nodes, 0 calls, 0 buffers, 0 devices, 3 B
  

No figures of a file that has no nodes, and JSON that is something else is not called a log.

  $ echo '{"graph": {}}' > none.json; echo '[{"name": "ttnn.add", "captured_graph": []}]' > other.json
  $ tidemark info --json none.json other.json 2>/dev/null | python3 -c '
  > import json, sys
  > for f in json.load(sys.stdin)["info"]: print(f["file"], f["format"], f["error"], f.get("stock"))'
  none.json graph_capture it has no nodes: not a graph capture None
  other.json log JSON, but not a graph capture: that is an array of nodes, or an object with one under "graph" None
  $ tidemark info other.json
  other.json: JSON, but not a graph capture: that is an array of nodes, or an object with one under "graph"
  [2]

Encodings: a mark before UTF-8 says nothing, and UTF-16 is read. Zeros before a log are those of a file that was truncated while its
writer went on.

  $ (printf '\357\273\277'; cat $D/add_l1.json) > mark.json
  $ tidemark info mark.json | sed -n '/l1_peak/p'
  L1 of one device        786 KiB  804,864         30,720  l1_peak
    note     l1_peak: differs by -774,144 B: program memory is counted once, not for each core that has it
  $ sed 's/BinaryNg/Bin\xe9/' $D/add_l1.json | tidemark info - | sed -n '/l1_peak/p;/By op/,/Bin/p'
  L1 of one device        786 KiB  804,864         30,720  l1_peak
    note     l1_peak: differs by -774,144 B: program memory is counted once, not for each core that has it
  By operation
  peak core  DRAM       L1  buffers  calls  operation
   14.00KiB   0 B  6.00KiB        1      1  Bin?DeviceOperation
  $ tidemark info $D/add_l1.json | sed 1d > plain
  $ for code in UTF-16 UTF-16LE UTF-16BE; do
  >   iconv -f UTF-8 -t $code $D/add_l1.json > wide.json; tidemark info wide.json | sed 1d | cmp - plain
  > done
  $ (head -c 300 /dev/zero; cat $D/../logs/demo.log) > holes.log
  $ tidemark info holes.log | head -2
  Log            holes.log: 50 lines, 5.87 KiB, 07:36:20.265 to 07:36:20.274
                 stock log of the runtime; 6 records about memory

A pipe that is nothing known is not read to its end.

  $ (head -c 99M /dev/zero 2>/dev/null; echo "the writer ended with $?" > writer) | tidemark info - 2>&1 | cut -c 1-54
  standard input: not a kind of file that is known here 
  $ cat writer
  the writer ended with 141

Cores that are not recorded.

  $ sed 's/"core_range_set"/"cores"/' $D/add_l1.json > nocores.json
  $ tidemark info nocores.json | sed -n '/l1_peak/p;/When L1/p;/The cores/p'
  L1 of one device        unknown  unknown         30,720  l1_peak
    note     The cores of some circular buffers are not recorded: L1 of one device is unknown, and for one core they are assumed to be on the same one
  When L1 was fullest: device 0, 14 KiB at node 14
  $ tidemark info --json nocores.json | grep -A 1 '"peak_l1_bytes"\|"fullest"'
              "peak_l1_bytes": null,
              "views": 0,
  --
                "fullest": {
                  "x": null,
  $ sed 's/"device_id": 0/"device_id": 5/' $D/add_l1.json > five.json
  $ (sed '$d' nocores.json | sed '$s/$/,/'; sed '1d' five.json) > both.json
  $ tidemark info both.json 2>/dev/null | grep -A 1 '^Device'
  Device  chips  DRAM  L1 device   L1 core  L1 buffers  circular  fullest core
       0  0       0 B    unknown  14.00KiB     2.00KiB  12.00KiB

An error that the capture recorded.

  $ cat > failed.json <<'EOF'
  > [{"counter": 0, "node_type": "error", "params": {"error_operation": "ttnn.add", "error_message": "TT_FATAL @ b.cpp:1: false\ninfo:\nOut of Memory: Not enough space to allocate 4096 B L1 buffer across 4 banks, where each bank needs to store 1024 B\nbacktrace:"}},
  > {"counter": 1, "node_type": "error", "params": {"error_operation": "", "error_message": "TT_FATAL @ c.cpp:2: a == b\ninfo:\nShapes differ\nbacktrace:"}}]
  > EOF
  $ tidemark info failed.json | grep '^  [ew]'
    error    node 0 in ttnn.add: out of memory: 4 KiB of l1, 1 KiB in each of 4 banks
    error    node 1: Shapes differ
  $ tidemark info --limit 1 failed.json | sed -n '/^  error/,/^$/p'
    error    node 0 in ttnn.add: out of memory: 4 KiB of l1, 1 KiB in each of 4 banks
    and 1 more
  
  $ tidemark info --json failed.json | sed -n '/error_count/,/^      \],/p'
        "error_count": 2,
        "errors": [
          {
            "node": 0,
            "operation": "ttnn.add",
            "sort": "out_of_memory",
            "summary": "out of memory: 4 KiB of l1, 1 KiB in each of 4 banks",
            "message": "TT_FATAL @ b.cpp:1: false\ninfo:\nOut of Memory: Not enough space to allocate 4096 B L1 buffer across 4 banks, where each bank needs to store 1024 B\nbacktrace:"
          },
          {
            "node": 1,
            "operation": null,
            "sort": null,
            "summary": "Shapes differ",
            "message": "TT_FATAL @ c.cpp:2: a == b\ninfo:\nShapes differ\nbacktrace:"
          }
        ],

Only some bad nodes are named.

  $ python3 -c 'print([None] * 25)' | sed 's/None/null/g; s/^\[/[{"node_type": "tensor"},/' > many.json
  $ tidemark info many.json 2>&1 >/dev/null | tail -2
  many.json: node 10 at byte 79: it is not an object
  many.json: 15 more nodes that cannot be used

Counters out of order: the runtime's functions give up, ours do not.

  $ sed 's/"counter": 3/"counter": 30/' one.json > order.json
  $ tidemark info order.json | sed -n '/Peaks/,/^$/p;/^  [nw]/p'
  Peaks                   exact  bytes  runtime's own
  DRAM of one device        0 B      0              0  dram_peak
  L1 of one device        704 B    704          1,312  l1_peak
  L1 of the fullest core   96 B     96        unknown  core_peak_total
    buffers                64 B     64        unknown  core_peak_l1
    circular buffers       32 B     32        unknown  core_peak_cb
    dataflow buffers        0 B      0        unknown  core_peak_dfb
    scratchpads             0 B      0        unknown  core_peak_scratchpad
  
    warning  core_peak_*: unknown: node 3: counter out of order, expected 3
    note     l1_peak: differs by 640 B: buffers allocated directly in an outermost function are counted twice
    note     l1_peak: differs by -32 B: program memory is counted once, not for each core that has it

From a pipe, and with CR at the ends of lines.

  $ tidemark info one.json | sed 1d > expected
  $ cat one.json | tidemark info - | sed 1d | cmp - expected
  $ cat one.json | TMPDIR=$PWD/absent tidemark info - | sed 1d | cmp - expected

A log has to be read twice, because what says that it is of a training run may be anywhere in it.

  $ mkdir copies; cat $D/../logs/demo.log | TMPDIR=$PWD/copies tidemark info - | head -1; ls copies
  Log            standard input: 50 lines, 5.58 KiB, 07:36:20.265 to 07:36:20.274
  $ cat $D/../logs/demo.log | TMPDIR=$PWD/absent tidemark info - 2>&1 | sed "s|$PWD|.|"
  standard input: a pipe, which cannot be copied to ./absent: No such file or directory; save it in a file first
  $ sed 's/$/\r/' one.json > crlf.json && tidemark info crlf.json | sed 1d | cmp - expected

Wrong usage.

  $ tidemark info
  tidemark info: which file? - is standard input
  tidemark info: see 'tidemark info --help'
  [2]
  $ tidemark info --limit x one.json
  tidemark info: --limit 'x': expected a number
  tidemark info: see 'tidemark info --help'
  [2]

Charts of a capture: memory over its nodes, and L1 core by core when it was fullest; on the terminal or as a file.

  $ tidemark info --chart l1 $D/add_l1.json
  L1 in use, fullest core of device 0
  sum of L1 buffers, circular buffers and the like
  15 KiB │                                                            ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
         │                                                            ██████████████████
         │                                                            ██████████████████▅▅▅▅▅▅▅▅▅▅▅▅▅
         │                                                            ███████████████████████████████
  10 KiB │                                                        ███████████████████████████████████
         │                                                        ███████████████████████████████████
         │                                                        ███████████████████████████████████
         │                                                    ▆▆▆▆███████████████████████████████████
   5 KiB │                                                    ███████████████████████████████████████
         │                                                    ███████████████████████████████████████
         │                                  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅███████████████████████████████████████
         │                                  █████████████████████████████████████████████████████████
             |BinaryNgDeviceOperation                                              |Tensor::d...
         0                                  node of the capture                                   21
  $ tidemark info --chart cores --ascii --title 'An addition' $D/add_l1.json
  An addition
  L1 of device 0 at node 14: 2 KiB of buffers in every core
         0   1   2   3   4   5   6   7
     0 100 100 100 100 100 100 100 100
     1 100 100 100 100 100 100 100 100
     2 100 100 100 100 100 100 100 100
     3 100 100 100 100 100 100 100 100
     4 100 100 100 100 100 100 100 100
     5 100 100 100 100 100 100 100 100
     6 100 100 100 100 100 100 100 100
     7 100 100 100 100 100 100 100 100
  in % of 14 KiB
  $ tidemark info --chart cores -o cores.svg $D/add_l1.json
  tidemark info: the chart is in cores.svg
  $ grep -c '<svg' cores.svg
  1
  $ tidemark info --chart dram $D/add_l1.json 2>&1 | sed "s|$D/||"
  add_l1.json: nothing to draw: the capture has no buffers in DRAM
  $ tidemark info --chart cores $D/../logs/demo.log 2>&1 | sed "s|$D/../logs/||"
  demo.log: charts are drawn of graph captures and reports of ttnn, this is a log
  $ tidemark info --chart heap $D/add_l1.json
  tidemark info: --chart 'heap': expected dram, l1 or cores
  tidemark info: see 'tidemark info --help'
  [2]
  $ tidemark info --chart l1 --json $D/add_l1.json
  tidemark info: --chart with --json needs --output FILE
  tidemark info: see 'tidemark info --help'
  [2]
  $ tidemark info --chart l1 -o l1.gif $D/add_l1.json
  tidemark info: --output l1.gif: the name of a picture must end in .png, .svg or .pdf
  tidemark info: see 'tidemark info --help'
  [2]
  $ tidemark info --chart l1 -o l1.png $D/add_l1.json $D/add_l1.json
  tidemark info: --output takes the chart of one file
  tidemark info: see 'tidemark info --help'
  [2]
  $ mkdir two; cp $D/add_l1.json two/a.json; cp $D/add_l1.json two/b.json; tidemark info --chart l1 -o two.png two
  tidemark info: --output takes the chart of one file
  tidemark info: see 'tidemark info --help'
  [2]
  $ tidemark info -o l1.png $D/add_l1.json
  tidemark info: --output is for a chart: which? --chart dram, l1 or cores
  tidemark info: see 'tidemark info --help'
  [2]

A capture that describes its device: the charts have its capacity as a line, or say that it is far above; cores are drawn against it.

  $ /usr/bin/python3 - <<'.'
  > import json
  > nodes = []
  > def add(node, to=[], **params): nodes.append(dict(counter=len(nodes), node_type=node, params=params, connections=to, stacking_level=0))
  > add("capture_start")
  > for kind, number, size, bank in (("L1", 1, 40 << 20, 655360), ("DRAM", 0, 6 << 30, 1 << 29)):
  >     add("buffer", size=size, type=kind, buffer_type=number, device_id=0)
  >     add("buffer_allocate", [len(nodes) - 1], size=size, type=kind, buffer_type=number, device_id=0, max_size_per_bank=bank)
  > device = dict(device_id=0, arch="wormhole_b0", num_x_compute_cores=8, num_y_compute_cores=2, worker_l1_size=1499136, l1_num_banks=64,
  >               l1_bank_size=1393472, address_at_first_l1_cb_buffer=105664, num_dram_channels=12, dram_size_per_channel=1 << 30)
  > json.dump(dict(graph=nodes, devices=[device]), open("device.json", "w"))
  > device["dram_size_per_channel"] <<= 10
  > json.dump(dict(graph=nodes, devices=[device]), open("large.json", "w"))
  > .
  $ tidemark info --chart l1 device.json | sed -n '1p;/---/p;$p'
  L1 in use, fullest core of device 0
          │------------------------------------------------------------------------------------------
  - capacity: 1.33 MiB
  $ tidemark info --chart dram device.json | sed -n '1p;$p'
  DRAM in use, device 0
  - capacity: 12 GiB
  $ tidemark info --chart dram large.json | sed -n '1,2p;$p'
  DRAM in use, device 0; its capacity of 12 TiB is far above
  6 GiB │                                                                         ███████████████████
        0                                   node of the capture                                    5
  $ tidemark info --chart cores device.json
  L1 of device 0 at node 2: 640 KiB of buffers in every core
         0   1   2   3   4   5   6   7
     0  47  47  47  47  47  47  47  47
     1  47  47  47  47  47  47  47  47
  in % of 1.33 MiB

What print(graph) writes is not JSON, and it is said what to do.

  $ echo "[{'arguments': [], 'connections': [1], 'counter': 0, 'node_type': 'capture_start', 'params': None}]" > printed.txt
  $ tidemark info printed.txt
  printed.txt: a graph capture as Python prints it, not JSON: write it with json.dump(graph, file), or end the capture with ttnn.graph.end_graph_capture_to_file(path)
  [2]
  $ (echo loading the model; echo; cat printed.txt) > after.txt; tidemark info after.txt 2>&1 | cut -c 1-65
  after.txt: a graph capture as Python prints it, not JSON: write i

A program that was cached before the capture: its circular buffers are unknown, not 0.

  $ cat > warm.json <<'.'
  > [{"counter":0,"node_type":"capture_start","params":{},"connections":[1],"stacking_level":0},
  > {"counter":1,"node_type":"function_start","params":{"name":"ttnn::add"},"connections":[2],"stacking_level":1},
  > {"counter":2,"node_type":"circular_buffer_deallocate_all","params":{"device_id":0},"connections":[],"stacking_level":2},
  > {"counter":3,"node_type":"function_end","params":{"name":"ttnn::add"},"connections":[],"stacking_level":1},
  > {"counter":4,"node_type":"capture_end","params":{},"connections":[],"stacking_level":0}]
  > .
  $ tidemark info warm.json
  Graph capture  warm.json: 5 nodes, 1 call, 0 buffers, 0 devices, 522 B
  
  Peaks                     exact    bytes  runtime's own
  DRAM of one device          0 B        0              0  dram_peak
  L1 of one device        unknown  unknown              0  l1_peak
  L1 of the fullest core  unknown  unknown              0  core_peak_total
    buffers                   0 B        0              0  core_peak_l1
    circular buffers      unknown  unknown              0  core_peak_cb
  
    note     1 program whose circular buffers are not in the capture: it was cached before, or it has none
  
  By operation
  peak core  DRAM   L1  buffers  calls  operation
          -   0 B  0 B        0      1  ttnn::add
  $ tidemark info --json warm.json | sed -n '/"exact"/,/"core_peak_total"/p'
        "exact": {
          "source": "capture",
          "dram_peak": 0,
          "l1_peak": null,
          "core_peak_cb": null,
          "core_peak_l1": 0,
          "core_peak_dfb": 0,
          "core_peak_scratchpad": 0,
          "core_peak_total": null,

A program replaces the one before it, whether the capture has a release or not. Without addresses, too: no program has more than 12 KiB
here. The runtime's own figure adds them up.

  $ /usr/bin/python3 - <<'.'
  > import json
  > nodes = []
  > def add(type, **params): nodes.append(dict(counter=len(nodes), node_type=type, params=params, connections=[], stacking_level=0))
  > def program(name, *sizes):
  >     add("function_start", name=name)
  >     for size in sizes: add("circular_buffer_allocate", size=size, address=0, core_range_set="{[0-0 - 1-1]}", globally_allocated="0", device_id=0)
  >     add("function_end", name=name)
  > add("capture_start")
  > program("ttnn::add", 4096, 4096, 4096)
  > program("ttnn::neg", 4096)
  > add("capture_end")
  > json.dump(nodes, open("programs.json", "w"))
  > .
  $ tidemark info programs.json | sed -n '/L1 of the fullest core/,/^$/p;/^  note/p;/per core/,$p'
  L1 of the fullest core  <=12 KiB  12,288         16,384  core_peak_total
    buffers                    0 B       0              0  core_peak_l1
    circular buffers      <=12 KiB  12,288         16,384  core_peak_cb
  
    note     l1_peak: differs by 12,288 B: program memory that the next program has replaced is still counted
    note     l1_peak: differs by -12,288 B: program memory is counted once, not for each core that has it
    note     l1_peak: differs by -32,768 B: the right peak is at another moment
    note     core_peak_cb: differs by 12,288 B: program memory that the next program has replaced is still counted
    note     core_peak_cb: differs by -8,192 B: the right peak is at another moment
    note     core_peak_total: differs by 12,288 B: program memory that the next program has replaced is still counted
    note     core_peak_total: differs by -8,192 B: the right peak is at another moment
    note     2 circular buffers may belong to a second program of the same call, but no release or address says so: sizes are added up, and figures that include them are upper bounds
    per core  cores  kind  node  address  allocated by
     4.00KiB      4  cb       2  -        ttnn::add
     4.00KiB      4  cb       3  -        ttnn::add
     4.00KiB      4  cb       4  -        ttnn::add
  
  By operation
  peak core  DRAM   L1  buffers  calls  operation
   12.00KiB   0 B  0 B        0      1  ttnn::add
    4.00KiB   0 B  0 B        0      1  ttnn::neg
  $ tidemark info --json programs.json | grep -c '"replaced"'
  3

Two programs in one call without a release, too, where addresses tell them apart: a program's circular buffers follow each other in a
core, so one that starts again at the first address belongs to the next program. The first program here has 12 KiB in one core; the second
has 8 KiB in that core and 16 KiB in another one: 24 KiB in all.

  $ cat > write.py <<'.'
  > import json
  > def write(file, *buffers):
  >     nodes = []
  >     def add(type, **params): nodes.append(dict(counter=len(nodes), node_type=type, params=params, connections=[], stacking_level=0))
  >     add("function_start", name="ttnn::sort")
  >     for buffer in buffers:
  >         if buffer == "release": add("circular_buffer_deallocate_all", device_id=0); continue
  >         address, size, cores = buffer
  >         add("circular_buffer_allocate", size=size << 10, address=address << 10, core_range_set="{[%s]}" % cores, globally_allocated="0", device_id=0)
  >     add("function_end", name="ttnn::sort")
  >     json.dump(nodes, open(file, "w"))
  > one, two, both = "0-0 - 0-0", "1-0 - 1-0", "0-0 - 1-0"
  > first = [(100, 4, one), (104, 4, one), (108, 4, one)]
  > write("two.json", *first, (100, 4, both), (104, 8, two), (112, 4, both))
  > write("led.json", "release", *first, (100, 4, both), (104, 8, two), (112, 4, both))
  > write("apart.json", *first, (100, 4, two), (100, 4, one))
  > write("unclear.json", (0, 4, one), (0, 4, one), (0, 4, one), (0, 4, one))
  > write("over.json", (100, 4, two), *first, (104, 12, both))
  > write("known.json", "release", (0, 4, one), (0, 4, one), (0, 4, one))
  > .
  $ /usr/bin/python3 write.py
  $ for file in two led; do tidemark info $file.json | sed -n '/L1 of one/,/fullest core/p;/circular buffers  /p;/replaced/p;/bound/p;/per core/,/^$/p'; done
  L1 of one device        24 KiB  24,576         28,672  l1_peak
  L1 of the fullest core  16 KiB  16,384         28,672  core_peak_total
    circular buffers      16 KiB  16,384         28,672  core_peak_cb
    note     l1_peak: differs by 12,288 B: program memory that the next program has replaced is still counted
    note     core_peak_cb: differs by 12,288 B: program memory that the next program has replaced is still counted
    note     core_peak_total: differs by 12,288 B: program memory that the next program has replaced is still counted
    per core  cores  kind  node  address  allocated by
     8.00KiB      1  cb       5   106496  ttnn::sort
     4.00KiB      2  cb       4   102400  ttnn::sort
     4.00KiB      2  cb       6   114688  ttnn::sort
  
  L1 of one device        24 KiB  24,576         28,672  l1_peak
  L1 of the fullest core  16 KiB  16,384         28,672  core_peak_total
    circular buffers      16 KiB  16,384         28,672  core_peak_cb
    note     l1_peak: differs by 12,288 B: program memory that the next program has replaced is still counted
    note     core_peak_cb: differs by 12,288 B: program memory that the next program has replaced is still counted
    note     core_peak_total: differs by 12,288 B: program memory that the next program has replaced is still counted
    per core  cores  kind  node  address  allocated by
     8.00KiB      1  cb       6   106496  ttnn::sort
     4.00KiB      2  cb       5   102400  ttnn::sort
     4.00KiB      2  cb       7   114688  ttnn::sort
  
  $ tidemark info apart.json | grep -e 'L1 of' -e bound
  L1 of one device        <=16 KiB  16,384         20,480  l1_peak
  L1 of the fullest core  <=12 KiB  12,288         20,480  core_peak_total
    note     1 circular buffer may belong to a second program of the same call, but no release or address says so: sizes are added up, and figures that include them are upper bounds

If the addresses do not tell them apart, the sum is an upper bound, and that is said. A release before the program says that it is one.

  $ tidemark info unclear.json | grep -e 'L1 of' -e 'circular buffers  ' -e bound
  L1 of one device        <=16 KiB  16,384         16,384  l1_peak
  L1 of the fullest core  <=16 KiB  16,384         16,384  core_peak_total
    circular buffers      <=16 KiB  16,384         16,384  core_peak_cb
    note     3 circular buffers may belong to a second program of the same call, but no release or address says so: sizes are added up, and figures that include them are upper bounds
  $ tidemark info over.json | grep -e 'L1 of' -e 'circular buffers  ' -e bound
  L1 of one device        <=32 KiB  32,768         28,672  l1_peak
  L1 of the fullest core  <=16 KiB  16,384         28,672  core_peak_total
    circular buffers      <=16 KiB  16,384         28,672  core_peak_cb
    note     1 circular buffer may belong to a second program of the same call, but no release or address says so: sizes are added up, and figures that include them are upper bounds
  $ tidemark info known.json | grep -e 'L1 of' -e bound
  L1 of one device        12 KiB  12,288         12,288  l1_peak
  L1 of the fullest core  12 KiB  12,288         12,288  core_peak_total
  $ for file in two unclear over known; do tidemark info --json $file.json | grep '"undivided": '; done
          "undivided": 0,
          "undivided": 3,
          "undivided": 1,
          "undivided": 0,

The runtime releases before each program, and when it destroys one: a program without circular buffers in the capture is one after whose
release none are allocated. Here, that is the second of two; then none, because the first release of the function belongs to the program
and the second is its end.

  $ /usr/bin/python3 - <<'.'
  > import json
  > def write(file, *calls):
  >     nodes = []
  >     def add(type, **params): nodes.append(dict(counter=len(nodes), node_type=type, params=params, connections=[], stacking_level=0))
  >     for call in calls:
  >         add("function_start", name="ttnn::add")
  >         for what in call:
  >             if what == "release": add("circular_buffer_deallocate_all", device_id=0)
  >             else: add("circular_buffer_allocate", size=4096, address=0, core_range_set="{[0-0 - 1-1]}", globally_allocated="0", device_id=0)
  >         add("function_end", name="ttnn::add")
  >     json.dump(nodes, open(file, "w"))
  > write("half.json", ["release", "cb"], ["release"])
  > write("ended.json", ["release", "cb", "release"], ["release", "cb", "release"])
  > .
  $ tidemark info half.json | grep cached
    note     1 program whose circular buffers are not in the capture: it was cached before, or it has none
  $ tidemark info ended.json | grep cached
  [1]

In a folder, files and folders that cannot be read are named and the others are shown.

  $ mkdir -p f/closed g; cp $D/add_l1.json f/a.json; cp $D/add_l1.json f/b.json; cp $D/add_l1.json g; printf '\037\213\010broken' > f/c.log.gz; chmod 0 f/b.json f/closed
  $ user() { if [ $(id -u) = 0 ]; then setpriv --bounding-set -dac_override,-dac_read_search "$@"; else "$@"; fi; } # root may read all
  $ user tidemark info f 2>&1 | grep '^f\|^Graph'
  Graph capture  f/a.json: 21 nodes, 3 calls, 3 buffers, 1 device, 5.70 KiB
  f/b.json: cannot be read: Permission denied
  f/c.log.gz: cannot be read: the gzip data is damaged, at byte 4
  f/closed: cannot be read: Permission denied
  $ user tidemark info f > /dev/null 2>&1
  [2]
  $ chmod -R u+rwX f; rm -r f

So is a folder that is not searched to its end.

  $ mkdir -p f/1/2/3/4/5/6/7/8/9; cp $D/add_l1.json f/1/2/3/4/5/6/7/8/9
  $ tidemark info f g > text; echo $?; grep '^Graph' text
  f: not all of it is shown: 1 folder too deep, or beyond 1048576 entries
  f: no file in this folder is of a kind that is known here
  2
  Graph capture  g/add_l1.json: 21 nodes, 3 calls, 3 buffers, 1 device, 5.70 KiB

A folder may have 1000 files, and further arguments are shown whatever it has.

  $ rm -r f; mkdir f; for i in {0001..1000}; do ln g/add_l1.json f/$i.json; done
  $ tidemark info f g | grep -c '^Graph'
  1001
  $ ln g/add_l1.json f/last.json; tidemark info f g | grep -c '^Graph'
  f: only the first 1000 files are shown
  1001
  $ rm -r f g

Ledgers have commands of their own, which do not unpack them.

  $ head -c 4096 /dev/zero | sed '1s/^/TIDEMRK1/' > led; gzip -c led > led.gz; tidemark info led led.gz
  led: a ledger: tidemark dump, status and phases read it
  led.gz: a packed ledger: unpack it for tidemark dump, status and phases
  [2]
