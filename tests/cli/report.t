One report about everything that is given. Findings come first, the worst first, each with the number of its part.

  $ export COLUMNS=80 NO_COLOR=1 LC_ALL=C.UTF-8 TIDEMARK_DIR=$PWD/shm; mkdir shm
  $ mkdir -p m/sys m/proc m/metal; export TIDEMARK_SYSFS_ROOT=$PWD/m/sys TIDEMARK_PROC_ROOT=$PWD/m/proc TIDEMARK_SHM_DIR=$PWD/m/metal
  $ calm() { # what differs from run to run
  >   sed -E "s|$PWD|.|g; s|$TOOLS/||g; s/^tidemark [0-9.]+, [0-9: -]{19}/tidemark VERSION, TIME/; s/rocess [0-9]+/rocess PID/g; s/ [0-9.]+ (ns|us|ms|s)\b/ TIME/g; s|shm/tidemark-[0-9]+/[0-9.]+|LEDGER|g"
  > }
  $ cp $DATADIR/logs/demo.log $DATADIR/train/tinyllama.log $DATADIR/demo.trace $DATADIR/graph/add_l1.json .
  $ tidemark report demo.log tinyllama.log demo.trace add_l1.json > all.txt
  $ sed '/^──/,$d' all.txt
  Report         5 errors, 0 warnings, 3 notes in 4 parts
  
  Findings
  severity part finding
  error       1 line 31: out of memory: 1 TiB of dram, 85.33 GiB in each of 12
                banks of 1022.91 MiB; free 1022.83 MiB, in one piece 1022.83 MiB;
                it would not fit an empty bank
  error       1 line 33: out of memory: 256 MiB of l1, 3642 KiB in each of 72
                banks of 1.30 MiB; free 1.21 MiB, in one piece 1.21 MiB; it would
                not fit an empty bank
  error       1 line 35: static buffers beyond the end of L1: circular buffers on
                cores 0-0 to 1-1 end at 1948864, L1 ends at 1499136
  error       2 tinyllama (default): does not fit: its peak is 15.30 GiB, and the
                device has 12 GiB
                -> with 1/2 of the batch, or gradient accumulation in 2 steps, the
                peak would be 10.59 GiB
  error       3 line 63: gate, 58,720,256 B of l1 sharded over 64 cores:
                fragmented: it needs 917,504 B in one piece; 1,096,512 B are free,
                the largest block is 720,896 B
                -> allocate mask (2 KiB) at another time, or free it first:
                without it the largest block would be 1,098,560 B
  note        4 l1_peak: differs by -774,144 B: program memory is counted once,
                not for each core that has it
  note        4 2 buffers were there before the capture began
  note        4 2 buffers from before the capture are in L1 without their bytes
                per core: figures for one core do not include them
  
  Parts
  part  command   about          errors  warnings  notes
     1  info      demo.log            3         0      0
     2  info      tinyllama.log       1         0      0
     3  simulate  demo.trace          1         0      0
     4  info      add_l1.json         0         0      3
  
  $ grep ^── all.txt
  ── 1. info demo.log ────────────────────────────────────────────────────────────
  ── 2. info tinyllama.log ───────────────────────────────────────────────────────
  ── 3. simulate demo.trace ──────────────────────────────────────────────────────
  ── 4. info add_l1.json ─────────────────────────────────────────────────────────

A part is exactly what its command prints, if the terminal is wide enough for it.

  $ COLUMNS=300 tidemark report demo.log tinyllama.log demo.trace add_l1.json > wide.txt
  $ part() { sed -n "/^── $1\. /,/^── /p" wide.txt | sed '1,2d; /^──/,$d'; echo ---; }
  $ diff <(part 1) <(COLUMNS=300 tidemark info demo.log; echo; echo ---) && diff <(part 3) <(tidemark simulate demo.trace; echo; echo ---) && echo same
  same

