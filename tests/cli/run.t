Running a program with tracking on. The program is tests/integration/tracked.c.

  $ export TIDEMARK_DIR=$PWD/shm TIDEMARK_SHM_DIR=$PWD/metal; mkdir shm metal
  $ calm() { # what differs from run to run
  >   sed -E "s|$PWD|.|; s|$TOOLS/||; s/Process [0-9]+/Process PID/; s/user [0-9]+/user UID/; s/[0-9.]+ [num]?s ago/TIME ago/" |
  >   sed -E 's/after [0-9.]+ [num]?s/after TIME/; s/ {2,}[0-9.]+ [num]?s {2,}[0-9]+ /  AGE  THREAD /; s/ {2,}[0-9.]+ [num]?s {2}/  AGE  /'
  > }
  $ tidemark run -- $TOOLS/tracked clean 2>&1 | calm
  tidemark: tracked ended with code 0 after TIME
  
  Process PID: tracked clean
    ended by itself (post-mortem), user UID, tracking began TIME ago, phase forward
  
    Device          Kind             Live       Peak      Asked    Buffers       Peak     Allocs
    0 (n150)        trace             0 B     1000 B        0 B          0          1          1
  
    every buffer was freed
  
    Sizes for opening the device, as this run needed them
      trace_region_size=1000            on device 0
  $ tidemark run -- $TOOLS/tracked leak 3 2>&1 | calm
  tidemark: tracked ended with code 3 after TIME
  
  Process PID: tracked leak 3
    ended by itself (post-mortem), user UID, tracking began TIME ago, phase forward
  
    Device          Kind             Live       Peak      Asked    Buffers       Peak     Allocs
    0 (n150)        dram         36.00KiB   36.00KiB   36.00KiB          3          3          3
    0 (n150)        trace          1000 B     1000 B     1000 B          1          1          1
  
    Never freed
    Kind          Buffers   Reserved  Oldest  Site
    dram                3   36.00KiB  AGE  weights
    trace               1     1000 B  AGE  trace
  
    Sizes for opening the device, as this run needed them
      trace_region_size=1000            on device 0
  $ tidemark run -- $TOOLS/tracked leak 3 2>/dev/null
  [3]
  $ tidemark run -- $TOOLS/tracked faults 2>&1 | sed -n '/^$/,$p' | tail -n +3 | calm
    ended by itself (post-mortem), user UID, tracking began TIME ago, phase forward
  
    Device          Kind             Live       Peak      Asked    Buffers       Peak     Allocs
    0 (n150)        l1           12.50KiB   12.50KiB   12.50KiB          1          1          3
                      1 double free, 1 unknown free, 1 re-report, 1 out-of-memory note (the last for 1 MiB)
    0 (n150)        trace          1000 B     1000 B     1000 B          1          1          1
  
    Never freed
    Kind          Buffers   Reserved  Oldest  Site
    l1                  1   12.50KiB  AGE  activations
    trace               1     1000 B  AGE  trace
  
    Sizes for opening the device, as this run needed them
      trace_region_size=1000            on device 0

If events were lost, it is not known what was freed.

  $ tidemark run -- $TOOLS/tracked lost 2>&1 | grep -E 'lost event|freed'
    1 lost event
    it is not known whether every buffer was freed: reports are missing

