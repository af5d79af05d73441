The variables that turn tracking on, for those who are to read them.

  $ unset LD_PRELOAD TIDEMARK; ours() { sed -E 's|[^: "=]*/libtidemark-metal.so|OURS|g'; }
  $ tidemark env | ours
  export TIDEMARK=1;
  export LD_PRELOAD=OURS;
  $ tidemark env --no-preload --stacks 8 --mode 0640
  export TIDEMARK=1;
  export TIDEMARK_STACKS=8;
  export TIDEMARK_MODE=0640;

Other tests let each shell read the lines. Twice is as good as once; off takes out only the preload.

  $ mkdir shm; LD_PRELOAD="/no/a.so /no/b.so" sh -c 'eval "$(tidemark env)"; eval "$(tidemark env)"; echo $LD_PRELOAD; eval "$(tidemark env --off)"; echo "$LD_PRELOAD ${TIDEMARK-unset}"' 2>/dev/null | ours
  OURS:/no/a.so /no/b.so
  /no/a.so /no/b.so unset
  $ sh -c 'eval $(tidemark env); eval $(tidemark env --off); echo "${LD_PRELOAD-unset} ${TIDEMARK-unset}"'
  unset unset
  $ tidemark env --shell fish --dir "/it's\\" | ours
  set -gx TIDEMARK 1;
  set -gx TIDEMARK_DIR '/it\'s\\';
  set -gx LD_PRELOAD OURS;
  $ tidemark env --shell csh --dir "/it's!" --no-preload; tidemark env --shell csh --off --no-preload
  setenv TIDEMARK 1;
  setenv TIDEMARK_DIR '/it'\''s\!';
  unsetenv TIDEMARK;
  $ tidemark env --off --dir x --stacks 0; tidemark env --off --shell fish
  unset TIDEMARK;
  unset TIDEMARK_STACKS;
  unset TIDEMARK_DIR;
  set -e TIDEMARK;

A program that is started afterwards is tracked.

  $ TIDEMARK_DIR=$PWD/shm sh -c 'eval "$(tidemark env)"; "$TOOLS/tracked" crash' 2>/dev/null; tidemark dump --dir shm | grep -c weights
  2

