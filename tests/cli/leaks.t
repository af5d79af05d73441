What leaks. The programs are tests/integration/leaky.c and tracked.c.

  $ export TIDEMARK_DIR=$PWD/shm; mkdir shm
  $ calm() { # what differs from run to run
  >   sed -E "s|$PWD|.|; s/process [0-9]+ /process PID /; s/ [0-9.]+ (ns|us|ms|s)\b/ TIME/g; s/[0-9,.]+ ([KMG]iB|B) a second/RATE a second/" |
  >   sed -E 's/TIME: [0-9,]+ buffers of/TIME: N buffers of/; s/in about .*/in about TIME/; s/holds .* in [0-9,]+ buffers?/holds N in N buffers/; s/[0-9,]+ pictures/N pictures/; s/[0-9]+ sites? (is|are) steady/N steady/; s/(and none that was old has been|[0-9,]+ old (one was|ones were)) freed/few or no old ones were freed/'
  > }
  $ start() { # $1: what it does
  >   mkfifo in out 2>/dev/null; TIDEMARK=1 $TOOLS/leaky $1 <in >out & exec 8>in; read ready <out
  > }
  $ stop() { exec 8>&-; wait; }
  $ tidemark leaks | calm
  no ledgers in ./shm: no tracked program runs, and none has left buffers behind
  (a program is tracked when it uses libtidemark and TIDEMARK=1 is set; 'tidemark run -- CMD' does that)

Nothing that could be judged does not pass.

  $ tidemark leaks --fail >/dev/null
  tidemark leaks: no tracked program was seen, so nothing can be said about leaks
  [2]

A loop that allocates and frees gigabytes, and leaks nothing.

  $ start steady; COLUMNS=300 tidemark leaks --for 3s --fail-suspect | calm; stop
  watched 1 process for TIME, N pictures
  
  no leak found; N steady (--all lists them)
  $ ls shm

A small buffer that is lost in each iteration of it.

  $ start lose; COLUMNS=300 tidemark leaks --for 3s --fail >out.txt; echo $?; calm <out.txt; stop
  1
  watched 1 process for TIME, N pictures
  
    leak     scratch: grew by RATE a second over TIME: N buffers of 48 KiB came and stayed, few or no old ones were freed; the oldest here is TIME old (dram, device 0, process PID leaky)
             holds N in N buffers; DRAM full in about TIME
  
  1 leak, 0 suspects; N steady (--all lists them)

