Buffers in sources: text, JSON, SARIF, budgets, comparison, baselines, bad input.

  $ cd $DATADIR; out=$(mktemp -d)
  $ tidemark scan scan_versions/old
  Scanned        1 file, 980 B: 1 parsed whole, 0 in part, 0 skipped without the names that matter, 0 refused
  Found          5 buffers in 2 programs, 0 kernels
  Understood     1 of 1 place wholly, 0 partly, 0 not
  Card           Wormhole n150: 1.33 MiB of L1 for buffers in each core
  
  Budgets
  program                  buffers  views  L1 per core  of the card
  Norm::create_descriptor        4      0     >=16 KiB       >=1.2%
    scan_versions/old/factory.cpp:2
    = 16384 + 2 * Wt * tile_size(Float16_b)
  Gone::create_descriptor        1      0        2 KiB         0.1%
    scan_versions/old/factory.cpp:21
  
  Buffers
    scan_versions/old/factory.cpp
    line  buffer  format      page  total  strategy
      14  cb 0    Float16_b  2 KiB  4 KiB  fixed
            2 * tile_size(Float16_b)
      15  cb 1    Float16_b  2 KiB      -  data-dependent
            2 * Wt * tile_size(Float16_b)
      16  cb 2    Float16_b  2 KiB  8 KiB  fixed
            4 * tile_size(Float16_b)
      17  cb 16   Float16_b  2 KiB  4 KiB  fixed
            2 * tile_size(Float16_b)
      23  cb 0    UInt32     1 KiB  2 KiB  fixed
  
  Coverage
  shape         places  wholly  partly  not  in helpers
  CBDescriptor       1       1       0    0           1
  $ tidemark scan scan/descriptors.py --set 'input_tensor.shape[1]=64' --ascii
  Scanned        1 file, 2.70 KiB: 1 parsed whole, 0 in part, 0 skipped without the names that matter, 0 refused
  Found          9 buffers (3 views) in 2 programs, 0 kernels
  Understood     7 of 7 places wholly, 0 partly, 0 not
  Card           Wormhole n150: 1.33 MiB of L1 for buffers in each core
  
  Budgets
  program     buffers  views  L1 per core  of the card
  Softmax.op        5      2   >=6.88 KiB       >=0.5%
    scan/descriptors.py:16
    = 6528 + (wide ? 1024 : 512), at most 7.38 KiB
  per_device        1      1        >=0 B       >=0.0%
    scan/descriptors.py:70
    = loop(64 * k)
  
  Buffers
    scan/descriptors.py
    line  buffer   format         page     total  strategy
      24  cb 0     -                 -         -  view
            shard_size(input_tensor); view of input_tensor
      25  cb 16    -             2 KiB     4 KiB  view
            2 * tile_size(Float16_b); view of output_tensor
      35  cb 1     Float16_b     2 KiB     4 KiB  fixed
            4 / 2 * tile_size(Float16_b)
      40  cb 4, 5  Float32       128 B     256 B  data-dependent
            input_tensor.shape[1] / 32 * 128
      48  cb 3     Bfp8_b     1.06 KiB  2.12 KiB  adaptive
            min(input_tensor.shape[1] / 32, 8) * tile_size(Bfp8_b)
      50  cb 6     Float16_b     2 KiB     2 KiB  data-dependent
            div_up(input_tensor.shape[1] / 32, 2) * tile_size(Float16_b)
      52  cb 7     UInt32         64 B         -  adaptive
            wide ? 1024 : 512, from 512 B to 1 KiB
      74  cb i     -                 -         -  view
            offset + 32, at least 32 B; view of tensor
      76  cb k     UInt16         64 B         -  data-dependent
            64 * k
  
  Coverage
  shape                              places  wholly  partly  not  in helpers
  ttnn.CBDescriptor                       4       4       0    0           1
  cb_descriptor_from_sharded_tensor       3       3       0    0           0
  $ COLUMNS=132 tidemark scan scan_versions/new --set Wt=1..8 --card p150
  Scanned        1 file, 984 B: 1 parsed whole, 0 in part, 0 skipped without the names that matter, 0 refused
  Found          5 buffers in 2 programs, 0 kernels
  Understood     1 of 1 place wholly, 0 partly, 0 not
  Card           Blackhole p150: 1427 KiB of L1 for buffers in each core
  
  Budgets
  program                   buffers  views  L1 per core  of the card
  Norm::create_descriptor         4      0    >=818 KiB      >=57.3%
    scan_versions/new/factory.cpp:2
    = 831488 + 3 * Wt * tile_size(Float16_b), at most 860 KiB
  Added::create_descriptor        1      0        2 KiB         0.1%
    scan_versions/new/factory.cpp:21
  
  Buffers
    scan_versions/new/factory.cpp
    line  buffer  format      page    total  strategy
      14  cb 0    Float16_b  2 KiB    8 KiB  fixed
            4 * tile_size(Float16_b)
      15  cb 1    Float16_b  2 KiB        -  data-dependent
            3 * Wt * tile_size(Float16_b), from 6 KiB to 48 KiB
      16  cb 3    Float16_b  2 KiB  800 KiB  fixed
            400 * tile_size(Float16_b)
      17  cb 16   Float16_b  2 KiB    4 KiB  fixed
            2 * tile_size(Float16_b)
      23  cb 0    UInt32     1 KiB    2 KiB  fixed
  
  Coverage
  shape         places  wholly  partly  not  in helpers
  CBDescriptor       1       1       0    0           1

