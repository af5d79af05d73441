Reports of ttnn, which ttnn-visualizer shows: db.sqlite. Three generations of its tables say the same about a run.

  $ for version in 1 2 3; do
  >   $DATADIR/ttnn/make_report $version v$version.sqlite
  > done
  $ tidemark info v3.sqlite
  Operations     v3.sqlite: 7 operations, 1 device, schema 3.3
    error    operation 7 in ttnn.matmul: out of memory: 512 MiB of dram, 42.67 MiB in each of 12 banks of 1021.56 MiB
    warning  at the peak of l1 of device 0, 1 of 3 buffers held tensors that no later operation used: 64 KiB of each bank
    warning  ttnn.add left 3 buffers of 4 KiB in dram of device 0, 12 KiB of each bank, from operation 4 to 6; a leak, unless it is a cache or an output
    note     the report does not say how many banks DRAM has; all cards with such an L1 have 12
  
  Device  grid  core L1  L1 banks     bank  L1_SMALL  from address
       0  8x8   1.43MiB        64  1.31MiB  26.00KiB        102400
  
  Peaks  kind       one bank      bytes  of it  banks  all banks  buffers     at end  after
      0  dram        2.01MiB  2,109,440   0.2%     12   24.14MiB        5    2.01MiB      6  ttnn.add
      0  l1        104.00KiB    106,496   7.8%     64    6.50MiB        3        0 B      5  ttnn.add
      0  l1_small    2.00KiB      2,048   7.7%     64  128.00KiB        1    2.00KiB      3  ttnn.matmul
      0  trace     128.00KiB    131,072      -     12    1.50MiB        1  128.00KiB      5  ttnn.add
  
  Alive in dram of device 0 after operation 6 ttnn.add
    free: unknown, since the report does not say where the region is; between the buffers 3 holes, the largest 6143 KiB
    one bank      bytes  address  since                   last use  tensor
     1.00MiB  1,048,576     1024      1  ttnn.from_torch         3      10  [1, 1, 2048, 2048] BFLOAT16 TILE
     1.00MiB  1,048,576  1049600      2  ttnn.from_torch         -      11  [1, 1, 2048, 2048] BFLOAT16 TILE
     4.00KiB      4,096  8388608      4  ttnn.add                -      13  [1, 1, 32, 2048] BFLOAT16 TILE
     4.00KiB      4,096  8396800      5  ttnn.add                -       -  -
     4.00KiB      4,096  8404992      6  ttnn.add                -       -  -
  
  Alive in l1 of device 0 after operation 5 ttnn.add
    free: 1234 KiB of a bank in 4 holes, the largest 1.05 MiB, fragmentation 13.1%
    one bank   bytes  address  since               last use  tensor
    64.00KiB  65,536  1400000      3  ttnn.matmul         4      12  [1, 1, 512, 2048] BFLOAT16 TILE
    32.00KiB  32,768  1300000      4  ttnn.add            -       -  -
     8.00KiB   8,192  1200000      5  ttnn.add            -       -  -
  
  Alive in l1_small of device 0 after operation 3 ttnn.matmul
    free: 24 KiB of a bank in 2 holes, the largest 16.69 KiB, fragmentation 30.5%
    one bank  bytes  address  since               last use  tensor
     2.00KiB  2,048  1480000      3  ttnn.matmul  -         -       -
  
  Alive in trace of device 0 after operation 5 ttnn.add
    free: unknown, since the report does not say where the region is; between the buffers 0 holes
     one bank    bytes    address  since            last use  tensor
    128.00KiB  131,072  943718400      5  ttnn.add  -         -       -
  
  After each operation: one bank of the fullest device; cb: its fullest core while it ran
  Operation                   duration  buffers     dram         l1         cb
          3  ttnn.matmul          1 ms        4  2.00MiB   64.00KiB  256.00KiB
          4  ttnn.add           200 us        6  2.00MiB   96.00KiB   16.00KiB
          5  ttnn.add           200 us        9  2.01MiB  104.00KiB          -
          6  ttnn.add                -        8  2.01MiB   64.00KiB          -
          7  ttnn.deallocate     10 us        7  2.01MiB        0 B          -
          2  ttnn.from_torch    500 ms        2  2.00MiB        0 B          -
          1  ttnn.from_torch    250 ms        1  1.00MiB        0 B          -
  $ tidemark info v1.sqlite > v1; tidemark info v2.sqlite > v2; tidemark info v3.sqlite > v3
  $ diff v2 v3
  1c1
  < Operations     v2.sqlite: 7 operations, 1 device
  ---
  > Operations     v3.sqlite: 7 operations, 1 device, schema 3.3
  [1]
  $ diff v1 v2
  1c1,2
  < Operations     v1.sqlite: 7 operations, 1 device
  ---
  > Operations     v2.sqlite: 7 operations, 1 device
  >   error    operation 7 in ttnn.matmul: out of memory: 512 MiB of dram, 42.67 MiB in each of 12 banks of 1021.56 MiB
  4d4
  <   note     the report has no captured graphs, so circular buffers are unknown
  43,50c43,50
  < Operation                   duration  buffers     dram         l1  cb
  <         5  ttnn.add           200 us        9  2.01MiB  104.00KiB   -
  <         4  ttnn.add           200 us        6  2.00MiB   96.00KiB   -
  <         6  ttnn.add                -        8  2.01MiB   64.00KiB   -
  <         3  ttnn.matmul          1 ms        4  2.00MiB   64.00KiB   -
  <         7  ttnn.deallocate     10 us        7  2.01MiB        0 B   -
  <         2  ttnn.from_torch    500 ms        2  2.00MiB        0 B   -
  <         1  ttnn.from_torch    250 ms        1  1.00MiB        0 B   -
  ---
  > Operation                   duration  buffers     dram         l1         cb
  >         3  ttnn.matmul          1 ms        4  2.00MiB   64.00KiB  256.00KiB
  >         4  ttnn.add           200 us        6  2.00MiB   96.00KiB   16.00KiB
  >         5  ttnn.add           200 us        9  2.01MiB  104.00KiB          -
  >         6  ttnn.add                -        8  2.01MiB   64.00KiB          -
  >         7  ttnn.deallocate     10 us        7  2.01MiB        0 B          -
  >         2  ttnn.from_torch    500 ms        2  2.00MiB        0 B          -
  >         1  ttnn.from_torch    250 ms        1  1.00MiB        0 B          -
  [1]

