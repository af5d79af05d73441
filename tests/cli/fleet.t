Pictures of other machines. Each has a small HTTP server, fleet_server, in place of its daemon; what it answers is in tests/data/fleet.

  $ mkfifo hold; exec 9<> hold # the servers end with this shell
  $ for m in one two three; do mkdir $m; "$TESTDIR/fleet_server" $m < hold 9>&- & done
  $ cp "$DATADIR/fleet/lab-1.json" one/picture.json; cp "$DATADIR/fleet/lab-2.json" two/picture.json
  $ cp one/picture.json three/picture.json
  $ for m in one two three; do until test -e $m/port; do sleep 0.05; done; done
  $ one=127.0.0.1:$(cat one/port) two=127.0.0.1:$(cat two/port) three=127.0.0.1:$(cat three/port)
  $ calm() { # what differs from run to run
  >   sed -E "s/$one/ONE/g; s/$two/TWO/g; s/$three/THREE/g; s/^tidemark [0-9.]+, [0-9: -]{19}/tidemark VERSION, TIME/; s/ +/ /g; s/after [0-9]+ m/after N m/; s/Time: [-0-9: ]+/Time: NOW/; s/ [0-9]+s old/ Ns old/; s/timed out after .*;/timed out;/"
  > }

Two machines, and one that does not answer: it is named, with the reason.

  $ tidemark status --connect $one,$two,127.0.0.1:1 | calm
  tidemark VERSION, TIME: 3 devices, 2 processes on 3 hosts
  
  ONE:0 n150 /dev/tenstorrent/0 0000:01:00.0 Wormhole chip 0x1000
   47.2 °C 35.5 W 1000 MHz
   64 cores 12 DRAM banks hardware queues unknown
   Memory Used Total Free Largest Peak Share Src
   dram 4.00GiB 12.00GiB 8.00GiB 8.00GiB 4.00GiB 33.3% L
   l1 1.00MiB 85.00MiB 84.00MiB 84.00MiB 1.00MiB 1.1% L
   All L1: 91.50 MiB in 64 cores of 1464 KiB
   allocator buffers 1.00MiB 1.0% ledger
   circular buffers unknown - no source counts them
   kernels unknown - no program reports them
   kernel-config ring ~4.31MiB 4.7% inferred (model), with the kernels
   firmware ~2.14MiB 2.3% inferred (model)
   free or not counted ~84.05MiB 91.8% what is left
  
  TWO:0 p150a /dev/tenstorrent/0 0000:01:00.0 Blackhole chip 0x1000
   47.2 °C 35.5 W 1000 MHz
   64 cores 12 DRAM banks hardware queues unknown
   Memory Used Total Free Largest Peak Share Src
   dram 30.00GiB 32.00GiB 2.00GiB 2.00GiB 30.00GiB 93.7% L
  
  TWO:1 p150a /dev/tenstorrent/1 0000:02:00.0 Blackhole chip 0x1001
   47.2 °C 35.5 W 1000 MHz
   64 cores 12 DRAM banks hardware queues unknown
   Memory Used Total Free Largest Peak Share Src
   dram 0 B 32.00GiB 32.00GiB 32.00GiB 0 B 0.0% L
  
   PID USER DEV DRAM L1 L1_SMALL TRACE CB OTHER AGE SRC COMMAND
   4242 alice ONE:0 3.00GiB 1.00MiB - - - - 1m 30s L python3 serve.py
   4242 bob TWO:0 30.00GiB - - - - - 1m 30s L ./train --steps 100
   ONE:0 1.00GiB 0 B - - - - (unattributed)
  
  Problems
   127.0.0.1:1: Failed to connect to 127.0.0.1 port 1 after N ms: Couldn't connect to server; none of its figures are known
   TWO: /dev/shm/tt_device_0_memory: permission denied
  The figures leave out files of other users: more may be in use, and less may be free.
  
  L ledger: tracked by libtidemark, bytes reserved. '>=': highest seen, it may have been more. '~': inferred, not counted. unattributed: in use, but by no listed process.
  $ tidemark status --short --connect $one,$two | calm
  tidemark VERSION, TIME: 3 devices, 2 processes on 2 hosts
  
   Temp Power Clock DRAM of L1 CB of
  Dev Card C W MHz GiB GiB % MiB % MiB % MiB Procs
  ONE:0 n150 47 36 1000 4.00 12.00 33% 1.00 1% - - 85.00 1
  TWO:0 p150a 47 36 1000 30.00 32.00 93%! - - - - - 1
  TWO:1 p150a 47 36 1000 0.00 32.00 0% - - - - - 0
  all 3 - - - 34.00 76.00 44% >1.00 - - - >85.00 2
  
   PID USER DEV DRAM L1 L1_SMALL TRACE CB OTHER AGE SRC COMMAND
   4242 alice ONE:0 3.00GiB 1.00MiB - - - - 1m 30s L python3 serve.py
   4242 bob TWO:0 30.00GiB - - - - - 1m 30s L ./train --steps 100
   ONE:0 1.00GiB 0 B - - - - (unattributed)
  
  Problems
   TWO: /dev/shm/tt_device_0_memory: permission denied
  The figures leave out files of other users: more may be in use, and less may be free.
  
  L1 and CB use the same memory; its size is the last 'of'. '!': 90 % or more is used, for CB in the fullest core. --long shows all figures. L ledger: tracked by libtidemark, bytes reserved. '>': at least. '~': inferred, not counted. unattributed: in use, but by no listed process.
  $ tidemark smi -d 1 --connect $one,$two | calm | grep -E '^[A-Z]+:|Dev|4242'
  TWO:1 p150a /dev/tenstorrent/1 0000:02:00.0 Blackhole chip 0x1001
  $ tidemark status --connect 127.0.0.1:1 | calm
  tidemark VERSION, TIME: 0 devices, 0 processes on 1 host
  
  None of the machines has answered.
  
  Problems
   127.0.0.1:1: Failed to connect to 127.0.0.1 port 1 after N ms: Couldn't connect to server; none of its figures are known

