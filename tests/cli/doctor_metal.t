What the preload will see of tt-metal in a library, a program or a process. The files are made of tables alone (make_elf); the names of the
functions come from the command itself.

  $ export TIDEMARK_DIR=$PWD/shm COLUMNS=1000; mkdir shm; make_elf() { $TESTDIR/make_elf "$@"; }
  $ metal() { # the findings, without the table and the last line
  >   tidemark doctor --metal "$@" >out.txt; code=$?
  >   sed -E "/^\$/,\$d; s|$PWD|.|g" out.txt
  >   return $code
  > }
  $ make_elf libfirst.so +_ZN2tt8tt_metal13AllocatorImpl15allocate_bufferEPNS0_6BufferE
  $ tidemark doctor --json --metal libfirst.so >first.json; python3 - <<'END'
  > import json
  > def number(release, unknown):
  >     return int(release.split(".")[1]) if release else unknown
  > rows = json.load(open("first.json"))["doctor"]["metal"]["libraries"][0]["functions"]
  > for name, minor in ("today", 99), ("old", 57):
  >     with open(name, "w") as f:
  >         f.writelines(r["symbol"] + "\n" for r in rows if number(r["since"], 0) <= minor <= number(r["until"], 99))
  > print(len(rows) > 50, rows[0]["name"], rows[0]["topic"], rows[0]["state"], rows[0]["hooked"], rows[0]["needed"], rows[0]["calls"])
  > END
  True AllocatorImpl::allocate_buffer buffers there True True None

A library of today, and one of v0.57.

  $ make_elf libtt_metal.so +@today; metal libtt_metal.so
  metal
    ok       ./libtt_metal.so is tt-metal: its names are those of v0.78 or later
    ok       seen: buffers
    ok       seen: devices
    ok       seen: out of memory
    ok       seen: circular buffers
    ok       seen: clashes
    ok       seen: dataflow buffers
    ok       seen: presence of scratchpads
    info     not seen: sizes and places of scratchpads: no function of tt-metal gives both
    ok       seen: kernel code
    ok       seen: traces
    ok       seen: pinned host memory
    ok       seen: names of operations
    ok       seen: the runtime's own statistics
  $ sed -n '/^State/,$p' out.txt | head -3 | cut -c -110
  State    Function                                              Topic                         Sees
  there    AllocatorImpl::allocate_buffer                        buffers                       each buffer when 
  there    AllocatorImpl::deallocate_buffer                      buffers                       each buffer when 
  $ make_elf libold.so +@old; metal libold.so | grep -v ' ok .*seen' | sed -E 's/: [^ ]+ is not in/: FUNCTION is not in/'
  metal
    ok       ./libold.so is tt-metal: its names are those of v0.57
    info     not seen: dataflow buffers: FUNCTION is not in this release
    info     not seen: presence of scratchpads: FUNCTION is not in this release
    info     not seen: kernel code: FUNCTION is not in this release
    info     not seen: pinned host memory: FUNCTION is not in this release
    info     not seen: names of operations: FUNCTION is not in this release

Stripped section headers change nothing. What is missing, hidden or only used is said.

  $ make_elf libstripped.so stripped +@today; metal libstripped.so | sed -n 2p
    ok       ./libstripped.so is tt-metal: its names are those of v0.78 or later
  $ grep -v 31validate_circular today >most; grep 31validate_circular today >clash; make_elf libhidden.so +@most -@clash; metal libhidden.so | grep -A3 clashes
    warning  not seen: clashes: ProgramImpl::validate_circular_buffer_region is hidden: link-time optimisation or hidden visibility took it out of reach
             looked at ./libhidden.so
             -> use a build that exports it, as the published ones do
    ok       seen: dataflow buffers
  $ make_elf libmost.so +@most; metal libmost.so >/dev/null
  [1]
  $ make_elf libmost.so +@most; metal libmost.so | grep clashes
    warning  not seen: clashes: ProgramImpl::validate_circular_buffer_region is missing
  $ grep -v 6Device5close today >unclosed; make_elf libunclosed.so +@unclosed; metal libunclosed.so | grep 'but not'
    info     devices, but not: when a device is closed (Device::close)
  $ make_elf libshut.so -@today; metal libshut.so
  metal
    warning  ./libshut.so is tt-metal, but hides all of the functions that the preload hooks
             looked at ./libshut.so
             -> use a build that exports them, as the published ones do; of this one, only the totals in shared memory are seen
  [1]
  $ make_elf libsymbolic.so symbolic +@today; metal libsymbolic.so | sed -n '3p;5p'
    warning  ./libsymbolic.so was linked with -Bsymbolic: its own calls never leave it, so the hooks see few or none
             -> use a build without that option, as the published ones are