-n limits every table.

  $ tidemark info -n 1 v2.sqlite | sed -n 's/^\(Peaks\|Alive in [a-z0-9_]*\|Operation\) .*/\1/p;/ more$/p'
  Peaks
    and 3 more
  Alive in dram
    and 4 more
  Alive in l1
    and 2 more
  Alive in l1_small
  Alive in trace
  Operation
    and 6 more
  $ tidemark info -n 1 --json v2.sqlite | sed '/"time"/d;/"host"/d'
  {
    "schema": "tidemark.info",
    "version": 1,
    "info": [
      {
        "file": "v2.sqlite",
        "format": "ttnn_report",
        "operation_count": 7,
        "schema_version": null,
        "source": "ttnn_report",
        "complete": true,
        "refused": 0,
        "duplicates": 0,
        "left_out": 0,
        "errors": [
          {
            "rank": 0,
            "operation": 7,
            "operation_name": "ttnn.matmul",
            "sort": "out_of_memory",
            "summary": "out of memory: 512 MiB of dram, 42.67 MiB in each of 12 banks of 1021.56 MiB",
            "message": "TT_THROW @ bank_manager.cpp:141: tt::exception\ninfo:\nOut of Memory: Not enough space to allocate 536870912 B DRAM buffer across 12 banks, where each bank needs to store 44739584 B, but bank size is only 1071181792 B"
          }
        ],
        "findings": [
          {
            "what": "unused_at_peak",
            "severity": "warning",
            "verdict": "warning",
            "text": "at the peak of l1 of device 0, 1 of 3 buffers held tensors that no later operation used: 64 KiB of each bank",
            "about": {
              "name": null,
              "kind": null,
              "device": null,
              "pid": null,
              "comm": null,
              "ledger": null,
              "phase": null
            },
            "figures": {
              "count": 1,
              "bank_bytes": 65536
            },
            "evidence": {},
            "advice": []
          },
          {
            "what": "never_released",
            "severity": "warning",
            "verdict": "warning",
            "text": "ttnn.add left 3 buffers of 4 KiB in dram of device 0, 12 KiB of each bank, from operation 4 to 6; a leak, unless it is a cache or an output",
            "about": {
              "name": null,
              "kind": null,
              "device": null,
              "pid": null,
              "comm": null,
              "ledger": null,
              "phase": null
            },
            "figures": {
              "count": 3,
              "bank_bytes": 12288
            },
            "evidence": {
              "first_operation": 4,
              "last_operation": 6
            },
            "advice": []
          },
          {
            "what": "banks",
            "severity": "note",
            "verdict": "note",
            "text": "the report does not say how many banks DRAM has; all cards with such an L1 have 12",
            "about": {
              "name": null,
              "kind": null,
              "device": null,
              "pid": null,
              "comm": null,
              "ledger": null,
              "phase": null
            },
            "figures": {
              "banks": 12
            },
            "evidence": {},
            "advice": []
          }
        ],
        "devices": [
          {
            "rank": 0,
            "device": 0,
            "grid_x": 8,
            "grid_y": 8,
            "core_l1_bytes": 1499136,
            "l1_banks": 64,
            "l1_bank_bytes": 1370112,
            "l1_small_bytes": 26624,
            "l1_base": 102400
          }
        ],
        "peaks": [
          {
            "rank": 0,
            "device": 0,
            "kind": "dram",
            "bank_bytes": 2109440,
            "bank_size": 1073741824,
            "banks": 12,
            "banks_by_card": true,
            "bytes": 25313280,
            "buffers": 5,
            "end_bank_bytes": 2109440,
            "end_buffers": 5,
            "operation": 6,
            "operation_name": "ttnn.add",
            "free_bank_bytes": null,
            "largest_free_bank_bytes": null,
            "fragmentation": null,
            "hole_count": 3,
            "holes": [
              {
                "address": 2098176,
                "bytes": 6290432
              }
            ],
            "alive": [
              {
                "bank_bytes": 1048576,
                "address": 1024,
                "since_operation": 1,
                "since_name": "ttnn.from_torch",
                "last_use_operation": 3,
                "tensor": 10,
                "tensor_text": "[1, 1, 2048, 2048] BFLOAT16 TILE"
              }
            ],
            "at_end": [
              {
                "bank_bytes": 1048576,
                "address": 1024,
                "since_operation": 1,
                "since_name": "ttnn.from_torch",
                "last_use_operation": 3,
                "tensor": 10,
                "tensor_text": "[1, 1, 2048, 2048] BFLOAT16 TILE"
              }
            ]
          },
          {
            "rank": 0,
            "device": 0,
            "kind": "l1",
            "bank_bytes": 106496,
            "bank_size": 1370112,
            "banks": 64,
            "banks_by_card": false,
            "bytes": 6815744,
            "buffers": 3,
            "end_bank_bytes": 0,
            "end_buffers": 0,
            "operation": 5,
            "operation_name": "ttnn.add",
            "free_bank_bytes": 1263616,
            "largest_free_bank_bytes": 1097600,
            "fragmentation": 0.1313816856,
            "hole_count": 4,
            "holes": [
              {
                "address": 102400,
                "bytes": 1097600
              }
            ],
            "alive": [
              {
                "bank_bytes": 65536,
                "address": 1400000,
                "since_operation": 3,
                "since_name": "ttnn.matmul",
                "last_use_operation": 4,
                "tensor": 12,
                "tensor_text": "[1, 1, 512, 2048] BFLOAT16 TILE"
              }
            ],
            "at_end": []
          },
          {
            "rank": 0,
            "device": 0,
            "kind": "l1_small",
            "bank_bytes": 2048,
            "bank_size": 26624,
            "banks": 64,
            "banks_by_card": false,
            "bytes": 131072,
            "buffers": 1,
            "end_bank_bytes": 2048,
            "end_buffers": 1,
            "operation": 3,
            "operation_name": "ttnn.matmul",
            "free_bank_bytes": 24576,
            "largest_free_bank_bytes": 17088,
            "fragmentation": 0.3046875,
            "hole_count": 2,
            "holes": [
              {
                "address": 1482048,
                "bytes": 17088
              }
            ],
            "alive": [
              {
                "bank_bytes": 2048,
                "address": 1480000,
                "since_operation": 3,
                "since_name": "ttnn.matmul",
                "last_use_operation": null,
                "tensor": null,
                "tensor_text": null
              }
            ],
            "at_end": [
              {
                "bank_bytes": 2048,
                "address": 1480000,
                "since_operation": 3,
                "since_name": "ttnn.matmul",
                "last_use_operation": null,
                "tensor": null,
                "tensor_text": null
              }
            ]
          },
          {
            "rank": 0,
            "device": 0,
            "kind": "trace",
            "bank_bytes": 131072,
            "bank_size": null,
            "banks": 12,
            "banks_by_card": true,
            "bytes": 1572864,
            "buffers": 1,
            "end_bank_bytes": 131072,
            "end_buffers": 1,
            "operation": 5,
            "operation_name": "ttnn.add",
            "free_bank_bytes": null,
            "largest_free_bank_bytes": null,
            "fragmentation": null,
            "hole_count": 0,
            "holes": [],
            "alive": [
              {
                "bank_bytes": 131072,
                "address": 943718400,
                "since_operation": 5,
                "since_name": "ttnn.add",
                "last_use_operation": null,
                "tensor": null,
                "tensor_text": null
              }
            ],
            "at_end": [
              {
                "bank_bytes": 131072,
                "address": 943718400,
                "since_operation": 5,
                "since_name": "ttnn.add",
                "last_use_operation": null,
                "tensor": null,
                "tensor_text": null
              }
            ]
          }
        ],
        "operations": [
          {
            "rank": 0,
            "operation": 3,
            "name": "ttnn.matmul",
            "duration_ns": 1000000,
            "buffers": 4,
            "dram_bank_bytes": 2097152,
            "l1_bank_bytes": 65536,
            "l1_small_bank_bytes": 2048,
            "trace_bank_bytes": 0,
            "cb_core_bytes": 262144
          }
        ]
      }
    ]
  }