On a narrow terminal sentences wrap, and the columns of a wide table go on below it.

  $ wider() { python3 -c 'import sys; [print(line, end="") for line in sys.stdin if len(line) > int(sys.argv[1]) + 1]' $1; }
  $ COLUMNS=40 tidemark report 16 16 demo.trace | sed -n '/^part/,/^── 1/p; /^Class/,/^$/p'
  part  command   about       errors
     1  pressure  16 16            0
     2  simulate  demo.trace       1
  part  warnings  notes
     1         2      2
     2         0      0
  
  ── 1. pressure 16 16 ───────────────────
  Class          medium: balanced
                 allocation: good
                 performance, some
                 pressure
  L1 of a core   1464 KiB: firmware 34.19
                 KiB, kernels up to 69
                 KiB; 1.33 MiB left for
                 circular buffers
  
  $ mkdir a_folder_with_a_long_name; head -c 1500 $DATADIR/graph/add_l1.json > a_folder_with_a_long_name/capture.json
  $ COLUMNS=80 tidemark report a_folder_with_a_long_name/capture.json 2>&1 | sed -n '/^part/,/^──/p'
  part  command  about                       errors  warnings  notes
     1  info     a_folder_with_a_long_na...       0         0      2  incomplete
  
  ── 1. info a_folder_with_a_long_name/capture.json ──────────────────────────────
  $ COLUMNS=40 tidemark report a_folder_with_a_long_name/capture.json 2>&1 | sed -n '/^part/,/^──/p'
  part  command
     1  info
  part  about                       errors
     1  a_folder_with_a_long_na...       0
  part  warnings  notes
     1         0      2  incomplete
  
  ── 1. info a_folder_with_a_long_name/capture.json 
  $ COLUMNS=40 tidemark report 16 16 --multi | wider 40
  $ tidemark report 16 16 --multi demo.trace demo.log | wider 80

A pattern file is a part of its own; one that is wrong is left out, with the line.

  $ mkdir patterns; printf 'tiles 16\nbuffer 0 pages=4 fixed\nbuffer 1 pages=4\nkernel r read push=0 times=8\nkernel r read push=1 times=8\nkernel w write pop=0,1\n' > patterns/stuck.cb
  $ printf 'tiles 64\nbuffer 0 pages=80 page=16K\nkernel r read push=0\nkernel w write pop=0\n' > patterns/large.cb
  $ printf 'tiles 64\nbufer 0 pages=4\n' > patterns/wrong.cb
  $ tidemark report patterns | sed -n '1,/^── 1/p; /^Not in/,$p'
  tidemark report: not everything could be read: the report says what and why
  Report         1 error, 1 warning, 1 note in 2 parts
  Left out       1, listed at the end with the reason
  
  Findings
  severity part finding
  error       2 given: deadlock: r waits for room in buffer 0, which w pops; w
                waits for pages of buffer 1, which r pushes
  warning     1 given: thrashing risk HIGH: score 94.1 of 100, its circular
                buffers take 94.1% of the usable L1; in the model it reaches
                100.0% of the best throughput
  note        1 advised: 32 KiB of circular buffers reach 100.0% of the best
                throughput in the model
  
  Parts
  part  command   about              errors  warnings  notes
     1  pressure  patterns/large.cb       0         1      1
     2  pressure  patterns/stuck.cb       1         0      0
  
  ── 1. pressure patterns/large.cb ───────────────────────────────────────────────
  Not in this report
  input                          why
  patterns/wrong.cb              patterns/wrong.cb:2:1: a line begins with tiles,
                                 cores, format, name, set, buffer or kernel, not
                                 'bufer': did you mean buffer
  $ diff <(tidemark report patterns/stuck.cb | sed '1,/^── 1/d; /^$/{1d}' | sed 1d) <(tidemark pressure --pattern patterns/stuck.cb) && echo same
  same