Every tenth forgotten, at a site whose other buffers are freed; with JSON.

  $ rm -r shm/*; start tenth; tidemark leaks --for 3s --json >leaks.json; stop; python3 - <<'END'
  > import json
  > top = json.load(open("leaks.json"))
  > leaks = top["leaks"]
  > print(top["schema"], leaks["leaks"], leaks["suspects"], leaks["unreadable"])
  > site = leaks["sites"][0]
  > about, figures = site["about"], site["figures"]
  > print(site["verdict"], site["what"], [about[k] for k in ("comm", "device", "kind", "name")], figures["source"], site["evidence"])
  > assert figures["buffers"] >= figures["grown_buffers"] > 10 and figures["bytes_per_second"] > 0 and figures["trend_z"] > 3
  > assert figures["freed_lived_ns"] < figures["oldest_ns"] and figures["freed_old"] < figures["grown_buffers"] / 4
  > END
  tidemark.leaks 1 0 []
  leak grows ['leaky', 0, 'dram', 'activation'] ledger {'name_pattern': None}

The same under a name that differs each time: one site, which also holds what was lost before the watching.

  $ rm -r shm/*; start numbered; COLUMNS=300 tidemark leaks --for 3s --fail --all >out.txt; echo $?; calm <out.txt | sed -E 's/under [0-9,]+ names/under N names/' | grep -A 1 -E 'leak |suspect |scratch'; stop
  1
    leak     scratch #: grew by RATE a second over TIME: N buffers of 48 KiB came and stayed, under N names, few or no old ones were freed; the oldest here is TIME old (dram, device 0, process PID leaky)
             holds N in N buffers; DRAM full in about TIME

Ten at once every 700 ms, and nothing in between.

  $ rm -r shm/*; start bursts; COLUMNS=300 tidemark leaks --for 3s --fail >out.txt; echo $?; calm <out.txt | grep -A 1 -E '  leak |  suspect '; stop
  1
    leak     scratch: grew by RATE a second over TIME: N buffers of 48 KiB came and stayed, few or no old ones were freed; the oldest here is TIME old (dram, device 0, process PID leaky)
             holds N in N buffers; DRAM full in about TIME

A buffer that is replaced by a larger one in each iteration: there is never more than one or two. On a busy machine, it takes
more than one look to be sure.

  $ rm -r shm/*; start replace; for n in 1 2 3 4 5 6; do COLUMNS=300 tidemark leaks --for 3s --fail >out.txt; found=$?; [ $found = 0 ] || break; done; echo $found; calm <out.txt | sed -E 's/[0-9,]+ were seen/N were seen/' | grep -A 1 -E '  leak |  suspect '; stop
  1
    leak     history: grew by RATE a second over TIME: each buffer that is freed has been replaced by a larger one; N were seen to be freed (dram, device 0, process PID leaky)
             holds N in N buffers; DRAM full in about TIME

A program that ends while it is watched was seen: it passes if it freed everything, and its leaks are not forgotten with its ledger.

  $ rm -rf shm/*; start steady; { sleep 0.5; echo >&8; } & tidemark leaks --for 2s --fail-suspect | calm; stop
  watched 1 process for TIME, N pictures
  
  no leak found; N steady
  $ start lose; { sleep 0.5; echo >&8; sleep 0.5; rm -r shm/*; } & tidemark leaks --for 3s --fail >out.txt; echo $?; calm <out.txt | sed -E 's/[0-9]+ buffers/N buffers/'; stop
  1
  watched 1 process for TIME, N pictures
  
    leak     scratch: N buffers of 48 KiB were never freed: the program ended by itself (dram, device 0, process PID leaky)
  
  1 leak, 0 suspects; N steady

At one moment: what ended programs have not freed is a leak, what a killed one held is not.

  $ rm -rf shm/*; TIDEMARK=1 $TOOLS/leaky exit; { TIDEMARK=1 $TOOLS/tracked crash; } 2>/dev/null
  [137]
  $ tidemark leaks --all | calm
  read 2 processes once
  
    leak     activation: 3 buffers of 12 MiB were never freed: the program ended by itself (dram, device 0, process PID leaky)
    steady   weights: 2 buffers of 12 KiB, left by a program that was killed or crashed: no leak (dram, device 0, process PID tracked)
    steady   trace: 1 buffer of 1000 B, left by a program that was killed or crashed: no leak (trace, device 0, process PID tracked)
  
  1 leak, 0 suspects; N steady
  $ tidemark leaks --fail >/dev/null
  [1]
  $ tidemark leaks --fail --min-bytes 1G | calm
  read 2 processes once
  
  no leak found; N steady
  $ tidemark leaks --fail --kind l1 | tail -1
  no leak found; 0 sites are steady
  $ tidemark leaks --device 1 --all 2>/dev/null | tail -1
  no leak found; 0 sites are steady
  $ tidemark leaks --device 1 --all >/dev/null
  tidemark leaks: no process that can be read uses device 1
  [2]

Frees of the wrong buffers, of that kind of memory, may explain a leak.

  $ rm -rf shm/*; TIDEMARK=1 $TOOLS/tracked faults; tidemark leaks | grep -E '^  leak |hint' | calm
    leak     activations: 1 buffer of 12.50 KiB was never freed: the program ended by itself (l1, device 0, process PID tracked)
             hint: this process also has 1 double free of this kind
             hint: this process also has 1 unknown free of this kind
    leak     trace: 1 buffer of 1000 B was never freed: the program ended by itself (trace, device 0, process PID tracked)

A model of many names that was never freed: the largest are listed, the rest is counted.

  $ rm -rf shm/*; TIDEMARK=1 $TOOLS/leaky names; tidemark leaks >out.txt; grep -c '^  leak ' out.txt; tail -3 out.txt
  50
    and 10 more, which hold 120 MiB (--all lists them)
  
  60 leaks, 0 suspects; 0 sites are steady
  $ tidemark leaks --all | grep -c '^  leak '
  60

What runs could be watched.

  $ rm -rf shm/*; start steady; tidemark leaks | tail -1; stop
  A single picture shows no growth; run 'tidemark leaks --for 30s'.

Ledgers by name; one that cannot be read is an error.

  $ rm -rf shm/*; TIDEMARK=1 $TOOLS/leaky exit; mkdir kept; mv shm/*/* kept; tidemark leaks kept/* | grep -c '^  leak '
  1
  $ echo nothing >kept/tidemark.1.1.1; tidemark leaks kept/tidemark.1.1.1
  A ledger that could not be read:
    kept/tidemark.1.1.1: not a ledger: it has only 8 bytes
  [2]

A damaged one does not pass, because the buffers that cannot be read may have leaked. A leak that was found is still one.

  $ rm -rf shm/* kept/*; TIDEMARK=1 $TOOLS/tracked leak 2
  [2]
  $ truncate -s 100K shm/*/*; cp shm/*/* kept/damaged; tidemark leaks --fail kept/damaged
  read 1 process once
  
  no leak found; 0 sites are steady
  kept/damaged: damaged: 3 of its records cannot be believed, so leaks may be missing
  [2]
  $ tidemark leaks --json kept/damaged | grep -A 2 '"ledger"'
          "ledger": "kept/damaged",
          "damaged_records": 3
        }
  $ tidemark phases kept/damaged
  tidemark phases: kept/damaged: damaged data
  [2]
  $ tidemark leaks --fail >/dev/null
  [2]
  $ TIDEMARK=1 $TOOLS/leaky exit; tidemark leaks --fail >/dev/null
  [1]

Wrong usage.

  $ tidemark leaks --for soon
  tidemark leaks: --for 'soon': expected a time of at least 1ms, such as 30s, 200ms or 5m
  tidemark leaks: see 'tidemark leaks --help'
  [2]
  $ tidemark leaks --for 0
  tidemark leaks: --for '0': expected a time of at least 1ms, such as 30s, 200ms or 5m
  tidemark leaks: see 'tidemark leaks --help'
  [2]
  $ tidemark leaks --interval 100ms
  tidemark leaks: --interval needs --for, which says how long to watch
  tidemark leaks: see 'tidemark leaks --help'
  [2]
  $ tidemark leaks --min-bytes much
  tidemark leaks: --min-bytes 'much': expected a size such as 4096, 64K or 1.5GiB
  tidemark leaks: see 'tidemark leaks --help'
  [2]
  $ tidemark leaks --pid 0
  tidemark leaks: --pid '0': expected a process id
  tidemark leaks: see 'tidemark leaks --help'
  [2]
  $ tidemark leaks --kind ram
  tidemark leaks: --kind 'ram': expected dram, l1, l1_small, trace, cb, dfb, scratchpad, kernel, firmware, system or config
  tidemark leaks: see 'tidemark leaks --help'
  [2]
  $ tidemark leaks --dir /nowhere
  tidemark leaks: cannot list /nowhere: No such file or directory
  [2]
  $ timeout 60 tidemark leaks --for 2h --interval 1h --dir /nowhere
  tidemark leaks: cannot list /nowhere: No such file or directory
  [2]