JSON has the fields of each buffer, and null for what is not known.

  $ tidemark scan scan_versions/old --json > $out/old.json
  $ python3 - $out/old.json <<'END'
  > import json, sys
  > scan = json.load(open(sys.argv[1]))["scan"]
  > keys = "file line kind index format page_bytes total_bytes expression is_view strategy".split()
  > for buffer in scan["buffers"]:
  >     print(*[buffer[key] for key in keys])
  > print([(p["program"], p["bytes"], p["min_bytes"], p["expression"]) for p in scan["programs"]])
  > print(scan["places"], scan["files"])
  > END
  scan_versions/old/factory.cpp 14 cb 0 Float16_b 2048 4096 2 * tile_size(Float16_b) False fixed
  scan_versions/old/factory.cpp 15 cb 1 Float16_b 2048 None 2 * Wt * tile_size(Float16_b) False data-dependent
  scan_versions/old/factory.cpp 16 cb 2 Float16_b 2048 8192 4 * tile_size(Float16_b) False fixed
  scan_versions/old/factory.cpp 17 cb 16 Float16_b 2048 4096 2 * tile_size(Float16_b) False fixed
  scan_versions/old/factory.cpp 23 cb 0 UInt32 1024 2048 2048 False fixed
  [('Norm::create_descriptor', None, 16384, '16384 + 2 * Wt * tile_size(Float16_b)'), ('Gone::create_descriptor', 2048, 2048, '2048')]
  {'count': 1, 'wholly': 1, 'partly': 0, 'not': 0, 'in_helpers': 1} {'count': 1, 'bytes': 980, 'whole': 1, 'partial': 0, 'skipped': 0, 'refused': 0}
  $ tidemark scan scan_versions/old --json --set Wt=16 | grep total_bytes
          "total_bytes": 4096,
          "total_bytes": 65536,
          "total_bytes": 8192,
          "total_bytes": 4096,
          "total_bytes": 2048,

A share of the L1 to fail on, as text and as SARIF.

  $ tidemark scan scan_versions/new --set Wt=8 --fail-over 50% | sed -n '/Findings/,/Budgets/p'
  Findings
    error    scan_versions/new/factory.cpp:2: Norm::create_descriptor: its buffers take 860 KiB of L1, 63.2% of the 1.33 MiB that a core has for buffers
  
  Budgets
  $ tidemark scan scan_versions/new --set Wt=8 --fail-over 50% > $out/text
  [1]
  $ tidemark scan scan_versions/new --set Wt=8 --fail-over 80% > $out/text
  $ tidemark scan scan_versions/new --set Wt=300 | grep -c 'do not fit'
  1
  $ tidemark scan scan_versions/new --set Wt=8 --fail-over 50% --sarif > $out/sarif
  [1]
  $ python3 - $out/sarif <<'END'
  > import json, sys
  > log = json.load(open(sys.argv[1]))
  > assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json") and len(log["runs"]) == 1
  > run = log["runs"][0]
  > driver = run["tool"]["driver"]
  > assert driver["name"] == "tidemark" and all(r["id"] and r["shortDescription"]["text"] for r in driver["rules"])
  > assert len({r["id"] for r in driver["rules"]}) == len(driver["rules"])
  > for result in run["results"]:
  >     assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
  >     assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"]
  >     for location in result["locations"]:
  >         place = location["physicalLocation"]
  >         assert not place["artifactLocation"]["uri"].startswith("/") and place["region"]["startLine"] >= 1
  >         print(result["ruleId"], result["level"], place["artifactLocation"]["uri"], place["region"]["startLine"])
  > END
  over_limit error scan_versions/new/factory.cpp 2
  $ tidemark scan $PWD/scan_versions/new --set Wt=8 --fail-over 50% --format sarif | grep '"uri"'
                    "uri": "scan_versions/new/factory.cpp",
  $ (cd $out && tidemark scan $DATADIR/scan_versions/new --set Wt=8 --fail-over 50% --sarif | grep '"uri"')
                    "uri": "factory.cpp",

