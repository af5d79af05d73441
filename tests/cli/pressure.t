Pressure on circular buffers: strategies, the model, advice, patterns, baselines.

  $ export COLUMNS=110
  $ tidemark pressure 16 16
  Workload       16 A tiles, 8 on each of 1x2 devices, and 16 B tiles of 4 KiB (Float32), on Wormhole n150
  Class          medium: balanced allocation: good performance, some pressure
  L1 of a core   1464 KiB: firmware 34.19 KiB, kernels up to 69 KiB; 1.33 MiB left for circular buffers
  
  Strategy          CB0  CB1  CB2  CB16   bytes  CB1 miss  band    used  score  risk    effic.  of L1    map
  constant            4    4    4     4  64 KiB     75.0%  MEDIUM  100%   75.0  HIGH       40%   4.7%  11.4%
  adaptive_guide      6    6    2     2  64 KiB     62.5%  MEDIUM  100%   62.5  MEDIUM     40%   4.7%  11.4%
  adaptive_program    4    4    2     2  48 KiB     75.0%  MEDIUM  100%   75.0  HIGH       30%   3.5%  10.3%
  advised             1    2    1     1  20 KiB     87.5%  HIGH    100%   87.5  HIGH       12%   1.5%   8.4%
  
  Model             Mtiles/s  slowest  % of time waiting: pages/room/network
  constant             1.582  reader   reader 0/0/88 compute 77/0/0 writer 94/0/5
  adaptive_guide       1.582  reader   reader 0/0/88 compute 77/0/0 writer 94/0/5
  adaptive_program     1.582  reader   reader 0/0/88 compute 77/0/0 writer 94/0/5
  advised              1.582  reader   reader 0/0/88 compute 77/0/0 writer 94/0/5
  
  Average pages     CB0  CB1  CB2  CB16  % of time full
  constant          0.0  0.2  0.7   0.1  0/0/0/0
  adaptive_guide    0.0  0.2  0.7   0.1  0/0/0/0
  adaptive_program  0.0  0.2  0.7   0.1  0/0/0/0
  advised           0.0  0.2  0.7   0.1  1/0/70/6
  128 tiles on one core at 1000 MHz; 3 of the model's 31 constants are assumed: see --explain-model.
  Pressure counts tiles that do not fit at once; it does not say that a core runs slower.
  
  Advice
    20 KiB give 100.0% of the best throughput, 1.582 Mtiles/s: nothing smaller reaches 99 % (28 runs of 128
      tiles).
     bytes  CB0  CB1  CB2  CB16  Mtiles/s  of best  tiles/s per further KiB
    16 KiB    1    1    1     1     1.314    83.0%                   +67233
    20 KiB    1    2    1     1     1.582   100.0%                        -
  $ tidemark pressure 8 8 --json | python3 -c '
  > import json, sys
  > for s in json.load(sys.stdin)["pressure"]["strategies"]:
  >     print(s["name"], s["cb_tiles"]["1"], s["cb_bytes"]["1"], s["cb1_miss_rate"], s["score"], s["thrashing_risk"])'
  constant 4 16384 0.5 50 MEDIUM
  adaptive_guide 6 24576 0.25 25 LOW
  adaptive_program 4 16384 0.5 50 MEDIUM
  advised 2 8192 0.75 75 HIGH

Several sizes, and where it becomes critical.

  $ tidemark pressure --multi 32 8 16 8 | tail -30
    advised             1    2    1     1  20 KiB     87.5%  HIGH    100%   87.5  HIGH       12%   1.5%   8.4%
  
  32 A tiles, 32 B tiles: large
    Strategy          CB0  CB1  CB2  CB16   bytes  CB1 miss  band  used  score  risk  effic.  of L1    map
    constant            4    4    4     4  64 KiB     87.5%  HIGH  100%   87.5  HIGH     20%   4.7%  11.4%
    adaptive_guide      2    2    2     2  32 KiB     93.8%  HIGH  100%   93.8  HIGH     10%   2.4%   9.2%
    adaptive_program    2    2    2     2  32 KiB     93.8%  HIGH  100%   93.8  HIGH     10%   2.4%   9.2%
    advised             1    2    1     1  20 KiB     93.8%  HIGH  100%   93.8  HIGH      6%   1.5%   8.4%
  
  Where it becomes critical (score above 70)
    constant         from 16 B tiles
    adaptive_guide   from 32 B tiles
    adaptive_program from 16 B tiles
    advised          from 8 B tiles
  
  highest of constant, adaptive_guide, adaptive_program, advised
  100 │                                                                                      ▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▂▂
      │                        ▁▁▁▂▂▂▃▃▃▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇█████████████████████████████
      │ ▁▁▁▂▂▂▃▃▃▄▄▅▅▅▆▆▆▇▇▇███████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
   50 │████████████████████████████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
      │████████████████████████████████████████████████████████████████████████████████████████████████████████
      8                                            A and B tiles                                            32
  - critical: 70
  $ tidemark pressure --multi --json | python3 -c '
  > import json, sys
  > p = json.load(sys.stdin)["pressure"]
  > print([s["b_tiles"] for s in p["sizes"]], p["critical_from_b_tiles"])'
  [4, 8, 16, 20, 32, 64] {'constant': 16, 'adaptive_guide': 20, 'adaptive_program': 16, 'advised': 8}
  $ tidemark pressure --multi -o scores.svg >/dev/null
  tidemark pressure: the chart is in scores.svg
  $ grep -c "<svg" scores.svg
  1

