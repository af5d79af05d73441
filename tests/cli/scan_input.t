Sources from standard input and pipes, files that are refused, and names with bytes that a terminal obeys.

  $ S=$DATADIR/scan_versions/old/factory.cpp; mkdir d; cp $S d
  $ tidemark scan - < $S | head -2
  Scanned        1 file, 980 B: 1 parsed whole, 0 in part, 0 skipped without the names that matter, 0 refused
  Found          5 buffers in 2 programs, 0 kernels
  $ cat $S | tidemark scan - --json | python3 -c 'import json, sys
  > scan = json.load(sys.stdin)["scan"]
  > print(len(scan["buffers"]), {b["file"] for b in scan["buffers"]}, scan["budgets"][0]["name"])'
  5 {'standard input'} standard input: Norm::create_descriptor
  $ cat $S | tidemark scan /dev/stdin | sed -n 2p
  Found          5 buffers in 2 programs, 0 kernels
  $ bash -c "tidemark scan <(cat $S) | sed 's|/dev/fd/[0-9]*|FD|' | sed -n '2p; /FD/p'"
  Found          5 buffers in 2 programs, 0 kernels
    FD:2
    FD:21
    FD
  $ cat $S | tidemark scan - - d | sed -n 1,2p
  Scanned        2 files, 1.91 KiB: 2 parsed whole, 0 in part, 0 skipped without the names that matter, 0 refused
  Found          10 buffers in 4 programs, 0 kernels
  $ cat $S | tidemark scan --compare - d/factory.cpp | sed -n '/Compared/,/same/p'
  Compared with  standard input
  
  Changes
    5 buffers are the same in both
  $ tidemark scan --compare - - < $S
  tidemark scan: --compare: standard input can be read only once
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan - < /dev/null | tail -1
  No buffer is created in standard input: looked for CBDescriptor, CircularBufferConfig, DataflowBufferSpec, ScratchpadSpec, functions that make them, and cb_descriptor_from_sharded_tensor in Python.
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

  $ mkfifo d/pipe.cpp d/other; tidemark scan d | sed -n '1,2p; /not read/,$p'; mkdir e; mv d/pipe.cpp e; tidemark scan e | grep '^No'; rm -r e d/other
  Scanned        1 file, 980 B: 1 parsed whole, 0 in part, 0 skipped without the names that matter, 1 refused
  Found          5 buffers in 2 programs, 0 kernels
  not read    why
  d/pipe.cpp  is not a regular file
  No buffer was read in e: no source could be read; the list below says why.

Of a file that is refused, the places are counted.

  $ python3 - <<'END'
  > line = "desc.cbs.push_back(CBDescriptor{.total_size = 64});"
  > open("large.cpp", "w").write("void f() { " + line * 2000 + " " * (8 << 20) + "}")
  > open("binary.cpp", "wb").write(b"void f() { CBDescriptor{}; }\0")
  > END
  $ tidemark scan large.cpp binary.cpp | sed '/^  and/d' | sed -n '1,3p; /^shape/,/^CBD/p; /Files/,$p'
  Scanned        2 files, 8.10 MiB: 0 parsed whole, 0 in part, 0 skipped without the names that matter, 2 refused
  Found          0 buffers in 0 programs, 0 kernels
  Understood     0 of 2,001 places wholly, 0 partly, 2,001 not
  shape         places  wholly  partly    not  in helpers
  CBDescriptor   2,001       0       0  2,001           0
  Files that are not whole
  state    file
  refused  binary.cpp: is not text
  refused  large.cpp: is larger than 8 MiB
  $ tidemark scan large.cpp | grep "^No buffer"
  No buffer was read in large.cpp: none of the places that create one was understood; the list below says why.
  $ tidemark scan large.cpp --json | python3 -c 'import json, sys
  > c = json.load(sys.stdin)["scan"]
  > print(c["places"], c["files"]["refused"], {p["why"] for p in c["coverage"]["not_understood"]})'
  {'count': 2000, 'wholly': 0, 'partly': 0, 'not': 2000, 'in_helpers': 0} 1 {'the file is larger than 8 MiB'}
  $ rm large.cpp binary.cpp

