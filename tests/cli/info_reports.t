What the runtime's reports say. The three files of its memory reporter, of one dump; a summary takes the banks from the
file beside it.

  $ cp $DATADIR/reports/mock_*.csv .
  $ tidemark info mock_memory_usage_summary.csv mock_l1_usage_summary.csv mock_detailed_memory_usage.csv
  Memory report  mock_memory_usage_summary.csv: figures of one bank, 1 state
  Banks          from mock_detailed_memory_usage.csv
  
  Per bank
  kind      banks        size  allocated        free     largest  used  frag.
  dram         12  1022.91MiB    5.33MiB  1017.58MiB  1017.58MiB  0.5%   0.0%
  l1           64     1.30MiB   32.00KiB     1.27MiB     1.27MiB  2.4%   0.0%
  l1_small     64    32.00KiB        0 B    32.00KiB    32.00KiB  0.0%   0.0%
  
  All banks
  kind          size  allocated      free   largest
  dram      11.99GiB   64.01MiB  11.92GiB  11.92GiB
  l1        83.05MiB    2.00MiB  81.05MiB  81.05MiB
  l1_small   2.00MiB        0 B   2.00MiB   2.00MiB
  
  Memory report  mock_l1_usage_summary.csv: room for interleaved L1 buffers, 1 state
  
  Least room in L1  banks  largest free  in all banks
  state 1              64       1.27MiB      81.05MiB
  
  Memory report  mock_detailed_memory_usage.csv: blocks of one bank, 1 state
  
  Per bank
  kind      banks        size  allocated        free     largest  used  frag.
  dram         12  1022.91MiB    5.33MiB  1017.58MiB  1017.58MiB  0.5%   0.0%
  l1           64     1.30MiB   32.00KiB     1.27MiB     1.27MiB  2.4%   0.0%
  l1_small     64    32.00KiB        0 B    32.00KiB    32.00KiB  0.0%   0.0%
  
  All banks
  kind          size  allocated      free   largest
  dram      11.99GiB   64.01MiB  11.92GiB  11.92GiB
  l1        83.05MiB    2.00MiB  81.05MiB  81.05MiB
  l1_small   2.00MiB        0 B   2.00MiB   2.00MiB
  
  Blocks of dram: 1 of 5462 KiB, 1 hole of 1017.58 MiB
    Holes
    address        size
    5593088  1017.58MiB
  
  Blocks of l1: 1 of 32 KiB, 1 hole of 1.27 MiB
    Holes
    address     size
          0  1.27MiB
  
  Blocks of l1_small: 0 of 0 B, 1 hole of 32 KiB
    Holes
    address      size
          0  32.00KiB
  $ mv mock_detailed_memory_usage.csv other.csv
  $ tidemark info mock_memory_usage_summary.csv
  Memory report  mock_memory_usage_summary.csv: figures of one bank, 1 state
  Banks          from mock_l1_usage_summary.csv
  
  Per bank
  kind        banks        size  allocated        free     largest  used  frag.
  dram      unknown  1022.91MiB    5.33MiB  1017.58MiB  1017.58MiB  0.5%   0.0%
  l1             64     1.30MiB   32.00KiB     1.27MiB     1.27MiB  2.4%   0.0%
  l1_small  unknown    32.00KiB        0 B    32.00KiB    32.00KiB  0.0%   0.0%
  
  All banks
  kind      size  allocated      free   largest
  l1    83.05MiB    2.00MiB  81.05MiB  81.05MiB
  $ mv mock_l1_usage_summary.csv l1.csv
  $ tidemark info - < mock_memory_usage_summary.csv
  Memory report  standard input: figures of one bank, 1 state
  
  Per bank
  kind      banks          size  allocated        free     largest  used  frag.
  dram      unknown  1022.91MiB    5.33MiB  1017.58MiB  1017.58MiB  0.5%   0.0%
  l1        unknown     1.30MiB   32.00KiB     1.27MiB     1.27MiB  2.4%   0.0%
  l1_small  unknown    32.00KiB        0 B    32.00KiB    32.00KiB  0.0%   0.0%
  $ tidemark info --json other.csv | grep -v '"time"\|"host"' | head -60
  {
    "schema": "tidemark.info",
    "version": 1,
    "info": [
      {
        "file": "other.csv",
        "format": "memory_report",
        "source": "memory_report",
        "complete": true,
        "refused": 0,
        "form": "detailed",
        "rounded": false,
        "banks_from": null,
        "fullest": [
          {
            "kind": "dram",
            "state": 0
          },
          {
            "kind": "l1",
            "state": 0
          },
          {
            "kind": "l1_small",
            "state": 0
          }
        ],
        "states": [
          {
            "program": null,
            "line": 1,
            "regions": [
              {
                "kind": "dram",
                "banks": 12,
                "bank_bytes": 1072603072,
                "bank_allocated_bytes": 5593088,
                "bank_free_bytes": 1067009984,
                "bank_largest_free_bytes": 1067009984,
                "bytes": 12871236864,
                "allocated_bytes": 67117056,
                "free_bytes": 12804119808,
                "interleaved_free_bytes": 12804119808,
                "fragmentation": 0,
                "blocks": 1,
                "holes": 1,
                "overlaps": 0,
                "walls": [],
                "largest_holes": [
                  {
                    "address": 5593088,
                    "bytes": 1067009984
                  }
                ]
              },
              {
                "kind": "l1",
                "banks": 64,
                "bank_bytes": 1360704,
                "bank_allocated_bytes": 32768,

By program, with lines that cannot be used: each costs one warning, and the order of the kinds holds.

  $ cat > program_memory_usage_summary.csv <<'.'
  > Program ID, Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free Block (B)
  > 1,1070773184,20480,1070752704,1070752704
  > ,1393472,4096,1389376,1389376
  > ,0,0,0,0
  > 2,1070773184,-5,1070752704,1070752704
  > ,1393472,1000000,393472,200000
  > ,0,0,0,0
  > three,1,1,1,1
  > 4,1070773184,40960,1070732224,99999999999999999999999
  > ,1393472,8192
  > .
  $ tidemark info program_memory_usage_summary.csv
  program_memory_usage_summary.csv:5: expected a number of bytes: '-5'
  program_memory_usage_summary.csv:8: expected the id of a program or nothing: 'three'
  program_memory_usage_summary.csv:9: a number that is too large: '99999999999999999999999'
  program_memory_usage_summary.csv:10: expected 4 figures, found 2
  Memory report  program_memory_usage_summary.csv: figures of one bank, 4 programs
  
  Fullest, per bank
  kind      banks          size  allocated        free     largest   used  frag.  when
  dram      unknown  1021.17MiB   20.00KiB  1021.15MiB  1021.15MiB   0.0%   0.0%  program 1
  l1        unknown     1.33MiB  976.56KiB   384.25KiB   195.31KiB  71.8%  49.2%  program 2
  l1_small  unknown         0 B        0 B         0 B         0 B      -   0.0%  program 1
  
  Fullest L1      DRAM     largest         L1    largest  frag. of one bank
  program 2    unknown     unknown  976.56KiB  195.31KiB              49.2%
  program 1   20.00KiB  1021.15MiB    4.00KiB    1.33MiB               0.0%
  program 4    unknown     unknown    unknown    unknown                  -
  state 3      unknown     unknown    unknown    unknown                  -
  [2]
  $ tidemark info --limit 1 program_memory_usage_summary.csv 2> /dev/null | tail -4
  
  Fullest L1     DRAM  largest         L1    largest  frag. of one bank
  program 2   unknown  unknown  976.56KiB  195.31KiB              49.2%
    and 3 more
  $ printf 'This report indicates available space for interleaving L1 buffers\r\nProgram ID, Largest Contiguous Free Block (B), Total Free L1 Space (B)\r\n1,1393472,89182208\r\n2,1000,63999\r\n' > program_l1_usage_summary.csv
  $ tidemark info program_l1_usage_summary.csv
  Memory report  program_l1_usage_summary.csv: room for interleaved L1 buffers, 2 programs
  
  Least room in L1    banks  largest free  in all banks
  program 2         unknown        1000 B      62.50KiB
  program 1              64       1.33MiB      85.05MiB

Blocks with holes, and what keeps them apart.

  $ cat > x_detailed_memory_usage.csv <<'.'
  > ,L1
  > ,Total allocatable (B):,640000
  > ,Total allocated (B):,192000
  > ,Total free (B):,448000
  > FreeListOpt allocator info:
  > segregated free blocks by size:
  >   Size class 0: (1024 - 2048) blocks: 
  >   Size class 1: (2048 - inf) blocks: 1 3 
  > Free slots in block table: 7 
  > Block table:
  >        Block      Address         Size       PrevID       NextID    Allocated 
  >            0            0         1000         none            1          yes
  >            1         1000         4000            0            2           no
  >            2         5000         1000            1            3          yes
  >            3         6000         3000            2            4           no
  >            4         9000         1000            3         none          yes
  > .
  $ tidemark info x_detailed_memory_usage.csv
  Memory report  x_detailed_memory_usage.csv: blocks of one bank, 1 state
  
  Per bank
  kind  banks     size  allocated     free  largest   used  frag.
  l1       64  9.77KiB    2.93KiB  6.84KiB  3.91KiB  30.0%  42.9%
  
  All banks
  kind       size  allocated       free    largest
  l1    625.00KiB  187.50KiB  437.50KiB  250.00KiB
  
  Blocks of l1: 3 of 2.93 KiB, 2 holes of 6.84 KiB
    What splits the free space
    address    size  blocks  hole without it
       5000  1000 B       1          7.81KiB
    Holes
    address     size
       1000  3.91KiB
       6000  2.93KiB
  $ tidemark info --json x_detailed_memory_usage.csv | sed -n '/"fragmentation"/,/^            }/p'
                "fragmentation": 0.4285714286,
                "blocks": 3,
                "holes": 2,
                "overlaps": 0,
                "walls": [
                  {
                    "address": 5000,
                    "bytes": 1000,
                    "blocks": 1,
                    "joined_bytes": 8000
                  }
                ],
                "largest_holes": [
                  {
                    "address": 1000,
                    "bytes": 4000
                  },
                  {
                    "address": 6000,
                    "bytes": 3000
                  }
                ]
              }

The older form: every block with its address on the device, sizes in KB, two kinds.

  $ cat > old_detailed_memory_usage.csv <<'.'
  > 7,DRAM
  > ,Total allocatable (KB):,8388608
  > ,Total allocated (KB):,2048
  > ,Total free (KB):,8386560
  > ,,Blocks:,Address (B),Size (B),Allocated (Y/N)
  > ,,,1024,262144,Y
  > ,,,263168,1073479680,N
  > 
  > ,L1
  > ,Total allocatable (KB):,1
  > ,,Blocks:,Address (B),Size (B),Allocated (Y/N)
  > ,,,0,maybe,N
  > ,,,18446744073709551615,2,N
  > ,,,0,1,perhaps
  > surprise
  > .
  $ tidemark info old_detailed_memory_usage.csv
  old_detailed_memory_usage.csv:12: expected a number of bytes: 'maybe'
  old_detailed_memory_usage.csv:13: a number that is too large: '18446744073709551615'
  old_detailed_memory_usage.csv:14: expected yes or no: 'perhaps'
  old_detailed_memory_usage.csv:15: not a line of this report: 'surprise'
  Memory report  old_detailed_memory_usage.csv: blocks of one bank, 1 program
  Rounded        the file has KiB, rounded down: a figure may be 1,023 bytes too low
  
  Per bank
  kind    banks     size  allocated        free     largest  used  frag.
  dram        8  1.00GiB  256.00KiB  1023.75MiB  1023.75MiB  0.0%   0.0%
  l1    unknown  unknown    unknown     unknown     unknown     -      -
  
  All banks
  kind     size  allocated     free  largest
  dram  8.00GiB    2.00MiB  8.00GiB  8.00GiB
  l1    1.00KiB    unknown  unknown  unknown
  
  Blocks of dram: 1 of 256 KiB, 1 hole of 1023.75 MiB
    Holes
    address        size
     263168  1023.75MiB
  [2]
  $ printf ', Total Allocatable Size (KB), Total Allocated (KB), Total Free (KB), Largest Free Block (KB)\n,1000,10,990,500\n' > kb.csv
  $ tidemark info kb.csv
  Memory report  kb.csv: figures of one bank, 1 state
  Rounded        the file has KiB, rounded down: a figure may be 1,023 bytes too low
  
  Per bank
  kind  banks          size  allocated       free    largest  used  frag.
  dram  unknown  1000.00KiB   10.00KiB  990.00KiB  500.00KiB  1.0%  49.5%

A file beside it is named only where it says how many banks there are; a state that lacks rows is named.

  $ printf ', Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free Block (B)\n,640,0,640,640\n,64,0,64,64\n' > x_memory_usage_summary.csv
  $ printf 'This report indicates available space for interleaving L1 buffers\n, Largest Contiguous Free Block (B), Total Free L1 Space (B)\n,32,2048\n' > x_l1_usage_summary.csv
  $ tidemark info x_memory_usage_summary.csv
  x_memory_usage_summary.csv:2: the state that begins here has 2 of 3 kinds of memory: the others are missing
  Memory report  x_memory_usage_summary.csv: figures of one bank, 1 state
  
  Per bank
  kind  banks     size  allocated   free  largest  used  frag.
  dram  unknown  640 B        0 B  640 B    640 B  0.0%   0.0%
  l1    unknown   64 B        0 B   64 B     64 B  0.0%   0.0%
  [2]
  $ sed 's/,32,2048/,64,4096/;1s/^/\xef\xbb\xbf/' x_l1_usage_summary.csv > y_l1_usage_summary.csv; cp x_memory_usage_summary.csv y_memory_usage_summary.csv
  $ tidemark info y_memory_usage_summary.csv 2>/dev/null
  Memory report  y_memory_usage_summary.csv: figures of one bank, 1 state
  Banks          from y_l1_usage_summary.csv
  
  Per bank
  kind    banks   size  allocated   free  largest  used  frag.
  dram  unknown  640 B        0 B  640 B    640 B  0.0%   0.0%
  l1         64   64 B        0 B   64 B     64 B  0.0%   0.0%
  
  All banks
  kind     size  allocated     free  largest
  l1    4.00KiB        0 B  4.00KiB  4.00KiB
  [2]
  $ tidemark info y_l1_usage_summary.csv
  Memory report  y_l1_usage_summary.csv: room for interleaved L1 buffers, 1 state
  
  Least room in L1  banks  largest free  in all banks
  state 1              64          64 B       4.00KiB

Circular buffers of each core, in a log.

  $ cat > dump.log <<'.'
  > 2026-06-04 20:40:34.148 | info     |          Metal | Core (0,0): CB0=1024KB, CB1=512KB (dump.cpp:12)
  > 2026-06-04 20:40:34.149 | info     |          Metal | something else
  > Core (1,0): CB0=64KiB,CB16 = 4096 B
  > Core ( 0 , 1 ):
  > Core (1,1): CB0=1.5MB, CB0=1MB
  > Core (1,1): CB0=-1KB
  > Core (1,1): CB0=20000000000000000000GB
  > Core (2,2): CB3=32K, L1=12K
  > Core (5,3) at address 0x20000
  > .
  $ tidemark info dump.log
  dump.log:5:24: a circular buffer is listed twice: 'CB0=1MB'
  dump.log:6:13: not a size: 'CB0=-1KB'
  dump.log:7:13: a size that is too large: 'CB0=20000000000000000000GB'
  dump.log:8:22: expected CBn=SIZE: 'L1=12K'
  Core dump      dump.log: 3 lines of cores in 1 dump, 2 other lines
  Fullest core   (0,0): 1536 KiB in 2 circular buffers
  Per core       least 0 B, average 534.67 KiB; all cores together 1604 KiB
  
  Buffer  cores      least       most  all cores
  CB0         2   64.00KiB    1.00MiB    1.06MiB
  CB1         1  512.00KiB  512.00KiB  512.00KiB
  CB16        1    4.00KiB    4.00KiB    4.00KiB
  
  Core        all  circular buffers
  (0,0)   1.50MiB  CB0 1 MiB, CB1 512 KiB
  (1,0)  68.00KiB  CB0 64 KiB, CB16 4 KiB
  (0,1)       0 B
  
  Cores, 9 is the fullest, . has no line
    y\x  0  1
      0  9  1
      1  0  .
  [2]
  $ printf 'Core (0,0): CB0=1KB\r\nCore (1,0): CB0=1KB\r\nCore (0,0): CB0=2KB\r\n' | tidemark info -
  Core dump      standard input: 3 lines of cores in 2 dumps
  Fullest core   (0,0): 2 KiB in 1 circular buffer, in dump 2 of 2
  Per core       least 2 KiB, average 2 KiB; all cores together 2 KiB
  
  Buffer  cores    least     most  all cores
  CB0         1  2.00KiB  2.00KiB    2.00KiB
  
  Core       all  circular buffers
  (0,0)  2.00KiB  CB0 2 KiB
  
  Cores, 9 is the fullest, . has no line
    y\x  0
      0  9
  $ printf 'Core (0,0): CB0=1KB\nCore (0,0): CB0=2KB, CB31=3KB\n' | tidemark info --json - | grep -v '"time"\|"host"'
  {
    "schema": "tidemark.info",
    "version": 1,
    "info": [
      {
        "file": "standard input",
        "format": "core_dump",
        "source": "core_dump",
        "complete": true,
        "refused": 0,
        "other_lines": 0,
        "dumps": [
          {
            "line": 1,
            "bytes": 1024,
            "least_bytes": 1024,
            "most_bytes": 1024,
            "cores": [
              {
                "x": 0,
                "y": 0,
                "bytes": 1024,
                "cbs": [
                  {
                    "index": 0,
                    "bytes": 1024
                  }
                ]
              }
            ]
          },
          {
            "line": 2,
            "bytes": 5120,
            "least_bytes": 5120,
            "most_bytes": 5120,
            "cores": [
              {
                "x": 0,
                "y": 0,
                "bytes": 5120,
                "cbs": [
                  {
                    "index": 0,
                    "bytes": 2048
                  },
                  {
                    "index": 31,
                    "bytes": 3072
                  }
                ]
              }
            ]
          }
        ]
      }
    ]
  }

The inspector's log of mesh buffers.

  $ cat > mesh_buffers_log.yaml <<'.'
  > - mesh_buffer_allocated:
  >     id: 94022340
  >     address: 1048640
  >     size: 33554432
  >     device_local_size: 4194304
  >     buffer_type: DRAM
  >     timestamp_ns: 1000000000
  > - mesh_buffer_allocated:
  >     id: 94022341
  >     address: 1400000
  >     size: 65536
  >     device_local_size: 8192
  >     buffer_type: L1
  >     timestamp_ns: 1500000000
  > - mesh_buffer_deallocated:
  >     id: 94022340
  >     address: 1048640
  >     timestamp_ns: 2000000000
  > - mesh_buffer_deallocated:
  >     id: 5
  >     address: 1048640
  >     timestamp_ns: 2000000001
  > - mesh_buffer_allocated:
  >     id: 94022342
  >     address: -1
  >     size: 65536
  > nonsense
  > - mesh_buffer_allocated:
  >     id: 94022343
  >     address: 0
  >     size: 65536
  >     device_local_size: 8192
  >     buffer_type: FLASH
  >     timestamp_ns: 2500000000
  > - mesh_buffer_allocated:
  >     id: 94022344
  > .
  $ tidemark info mesh_buffers_log.yaml
  mesh_buffers_log.yaml:27: not a line of an inspector's record: 'nonsense'
  mesh_buffers_log.yaml:28: not a kind of memory: 'FLASH'
  mesh_buffers_log.yaml:35: no address
  Mesh buffers   mesh_buffers_log.yaml: 1 alive at the end, 1.000 s
  Whole mesh     64 KiB at the end, at most 32.06 MiB
    warning  1 release of buffers that were not alive, 0 second allocations of live ones
  
  One device   at end  buffers     peak  buffers   at s  allocated  released
  dram            0 B        0  4.00MiB        1  0.000          1         1
  l1          8.00KiB        1  8.00KiB        1  0.500          1         0
  
  Alive  one device  whole mesh  address  age s  line
  l1        8.00KiB    64.00KiB  1400000  0.500     8
  [2]
  $ tidemark info --json mesh_buffers_log.yaml 2> /dev/null | sed -n '/"kinds"/,$p' | head -40
        "kinds": [
          {
            "kind": "dram",
            "bytes": 0,
            "buffers": 0,
            "peak_bytes": 4194304,
            "peak_buffers": 1,
            "peak_ns": 1000000000,
            "allocs": 1,
            "frees": 1
          },
          {
            "kind": "l1",
            "bytes": 8192,
            "buffers": 1,
            "peak_bytes": 8192,
            "peak_buffers": 1,
            "peak_ns": 1500000000,
            "allocs": 1,
            "frees": 0
          }
        ],
        "live": [
          {
            "id": 94022341,
            "kind": "l1",
            "device_bytes": 8192,
            "mesh_bytes": 65536,
            "address": 1400000,
            "born_ns": 1500000000,
            "line": 8
          }
        ]
      }
    ]
  }

Compiled kernels: files that a script writes byte by byte, in the folders of the runtime's cache.

  $ cat > elf.py <<'.'
  > import os, struct, sys
  > def elf(path, segments, trims=(), machine=243):
  >     os.makedirs(os.path.dirname(path), exist_ok=True)
  >     names = b"\0.shstrtab\0.segments\0"
  >     at = 52 + 32 * len(segments)
  >     ph, body = b"", b""
  >     for address, filesz, memsz, flags in segments:
  >         ph += struct.pack("<8I", 1, at + len(body), address, address, filesz, memsz, flags, 4)
  >         body += b"x" * ((filesz + 3) // 4 * 4)
  >     trim_at = at + len(body)
  >     trim = b"".join(struct.pack("<3I", *t) for t in trims)
  >     names_at = trim_at + len(trim)
  >     sh_at = (names_at + len(names) + 3) // 4 * 4
  >     sh = struct.pack("<10I", *[0] * 10)
  >     sh += struct.pack("<10I", 1, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
  >     sh += struct.pack("<10I", 11, 1, 0, 0, trim_at, len(trim), 0, 0, 4, 0)
  >     header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, machine, 1, segments[0][0], 52, sh_at, 0, 52, 32, len(segments), 40, 3, 1)
  >     data = header + ph + body + trim + names
  >     open(path, "wb").write(data + b"\0" * (sh_at - len(data)) + sh)
  > k = "cache/123456/kernels/"
  > elf(k + "reader/111/brisc/brisc.elf", [(0x5000, 1001, 1001, 5), (0x7000, 20, 100, 6)])
  > elf(k + "writer/222/ncrisc/ncrisc.elf", [(0x5000, 2000, 2000, 5)], [(0x5000, 0x5010, 4096)])
  > for i in range(3):
  >     elf(k + "compute/333/trisc%d/trisc%d.elf" % (i, i), [(0x6000, 30000 + i, 30000 + i, 5)])
  > elf(k + "bad/444/brisc/brisc.elf", [(0x6000, 16, 16, 5)], machine=62)
  > elf("cache/123456/firmware/brisc/brisc.elf", [(0x3a00, 5000, 5000, 5)])
  > .
  $ python3 elf.py
  $ cp cache/123456/kernels/reader/111/brisc/brisc.elf cache/123456/kernels/reader/111/brisc/brisc.elf.xip.elf
  $ mkdir -p cache/123456/kernels/cut/555/brisc cache/123456/kernels/none/666/erisc
  $ head -c 60 cache/123456/kernels/reader/111/brisc/brisc.elf > cache/123456/kernels/cut/555/brisc/brisc.elf
  $ ln -s ../.. cache/123456/kernels/loop
  $ tidemark info cache 2> warnings
  Kernels        cache: 3 kernels in 5 files, 90.84 KiB; 1 of firmware
  Ring           69 KiB for kernels, arguments and settings of a core (default of Wormhole and Blackhole)
    warning  1 kernel does not fit the kernel-config ring alone
    note     1 link was not followed
  
  Processor  files     bytes   largest  zeroed
  brisc          1   1.00KiB   1.00KiB    80 B
  ncrisc         1   1.94KiB   1.94KiB     0 B
  trisc0         1  29.30KiB  29.30KiB     0 B
  trisc1         1  29.30KiB  29.30KiB     0 B
  trisc2         1  29.30KiB  29.30KiB     0 B
  
  Kernel    in ring  of ring  hash  processors
  compute  87.92KiB   127.4%  333   trisc0, trisc1, trisc2
  writer    1.94KiB     2.8%  222   ncrisc
  reader    1.00KiB     1.4%  111   brisc
  
  Firmware
  Processor  files    bytes  largest  zeroed
  brisc          1  4.88KiB  4.88KiB     0 B
  [2]
  $ sed "s,$PWD/,," warnings
  cache/123456/kernels/bad/444/brisc/brisc.elf: not a RISC-V program, so not a kernel of the runtime
  cache/123456/kernels/cut/555/brisc/brisc.elf: the file is shorter than its headers say
  $ tidemark info cache/123456/kernels/writer/222/ncrisc/ncrisc.elf
  Kernels        cache/123456/kernels/writer/222/ncrisc/ncrisc.elf: 1 kernel in 1 file, 1.94 KiB; 0 of firmware
  Ring           69 KiB for kernels, arguments and settings of a core (default of Wormhole and Blackhole)
  
  Processor  files    bytes  largest  zeroed
  ncrisc         1  1.94KiB  1.94KiB     0 B
  
  Kernel  in ring  of ring  hash  processors
  writer  1.94KiB     2.8%  222   ncrisc
  $ tidemark info cache/123456/kernels/compute/333/
  Kernels        cache/123456/kernels/compute/333/: 1 kernel in 3 files, 87.90 KiB; 0 of firmware
  Ring           69 KiB for kernels, arguments and settings of a core (default of Wormhole and Blackhole)
    warning  1 kernel does not fit the kernel-config ring alone
  
  Processor  files     bytes   largest  zeroed
  trisc0         1  29.30KiB  29.30KiB     0 B
  trisc1         1  29.30KiB  29.30KiB     0 B
  trisc2         1  29.30KiB  29.30KiB     0 B
  
  Kernel    in ring  of ring  hash  processors
  compute  87.92KiB   127.4%  333   trisc0, trisc1, trisc2
  $ tidemark info - < cache/123456/kernels/reader/111/brisc/brisc.elf
  Kernels        standard input: 1 kernel in 1 file, 1 KiB; 0 of firmware
  Ring           69 KiB for kernels, arguments and settings of a core (default of Wormhole and Blackhole)
  
  Processor       files    bytes  largest  zeroed
  standard input      1  1.00KiB  1.00KiB    80 B
  
  Kernel          in ring  of ring  hash  processors
  standard input  1.00KiB     1.4%  -     standard input
  $ tidemark info --json cache/123456/kernels/writer | grep -v '"time"\|"host"' | sed "s,$PWD/,,"
  {
    "schema": "tidemark.info",
    "version": 1,
    "info": [
      {
        "file": "cache/123456/kernels/writer",
        "format": "kernels",
        "source": "kernel_cache",
        "complete": true,
        "refused": 0,
        "links": 0,
        "unvisited": 0,
        "ring_bytes": 70656,
        "findings": [],
        "kernels": [
          {
            "name": "writer",
            "build": "123456",
            "ring_bytes": 1984,
            "ring_share": 0.02807971014,
            "hash": "222",
            "binaries": [
              {
                "target": "ncrisc",
                "path": "cache/123456/kernels/writer/222/ncrisc/ncrisc.elf",
                "packed_bytes": 1984,
                "text_bytes": 1984,
                "zeroed_bytes": 0,
                "segments_over_limit": 0
              }
            ]
          }
        ],
        "firmware": []
      }
    ]
  }
  $ mkdir empty && tidemark info empty
  empty: no file in this folder is of a kind that is known here
  [2]
  $ tidemark info cache/123456/kernels/cut/555/brisc/brisc.elf
  cache/123456/kernels/cut/555/brisc/brisc.elf: the file is shorter than its headers say
  [2]

The inspector's kernels, with the code that their programs need, where the cache is there.

  $ cat > kernels.yaml <<.
  > - kernel:
  >     watcher_kernel_id: 1
  >     name: reader
  >     path: $PWD/cache/123456/kernels/reader/111/
  >     source: ttnn/reader.cpp
  >     program_id: 3
  > - kernel:
  >     watcher_kernel_id: 2
  >     name: compute
  >     path: $PWD/cache/123456/kernels/compute/333/
  >     source: #include "x.h"
  > void kernel_main() {
  >     foo: return;
  > }
  >     program_id: 3
  > - kernel:
  >     watcher_kernel_id: 3
  >     name: writer
  >     path: /nowhere/kernels/writer/1/
  >     source: ttnn/writer.cpp
  >     program_id: 4
  > - kernel:
  >     watcher_kernel_id: three
  >     name: writer
  >     program_id: 4
  > .
  $ tidemark info kernels.yaml
  kernels.yaml:22: watcher_kernel_id: expected a number: 'three'
  Programs       kernels.yaml: 2 programs, 3 kernels
  Ring           69 KiB for kernels, arguments and settings of a core (default of Wormhole and Blackhole)
  
  Program  kernels      code  of ring  compile s
  3              2  88.92KiB   128.9%          -
  4              1   unknown        -          -
  
  Kernel   often   largest
  compute      1  87.92KiB
  reader       1   1.00KiB
  writer       1   unknown
  [2]
  $ cat > programs_log.yaml <<'.'
  > - program_created:
  >     id: 3
  >     timestamp_ns: 10
  > - program_compile_started:
  >     id: 3
  >     timestamp_ns: 11
  > - program_kernel_compile_finished:
  >     id: 3
  >     timestamp_ns: 12
  >     duration_ns: 1
  >     watcher_kernel_id: 9
  >     name: reader
  >     path: /nowhere/
  >     source: ttnn/reader.cpp
  > - program_compile_finished:
  >     id: 3
  >     timestamp_ns: 14
  >     duration_ns: 1500000000
  > - program_destroyed:
  >     id: 3
  >     timestamp_ns: 15
  > - program_created:
  >     id: 3
  >     timestamp_ns: 16
  > .
  $ tidemark info programs_log.yaml
  Programs       programs_log.yaml: 2 programs, 1 kernel
  Ring           69 KiB for kernels, arguments and settings of a core (default of Wormhole and Blackhole)
  
  Program  kernels     code  of ring  compile s
  3              1  unknown  -            1.500  destroyed
  3              0  unknown  -                -
  
  Kernel  often  largest
  reader      1  unknown

What circular buffers cost: quotes, newlines in fields, marks, figures that are none, and rows that are too short.

  $ cat > ops_perf_results.csv <<'.'
  > OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,CORE COUNT,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],DEVICE COMPUTE CB WAIT FRONT [ns],DEVICE COMPUTE CB RESERVE BACK [ns]
  > Matmul,tt_dnn_device,1024,0,"{'a': 1, 'b': ""x""}",64,1200,1000,38425.6,6400
  > Matmul,tt_dnn_device,2048,0,"two
  > lines",64,1200,1000,25600,6400
  > Softmax,tt_dnn_device,3072,1,,32,600,500,0,8016
  > warmup,signpost,,,,,,,,
  > Host,python_fallback,4096,,,,,,,
  > Matmul,tt_dnn_device,5120,0,,64,-3,1e9,,
  > Short,tt_dnn_device
  > Open,tt_dnn_device,"never closed
  > Copy,tt_dnn_device,6144,0,,1,20,10,0,0
  > .
  $ tidemark info ops_perf_results.csv
  ops_perf_results.csv:8: DEVICE FW DURATION [ns]: a negative number: '-3'
  ops_perf_results.csv:8: DEVICE KERNEL DURATION [ns]: not a number: '1e9'
  ops_perf_results.csv:9: 2 fields, but there are 10 columns
  ops_perf_results.csv:10:20: a quote that is never closed
  Performance    ops_perf_results.csv: 6 calls of 4 operations
  Waits          39.8% of the kernels' time for input (front), 18.0% for room (back): averages of a core; the report has the sums of all cores
  
  Operation  calls  measured  kernel ns  front   back  waits for
  Matmul         3         2      2,000  50.0%  10.0%  input
  Softmax        1         1        500   0.0%  50.2%  room
  Copy           1         1         10   0.0%   0.0%  nothing
  Host           1         0    unknown      -      -  unknown
  
  Longest waits  call  device  cores  kernel ns  front ns  back ns
  Matmul         1024       0     64      1,000       600      100
  Matmul         2048       0     64      1,000       400      100
  Softmax        3072       1     32        500         0      251
  [2]
  $ cat > ops_perf_results_plain.csv <<'.'
  > OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,CORE COUNT,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],DEVICE COMPUTE CB WAIT FRONT [ns],DEVICE COMPUTE CB RESERVE BACK [ns]
  > Softmax,tt_dnn_device,1024,0,,64,600,500,,
  > Matmul,tt_dnn_device,2048,0,,64,1200,1000,,
  > .
  $ tidemark info ops_perf_results_plain.csv
  Performance    ops_perf_results_plain.csv: 2 calls of 2 operations
    note     waits are unknown: no call has kernel time and both waits. The profiler measures waits if TT_METAL_PROFILER_SUM=1 is set while the program runs
  
  Operation  calls  measured  kernel ns  front  back  waits for
  Matmul         1         0      1,000  -      -     unknown
  Softmax        1         0        500  -      -     unknown
  $ tidemark info --json --limit 1 ops_perf_results.csv 2> /dev/null | grep -v '"time"\|"host"'
  {
    "schema": "tidemark.info",
    "version": 1,
    "info": [
      {
        "file": "ops_perf_results.csv",
        "format": "ops_perf_results",
        "call_count": 6,
        "operation_count": 4,
        "source": "ops_perf_results",
        "complete": true,
        "refused": 2,
        "front_share": 0.3984063745,
        "back_share": 0.1796812749,
        "not_numbers": 2,
        "missing_columns": [],
        "findings": [],
        "operations": [
          {
            "operation": "Matmul",
            "calls": 3,
            "measured_calls": 2,
            "cores_max": 64,
            "timed_calls": 2,
            "kernel_ns": 2000,
            "measured_kernel_ns": 2000,
            "front_ns": 1000,
            "back_ns": 200,
            "front_share": 0.5,
            "back_share": 0.1,
            "waits_for": "input"
          },
          {
            "operation": "Softmax",
            "calls": 1,
            "measured_calls": 1,
            "cores_max": 32,
            "timed_calls": 1,
            "kernel_ns": 500,
            "measured_kernel_ns": 500,
            "front_ns": 0,
            "back_ns": 251,
            "front_share": 0,
            "back_share": 0.502,
            "waits_for": "room"
          },
          {
            "operation": "Copy",
            "calls": 1,
            "measured_calls": 1,
            "cores_max": 1,
            "timed_calls": 1,
            "kernel_ns": 10,
            "measured_kernel_ns": 10,
            "front_ns": 0,
            "back_ns": 0,
            "front_share": 0,
            "back_share": 0,
            "waits_for": "nothing"
          },
          {
            "operation": "Host",
            "calls": 1,
            "measured_calls": 0,
            "cores_max": null,
            "timed_calls": 0,
            "kernel_ns": null,
            "measured_kernel_ns": null,
            "front_ns": null,
            "back_ns": null,
            "front_share": null,
            "back_share": null,
            "waits_for": null
          }
        ],
        "longest_waits": [
          {
            "operation": "Matmul",
            "line": 2,
            "call": 1024,
            "device": 0,
            "cores": 64,
            "fw_ns": 1200,
            "kernel_ns": 1000,
            "front_ns": 600,
            "back_ns": 100
          }
        ]
      }
    ]
  }
  $ printf 'OP CODE,HOST DURATION [ns]\nAdd,5\n' > few.csv && tidemark info few.csv
  Performance    few.csv: 1 call of 1 operation
    note     there is no column GLOBAL CALL COUNT
    note     there is no column DEVICE ID
    note     there is no column CORE COUNT
    note     there is no column DEVICE FW DURATION [ns]
    note     there is no column DEVICE KERNEL DURATION [ns]
    note     there is no column DEVICE COMPUTE CB WAIT FRONT [ns]
    note     there is no column DEVICE COMPUTE CB RESERVE BACK [ns]
    note     waits are unknown: no call has kernel time and both waits. The profiler measures waits if TT_METAL_PROFILER_SUM=1 is set while the program runs
  
  Operation  calls  measured  kernel ns  front  back  waits for
  Add            1         0    unknown  -      -     unknown

Files that are none of these.

  $ : > nothing && tidemark info nothing
  nothing: the file is empty
  [2]
  $ printf '\001\002\003\000junk' > junk && tidemark info junk
  junk: not a kind of file that is known here (graph capture, report of ttnn, compiled kernel, memory report, performance report, inspector's log of mesh buffers, inspector's list of kernels, core dump of circular buffers, log)
  [2]
  $ tidemark info absent
  absent: cannot be read: No such file or directory
  [2]

Logs are shown as `tidemark log` and `tidemark phases` show them; other text is named.

  $ cp $DATADIR/logs/demo.log $DATADIR/train/tinyllama.log $DATADIR/demo.trace .
  $ tidemark info demo.log
  Log            demo.log: 50 lines, 5.58 KiB, 07:36:20.265 to 07:36:20.274
                 stock log of the runtime; 6 records about memory
  Not in it      circular buffers and ordinary buffers: the runtime prints no line when it allocates them. TT_METAL_SHM_VERBOSE=1 adds the sizes of buffers, debug lines of the program itself add circular buffers.
  
  Errors: 3 (repeated lines count once)
          time  line  lines  what
  07:36:20.265    31      2  out of memory: 1 TiB of dram, 85.33 GiB in each of 12
                             banks of 1022.91 MiB; free 1022.83 MiB, in one piece
                             1022.83 MiB; it would not fit an empty bank
  07:36:20.269    33      2  out of memory: 256 MiB of l1, 3642 KiB in each of 72
                             banks of 1.30 MiB; free 1.21 MiB, in one piece 1.21
                             MiB; it would not fit an empty bank
  07:36:20.274    35      2  static buffers beyond the end of L1: circular buffers
                             on cores 0-0 to 1-1 end at 1948864, L1 ends at
                             1499136
  
  Timeline (from 07:36:20.265, 1 ms a column)
  errors          |█   █    █| at most 1
  $ tidemark info --json demo.log | /usr/bin/python3 -c '
  > import json, sys
  > file = json.load(sys.stdin)["info"][0]
  > print(file["format"], len(file["log"]["failures"]))'
  log 3
  $ tidemark info tinyllama.log | tail -12
    Gradients overhead     458.75         -           -  peak of the backward pass above its start
    Other                   25.10         -           -  peak less expected model and optimizer, activations and overhead
    Peak DRAM           15,666.65         -           -
  
    Does not fit: the peak is 127.50% of the device's 12 GiB (from the log); 3.30 GiB too much
    What would help, if activations shrink in proportion and nothing else grows:
      gradient checkpointing (memory_efficient): fits if at most 64.9% of the activations are kept; with none of them the peak is 5.89 GiB
        measured: 'tinyllama (memory_efficient)' keeps 2.0% and its peak is 8.08 GiB
      smaller batch: with 1/2 of it the peak is 10.59 GiB
      gradient accumulation: the same peak with the whole batch in 2 steps
  
  tidemark phases compares such runs and draws them
  $ tidemark info --json tinyllama.log | /usr/bin/python3 -c '
  > import json, sys
  > print(len(json.load(sys.stdin)["info"][0]["phases"]["inputs"][0]["runs"]))'
  2
  $ tidemark info demo.trace
  demo.trace: a trace of allocations: tidemark simulate replays it
  [2]
  $ echo 'dear diary' > letter && tidemark info letter
  letter: text that says nothing about memory: no line of the runtime's log, no summary of a training run
  [2]
  $ head -c 300000 /dev/zero | tr '\0' x > letter && tidemark info letter 2>&1 | cut -c1-43
  letter:1:262145: the line is longer than 25
  letter: text that says nothing about memory
