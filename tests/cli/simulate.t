Replaying a trace. A small region: everything that the summary says.

  $ cat > small.trace <<'.'
  > # Two holes that a marker keeps apart.
  > region base=4096 size=4096 align=32 min=32 policy=first
  > alloc weights 1000 bottom
  > alloc scratch 1500 bottom
  > alloc marker 1 bottom
  > free scratch
  > alloc too_long 2048 bottom
  > stats
  > .
  $ tidemark simulate --trace small.trace
  Trace          small.trace: 6 requests, 2 buffers live at the end
  Region         4096 .. 8192, sizes in steps of 32 B, policy first
  Verdict        does not fit: 1 of 4 allocations failed
    error    line 7: too_long, 2,048 B: fragmented: it needs 2,048 B in one piece; 3,040 B are free, the largest block is 1,536 B
             hole at     size  buffer below     buffer above
                6656  1.50KiB  marker (32 B)    end of region
                5120  1.47KiB  weights (1 KiB)  marker (32 B)
             -> allocate marker (32 B) at another time, or free it first: without it the largest block would be 3,072 B
  
  Per bank  banks     size     peak   peak   at end  largest  tightest  worst
                                     share              free      free  frag.
  region        1  4.00KiB  2.50KiB    62%  1.03KiB  1.50KiB   1.50KiB    49%
  
  region
    Peak           2,560 B per bank at line 5, 3 buffers
    Tightest       at line 5: the largest free block has 1,536 B
    Fragmented     at most 49.5% at line 6
    used            |▄██▄▄▄|
    fragmentation   |   ▄▄▄|
  
    Largest holes at the end
    hole at     size  buffer below     buffer above
       6656  1.50KiB  marker (32 B)    end of region
       5120  1.47KiB  weights (1 KiB)  marker (32 B)

The same as result lines, with the short options, as an argument, and from standard input.

  $ tidemark simulate --trace small.trace --results
  weights 4096
  scratch 5120
  marker 6624
  too_long none
  stats total=4096 allocated=1056 free=3040 largest=1536
  $ tidemark simulate -r -t small.trace | md5sum > one
  $ tidemark simulate -r small.trace | md5sum > two
  $ tidemark simulate -r - < small.trace | md5sum > three
  $ cat small.trace | tidemark simulate -r -- - | md5sum > four
  $ cmp one two && cmp two three && cmp three four
  $ tidemark simulate --trace small.trace --results --policy best
  weights 4096
  scratch 5120
  marker 6624
  too_long none
  stats total=4096 allocated=1056 free=3040 largest=1536