Another card and format, and less L1.

  $ tidemark pressure 64 64 --card p150 --format bf16 --mesh 2x4 | head -9
  Workload       64 A tiles, 8 on each of 2x4 devices, and 64 B tiles of 2 KiB (Float16_b), on Blackhole p150
  Class          very large: streaming mode: slower but stable
  L1 of a core   1536 KiB: firmware 40 KiB, kernels up to 69 KiB; 1427 KiB left for circular buffers
  
  Strategy          CB0  CB1  CB2  CB16   bytes  CB1 miss  band  used  score  risk  effic.  of L1   map
  constant            4    4    4     4  32 KiB     93.8%  HIGH  100%   93.8  HIGH     18%   2.2%  9.2%
  adaptive_guide      2    2    2     2  16 KiB     96.9%  HIGH  100%   96.9  HIGH      9%   1.1%  8.1%
  adaptive_program    2    2    2     2  16 KiB     96.9%  HIGH  100%   96.9  HIGH      9%   1.1%  8.1%
  advised             1    2    1     1  10 KiB     96.9%  HIGH  100%   96.9  HIGH      6%   0.7%  7.7%
  $ tidemark pressure 16 16 --l1-used 1300K | head -14
    error    constant: does not fit: its circular buffers take 64 KiB of each core, and 60.81 KiB are left
    error    adaptive_guide: does not fit: its circular buffers take 64 KiB of each core, and 60.81 KiB are left
  
  Workload       16 A tiles, 8 on each of 1x2 devices, and 16 B tiles of 4 KiB (Float32), on Wormhole n150
  Class          medium: balanced allocation: good performance, some pressure
  L1 of a core   1464 KiB: firmware 34.19 KiB, kernels up to 69 KiB, L1 buffers 1300 KiB; 60.81 KiB left for
                 circular buffers
  
  Strategy          CB0  CB1  CB2  CB16   bytes  CB1 miss  band    used  score  risk    effic.  of L1     map
  constant            4    4    4     4  64 KiB     75.0%  MEDIUM  100%   75.0  HIGH       40%   4.7%  100.2%
  adaptive_guide      6    6    2     2  64 KiB     62.5%  MEDIUM  100%   62.5  MEDIUM     40%   4.7%  100.2%
  adaptive_program    4    4    2     2  48 KiB     75.0%  MEDIUM  100%   75.0  HIGH       30%   3.5%   99.1%
  advised             1    2    1     1  20 KiB     87.5%  HIGH    100%   87.5  HIGH       12%   1.5%   97.2%
  

The constants of the model, and changing them.

  $ tidemark pressure --explain-model | grep -A1 fitted
  call                     14  cycles   fitted      a call of a circular buffer that need not wait; fit to
                                                    tt-metal examples/double_buffer report c707185 (12 cells);
  --
  math_round               88  cycles   fitted      what each round of a compute kernel takes besides its
                                                    operations; fit to tt-metal examples/double_buffer report
  $ tidemark pressure 16 16 --set math_round=2000 --set l1_small=64K | sed -n "3p;11,16p"
  L1 of a core   1464 KiB: firmware 34.19 KiB, kernels up to 69 KiB; 1.27 MiB left for circular buffers
  Model             Mtiles/s  slowest  % of time waiting: pages/room/network
  constant             0.407  compute  reader 0/71/23 compute 0/0/0 writer 98/0/1
  adaptive_guide       0.407  compute  reader 0/69/23 compute 0/0/0 writer 98/0/1
  adaptive_program     0.407  compute  reader 0/71/23 compute 0/0/0 writer 98/0/1
  advised              0.407  compute  reader 0/73/23 compute 23/0/0 writer 98/0/1
  
  $ tidemark pressure 16 16 --set math_rond=2
  tidemark pressure: --set math_rond=2: column 1: no constant is called 'math_rond': did you mean math_round; --explain-model lists them
  [2]
  $ tidemark pressure 16 16 --set call=-2
  tidemark pressure: --set call=-2: column 6: call is at least 0 and at most 1e+12, and a rate is not 0
  [2]