Another library that has what the preload only asks is not tt-metal.

  $ make_elf libother.so +_ZdlPv; metal libother.so | sed -n 2p
    warning  it has none of the functions that the preload hooks

A library that uses it is followed to the one that has it.

  $ make_elf lib_ttnn.so '?@today'; metal lib_ttnn.so
  metal
    warning  ./lib_ttnn.so uses tt-metal, but the library that defines it was not found
             looked at ./lib_ttnn.so
             -> name that library, or a process that has loaded it: tidemark doctor --metal PID
  [1]
  $ mkdir lib; make_elf lib/libtt_metal.so +@today; make_elf lib_ttnn.so '?@today' needs=libtt_metal.so 'runpath=$ORIGIN/lib'; metal ./lib_ttnn.so | sed -n 2p
    ok       ./lib/libtt_metal.so is tt-metal: its names are those of v0.78 or later

Programs: the libraries that they name, and LD_LIBRARY_PATH. Those that cannot be preloaded.

  $ make_elf model program needs=libtt_metal.so needs=libnone.so; metal ./model
  metal
    ok       ./model can be preloaded
    warning  none of its libraries is tt-metal
             looked at ./model
             -> what a program loads while it runs cannot be known before: look at it when it runs, with its process id, or name the library
    info     2 of the needed libraries were not found, such as libtt_metal.so
             -> set LD_LIBRARY_PATH as for the program
  [1]
  $ LD_LIBRARY_PATH=/nowhere:$PWD/lib metal ./model | grep -v ' seen:'
  metal
    ok       ./model can be preloaded
    ok       ./lib/libtt_metal.so is tt-metal: its names are those of v0.78 or later
    info     1 of the needed libraries was not found, such as libnone.so
             -> set LD_LIBRARY_PATH as for the program

The libraries are looked for as the loader does it. An RPATH is also for the libraries of libraries, unless those have a RUNPATH of their
own; a RUNPATH is not. LD_LIBRARY_PATH comes after the one and before the other.

  $ found() { metal "$@" | sed -nE 's/.* ok +(.*) is tt-metal.*/\1/p; s/.*of the needed.*such as/missing:/p'; }
  $ mkdir -p app/bin app/lib app/lib64 app/other; cp libtt_metal.so app/lib; cp libtt_metal.so app/other
  $ make_elf app/lib/libmid.so needs=libtt_metal.so; make_elf app/bin/model program needs=libmid.so 'rpath=$ORIGIN/../lib'; found app/bin/model
  ./app/bin/../lib/libtt_metal.so
  $ LD_LIBRARY_PATH=$PWD/app/other found app/bin/model
  ./app/bin/../lib/libtt_metal.so
  $ make_elf app/bin/model program needs=libmid.so 'runpath=${ORIGIN}/../lib'; found app/bin/model
  missing: libtt_metal.so
  $ make_elf app/lib/libmid.so needs=libtt_metal.so 'runpath=$ORIGIN'; LD_LIBRARY_PATH=$PWD/app/other found app/bin/model
  ./app/other/libtt_metal.so
  $ make_elf app/lib/libmid.so needs=libtt_metal.so runpath=/nowhere; make_elf app/bin/model program needs=libmid.so 'rpath=$ORIGIN/../lib'; found app/bin/model
  missing: libtt_metal.so

