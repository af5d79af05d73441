Profiling logs. Without a file there is a small one, and it is said that it is not the user's.

  $ export COLUMNS=100
  $ tidemark log
  Sample         no file was given: this is a small log that comes with tidemark, not one of yours
  Log            built-in sample: 32 lines, 3.20 KiB, 12:00:00.230 to 12:00:00.500
                 debug log of a program that prints its circular buffers or kernels; 30 records about memory
  
  Errors: 2 (repeated lines count once)
          time  line  lines  what
  12:00:00.500    27      2  static buffers clash with L1 buffers: circular buffers of program 7 on
                             cores 0-0 to 7-7 end at 171200, the lowest L1 buffer is at 150000
  12:00:00.500    32      1  wrong results: 2,041 values are not the expected ones
  
  Circular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)
        tiles  size/core  cores  reserve  push  wait  pop  fullest  stalls  longest
  CB0       4   16.00KiB     64        1     1     0    0        4       0     0 ns
  CB1       4   16.00KiB     64        3     3     2    2        4       3    52 us
  CB2       4   16.00KiB     64        0     0     0    0        -       -        -
  CB16      4   16.00KiB     64        0     0     0    0        -       -        -
  
  Pressure
  CB1 miss rate   75.0%, MEDIUM                   from sizes, not observed
  CB utilization  100.0%, LOW                     observed: the fullest moment of each
  stalls          50.0%                           observed: reserves and waits that had to wait
  share of L1     4.7%                            circular buffers of a core, of the L1 for buffers
  pressure score  75 of 100, thrashing risk HIGH  heuristic: the largest of miss rate, stalls and share of L1
  circular buffers 64 KiB in each core
  verification: 14343 of 16384 values passed (87.5%)
  
  Kernels  started  ended  in all  longest  code
  reader         1      1   21 ms    21 ms     -
  compute        1      1   19 ms    19 ms     -
  
  Buffers (sizes asked for)
  process  device  kind  allocs  frees       peak  at line     at end  unmatched
  4242          0  dram       2      0  128.00KiB        5  128.00KiB          0
  
  Timeline (from 12:00:00.300, 4 ms a column)
  memory          |█                                                  | at most 2
  CB              |█                           █▆▆▄                   | at most 4
  kernels         |                           █    █                  | at most 2
  errors          |                                                  █| at most 2
  dram            |███████████████████████████████████████████████████| at most 128 KiB

