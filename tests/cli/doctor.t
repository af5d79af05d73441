What is set up, on machines that are made of files. /proc/self/cwd is this directory, by a name that a shell leaves alone.

  $ mkdir -p sys proc/self shm ledgers dev; printf 'Name:\tx\nNSpid:\t7\n' >proc/self/status; printf 'flags : fpu constant_tsc nonstop_tsc\n' >proc/cpuinfo
  $ export TIDEMARK_SYSFS_ROOT=$PWD/sys TIDEMARK_PROC_ROOT=$PWD/proc TIDEMARK_DEV_ROOT=$PWD/dev TIDEMARK_SHM_DIR=/proc/self/cwd/shm TIDEMARK_DIR=$PWD/ledgers
  $ doctor() { # without what depends on the machine that runs the test
  >   COLUMNS=1000 tidemark doctor "$@" >out.txt; code=$?
  >   sed -E "s!$PWD|/proc/self/cwd!.!g; s/with [^ ]+ [KMGTP]?i?B free of .*/with SIZE free of SIZE/; /^library/,/^\$/d; /barriers/d; /allocation server/d; s/[0-9]+ ok, [0-9]+ for/N ok, N for/" out.txt
  >   return $code
  > }

Nothing there: a warning, for the driver.

  $ : >proc/modules; doctor
  driver
    warning  the driver is not loaded
             looked at ./proc/modules, ./sys/module/tenstorrent/version
             -> load it, or install it first (tt-kmd); on a machine without a card this is normal: files, traces and the device model need none
             $ sudo modprobe tenstorrent
    info     no cards: the driver's class does not exist
    info     no device nodes
  
  runtime
    info     no shared memory of the runtime: no program that publishes its totals has opened a device
             -> if one has: its tt-metal is older than v0.70, TT_METAL_SHM_TRACKING_DISABLED=1 was set, or it runs in a container with a /dev/shm of its own
    ok       TT_METAL_SHM_TRACKING_DISABLED is not set
  
  ledgers
    ok       ./ledgers may be written, with SIZE free of SIZE
    ok       no ledgers
    ok       no ended program has left one
    info     no tracked program runs
             -> a program is tracked when it reports to libtidemark and TIDEMARK=1 is set; without that only the runtime's own totals are seen
             $ tidemark run -- COMMAND
  
  environment
    ok       5 variables of Tidemark set, none wrong
    ok       no variable of the runtime that matters here is set
  
  system
    ok       the time stamp counter is constant and does not stop
    ok       not in a container, as far as can be seen
    ok       TERM is dumb; characters are UTF-8; without colour
  
  1 warning, N ok, N for information
  [1]

A card, its node, its telemetry, a user; the runtime's shared memory with a process that is gone.

  $ card=$PWD/sys/class/tenstorrent/tenstorrent!0; mkdir -p $card sys/module/tenstorrent dev/tenstorrent proc/driver/tenstorrent/0
  $ echo 2.10.1 >sys/module/tenstorrent/version; echo 'tenstorrent 98304 1 - Live 0x0' >proc/modules
  $ echo n150 >$card/tt_card_type; echo 800 >$card/tt_aiclk; : >dev/tenstorrent/0
  $ mkdir proc/4242; echo '4242 (python3) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 100 99 99' >proc/4242/stat
  $ printf 'Name:\tpython3\nUid:\t%s\t0\t0\t0\n' $(id -u) >proc/4242/status; echo python3 >proc/4242/comm; printf 'python3\0' >proc/4242/cmdline
  $ printf 'A=b\0TT_METAL_SHM_TRACKING_DISABLED=1\0' >proc/4242/environ; printf '4242\n4242\n' >proc/driver/tenstorrent/0/pids
  $ cp $DATADIR/shm/v3_two_writers.bin shm/tt_device_143238002252608_memory; printf 'x' >shm/tt_device_5_memory
  $ doctor | sed -n '/^driver/,/^ledgers/p'
  driver
    ok       the driver is loaded, version 2.10.1
    ok       card 0: n150
    ok       1 card may be opened by this user
    ok       card 0 reports 2 values
    info     card 0 is open in 4242 (python3)
             -> a program that says it cannot initialise the device may be waiting for one of these
  
  runtime
    warning  tt_device_5_memory: 1 bytes, too short for a version
             looked at ./shm/tt_device_5_memory
             -> it is not from the runtime, or it is truncated: it may be removed when no process uses the device
             $ rm ./shm/tt_device_5_memory
    info     tt_device_143238002252608_memory: the device's id in the file is not the one in its name
    info     tt_device_143238002252608_memory: which card its chip is on is not known, so it has no telemetry; its capacities are those of n150, the type of all cards
             -> the driver does not report the ids of chips that are linked by Ethernet, as on an n300 or in a galaxy; a program that reports to libtidemark says what card it uses
    warning  tt_device_143238002252608_memory: 2 of 2 processes have ended without giving back 4.00 MiB; none of it is still on the device
             looked at ./shm/tt_device_143238002252608_memory
             -> Tidemark leaves it out of its sums; the file may be removed as long as no process uses the device
             $ rm ./shm/tt_device_143238002252608_memory
    info     a process has a card open, and no readable file counts what it holds: 4242 (python3)
             -> reasons may be: nothing is allocated yet, or never, as by tt-smi; a tt-metal older than v0.70; TT_METAL_SHM_TRACKING_DISABLED=1; files of another user; a container with a /dev/shm of its own
    warning  process 4242 (python3) runs with TT_METAL_SHM_TRACKING_DISABLED=1: it publishes no totals
             looked at ./proc/4242/environ
             -> start it without that variable
  
  ledgers