$LIB, which is not the same everywhere; a path with a folder that is empty, the working directory; a program that is started through a link;
a library that is reached in two ways.

  $ mv app/lib/libtt_metal.so app/lib64; make_elf app/bin/model program needs=libtt_metal.so 'rpath=$ORIGIN/../$LIB/$NOTHING:$ORIGIN/../$LIB'; found app/bin/model
  ./app/bin/../lib64/libtt_metal.so
  $ ln -s app/bin/model started; found ./started
  ./app/bin/../lib64/libtt_metal.so
  $ make_elf app/bin/model program needs=libtt_metal.so needs=./app/other/../../libtt_metal.so; LD_LIBRARY_PATH=/nowhere: found app/bin/model
  ./libtt_metal.so
  $ make_elf alone static; metal ./alone
  metal
    broken   ./alone is statically linked: the preload cannot work in it
             looked at ./alone
             -> only the totals that the runtime publishes in shared memory are seen of it
    warning  none of its libraries is tt-metal
             looked at ./alone
             -> what a program loads while it runs cannot be known before: look at it when it runs, with its process id, or name the library
  [2]
  $ make_elf anywhere pie; metal ./anywhere | sed -n 2p
    broken   ./anywhere is statically linked: the preload cannot work in it
  $ make_elf small bits=32 +@today; metal ./small | head -3
  metal
    broken   ./small is for another processor, or of 32 bits: the preload cannot work there
             looked at ./small
  $ printf '#!/usr/bin/env -S VARIABLE=1 ./alone -u\n' >script; chmod +x script; metal ./script | head -2
  metal
    broken   ./alone is statically linked: the preload cannot work in it

A Python has packages; tt-xla has the library in its own.

  $ mkdir -p venv/bin venv/lib/python3.11/site-packages/pjrt_plugin_tt/lib64; make_elf venv/bin/python3 program; metal venv/bin/python3 | grep -v 'looked at /\|looked at venv'
  metal
    ok       venv/bin/python3 can be preloaded
    warning  none of its libraries is tt-metal, and no package of this Python has it
             -> what a program loads while it runs cannot be known before: look at it when it runs, with its process id, or name the library
    info     this is Python: the packages of its own folder were looked at; those of PYTHONPATH, and editable installations, are not known before it runs
  $ cp libtt_metal.so venv/lib/python3.11/site-packages/pjrt_plugin_tt/lib64; printf '#!%s/venv/bin/python3\n' $PWD >train; chmod +x train; metal ./train | grep -v ' seen:'
  metal
    ok       ./venv/bin/python3 can be preloaded: it runs the script
    ok       ./venv/bin/../lib/python3.11/site-packages/pjrt_plugin_tt/lib64/libtt_metal.so is tt-metal: its names are those of v0.78 or later
    info     this is Python: the packages of its own folder were looked at; those of PYTHONPATH, and editable installations, are not known before it runs

Processes, of a /proc that is made of files: the root of a container, files that are gone, the preload.

  $ export TIDEMARK_PROC_ROOT=$PWD/proc; mkdir -p proc/42 root/opt; ln -s $PWD/root proc/42/root; printf 'A=b\0' >proc/42/environ
  $ cp libtt_metal.so root/opt/libtt_metal.so; inode() { stat -c %i $1; }
  $ maps() { printf '7f0000000000-7f0000001000 r--p 00000000 08:01 %s   %s\n7f0000001000-7f0000002000 r-xp 00000000 08:01 %s   %s\n' $2 "$1" $2 "$1"; }
  $ (echo '7ffc0000-7ffd0000 r-xp 00000000 00:00 0 [vdso]'; maps /opt/libtt_metal.so $(inode root/opt/libtt_metal.so); echo damaged line) >proc/42/maps; metal 42 | grep -v ' seen:'
  metal
    warning  the preload is not in the process: nothing of tt-metal is seen buffer by buffer
             looked at process 42
             -> start it again this way, or after eval "$(tidemark env)"
             $ tidemark run -- COMMAND
    ok       /opt/libtt_metal.so is tt-metal: its names are those of v0.78 or later
  $ cp libtt_metal.so root/opt/libtidemark-metal.so; maps /opt/libtidemark-metal.so $(inode root/opt/libtidemark-metal.so) >>proc/42/maps; metal 42 | grep -A2 -E 'preload|ledger'
    warning  the preload is in the process, but tracking is off: TIDEMARK=1 is not set there
             looked at process 42
             -> start it again with TIDEMARK=1; 'tidemark env' prints all that is needed
  --
    info     it has no ledger that can be read: nothing was reported yet
  $ printf 'TIDEMARK=1\0' >proc/42/environ; metal 42 | grep -c 'the preload is in the process$'
  1
  $ maps '/opt/libtt_metal.so (deleted)' 77 >proc/42/maps; metal 42 | tail -4
    warning  the process has not loaded tt-metal
             looked at /opt/libtt_metal.so (deleted)
             -> look again when it has opened a device
    info     1 file could not be read, such as /opt/libtt_metal.so (deleted): No such file or directory
  $ maps /opt/libtt_metal.so 77 >proc/42/maps; metal 42 | tail -1
    info     1 file could not be read, such as /opt/libtt_metal.so: No such file or directory
  $ maps '/opt/libtt_metal.so (deleted)' 77 >proc/42/maps
  $ mkdir proc/42/map_files; cp libtt_metal.so proc/42/map_files/7f0000001000-7f0000002000; metal 42 | grep -A1 is.tt-metal
    ok       /opt/libtt_metal.so (deleted) is tt-metal: its names are those of v0.78 or later
    info     /opt/libtt_metal.so (deleted) was replaced or deleted while the process runs: this is about the file that the process has

