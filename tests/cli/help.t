What the command says about itself.

  $ export COLUMNS=80
  $ tidemark --version
  tidemark 0.1.0
  $ tidemark -V
  tidemark 0.1.0

Without arguments: the short help, on standard error.

  $ tidemark
  Usage: tidemark COMMAND [ARGUMENT]...
  
  Commands:
    top       watch the memory of all devices and the processes that hold it, live
    status    show devices, their memory and the processes that hold it, once
    dump      list the live buffers of tracked programs, including crashed ones
    leaks     find probable leaks, with the reasons
    run       run a program with tracking on and summarise its device memory at
              the end
    env       print the variables that turn tracking on in a shell, unit,
              container or job
    info      show the memory facts in a file: captures, reports, logs, kernels
    log       profile a log: circular buffers, kernels, buffers, errors, pressure
    simulate  replay an allocation trace on a device model
    phases    show memory by training phase: expected and measured sizes, charts,
              ways to make a run fit
    scan      find the buffers created by source code, and the L1 that they use
    pressure  show how tight circular buffers are, how fast the core runs with
              them, and which depths would be better
    report    write one report about workloads, sources, files and this machine,
              findings first
    device    show the known cards: capacities and the L1 map
    demo      run realistic programs on a simulated card; no hardware needed
    doctor    check the setup: what works, what does not, and why
  
  'tidemark --help' says more; 'tidemark COMMAND --help' explains a command.
  [2]
  $ tidemark 2>/dev/null
  [2]

The general help, three ways.

  $ tidemark --help
  Usage: tidemark COMMAND [ARGUMENT]...
         tidemark help [COMMAND]
  
  Shows where every byte of a Tenstorrent accelerator's memory is, who holds it,
  and whether the next model will fit.
  
  Commands:
    top       watch the memory of all devices and the processes that hold it, live
    status    show devices, their memory and the processes that hold it, once
    dump      list the live buffers of tracked programs, including crashed ones
    leaks     find probable leaks, with the reasons
    run       run a program with tracking on and summarise its device memory at
              the end
    env       print the variables that turn tracking on in a shell, unit,
              container or job
    info      show the memory facts in a file: captures, reports, logs, kernels
    log       profile a log: circular buffers, kernels, buffers, errors, pressure
    simulate  replay an allocation trace on a device model
    phases    show memory by training phase: expected and measured sizes, charts,
              ways to make a run fit
    scan      find the buffers created by source code, and the L1 that they use
    pressure  show how tight circular buffers are, how fast the core runs with
              them, and which depths would be better
    report    write one report about workloads, sources, files and this machine,
              findings first
    device    show the known cards: capacities and the L1 map
    demo      run realistic programs on a simulated card; no hardware needed
    doctor    check the setup: what works, what does not, and why
  
  Options:
    -h, --help     show this help
    -V, --version  show the version
  
  Exit codes:
    0    success; 'does not fit' is an answer, not a failure
    1    a finding that the command was asked to fail on; 'doctor' has a warning
    2    wrong usage, unreadable input, or output that could not be written;
         'doctor' found something broken
    any  'run' exits with the code of its program
  
  Environment:
    TIDEMARK      set to 1 to turn on tracking in programs that use libtidemark,
                  as 'tidemark run' does
    TIDEMARK_DIR  directory for the ledgers of tracked programs, instead of
                  /dev/shm
    NO_COLOR      no colour if set to anything; colours are used on a terminal
                  only
    COLUMNS       width at which text is folded, instead of the terminal's
  
  'tidemark COMMAND --help' explains a command.
  $ tidemark -h | head -1
  Usage: tidemark COMMAND [ARGUMENT]...
  $ diff <(tidemark --help) <(tidemark help) && echo same
  same