A stock log: three failures, each of which stands in it twice; and what such a log cannot tell.

  $ cp "$DATADIR"/logs/*.log .
  $ tidemark log demo.log
  Log            demo.log: 50 lines, 5.58 KiB, 07:36:20.265 to 07:36:20.274
                 stock log of the runtime; 6 records about memory
  Not in it      circular buffers and ordinary buffers: the runtime prints no line when it allocates them. TT_METAL_SHM_VERBOSE=1 adds the sizes of buffers, debug lines of the program itself add circular buffers.
  
  Errors: 3 (repeated lines count once)
          time  line  lines  what
  07:36:20.265    31      2  out of memory: 1 TiB of dram, 85.33 GiB in each of 12 banks of 1022.91
                             MiB; free 1022.83 MiB, in one piece 1022.83 MiB; it would not fit an
                             empty bank
  07:36:20.269    33      2  out of memory: 256 MiB of l1, 3642 KiB in each of 72 banks of 1.30 MiB;
                             free 1.21 MiB, in one piece 1.21 MiB; it would not fit an empty bank
  07:36:20.274    35      2  static buffers beyond the end of L1: circular buffers on cores 0-0 to 1-1
                             end at 1948864, L1 ends at 1499136
  
  Timeline (from 07:36:20.265, 1 ms a column)
  errors          |█   █    █| at most 1

The runtime's debug log, with its lines about shared memory.

  $ tidemark log debug.log
  Log            debug.log: 103 lines, 15.07 KiB, 07:37:02.307 to 07:37:02.400
                 stock log of the runtime, with debug lines; 12 records about memory
  Not in it      circular buffers, and the addresses of buffers: the runtime prints no line about them. Debug lines of the program itself can.
  
  Errors: 1 (repeated lines count once)
          time  line  lines  what
  07:37:02.394    90      2  out of memory: 1 TiB of dram, 85.33 GiB in each of 12 banks of 1022.91
                             MiB; free 1022.91 MiB, in one piece 1022.91 MiB; it would not fit an
                             empty bank
  
  Buffers (sizes asked for)
  process  device  kind  allocs  frees      peak  at line  at end  unmatched
  27310         0  dram       1      1  64.00MiB       81     0 B          0
  27310         0  l1         1      1   2.00MiB       85     0 B          0
  
  Timeline (from 07:37:02.392, 1 ms a column)
  memory          |███     █| at most 1
  errors          |  █      | at most 1
  dram            |███      | at most 64 MiB
  l1              | ████████| at most 2 MiB

An allocation server's log, with its list of what remains; marks in any encoding.

  $ tidemark log server.log
  Log            server.log: 19 lines, 1.19 KiB
                 log of an allocation server; 8 records about memory
  
  Errors: 0
  
  Buffers (sizes asked for)
  process  device  kind     allocs  frees      peak  at line    at end  unmatched
  12345         0  l1            2      2  16.00MiB        2       0 B          0
  12345         0  unknown       0      1       0 B        -       0 B          1
  12345         1  dram          1      0  12.00KiB        7  12.00KiB          0
  -             0  cb            1      0   1.50MiB        8   1.50MiB          0
  
  Remaining buffers, as the server listed them last
  device  kind  buffers     bytes
       1  dram        1  12.00KiB
  
  Timeline (no times in the log: by line, from 2, 1 line a column)
  memory          |███████| at most 1
  dram            |     ██| at most 12 KiB
  l1              |████   | at most 16 MiB
  $ iconv -f UTF-8 -t ASCII//TRANSLIT -c server.log | tidemark log --limit 2 - | sed -n '/^Buffers/,$p'
  Buffers (sizes asked for)
  process  device  kind     allocs  frees      peak  at line  at end  unmatched
  12345         0  l1            2      2  16.00MiB        2     0 B          0
  12345         0  unknown       0      1       0 B        -     0 B          1
    and 2 more
  
  Remaining buffers, as the server listed them last
  device  kind  buffers     bytes
       1  dram        1  12.00KiB
  
  Timeline (no times in the log: by line, from 2, 1 line a column)
  memory          |███████| at most 1
  dram            |     ██| at most 12 KiB
  l1              |████   | at most 16 MiB

Memory states of tt-mlir, from a run on several hosts.

  $ tidemark log states.log --ascii
  Log            states.log: 3 lines, 604 B
                 log with memory states of tt-mlir; 3 records about memory
  
  Errors: 0
  
  Operations  times  in all  longest
  TypecastOp      1       -        -
  
  Memory states (in each bank, at the peak)
  rank  kind      states  banks        size  allocated     largest       least
                                                              free     largest  at operation
  0     dram           1     12  1022.93MiB   12.50MiB  1010.43MiB  1010.43MiB  TypecastOp
  0     l1_small       1     64    32.00KiB        0 B    32.00KiB    32.00KiB  TypecastOp
  
  Timeline (no times in the log: by line, from 1, 1 line a column)
  memory          | ##| at most 1
  kernels         |#  | at most 1

A program that prints its circular buffers, before and after its repair.

  $ cat > customer.log <<'.'
  > DEBUG: num_tiles=16, mesh_devices=2, tiles_per_shard=8
  > DEBUG: Fixed CB allocation - CB0:4, CB1:4, CB2:4, CB16:4 tiles. Total:16 tiles (64KB/64KB)
  > 0:(x=1,y=1):NC: READER KERNEL START: n_tiles=8, r_tiles=16
  > 0:(x=1,y=1):NC: cb_reserve_back(1, 1) waited 12 us
  > 0:(x=1,y=1):NC: cb_push_back(1, 1)
  > 0:(x=1,y=1):TR0: cb_wait_front(1, 1) waited 0 us
  > 0:(x=1,y=1):TR0: cb_pop_front(1, 1)
  > 0:(x=1,y=1):NC: READER KERNEL COMPLETE
  > Distributed elementwise add verification: 14343 / 16384 passed
  > .
  $ sed -e 's/CB1:4/CB1:16/;s/Total:16 tiles (64KB/Total:28 tiles (112KB/;s/waited 12/waited 0/;s/14343/16384/' customer.log > fixed.log
  $ tidemark log --compare customer.log fixed.log
  A              customer.log: 9 lines; debug log of a program that prints its circular buffers or kernels
  B              fixed.log: 9 lines; debug log of a program that prints its circular buffers or kernels
  
                                   A        B    B - A
  errors                           1        0       -1
  wrong results                    1        0       -1
  A tiles                         16       16       +0
  B tiles                         16       16       +0
  CB0 tiles                        4        4       +0
  CB0 size per core           16 KiB   16 KiB     +0 B
  CB1 tiles                        4       16      +12
  CB1 size per core           16 KiB   64 KiB  +48 KiB
  CB1 fullest, tiles               1        1       +0
  CB1 stalls                       1        0       -1
  CB1 stalled in all           12 us     0 ns   -12 us
  CB2 tiles                        4        4       +0
  CB2 size per core           16 KiB   16 KiB     +0 B
  CB16 tiles                       4        4       +0
  CB16 size per core          16 KiB   16 KiB     +0 B
  circular buffers, per core  64 KiB  112 KiB  +48 KiB
  CB1 miss rate                75.0%     0.0%   -75.0%
  CB utilization               25.0%     6.2%   -18.8%
  stalls                       50.0%     0.0%   -50.0%
  pressure score                  75        0      -75
  values that passed           87.5%   100.0%   +12.5%
  $ tidemark log --compare customer.log customer.log | tail -1
  The two logs say the same.
  $ tidemark log fixed.log customer.log | sed -n '1,/^Pressure .2/p'
  Log            [1] fixed.log: 9 lines, 479 B
                 debug log of a program that prints its circular buffers or kernels; 13 records about memory
  Log            [2] customer.log: 9 lines, 478 B
                 debug log of a program that prints its circular buffers or kernels; 14 records about memory
  
  Errors: 1 (repeated lines count once)
  time  line  lines  what
     -     9      1  [2] wrong results: 2,041 values are not the expected ones
  
  Circular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)
            tiles  size/core  cores  reserve  push  wait  pop  fullest  stalls  longest
  [1] CB0       4   16.00KiB      -        0     0     0    0        -       -        -
  [1] CB1      16   64.00KiB      -        1     1     1    1        1       0     0 ns
  [1] CB2       4   16.00KiB      -        0     0     0    0        -       -        -
  [1] CB16      4   16.00KiB      -        0     0     0    0        -       -        -
  [2] CB0       4   16.00KiB      -        0     0     0    0        -       -        -
  [2] CB1       4   16.00KiB      -        1     1     1    1        1       1    12 us
  [2] CB2       4   16.00KiB      -        0     0     0    0        -       -        -
  [2] CB16      4   16.00KiB      -        0     0     0    0        -       -        -
  
  [1]
  Pressure
  CB1 miss rate   0.0%, LOW                                                             from sizes, not observed
  CB utilization  6.2%, HIGH                                                            observed: the fullest moment of each
  stalls          0.0%                                                                  observed: reserves and waits that had to wait
  share of L1     unknown: needs sizes in bytes and the runtime's debug lines about L1  -
  pressure score  0 of 100, thrashing risk LOW                                          heuristic: the largest of miss rate, stalls and share of L1
  circular buffers 112 KiB in each core, of 64 KiB that the program allows itself
  verification: 16384 of 16384 values passed (100.0%)
  
  [2]
  Pressure
  CB1 miss rate   75.0%, MEDIUM                                                         from sizes, not observed
  CB utilization  25.0%, HIGH                                                           observed: the fullest moment of each
  stalls          50.0%                                                                 observed: reserves and waits that had to wait
  share of L1     unknown: needs sizes in bytes and the runtime's debug lines about L1  -
  pressure score  75 of 100, thrashing risk HIGH                                        heuristic: the largest of miss rate, stalls and share of L1
  circular buffers 64 KiB in each core, of 64 KiB that the program allows itself
  verification: 14343 of 16384 values passed (87.5%)
  
  Kernels     started  ended  in all  longest  code
  [1] READER        1      1       -        -     -
  [2] READER        1      1       -        -     -
  
  Timeline (no times in the log: by line, from 2, 1 line a column)
  CB              |█ ▂▂▂▂  | at most 8
  kernels         | █    █ | at most 2
  errors          |       █| at most 1

The machine-readable form.

  $ tidemark log --json demo.log | /usr/bin/python3 -c '
  > import json, sys
  > log = json.load(sys.stdin)["log"]
  > print(log["failure_count"], [f["line"] for f in log["failures"]], log["failures"][0]["cause"], log["files"][0]["pressure"]["score"])'
  3 [31, 33, 35] too_large None
  $ tidemark log --json customer.log | /usr/bin/python3 -c '
  > import json, sys
  > log = json.load(sys.stdin)["log"]
  > print(log["files"][0]["pressure"]["cb1_miss_rate"], [c["tiles"] for c in log["circular_buffers"]], log["kernels"][0]["name"])'
  0.75 [4, 4, 4, 4] READER
  $ tidemark log --json --compare customer.log fixed.log | /usr/bin/python3 -c '
  > import json, sys
  > print([(f["a"], f["b"], f["difference"]) for f in json.load(sys.stdin)["compare"]["figures"] if f["figure"] == "cb1_miss_rate"])'
  [(0.75, 0, -0.75)]

A figure above 2^63 is compared as it is.

  $ echo 'a | SHM record_allocation: pid=1, type=L1, size=15532559262904483838 B (4 KB), chip_id=0, device_id=0, asic_id=0x1 (a.cpp:1)' >huge.log
  $ tidemark log --json --compare huge.log fixed.log | grep '"a": 155'
          "a": 15532559262904483840,

Only the errors; no more rows than wanted.

  $ tidemark log -e -n 1 demo.log
  Log            demo.log: 50 lines, 5.58 KiB, 07:36:20.265 to 07:36:20.274
                 stock log of the runtime; 6 records about memory
  
  Errors: 3 (repeated lines count once)
          time  line  lines  what
  07:36:20.265    31      2  out of memory: 1 TiB of dram, 85.33 GiB in each of 12 banks of 1022.91
                             MiB; free 1022.83 MiB, in one piece 1022.83 MiB; it would not fit an
                             empty bank
    and 2 more

A text about memory in unknown words is an error like the others, whole and once; the sentence of a neighbour is known.

  $ cat > words.log <<'.'
  > 2026-11-15 07:36:20.274 | critical |          Always | TT_FATAL: ttnn.concat: the output of 4 tensors exceeds L1 capacity by far, and nobody has listed these words (assert.hpp:104)
  > RuntimeError: TT_FATAL @ concat.cpp:12: false
  > info:
  > ttnn.concat: the output of 4 tensors exceeds L1 capacity by far, and nobody has listed these words
  > Out of Memory: the moon is full
  > error: required L1 memory usage 2000 exceeds memory capacity 1000
  > Not enough space to allocate 64 B L1 buffer across 2 banks,
  > where each bank needs to store 32 B
  > 2026-11-15 07:36:21.000 | info     |          Always | a cache exceeds the memory of a year (a.cpp:1)
  > .
  $ tidemark log -e words.log
  Log            words.log: 9 lines, 628 B, 07:36:20.274 to 07:36:20.274
                 stock log of the runtime; 5 records about memory
  
  Errors: 4 (repeated lines count once)
          time  line  lines  what
  07:36:20.274     1      2  about memory, in words that are not known: ttnn.concat: the output of 4
                             tensors exceeds L1 capacity by far, and nobody has listed these words
  07:36:20.274     5      1  about memory, in words that are not known: Out of Memory: the moon is
                             full
  07:36:20.274     6      1  an operation needs more L1 than there is: 1.95 KiB, at most 1000 B
  07:36:20.274     7      1  out of memory: 64 B of l1, 32 B in each of 2 banks
  $ tidemark log --json words.log | /usr/bin/python3 -c '
  > import json, sys
  > log = json.load(sys.stdin)["log"]
  > print(log["failure_count"], [f["text"] for f in log["failures"] if f["sort"] == "other"])'
  4 ['ttnn.concat: the output of 4 tensors exceeds L1 capacity by far, and nobody has listed these words', 'Out of Memory: the moon is full']

Old releases printed the words with gaps, and each figure on a line of its own. A count of no errors is not an error.

  $ cat > gaps.log <<'.'
  > FAILED test_a.py::test_b - RuntimeError: TT_THROW @ tt_metal/impl/allocator/allocator.cpp:107: tt::exception
  > info:
  > Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where each bank needs to store {} B
  > 148897792
  > DRAM
  > 8
  > 18612224
  > backtrace:
  > info:
  > Statically allocated circular buffers in program {} clash with L1 buffers on core range {}. L1 buffer allocated at {} and static circular buffer region ends at {}
  > 12
  > [(x=0,y=0) - (x=7,y=7)]
  > 1048576
  > 1200000
  > backtrace:
  > 2026-01-01 10:00:00.000 | error    |             Op | failed to reserve DRAM for the cache (op.cpp:3)
  > 2024-09-06 12:28:06.186 | FATAL    | Always          - update_buffer: OVERLAY_BLOB is using more l1 memory than reserved (66196 > 65408)
  > info:
  > A shard would take more L1 than the 1 MB that is left
  > ValueError: No available memory for the cache blocks.
  > out of memory: 0 events
  > .
  $ tidemark log --json gaps.log | /usr/bin/python3 -c '
  > import json, sys
  > for f in json.load(sys.stdin)["log"]["failures"]: print(f["line"], f["sort"], f["summary"] or f["text"])'
  3 out_of_memory out of memory: 142 MiB of dram, 17.75 MiB in each of 8 banks
  10 clash static buffers clash with L1 buffers: circular buffers of program 12 on cores 0-0 to 7-7 end at 1200000, the lowest L1 buffer is at 1048576
  16 other about memory, in words that are not known: failed to reserve DRAM for the cache
  17 other about memory, in words that are not known: FATAL    | Always          - update_buffer: OVERLAY_BLOB is using more l1 memory than reserved (66196 > 65408)
  19 other about memory, in words that are not known: A shard would take more L1 than the 1 MB that is left
  20 other about memory, in words that are not known: ValueError: No available memory for the cache blocks.

All kinds of places in which errors are met, and neighbours of the known words: each line is one error, with the figures it has.

  $ cat > variants.txt <<'.'
  >                  Always | FATAL    | Out of Memory: Not enough space to allocate 21233664 B L1 buffer across 108 banks, where each bank needs to store 196608 B
  > E           Out of Memory: Not enough space to allocate 134217728 B DRAM buffer across 8 banks, where each bank needs to store 16777216 B, but bank size is only 1000 B
  > {TT_FATAL @ /x/bank_manager.cpp:439: false\ninfo:\nOut of Memory: Not enough space to allocate 58720256 B DRAM buffer across 12 banks, where each bank needs to store 4894720 B, but bank size is 1071821792 B (allocated: 888424448 B, free: 183397344 B, largest free block: 3382944 B)
  > (EngineCore_DP0 pid=230) Statically allocated circular buffers in program 238 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 buffer allocated at 1261952 and static circular buffer region ends at 1284960
  > FAILED tests/a.py::test_b[x=1] - RuntimeError: TT_THROW @ program.cpp:1043: tt::exception info: Statically allocated circular buffers on core range [0-0 - 12-9] grow to 1683968 B which is beyond max L1 size of 1572864 B
  > RuntimeError: TT_THROW @ program.cpp:483: Statically allocated circular buffers in program {} clash with L1 buffers on core range {}
  >                  Always | WARNING  | Circular buffer size 104448 B exceeds allocated L1 buffer bank size of 90304 B. This may allow it to write elsewhere
  > riscv32-unknown-elf/bin/ld: address 0xffb00504 of /x/trisc2.elf section `.data' is not within region `TRISC2_LOCAL_DATA'
  > riscv-tt-elf/bin/ld: /x/trisc1.elf section `.text' will not fit in region `TRISC1_CODE'
  > ld: region `NCRISC_CODE' overflowed by 1232 bytes
  > Program size (25680) too large for kernel config buffer (25600) on ACTIVE_ETH
  > TT_FATAL: Creating trace buffers of size 34951168B on MeshDevice 1, but only 23887872B is allocated for trace region.
  > TT_FATAL: Trace buffer at address 1024 overlaps with the circular buffers of a program
  > error: total CB allocation (1683968 B) exceeds L1 capacity (1572864 B) on core range [(0,0)-(12,9)]
  > TT_FATAL @ x.cpp:1: L1 space is exhausted: 12 tiles are needed, 8 are available
  > RuntimeError: the kernel ran out of L1 after 3 shards
  > critical error: no space left in DRAM for the weights
  > RuntimeError: Allocation failed for a buffer of 12 MB in L1_SMALL
  > RuntimeError: the tensor could not be allocated in L1
  > RuntimeError: a core does not have enough L1 for the block
  > fatal: the shard needs more L1 than available
  > TT_FATAL: CB region overlaps the L1 buffer at 98304
  > RuntimeError: the trace region is too small for the captured buffers
  > .
  $ n=0; while IFS= read -r line; do n=$((n + 1)); printf '%s\n' "$line" > v.log; tidemark log --json v.log | /usr/bin/python3 -c '
  > import json, sys
  > log = json.load(sys.stdin)["log"]
  > for f in log["failures"]: print(sys.argv[1], log["failure_count"], f["sort"], *(v for k, v in f.items() if type(v) is int and k not in ("line", "count", "file", "lines")))
  > if not log["failures"]: print(sys.argv[1], "nothing")' $n; done < variants.txt
  1 1 out_of_memory 1 21233664 108 196608 0 0
  2 1 out_of_memory 1 134217728 8 16777216 1000 0 0
  3 1 out_of_memory 1 58720256 12 4894720 1071821792 888424448 183397344 3382944 0 0
  4 1 clash 1 1261952 1284960 238 1 0
  5 1 beyond_l1 1 1683968 1572864 1 0
  6 1 other 1 0 0
  7 1 cb_resize 1 104448 90304 0 0
  8 1 segment 1 4289725700 0 0
  9 1 segment 1 0 0
  10 1 segment 1 1232 0 0
  11 1 program_size 1 25680 25600 0 0
  12 1 trace_region 1 34951168 23887872 0 0
  13 1 trace_overlap 1 1024 0 0
  14 1 other 1 0 0
  15 1 other 1 0 0
  16 1 other 1 0 0
  17 1 other 1 0 0
  18 1 other 1 0 0
  19 1 other 1 0 0
  20 1 other 1 0 0
  21 1 other 1 0 0
  22 1 other 1 0 0
  23 1 other 1 0 0
  $ sed -n '8,10p' variants.txt | tidemark log -e - | sed -n '/^time/,$p'
  time  line  lines  what
     -     1      1  kernel segment too large for its region: at 4289725700: TRISC2_LOCAL_DATA
     -     2      1  kernel segment too large for its region: TRISC1_CODE
     -     3      1  kernel segment too large for its region: too large by 1.20 KiB: NCRISC_CODE

However long a text is, it is shown whole; beyond 16 KiB it is cut, and that shows.

  $ echo "RuntimeError: L1 is exhausted by $(seq -s ' ' 900) END" > long.log; tidemark log --json long.log | grep -o 'L1 is\|.......END'
  L1 is
  99 900 END
  L1 is
  99 900 END
  $ echo "RuntimeError: L1 is exhausted by $(seq -s ' ' 9000) END" > long.log; tidemark log --json long.log | grep -o '[.][.][.]"$\|END'
  ..."

Results that are wrong are errors, too: the lines about single values are one, the sum at the end is another.

  $ tidemark log -e - <<'.'
  > Mismatch at index 12: expected 3, got 0
  > Mismatch at index 13: expected 4, got 0
  > Distributed elementwise add verification: 14343 / 16384 passed
  > Distributed elementwise add verification failed with 2041 failures
  > SHM version mismatch for asic_id=0x1 (found v2, expected v3)
  > no mismatch of values, 0 mismatches; verification: 7 / 7 passed
  > .
  Log            standard input: 6 lines, 335 B
                 debug log of a program that prints its circular buffers or kernels; 6 records about memory
  
  Errors: 2 (repeated lines count once)
  time  line  lines  what
     -     1      2  wrong results: Mismatch at index 12: expected 3, got 0
     -     3      2  wrong results: 2,041 values are not the expected ones

A program on several cores names its grid and sums up its circular buffers, against a limit of its own.

  $ cat > grid.log <<'.'
  > INFO: Using core grid 8x7
  > DEBUG: num_tiles=16, mesh_devices=2, tiles_per_shard=8
  >   CB allocation per core: CB0=5, CB1=4 tiles (116KB/120KB)
  > .
  $ tidemark log grid.log | sed -n '/^Circular/,/^thrashing/p'
  Circular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)
       tiles  size/core  cores  reserve  push  wait  pop  fullest  stalls  longest
  CB0      5          -     56        0     0     0    0        -       -        -
  CB1      4          -     56        0     0     0    0        -       -        -
  
  Pressure
  CB1 miss rate   75.0%, MEDIUM; as many B tiles as A tiles were assumed                from sizes, not observed
  CB utilization  unknown: needs lines that push, and sizes in tiles                    -
  stalls          unknown: needs reserves or waits that say how long they waited        -
  share of L1     unknown: needs sizes in bytes and the runtime's debug lines about L1  -
  pressure score  75 of 100, thrashing risk HIGH                                        heuristic: the largest of miss rate, stalls and share of L1
  circular buffers 116 KiB in each core, of 120 KiB that the program allows itself
  
  Timeline (no times in the log: by line, from 3, 1 line a column)
  CB              |█| at most 2
  $ tidemark log --json grid.log | /usr/bin/python3 -c '
  > import json, sys
  > file = json.load(sys.stdin)["log"]["files"][0]
  > print(file["workload"]["cores"], file["pressure"]["cb_bytes_per_core"], file["pressure"]["cb_limit_bytes"])'
  56 118784 122880

Where the log does not say how large circular buffers are, the user can; what it says stays.

  $ cat > bare.log <<'.'
  > DEBUG: num_tiles=16, mesh_devices=2, tiles_per_shard=8
  > DEBUG: CB0 allocated: 2 tiles
  > cb_push_back(1, 1)
  > .
  $ tidemark log bare.log | sed -n '/^CB1 /p;/^\*/p'
  CB1      -          -      -        0     1     0    0        1       -        -
  CB1 miss rate   unknown: needs the tiles of B and of CB1                              -
  $ tidemark log --cb 0=9,1=4 --cb 2=6 bare.log | sed -n '/^Circular/,/^CB util/p'
  Circular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)
        tiles  size/core  cores  reserve  push  wait  pop  fullest  stalls  longest
  CB0       2          -      -        0     0     0    0        -       -        -
  CB1*      4          -      -        0     1     0    0        1       -        -
  CB2*      6          -      -        0     0     0    0        -       -        -
  * the number of tiles is not in the log: it was given with --cb
  
  Pressure
  CB1 miss rate   75.0%, MEDIUM; as many B tiles as A tiles were assumed                from sizes, not observed
  CB utilization  25.0%, HIGH                                                           observed: the fullest moment of each
  $ tidemark log --json --cb 0=9,1=4 bare.log | /usr/bin/python3 -c '
  > import json, sys
  > print([(c["index"], c["tiles"], c["tiles_given"]) for c in json.load(sys.stdin)["log"]["circular_buffers"]])'
  [(0, 2, False), (1, 4, True)]
  $ for wrong in 0 0= =4 64=1 0=4, 0=0; do tidemark log --cb $wrong bare.log 2>&1 | head -1; done
  tidemark log: --cb '0': expected circular buffers with their tiles, such as 0=4,1=4; the numbers of circular buffers are 0 to 63
  tidemark log: --cb '0=': expected circular buffers with their tiles, such as 0=4,1=4; the numbers of circular buffers are 0 to 63
  tidemark log: --cb '=4': expected circular buffers with their tiles, such as 0=4,1=4; the numbers of circular buffers are 0 to 63
  tidemark log: --cb '64=1': expected circular buffers with their tiles, such as 0=4,1=4; the numbers of circular buffers are 0 to 63
  tidemark log: --cb '0=4,': expected circular buffers with their tiles, such as 0=4,1=4; the numbers of circular buffers are 0 to 63
  tidemark log: --cb '0=0': expected circular buffers with their tiles, such as 0=4,1=4; the numbers of circular buffers are 0 to 63

