Files come in through one door, for every command: packed or not, by name, from standard input, through a pipe.

  $ D=$DATADIR; cp $D/graph/add_l1.json c.json; cp $D/logs/demo.log l.log; cp $D/train/tinyllama.log t.log; cp $D/demo.trace m.trace
  $ cat > pack <<'.'
  > import gzip, lzma, subprocess, sys
  > for name in sys.argv[1:]:
  >     data = open(name, "rb").read()
  >     open(name + ".gz", "wb").write(gzip.compress(data, mtime=0))
  >     open(name + ".xz", "wb").write(lzma.compress(data))
  >     wide = data.decode().encode("utf-16-le")
  >     open(name + ".twice", "wb").write(gzip.compress(lzma.compress(wide), mtime=0))
  > .
  $ python3 pack c.json l.log t.log m.trace

  $ plain() { "$@" | sed "s/\(c.json\|l.log\|t.log\|m.trace\|standard input\)[.a-z]*/FILE/"; }
  $ compare() {
  >   file=$1; shift
  >   plain "$@" $file > expected
  >   for x in gz xz twice; do
  >     plain "$@" $file.$x | diff expected -
  >     plain "$@" - < $file.$x | diff expected -
  >     cat $file.$x | plain "$@" - | diff expected -
  >     mkfifo pipe; cat $file.$x > pipe & plain "$@" pipe | sed 's/pipe/FILE/' | diff expected -
  >     rm pipe
  >   done
  > }
  $ compare c.json tidemark info
  $ compare l.log tidemark info
  $ compare l.log tidemark log
  $ compare t.log tidemark info
  $ compare t.log tidemark phases
  $ compare m.trace tidemark simulate
  $ compare c.json tidemark simulate --results --card n150
  $ plain tidemark phases --capture A=c.json | sed 1d > expected; for x in gz xz twice; do plain tidemark phases --capture A=c.json.$x | sed 1d | diff expected -; done

zstd, of which Python has none: a frame without compression, written by hand.

  $ cat > zst <<'.'
  > import sys
  > data = open(sys.argv[1], "rb").read()
  > out = b"\x28\xb5\x2f\xfd" + b"\x80\x58" + len(data).to_bytes(4, "little")  # 4 bytes of size, a window
  > while data:
  >     piece, data = data[:65536], data[65536:]
  >     out += (len(piece) << 3 | (not data)).to_bytes(3, "little") + piece
  > open(sys.argv[2], "wb").write(out)
  > .
  $ python3 zst l.log l.log.zst && tidemark log l.log.zst | sed 1d | cmp - <(tidemark log l.log | sed 1d)
  $ python3 zst c.json c.json.zst && tidemark info - < c.json.zst | sed 1d | cmp - <(tidemark info c.json | sed 1d)