In Markdown, as the summary of a CI job; and in JSON.

  $ tidemark report --format markdown demo.trace | head -20
  # Tidemark report
  
  - **Report**: 1 error, 0 warnings, 0 notes in 1 part
  
  ## Findings
  
  | severity | part | finding |
  |---|---:|---|
  | error | 1 | line 63: gate, 58,720,256 B of l1 sharded over 64 cores: fragmented: it needs 917,504 B in one piece; 1,096,512 B are free, the largest block is 720,896 B<br>-&gt; allocate mask (2 KiB) at another time, or free it first: without it the largest block would be 1,098,560 B |
  
  ## Parts
  
  | part | command | about | errors | warnings | notes |  |
  |---:|---|---|---:|---:|---:|---|
  | 1 | simulate | demo.trace | 1 | 0 | 0 |  |
  
  ## 1. simulate demo.trace
  
  - **Trace**: demo.trace: 48 requests, 11 buffers live at the end
  - **Device**: Wormhole n150, one chip, 64 L1 banks, 12 DRAM banks, policy first
  $ tidemark report demo.log demo.trace --json | python3 -c '
  > import json, sys
  > top = json.load(sys.stdin)
  > r = top["report"]
  > print(top["schema"], list(r))
  > f = r["findings"][-1]
  > print([f[k] for k in ("severity", "part", "name", "source", "what")], f["figures"]["largest_free"], f["advice"][0]["change"])
  > for p in r["parts"]:
  >     print(p["part"], p["name"], p["source"], p["errors"], p["complete"], list(p[p["name"]])[:4])'
  tidemark.report ['errors', 'warnings', 'notes', 'findings', 'findings_left_out', 'parts', 'not_reported']
  ['error', 2, 'simulate', 'demo.trace', 'fragmented'] 720896 {'largest_free': 1098560}
  1 info demo.log 3 True ['file', 'format', 'log']
  2 simulate demo.trace 1 True ['trace', 'format', 'requests', 'live_buffers']

Markdown has every figure that text has, in tables where possible; drawings and tables in tables are blocks of text.

  $ tidemark report --format markdown demo.trace | sed -n '/^### dram/,/^### l1$/p'
  ### dram
  
  - **Peak**: 320,766,080 B per bank at line 36, 7 buffers, 3.58 GiB on the device
  - **Tightest**: at line 36: the largest free block has 747,732,800 B
  
  ```text
  used            |▂▂▄▆████████████████████████████████████████████|
  fragmentation   |                                                |
  ```
  
  #### Largest holes at the end
  
  | hole at | size | buffer below | buffer above |
  |---:|---:|---|---|
  | 321136832 | 713.74MiB | tokens (8 KiB) | end of region |
  
  ### l1
  $ cat > figures.py <<'EOF'
  > import re, subprocess, sys
  > def figures(form):
  >     out = subprocess.run(["tidemark", "report", "--format", form, *sys.argv[1:]], capture_output=True, text=True).stdout
  >     return set(re.findall(r"\d[\d,.]*\d|\d", out.replace("\\", "")))
  > text, markdown = figures("text"), figures("markdown")
  > print(len(text) > 20, sorted(text - markdown))
  > EOF
  $ for inputs in "16 16 --multi" "demo.trace all.txt" "$DATADIR/graph" "$DATADIR/ttnn $DATADIR/scan" "$DATADIR/logs" "$DATADIR/reports $DATADIR/train"; do
  >   eval "python3 figures.py $inputs"
  > done
  True []
  True []
  True []
  True []
  True []
  True []