Events in the order of time, instead of sums.

  $ tidemark log --events customer.log
  -                    1  workload      A 16 tiles 8 tiles per shard on 2 devices
  -                    2  cb_alloc      CB0, 4 tiles, 16 KiB
  -                    2  cb_alloc      CB1, 4 tiles, 16 KiB
  -                    2  cb_alloc      CB2, 4 tiles, 16 KiB
  -                    2  cb_alloc      CB16, 4 tiles, 16 KiB
  -                    3  kernel_start  READER
  -                    3  workload      B 16 tiles
  -                    4  cb_reserve    CB1, 1 tile, 1 core, waited 12 us
  -                    5  cb_push       CB1, 1 tile, 1 core
  -                    6  cb_wait       CB1, 1 tile, 1 core, waited 0 ns
  -                    7  cb_pop        CB1, 1 tile, 1 core
  -                    8  kernel_end    READER
  -                    9  verification  14343 of 16384 values passed
  -                    9  failure       wrong results: 2,041 values are not the expected ones
  $ tidemark log --events -n 2 customer.log words.log
  [1] -                    1  workload      A 16 tiles 8 tiles per shard on 2 devices
  [1] -                    2  cb_alloc      CB0, 4 tiles, 16 KiB
  ... and 16 more
  $ tidemark log --events --errors customer.log demo.log | cut -c 1-60
  [1] -                    9  failure       wrong results: 2,0
  [2] 07:36:20.265        31  failure       out of memory: 1 T
  [2] 07:36:20.269        33  failure       out of memory: 256
  [2] 07:36:20.274        35  failure       static buffers bey
  $ tidemark log --events --json -n 1 debug.log | cut -c 1-60
  {"record": "geometry","writer": "runtime","level": "debug","
  $ tidemark log --events -f demo.log
  tidemark log: --events cannot be combined with --follow
  tidemark log: see 'tidemark log --help'
  [2]

The log of the Watcher: stacks, and what it caught.

  $ cat > watcher.log <<'.'
  > At 0.000s starting
  > Dump #1 at 2.000s
  > Device 0 worker core(x= 0,y= 0) virtual(x= 1,y= 2): NCRISC using noc0 tried to unicast read 4096 bytes to local L1[0x01b600] from DRAM (NOC transaction overflows a circular buffer).
  > k_id[  1]: tests/reader.cpp
  > Stack usage summary:
  > 	brisc highest stack usage: 192/768, on core (x=1,y=1), running kernel tests/reader.cpp
  > 	trisc1 highest stack usage: 256/256, on core (x=1,y=1), running kernel tests/compute.cpp (OVERFLOW)
  > Dump #2 at 4.000s
  > 	trisc1 highest stack usage: 256/256, on core (x=1,y=1), running kernel tests/compute.cpp (OVERFLOW)
  > 	brisc highest stack usage: 64 bytes free, on core (x=2,y=1), running kernel tests/writer.cpp
  > 	brisc highest stack usage: 128 bytes free, on core (x=2,y=1), running kernel tests/writer.cpp
  > .
  $ tidemark log watcher.log
  Log            watcher.log: 11 lines, 765 B
                 log of the runtime's Watcher; 10 records about memory
  
  Errors: 2 (repeated lines count once)
  time  line  lines  what
     -     3      1  a transfer beyond the end of a circular buffer
     -     7      2  stack overflow in a kernel: 256 B used of 256 B on cores 1-1 to 1-1:
                     tests/compute.cpp
  
  Stacks of kernels, when they were fullest (as the Watcher saw them)
  processor   used   size  free  at line  kernel
  brisc          -      -  64 B       10  tests/writer.cpp
  trisc1     256 B  256 B   0 B        7  tests/compute.cpp
  
  Timeline (no times in the log: by line, from 3, 1 line a column)
  errors          |█   █| at most 1
  $ tidemark log --json watcher.log | /usr/bin/python3 -c '
  > import json, sys
  > log = json.load(sys.stdin)["log"]
  > print(log["files"][0]["by_writer"]["watcher"], [(s["processor"], s["used"], s["free"]) for s in log["stacks"]])'
  9 [('brisc', None, 64), ('trisc1', 256, 0)]
  $ tidemark log --events watcher.log | sed -n 3,4p
  -                    6  stack         brisc, stack used 192 B of 768 B, free 576 B, kernel tests/reader.cpp
  -                    7  stack         trisc1, stack used 256 B of 256 B, free 0 B, kernel tests/compute.cpp

Several files are merged by time: the later file stands first on the command line.

  $ grep 07:36:20.27 demo.log > late.log
  $ grep 07:36:20.26 demo.log > early.log
  $ tidemark log -e late.log early.log
  Log            [1] late.log: 1 line, 205 B, 07:36:20.274 to 07:36:20.274
                 stock log of the runtime; 1 record about memory
  Log            [2] early.log: 2 lines, 625 B, 07:36:20.265 to 07:36:20.269
                 stock log of the runtime; 2 records about memory
  
  Errors: 3 (repeated lines count once)
          time  line  lines  what
  07:36:20.265     1      1  [2] out of memory: 1 TiB of dram, 85.33 GiB in each of 12 banks of
                             1022.91 MiB; free 1022.83 MiB, in one piece 1022.83 MiB; it would not fit
                             an empty bank
  07:36:20.269     2      1  [2] out of memory: 256 MiB of l1, 3642 KiB in each of 72 banks of 1.30
                             MiB; free 1.21 MiB, in one piece 1.21 MiB; it would not fit an empty bank
  07:36:20.274     1      1  [1] static buffers beyond the end of L1: circular buffers on cores 0-0 to
                             1-1 end at 1948864, L1 ends at 1499136

Colours, line ends of another system, bytes that are no text, and a line that is too long.

  $ printf '\033[90m2026-11-15 07:36:20.274\033[0m | \033[31mcritical\033[0m | \033[35m         Always\033[0m | \033[37mTT_THROW: Worker L1 size 9 is larger than max size 5\033[0m\r\n\0\377\376 cb_push_back(1, 1)\n' > odd.log
  $ tidemark log odd.log
  Log            odd.log: 2 lines, 168 B, 07:36:20.274 to 07:36:20.274
                 debug log of a program that prints its circular buffers or kernels; 2 records about memory
  
  Errors: 1 (repeated lines count once)
          time  line  lines  what
  07:36:20.274     1      1  worker L1 size above its maximum: 9 B, at most 5 B
  
  Circular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)
       tiles  size/core  cores  reserve  push  wait  pop  fullest  stalls  longest
  CB1      -          -      -        0     1     0    0        1       -        -
  
  Pressure
  CB1 miss rate   unknown: needs the tiles of B and of CB1                              -
  CB utilization  unknown: needs lines that push, and sizes in tiles                    -
  stalls          unknown: needs reserves or waits that say how long they waited        -
  share of L1     unknown: needs sizes in bytes and the runtime's debug lines about L1  -
  pressure score  unknown                                                               -
  
  Timeline (from 07:36:20.274, 1 ms a column)
  CB              |█| at most 1
  errors          |█| at most 1
  $ (head -c 400000 /dev/zero | tr '\0' x; echo; echo 'cb_push_back(1, 1)') | tidemark log - 2>&1 | head -4
  tidemark log: standard input:1:262145: the line is longer than 256 KiB: only its beginning was looked at
  Log            standard input: 2 lines, 390.64 KiB
                 debug log of a program that prints its circular buffers or kernels; 1 record about memory
                 1 line too long: only the beginning was looked at