What is cut or damaged is used as far as it goes, and the error names the file and its byte.

  $ python3 -c '
  > import gzip, sys
  > for name in sys.argv[1:]: open(name + ".gz", "wb").write(gzip.compress(open(name, "rb").read(), 0, mtime=0))' c.json l.log t.log m.trace
  $ head -c 3000 c.json.gz > cut.json.gz; tidemark info cut.json.gz | head -3
  cut.json.gz: cannot read on: the gzip data ends too early, at byte 3000
  Graph capture  cut.json.gz: 10 nodes, 2 calls, 3 buffers, 1 device, 2.92 KiB
  Incomplete     the file could not be read to its end; this is what came before
  
  $ tidemark info --json cut.json.gz 2>/dev/null | grep '"error"\|complete'
        "complete": false,
        "error": "cannot read on: the gzip data ends too early, at byte 3000"
  $ head -c 4000 l.log.gz > cut.log.gz; tidemark log cut.log.gz | head -2
  tidemark log: cut.log.gz:34: cannot read on: the gzip data ends too early, at byte 4000
  Log            cut.log.gz: 33 lines, 3.74 KiB, 07:36:20.265 to 07:36:20.269
                 stock log of the runtime; 3 records about memory
  $ tidemark log cut.log.gz > /dev/null 2>&1
  [2]
  $ head -c 1500 t.log.gz > cut.log.gz; tidemark phases cut.log.gz 2>&1 | grep -v '  '
  cut.log.gz:29:1: the phase is left out: its DRAM figures are incomplete
  cut.log.gz:27:1: the summary has no end: 'Overall DRAM Peak' is missing
  cut.log.gz: cannot read on: the gzip data ends too early, at byte 1500
  tinyllama (memory_efficient) (cut.log.gz:4)
  
  
  
  
  tinyllama (default) (cut.log.gz:27)
  
  $ (cat m.trace.gz; echo rubbish) > rubbish.gz; tidemark simulate rubbish.gz > /dev/null
  rubbish.gz:64: cannot read on: the gzip data is damaged, at byte 2997
  [2]
  $ tidemark simulate --keep-going rubbish.gz 2>&1 | head -3
  rubbish.gz:64: cannot read on: the gzip data is damaged, at byte 2997
  Trace          rubbish.gz: 48 requests, 11 buffers live at the end
  Incomplete     the file could not be read to its end; this is what came before
  $ (cat l.log.xz l.log.xz; head -c 8 /dev/zero) > two.xz; tidemark log two.xz | head -1
  Log            two.xz: 100 lines, 11.16 KiB, 07:36:20.265 to 07:36:20.274
  $ for tail in 1234 12345678 12345678901234567890; do (cat l.log.xz; echo $tail) > rubbish.xz; tidemark log rubbish.xz > /dev/null; done
  tidemark log: rubbish.xz:51: cannot read on: the xz data is damaged, at byte 1560
  tidemark log: rubbish.xz:51: cannot read on: the xz data is damaged, at byte 1560
  tidemark log: rubbish.xz:51: cannot read on: the xz data is damaged, at byte 1560
  [2]
  $ head -c 900 m.trace.gz > cut.trace.gz
  $ for k in '' -k; do tidemark simulate $k cut.trace.gz > text; echo $?; grep 'Trace\|Incomplete\|Skipped\|Verdict' text; done
  cut.trace.gz:16: cannot read on: the gzip data ends too early, at byte 900
  2
  Trace          cut.trace.gz: 7 requests, 7 buffers live at the end
  Incomplete     the file could not be read to its end; this is what came before
  Verdict        fits as far as the file could be read: 7 allocations, none failed
  cut.trace.gz:16: cannot read on: the gzip data ends too early, at byte 900
  2
  Trace          cut.trace.gz: 7 requests, 7 buffers live at the end
  Incomplete     the file could not be read to its end; this is what came before
  Verdict        fits as far as the file could be read: 7 allocations, none failed
  $ tidemark simulate --json cut.trace.gz 2>/dev/null | grep '"complete"\|skipped\|"fits"'
      "skipped_lines": 0,
      "complete": false,
      "fits": null,
  $ tidemark simulate --json m.trace.gz | grep '"complete"\|"fits"'
      "complete": true,
      "fits": false,
  $ tidemark simulate -r cut.trace.gz | wc -l
  cut.trace.gz:16: cannot read on: the gzip data ends too early, at byte 900
  7
  $ head -c 3000 c.json.gz > cut.json.gz; tidemark simulate -k --card n150 cut.json.gz | head -2
  cut.json.gz: cannot read on: the gzip data ends too early, at byte 3000
  Requests       cut.json.gz (graph capture): 3 requests, 3 buffers live at the end
  Incomplete     the file could not be read to its end; this is what came before
  $ head -c 3000 c.json > cut.json; tidemark simulate --card n150 cut.json | head -2
  cut.json: byte 3000, after node 10: the file ends too early
  Requests       cut.json (graph capture): 3 requests, 3 buffers live at the end
  Incomplete     the file could not be read to its end; this is what came before
  $ gzip -c $D/logs/server.log | head -c 300 > cut.log.gz; tidemark simulate --card n150 cut.log.gz | head -2
  cut.log.gz:10: cannot read on: the gzip data ends too early, at byte 300
  Requests       cut.log.gz (log): 2 requests, 0 buffers live at the end
  Incomplete     the file could not be read to its end; this is what came before

A file is unpacked up to four times.

  $ cp m.trace deep; for i in 1 2 3 4 5; do cp deep deep.$i; gzip -c deep.$i > deep; done
  $ tidemark simulate deep.5 | head -1
  Trace          deep.5: 48 requests, 11 buffers live at the end
  $ for command in info log simulate; do tidemark $command deep; done
  deep: cannot be read: it is packed too many times
  tidemark log: deep:1: cannot read on: it is packed too many times
  Log            deep: 0 lines, 0 B
                 could not be read; 0 records about memory
  
  Errors: 0
  deep:1: cannot read on: it is packed too many times
  [2]