A process that ends while it is looked at, one that has ended, and one that is no process of a program.

  $ mkdir proc/44; mkfifo proc/44/maps; (exec 3>proc/44/maps; rm -r proc/44; maps /opt/libtt_metal.so 77 >&3) & metal 44; wait
  metal
    broken   process 44 cannot be looked at: it has ended, or is a thread of the kernel
             looked at 44
             -> name a library, a program or the id of a process
  $ mkdir proc/44; touch proc/44/maps; metal 44 | sed -n 2p
    broken   process 44 cannot be looked at: it has ended, or is a thread of the kernel
  $ metal 43
  metal
    broken   process 43 cannot be looked at: there is no such process
             looked at 43
             -> name a library, a program or the id of a process
  [2]

How often the functions were called is in the ledger of the process.

  $ mkfifo pipe; TIDEMARK=1 $TOOLS/tracked notes 3 wait >pipe & read ready <pipe; pid=$!; cp -r proc/42 proc/$pid
  $ (maps /opt/libtt_metal.so $(inode root/opt/libtt_metal.so); maps /opt/libtidemark-metal.so $(inode root/opt/libtidemark-metal.so)) >proc/$pid/maps; metal $pid | grep -A1 'called' | cut -c -90
    ok       1 hook was called
    info     never called so far: AllocatorImpl::deallocate_buffer, GraphTracker::track_allo
  $ sed -n '/^State/,$p' out.txt | grep -E '^State|allocate_buffer |Device::close' | cut -c -56 | sed 's/ *$//'
  State    Calls  Function
  there        3  AllocatorImpl::allocate_buffer
  there        0  AllocatorImpl::deallocate_buffer
  there        0  Device::close
  $ kill -USR1 $pid; wait $pid
  [7]
  $ TIDEMARK=1 $TOOLS/tracked notes 0 wait >pipe & read ready <pipe; cp -r proc/$pid proc/$!; metal $! | grep -A2 'hook was called' | sed 's/process.*/process PID/'; kill -USR1 $!; wait $!
    warning  no hook was called: nothing of tt-metal has been seen so far
             looked at the ledger of process PID
             -> if it has allocated something, its runtime was linked so that calls cannot be intercepted
  [7]
  $ unset TIDEMARK_PROC_ROOT

What cannot be looked at.

  $ for what in ./nowhere . damaged.so out.txt; do printf '\177ELF\2\1\1' >damaged.so; metal $what | sed -n 2p; done
    broken   ./nowhere cannot be looked at: No such file or directory
    broken   . cannot be looked at: not a file
    broken   damaged.so cannot be looked at: the file is shorter than its headers say
    broken   out.txt cannot be looked at: not an ELF file
  $ metal '' | sed -n 2p
    broken   '' cannot be looked at: No such file or directory

The same for programs.

  $ tidemark doctor --json --metal libhidden.so >hidden.json; python3 - <<'END'
  > import json
  > doctor = json.load(open("hidden.json"))["doctor"]
  > metal = doctor["metal"]
  > library = metal["libraries"][0]
  > print(doctor["state"], metal["target"], metal["type"], metal["pid"], metal["preloaded"])
  > print({k: v for k, v in library.items() if k not in ("functions", "path", "defined")}, library["defined"] > 30)
  > print([f["name"] for f in library["functions"] if f["state"] == "hidden"])
  > END
  warning libhidden.so library None None
  {'hidden': 1, 'imported': 0, 'symbolic': False, 'bound': False, 'deleted': False} True
  ['ProgramImpl::validate_circular_buffer_region']