Two lines of more than two gigabytes.

  $ long() { head -c 2100M /dev/zero; echo; }
  $ (long; echo 'cb_push_back(1, 1)'; long; echo 'cb_push_back(1, 1)') | tidemark log - 2>&1 | head -5
  tidemark log: standard input:1:262145: the line is longer than 256 KiB: only its beginning was looked at
  tidemark log: standard input:3:262145: the line is longer than 256 KiB: only its beginning was looked at
  Log            standard input: 4 lines, 4.10 GiB
                 debug log of a program that prints its circular buffers or kernels; 2 records about memory
                 2 lines too long: only the beginning was looked at

A hundred files, with a low limit on open files.

  $ for i in $(seq 100); do echo "Worker L1 size $i is larger than max size 5" > many$i.log; done
  $ (ulimit -Sn 70; tidemark log --json many*.log) | grep -e failure_count -e '"failures": 0'
      "failure_count": 100,

A file that cannot be read does not keep the others from being read.

  $ tidemark log -e missing.log early.log .
  tidemark log: cannot read missing.log: No such file or directory
  tidemark log: cannot read .: Is a directory
  Log            early.log: 2 lines, 625 B, 07:36:20.265 to 07:36:20.269
                 stock log of the runtime; 2 records about memory
  
  Errors: 2 (repeated lines count once)
          time  line  lines  what
  07:36:20.265     1      1  out of memory: 1 TiB of dram, 85.33 GiB in each of 12 banks of 1022.91
                             MiB; free 1022.83 MiB, in one piece 1022.83 MiB; it would not fit an
                             empty bank
  07:36:20.269     2      1  out of memory: 256 MiB of l1, 3642 KiB in each of 72 banks of 1.30 MiB;
                             free 1.21 MiB, in one piece 1.21 MiB; it would not fit an empty bank
  [2]
  $ tidemark log -e /proc/self/mem late.log
  tidemark log: /proc/self/mem:1: cannot read on: Input/output error
  Log            [1] /proc/self/mem: 0 lines, 0 B
                 could not be read; 0 records about memory
  Log            [2] late.log: 1 line, 205 B, 07:36:20.274 to 07:36:20.274
                 stock log of the runtime; 1 record about memory
  
  Errors: 1 (repeated lines count once)
          time  line  lines  what
  07:36:20.274     1      1  [2] static buffers beyond the end of L1: circular buffers on cores 0-0 to
                             1-1 end at 1948864, L1 ends at 1499136
  [2]
  $ tidemark log --json /proc/self/mem late.log 2>/dev/null | grep '"complete"'
          "complete": false,
          "complete": true,
  $ tidemark log missing.log
  tidemark log: cannot read missing.log: No such file or directory
  [2]
  $ : > empty.log
  $ tidemark log empty.log
  Log            empty.log: 0 lines, 0 B
                 empty; 0 records about memory
  
  Errors: 0