The help of a command, on standard output, four ways.

  $ tidemark device --help
  Usage: tidemark device list [--json]
         tidemark device show [CARD] [--card-file FILE] [--set FIELD=VALUE]...
                         [--sources] [--json]
  
  Show the known cards: capacities and the L1 map.
  
  'list' prints a line for each card. 'show' describes one card: the compute grid,
  the capacity of every memory region per bank and in total, alignments, circular
  buffers, the tile size in every data format, and an L1 map of one core with the
  regions reserved by the firmware.
  
  The figures come from the tt-metal runtime; --sources names the source of each
  figure. An unknown figure is printed as 'unknown', with the reason.
  
  Figures change between runtime releases, and cards come in variants, so you can
  override every figure. --set accepts a field listed by --sources, as in
  l1_small=32K, or a variant:
  
    dispatch=WHERE  tensix, tensix-row, tensix-col, eth or none
    harvested=N     rows or columns of Tensix cores fused off
    firmware=old    firmware from before harvesting was changed
    tracy=1         a runtime built with Tracy, which uses some DRAM
    fabric_mux=1    a row or column of cores serves the fabric
  
  A card file contains the same assignments, one per line, and '#' starts a
  comment. A first line such as 'card = n150' selects the card on which the file
  is based. Options override the file.
  
  Options:
    -j, --json             print JSON, with sizes in bytes and null for unknown
                           values
    -s, --set=FIELD=VALUE  override a field or a variant of the card; may be
                           repeated
    -f, --card-file=FILE   read the card, or overrides for it, from FILE
        --sources          also print every field and the source of its value
        --banks            also print the L1 bank of each core in the compute grid
        --ascii            print ASCII characters only
    -w, --width=COLUMNS    fold text at this width instead of the terminal's
    -h, --help             show this help
  
  Examples:
    tidemark device show n150
        capacities, alignments and the L1 map of a Wormhole n150
    tidemark device show p150 --set dispatch=eth --set l1_small=32K
        the same for a Blackhole p150 that dispatches from Ethernet cores and has
        an L1_SMALL region
    tidemark device show n300 --json
        all known figures, for programs
    tidemark device show --card-file lab.card --sources
        a card described in a file, and the source of each figure
  $ diff <(tidemark device --help) <(tidemark help device) && echo same
  same
  $ diff <(tidemark device --help) <(tidemark device show --help) && echo same
  same
  $ diff <(tidemark device --help) <(tidemark device show n150 -jh) && echo same
  same
  $ tidemark device --help >/dev/null

It is folded to the terminal; no line ends in a blank.

  $ COLUMNS=50 tidemark device --help | head -12
  Usage: tidemark device list [--json]
         tidemark device show [CARD]
                         [--card-file FILE]
                         [--set FIELD=VALUE]...
                         [--sources] [--json]
  
  Show the known cards: capacities and the L1 map.
  
  'list' prints a line for each card. 'show'
  describes one card: the compute grid, the capacity
  of every memory region per bank and in total,
  alignments, circular buffers, the tile size in
  $ { tidemark --help; tidemark device --help; tidemark simulate --help; } | grep -n ' $'
  [1]
  $ { tidemark --help; tidemark device --help; tidemark simulate --help; } | awk 'length > 80'

A value is not mistaken for a question, nor what follows "--".

  $ tidemark device show --set --help
  tidemark device: 'show' needs the name of a card, or --card-file
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device list -- --help
  tidemark device: unexpected argument '--help' after 'list'
  tidemark device: see 'tidemark device --help'
  [2]

Mistakes.

  $ tidemark devcie
  tidemark: unknown command 'devcie'; did you mean 'device'?
  [2]
  $ tidemark xyzzy
  tidemark: unknown command 'xyzzy'; 'tidemark --help' lists the commands
  [2]
  $ tidemark help devcie
  tidemark: unknown command 'devcie'; did you mean 'device'?
  [2]
  $ tidemark --versoin
  tidemark: unknown option '--versoin'; did you mean '--version'?
  [2]
  $ tidemark device --jsno
  tidemark device: unknown option '--jsno'; did you mean '--json'?
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device list -x
  tidemark device: unknown option '-x'
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device list --s
  tidemark device: option '--s' is ambiguous: --set, --sources
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device show n150 --set
  tidemark device: option '--set' needs a value: --set=FIELD=VALUE
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device list --json=yes
  tidemark device: option '--json' takes no value, but got one in '--json=yes'
  tidemark device: see 'tidemark device --help'
  [2]

Output that cannot be written is an error; a reader that has left is none.

  $ tidemark --help >/dev/full
  tidemark: cannot write to standard output: No space left on device
  [2]
  $ tidemark device show n150 >/dev/full
  tidemark device: cannot write to standard output: No space left on device
  [2]
  $ tidemark device show n150 --json >/dev/full
  tidemark device: cannot write to standard output: No space left on device
  [2]
  $ tidemark device show n150 --json >&-
  tidemark device: cannot write to standard output: Bad file descriptor
  [2]
  $ (trap '' PIPE; tidemark device show n150 --sources; echo "code $?" >&2) | true
  code 0