Two versions.

  $ tidemark scan --compare scan_versions/old scan_versions/new | sed '/^Budgets/,$d'
  Scanned        1 file, 984 B: 1 parsed whole, 0 in part, 0 skipped without the names that matter, 0 refused
  Found          5 buffers in 2 programs, 0 kernels
  Understood     1 of 1 place wholly, 0 partly, 0 not
  Card           Wormhole n150: 1.33 MiB of L1 for buffers in each core
  Compared with  scan_versions/old
  
  Findings
    error    scan_versions/new/factory.cpp:2: Norm::create_descriptor (at least) grew from 16 KiB to 812 KiB, by 796 KiB
    error    scan_versions/new/factory.cpp:2: Norm::create_descriptor grew by 815104 + 2048 * Wt bytes
    note     scan_versions/new/factory.cpp:21: Added::create_descriptor is new: 2 KiB
    note     factory.cpp: Gone::create_descriptor is gone; it was 2 KiB
  
  Changes
    change   buffer  before    after
    new      cb 0         -    2 KiB
      factory.cpp: Added::create_descriptor
    gone     cb 0     2 KiB        -
      factory.cpp: Gone::create_descriptor
    grew     cb 0     4 KiB    8 KiB
      factory.cpp: Norm::create_descriptor
    changed  cb 1         -        -
      factory.cpp: Norm::create_descriptor: 3 * Wt * tile_size(Float16_b), was 2 *
      Wt * tile_size(Float16_b)
    gone     cb 2     8 KiB        -
      factory.cpp: Norm::create_descriptor
    new      cb 3         -  800 KiB
      factory.cpp: Norm::create_descriptor
    and 1 buffer is the same in both
  
  $ tidemark scan --compare scan_versions/old/factory.cpp scan_versions/new/factory.cpp --set Wt=4 --json |
  >   python3 -c 'import json, sys
  > for c in json.load(sys.stdin)["scan"]["changes"]:
  >     print(c["change"], c["file"], c["program"], c["buffer"], c["before_bytes"], c["after_bytes"])'
  new None Added::create_descriptor cb 0 None 2048
  gone None Gone::create_descriptor cb 0 2048 None
  grew None Norm::create_descriptor cb 0 4096 8192
  grew None Norm::create_descriptor cb 1 16384 24576
  gone None Norm::create_descriptor cb 2 8192 None
  new None Norm::create_descriptor cb 3 None 819200
  $ tidemark scan --compare scan_versions/old scan_versions/old | sed -n '/Changes/,/^$/p'
  Changes
    5 buffers are the same in both
  