A pattern of one's own.

  $ cat >relu.cb <<'END'
  > name relu
  > tiles 256
  > format bf16
  > buffer 0 pages=4
  > buffer 16 pages=4
  > kernel reader read push=0:4
  > kernel compute compute op=relu pop=0 push=16
  > kernel writer write pop=16:4
  > END
  $ tidemark pressure --pattern relu.cb
  Pattern        relu: 256 tiles through 2 circular buffers of 3 kernels, on Wormhole n150
  L1 of a core   1464 KiB: firmware 34.19 KiB, kernels up to 69 KiB; 1.33 MiB left for circular buffers
  
  Strategy  CB0  CB16   bytes  used  score  risk  effic.  of L1   map
  given       4     4  16 KiB  100%    1.2  LOW       2%   1.2%  8.1%
  advised     8     8  32 KiB  100%    2.4  LOW       3%   2.4%  9.2%
  
  Model    Mtiles/s  slowest  % of time waiting: pages/room/network
  given       2.742  writer   reader 0/50/30 compute 50/53/0 writer 48/0/32
  advised     4.503  compute  reader 0/17/50 compute 1/0/0 writer 15/0/53
  
  Average pages  CB0  CB16  % of time full
  given          1.1   3.0  5/53
  advised        3.1   4.9  0/0
  256 tiles on one core at 1000 MHz; 3 of the model's 31 constants are assumed: see --explain-model.
  
  Advice
    32 KiB give 100.0% of the best throughput, 4.503 Mtiles/s: nothing smaller reaches 99 % (22 runs of 256
      tiles).
     bytes  CB0  CB16  Mtiles/s  of best  tiles/s per further KiB
    16 KiB    4     4     2.742    60.9%                   +41352
    24 KiB    8     4     3.073    68.2%                  +178780
    32 KiB    8     8     4.503   100.0%                        -
  $ tidemark pressure --pattern relu.cb -o curve.svg --json | python3 -c '
  > import json, sys
  > p = json.load(sys.stdin)["pressure"]
  > print([s["name"] for s in p["strategies"]], p["strategies"][0]["cb1_miss_rate"], p["advice"]["bytes"])
  > print(p["strategies"][0]["model"]["kernels"][1]["name"], len(p["advice"]["curve"]))'
  tidemark pressure: the chart is in curve.svg
  ['given', 'advised'] None 32768
  compute 3

The curve on a terminal; its last step is seen, and so is the only one of a curve that does not rise.

  $ tidemark pressure --pattern relu.cb --chart --ascii | tail -13
  6 M |
      |
      |
      |                                                                     ###################################
  4 M |                                                                     ###################################
      |                                  ...................................###################################
      |########################################################################################################
      |########################################################################################################
  2 M |########################################################################################################
      |########################################################################################################
      |########################################################################################################
      |########################################################################################################
      16 KiB                                 Circular buffers of a core                                 40 KiB
  $ tidemark pressure 1 1 --chart --ascii | tail -1
        16 KiB                                Circular buffers of a core                                32 KiB
  $ printf 'tiles 8\nbuffer 0 pages=2\nbuffer 1 pages=2\nkernel a compute pop=1 push=0\nkernel b compute pop=0 push=1\n' >ring.cb
  $ tidemark pressure --pattern ring.cb --chart >/dev/null
  tidemark pressure: nothing to draw: there is no advice
  [2]