Wrong usage.

  $ tidemark log --compare demo.log
  tidemark log: --compare takes two files, the old and the new
  tidemark log: see 'tidemark log --help'
  [2]
  $ tidemark log -f
  tidemark log: --follow takes one file
  tidemark log: see 'tidemark log --help'
  [2]
  $ tidemark log -f -c a b
  tidemark log: --follow and --compare cannot be combined
  tidemark log: see 'tidemark log --help'
  [2]
  $ tidemark log --limit 0 demo.log
  tidemark log: --limit '0': expected a number of rows, 1 or more
  tidemark log: see 'tidemark log --help'
  [2]

Records as they come, from standard input to its end.

  $ tidemark log -f - < debug.log
  07:37:02.307        43  geometry      L1 of 1464 KiB, buffers from 105664, L1_SMALL 0 B
  07:37:02.307        44  geometry      L1, for buffers 1.33 MiB
  07:37:02.390        67  geometry      L1 of 1464 KiB, buffers from 105664, L1_SMALL 32 KiB
  07:37:02.390        68  geometry      L1, for buffers 1.30 MiB
  07:37:02.391        74  geometry      L1 of 1464 KiB, buffers from 105664, L1_SMALL 32 KiB
  07:37:02.391        75  geometry      L1, for buffers 1.30 MiB
  07:37:02.392        81  alloc         dram 64 MiB on device 0, process 27310
  07:37:02.393        85  alloc         l1 2 MiB on device 0, process 27310
  07:37:02.394        89  free          dram 64 MiB on device 0, process 27310
  07:37:02.394        90  failure       out of memory: 1 TiB of dram, 85.33 GiB in each of 12 banks of 1022.91 MiB; free 1022.91 MiB, in one piece 1022.91 MiB; it would not fit an empty bank
  07:37:02.400        92  free          l1 2 MiB on device 0, process 27310
  $ tidemark log -f -e --json - < demo.log | /usr/bin/python3 -c '
  > import json, sys
  > print([json.loads(line)["failure"]["what"] for line in sys.stdin])'
  ['out_of_memory', 'out_of_memory', 'beyond_l1']