A baseline: growth of a budget is a finding with an exit code.

  $ tidemark scan scan_versions/old --set Wt=4 --save $out/baseline.json > $out/text
  $ tidemark scan scan_versions/old --set Wt=4 --baseline $out/baseline.json | grep Baseline | sed "s|$out|OUT|"
  Baseline       OUT/baseline.json: no budget differs
  $ tidemark scan scan_versions/old --set Wt=4 --baseline $out/baseline.json | grep -c Findings
  0
  [1]
  $ mkdir $out/now; cp -r scan_versions/new $out/now/old; cp -r scan_versions/old $out/before
  $ cd $out/now; tidemark scan old --set Wt=4 --save $out/b2.json > $out/text
  $ sed -i 's/add(3, 400)/add(3, 401)/' old/factory.cpp
  $ tidemark scan old --set Wt=4 --baseline $out/b2.json | sed -n '/Findings/,/^$/p'
  Findings
    error    old/factory.cpp:2: Norm::create_descriptor grew from 836 KiB to 838 KiB, by 2 KiB
  
  $ tidemark scan old --set Wt=4 --baseline $out/b2.json > $out/text
  [1]
  $ tidemark scan old --set Wt=4 --baseline $out/b2.json --sarif | grep -E 'ruleId|"uri"|startLine'
            "ruleId": "budget_grew",
                    "uri": "old/factory.cpp",
                    "startLine": 2
  $ tidemark scan old --baseline $out/b2.json | sed -n '/Findings/,/^$/p'
  Findings
    error    old/factory.cpp:2: Norm::create_descriptor was 836 KiB and can no longer be computed
    note     old/factory.cpp:2: Norm::create_descriptor (at least) is new: 814 KiB
  
  $ sed -i 's/add(3, 401)/add(3, 399)/' old/factory.cpp
  $ tidemark scan old --set Wt=4 --baseline $out/b2.json | sed -n '/Findings/,/^$/p'
  Findings
    note     old/factory.cpp:2: Norm::create_descriptor shrank from 836 KiB to 834 KiB, by 2 KiB
  