A pattern that deadlocks names the cycle.

  $ cat >stuck.cb <<'END'
  > tiles 16
  > buffer 0 pages=4 fixed
  > buffer 1 pages=4
  > buffer 16 pages=2
  > kernel reader read push=0 times=8
  > kernel reader read push=1 times=8
  > kernel compute compute op=add pop=0,1 push=16
  > kernel writer write pop=16
  > END
  $ tidemark pressure --pattern stuck.cb
    error    given: deadlock: compute waits for pages of buffer 1, which reader pushes; reader waits for room in
             buffer 0, which compute pops
  
  Pattern        stuck.cb: 16 tiles through 3 circular buffers of 3 kernels, on Wormhole n150
  L1 of a core   1464 KiB: firmware 34.19 KiB, kernels up to 69 KiB; 1.33 MiB left for circular buffers
  
  Strategy  CB0  CB1  CB16   bytes  used  score  risk  effic.  of L1   map
  given       4    4     2  40 KiB  100%    2.9  LOW      21%   2.9%  9.8%
  
  Model  Mtiles/s  slowest  % of time waiting: pages/room/network
  given  deadlock  -        reader 0/0/89 compute 26/0/0 writer 0/0/0
  
  Average pages  CB0  CB1  CB16  % of time full
  given          1.5  0.0   0.0  0/0/0
  16 tiles on one core at 1000 MHz; 3 of the model's 31 constants are assumed: see --explain-model.
  
  Advice
    None: it deadlocks whatever the depths that may change: compute waits for pages of buffer 1, which reader
      pushes; reader waits for room in buffer 0, which compute pops.

A depth that blocks do not fit into evenly.

  $ sed 's/buffer 0 pages=4/buffer 0 pages=6/' relu.cb >uneven.cb
  $ tidemark pressure --pattern uneven.cb | sed -n 3p
  Uneven         given: 6 pages of CB0 are not a multiple of 4: a block would cross its end

Wrong patterns.

  $ printf 'tiles 16\nbuffer 0 pages=4\nkernel a read push=0\nkernel b read push=0\nkernel w write pop=0\n' >two.cb
  $ tidemark pressure --pattern two.cb
  tidemark pressure: two.cb:4: both a and b push to buffer 0, which has one producer: give one of them another buffer
  [2]
  $ printf 'tiles 16\nbuffer 0 pages=4\nkernel a read push=7\n' >none.cb
  $ tidemark pressure --pattern none.cb
  tidemark pressure: none.cb:3:20: buffer 7 is not declared: add a line 'buffer 7 pages=N' above
  [2]
  $ printf 'tiles 16\nbuffer 40 pages=4\nkernel a read push=40\nkernel w write pop=40\n' >many.cb
  $ tidemark pressure --pattern many.cb | head -1
    error    given: buffer 40: Wormhole n150 has buffers 0 to 31; the model runs them all the same
  $ tidemark pressure --pattern many.cb --json | grep -E '"(card_buffers|buffers_beyond_card)"'
      "card_buffers": 32,
      "buffers_beyond_card": 1,
  $ tidemark pressure --pattern many.cb --card p150 | head -1
  Pattern        many.cb: 16 tiles through 1 circular buffer of 2 kernels, on Blackhole p150
  $ printf 'tiles 16\nbuffer 0 pages=4 pages=8\nkernel a read push=0\nkernel w write pop=0\n' >twice.cb
  $ tidemark pressure --pattern twice.cb
  tidemark pressure: twice.cb:2:18: 'pages' is there twice: remove one
  [2]
  $ tidemark pressure --pattern missing.cb
  tidemark pressure: missing.cb: cannot be read: No such file or directory
  [2]