The name of the output decides its form, unless --format does.

  $ tidemark report demo.trace -o out.md && head -1 out.md; tidemark report demo.trace -o out.json && head -2 out.json
  # Tidemark report
  {
    "schema": "tidemark.report",
  $ tidemark report demo.trace --format text -o out.md && head -1 out.md; tidemark report demo.trace -o - | head -1
  Report         1 error, 0 warnings, 0 notes in 1 part
  Report         1 error, 0 warnings, 0 notes in 1 part
  $ tidemark report demo.trace -o missing/out.md
  tidemark report: cannot write 'missing/out.md': No such file or directory
  [2]
  $ tidemark report --json --format markdown demo.trace
  tidemark report: --json and --format of another form cannot be combined
  tidemark report: see 'tidemark report --help'
  [2]

A workload, in tiles, and workloads of several sizes.

  $ top() { sed -E '/^──/,$d; s/in the model it reaches [0-9.]+%/in the model it reaches N%/; s/[0-9.]+ KiB of circular buffers reach [0-9.]+%/N KiB of circular buffers reach N%/'; }
  $ COLUMNS=200 tidemark report 16 16 demo.trace | top
  Report         1 error, 2 warnings, 2 notes in 2 parts
  
  Findings
  severity part finding
  error       2 line 63: gate, 58,720,256 B of l1 sharded over 64 cores: fragmented: it needs 917,504 B in one piece; 1,096,512 B are free, the largest block is 720,896 B
                -> allocate mask (2 KiB) at another time, or free it first: without it the largest block would be 1,098,560 B
  warning     1 constant: thrashing risk HIGH: score 75.0 of 100, CB1 holds 4 of 16 B tiles; in the model it reaches N% of the best throughput
  warning     1 adaptive_program: thrashing risk HIGH: score 75.0 of 100, CB1 holds 4 of 16 B tiles; in the model it reaches N% of the best throughput
  note        1 adaptive_guide: thrashing risk MEDIUM: score 62.5 of 100, CB1 holds 6 of 16 B tiles; in the model it reaches N% of the best throughput
  note        1 advised: N KiB of circular buffers reach N% of the best throughput in the model
  
  Parts
  part  command   about       errors  warnings  notes
     1  pressure  16 16            0         2      2
     2  simulate  demo.trace       1         0      0
  
  $ COLUMNS=200 tidemark report --multi --card p150 | top
  Report         0 errors, 3 warnings, 0 notes in 1 part
  
  Findings
  severity part finding
  warning     1 constant: thrashing risk HIGH from 16 B tiles on: score 75.0 of 100, CB1 holds 4 of 16 B tiles; in the model it reaches N% of the best throughput
  warning     1 adaptive_guide: thrashing risk HIGH from 20 B tiles on: score 90.0 of 100, CB1 holds 2 of 20 B tiles; in the model it reaches N% of the best throughput
  warning     1 adaptive_program: thrashing risk HIGH from 16 B tiles on: score 75.0 of 100, CB1 holds 4 of 16 B tiles; in the model it reaches N% of the best throughput
  
  Parts
  part  command   about    errors  warnings  notes
     1  pressure  --multi       0         3      0
  
  $ workload() { sed '1,/^── 1/d' | sed 1d; }
  $ diff <(tidemark report 16 8 | workload) <(tidemark pressure 16 8) && diff <(tidemark report --multi | workload) <(tidemark pressure --multi) && echo same
  same
  $ tidemark report 4 4 --multi --json | python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)["report"]
  > print([(p["name"], p["source"]) for p in r["parts"]], r["parts"][0]["pressure"]["b_tiles"], len(r["parts"][1]["pressure"]["sizes"]))'
  [('pressure', '4 4'), ('pressure', '--multi')] 4 6
  $ tidemark report 16
  tidemark report: a workload is two numbers of tiles, A and B, as in 'tidemark report 16 16'
  tidemark report: see 'tidemark report --help'
  [2]
  $ tidemark report 16 16 16
  tidemark report: '16': a workload is two numbers of tiles, A and B, from 1 to 1000000; a file of that name is ./16
  tidemark report: see 'tidemark report --help'
  [2]
  $ tidemark report 0 99999999999999999999
  tidemark report: '0': a workload is two numbers of tiles, A and B, from 1 to 1000000; a file of that name is ./0
  tidemark report: see 'tidemark report --help'
  [2]
  $ cp demo.trace 16; tidemark report ./16 | grep -E "^ +[0-9] "
     1  simulate  ./16        1         0      0
  $ tidemark report 16 16 --card n151
  tidemark report: --card: unknown card 'n151'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  tidemark report: see 'tidemark report --help'
  [2]

Sources, all together. A folder may have sources and other files.

  $ mkdir -p src/deep; cat > src/deep/big.cpp <<END
  > void create(Program& program, const CoreRange& cores)
  > {
  >     CircularBufferConfig config(4096 * 400, {{0, tt::DataFormat::Float32}});
  >     config.set_page_size(0, 4096);
  >     CreateCircularBuffer(program, cores, config);
  > }
  > END
  $ sed 's/400/4/; s/create/small/' src/deep/big.cpp > one.cpp; cp demo.trace src; touch src/README
  $ COLUMNS=120 tidemark report src one.cpp | sed -n '1,/^──/p; /^Not in/,$p'
  Report         2 errors, 0 warnings, 0 notes in 2 parts
  Left out       1, listed at the end with the reason
  
  Findings
  severity part finding
  error       1 line 63: gate, 58,720,256 B of l1 sharded over 64 cores: fragmented: it needs 917,504 B in one piece;
                1,096,512 B are free, the largest block is 720,896 B
                -> allocate mask (2 KiB) at another time, or free it first: without it the largest block would be
                1,098,560 B
  error       2 src/deep/big.cpp:1: create: its buffers take 1600 KiB of L1, 117.6% of the 1.33 MiB that a core has for
                buffers: they do not fit
  
  Parts
  part  command   about               errors  warnings  notes
     1  simulate  src/demo.trace           1         0      0
     2  scan      2 paths of sources       1         0      0
  
  ── 1. simulate src/demo.trace ──────────────────────────────────────────────────────────────────────────────────────────
  Not in this report
  input                          why
  src                            1 file in it is of another kind, or a link
  $ diff <(COLUMNS=300 tidemark report one.cpp | sed '1,/^── 1/d' | sed 1d) <(tidemark scan one.cpp) && echo same
  same
  $ tidemark report src --card p150 --fail --json | python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)["report"]
  > f = r["findings"]
  > print([(x["severity"], x["name"], x["what"]) for x in f], [p["source"] for p in r["parts"]], f[1]["evidence"]["file"])
  > print([(b["file"], b["line"], b["total_bytes"]) for b in r["parts"][1]["scan"]["buffers"]], r["not_reported"])'
  [('error', 'simulate', 'fragmented'), ('error', 'scan', 'does_not_fit')] ['src/demo.trace', 'src'] src/deep/big.cpp
  [('src/deep/big.cpp', 5, 1638400)] [{'source': 'src', 'reason': '1 file in it is of another kind, or a link', 'failure': False}]
  $ tidemark report gone.cpp one.cpp | grep -A 9 "^Not in"
  tidemark report: not everything could be read: the report says what and why
  Not in this report
  input                          why
  gone.cpp                       cannot be read: No such file or directory