A file that is named twice counts once; one that is no text, or one endless line, is not called empty.

  $ tidemark log -e early.log ./early.log
  tidemark log: ./early.log is named twice; it is read once
  Log            early.log: 2 lines, 625 B, 07:36:20.265 to 07:36:20.269
                 stock log of the runtime; 2 records about memory
  
  Errors: 2 (repeated lines count once)
          time  line  lines  what
  07:36:20.265     1      1  out of memory: 1 TiB of dram, 85.33 GiB in each of 12 banks of 1022.91
                             MiB; free 1022.83 MiB, in one piece 1022.83 MiB; it would not fit an
                             empty bank
  07:36:20.269     2      1  out of memory: 256 MiB of l1, 3642 KiB in each of 72 banks of 1.30 MiB;
                             free 1.21 MiB, in one piece 1.21 MiB; it would not fit an empty bank
  $ printf 'a\000b\n' > binary && tidemark log binary
  Log            binary: 1 line, 4 B
                 binary data, no log; 0 records about memory
  
  Errors: 0
  $ head -c 600000 /dev/zero > zeros && tidemark log zeros
  tidemark log: zeros:1:262145: the line is longer than 256 KiB: only its beginning was looked at
  Log            zeros: 1 line, 585.94 KiB
                 binary data, no log; 0 records about memory
                 1 line too long: only the beginning was looked at
  
  Errors: 0