A folder has its report found, with other files beside it. Packed, from a pipe or from standard input it is the same.

  $ mkdir -p reports/17
  $ cp v3.sqlite reports/17/db.sqlite
  $ echo '{"enable_logging": true}' > reports/17/config.json
  $ tidemark info reports | head -n 1
  Operations     reports/17/db.sqlite: 7 operations, 1 device, schema 3.3
  $ /usr/bin/python3 -c "
  > import gzip, lzma
  > data = open('v3.sqlite', 'rb').read()
  > open('packed.gz', 'wb').write(gzip.compress(data))
  > open('packed.xz', 'wb').write(lzma.compress(data))"
  $ for file in packed.gz packed.xz - /dev/stdin; do
  >   tidemark info $file < v3.sqlite | tail -n +2 | cmp - <(tail -n +2 v3)
  > done
  $ cat v3.sqlite | tidemark info - | head -n 1
  Operations     standard input: 7 operations, 1 device, schema 3.3

Charts.

  $ tidemark info --chart dram v3.sqlite
  DRAM in use, one bank of the fullest device
  3 MiB │
        │
        │
        │
  2 MiB │          ██████████████████████████████████████████████████████████████
        │          ██████████████████████████████████████████████████████████████
        │          ██████████████████████████████████████████████████████████████
        │          ██████████████████████████████████████████████████████████████
  1 MiB │████████████████████████████████████████████████████████████████████████
        │████████████████████████████████████████████████████████████████████████
        │████████████████████████████████████████████████████████████████████████
        │████████████████████████████████████████████████████████████████████████
        1                              operation                               8
  $ tidemark info --chart l1 v3.sqlite
  L1 in use, fullest core
  sum of L1 buffers after it, circular buffers, where known
  400 KiB │
          │
          │                    ▅▅▅▅▅▅▅▅▅▅
  300 KiB │                    ██████████
          │                    ██████████
          │                    ██████████
  200 KiB │                    ██████████
          │                    ██████████
          │                    ██████████▃▃▃▃▃▃▃▃▃▃▁▁▁▁▁▁▁▁▁▁
  100 KiB │                    ██████████████████████████████
          │                    ██████████████████████████████▇▇▇▇▇▇▇▇▇▇
          │                    ████████████████████████████████████████
          1                             operation                              8
  $ tidemark info --chart cores v3.sqlite
  L1 buffers of device 0 after operation 5
         0   1   2   3   4   5   6   7
     0  13  25  38  50  63  75  88 100
     1  13  25  38  50  63  75  88 100
     2  13  25  38  50  63  75  88 100
     3  13  25  38  50  63  75  88 100
     4  13  25  38  50  63  75  88 100
     5  13  25  38  50  63  75  88 100
     6  13  25  38  50  63  75  88 100
     7  13  25  38  50  63  75  88 100
  in % of 32 KiB
  $ tidemark info --chart cores v1.sqlite
  v1.sqlite: nothing to draw: the report does not say which cores L1 buffers are on (that takes enable_detailed_buffer_report)
  [2]
  $ tidemark info --chart l1 -o l1.svg v2.sqlite
  tidemark info: the chart is in l1.svg
  $ tidemark info --chart dram --size 160x160 -o small.svg v3.sqlite; grep -c '>DRAM in use.*…<' small.svg
  tidemark info: the chart is in small.svg
  1