Exit codes: errors and warnings only count if the user says so.

  $ tidemark report demo.trace > /dev/null
  $ tidemark report demo.trace --fail > /dev/null
  [1]
  $ tidemark report add_l1.json --fail-warning > /dev/null
  $ grep -v "Available Device" tinyllama.log > assumed.log
  $ tidemark report assumed.log | grep -A 3 ^severity
  severity part finding
  warning     1 tinyllama (default): does not fit: its peak is 15.30 GiB, and the
                device has 12 GiB, as was assumed
                -> with 1/2 of the batch, or gradient accumulation in 2 steps, the
  $ tidemark report assumed.log --fail > /dev/null; echo $?; tidemark report assumed.log --fail-warning > /dev/null; echo $?
  0
  1

This machine, if nothing is named; with a program that has ended without freeing.

  $ COLUMNS=200 tidemark report | calm | sed 's/──*$/──/; /^── 3/q'
  Report         0 errors, 1 warning, 0 notes in 3 parts
  
  Findings
  severity part finding
  warning     3 the driver is not loaded
                -> load it, or install it first (tt-kmd); on a machine without a card this is normal: files, traces and the device model need none
                $ sudo modprobe tenstorrent
  
  Parts
  part  command  about         errors  warnings  notes
     1  status   this machine       0         0      0
     2  leaks    this machine       0         0      0
     3  doctor   this machine       0         1      0
  
  ── 1. status this machine ──
  
  tidemark VERSION, TIME: 0 devices, 0 processes
  
  No card and no tracked process is visible: try 'tidemark demo', which needs no card, and see 'tidemark doctor', which says what was looked for.
  
  ── 2. leaks this machine ──
  
  no ledgers in ./shm: no tracked program runs, and none has left buffers behind
  (a program is tracked when it uses libtidemark and TIDEMARK=1 is set; 'tidemark run -- CMD' does that)
  
  ── 3. doctor this machine ──
  $ TIDEMARK=1 $TOOLS/tracked faults; tidemark report --fail 2>&1 | calm | sed '/^── 2/,$d'
  Report         2 errors, 1 warning, 0 notes in 3 parts
  
  Findings
  severity part finding
  error       2 activations: 1 buffer of 12.50 KiB was never freed: the program
                ended by itself (l1, device 0, process PID tracked)
  error       2 trace: 1 buffer of 1000 B was never freed: the program ended by
                itself (trace, device 0, process PID tracked)
  warning     3 the driver is not loaded
                -> load it, or install it first (tt-kmd); on a machine without a
                card this is normal: files, traces and the device model need none
                $ sudo modprobe tenstorrent
  
  Parts
  part  command  about         errors  warnings  notes
     1  status   this machine       0         0      0
     2  leaks    this machine       2         0      0
     3  doctor   this machine       0         1      0
  
  ── 1. status this machine ──────────────────────────────────────────────────────
  
  tidemark VERSION, TIME: 0 devices, 0 processes
  
  No card and no tracked process is visible: try 'tidemark demo', which needs no
    card, and see 'tidemark doctor', which says what was looked for.
  
  $ tidemark report --fail > /dev/null; echo $?
  1