A line about amounts that cannot be used costs one warning with its position; the others count.

  $ L='SHM record_allocation: pid=1, type=L1, size='; E=' B (4 KB), chip_id=0, device_id=0, asic_id=0x1'
  $ printf '%s\n' "${L}-4096$E" "${L}4096$E" "${L}99999999999999999999$E" '[PID 5] Freed buffer 7 on device 0 (5 bytes, FINAL)' > amounts.log
  $ tidemark log amounts.log
  tidemark log: amounts.log:1: a line about shared memory that cannot be used: 'SHM record_allocation: pid=1, type=L1, size=-4096 B (4 KB), chip_id=0, device_id=0, asic_id=0x1'
  tidemark log: amounts.log:3: a line about shared memory that cannot be used: 'SHM record_allocation: pid=1, type=L1, size=99999999999999999999 B (4 KB), chip_id=0, device_id=0, asic_id=0x1'
  Log            amounts.log: 4 lines, 354 B
                 log of an allocation server; 2 records about memory
                 2 lines about amounts that cannot be used: left out
  
  Errors: 0
  
  Buffers (sizes asked for)
  process  device  kind     allocs  frees     peak  at line   at end  unmatched
  1             0  l1            1      0  4.00KiB        2  4.00KiB          0
  5             0  unknown       0      1      0 B        -      0 B          1
  
  Timeline (no times in the log: by line, from 2, 1 line a column)
  memory          |█ █| at most 1
  l1              |███| at most 4 KiB
  $ tidemark log --json amounts.log 2>/dev/null | grep -c '"refused_lines": 2'
  1