As phases. Nobody saw what an operation used before it ended, so the peak may be higher.

  $ tidemark phases v2.sqlite
  operations (v2.sqlite)
  
    Phase (MiB)        Peak  Allocated  Freed  Change  Peak so far  In use  L1 peak
    1 ttnn.from_torch     -          -      -  +12.00        12.00   12.00        -
    2 ttnn.from_torch     -          -      -  +12.00        24.00   24.00        -
    3 ttnn.matmul         -          -      -   +0.00        24.00   24.00        -
    4 ttnn.add            -          -      -   +0.05        24.05   24.05        -
    5 ttnn.add            -          -      -   +0.05        24.09   24.09        -
    6 ttnn.add            -          -      -   +0.05        24.14   24.14        -
    7 ttnn.deallocate     -          -      -   +0.00        24.14   24.14        -
  
    Fits so far, and the rest is not known: the peak is 0.20% of the device's 12 GiB (as all cards with such an L1 have); 11.98 GiB stay free
  $ tidemark phases reports/17 | head -n 1
  operations (reports/17/db.sqlite)
  $ $DATADIR/ttnn/make_report 2 no_device.sqlite "DELETE FROM devices"
  $ tidemark phases no_device.sqlite
  tidemark phases: no_device.sqlite: it does not say how many banks DRAM has; tidemark info shows one bank
  [2]
  $ tidemark info no_device.sqlite | sed -n "/banks DRAM/p;/^Peaks/,/^$/p"
    note     the report does not say how many banks DRAM has, so only the bytes of one bank are known
  Peaks  kind       one bank      bytes  of it  banks  all banks  buffers     at end  after
      0  dram        2.01MiB  2,109,440  -      -              -        5    2.01MiB      6  ttnn.add
      0  l1        104.00KiB    106,496  -      -              -        3        0 B      5  ttnn.add
      0  l1_small    2.00KiB      2,048  -      -              -        1    2.00KiB      3  ttnn.matmul
      0  trace     128.00KiB    131,072  -      -              -        1  128.00KiB      5  ttnn.add
  

