Sources from standard input and pipes, files that are refused, and names with bytes that a terminal obeys.

  $ S=$DATADIR/scan_versions/old/factory.cpp; mkdir d; cp $S d
  $ tidemark scan - < $S | head -3
  Scanned        1 file, 980 B: 1 parsed whole, 0 in part,
                 0 skipped without the names that matter, 0 refused
  Found          5 buffers in 2 programs, 0 kernels
  $ cat $S | tidemark scan - --json | python3 -c 'import json, sys
  > scan = json.load(sys.stdin)["scan"]
  > print(len(scan["buffers"]), {b["file"] for b in scan["buffers"]}, scan["budgets"][0]["name"])'
  5 {'standard input'} standard input: Norm::create_descriptor
  $ cat $S | tidemark scan /dev/stdin | sed -n 3p
  Found          5 buffers in 2 programs, 0 kernels
  $ bash -c "tidemark scan <(cat $S) | sed 's|/dev/fd/[0-9]*|FD|' | sed -n '3p; /FD/p'"
  Found          5 buffers in 2 programs, 0 kernels
    FD:2
    FD:21
  FD
  $ cat $S | tidemark scan - - d | sed -n '1p; 3p'
  Scanned        2 files, 1.91 KiB: 2 parsed whole, 0 in part,
  Found          10 buffers in 4 programs, 0 kernels
  $ cat $S | tidemark scan --compare - d/factory.cpp | sed -n '/Changes/,/same/p'
  Changes
  5 buffers are the same in both
  $ tidemark scan --compare - - < $S
  tidemark scan: --compare: standard input can be read only once
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan - < /dev/null | tail -3
  No buffer is created in -:
  looked for CBDescriptor, CircularBufferConfig, DataflowBufferSpec, ScratchpadSpec,
  functions that make them, and cb_descriptor_from_sharded_tensor in Python.
  $ tidemark scan - < d
  tidemark scan: standard input: Is a directory
  [2]
  $ tidemark scan - <&-
  tidemark scan: standard input: Bad file descriptor
  [2]
  $ tidemark scan /dev/zero
  tidemark scan: /dev/zero: has more than 64 MiB, the most that a scan reads
  [2]

A pipe in a folder is not opened: nobody may ever write to it.

  $ mkfifo d/pipe.cpp d/other; tidemark scan d | sed -n '1,3p; /not read/,$p'; rm d/pipe.cpp d/other
  Scanned        1 file, 980 B: 1 parsed whole, 0 in part,
                 0 skipped without the names that matter, 1 refused
  Found          5 buffers in 2 programs, 0 kernels
  not read                       why
  d/pipe.cpp                     is not a regular file

Of a file that is refused, the places are counted.

  $ python3 - <<'END'
  > line = "desc.cbs.push_back(CBDescriptor{.total_size = 64});"
  > open("large.cpp", "w").write("void f() { " + line * 200000 + "}")
  > open("binary.cpp", "wb").write(b"void f() { CBDescriptor{}; }\0")
  > END
  $ tidemark scan large.cpp binary.cpp | sed '/^  and/d' | sed -n '1,4p; /^shape/,/^CBD/p; /Files/,$p'
  Scanned        2 files, 9.73 MiB: 0 parsed whole, 0 in part,
                 0 skipped without the names that matter, 2 refused
  Found          0 buffers in 0 programs, 0 kernels
  Understood     0 of 200,001 places wholly, 0 partly, 200,001 not
  shape                               places  wholly  partly     not in helpers
  CBDescriptor                       200,001       0       0 200,001          0
  Files that are not whole
  state    file
  refused  binary.cpp: is not text
  refused  large.cpp: is larger than 8 MiB
  $ tidemark scan large.cpp --json | python3 -c 'import json, sys
  > c = json.load(sys.stdin)["scan"]["coverage"]
  > print(c["places"], c["files"]["refused"], {p["why"] for p in c["not_understood"]})'
  {'count': 200000, 'wholly': 0, 'partly': 0, 'not': 200000, 'in_helpers': 0} 1 {'the file is larger than 8 MiB'}
  $ rm large.cpp binary.cpp