Without a line end for ever: an error. input_endless.t has the other commands.

  $ tidemark info /dev/zero 2>&1 | cut -c 1-48
  /dev/zero: not a kind of file that is known here
  $ noise() { /usr/bin/python3 -c 'import random, sys
  > piece = random.Random(1).randbytes(1 << 20)
  > while True: sys.stdout.buffer.write(piece)' 2>/dev/null; }
  $ noise | tidemark log - 2>&1 > /dev/null
  tidemark log: standard input:*: cannot read on: not text: 256 MiB, or 4 GiB of zeros, without a line of text (glob)
  [2]

Only a plain log can be followed.

  $ tidemark log --follow l.log.gz
  tidemark log: l.log.gz is packed with gzip: only a plain log can be followed
  [2]
  $ tidemark log --follow - < l.log.xz
  tidemark log: standard input is packed with xz: only a plain log can be followed
  [2]
  $ iconv -f UTF-8 -t UTF-16 l.log | tidemark log --follow -e - | cmp - <(tidemark log --follow -e - < l.log)

A folder: every report in it, also those in other folders, in the order of names. Links are not followed, so there are no loops, and what is
no report is passed over.

  $ mkdir -p reports/b reports/a; cp $D/reports/*.csv reports; gzip -n reports/mock_detailed_memory_usage.csv; cp c.json reports/b/; cp l.log reports/a/run.log
  $ echo 'any text' > reports/a/README; ln -s .. reports/b/loop; ln -s self reports/self; mkfifo reports/pipe; cp m.trace reports; : > reports/empty
  $ tidemark info reports 2>&1 | grep '^[A-Z][a-z ]* *reports/'
  Log            reports/a/run.log: 50 lines, 5.58 KiB, 07:36:20.265 to 07:36:20.274
  Graph capture  reports/b/c.json: 21 nodes, 3 calls, 3 buffers, 1 device, 5.70 KiB
  Memory report  reports/mock_detailed_memory_usage.csv.gz: blocks of one bank, 1 state
  Memory report  reports/mock_l1_usage_summary.csv: room for interleaved L1 buffers, 1 state
  Memory report  reports/mock_memory_usage_summary.csv: figures of one bank, 1 state
  Banks          from reports/mock_l1_usage_summary.csv
  Performance    reports/ops_perf_results_sum.csv: 8 calls of 3 operations
  $ tidemark info --json reports 2>/dev/null | python3 -c '
  > import json, sys
  > for f in json.load(sys.stdin)["info"]: print(f["file"], f["format"])'
  reports/a/run.log log
  reports/b/c.json graph_capture
  reports/mock_detailed_memory_usage.csv.gz memory_report
  reports/mock_l1_usage_summary.csv memory_report
  reports/mock_memory_usage_summary.csv memory_report
  reports/ops_perf_results_sum.csv ops_perf_results

A pipe that cannot be copied to search it is an error, not a shorter log.

  $ (echo 'Memory Report: nothing'; seq 60000; echo 'TT_FATAL: Out of Memory') >long.log
  $ (trap '' XFSZ; ulimit -f 128; cat long.log | tidemark info -)
  standard input: cannot be read from its beginning again: File too large
  [2]

Names of files and buffers may have any bytes; messages and results are printable.

  $ tidemark info $'no\e[31m\377é'
  no?[31m?é: cannot be read: No such file or directory
  [2]
  $ tidemark simulate $'no\e[31m'
  tidemark simulate: cannot read no?[31m: No such file or directory
  [2]
  $ tidemark $'no\e[31m'
  tidemark: unknown command 'no?[31m'; 'tidemark --help' lists the commands
  [2]
  $ printf 'region size=1024 align=32\nalloc a\0\033b 32 bottom\nalloc c 2048 bottom\n' > odd.trace; tidemark simulate -r odd.trace; tidemark simulate odd.trace | tail -1
  a??b 0
  c none
         32  992 B  a??b (32 B)   end of region
  $ cp odd.trace $'odd\e.trace'; tidemark simulate $'odd\e.trace' | head -1
  Trace          odd?.trace: 2 requests, 1 buffer live at the end