It is a failure only if none of them answers.

  $ tidemark status --connect 127.0.0.1:1 > /dev/null
  [2]
  $ tidemark status --connect $one,127.0.0.1:1 > /dev/null
  $ tidemark leaks --connect 127.0.0.1:1 > /dev/null
  [2]
  $ tidemark leaks --connect $one,127.0.0.1:1 > /dev/null
  $ tidemark top --once --connect 127.0.0.1:1 | grep Devices:
    Devices: 0 (none of the machines has answered)

JSON has the host of each device and process, and what is known of every machine.

  $ tidemark status --json --connect $one,$two,127.0.0.1:1 > all.json
  $ python3 - <<'.' | calm
  > import json
  > d = json.load(open("all.json"))
  > print(*((h["host"], h["reason"] is None, h["age_ns"] is None) for h in d["status"]["hosts"]), sep="\n")
  > print(*((x["memory"]["host"], x["memory"]["number"]) for x in d["device_info"]), sep="\n")
  > print(*((p["memory"]["host"], p["pid"]) for p in d["processes"]), sep="\n")
  > .
  ('ONE', True, False)
  ('TWO', True, False)
  ('127.0.0.1:1', False, True)
  ('ONE', 0)
  ('TWO', 0)
  ('TWO', 1)
  ('ONE', 4242)
  ('TWO', 4242)

Frames.

  $ tidemark top --once --connect $one,127.0.0.1:1 | calm | head -31
  ================================================================================
  | TT Device Memory Utilization Monitor |
  ================================================================================
  
  System Info:
   Time: NOW
   Refresh: none
   Devices: 1
   Problem: 127.0.0.1:1: Failed to connect to 127.0.0.1 port 1 after N ms: Couldn't connect to server; none of its figures are known
  
  Device ONE:0 (ID: 0)
   ------------------------------------------------------------------------------
  
   Device Information:
   Architecture: Wormhole (n150)
   Node: /dev/tenstorrent/0
   PCI: 0000:01:00.0
   Chip ID: 0x1000
   Initialized: Yes (1 process)
   Hardware CQs: unknown (no source reports them)
   DRAM Channels: 12
   Compute Grid: 8x8 (64 cores)
  
   Real-Time Memory Utilization:
  
   DRAM Memory: 33.3%
   Banks: 12
   Total: 12.00 GiB
   Allocated: 4.00 GiB (33%)
   Free: 8.00 GiB
   Largest Block: 8.00 GiB