A ledger; the machine is reported as well only if it is asked for.

  $ cp shm/*/* twin; tidemark report twin | sed '/^──/,$d' | calm
  Report         2 errors, 0 warnings, 0 notes in 3 parts
  
  Findings
  severity part finding
  error       3 activations: 1 buffer of 12.50 KiB was never freed: the program
                ended by itself (l1, device 0, process PID tracked)
  error       3 trace: 1 buffer of 1000 B was never freed: the program ended by
                itself (trace, device 0, process PID tracked)
  
  Parts
  part  command  about  errors  warnings  notes
     1  dump     twin        0         0      0
     2  phases   twin        0         0      0
     3  leaks    twin        2         0      0
  
  $ tidemark report --machine --dir shm demo.trace | calm | grep -E "^(part|   [0-9] )"
  part  command   about         errors  warnings  notes
     1  simulate  demo.trace         1         0      0
     2  status    this machine       0         0      0
     3  leaks     this machine       2         0      0
     4  doctor    this machine       0         1      0
  $ tidemark report twin shm --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["report"]; print([p["name"] for p in r["parts"]], [g["reason"] for g in r["not_reported"]])'
  ['dump', 'phases', 'leaks'] []

Nothing that could be watched does not pass.

  $ rm -r shm/*; tidemark report --for 100ms --fail | grep -A 1 Could
  tidemark report: not everything could be read: the report says what and why
  Could not be used
    no tracked program was seen, so nothing can be said about leaks

Watched for a while, a machine also shows what grows.

  $ mkfifo in out; TIDEMARK=1 $TOOLS/leaky lose <in >out & exec 8>in; read ready <out
  $ COLUMNS=300 tidemark report demo.trace --for 3s --fail > watched.txt; echo $?; exec 8>&-; wait
  1
  $ grep -E "^error .*scratch|^watched| +[0-9] +leaks" watched.txt | sed -E 's/scratch.*stayed/scratch ... stayed/; s/(stayed).*/\1/; s/for .*/for TIME/'
  error       3 scratch ... stayed
     3  leaks     this machine       1         0      0
  watched 1 process for TIME

What cannot be reported is named, and the rest is reported: files that are missing, empty, of no known kind, cut, and the same file again.

  $ python3 -c "import random, sys; random.seed(1); sys.stdout.buffer.write(random.randbytes(100000))" > noise; : > empty; mkdir none; ln demo.log again.log; ln -s demo.log link.log; head -c 1500 add_l1.json > cut.json
  $ tidemark report noise missing empty none demo.log again.log link.log cut.json | sed '/^── 1/,/^── 2/d'
  tidemark report: not everything could be read: the report says what and why
  Report         3 errors, 0 warnings, 2 notes in 2 parts
  Left out       6, listed at the end with the reason
  
  Findings
  severity part finding
  error       1 line 31: out of memory: 1 TiB of dram, 85.33 GiB in each of 12
                banks of 1022.91 MiB; free 1022.83 MiB, in one piece 1022.83 MiB;
                it would not fit an empty bank
  error       1 line 33: out of memory: 256 MiB of l1, 3642 KiB in each of 72
                banks of 1.30 MiB; free 1.21 MiB, in one piece 1.21 MiB; it would
                not fit an empty bank
  error       1 line 35: static buffers beyond the end of L1: circular buffers on
                cores 0-0 to 1-1 end at 1948864, L1 ends at 1499136
  note        2 1 buffer was there before the capture began
  note        2 1 buffer from before the capture is in L1 without their bytes per
                core: figures for one core do not include them
  
  Parts
  part  command  about     errors  warnings  notes
     1  info     demo.log       3         0      0
     2  info     cut.json       0         0      2  incomplete
  
  
  Graph capture  cut.json: 4 nodes, 1 call, 1 buffer, 1 device, 1.46 KiB
  Incomplete     the file could not be read to its end; this is what came before
  
  Peaks                   exact  bytes  runtime's own
  DRAM of one device        0 B      0              0  dram_peak
  L1 of one device        6 KiB  6,144          6,144  l1_peak
  L1 of the fullest core    0 B      0              0  core_peak_total
    buffers                 0 B      0              0  core_peak_l1
    circular buffers        0 B      0              0  core_peak_cb
  
    note     1 buffer was there before the capture began
    note     1 buffer from before the capture is in L1 without their bytes per
             core: figures for one core do not include them
  
  Device  chips  DRAM  L1 device  L1 core  L1 buffers  circular  fullest core
       0  0       0 B    6.00KiB      0 B         0 B       0 B
  
  By operation
  peak core  DRAM   L1  buffers  calls  operation
          -   0 B  0 B        0      1  BinaryNgDeviceOperation
  
  Could not be used
    cut.json: byte 1500, after node 4: the file ends too early
  
  Not in this report
  input                          why
  noise                          not a kind of file that is known here (graph
                                 capture, report of ttnn, compiled kernel, memory
                                 report, performance report, inspector's log of
                                 mesh buffers, inspector's list of kernels, core
                                 dump of circular buffers, log)
  missing                        cannot be read: No such file or directory
  empty                          the file is empty
  none                           no file in this folder is of a kind that is known
                                 here
  again.log                      the same file was named before; it is reported
                                 once
  link.log                       the same file was named before; it is reported
                                 once