Many buffers: one below the other, and of the kernels those that wait least.

  $ chain() { # $1 buffers in a row
  >     echo "name chain"; echo "tiles 16"
  >     for ((i = 0; i < $1; i++)); do echo "buffer $i pages=4"; done
  >     echo "kernel reader read push=0:2"
  >     for ((i = 1; i < $1; i++)); do echo "kernel k$i compute op=add pop=$((i - 1)) push=$i"; done
  >     echo "kernel writer write pop=$(($1 - 1)):2"
  > }
  $ chain 100 >chain.cb; COLUMNS=80 tidemark pressure --pattern chain.cb | sed '/^     [2-9] /d; /^    [1-3][0-9] /d'
    error    given: buffer 32 and 67 more of its 100: Wormhole n150 has buffers 0
             to 31; the model runs them all the same
    error    given: does not fit: its circular buffers take 1600 KiB of each core,
             and 1.33 MiB are left
  
  Pattern        chain: 16 tiles through 100 circular buffers of 101 kernels, on
                 Wormhole n150
  L1 of a core   1464 KiB: firmware 34.19 KiB, kernels up to 69 KiB; 1.33 MiB left
                 for circular buffers
  
  Strategy     bytes  used  score  risk    effic.   of L1     map
  given     1600 KiB  100%  100.0  HIGH       25%  117.6%  116.3%
  advised    424 KiB  100%   31.2  MEDIUM      7%   31.2%   36.0%
  
  buffer   page  given  filled  full  advised  filled  full
       0  4 KiB      4     0.1    0%        4     0.1    0%
       1  4 KiB      4     0.1    0%        1     0.1    5%
    and 60 more
  
  Model    Mtiles/s  slowest  % of time waiting: pages/room/network
  given       0.471  reader   reader 0/0/12 k1 12/0/0 k2 14/0/0 k3 15/0/0 k4
                              16/0/0 k5 17/0/0 k6 17/0/0 k7 18/0/0 and 93 more
                              that wait as long or longer
  advised     0.471  reader   reader 0/0/12 k1 12/5/0 k2 14/5/0 k3 15/5/0 k4
                              16/5/0 k5 17/5/0 k6 18/5/0 k7 18/5/0 and 93 more
                              that wait as long or longer
  16 tiles on one core at 1000 MHz; 3 of the model's 31 constants are assumed: see
    --explain-model.
  
  Advice
    424 KiB give 99.8% of the best throughput, 0.471 Mtiles/s: nothing smaller
      reaches 99 % (429 runs of 16 tiles).
      bytes  Mtiles/s  of best  tiles/s per further KiB
    408 KiB     0.449    95.2%                     +133
    416 KiB     0.450    95.4%                    +2593
    424 KiB     0.471    99.8%                       +2
    824 KiB     0.471   100.0%                        -

Narrow terminals: sentences wrap, and tables go on below.

  $ COLUMNS=40 tidemark pressure 16 16
  Workload       16 A tiles, 8 on each of
                 1x2 devices, and 16 B
                 tiles of 4 KiB (Float32),
                 on Wormhole n150
  Class          medium: balanced
                 allocation: good
                 performance, some
                 pressure
  L1 of a core   1464 KiB: firmware 34.19
                 KiB, kernels up to 69
                 KiB; 1.33 MiB left for
                 circular buffers
  
  Strategy          CB0  CB1  CB2  CB16
  constant            4    4    4     4
  adaptive_guide      6    6    2     2
  adaptive_program    4    4    2     2
  advised             1    2    1     1
  Strategy           bytes  CB1 miss
  constant          64 KiB     75.0%
  adaptive_guide    64 KiB     62.5%
  adaptive_program  48 KiB     75.0%
  advised           20 KiB     87.5%
  Strategy          band    used  score
  constant          MEDIUM  100%   75.0
  adaptive_guide    MEDIUM  100%   62.5
  adaptive_program  MEDIUM  100%   75.0
  advised           HIGH    100%   87.5
  Strategy          risk    effic.  of L1
  constant          HIGH       40%   4.7%
  adaptive_guide    MEDIUM     40%   4.7%
  adaptive_program  HIGH       30%   3.5%
  advised           HIGH       12%   1.5%
  Strategy            map
  constant          11.4%
  adaptive_guide    11.4%
  adaptive_program  10.3%
  advised            8.4%
  
  Model             Mtiles/s  slowest
  constant             1.582  reader
  adaptive_guide       1.582  reader
  adaptive_program     1.582  reader
  advised              1.582  reader
  Model             % of time waiting:
                    pages/room/network
  constant          reader 0/0/88 compute
                    77/0/0 writer 94/0/5
  adaptive_guide    reader 0/0/88 compute
                    77/0/0 writer 94/0/5
  adaptive_program  reader 0/0/88 compute
                    77/0/0 writer 94/0/5
  advised           reader 0/0/88 compute
                    77/0/0 writer 94/0/5
  
  Average pages     CB0  CB1  CB2  CB16
  constant          0.0  0.2  0.7   0.1
  adaptive_guide    0.0  0.2  0.7   0.1
  adaptive_program  0.0  0.2  0.7   0.1
  advised           0.0  0.2  0.7   0.1
  Average pages     % of time full
  constant          0/0/0/0
  adaptive_guide    0/0/0/0
  adaptive_program  0/0/0/0
  advised           1/0/70/6
  128 tiles on one core at 1000 MHz; 3 of
    the model's 31 constants are assumed:
    see --explain-model.
  Pressure counts tiles that do not fit at
    once; it does not say that a core runs
    slower.
  
  Advice
    20 KiB give 100.0% of the best
      throughput, 1.582 Mtiles/s: nothing
      smaller reaches 99 % (28 runs of 128
      tiles).
     bytes  CB0  CB1  CB2  CB16  Mtiles/s
    16 KiB    1    1    1     1     1.314
    20 KiB    1    2    1     1     1.582
     bytes  of best
    16 KiB    83.0%
    20 KiB   100.0%
     bytes  tiles/s per further KiB
    16 KiB                   +67233
    20 KiB                        -
  $ wider() { python3 -c 'import sys; [print(line, end="") for line in sys.stdin if len(line) > int(sys.argv[1]) + 1]' $1; }
  $ COLUMNS=40 tidemark pressure --multi 8 16 | wider 40
  $ COLUMNS=80 tidemark pressure --pattern relu.cb --explain-model | wider 80