Names and texts with control bytes: nothing that a terminal obeys is printed, and SARIF escapes paths.

  $ python3 - <<'END'
  > import os
  > os.mkdir("odd \x1b[7m")
  > open("odd \x1b[7m/a#\x1b]0;t\x07\n:%é.cpp", "w").write("""void \x1bf(Program& p) {
  >   desc.cbs.push_back(CBDescriptor{.total_size = Wt[" \x1b[2J"] * 2048});
  >   q.push_back(DataflowBufferSpec{.unique_id = "na\x1b[5mme", .entry_size = "\x1b" + n, .num_entries = 2});
  >   add(p, CircularBufferConfig(k["\u009b"] * 64 + 3200000, {{1, tt::DataFormat::Float16_b}}).set_page_size(1, 64));
  > }
  > void g() { make_dfb("\x1b[0m"); CreateKernel(p, "k\x1b[1m.cpp", cores, R{}); }
  > """)
  > open("odd \x1b[7m/b.py", "w").write("a = ttnn.CBDescriptor(total_size=w['\x1b[3m'], core_ranges='\x1b[4m')\n")
  > open("odd \x1b[7m/c.py", "w").write("a = ttnn.CBDescriptor()\0\n")
  > os.symlink("\x1b[8m", "odd \x1b[7m/d.cpp")
  > END
  $ cat > controls <<'END'
  > import re, sys
  > text = sys.stdin.buffer.read()
  > print(len(text) > 500, re.findall(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", text), text.decode() != "")
  > END
  $ for o in --all --ascii --json --sarif; do tidemark scan odd* $o --save saved.json | python3 controls; done
  True [] True
  True [] True
  True [] True
  True [] True
  $ sed -i 's/2048/4096/' odd*/a*; for o in --all --json --sarif; do tidemark scan odd* $o --baseline saved.json | python3 controls; done
  True [] True
  True [] True
  True [] True
  $ tidemark scan --compare odd* d | python3 controls
  True [] True
  $ tidemark report odd* 2>/dev/null | python3 controls
  True [] True
  $ tidemark scan odd* | sed -n '/Not understood/,$p'
  Not understood wholly
  place              got     where and why
  CBDescriptor       partly  odd ?[7m/a#?]0;t? :%é.cpp:2: index, format, page size
  helper             not     odd ?[7m/a#?]0;t? :%é.cpp:6: the function is defined
                             in none of the files
  ttnn.CBDescriptor  partly  odd ?[7m/b.py:1: index, format, page size
  ttnn.CBDescriptor  not     odd ?[7m/c.py:1: the file is not text
  
  Files that are not whole
  state    file
  partial  odd ?[7m/a#?]0;t? :%é.cpp:1: parts of it do not parse
  refused  odd ?[7m/c.py: is not text
  
  Paths that could not be read
  not read        why
  odd ?[7m/d.cpp  No such file or directory
  $ tidemark scan odd* --baseline saved.json --fail-over 1% --sarif > odd.sarif
  [1]
  $ cat > check_sarif <<'END'
  > import json, re, sys
  > log = json.load(sys.stdin)
  > assert log["version"] == "2.1.0" and log["$schema"].startswith("https://") and isinstance(log["runs"], list)
  > for run in log["runs"]:
  >     driver = run["tool"]["driver"]
  >     ids = [rule["id"] for rule in driver["rules"]]
  >     assert driver["name"] and len(set(ids)) == len(ids)
  >     for result in run["results"]:
  >         assert ids[result["ruleIndex"]] == result["ruleId"], result
  >         assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"]
  >         for location in result["locations"]:
  >             place = location["physicalLocation"]
  >             uri = place["artifactLocation"]["uri"]
  >             assert re.fullmatch(r"(?:[A-Za-z0-9/._~-]|%[0-9A-F]{2})+", uri) and not uri.startswith("/"), uri
  >             assert place["region"]["startLine"] >= 1
  >             print(result["ruleId"], result["level"], uri, place["region"]["startLine"])
  > END
  $ python3 check_sarif < odd.sarif
  does_not_fit error odd%20%1B%5B7m/a%23%1B%5D0%3Bt%07%0A%3A%25%C3%A9.cpp 1
  budget_changed note odd%20%1B%5B7m/a%23%1B%5D0%3Bt%07%0A%3A%25%C3%A9.cpp 1
  $ tidemark scan - --fail-over 0.001% --sarif < $S | python3 check_sarif
  over_limit error standard%20input 2
  over_limit error standard%20input 21
  $ rm -r odd*

A finding about a budget is shown at its own program, not at another one whose name begins like it.

  $ cat > names.cpp <<'END'
  > void f(Program& p) { add(p, CircularBufferConfig(64, {{0, tt::DataFormat::UInt8}}).set_page_size(0, 64)); }
  > void f2(Program& p) { add(p, CircularBufferConfig(64, {{0, tt::DataFormat::UInt8}}).set_page_size(0, 64)); }
  > END
  $ tidemark scan names.cpp --save names.json > text; sed -i '2s/(64/(128/' names.cpp
  $ tidemark scan names.cpp --baseline names.json --sarif | python3 check_sarif
  budget_grew error names.cpp 2

What the user named and cannot be used ends the command with its name.

  $ tidemark scan --compare d no/such
  tidemark scan: no/such: No such file or directory
  [2]
  $ tidemark scan --compare no/such d
  tidemark scan: no/such: No such file or directory
  [2]
  $ tidemark scan d ""
  tidemark scan: a path is empty: name a file or a folder
  [2]
  $ tidemark scan d --baseline no/such
  tidemark scan: no/such: cannot be read: No such file or directory
  [2]
  $ tidemark scan d --baseline /dev/null
  tidemark scan: /dev/null: the JSON ends too early, after 0 bytes
  [2]
  $ tidemark scan d --set Wt=-1
  tidemark scan: --set: "-1" is not a number from 0 to 9223372036854775806, or two as in 1..64
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan d --set Wt=99999999999999999999
  tidemark scan: --set: "99999999999999999999" is not a number from 0 to 9223372036854775806, or two as in 1..64
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan d --set =5
  tidemark scan: --set: "=5" is not NAME=NUMBER or NAME=FROM..TO
  tidemark scan: see 'tidemark scan --help'
  [2]
