The daemon's command line. tests/daemon has a running one.

  $ export COLUMNS=80
  $ tidemarkd --version
  tidemarkd 0.1.0
  $ tidemarkd --help
  Usage: tidemarkd [--socket=FILE] [--socket-mode=MODE] [--dir=DIR]
                   [--http-port=PORT] [--quiet] [--daemonize [--log=FILE]]
                   [--replace]
  
  Serve programs that report their memory on a socket, and publish metrics over
  HTTP.
  
  Programs instrumented for the allocation server connect to a socket and report
  each buffer. tidemarkd writes a ledger for each of these processes, so 'tidemark
  top', 'status', 'dump' and 'leaks' show these processes like any other. Messages
  of 72, 112, 128 and 144 bytes share one socket.
  
  The daemon prints a line for each event unless --quiet is given. SIGUSR1 prints
  the live buffers, like the message DUMP_REMAINING; 'tidemark dump --server'
  prints them in your terminal instead. SIGUSR2 prints statistics. SIGTERM, SIGINT
  and SIGHUP end the daemon after it has printed a final list of live buffers and
  of buffers left by ended processes.
  
  If the daemon is killed, nothing is lost: the ledgers remain, and the next
  daemon continues the ledgers of running processes. If another server listens on
  the socket, the daemon takes over only with --replace; a socket without a
  listener is replaced.
  
  Buffers that a process still held when it ended are a leak. The process's ledger
  stays in memory for ten minutes and then moves to $STATE_DIRECTORY, else
  $XDG_STATE_HOME/tidemark, else ~/.local/state/tidemark, where 'tidemark dump
  --dir' reads it.
  
  Over HTTP, the daemon serves Prometheus metrics at /metrics, and documents at
  /api/v1/, which 'tidemark top', 'status' and 'leaks' read with --connect. The
  port shows device totals to everyone, and processes only to readers with the
  token. Only this machine can reach the port unless --http-host names another
  address; in that case, set a token as well.
  
  systemd can open the sockets, under the names socket, short and helper
  (FileDescriptorName=). TIDEMARK_MODE in the daemon's environment lets others
  read the ledgers, as for other programs.
  
  Options:
    -s, --socket=FILE          socket of instrumented programs (default:
                               /tmp/tt_allocation_server.sock)
    -m, --socket-mode=MODE     permissions of the sockets (default: 0660, for
                               their owner and group)
        --short-socket=FILE    another socket, for messages of 14, 17 and 21 bytes
        --helper-socket=FILE   another socket, for the 32-byte messages of the
                               helper header
        --replace              take over from the server listening on the socket,
                               without interrupting its clients
        --dir=DIR              directory of the ledgers, instead of $TIDEMARK_DIR
                               or /dev/shm
    -q, --quiet                print no line for each event
        --dead-limit=BYTES     memory for the ledgers of ended processes, e.g.
                               64M; the rest moves to the state folder on disk
        --archive-limit=BYTES  disk space for these ledgers, e.g. 1G; the oldest
                               are removed
        --archive-age=TIME     time for which these ledgers are kept on disk, e.g.
                               720h
        --statistics=TIME      interval between printed statistics, e.g. 10s
        --http-port=PORT       port for metrics and the JSON API (default: 9740,
                               if that port is free)
        --http-host=ADDRESS    address of that port (default: 127.0.0.1)
        --http-hosts=NAMES     more names of this machine to accept in the Host
                               header, separated by commas
        --http-socket=FILE     a Unix socket for HTTP; it shows users their own
                               processes
        --token-file=FILE      file with the bearer token that gives access to
                               everything
        --no-http              do not answer over HTTP
        --process-metrics      add series for each process, for readers allowed to
                               see the process
        --metric-names=NAMES   add the families of other exporters: tt-exporter,
                               tt-telemetry, or both separated by a comma
        --leak-watch=TIME      time for which buffers are watched before leaks are
                               judged (default: 2m)
    -D, --daemonize            run in the background; returns when clients can
                               connect
        --log=FILE             output file of a daemon in the background (default:
                               none)
    -h, --help                 show this help
  
  Examples:
    tidemarkd
        serve instrumented programs and print their allocations
    tidemarkd --quiet --daemonize
        the same in the background, without a line for each event
    tidemarkd --socket-mode=0666
        let every user's programs connect
    tidemarkd --http-host=0.0.0.0 --token-file=token
        give access to other machines that have the token
    tidemarkd --replace
        take over from the running daemon, e.g. after an update
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