Every line with a result of the real allocator.

  $ for trace in "$DATADIR"/allocator/*.trace "$DATADIR"/device/*.trace; do
  >   tidemark simulate --results --trace "$trace" | cmp - "${trace%.trace}.expected" || echo "$trace"
  > done

Pictures without characters outside ASCII.

  $ tidemark simulate small.trace --ascii | grep '|'
    used            |=##===|
    fragmentation   |   ===|
  $ LC_ALL=C tidemark simulate small.trace | LC_ALL=C grep -c '[^ -~]'
  0
  [1]

JSON: one object in the common envelope.

  $ tidemark simulate --trace small.trace --json > small.json
  $ /usr/bin/python3 - small.json <<'.'
  > import json, sys
  > top = json.load(open(sys.argv[1]))
  > print(list(top))
  > print(top["schema"], top["version"])
  > s = top["simulate"]
  > print(list(s))
  > print(s["trace"], s["card"], s["policy"], s["requests"], s["skipped_lines"], s["live_buffers"], s["fits"])
  > [space] = s["spaces"]
  > print(list(space))
  > [f] = s["findings"]
  > print(list(f), list(f["figures"]), list(f["evidence"]))
  > print(f["about"]["name"], f["what"], f["evidence"]["line"], f["figures"]["needed_per_bank"], f["figures"]["largest_free"])
  > print(f["evidence"]["largest_holes"][0])
  > print(f["advice"][0]["change"])
  > print(space["peak"], space["tightest"])
  > assert len(space["over_time"]) == s["requests"]
  > assert space["at_end"]["allocated"] + space["at_end"]["free"] == space["at_end"]["total"] == 4096
  > .
  ['schema', 'version', 'time', 'host', 'simulate']
  tidemark.simulate 1
  ['trace', 'format', 'requests', 'live_buffers', 'policy', 'position', 'source', 'card', 'skipped_lines', 'complete', 'fits', 'findings', 'spaces']
  small.trace None first 6 0 2 False
  ['kind', 'banks', 'base', 'allocations', 'frees', 'failures', 'peak', 'tightest', 'worst_fragmentation', 'over_time', 'at_end']
  ['what', 'severity', 'verdict', 'text', 'about', 'figures', 'evidence', 'advice'] ['size', 'cores', 'bytes_per_bank', 'needed_per_bank', 'total', 'allocated', 'free', 'largest_free', 'fragmentation'] ['line', 'request', 'largest_holes']
  too_long fragmented 7 2048 1536
  {'address': 6656, 'bytes': 1536, 'below': {'name': 'marker', 'bytes': 32}, 'above': {'name': None, 'bytes': None}}
  {'largest_free': 3072}
  {'bytes_per_bank': 2560, 'request': 3, 'line': 5, 'buffers': 3, 'device_bytes': None} {'largest_free': 1536, 'request': 3, 'line': 5}
  $ tidemark simulate --json --trace "$DATADIR/demo.trace" | /usr/bin/python3 -c '
  > import json, sys
  > s = json.load(sys.stdin)["simulate"]
  > print(s["card"], s["fits"], [x["kind"] for x in s["spaces"]])
  > [f] = s["findings"]
  > print(f["about"]["kind"], f["about"]["name"], f["what"], f["figures"]["cores"], f["evidence"]["runtime_message"][:57])'
  n150 False ['dram', 'l1', 'l1_small', 'trace']
  l1 gate fragmented 64 Out of Memory: Not enough space to allocate 58720256 B L1

The demo: a mask of 2 KiB splits a MiB. Where it is made first, everything fits.

  $ tidemark simulate --trace "$DATADIR/demo.trace" | sed -n '2,12p'
  Device         Wormhole n150, one chip, 64 L1 banks, 12 DRAM banks, policy first
  Verdict        does not fit: 1 of 30 allocations failed
    error    line 63: gate, 58,720,256 B of l1 sharded over 64 cores: fragmented: it needs 917,504 B in one piece; 1,096,512 B are free, the largest block is 720,896 B
             the runtime says Out of Memory: Not enough space to allocate 58720256 B L1 buffer across 64 banks, where each bank needs to store 917504 B, but bank size is 1360704 B (allocated: 264192 B, free: 1096512 B, largest free block: 720896 B)
             hole at       size  buffer below   buffer above
              483328  704.00KiB  mask (2 KiB)   attention (128 KiB)
              105664  366.81KiB  end of region  mask (2 KiB)
             -> allocate mask (2 KiB) at another time, or free it first: without it the largest block would be 1,098,560 B
  
  Per bank  banks        size       peak   peak     at end    largest   tightest  worst
                                          share                  free       free  frag.
  $ awk '/^buffer mask/ { next } { print } /^buffer hidden/ && ++n == 2 { print "buffer mask l1 size=131072 page=2048 cores=64" }' "$DATADIR/demo.trace" > moved.trace
  $ tidemark simulate moved.trace | sed -n '3p'
  Verdict        fits: 30 allocations, none failed

Other cards, other figures.

  $ cat > device.trace <<'.'
  > device n150 l1_banks=72 l1_small=32768
  > buffer a dram size=100000 page=2000
  > buffer b l1 size=131072 page=2048
  > buffer c l1_small size=2048 page=32 cores=64
  > stats
  > .
  $ tidemark simulate -r device.trace
  a 1048640 10080
  b 1464320 2048
  c 1499104 32
  stats dram total=1072693184 allocated=10080 free=1072683104 largest=1072683104
  stats l1 total=1360704 allocated=2048 free=1358656 largest=1358656
  stats l1_small total=32768 allocated=32 free=32736 largest=32736
  stats trace total=0 allocated=0 free=0 largest=0
  $ tidemark simulate -r device.trace --card p150
  a 1048704 14336
  b 1538048 2048
  c 1572800 32
  stats dram total=4277141376 allocated=14336 free=4277127040 largest=4277127040
  stats l1 total=1428480 allocated=2048 free=1426432 largest=1426432
  stats l1_small total=32768 allocated=64 free=32704 largest=32704
  stats trace total=0 allocated=0 free=0 largest=0
  $ tidemark simulate -r device.trace --set l1_small=64K --set l1_banks=64 | head -3
  a 1048640 10080
  b 1431552 2048
  c 1499104 32
  $ printf 'l1_small = 64K\n' > my.card
  $ tidemark simulate -r device.trace --card-file my.card | head -3
  a 1048640 10080
  b 1431552 2048
  c 1499104 32
  $ tidemark simulate device.trace --card p15
  device.trace: unknown card 'p15'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  [2]
  $ tidemark simulate device.trace --set l1_smal=64K
  device.trace: --set l1_smal=64K: unknown card field 'l1_smal': did you mean l1_small?
  [2]
  $ printf 'l1_small = 64K\nl1_smal = 3\n' > my.card
  $ tidemark simulate device.trace --card-file my.card
  my.card:2:1: unknown card field 'l1_smal': did you mean l1_small?
  [2]
  $ tidemark simulate device.trace --card-file missing.card
  missing.card: cannot be read: No such file or directory
  [2]
  $ printf 'card = p150\nl1_small = 64K\n' > p150.card
  $ tidemark simulate device.trace --card n150 --card-file p150.card
  p150.card: describes card 'p150', but 'n150' was asked for
  [2]
  $ tidemark simulate -r device.trace --card p150 --card-file p150.card | head -3
  a 1048704 14336
  b 1505280 2048
  c 1572800 32
  $ tidemark simulate small.trace --card p150
  small.trace: this is a trace of one region: another card or changed figures do not apply
  [2]

Graph captures: what was asked for, on the device that the capture describes. Here it is a mock device with all cores of an n150, and every
buffer gets the address that it had.

  $ cp "$DATADIR/graph/mock_normal.json" capture.json
  $ cat > report.py <<'.'
  > import json, sys
  > device = {"device_id": 0, "arch": "wormhole_b0", "num_x_compute_cores": 8, "num_y_compute_cores": 9, "worker_l1_size": 1499136, "l1_num_banks": 72,
  >           "l1_bank_size": 1360704, "address_at_first_l1_cb_buffer": 105664, "num_dram_channels": 12, "dram_size_per_channel": 1073741824}
  > json.dump({"devices": [device], "graph": json.load(open("capture.json")), "version": 1}, open("report.json", "w"))
  > for n in json.load(open("capture.json")):
  >     if n["node_type"] == "buffer_allocate": print(n["params"]["address"], n["params"]["max_size_per_bank"])
  > .
  $ python3 report.py > recorded; tidemark simulate --results report.json | cut -d ' ' -f 2- | diff - recorded
  $ tidemark simulate report.json | head -6
  Requests       report.json (graph capture): 7 requests, 1 buffer live at the end
  Left out       5 circular buffers and the like
  Device         Wormhole Galaxy, one chip, 72 L1 banks, 12 DRAM banks, policy first
  Verdict        fits: 4 allocations, none failed
  
  Per bank  banks        size      peak   peak    at end     largest    tightest  worst
  $ tidemark simulate --json report.json | python3 -c '
  > import json, sys
  > s = json.load(sys.stdin)["simulate"]
  > print({k: v for k, v in s.items() if k != "spaces"})'
  {'trace': 'report.json', 'format': 'graph capture', 'requests': 7, 'live_buffers': 1, 'policy': 'first', 'position': 'byte', 'source': 'model', 'card': 'wh-galaxy', 'skipped_lines': 0, 'complete': True, 'device': 0, 'left_out': {'program_memory': 5, 'other_kinds': 0, 'other_devices': 0, 'unknown_frees': 0, 'errors': 0}, 'assumed_pages': 0, 'fits': True, 'findings': []}

On another card the bytes of a bank are computed anew. A capture without a report around it does not say what it ran on.

  $ tidemark simulate capture.json
  capture.json: it does not say which card it is from: name one with --card (tidemark device list shows them)
  [2]
  $ tidemark simulate --results capture.json --card p150
  ttnn::add 1552384 20480
  ttnn::add 1048704 8388608
  ttnn::matmul 1486848 65536
  ttnn::matmul 9437312 131072
  $ sed 's/"page_size": 2048/"page_size": 2047/' capture.json > odd.json; tidemark simulate odd.json --card n150
  odd.json: byte 697: the size 2097152 is not a multiple of the page size 2047
  [2]
  $ tidemark simulate --results - --card n150 --set l1_banks=72 --set l1_small=32K < capture.json | cut -d ' ' -f 2- | diff - recorded

Several devices: one at a time.

  $ tidemark simulate "$DATADIR/graph/g23-d2.json" --card n150 | sed -n '2,3p;5p'
  Left out       39 circular buffers and the like, 82 requests on other devices
                 this is device 1; --device 0 replays another one
  Verdict        fits: 28 allocations, none failed
  $ tidemark simulate "$DATADIR/graph/g23-d2.json" --card n150 -d 0 | sed -n '2,3p;5p'
  Left out       39 circular buffers and the like, 52 requests on other devices
                 this is device 0; --device 1 replays another one
  Verdict        fits: 47 allocations, none failed
  $ tidemark simulate "$DATADIR/graph/g23-d2.json" --card n150 --device 7 2>&1 | sed "s|$DATADIR/||"
  tidemark simulate: graph/g23-d2.json has no requests on device 7, but it has some on device 1
  $ tidemark simulate capture.json --device x
  tidemark simulate: --device 'x': expected a device number
  tidemark simulate: see 'tidemark simulate --help'
  [2]

Logs of an allocation server and of the runtime: only sizes are known. Circular buffers are not the allocator's; what was allocated before
the log began is not known to it.

  $ tidemark simulate "$DATADIR/logs/server.log" 2>&1 | sed "s|$DATADIR/||"
  logs/server.log: it does not say which card it is from: name one with --card (tidemark device list shows them)
  $ tidemark simulate "$DATADIR/logs/server.log" --card n150 | sed "s|$DATADIR/||" | sed -n 1,6p
  Requests       logs/server.log (log): 2 requests, 0 buffers live at the end
  Left out       1 circular buffer or the like, 1 request on another device, 1 release of a buffer that was not seen
                 this is device 0; --device 1 replays another one
  Assumed        1 buffer of known size only: interleaved over all banks, in pages of a tile
  Device         Wormhole n150, one chip, 64 L1 banks, 12 DRAM banks, policy first
  Verdict        fits: 1 allocation, none failed
  $ printf 'card = n150\n' > n150.card
  $ tidemark simulate "$DATADIR/logs/server.log" --card-file n150.card | sed "s|$DATADIR/||" | sed -n 1,2p
  Requests       logs/server.log (log): 2 requests, 0 buffers live at the end
  Left out       1 circular buffer or the like, 1 request on another device, 1 release of a buffer that was not seen
  $ tidemark simulate -k "$DATADIR/logs/server.log" --card-file missing.card
  missing.card: cannot be read: No such file or directory
  [2]
  $ tidemark simulate "$DATADIR/logs/server.log" --card-file my.card
  my.card:1:1: expected 'card = NAME' first: no card was given
  [2]
  $ tidemark simulate --results --device 1 --card n150 - < "$DATADIR/logs/server.log"
  0x40000000 1048640 2048
  $ tidemark simulate "$DATADIR/logs/debug.log" --card n150 | sed -n '2,5p;11p'
  Left out       1 out-of-memory error that it recorded
  Assumed        2 buffers of known size only: interleaved over all banks, in pages of a tile
  Device         Wormhole n150, one chip, 64 L1 banks, 12 DRAM banks, policy first
  Verdict        fits: 2 allocations, none failed
  l1_small     64    32.00KiB       0 B     0%     0 B    32.00KiB    32.00KiB     0%
  $ cat > tight.log <<'.'
  > [PID 7] Allocated 60000000 bytes of L1 on device 0 (buffer_id=4096)
  > [PID 8] Allocated 60000000 bytes of L1 on device 0 (buffer_id=4096)
  >    Removed 1 buffers (57.22 MB) from PID 7
  > [PID 8] Allocated 20000000 bytes of L1 on device 0 (buffer_id=8192)
  > .
  $ tidemark simulate tight.log --card n150 | sed -n '3,7p'
  Device         Wormhole n150, one chip, 64 L1 banks, 12 DRAM banks, policy first
  Verdict        does not fit: 1 of 3 allocations failed
    error    line 2: 0x1000, 60,000,000 B of l1 over 64 banks: exhausted: it needs 937,504 B in one piece, and only 455,968 B are free
             the runtime says Out of Memory: Not enough space to allocate 60000000 B L1 buffer across 64 banks, where each bank needs to store 937504 B, but bank size is 1393472 B (allocated: 937504 B, free: 455968 B, largest free block: 455968 B)
             hole at       size  buffer below   buffer above

The inspector's log of mesh buffers has what one device holds of each.

  $ printf -- '- mesh_buffer_allocated:\n    id: 1\n    address: 64\n    size: 8192\n    device_local_size: 4096\n    buffer_type: DRAM\n    timestamp_ns: 5\n' > mesh.yaml
  $ tidemark simulate --results mesh.yaml --card n150
   1048640 2048

What has no requests is named.

  $ tidemark simulate "$DATADIR/reports/mock_l1_usage_summary.csv" 2>&1 | sed "s|$DATADIR/||"
  tidemark simulate: reports/mock_l1_usage_summary.csv is a memory report, which has no requests to replay
  $ echo 'some text' > text; tidemark simulate text
  tidemark simulate: text has nothing to replay: no allocations in it, though it looks like a log
  [2]

Bad lines: file, line, column and what was expected; nothing is printed behind them.

  $ try() { printf "$@" > bad.trace; tidemark simulate -r bad.trace; }
  $ try 'region size=4096\nalloc a 100 bottom\nalloc b 1OO bottom\nstats\n'
  bad.trace:3:9: expected a size in bytes, got '1OO'
  a 0
  [2]
  $ try 'region size=4096\nallocate a 100 bottom\n'
  bad.trace:2:1: expected 'alloc', 'place', 'free', 'stats', 'shrink' or 'reset', got 'allocate'
  [2]
  $ try 'region size=4096\nalloc a 100\n'
  bad.trace:2:12: expected 'bottom' or 'top', but the line ends here
  [2]
  $ try 'region size=4096\nalloc a 100 bottom up\n'
  bad.trace:2:20: expected the end of the line, got 'up'
  [2]
  $ try 'region size=4096\nalloc a 18446744073709551616 bottom\n'
  bad.trace:2:9: expected a size in bytes: this number does not fit 64 bits
  [2]
  $ try 'region size=4096 align=32\nalloc a 18446744073709551615 bottom\n'
  bad.trace:2:7: expected a size that still fits 64 bits when it is rounded up
  [2]
  $ try 'region base=1 size=18446744073709551615\n'
  bad.trace:1:1: expected a region that ends below 2^64: base + size does not fit
  [2]
  $ try 'region size=4096\nfree a\n'
  bad.trace:2:6: expected the name of a live buffer (this one was never allocated, or is freed already), got 'a'
  [2]
  $ try 'region size=4096\nalloc a 1 top\nfree a\nfree a\n'
  bad.trace:4:6: expected the name of a live buffer (this one was never allocated, or is freed already), got 'a'
  a 4095
  [2]
  $ try 'region size=4096\nalloc a 1 top\nalloc a 2 top\n'
  bad.trace:3:7: expected a new name: 'a' is still allocated
  a 4095
  [2]
  $ try 'region size=4096\nregion size=4096\n'
  bad.trace:2:1: expected only one 'region' or 'device' line in a trace, got 'region'
  [2]
  $ try 'region size=4K\n'
  bad.trace:1:13: expected a whole number that fits 64 bits, got '4K'
  [2]
  $ try 'alloc a 1 top\n'
  bad.trace:1:1: expected a 'region' or 'device' line first, got 'alloc'
  [2]
  $ try 'device n15\nbuffer a l1 size=32\n'
  bad.trace:1:8: unknown card 'n15'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  [2]
  $ try 'device n150 l1_bank=64\n'
  bad.trace:1:13: unknown card field 'l1_bank': did you mean l1_banks?
  [2]
  $ try 'device n150\nbuffer a sram size=32\n'
  bad.trace:2:10: expected dram, l1, l1_small or trace, got 'sram'
  [2]
  $ try 'device n150\nbuffer a l1 size=100 page=32\n'
  bad.trace:2:8: the size 100 is not a multiple of the page size 32
  [2]
  $ try 'device n150\nbuffer a l1 size=18446744073709551615\n'
  bad.trace:2:8: a buffer of 18446744073709551615 bytes in pages of 18446744073709551615 is too large
  [2]
  $ try 'device n150 l1_small=32768\nbuffer a l1_small size=64\n'
  bad.trace:2:8: expected cores=N: the runtime refuses interleaved L1_SMALL buffers
  [2]
  $ try 'device n150\nbuffer a l1 size=65 page=1 cores=65\n'
  bad.trace:2:8: Expected number of shards 65 to be less than or equal to total number of L1 banks 64 in compute cores
  [2]
  $ try 'region size=4096\nalloc \033[2J 1 up\nfree \033[2J\n'
  bad.trace:2:14: expected 'bottom' or 'top', got 'up'
  [2]

  $ printf 'region size=4096\nstat\n' | tidemark simulate -
  standard input:2:1: expected 'alloc', 'place', 'free', 'stats', 'shrink' or 'reset', got 'stat'
  [2]

With --keep-going they are named, counted and skipped.

  $ cat > bad.trace <<'.'
  > region size=4096 align=32
  > alloc a 100 bottom
  > alloc b x bottom
  > free c
  > alloc d 18446744073709551615 bottom
  > alloc a 100 bottom
  > alloc e 100 bottom
  > .
  $ tidemark simulate -r --keep-going bad.trace
  bad.trace:3:9: expected a size in bytes, got 'x'
  bad.trace:4:6: expected the name of a live buffer (this one was never allocated, or is freed already), got 'c'
  bad.trace:5:7: expected a size that still fits 64 bits when it is rounded up
  bad.trace:6:7: expected a new name: 'a' is still allocated
  a 0
  e 128
  tidemark simulate: lines refused and skipped: 4
  $ tidemark simulate -k bad.trace 2> errors | sed -n '1,4p'
  Trace          bad.trace: 4 requests, 2 buffers live at the end
  Skipped        4 lines could not be used; the first ones are named above
  Region         0 .. 4096, sizes in steps of 32 B, policy first
  Verdict        fits: 2 allocations, none failed
  $ wc -l < errors
  4
  $ tidemark simulate -k --json bad.trace 2> errors | grep skipped
      "skipped_lines": 4,
  $ { echo region size=4096; for i in $(seq 30); do echo nonsense; done; echo stats; } > bad.trace
  $ tidemark simulate -r -k bad.trace 2>&1 | sed -n '1p;20,$p'
  bad.trace:2:1: expected 'alloc', 'place', 'free', 'stats', 'shrink' or 'reset', got 'nonsense'
  bad.trace:21:1: expected 'alloc', 'place', 'free', 'stats', 'shrink' or 'reset', got 'nonsense'
  bad.trace: 10 more lines that cannot be used
  stats total=4096 allocated=0 free=4096 largest=4096
  tidemark simulate: lines refused and skipped: 30

Without a card there is nothing to go on with.

  $ printf 'device n15\nstats\n' > bad.trace
  $ tidemark simulate -k bad.trace
  bad.trace:1:8: unknown card 'n15'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  [2]

Files that are no traces.

  $ tidemark simulate --trace missing.trace
  tidemark simulate: cannot read missing.trace: No such file or directory
  [2]
  $ tidemark simulate --trace .
  tidemark simulate: cannot read .: Is a directory
  [2]
  $ tidemark simulate -k --trace .
  tidemark simulate: cannot read .: Is a directory
  [2]
  $ : > empty.trace
  $ tidemark simulate --trace empty.trace
  tidemark simulate: empty.trace describes no memory: it has no 'region' or 'device' line that could be used
  [2]
  $ tidemark simulate --results --trace empty.trace
  tidemark simulate: empty.trace describes no memory: it has no 'region' or 'device' line that could be used
  [2]
  $ tidemark simulate --trace /dev/null --json 2> errors | grep fits
      "fits": null,
  $ /usr/bin/python3 -c 'import sys; sys.stdout.buffer.write(bytes(i * 7 % 256 for i in range(4096)))' > junk.trace
  $ tidemark simulate --trace junk.trace
  junk.trace:1:1: expected a 'region' or 'device' line first, got '?????#*18?FMT[bipw~???????????????????'
  [2]
  $ tidemark simulate --keep-going --trace junk.trace 2> errors
  [2]
  $ LC_ALL=C grep -c '[^ -~]' errors
  0
  [1]
  $ /usr/bin/python3 -c 'print("region size=64\n#" + "x" * 3000000 + "\nstats")' > long.trace
  $ tidemark simulate -r long.trace
  long.trace:2:1048577: expected a line of at most 1 MiB
  [2]
  $ tidemark simulate -r -k long.trace
  long.trace:2:1048577: expected a line of at most 1 MiB
  stats total=64 allocated=0 free=64 largest=64
  tidemark simulate: lines refused and skipped: 1

Output that cannot be written is an error.

  $ tidemark simulate small.trace > /dev/full
  tidemark simulate: cannot write to standard output: No space left on device
  [2]
  $ tidemark simulate --results small.trace > /dev/full
  tidemark simulate: cannot write to standard output: No space left on device
  [2]
  $ tidemark simulate --json small.trace > /dev/full
  tidemark simulate: cannot write to standard output: No space left on device
  [2]

Wrong usage.

  $ tidemark simulate
  tidemark simulate: which trace? --trace FILE, or - for standard input
  tidemark simulate: see 'tidemark simulate --help'
  [2]
  $ tidemark simulate a.trace b.trace
  tidemark simulate: only one trace at a time: 'a.trace' or 'b.trace'
  tidemark simulate: see 'tidemark simulate --help'
  [2]
  $ tidemark simulate --json --results small.trace
  tidemark simulate: --results and --json cannot be combined
  tidemark simulate: see 'tidemark simulate --help'
  [2]
  $ tidemark simulate --policy worst small.trace
  tidemark simulate: --policy 'worst': expected first or best
  tidemark simulate: see 'tidemark simulate --help'
  [2]
  $ tidemark simulate --nonsense small.trace
  tidemark simulate: unknown option '--nonsense'
  tidemark simulate: see 'tidemark simulate --help'
  [2]

Where too little is free, the advice is how much more is needed.

  $ cat >full.trace <<.
  > region base=4096 size=4096 align=32 min=32 policy=first
  > alloc first 3072 bottom
  > alloc second 2048 bottom
  > .
  $ tidemark simulate full.trace | sed -n '/error/,/->/p'
    error    line 3: second, 2,048 B: exhausted: it needs 2,048 B in one piece, and only 1,024 B are free
             hole at     size  buffer below   buffer above
                7168  1.00KiB  first (3 KiB)  end of region
             -> free at least 1,024 B more per bank before it