A baseline: a budget that grows is exit code 1.

  $ tidemark pressure --pattern relu.cb --save main.json >/dev/null
  $ tidemark pressure --pattern relu.cb --baseline main.json | head -2
  Baseline       main.json: no budget differs
  
  $ sed 's/buffer 0 pages=4/buffer 0 pages=12/' relu.cb >grown.cb
  $ tidemark pressure --pattern grown.cb --baseline main.json >grown.txt
  [1]
  $ head -3 grown.txt
  Baseline       main.json
    error    relu given grew from 16 KiB to 32 KiB, by 16 KiB
  
  $ tidemark pressure --pattern grown.cb --baseline main.json --json >grown.json
  [1]
  $ python3 -c '
  > import json
  > for f in json.load(open("grown.json"))["pressure"]["findings"]:
  >     print(f["what"], f["severity"], f["about"]["name"], f["figures"]["before_bytes"], f["figures"]["after_bytes"])'
  budget_grew error relu given 16384 32768
  $ tidemark pressure --pattern relu.cb --baseline relu.cb
  tidemark pressure: relu.cb: byte 1: not JSON
  [2]
  $ sed 's/"version": 1/"version": 2/' main.json >newer.json
  $ tidemark pressure --pattern relu.cb --baseline newer.json
  tidemark pressure: newer.json: has version 2, and this Tidemark reads version 1: save it again with --save, or take the Tidemark that wrote it
  [2]
  $ tidemark pressure --pattern relu.cb --baseline main.json --l1-used 1358K >lost.txt
  [1]
  $ head -4 lost.txt
  Baseline       main.json
    error    given: does not fit: its circular buffers take 16 KiB of each core, and 2.81 KiB are left
    error    relu advised was 32 KiB and can no longer be computed
  
  $ tidemark pressure 16 16 --save /nonexistent/file.json
  tidemark pressure: --save /nonexistent/file.json: No such file or directory
  [2]

Measured waits.

  $ cat >ops_perf_results.csv <<'END'
  > OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,CORE COUNT,DEVICE KERNEL DURATION [ns],DEVICE COMPUTE CB WAIT FRONT [ns],DEVICE COMPUTE CB RESERVE BACK [ns]
  > Relu,tt_dnn_device,1,0,1,105000,40000,45000
  > Other,tt_dnn_device,2,0,1,1000,10,10
  > END
  $ tidemark pressure --pattern relu.cb --fit ops_perf_results.csv | sed -n 3,6p
  Fitted to      Relu, 1 measured call: transfers x0.90, math x1.45; mean error 0.9% of the kernel time, before
                 7.3%
  
  Time of  measured [ns]  fitted [ns]  before [ns]
  $ tidemark pressure --pattern relu.cb --fit ops_perf_results.csv --operation Matmul
  tidemark pressure: ops_perf_results.csv: no call of Matmul has kernel time and both waits. The profiler measures waits if TT_METAL_PROFILER_SUM=1 is set while the program runs
  [2]
  $ sed 's/Relu,tt_dnn_device,1,0,1,.*/Relu,tt_dnn_device,1,0,1,0,0,0/; /^Other/d' ops_perf_results.csv >no_time.csv
  $ tidemark pressure --pattern relu.cb --fit no_time.csv
  no_time.csv:2: DEVICE KERNEL DURATION [ns]: 0, but kernels that wait take time
  tidemark pressure: no_time.csv: no call has kernel time and both waits. The profiler measures waits if TT_METAL_PROFILER_SUM=1 is set while the program runs
  [2]
  $ sed 's/buffer 0 pages=4/buffer 0 pages=2/' relu.cb >stuck.cb
  $ tidemark pressure --pattern stuck.cb --fit ops_perf_results.csv
  tidemark pressure: stuck.cb deadlocks, so there are no times to fit: leave out --fit to see who waits
  [2]
  $ tidemark pressure --pattern relu.cb --fit relu.cb
  tidemark pressure: relu.cb is not a performance report (ops_perf_results...csv)
  [2]