Growth in what is unknown is proven where no term of the sum shrinks; what cannot be judged is said.

  $ cat > one.cpp <<'END'
  > void f(Program& p) {
  >   add(p, CircularBufferConfig(2 * Wt * 2048, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
  >   add(p, CircularBufferConfig(n * 64 + 32, {{1, tt::DataFormat::Float16_b}}).set_page_size(1, 64));
  > }
  > END
  $ tidemark scan one.cpp --save one.json > $out/text; grep -A4 '"terms": {' one.json
          "terms": {
            "": 32,
            "Wt": 4096,
            "n": 64
          }
  $ found() { tidemark scan one.cpp --baseline ${1:-one.json} > $out/text; echo exit $?; sed -n '/Findings/,/^$/p' $out/text; }
  $ found
  exit 0
  $ sed -i 's/2 \* Wt/4 * Wt/' one.cpp; found
  exit 1
  Findings
    error    one.cpp:1: f grew by 4096 * Wt bytes
  
  $ sed -i 's/4 \* Wt/Wt/' one.cpp; found
  exit 0
  Findings
    note     one.cpp:1: f shrank by 2048 * Wt bytes
  
  $ sed -i 's/n \* 64/n * 96/' one.cpp; found
  exit 0
  Findings
    note     one.cpp:1: f changed, and may have grown: it is now Wt * 2048 + n * 96 + 32, and was 2 * Wt * 2048 + n * 64 + 32; give the names values with --set to compare numbers
  
  $ sed -i 's/Wt \*/2 * Wt */; s/n \* 96 + 32/32 + 64 * n/' one.cpp; found
  exit 0
  $ sed -i 's/n + 32/n + 64/; s/+ 64 \* n/+ 64 * n + 32/' one.cpp; found
  exit 1
  Findings
    error    one.cpp:1: f (at least) grew from 32 B to 64 B, by 32 B
  
  $ sed -i 's/2 \* Wt/std::min(Wt, 8)/' one.cpp; found
  exit 1
  Findings
    error    one.cpp:1: f (at least) grew from 32 B to 64 B, by 32 B
    note     one.cpp:1: f changed, and may have grown: it is now min(Wt, 8) * 2048 + 32 + 64 * n + 32, and was 2 * Wt * 2048 + n * 64 + 32; give the names values with --set to compare numbers
  

A baseline of an older version has no expressions.

  $ python3 - <<'END'
  > import json
  > saved = json.load(open("one.json"))
  > for budget in saved["scan"]["budgets"]:
  >     budget.pop("expression", None), budget.pop("terms", None)
  > json.dump(saved, open("older.json", "w"))
  > END
  $ found older.json
  exit 1
  Findings
    error    one.cpp:1: f (at least) grew from 32 B to 64 B, by 32 B
    note     the baseline has no expression for 1 of the budgets that cannot be computed: their growth is not seen; save it again with --save
  
  $ sed -i 's/"version": *[0-9]*/"version": 99/' older.json; tidemark scan one.cpp --baseline older.json
  tidemark scan: older.json: has version 99, and this Tidemark reads version 1: save it again with --save, or take the Tidemark that wrote it
  [2]
  $ cd $DATADIR

Input that is missing, unreadable or not text.

  $ tidemark scan no/such/path
  tidemark scan: no/such/path: No such file or directory
  [2]
  $ tidemark scan
  tidemark scan: which sources? Name files or folders; - is standard input
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan --compare scan_versions/old
  tidemark scan: --compare needs two paths: the old sources and the new ones
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan scan_versions --set Wt
  tidemark scan: --set: "Wt" is not NAME=NUMBER or NAME=FROM..TO
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan scan_versions --set Wt=9..3
  tidemark scan: --set: the range of Wt=9..3 ends before it begins
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan scan_versions --fail-over lots
  tidemark scan: --fail-over 'lots': expected a share of the L1 such as 90%
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan scan_versions --card n999
  tidemark scan: unknown card 'n999'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  [2]
  $ tidemark scan scan_versions --json --sarif
  tidemark scan: say --json, --sarif or --format, not two of them
  tidemark scan: see 'tidemark scan --help'
  [2]
  $ tidemark scan scan_versions --baseline scan_versions/old/factory.cpp
  tidemark scan: scan_versions/old/factory.cpp: byte 0: not JSON
  [2]
  $ tidemark scan scan_versions --save $out/no/such/folder.json 2>&1 | sed "s|$out|OUT|"
  tidemark scan: --save OUT/no/such/folder.json: No such file or directory
  $ mkdir $out/empty; tidemark scan $out/empty | sed "s|$out|OUT|"
  Scanned        0 files, 0 B: 0 parsed whole, 0 in part, 0 skipped without the names that matter, 0 refused
  Found          0 buffers in 0 programs, 0 kernels
  Understood     0 of 0 places wholly, 0 partly, 0 not
  Card           Wormhole n150: 1.33 MiB of L1 for buffers in each core
  
  No buffer is created in OUT/empty: there are no C++ or Python sources, by the endings of their names.
  $ echo 'int main() { return 0; }' > $out/empty/main.cpp; tidemark scan $out/empty | sed "s|$out|OUT|"
  Scanned        1 file, 25 B: 0 parsed whole, 0 in part, 1 skipped without the names that matter, 0 refused
  Found          0 buffers in 0 programs, 0 kernels
  Understood     0 of 0 places wholly, 0 partly, 0 not
  Card           Wormhole n150: 1.33 MiB of L1 for buffers in each core
  
  No buffer is created in OUT/empty: looked for CBDescriptor, CircularBufferConfig, DataflowBufferSpec, ScratchpadSpec, functions that make them, and cb_descriptor_from_sharded_tensor in Python.
  $ mkdir $out/odd; ln -s . $out/odd/loop; ln -s nowhere.cpp $out/odd/dangling.cpp; printf 'CBDescriptor\0\1' > $out/odd/binary.cpp
  $ printf 'void f() { desc.cbs.push_back(CBDescriptor{.total_size = 64' > $out/odd/open.cpp
  $ cp scan_versions/old/factory.cpp $out/odd
  $ tidemark scan $out/odd | sed "s|$out|OUT|" | grep -v '^ \|^=\|Budgets\|program'
  Scanned        3 files, 1.03 KiB: 1 parsed whole, 1 in part, 0 skipped without the names that matter, 2 refused
  Understood     1 of 2 places wholly, 0 partly, 1 not
  Card           Wormhole n150: 1.33 MiB of L1 for buffers in each core
  
  Norm::create_descriptor        4      0     >=16 KiB       >=1.2%
  Gone::create_descriptor        1      0        2 KiB         0.1%
  
  Buffers
  
  Coverage
  shape         places  wholly  partly  not  in helpers
  CBDescriptor       2       1       0    1           1
  
  Not understood wholly
  place         got  where and why
  CBDescriptor  not  OUT/odd/open.cpp:1: no
  
  Files that are not whole
  state    file
  refused  OUT/odd/binary.cpp: is not text
  partial  OUT/odd/open.cpp:1: parts of it
  
  Paths that could not be read
  not read                                                     why
  OUT/odd/dangling.cpp  No such file or
  $ mkdir $out/locked; chmod 0 $out/locked
  $ if [ $(id -u) != 0 ]; then tidemark scan $out/locked | grep -c 'Permission denied'; else echo 1; fi
  1
  $ chmod 700 $out/locked; rm -r $out