UTF-16 is read as if it were UTF-8.

  $ tidemark log --json demo.log | sed '/"time"/d; /"name"/d' > plain
  $ for code in UTF-16 UTF-16LE UTF-16BE; do
  >   iconv -f UTF-8 -t $code demo.log > wide.log; tidemark log --json wide.log | sed '/"time"/d; /"name"/d' | cmp - plain
  > done

Tables are bounded. What is not shown is counted: rows that are there, and records about those that found no place.

  $ for i in $(seq 4100); do echo "kernel k$i started"; echo "kernel k$i finished in 5 us"; done > kernels.log
  $ tidemark log --limit 2 kernels.log | sed -n '/^Kernels/,/^$/p'
  Kernels  started  ended  in all  longest  code
  k1             1      1    5 us     5 us     -
  k2             1      1    5 us     5 us     -
    and 4,094 more
  ... and 8 records about others: the table is full
  
  $ tidemark log --json --limit 2 kernels.log | sed -n '/"row_counts"/,/"dropped_records"/p'
      "row_counts": {
        "circular_buffers": 0,
        "kernels": 4096,
        "program_sizes": 0,
        "operations": 0,
        "buffers": 0,
        "memory_states": 0,
        "remaining": 0,
        "stacks": 0
      },
      "dropped_records": 8,