Rows that make no sense are refused, with their number; the rest is shown.

  $ $DATADIR/ttnn/make_report 2 bad.sqlite \
  >   "INSERT INTO buffers VALUES (7, 0, -5, 10, 0, 0), (7, 0, 5, -10, 0, 0), (7, 0, 5, 10, 77, 0)" \
  >   "INSERT INTO tensors VALUES (15, 's', 'd', 'l', NULL, 0, 'here', 0)" \
  >   "UPDATE operations SET name = char(27) || '[2J' || x'ff' WHERE operation_id = 3" \
  >   "UPDATE captured_graph SET captured_graph = '[{' WHERE operation_id = 4"
  $ tidemark info bad.sqlite > bad
  bad.sqlite: captured graph of operation 4: byte 2, after node 0: the file ends too early
  bad.sqlite: row 38 of buffers: address is negative
  bad.sqlite: row 39 of buffers: max_size_per_bank is negative
  bad.sqlite: row 40 of buffers: buffer_type is too large
  bad.sqlite: row 6 of tensors: address is not a number
  [2]
  $ diff v2 bad
  1c1
  < Operations     v2.sqlite: 7 operations, 1 device
  ---
  > Operations     bad.sqlite: 7 operations, 1 device
  13c13
  <     0  l1_small    2.00KiB      2,048   7.7%     64  128.00KiB        1    2.00KiB      3  ttnn.matmul
  ---
  >     0  l1_small    2.00KiB      2,048   7.7%     64  128.00KiB        1    2.00KiB      3  ?[2J?
  27,30c27,30
  <   one bank   bytes  address  since               last use  tensor
  <   64.00KiB  65,536  1400000      3  ttnn.matmul         4      12  [1, 1, 512, 2048] BFLOAT16 TILE
  <   32.00KiB  32,768  1300000      4  ttnn.add            -       -  -
  <    8.00KiB   8,192  1200000      5  ttnn.add            -       -  -
  ---
  >   one bank   bytes  address  since            last use  tensor
  >   64.00KiB  65,536  1400000      3  ?[2J?            4      12  [1, 1, 512, 2048] BFLOAT16 TILE
  >   32.00KiB  32,768  1300000      4  ttnn.add         -       -  -
  >    8.00KiB   8,192  1200000      5  ttnn.add         -       -  -
  32c32
  < Alive in l1_small of device 0 after operation 3 ttnn.matmul
  ---
  > Alive in l1_small of device 0 after operation 3 ?[2J?
  34,35c34,35
  <   one bank  bytes  address  since               last use  tensor
  <    2.00KiB  2,048  1480000      3  ttnn.matmul  -         -       -
  ---
  >   one bank  bytes  address  since         last use  tensor
  >    2.00KiB  2,048  1480000      3  ?[2J?  -         -       -
  44,45c44
  <         3  ttnn.matmul          1 ms        4  2.00MiB   64.00KiB  256.00KiB
  <         4  ttnn.add           200 us        6  2.00MiB   96.00KiB   16.00KiB
  ---
  >         3  ?[2J?                1 ms        4  2.00MiB   64.00KiB  256.00KiB
  46a46
  >         4  ttnn.add           200 us        6  2.00MiB   96.00KiB          -
  [1]
  $ $DATADIR/ttnn/make_report 2 view.sqlite "DROP TABLE buffers" \
  >   "CREATE VIEW buffers AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS operation_id FROM c"
  $ tidemark info view.sqlite | head -n 3
  view.sqlite: buffers is not a table but computed by the file: it is not read
  Operations     view.sqlite: 7 operations, 1 device
    error    operation 7 in ttnn.matmul: out of memory: 512 MiB of dram, 42.67 MiB in each of 12 banks of 1021.56 MiB
    warning  the report has no table of buffers, so the memory in use is unknown
  $ $DATADIR/ttnn/make_report 2 virtual.sqlite "DROP TABLE operations" \
  >   "CREATE VIRTUAL TABLE operations USING fts5(operation_id, name)"
  $ tidemark info virtual.sqlite | head -n 1
  virtual.sqlite: operations is not a table but computed by the file: it is not read
  Operations     virtual.sqlite: 7 operations, 1 device

Another database, a file that is cut off, and one with wrong bytes in it.

  $ /usr/bin/python3 -c "import sqlite3; sqlite3.connect('other.sqlite').execute('CREATE TABLE a (b)')"
  $ tidemark info other.sqlite
  other.sqlite: an SQLite database, but not a report of ttnn: it has neither the table operations nor buffers
  [2]
  $ tidemark phases other.sqlite
  other.sqlite: an SQLite database, but not a report of ttnn: it has neither the table operations nor buffers
  [2]
  $ head -c 42000 v3.sqlite > cut.sqlite
  $ tidemark info cut.sqlite 2>&1 | grep -e 'is cut off' -e '^Operations'
  cut.sqlite: it is cut off: it has 42,000 of 53,248 bytes
  Operations     cut.sqlite: 7 operations, 1 device
  $ head -c 60 v3.sqlite > head.sqlite
  $ tidemark info head.sqlite
  head.sqlite: the database is damaged or cut off; 'sqlite3 FILE .recover' can save what is left
  [2]
  $ cp v3.sqlite damaged.sqlite
  $ printf 'XXXXXXXX' | dd of=damaged.sqlite bs=1 seek=12288 conv=notrunc status=none
  $ tidemark info damaged.sqlite | head -n 1
  damaged.sqlite: buffers is damaged or cut off; 'sqlite3 FILE .recover' can save what is left
  Operations     damaged.sqlite: 7 operations, 1 device, schema 3.3

Rows that are only in the -wal are read, and nothing is written beside the report, neither while its program runs nor
after it was killed.

  $ cat > writer.py <<'END'
  > import os, shutil, sqlite3, subprocess, sys
  > db = sqlite3.connect("wal/db.sqlite", isolation_level=None)
  > db.execute("PRAGMA journal_mode=WAL")
  > db.execute("INSERT INTO operations VALUES (8, 'ttnn.late', 1, 0)")
  > before = sorted(os.listdir("wal"))
  > def show(path):
  >     print(subprocess.run(["tidemark", "info", path], capture_output=True, text=True).stdout.splitlines()[0])
  > show("wal/db.sqlite")
  > print(sorted(os.listdir("wal")) == before)
  > for name in "db.sqlite", "db.sqlite-wal":
  >     shutil.copy("wal/" + name, "killed")
  > show("killed/db.sqlite")
  > print(sorted(os.listdir("killed")))
  > END
  $ mkdir wal killed
  $ cp v3.sqlite wal/db.sqlite
  $ /usr/bin/python3 writer.py
  Operations     wal/db.sqlite: 8 operations, 1 device, schema 3.3
  True
  Operations     killed/db.sqlite: 8 operations, 1 device, schema 3.3
  ['db.sqlite', 'db.sqlite-wal']

The copy that SQLite opens is private and leaves nothing behind, whatever the file is.

  $ mkdir copies
  $ for file in head.sqlite cut.sqlite damaged.sqlite other.sqlite packed.gz wal/db.sqlite killed/db.sqlite v3.sqlite; do
  >   TMPDIR=$PWD/copies tidemark info $file > out 2>&1
  > done
  $ ls -A copies
  $ TMPDIR=$PWD/none tidemark info v3.sqlite
  v3.sqlite: cannot be copied to */none: No such file or directory; TMPDIR can name another folder (glob)
  [2]

A program that writes it is not disturbed: no lock is taken. That it writes is said.

  $ cat > locker.py <<'END'
  > import sqlite3, subprocess
  > db = sqlite3.connect("v3.sqlite", isolation_level=None)
  > db.execute("BEGIN EXCLUSIVE")
  > run = subprocess.run(["tidemark", "info", "v3.sqlite"], capture_output=True, text=True)
  > print(run.returncode, run.stdout.splitlines()[0], run.stderr, sep="\n", end="")
  > db.execute("ROLLBACK")
  > END
  $ /usr/bin/python3 locker.py
  2
  Operations     v3.sqlite: 7 operations, 1 device, schema 3.3
  v3.sqlite: process * is writing it: what it has not finished may be wrong or missing (glob)
  $ cp v3.sqlite unfinished.sqlite
  $ printf '\331\325\005\371\040\241\143\327' > unfinished.sqlite-journal
  $ tidemark info unfinished.sqlite | head -n 1
  unfinished.sqlite: its program did not finish writing it, and left a journal beside it: figures may be wrong; 'sqlite3 FILE .tables' puts it in order
  Operations     unfinished.sqlite: 7 operations, 1 device, schema 3.3