Values that cannot be read, a card whose node is missing.

  $ echo fast >$card/tt_aiclk; rm dev/tenstorrent/0 proc/driver/tenstorrent/0/pids; doctor | sed -n '/^driver/,/^$/p'
  driver
    ok       the driver is loaded, version 2.10.1
    ok       card 0: n150
    warning  ./dev/tenstorrent/0 is not there, though the driver has the card
             looked at ./dev/tenstorrent/0
             -> in a container, pass it in (--device /dev/tenstorrent); else see whether udev runs
    warning  card 0 reports 1 values; 1 cannot be read: tt_aiclk (malformed input)
             looked at ./sys/class/tenstorrent/tenstorrent!0
             -> the card or its firmware does not answer as it should: reset it when nobody uses it
             $ tt-smi -r
    warning  cannot tell who has card 0 open: No such file or directory
             looked at ./proc/driver/tenstorrent/0/pids
             -> the driver may be too old to tell, or this /proc may not show the driver's files, as in a container
  

Ledgers: damaged, left behind; a program that runs.

  $ rm -rf shm/* sys/*; echo nothing >ledgers/tidemark.1.1.1; { TIDEMARK=1 $TOOLS/tracked crash; } 2>/dev/null
  [137]
  $ doctor | sed -E -n '/^ledgers/,/^$/{s/[0-9.]+ KiB of memory/SIZE of memory/;p}'
  ledgers
    ok       ./ledgers may be written, with SIZE free of SIZE
    warning  ./ledgers/tidemark.1.1.1 cannot be read: not a ledger: it has only 8 bytes
             looked at ./ledgers/tidemark.1.1.1
             -> it is not a ledger, or it is damaged: remove it
             $ tidemark dump --reap
    info     1 program that has ended left its ledger behind, SIZE of memory
             -> look at what was held, and remove it
             $ tidemark dump --reap
    ok       no event was lost
    info     no tracked program runs
             -> a program is tracked when it reports to libtidemark and TIDEMARK=1 is set; without that only the runtime's own totals are seen
             $ tidemark run -- COMMAND
  
  $ rm ledgers/tidemark.1.1.1; truncate -s -1 ledgers/*/*; doctor | sed -n '/^ledgers/,/^$/p' | grep -A 3 -E 'damaged|readable|lost' | sed -E 's/[0-9.]+ is/LEDGER is/; /looked at/d'
    warning  ./ledgers/tidemark-0/LEDGER is damaged: 1 of its records cannot be believed
             -> look at the rest of it, and remove it
             $ tidemark dump --reap
  $ rm -rf ledgers/*; mkfifo pipe; TIDEMARK=1 $TOOLS/tracked wait >pipe & read ready <pipe
  $ doctor | grep tracked
    ok       1 tracked program runs, 1 of them with buffers
  $ kill -USR1 $!; wait $!
  [7]
  $ rm -rf ledgers/*

Something else has the name of the user's folder.

  $ mkdir -m 777 ledgers/tidemark-$(id -u); doctor | grep -A 2 'beside it' | sed "s/-$(id -u)/-UID/g"
    warning  ./ledgers/tidemark-UID can be written by others: programs of this user put their ledgers beside it
             looked at ./ledgers/tidemark-UID
             -> remove it, or correct its permissions; tracking works nevertheless
  $ rmdir ledgers/*; ln -s nowhere ledgers/tidemark-$(id -u); doctor | grep 'beside it' | sed "s/-$(id -u)/-UID/g"
    warning  ./ledgers/tidemark-UID is not a folder: programs of this user put their ledgers beside it
  $ rm ledgers/*

Programs with settings that were refused, and one whose ledger was deleted while it ran.

  $ for mode in 2640 4755 -1 0777 abc 0666 0640; do
  >   TIDEMARK=1 TIDEMARK_MODE=$mode $TOOLS/tracked wait >pipe & read ready <pipe
  >   doctor >all; echo "$mode: $(stat -c %a ledgers/*/*), $(grep -c 'MODE of process .* was refused' all) warning"
  >   kill -USR1 $!; wait $!; rm -rf ledgers/*
  > done
  2640: 600, 1 warning
  4755: 600, 1 warning
  -1: 600, 1 warning
  0777: 600, 1 warning
  abc: 600, 1 warning
  0666: 600, 1 warning
  0640: 640, 0 warning
  $ TIDEMARK=1 TIDEMARK_RING=9 TIDEMARK_MODE=0777 $TOOLS/tracked wait >pipe & read ready <pipe
  $ doctor | grep -A 2 -E 'refused' | sed -E "s/process $!/process PID/; s/$!\.[0-9]+\./PID.START./"
    warning  TIDEMARK_MODE of process PID (tracked) was refused
             looked at ./ledgers/tidemark-0/PID.START.0
             -> its ledger has mode 0600; start it with 0600, 0640, 0604 or 0644: only reading can be allowed to others
    warning  TIDEMARK_RING of process PID (tracked) was refused
             looked at ./ledgers/tidemark-0/PID.START.0
             -> it keeps the last 2048 events of each device; start it with a number from 16 to 4194304
  $ tidemark dump --json | grep -E '_refused|renewed'
          "mode_refused": true,
          "ring_refused": true,
          "renewed": false,
  $ kill -USR1 $!; wait $!
  [7]
  $ rm -rf ledgers/*; TIDEMARK=1 $TOOLS/tracked renew >pipe & read ready <pipe
  $ doctor | grep -A 2 deleted | sed "s/process $!/process PID/"
    info     the ledger of process PID (tracked) was deleted while it ran, and made anew
             -> nothing is lost; to clean up, remove only the ledgers of ended programs
             $ tidemark dump --reap
  $ kill -USR1 $!; wait $!
  [7]
  $ rm -rf ledgers/*

Variables.

  $ TIDEMARK_DIRR=/x TIDEMARK=yes TIDEMARK_STACKS=900 TIDEMARK_MODE=rw TT_ALLOC_TRACKING_ENABLED=true TT_METAL_MEMORY_REPORT=1 TT_METAL_SHM_TRACKING_DISABLED=1 doctor | grep '^  warn' | sort
    warning  TIDEMARK is 'yes'; expected 1, 0 or auto
    warning  TIDEMARK_DIRR is set, and nothing reads it; did you mean TIDEMARK_DIR?
    warning  TIDEMARK_MODE is 'rw'; expected permissions such as 0640
    warning  TIDEMARK_STACKS is '900'; expected a number of frames up to 64
    warning  TT_ALLOC_TRACKING_ENABLED is set, but not to 1
    warning  TT_METAL_MEMORY_REPORT is set and does nothing: no version of the runtime is known to read it; 'tidemark run' prints a summary
    warning  TT_METAL_SHM_TRACKING_DISABLED is set: programs started from here publish no totals
    warning  the driver has found no card
  $ TIDEMARK_MODE=2640 TIDEMARK_RING=9 doctor | grep -A 2 '^  warn.*TIDEMARK_'
    warning  TIDEMARK_MODE is '2640'; expected permissions such as 0640
             looked at TIDEMARK_MODE
             -> correct it: only reading can be allowed to others (0640, 0644, 0604); anything else counts as 0600
    warning  TIDEMARK_RING is '9'; expected a number of events from 16 to 4194304
             looked at TIDEMARK_RING
             -> correct it: it counts as 2048
  $ TIDEMARK_MODE=0640 TIDEMARK_RING=65536 doctor | grep -c '^  warn.*TIDEMARK_'
  0
  [1]
  $ TT_ALLOC_TRACKING_ENABLED=1 TT_VISIBLE_DEVICES=0 doctor | grep '^  info *TT_'
    info     TT_ALLOC_TRACKING_ENABLED=1 turns on libtidemark and instrumented runtimes; an unmodified tt-metal does not read it
    info     TT_VISIBLE_DEVICES is set: programs see only some devices, with numbers of their own

A directory that cannot be used is broken.

  $ doctor --dir /proc/self/cwd/nowhere >/dev/null
  [2]
  $ grep -B1 'mkdir' out.txt | sed "s|/proc/self/cwd|.|g"
             -> make it, or set TIDEMARK_DIR to another directory
             $ mkdir -p ./nowhere
  $ doctor --dir $PWD/pipe | grep -A2 '^  broken'
    broken   ./pipe is not a directory
             looked at ./pipe
             -> set TIDEMARK_DIR to a directory, or take it away

For programs.

  $ tidemark doctor --json >doctor.json; python3 - <<'END'
  > import json
  > top = json.load(open("doctor.json"))
  > doctor = top["doctor"]
  > print(top["schema"], doctor["state"], doctor["broken"])
  > assert doctor["ok"] + doctor["info"] + doctor["warning"] + doctor["broken"] == len(doctor["findings"])
  > print([f for f in doctor["findings"] if f["what"] == "driver.cards"][0]["text"])
  > END
  tidemark.doctor warning 0
  the driver has found no card

Wrong usage.

  $ tidemark doctor now
  tidemark doctor: unexpected argument 'now'
  tidemark doctor: see 'tidemark doctor --help'
  [2]
  $ tidemark doctor --fix
  tidemark doctor: unknown option '--fix'
  tidemark doctor: see 'tidemark doctor --help'
  [2]
