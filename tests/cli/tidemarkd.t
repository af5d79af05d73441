The daemon's command line. tests/daemon has a running one.

  $ export COLUMNS=80
  $ tidemarkd --version
  tidemarkd 0.1.0
  $ tidemarkd --help
  Usage: tidemarkd [--socket=FILE] [--socket-mode=MODE] [--dir=DIR]
                   [--http-port=PORT] [--quiet] [--daemonize [--log=FILE]]
                   [--replace]
  
  Serve programs that report their memory on a socket, and show the machine to
  others.
  
  Programs that are instrumented for the allocation server connect to a socket and
  report each buffer. tidemarkd writes a ledger for each of these processes, so
  that 'tidemark top', 'status', 'dump' and 'leaks' show them like all others.
  Messages of 72, 112, 128 and 144 bytes are served on one socket.
  
  It prints a line for each event, unless --quiet is given. SIGUSR1 prints what is
  live, as the message DUMP_REMAINING does; 'tidemark dump --server' prints it
  where it is called. SIGUSR2 prints statistics. SIGTERM, SIGINT and SIGHUP end it
  after a last list of what is live, and of what ended processes have left.
  
  A daemon that is killed loses nothing: the ledgers stay, and the next one goes
  on with those of processes that still run. A socket that somebody listens on is
  not taken, unless --replace is given; one that nobody listens on is replaced.
  
  What a process held when it ended is a leak: its ledger stays in memory for ten
  minutes, then it moves to $STATE_DIRECTORY, else $XDG_STATE_HOME/tidemark, else
  ~/.local/state/tidemark, where 'tidemark dump --dir' reads it.
  
  Over HTTP it shows this machine to others: metrics for Prometheus at /metrics,
  documents at /api/v1/, which 'tidemark top', 'status' and 'leaks' read with
  --connect. On the port everybody sees totals of devices; only the bearer of the
  token sees processes. The port is for this machine, unless --http-host names
  another address; then give a token, too.
  
  systemd can open the sockets: those named socket, short and helper are used
  (FileDescriptorName=). TIDEMARK_MODE in its environment lets others read the
  ledgers, as for other programs.
  
  Options:
    -s, --socket=FILE          socket of instrumented programs (default:
                               /tmp/tt_allocation_server.sock)
    -m, --socket-mode=MODE     permissions of the sockets (default: 0660, for
                               their owner and group)
        --short-socket=FILE    another socket, for messages of 14, 17 and 21 bytes
        --helper-socket=FILE   another socket, for the messages of 32 bytes of the
                               helper header
        --replace              take over from the server that listens on the
                               socket, without a break for its clients
        --dir=DIR              directory of the ledgers, instead of $TIDEMARK_DIR
                               or /dev/shm
    -q, --quiet                print no line for each event
        --dead-limit=BYTES     memory for the ledgers of ended processes, e.g.
                               64M; what is beyond moves to the state folder on
                               disk
        --archive-limit=BYTES  disk space for them, e.g. 1G; the oldest are
                               removed
        --archive-age=TIME     how long they are kept on disk, e.g. 720h
        --statistics=TIME      print statistics this often, e.g. 10s
        --http-port=PORT       port of metrics and the JSON API (default: 9740, if
                               it is free)
        --http-host=ADDRESS    address of that port (default: 127.0.0.1)
        --http-hosts=NAMES     names by which others may call this machine, with
                               commas between them
        --http-socket=FILE     a Unix socket for HTTP, too: it shows users what is
                               theirs
        --token-file=FILE      file with the token whose bearers see everything
        --no-http              do not answer over HTTP
        --process-metrics      also series for each process, for those who may see
                               them
        --metric-names=NAMES   also the families of other exporters: tt-exporter,
                               tt-telemetry, with a comma between them
        --leak-watch=TIME      how long buffers are watched before they are judged
                               as leaks (default: 2m)
    -D, --daemonize            run in the background; returns when clients can
                               connect
        --log=FILE             where a daemon in the background writes its lines
                               (default: nowhere)
    -h, --help                 show this help
  
  Examples:
    tidemarkd
        serve instrumented programs and print what they allocate
    tidemarkd --quiet --daemonize
        serve them in the background
    tidemarkd --socket-mode=0666
        let every user's programs connect
    tidemarkd --http-host=0.0.0.0 --token-file=token
        let those who have the token look from other machines
    tidemarkd --replace
        go on in place of the running daemon, e.g. after an update
  $ tidemarkd --sokcet=x
  tidemarkd: unknown option '--sokcet'; did you mean '--socket'?
  tidemarkd: see 'tidemarkd --help'
  [2]
  $ tidemarkd more
  tidemarkd: unexpected argument 'more'
  tidemarkd: see 'tidemarkd --help'
  [2]
  $ tidemarkd --socket-mode=0777
  tidemarkd: option '--socket-mode' needs permissions in octal digits, such as 0660: '0777'
  tidemarkd: see 'tidemarkd --help'
  [2]
  $ tidemarkd --socket-mode=rw
  tidemarkd: option '--socket-mode' needs permissions in octal digits, such as 0660: 'rw'
  tidemarkd: see 'tidemarkd --help'
  [2]
  $ tidemarkd --log=x
  tidemarkd: --log needs --daemonize; in the foreground, redirect the output
  tidemarkd: see 'tidemarkd --help'
  [2]
  $ tidemarkd --socket $PWD/missing/sock --dir $PWD 2>&1 | sed "s|$PWD|.|"
  tidemarkd: cannot listen on ./missing/sock: No such file or directory

Asking it.

  $ tidemark dump --server --socket $PWD/sock 2>&1 | sed "s|$PWD|.|"
  tidemark dump: no server listens on ./sock; 'tidemarkd' is one
  $ tidemark dump --socket x
  tidemark dump: --socket is for --server
  tidemark dump: see 'tidemark dump --help'
  [2]
  $ tidemark dump --server --json
  tidemark dump: --server prints the daemon's own text; --json is for the ledgers
  tidemark dump: see 'tidemark dump --help'
  [2]