The code is the program's; its output is untouched.

  $ tidemark run -- $TOOLS/tracked crash 2>&1 | head -1 | calm
  tidemark: tracked was killed by signal 9 (SIGKILL) after TIME
  $ tidemark run -- $TOOLS/tracked crash 2>/dev/null
  [137]
  $ tidemark run --json closed.json -- sh -c 'echo out >&2 || echo gone' 2>&-; head -2 closed.json
  gone
  {
    "schema": "tidemark.run",
  $ tidemark run --json - -- echo out 2>/dev/null | head -3
  out
  {
    "schema": "tidemark.run",
  $ tidemark run -- sh -c 'echo out; echo "$1"' name 'a  b' 2>/dev/null
  out
  a  b
  $ tidemark run -- sh -c 'echo $TIDEMARK $TIDEMARK_KEEP $TIDEMARK_STACKS ${LD_LIBRARY_PATH-unset}; kill -TERM $$' 2>/dev/null
  1 1 unset
  [143]
  $ tidemark run --stacks 5 -- sh -c 'echo $TIDEMARK_STACKS; cat' </dev/null 2>/dev/null
  5
  $ tidemark run -- nosuchprogram
  tidemark run: cannot run 'nosuchprogram': No such file or directory
  [127]
  $ ls shm
  $ tidemark run -- /etc/passwd
  tidemark run: cannot run '/etc/passwd': Permission denied
  [126]
  $ tidemark run -- true 2>&1 | calm
  tidemark: true ended with code 0 after TIME
  tidemark: it made no ledger: it reported no device memory. Programs are seen when they load tt-metal or are
  tidemark: built with libtidemark; static and setuid programs, and those that set TIDEMARK=0, are not.
  tidemark: `tidemark doctor --metal LIBRARY` says whether a build of tt-metal can be watched.
  $ tidemark run --no-preload -- true 2>&1 | calm
  tidemark: true ended with code 0 after TIME
  tidemark: it made no ledger: it reported no device memory. Programs are seen when they, or the runtime that
  tidemark: they use, are built with libtidemark; setuid programs, and those that set TIDEMARK=0, are not.
  $ ls shm

The preload for tt-metal comes before what the user preloads, once, however deep it is nested. The libraries that the user has here cannot be
loaded, which the loader says for each program.

  $ loaded() { sed -n -E 's|^LD_PRELOAD=||p' | sed -E 's|[^: ]*/libtidemark-metal.so|OURS|g'; }
  $ tidemark run -- env 2>/dev/null | loaded
  OURS
  $ tidemark run -- tidemark run -- env 2>/dev/null | loaded
  OURS
  $ LD_PRELOAD='/no/a.so:/no/b.so /no/c.so' tidemark run -- env 2>/dev/null | loaded
  OURS:/no/a.so:/no/b.so /no/c.so
  $ LD_PRELOAD="/no/a.so /old/libtidemark-metal.so  /no/mylibtidemark-metal.so" tidemark run -- env 2>/dev/null | loaded
  OURS:/no/a.so /no/mylibtidemark-metal.so
  $ LD_PRELOAD=/no/a.so tidemark run --no-preload -- env 2>/dev/null | loaded
  /no/a.so

Without it, or with one that cannot be loaded, programs run as ever.

  $ run() { tidemark run -- sh -c 'echo "${LD_PRELOAD-unset}"' 2>&1 | grep -v ' ended\|ledger\|built' | sed "s|$PWD|.|g"; }
  $ TIDEMARK_PRELOAD=/nowhere/x.so run
  tidemark run: /nowhere/x.so cannot be loaded: No such file or directory: programs that use tt-metal are not seen buffer by buffer; install it beside the command, or name it with TIDEMARK_PRELOAD=FILE, or use --no-preload if that is what you want
  unset
  $ mkdir 'a b'; $TESTDIR/make_elf 'a b/libtidemark-metal.so'; TIDEMARK_PRELOAD='a b/libtidemark-metal.so' run | cut -d ';' -f 1
  tidemark run: ./a b/libtidemark-metal.so cannot be preloaded: its path has a blank or a colon, which separate files in LD_PRELOAD, or the end of a line: programs that use tt-metal are not seen buffer by buffer
  unset
  $ $TESTDIR/make_elf small.so bits=32; TIDEMARK_PRELOAD=small.so run | cut -d ';' -f 1 | cut -c -90
  tidemark run: ./small.so cannot be loaded: for another processor, or of another width: pro
  unset
  $ (cp $(command -v tidemark) .; ./tidemark run -- true 2>&1 | sed -n 1p | cut -c -70)
  tidemark run: libtidemark-metal.so is not there: programs that use tt-

Programs that cannot be preloaded.

  $ $TESTDIR/make_elf alone static; tidemark run -- ./alone 2>&1 | calm
  tidemark: ./alone ended with code 5 after TIME
  tidemark: it made no ledger: it reported no device memory. ./alone is statically linked: the preload cannot work in it
  $ printf '#!./alone\n' >script; chmod +x script; tidemark run --json run.json -- ./script 2>&1 | tail -1 | cut -c 60-; grep -E 'preload' run.json
  ./alone is statically linked: the preload cannot work in it
      "preloaded": true,
      "not_preloadable": "is statically linked: the preload cannot work in it",

What the preload remarks is shown once, and that it has seen nothing.

  $ tidemark run -- $TOOLS/tracked notes 3 2>&1 | sed -n '/metal:/,/freed/p'
    metal: traces are not seen: MeshDevice::end_mesh_trace is missing
  
    every buffer was freed
  $ tidemark run --json run.json -- $TOOLS/tracked notes 0 2>&1 | grep metal:
    metal: traces are not seen: MeshDevice::end_mesh_trace is missing
    metal: none of the hooked functions was called: nothing of tt-metal is in these figures
  $ python3 -c 'import json; p = json.load(open("run.json"))["run"]["processes"][0]; print(p["remarks"], p["counters"])'
  ['metal: traces are not seen: MeshDevice::end_mesh_trace is missing'] [{'name': 'metal:AllocatorImpl::allocate_buffer', 'value': 0}, {'name': 'metal:Device::close', 'value': 0}]
  $ ls shm

Signals are passed on.

  $ mkfifo pipe; tidemark run -- $TOOLS/tracked wait >pipe 2>/dev/null & read ready <pipe; kill -USR1 $!; wait $!
  [7]
  $ tidemark run -- $TOOLS/tracked wait >pipe 2>/dev/null & read ready <pipe; tidemark dump | grep -c alive; kill -TERM $!; wait $!
  1
  [143]
  $ ls shm

All processes of the program.

  $ tidemark run -- $TOOLS/tracked fork 2>&1 | grep -A1 -E '^(Process|tidemark)' | calm
  tidemark: tracked ended with code 0 after TIME
  
  Process PID: tracked fork
    ended by itself (post-mortem), user UID, tracking began TIME ago, phase forward
  --
  Process PID: tracked fork
    ended by itself (post-mortem), user UID, tracking began TIME ago
  $ mkfifo hold; (tidemark run -- $TOOLS/tracked orphan <hold 2>&1 | calm | sed -E 's/tidemark-[0-9]+/tidemark-UID/; s/[0-9]+\..*/PID/' | grep ^tidemark) & exec 4>hold; wait $!
  tidemark: tracked ended with code 0 after TIME
  tidemark: 1 of its processes still runs; their figures are those of now
  tidemark: ledgers stay in ./shm/tidemark-UID/run.PID
  $ ls shm | wc -l
  1
  $ exec 4>&-; until [ -z "$(ls shm)" ]; do tidemark dump --reap >/dev/null; done
  tidemark dump: removed 1 ledger

A daemon that has not reported anything yet keeps its folder, and can report later.

  $ (tidemark run --json run.json -- sh -c "(read line; exec $TOOLS/tracked leak) <hold >/dev/null 2>&1 &" 2>&1 | calm | sed -E 's/tidemark-[0-9]+/tidemark-UID/; s/run\..*/run.PID/; s/[0-9]+ \(/PID (/') & exec 4>hold; wait $!
  tidemark: sh ended with code 0 after TIME
  tidemark: still running, without a report so far: PID (sh)
  tidemark: ledgers stay in ./shm/tidemark-UID/run.PID
  $ python3 -c 'import json; run = json.load(open("run.json"))["run"]; print(run["still_running"], run["left_without_report"], len(run["left_pids"]))'
  0 True 1
  $ echo >&4; exec 4>&-; until tidemark dump | grep -q 'ended by itself'; do :; done; tidemark dump | grep -c weights
  1
  $ until [ -z "$(ls shm)" ]; do tidemark dump --reap >/dev/null; done
  tidemark dump: removed 1 ledger

Those that end at once, or are waited for by nobody, are not left.

  $ tidemark run -- sh -c 'sleep 0.01 & (sleep 0 &)' 2>&1 | head -2 | calm | cut -c -60
  tidemark: sh ended with code 0 after TIME
  tidemark: it made no ledger: it reported no device memory. P
  $ ls shm

A program that executes another one has not crashed.

  $ tidemark run -- $TOOLS/tracked exec leak 2>&1 | grep -A1 ^Process | calm
  Process PID: tracked exec leak
    replaced by exec (post-mortem), user UID, tracking began TIME ago, phase forward
  --
  Process PID, program 2: tracked leak
    ended by itself (post-mortem), user UID, tracking began TIME ago, phase forward
  $ tidemark run -- $TOOLS/tracked exec wait >pipe 2>/dev/null & read ready <pipe; tidemark dump | grep -c 'replaced by exec'
  1
  $ tidemark status --all | grep -o -E ' (replaced|crashed) .*' | sed "s|$TOOLS/||"; tidemark leaks --all | grep -o 'left by[^(]*'
   replaced L   tracked exec wait
  left by a program that was replaced by exec: no leak 
  $ kill -USR1 $!; wait $!
  [7]

The post-mortem can be kept.

  $ tidemark run --keep -- $TOOLS/tracked leak 2>&1 | tail -1 | sed -E 's|/.*/||; s/[0-9.]+$/PID/'
  tidemark: kept PID
  $ tidemark run --keep -- $TOOLS/tracked clean 2>&1 | tail -1
      trace_region_size=1000            on device 0
  $ tidemark dump | grep -c weights
  1
  $ tidemark dump --reap >/dev/null; ls shm
  tidemark dump: removed 1 ledger

The summary for programs.

  $ tidemark run --json run.json -- $TOOLS/tracked leak 3 2>/dev/null; python3 - <<'END'
  > import json
  > run = json.load(open("run.json"))["run"]
  > print(run["exit_code"], run["signal"], run["still_running"], run["command"][1:])
  > for site in run["processes"][0]["live_sites"]:
  >     print(site["kind"], site["name"], site["buffers"], site["reserved_bytes"], site["stack"])
  > END
  3 None 0 ['leak', '3']
  dram weights 3 36864 None
  trace trace 1 1000 None
  $ tidemark run --json run.json -- $TOOLS/tracked crash 2>/dev/null; grep '"signal"' run.json
      "signal": 9,

Without a folder for ledgers the program runs, and nothing is seen.

  $ TIDEMARK_DIR=/nowhere tidemark run --json run.json -- sh -c 'echo out; exit 3' 2>&1 | calm; grep not_seen run.json
  out
  tidemark: sh ended with code 3 after TIME
  tidemark: nothing was seen: cannot use /nowhere for ledgers: No such file or directory; --dir DIR names another place
      "not_seen": "cannot use /nowhere for ledgers: No such file or directory; --dir DIR names another place",

Wrong usage.

  $ tidemark run
  tidemark run: which program? tidemark run -- CMD ARGUMENT...
  tidemark run: see 'tidemark run --help'
  [2]
  $ tidemark run --stacks 99 -- true
  tidemark run: --stacks '99': expected a number of frames from 0 to 64
  tidemark run: see 'tidemark run --help'
  [2]
  $ tidemark run --dir /nowhere -- true
  tidemark run: cannot use /nowhere for ledgers: No such file or directory; --dir DIR names another place
  [2]
  $ tidemark run --json /nowhere/file -- true
  tidemark run: cannot write /nowhere/file: No such file or directory
  [2]