A report with all columns that the runtime's profiler writes, from two devices. A row that cannot be true is refused with its line.

  $ cp $DATADIR/reports/ops_perf_results_sum.csv .
  $ tidemark pressure --pattern relu.cb --fit ops_perf_results_sum.csv --operation UnaryDeviceOperation | sed -n '/^Fitted/,/^back/p'
  ops_perf_results_sum.csv:9: DEVICE COMPUTE CB WAIT FRONT [ns]: 105500 on each of 1 core, longer than the kernels ran: 105000
  ops_perf_results_sum.csv:10: DEVICE COMPUTE CB RESERVE BACK [ns]: 105200 on each of 2 cores, longer than the kernels ran: 105000
  ops_perf_results_sum.csv:11: DEVICE KERNEL DURATION [ns]: 0, but kernels that wait take time
  ops_perf_results_sum.csv:12: DEVICE COMPUTE CB WAIT FRONT [ns]: a negative number: '-40000'
  ops_perf_results_sum.csv:13: DEVICE COMPUTE CB WAIT FRONT [ns]: not a number: 'inf'
  Fitted to      UnaryDeviceOperation, 2 measured calls: transfers x0.89, math x1.48; mean error 0.6% of the
                 kernel time, before 7.5%
  Not used       4 calls of it without both waits; 3 rows of the report refused
  
  Time of  measured [ns]  fitted [ns]  before [ns]
  kernel          105500       105492        93355
  front            40500        42338        47055
  back             44500        44414        49390
  $ tidemark pressure --pattern relu.cb --fit ops_perf_results_sum.csv --operation UnaryDeviceOperation --json 2>/dev/null | grep -A 8 '"fit"'
      "fit": {
        "operation": "UnaryDeviceOperation",
        "calls": 2,
        "transfers_factor": 0.8908987181,
        "math_factor": 1.476826146,
        "error_share": 0.006105346169,
        "error_share_before": 0.07453315482,
        "calls_without_waits": 4,
        "rows_refused": 3,
  $ tidemark pressure --pattern relu.cb --fit ops_perf_results_sum.csv 2>&1 >/dev/null | wc -l
  5
  $ tidemark info ops_perf_results_sum.csv | grep -E 'Operation|refused'
  ops_perf_results_sum.csv:9: DEVICE COMPUTE CB WAIT FRONT [ns]: 105500 on each of 1 core, longer than the kernels ran: 105000
  ops_perf_results_sum.csv:10: DEVICE COMPUTE CB RESERVE BACK [ns]: 105200 on each of 2 cores, longer than the kernels ran: 105000
  ops_perf_results_sum.csv:11: DEVICE KERNEL DURATION [ns]: 0, but kernels that wait take time
  ops_perf_results_sum.csv:12: DEVICE COMPUTE CB WAIT FRONT [ns]: a negative number: '-40000'
  ops_perf_results_sum.csv:13: DEVICE COMPUTE CB WAIT FRONT [ns]: not a number: 'inf'
  Operation              calls  measured  kernel ns  front   back  waits for
  UnaryDeviceOperation       6         2    631,000  38.4%  42.2%  room
  MatmulDeviceOperation      1         1     20,000  50.0%   5.0%  input
  UnaryDeviceOperation   1024       0      1    105,000    40,000   45,000
  UnaryDeviceOperation   1024       1      1    106,000    41,000   44,000
  MatmulDeviceOperation  6144       0     64     20,000    10,000    1,000

Wrong usage.

  $ tidemark pressure
  tidemark pressure: how many tiles? A and B, as in 'tidemark pressure 16 16'; or --multi, or --pattern FILE
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 16
  tidemark pressure: how many tiles? A and B, as in 'tidemark pressure 16 16'; or --multi, or --pattern FILE
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 16 x
  tidemark pressure: 'x' is not a number of tiles from 1 to 1000000
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 0 1
  tidemark pressure: '0' is not a number of tiles from 1 to 1000000
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 16 16 --mesh 3
  tidemark pressure: --mesh '3': expected ROWSxCOLUMNS, each from 1 to 1024, such as 1x2
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 16 16 --format int3
  tidemark pressure: --format 'int3' has no tiles; fp32, bf16 and bfp8 do: see 'tidemark device show'
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 16 16 --pattern relu.cb
  tidemark pressure: a pattern has its own sizes: leave out A, B and --multi
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 16 16 --card n999
  tidemark pressure: unknown card 'n999'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  [2]
  $ tidemark pressure 16 16 --operation X
  tidemark pressure: --operation is for --fit FILE
  tidemark pressure: see 'tidemark pressure --help'
  [2]
  $ tidemark pressure 16 16 --mesh 1025x1 2>&1 | head -1
  tidemark pressure: --mesh '1025x1': expected ROWSxCOLUMNS, each from 1 to 1024, such as 1x2
  $ tidemark pressure --multi 1 2>&1 | head -1
  1 A tile, 1 B tile: small
  $ tidemark pressure 1000000000000000000 1 2>&1 | head -1
  tidemark pressure: '1000000000000000000' is not a number of tiles from 1 to 1000000
  $ tidemark pressure --pattern /dev/zero
  tidemark pressure: /dev/zero: a pattern file has at most 4194304 bytes
  [2]
  $ tidemark pressure --pattern .
  tidemark pressure: .: cannot be read: Is a directory
  [2]
  $ tidemark pressure 16 16 --explain-model --json | grep -A 3 '"name": "pack_fixed"' | grep known_as
          "known_as": "derived",

Figures of buffers that stand beside one another are never joined, nor is a large share cut.

  $ printf '%s\n' 'tiles 4000' 'format bfp8' 'set dram_write_bandwidth=1' 'buffer 0 pages=400' 'buffer 4095 pages=1000' \
  >   'kernel reader read push=0' 'kernel compute compute cycles=1 pop=0 push=4095' 'kernel writer write pop=4095' > wide.cb
  $ COLUMNS=80 tidemark pressure --pattern wide.cb | sed -n '/^Strategy/,/^$/p; /^Average/,+2p; /further KiB/,+1p'
  Strategy  CB0  CB4095     bytes  used  score  risk  effic.   of L1     map
  given     400    1000  1.45 MiB  100%  100.0  HIGH     18%  109.3%  108.7%
  advised     1       2  3.19 KiB  100%    0.2  LOW       0%    0.2%    7.3%
  
  Average pages    CB0  CB4095  % of time full
  given          197.3   789.5  24/55
  advised          0.6     1.9  58/94
       bytes  CB0  CB4095  Mtiles/s  of best  tiles/s per further KiB
    2.12 KiB    1       1     0.808    93.5%                   +53101
  $ (echo tiles 2; for i in {0..399}; do echo buffer $i pages=40; done; echo kernel r read push=0
  >   for i in {1..399}; do echo kernel c$i compute op=copy pop=$((i - 1)) push=$i; done; echo kernel w write pop=399) > many.cb
  $ COLUMNS=80 tidemark pressure --pattern many.cb | sed -n '/^Strategy/,/^$/p'
  Strategy      bytes  used  score  risk  effic.    of L1      map
  given     62.50 MiB    5%  100.0  HIGH      5%  4703.1%  4378.6%
  

A fit stands between what is wrong with the buffers and the strategies.

  $ sed 's/pages=4$/pages=400/' relu.cb > large.cb
  $ COLUMNS=80 tidemark pressure --pattern large.cb --l1-used 1MiB --fit ops_perf_results.csv | sed '/^Strategy/q'
    error    given: does not fit: its circular buffers take 1600 KiB of each core,
             and 336.81 KiB are left
  
  Pattern        relu: 256 tiles through 2 circular buffers of 3 kernels, on
                 Wormhole n150
  L1 of a core   1464 KiB: firmware 34.19 KiB, kernels up to 69 KiB, L1 buffers 1
                 MiB; 336.81 KiB left for circular buffers
  Fitted to      Relu, 1 measured call: transfers x2.17, math x1.32; mean error
                 14.3% of the kernel time, before 42.0%
  
  Time of  measured [ns]  fitted [ns]  before [ns]
  kernel          105000       104986        56847
  front            40000        40003          719
  back             45000            0            0
  
  Strategy  CB0  CB16     bytes  used  score  risk  effic.   of L1     map