Leaks: what ended without freeing, on which machine. A machine that does not answer may have leaks.

  $ tidemark leaks --connect $one,$two | calm
  read 3 processes once
  
   leak scratch: 1 buffer of 1024.00 KiB was never freed: the program ended by itself (dram, device 1, process 99 eval on TWO)
  
  1 leak, 0 suspects; 3 sites are steady (--all lists them)
  A single picture shows no growth; run 'tidemark leaks --for 30s'.
  $ tidemark leaks --fail --connect $one,$two > /dev/null
  [1]
  $ tidemark leaks --fail --connect $one > /dev/null
  $ tidemark leaks --fail --connect $one,127.0.0.1:1 > /dev/null
  [2]
  $ tidemark leaks --fail --connect $one,127.0.0.1:1 | calm
  read 1 process once
  
  no leak found; 2 sites are steady (--all lists them)
  A single picture shows no growth; run 'tidemark leaks --for 30s'.
  
  Machines that do not answer, and ledgers that could not be read:
   127.0.0.1:1: Failed to connect to 127.0.0.1 port 1 after N ms: Couldn't connect to server; none of its figures are known
  $ tidemark leaks --all --stacks --pid 4242 --connect $one,$two | calm
  read 2 processes once
  
   steady weights: 1 buffer of 30 GiB; the oldest here is 58m Ns old (dram, device 0, process 4242 train on TWO)
   steady load (model.py:12): 1 buffer of 2.00 GiB; the oldest here is 3m Ns old (dram, device 0, process 4242 python3 on ONE)
   allocated in:
   #0 tidemark_alloc (api.c:10)
   #1 load (model.py:12)
   steady kv_cache: 1 buffer of 1024.00 MiB; the oldest here is 58m Ns old (dram, device 0, process 4242 python3 on ONE)
  
  no leak found; 3 sites are steady
  A single picture shows no growth; run 'tidemark leaks --for 30s'.
  $ tidemark leaks --json --connect $two | python3 -c 'import json, sys; print([f["about"]["host"] for f in json.load(sys.stdin)["leaks"]["sites"]])' | calm
  ['TWO']

Events stay on the machine, so the lives of freed buffers are not known.

  $ tidemark leaks --json --connect $two | grep lifetimes_known
      "lifetimes_known": false,
  $ tidemark leaks --json --dir . | grep lifetimes_known
      "lifetimes_known": true,
  $ tidemark leaks --for 300ms --connect $one | tail -1
  Other machines do not say how long freed buffers lived, so buffers that are freed late may look like leaks.
  $ grep -c 'buffers=1' two/log > /dev/null && echo asked for buffers
  asked for buffers

A machine that wants a token, and one that has none.

  $ echo secret > three/token; echo secret > mine; echo wrong > other; printf 'two words' > words; : > empty
  $ tidemark status --connect $three | calm | tail -3
  
  Problems
   THREE: HTTP status 401: it wants a token (--token-file); none of its figures are known
  $ tidemark status --token-file other --connect $three | calm | tail -2
  Problems
   THREE: HTTP status 401: it does not accept this token; none of its figures are known
  $ tidemark status --token-file mine --connect $three | calm | head -1
  tidemark VERSION, TIME: 1 device, 1 process on 1 host
  $ TIDEMARK_TOKEN=secret tidemark status --connect $three | calm | head -1
  tidemark VERSION, TIME: 1 device, 1 process on 1 host
  $ tidemark status --token-file words --connect $three
  tidemark status: 'words' holds no token: one word is expected
  [2]
  $ tidemark status --token-file empty --connect $three
  tidemark status: 'empty' holds no token: one word is expected
  [2]
  $ tidemark status --token-file absent --connect $three
  tidemark status: cannot read 'absent': No such file or directory
  [2]
  $ rm three/token

A machine that shows no processes to those without a token says so.

  $ python3 - <<'.'
  > import json
  > d = json.load(open("one/picture.json"))
  > d["picture"]["processes"] = d["picture"]["holdings"] = []
  > json.dump(d, open("three/picture.json", "w"))
  > .
  $ tidemark status --short --connect $one,$three | calm | sed -n '/Problems/,/^$/p'
  Problems
   THREE: its processes are hidden: it shows them to the bearer of its token (--token-file)
  

Its sums are shown, whatever else was asked for; without buffers there is nothing to judge.

  $ touch three/totals; tidemark status --short --all --connect $three | calm | grep -E '^tidemark VER|THREE|^all|token'
  tidemark VERSION, TIME: 1 device, 0 listed processes on 1 host
  THREE:0 n150 47 36 1000 4.00 12.00 33% 1.00 1% - - 85.00 1
  all 1 - - - 4.00 12.00 33% 1.00 1% - - 85.00 -
   THREE:0 4.00GiB 1.00MiB - - - - (unattributed)
   THREE: its processes are hidden: it shows them to the bearer of its token (--token-file)
  $ tail -2 three/log
  GET /api/v1/picture?ended=1
  GET /api/v1/picture
  $ tidemark leaks --for 1s --connect $three | calm; rm three/totals
  Machines that do not answer, and ledgers that could not be read:
   THREE: HTTP status 403: it wants a token (--token-file); none of its figures are known
  $ tidemark leaks --for 1s --connect $three
  no ledgers in what these machines show: they hide processes from those without the token (--token-file)