Units, containers, jobs, modules: without what this shell preloads.

  $ LD_PRELOAD=/no/a.so tidemark env --format systemd --dir '/100% "x' 2>/dev/null | ours
  Environment="TIDEMARK=1"
  Environment="TIDEMARK_DIR=/100%% \"x"
  Environment="LD_PRELOAD=OURS"
  $ mkdir lib; $TESTDIR/make_elf lib/libtidemark-metal.so needs=libtidemark.so.0 needs=libc.so.6 'runpath=$ORIGIN'; $TESTDIR/make_elf lib/libtidemark.so.0
  $ TIDEMARK_PRELOAD=lib/libtidemark-metal.so tidemark env --format docker | sed "s|$PWD|/HERE|g"
  --env TIDEMARK=1 --env LD_PRELOAD=/HERE/lib/libtidemark-metal.so --volume /HERE/lib/libtidemark-metal.so:/HERE/lib/libtidemark-metal.so:ro --volume /HERE/lib/libtidemark.so.0:/HERE/lib/libtidemark.so.0:ro --volume /dev/shm:/dev/shm
  $ tidemark env --format docker --no-preload --dir /var/ledgers --mode 0644
  --env TIDEMARK=1 --env TIDEMARK_DIR=/var/ledgers --env TIDEMARK_MODE=0644 --volume /var/ledgers:/var/ledgers
  $ docker() { printf '[%s]\n' "$@"; }; eval "docker run $(tidemark env --format docker --no-preload --dir "/it's \$x")"
  [run]
  [--env]
  [TIDEMARK=1]
  [--env]
  [TIDEMARK_DIR=/it's $x]
  [--volume]
  [/it's $x:/it's $x]
  $ tidemark env --format slurm | ours
  --export=ALL,TIDEMARK=1,LD_PRELOAD=OURS
  $ tidemark env --format module --stacks 4 --dir '/a [b]' | ours
  setenv TIDEMARK "1"
  setenv TIDEMARK_STACKS "4"
  setenv TIDEMARK_DIR "/a \[b\]"
  prepend-path LD_PRELOAD "OURS"
  $ tidemark env --format job >job.sh; for before in '' /no/a.so; do LD_PRELOAD=$before sh -c '. ./job.sh; . ./job.sh; echo "$TIDEMARK $LD_PRELOAD"' 2>/dev/null | ours; done
  1 OURS
  1 OURS:/no/a.so

For programs.

  $ tidemark env --json --stacks 2 | ours | sed -n '/"env"/,/"mounts"/p' | tr -d ' \n'; echo
  "env":{"variables":[{"name":"TIDEMARK","value":"1"},{"name":"TIDEMARK_STACKS","value":"2"},{"name":"LD_PRELOAD","value":"OURS"}],"preload":"OURS","preload_problem":null,"mounts":[
  $ tidemark env --json --off | sed -n '/"env"/,$p' | tr -d ' \n'; echo
  "env":{"variables":[{"name":"TIDEMARK","value":null}],"preload":null,"preload_problem":null,"mounts":[]}}

Without the preload the rest is printed.

  $ TIDEMARK_PRELOAD=/nowhere.so tidemark env
  tidemark env: /nowhere.so cannot be loaded: No such file or directory: programs that use tt-metal are not seen buffer by buffer; install it beside the command, or name it with TIDEMARK_PRELOAD=FILE, or use --no-preload if that is what you want
  export TIDEMARK=1;
  $ $TESTDIR/make_elf lib/libtidemark-metal.so needs=libtidemark.so.0 needs=libnowhere.so.1 'runpath=$ORIGIN'
  $ TIDEMARK_PRELOAD=lib/libtidemark-metal.so tidemark env 2>&1 | sed "s|$PWD|/HERE|g; s/: programs.*//"
  tidemark env: /HERE/lib/libtidemark-metal.so cannot be loaded: it needs libnowhere.so.1, which was not found
  export TIDEMARK=1;
  $ TIDEMARK_PRELOAD=lib/libtidemark-metal.so tidemark run -- sh -c 'exit 3' 2>&1 | sed "s|$PWD|/HERE|g; s/: programs.*//" | head -1
  tidemark run: /HERE/lib/libtidemark-metal.so cannot be loaded: it needs libnowhere.so.1, which was not found
  $ TIDEMARK_PRELOAD=/nowhere.so tidemark env --json 2>/dev/null | grep preload
      "preload": "/nowhere.so",
      "preload_problem": "cannot be loaded: No such file or directory",

Wrong usage.

  $ tidemark env --shell sh --format docker
  tidemark env: --shell and --format exclude each other
  tidemark env: see 'tidemark env --help'
  [2]
  $ tidemark env --format systemd --off 2>&1 | head -1
  tidemark env: --off is for shells: elsewhere, leave the variables out
  $ tidemark env --mode 777 2>&1 | head -1
  tidemark env: --mode '777': expected 0600, 0640, 0604 or 0644
  $ tidemark env --format slurm --dir /a,b
  tidemark env: TIDEMARK_DIR has a comma, which separates variables for Slurm: use --format job in the script
  [2]
  $ tidemark env --shell csh --dir "a"$'\n'"b" 2>&1 | head -2
  tidemark env: --dir 'a
  b': this format cannot write such a name
  $ tidemark env --format docker --dir /a:b 2>&1 | head -1
  tidemark env: --dir '/a:b': this format cannot write such a name
  $ tidemark env --shell powershell 2>&1 | head -1
  tidemark env: --shell 'powershell': expected sh, bash, zsh, dash, ksh, csh, tcsh or fish
  $ tidemark env now 2>&1 | head -1
  tidemark env: unexpected argument 'now'