A folder: every file in it that is known. What is not, is counted.

  $ mkdir folder; cp demo.log noise folder; cp demo.trace folder/a.trace; ln -s . folder/loop
  $ echo nothing to see > folder/build.log
  $ tidemark report folder | grep -E "^(part| +[0-9] )|of another|nothing about"
  part  command   about            errors  warnings  notes
     1  simulate  folder/a.trace        1         0      0
     2  info      folder/demo.log       3         0      0
  folder                         2 files in it are of another kind, or links
  folder/build.log               text that says nothing about memory: no line of
  $ tidemark report folder/build.log > /dev/null
  tidemark report: not everything could be read: the report says what and why
  [2]

Standard input, packed or not, and a pipe; it is read once.

  $ gzip -c demo.log | tidemark report - | grep -E "^ +[0-9] "
     1  info     standard input       3         0      0
  $ tidemark report - - < demo.trace | grep -E "^ +[0-9] |before"
     1  simulate  standard input       1         0      0
  -                              the same file was named before; it is reported
  $ tidemark report <(cat demo.trace) --fail > /dev/null
  [1]
  $ tidemark report demo.log | head -1
  Report         3 errors, 0 warnings, 0 notes in 1 part

A name, like any text of unknown origin, cannot write escape sequences, columns of a table or markup.

  $ name=$(printf 'e|vil\n\033[31m `<b>` @you www.x.org [x](y) \377.log'); cp demo.log "$name"
  $ tidemark report "$name" | grep -aE "^── |^ +[0-9] "
     1  info     e|vil??[31m `<b>` @you ...       3         0      0
  ── 1. info e|vil??[31m `<b>` @you www.x.org [x](y) ?.log ───────────────────────
  $ tidemark report --format markdown "$name" | grep -aE "^\| 1|^## 1"
  | 1 | info | e\|vil??\[31m \`&lt;b&gt;\` @<!-- -->you www\.x.org \[x\](y) ?.log | 3 | 0 | 0 |  |
  ## 1. info e\|vil??\[31m \`&lt;b&gt;\` @<!-- -->you www\.x.org \[x\](y) ?.log
  $ tidemark report --ascii "$name" | grep -c '[^ -~]'
  0
  [1]

Usage.

  $ tidemark report --format html demo.log
  tidemark report: --format 'html': expected text, json or markdown
  tidemark report: see 'tidemark report --help'
  [2]
  $ tidemark report --fial demo.log
  tidemark report: unknown option '--fial'; did you mean '--fail'?
  tidemark report: see 'tidemark report --help'
  [2]

A form that there is not.

  $ tidemark report 16 16 -o report.html
  tidemark report: --output report.html: a report is text (.txt), JSON (.json) or Markdown (.md): name the file so, or say which with --format
  tidemark report: see 'tidemark report --help'
  [2]
  $ tidemark report 16 16 -o report.html --format text && head -1 report.html
  Report         0 errors, 2 warnings, 2 notes in 1 part
  $ tidemark report 16 16 -o v1.2/report; tidemark report 16 16 -o plain && head -1 plain
  tidemark report: cannot write 'v1.2/report': No such file or directory
  Report         0 errors, 2 warnings, 2 notes in 1 part