Answers that are no picture.

  $ echo 503 > three/status; tidemark status --connect $three | calm | tail -2
  Problems
   THREE: HTTP status 503; none of its figures are known
  $ echo 302 > three/status; tidemark status --connect $three | calm | tail -2; rm three/status
  Problems
   THREE: HTTP status 302; none of its figures are known
  $ echo '<html>' > three/picture.json; tidemark status --connect $three | calm | tail -2
  Problems
   THREE: byte 1: not JSON; none of its figures are known
  $ sed 's/"version": 1/"version": 9/' one/picture.json > three/picture.json; tidemark status --connect $three | calm | tail -2
  Problems
   THREE: a picture of version 9, not 1; none of its figures are known
  $ sed 's/"device": 0/"device": 5/' one/picture.json > three/picture.json; tidemark status --connect $three | calm | tail -2
  Problems
   THREE: a holding has no process, or no device; none of its figures are known
  $ touch three/endless; tidemark status --connect $three | calm | tail -2; rm three/endless
  Problems
   THREE: its answer is longer than 32 MiB; none of its figures are known
  $ touch three/silent; tidemark status --timeout 300ms --connect $one,$three | calm | grep -E '^ONE|THREE' -A1; rm three/silent
  ONE:0 n150 /dev/tenstorrent/0 0000:01:00.0 Wormhole chip 0x1000
   47.2 °C 35.5 W 1000 MHz
  --
   THREE: Operation timed out; none of its figures are known
  
  $ touch three/silent; timeout --preserve-status 1 tidemark status --timeout 3s --connect $three; code=$?; rm three/silent; (exit $code)
  [143]

A machine that falls silent keeps its last figures, with their age.

  $ cp one/picture.json three/picture.json
  $ tidemark status --json --watch -r 100 --connect $one,$three | python3 -c '
  > import json, os, sys
  > for n, line in enumerate(sys.stdin):
  >     d = json.loads(line)
  >     host = d["status"]["hosts"][1]
  >     if n == 0:
  >         print(len(d["device_info"]), host["reason"])
  >         open("three/status", "w").write("500")
  >     elif host["reason"]:
  >         print(len(d["device_info"]), host["reason"], host["age_ns"] > 0)
  >         break
  > '
  2 None
  2 HTTP status 500 True
  $ rm three/status

Other ways to name a machine.

  $ tidemark status --connect http://$one/behind/a/proxy/ | head -1 | calm
  tidemark VERSION, TIME: 1 device, 1 process on 1 host
  $ tail -1 one/log
  GET /behind/a/proxy/api/v1/picture
  $ tidemark status --connect unix:no.sock | tail -2
  Problems
    unix:no.sock: cannot connect to the socket: No such file or directory; none of its figures are known
  $ tidemark status --connect ''
  tidemark status: --connect: '' is no HOST[:PORT], URL or unix:PATH
  tidemark status: see 'tidemark status --help'
  [2]
  $ tidemark status --connect 'a b'
  tidemark status: --connect: 'a b' is no HOST[:PORT], URL or unix:PATH
  tidemark status: see 'tidemark status --help'
  [2]
  $ tidemark status --connect $one,$one 2>&1 | calm
  tidemark status: --connect: 'ONE' is named twice
  tidemark status: see 'tidemark status --help'
  $ tidemark status --connect $one,http://$one/ 2>&1 | calm
  tidemark status: --connect: 'http://ONE/' is named twice
  tidemark status: see 'tidemark status --help'
  $ tidemark status --connect lab,lab:9740 2>&1 | head -1
  tidemark status: --connect: 'lab:9740' is named twice
  $ tidemark status --timeout 1s --connect ::1,[::1]:9740 2>&1 | head -1
  tidemark status: --connect: '[::1]:9740' is named twice
  $ tidemark status --timeout 1s --connect ::1 2>&1 | grep -c 'illegal format'
  0
  [1]
  $ for name in lab: :1 lab:0 lab:65536 lab:x lab:+1 [::1]: unix:; do tidemark status --connect $name 2>&1 | head -1; done
  tidemark status: --connect: 'lab:' is no HOST[:PORT], URL or unix:PATH
  tidemark status: --connect: ':1' is no HOST[:PORT], URL or unix:PATH
  tidemark status: --connect: 'lab:0' is no HOST[:PORT], URL or unix:PATH
  tidemark status: --connect: 'lab:65536' is no HOST[:PORT], URL or unix:PATH
  tidemark status: --connect: 'lab:x' is no HOST[:PORT], URL or unix:PATH
  tidemark status: --connect: 'lab:+1' is no HOST[:PORT], URL or unix:PATH
  tidemark status: --connect: '[::1]:' is no HOST[:PORT], URL or unix:PATH
  tidemark status: --connect: 'unix:' is no HOST[:PORT], URL or unix:PATH
  $ tidemark status --connect ftp://a
  tidemark status: --connect: 'ftp://a' is no HOST[:PORT], URL or unix:PATH
  tidemark status: see 'tidemark status --help'
  [2]
  $ tidemark leaks --connect $one --dir .
  tidemark leaks: --connect shows other machines: name no ledger and no --dir
  tidemark leaks: see 'tidemark leaks --help'
  [2]
