Training phases: logs of tt-train, ledgers, charts.

  $ logs=$DATADIR/train; export TIDEMARK_DIR=$PWD/shm; mkdir shm
  $ tidemark phases --logs $logs/tinyllama.log | sed "s|$logs/||"
  tinyllama (memory_efficient) (tinyllama.log:4)
    Number of parameters: 969,369,600
  
    Phase (MiB)             Peak  Allocated      Freed     Change  Peak so far    In use  L1 peak
    MODEL_CREATION      1,863.25   1,863.25       0.00  +1,863.25     1,863.25  1,863.25     0.00
    OPTIMIZER_CREATION  3,708.76   3,708.76       0.00  +3,708.76     5,572.01  5,572.01     0.00
    FORWARD_PASS          996.35  21,043.10  20,850.15    +192.95     6,568.36  5,764.96     0.88
    BACKWARD_PASS       2,513.69  61,220.41  59,557.34  +1,663.07     8,278.65  7,428.04     0.92
  
    Size (MiB)          Measured  Expected  Difference
    Model parameters    1,863.25  1,848.93      +0.77%
    Optimizer state     3,708.76  3,697.85      +0.29%
    Gradients           1,856.03  1,848.93      +0.38%
    Activations           192.95         -           -
    Gradients overhead  2,513.69         -           -  peak of the backward pass above its start
    Other                  25.23         -           -  peak less expected model and optimizer, activations and overhead
    Peak DRAM           8,278.65         -           -
  
    Fits: the peak is 67.37% of the device's 12 GiB (from the log); 3.92 GiB stay free
  
  tinyllama (default) (tinyllama.log:27)
    Number of parameters: 969,369,600
  
    Phase (MiB)              Peak  Allocated      Freed     Change  Peak so far     In use  L1 peak
    MODEL_CREATION       1,863.25   1,863.25       0.00  +1,863.25     1,863.25   1,863.25     0.00
    OPTIMIZER_CREATION   3,708.63   3,708.63       0.00  +3,708.63     5,571.88   5,571.88     0.00
    FORWARD_PASS        10,019.39  20,512.77  10,876.75  +9,636.02    15,591.27  15,207.89     0.88
    BACKWARD_PASS          458.75  43,018.22  50,799.09  -7,780.87    15,666.65   7,427.02     0.92
  
    Size (MiB)           Measured  Expected  Difference
    Model parameters     1,863.25  1,848.93      +0.77%
    Optimizer state      3,708.63  3,697.85      +0.29%
    Gradients            1,855.14  1,848.93      +0.34%
    Activations          9,636.02         -           -
    Gradients overhead     458.75         -           -  peak of the backward pass above its start
    Other                   25.10         -           -  peak less expected model and optimizer, activations and overhead
    Peak DRAM           15,666.65         -           -
  
    Does not fit: the peak is 127.50% of the device's 12 GiB (from the log); 3.30 GiB too much
    What would help, if activations shrink in proportion and nothing else grows:
      gradient checkpointing (memory_efficient): fits if at most 64.9% of the activations are kept; with none of them the peak is 5.89 GiB
        measured: 'tinyllama (memory_efficient)' keeps 2.0% and its peak is 8.08 GiB
      smaller batch: with 1/2 of it the peak is 10.59 GiB
      gradient accumulation: the same peak with the whole batch in 2 steps

With micro-batches.

  $ tidemark phases - <$logs/micro_batches.log
  summary 1 (standard input:4)
    Number of parameters: 124,439,808
  
    Phase (MiB)                 Peak  Allocated     Freed     Change  Peak so far    In use  L1 peak
    MODEL_CREATION            240.00     240.00      0.00    +240.00       240.00    240.00     0.75
    OPTIMIZER_CREATION        476.00     480.00      4.00    +476.00       716.00    716.00     0.75
    FORWARD_PASS_micro_0      900.00   1,200.00    400.00    +800.00     1,616.00  1,516.00     0.75
    BACKWARD_PASS_micro_0     350.00   2,000.00  2,560.00    -560.00     1,866.00    956.00     0.75
    FORWARD_PASS_micro_1      910.00   1,200.00    390.00    +810.00     1,866.00  1,766.00     0.75
    BACKWARD_PASS_micro_1     340.00   1,900.00  2,710.00    -810.00     2,106.00    956.00     0.75
    FIRST_ITERATION_COMPLETE   10.00      10.00     10.00      +0.00     2,106.00    956.00     0.75
    FORWARD_PASS, all 2       910.00   2,400.00    790.00  +1,610.00     1,866.00  1,766.00     0.75
    BACKWARD_PASS, all 2      350.00   3,900.00  5,270.00  -1,370.00     2,106.00    956.00     0.75
  
    Size (MiB)          Measured  Expected  Difference
    Model parameters      240.00    237.35      +1.12%
    Optimizer state       476.00    474.70      +0.27%
    Gradients             240.00    237.35      +1.12%
    Activations           810.00         -           -  the largest of 2 passes, which do not overlap
    Gradients overhead    350.00         -           -  peak of the backward pass above its start
    Other                 233.95         -           -  peak less expected model and optimizer, activations and overhead
    Peak DRAM           2,106.00         -           -
  
    Fits: the peak is 17.20% of the device's 11.96 GiB (from the log); 9.90 GiB stay free

The text of print_memory_usage, and nothing else.

  $ tidemark phases --print $logs/tinyllama.log >printed; sed -n '/===/,$p' $logs/tinyllama.log | grep -v '^tinyllama' | diff - printed

Graph captures, one for each phase: what tt-train's own code prints for them.

  $ captures=(--capture MODEL_CREATION=$DATADIR/graph/g21-d1.json --capture FORWARD_PASS=$DATADIR/graph/g22-d1.json --capture BACKWARD_PASS=$DATADIR/graph/g23-d2.json)
  $ tidemark phases "${captures[@]}" --print | diff - $DATADIR/graph/print_memory_usage.expected
  $ tidemark phases "${captures[@]}" --capture MORE=absent.json | grep -v '^$'
  tidemark phases: absent.json: No such file or directory
  captures
    This summary is not complete: the missing parts are left out
    Phase (MiB)     Peak  Allocated  Freed  Change  Peak so far  In use  L1 peak
    MODEL_CREATION  0.43       0.73   0.73   +0.00         0.43    0.00     0.41
    FORWARD_PASS    6.33      10.95   4.90   +6.04         6.33    6.04     0.51
    BACKWARD_PASS   1.82       6.41   6.26   +0.14         7.86    6.18     0.32
    Size (MiB)          Measured  Expected  Difference
    Model parameters        0.00         -  -
    Optimizer state            -         -  -
    Gradients                  -         -  -
    Activations             6.04         -  -
    Gradients overhead      1.82         -  -           peak of the backward pass above its start
    Other                   0.00         -  -           the rest of the peak, including the unknown parts
    Peak DRAM               7.86         -  -
    Fits so far, and the rest is not known: the peak is 0.06% of the device's 12 GiB (assumed: neither the input nor --device_memory says); 11.99 GiB stay free
  $ tidemark phases --capture A=$logs/tinyllama.log 2>&1 | sed "s|$logs/||"
  tidemark phases: tinyllama.log: byte 1, after node 0: lexical error: invalid char in json text
  $ tidemark phases --capture =a.json
  tidemark phases: --capture '=a.json': expected NAME=FILE, such as FORWARD_PASS=forward.json
  tidemark phases: see 'tidemark phases --help'
  [2]

The options of analyze_memory.py, also with dashes.

  $ tidemark phases --logs $logs/tinyllama.log --device_memory 1.6e10 --model_size 1938739200.0 --optimizer_size 4G \
  >   --gradients-size=2G --use_actual_sizes | grep -A 9 Size | head -10
    Size (MiB)          Measured  Expected  Difference
    Model parameters    1,863.25  1,848.93      +0.77%
    Optimizer state     3,708.76  4,096.00      -9.45%
    Gradients           1,856.03  2,048.00      -9.37%
    Activations           192.95         -           -
    Gradients overhead  2,513.69         -           -  peak of the backward pass above its start
    Other                   0.00         -           -  peak less measured model and optimizer, activations and overhead
    Peak DRAM           8,278.65         -           -
  
    Fits: the peak is 54.25% of the device's 14.90 GiB (as given); 6.82 GiB stay free
  $ tidemark phases --logs $logs/tinyllama.log --device-memory 5000MiB | tail -5
  
    Does not fit: the peak is 313.33% of the device's 5000 MiB (as given); 10.42 GiB too much
    What would help, if activations shrink in proportion and nothing else grows:
      gradient checkpointing (memory_efficient): not enough; without any activations the peak is still 5.89 GiB
      smaller batch, gradient accumulation: not enough either, for the same reason

A run without parameters has no theory; without a device's memory 12 GiB are assumed.

  $ sed '/parameters/d; /Available/d' $logs/tinyllama.log | tidemark phases -l - | sed -n '9,19p'
    Size (MiB)          Measured  Expected  Difference
    Model parameters    1,863.25         -  -
    Optimizer state     3,708.76         -  -
    Gradients           1,856.03         -  -
    Activations           192.95         -  -
    Gradients overhead  2,513.69         -  -           peak of the backward pass above its start
    Other                   0.00         -  -           peak less measured model and optimizer, activations and overhead
    Peak DRAM           8,278.65         -  -
  
    Fits: the peak is 67.37% of the device's 12 GiB (assumed: neither the input nor --device_memory says); 3.92 GiB stay free
  

Charts.

  $ tidemark phases --logs $logs/tinyllama.log --visualize_peak --title "TinyLlama" >/dev/null; ls
  tidemark phases: the chart is in memory_peak_visualization.png
  memory_peak_visualization.png
  printed
  shm
  $ head -c 4 memory_peak_visualization.png | tail -c 3; echo
  PNG
  $ tidemark phases $logs/tinyllama.log --visualize_peak --output peak.svg >/dev/null
  tidemark phases: the chart is in peak.svg
  $ grep -o '>[^<]*</text>' peak.svg | sed 's/<.*//' | grep -v '^>[0-9]* GiB'
  >Other
  >Model Parameters
  >Gradients Overhead
  >Optimizer State
  >Activations
  >Device Memory Limit
  >0
  >2,000 MiB
  >4,000 MiB
  >6,000 MiB
  >8,000 MiB
  >10,000 MiB
  >12,000 MiB
  >14,000 MiB
  >16,000 MiB
  >18,000 MiB
  >Peak DRAM
  >12,288 MiB
  >1,849 MiB
  >2,514 MiB
  >3,698 MiB
  >25.2 MiB
  >193 MiB
  >67.4 % of the limit
  >Total 8,279 MiB
  >tinyllama (memory_efficient)
  >1,849 MiB
  >3,698 MiB
  >9,636 MiB
  >25.1 MiB
  >459 MiB
  >3,379 MiB too much
  >Total 15,667 MiB
  >tinyllama (default)
  $ grep -c 'class="part"' peak.svg; grep -o 'fill="#[0-9a-f]*"' peak.svg | sort | uniq -c | sort -rn | grep -E 'cccccc|4da6b8|e789ab|cec0fa|e38a42'
  10
        3 fill="#e789ab"
        3 fill="#e38a42"
        3 fill="#cec0fa"
        3 fill="#cccccc"
        3 fill="#4da6b8"
  $ tidemark phases $logs/tinyllama.log --chart time --output time.pdf --size 800x600 --scale 2 >/dev/null; head -c 5 time.pdf; echo
  tidemark phases: the chart is in time.pdf
  %PDF-
  $ tidemark phases $logs/tinyllama.log --chart peak --ascii --title Peaks | tail -6
  Peaks
  # Other  = Model Parameters  + Gradients Overhead  o Optimizer State
  - Activations
  tinyllama (memory_efficient)  ====++++++ooooooooo         |            8,279 MiB
  tinyllama (default)           ====+ooooooooo--------------|-------    15,667 MiB
  | Device Memory Limit: 12,288 MiB
  $ tidemark phases $logs/tinyllama.log $logs/micro_batches.log --chart time --ascii >out; grep -A 20 '^highest' out
  tidemark phases: 1 run with other phases than the first is not in the chart
  highest of tinyllama (memory_efficient), tinyllama (default)
  20,000 MiB |
             |
             |                                         ...................
  15,000 MiB |                                        #####################
             |--------------------------------------.#######################.----
             |                                     ###########################.
  10,000 MiB |                                   .##############################
             |                                  .################################
             |                        .........##################################
   5,000 MiB |                    .##############################################
             |       ..........##################################################
             |...################################################################
             |MODEL_CREATION  |OPTIMIZER_CRE...|FORWARD_PASS   |BACKWARD_PASS
  - Device Memory Limit: 12,288 MiB

Runs on devices of different size have a limit each.

  $ sed 's/Memory: 12288 MB/Memory: 32768 MB/; s/^tinyllama/larger/' $logs/tinyllama.log >larger.log
  $ tidemark phases $logs/tinyllama.log larger.log --chart peak --ascii | tail -5
  tinyllama (memory_efficient)  ==+++oooo     |                          8,279 MiB
  tinyllama (default)           ==+oooo-------|--                       15,667 MiB
  larger (memory_efficient)     ==+++oooo                           |    8,279 MiB
  larger (default)              ==+oooo----------                   |   15,667 MiB
  | Device Memory Limit: one for each bar
  $ tidemark phases $logs/tinyllama.log larger.log --chart time --ascii | grep -A 2 'Device memory'
  Device memory: 12 GiB to 32 GiB
  highest of tinyllama (memory_efficient), tinyllama (default), larger
  (memory_efficient), larger (default)
  $ tidemark phases $logs/tinyllama.log larger.log --chart peak -o two.svg >/dev/null; grep -o '>[^<>]*% of[^<]*' two.svg
  tidemark phases: the chart is in two.svg
  >67.4 % of 12,288 MiB
  >25.3 % of 32,768 MiB
  >47.8 % of 32,768 MiB

Runs are named as in their logs, whole; if the names are the same, with the file.

  $ cp $logs/micro_batches.log monday.log; mkdir -p later; sed 's/2106.00/2107.00/' monday.log > later/tuesday.log
  $ tidemark phases monday.log later/tuesday.log $logs/tinyllama.log --chart peak --ascii | tail -5
  monday.log: summary 1         #+o--                       |            2,106 MiB
  tuesday.log: summary 1        #+o--                       |            2,107 MiB
  tinyllama (memory_efficient)  ====++++++ooooooooo         |            8,279 MiB
  tinyllama (default)           ====+ooooooooo--------------|-------    15,667 MiB
  | Device Memory Limit: one for each bar
  $ tidemark phases monday.log later/tuesday.log --chart time -o days.svg > /dev/null; grep -o '>[a-z]*.log[^<]*<' days.svg
  tidemark phases: the chart is in days.svg
  >monday.log: summary 1<
  >tuesday.log: summary 1<
  >monday.log: summary 1<
  >tuesday.log: summary 1<

A limit far above everything is said, not drawn.

  $ tidemark phases $logs/micro_batches.log --device_memory 1TiB --chart peak --ascii | tail -5
  
  Device memory: 1 TiB, far above what is shown
  # Other  = Model Parameters  + Gradients Overhead  o Optimizer State
  - Activations
  summary 1  ######======+++++++++ooooooooooooo---------------------     2,106 MiB

Figures of a TiB and more do not run together.

  $ sed 's/61220.41 MB/61220410.12 MB/' $logs/tinyllama.log >tera.log
  $ tidemark phases tera.log | sed -n '4,13p'
    Phase (MiB)             Peak      Allocated      Freed     Change  Peak so far    In use  L1 peak
    MODEL_CREATION      1,863.25       1,863.25       0.00  +1,863.25     1,863.25  1,863.25     0.00
    OPTIMIZER_CREATION  3,708.76       3,708.76       0.00  +3,708.76     5,572.01  5,572.01     0.00
    FORWARD_PASS          996.35      21,043.10  20,850.15    +192.95     6,568.36  5,764.96     0.88
    BACKWARD_PASS       2,513.69  61,220,410.12  59,557.34  +1,663.07     8,278.65  7,428.04     0.92
  
    Size (MiB)          Measured  Expected  Difference
    Model parameters    1,863.25  1,848.93      +0.77%
    Optimizer state     3,708.76  3,697.85      +0.29%
    Gradients           1,856.03  1,848.93      +0.38%

Where a part is not known, the rest of the peak holds it.

  $ sed '0,/+192.95/s//+much/' $logs/tinyllama.log >unknown.log
  $ tidemark phases unknown.log 2>&1 | grep -m 3 -E 'much|Activations|Other'
  unknown.log:15:100: expected 'Segment Change' and a number of MB, got '+much MB'
    Activations                -         -           -
    Other                 218.18         -           -  the rest of the peak, including the unknown parts

Long texts above a chart are folded, and of many names the first are there.

  $ tidemark phases $logs/tinyllama.log --chart peak --ascii --title "$(seq -s " " 40)" | grep -A 1 '^1 2 3'
  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
  31 32 33 34 35 36 37 38 39 40
  $ for i in $(seq 30); do sed "/^tinyllama (default)/,\$d; s/^tiny.*/run $i of a long series/" $logs/tinyllama.log; done >series.log
  $ tidemark phases series.log --chart time --ascii | grep -A 3 '^highest'
  highest of run 1 of a long series, run 2 of a long series, run 3 of a long
  series, run 4 of a long series, run 5 of a long series, run 6 of a long series
  and 24 more
  15,000 MiB |

A bar of parts that make more than the total is longer than it, which is said.

  $ tidemark phases $logs/tinyllama.log --model_size 4GiB --chart peak --ascii | tail -4
  tinyllama (memory_efficient)  #######====+++++++++|+++                 8,279 MiB
  tinyllama (default)           #######+++++++++++++|ooooooooooooooo    15,667 MiB
  | Device Memory Limit: 12,288 MiB
  2 bars are longer than the total: the parts add up to more

Many phases make a picture wider, so that their names have room.

  $ sed '/^=== Final/,$d; /^--- FORWARD/,$d' $logs/tinyllama.log >head.log
  $ { cat head.log; for i in $(seq 20); do sed -n '/^--- FORWARD/,/L1/p' $logs/tinyllama.log | sed -n '1,4p'; done; } >many_phases.log
  $ tidemark phases many_phases.log --chart time -o wide.svg >/dev/null 2>&1; grep -o '^<svg.* viewBox="[^"]*"' wide.svg; grep -c '>FORWARD_PASS</text>' wide.svg
  <svg xmlns="http://www.w3.org/2000/svg" width="3300" height="675" viewBox="0 0 3300 675"
  20

A run that allocates nothing has a chart, too.

  $ sed '/params/d; /parameters/d; /DRAM/s/[0-9.]* MB/0.00 MB/g' $logs/micro_batches.log >zero.log
  $ tidemark phases zero.log --chart peak --ascii | tail -4
  # Other  = Model Parameters  + Gradients Overhead  o Optimizer State
  - Activations
  summary 1                                                         |        0 MiB
  | Device Memory Limit: 12,246 MiB

What is not in a chart is said.

  $ for i in $(seq 66); do sed '/^tinyllama (default)/,$d' $logs/tinyllama.log; done >many.log
  $ tidemark phases many.log $logs/micro_batches.log --chart time -o many.svg >out
  tidemark phases: 1 run with other phases than the first is not in the chart
  tidemark phases: 2 runs beyond the first 64 are not in the chart
  tidemark phases: the chart is in many.svg

Less than nothing by less than a log can say stays less than nothing.

  $ sed 's/+0.00 MB/-0.00 MB/' $logs/micro_batches.log >minus.log
  $ tidemark phases --print minus.log | grep -c -e -0.00
  1

What a launcher, a CI system or the logger puts before every line is not part of a run's name.

  $ for head in '[1,0]<stdout>: ' '2026-11-15T07:36:19.238Z ' '2026-11-15 07:36:19.238 | info     |  Train | '; do
  >   sed "s/^=== Mem/\n&/" $logs/tinyllama.log | sed "s/^/$head/" | tidemark phases - | grep -m 1 input
  > done
  tinyllama (memory_efficient) (standard input:5)
  tinyllama (memory_efficient) (standard input:5)
  tinyllama (memory_efficient) (standard input:5)

A pipe is read like a file.

  $ mkfifo pipe; cat $logs/tinyllama.log >pipe & timeout 60 tidemark phases --print pipe | diff - printed; rm pipe

Wrong usage.

  $ tidemark phases
  tidemark phases: which runs? --logs FILE, a ledger's path, --pid PID, a report of ttnn or --capture NAME=FILE
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --output chart.jpeg
  tidemark phases: --output chart.jpeg: the name of a picture must end in .png, .svg or .pdf
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --chart pie
  tidemark phases: --chart 'pie': expected peak or time
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --chart peak --json
  tidemark phases: --chart with --json needs --output FILE
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --visualize_peak --chart time
  tidemark phases: --visualize_peak means --chart peak: only one chart at a time
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --device_memory -5
  tidemark phases: --device_memory '-5': expected a size such as 4096, 64K or 1.5GiB
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --size 3x4
  tidemark phases: --size '3x4': expected WIDTHxHEIGHT, each from 160 to 20000
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --scale 99
  tidemark phases: --scale '99': expected a number from 0.25 to 8
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases a.log --print --json
  tidemark phases: --print and --json cannot be combined
  tidemark phases: see 'tidemark phases --help'
  [2]
  $ tidemark phases --pid nobody
  tidemark phases: --pid 'nobody': expected a process id
  tidemark phases: see 'tidemark phases --help'
  [2]

Bad input: what can be used is used, and the rest is said.

  $ : >empty.log; echo loss 3.1 >none.log; head -15 $logs/tinyllama.log >cut.log
  $ tidemark phases empty.log none.log absent.log .
  tidemark phases: empty.log: the file is empty
  tidemark phases: none.log: no memory usage summary in it; train_nanogpt.py prints one with --track_memory, and so does
    any program that calls MemoryUsageTracker's print_memory_usage()
  tidemark phases: absent.log: No such file or directory
  tidemark phases: .: Is a directory
  [2]
  $ tidemark phases /proc/self/mem $logs/micro_batches.log | grep -c '^summary 1'
  /proc/self/mem: cannot read on: Input/output error
  1
  $ tidemark phases cut.log | grep -v '^  *[A-Z].*[0-9]'
  cut.log:14:1: the phase is left out: its DRAM figures are incomplete
  cut.log:4:1: the summary has no end: 'Overall DRAM Peak' is missing
  tinyllama (memory_efficient) (cut.log:4)
    This summary is not complete: the missing parts are left out
  
  
    Size (MiB)          Measured  Expected  Difference
    Activations                -         -           -
    Gradients overhead         -         -           -  peak of the backward pass above its start
  
  $ sed 's/Allocations 61220.41/Allocations a lot/' $logs/tinyllama.log >wrong.log
  $ tidemark phases wrong.log | grep -E '^tiny|Fits|fit:|complete|BACKWARD'
  wrong.log:19:46: expected 'Allocations' and a number of MB, got 'a lot MB, Deallocations 59557.34 MB, Segment...'
  tinyllama (memory_efficient) (wrong.log:4)
    This summary is not complete: the missing parts are left out
    Fits: the peak is 67.37% of the device's 12 GiB (from the log); 3.92 GiB stay free
  tinyllama (default) (wrong.log:27)
    BACKWARD_PASS          458.75  43,018.22  50,799.09  -7,780.87    15,666.65   7,427.02     0.92
    Does not fit: the peak is 127.50% of the device's 12 GiB (from the log); 3.30 GiB too much
  $ (head -c 2200M /dev/zero; echo; cat $logs/tinyllama.log) | tidemark phases - | sed -n '1p;/^  MODEL_CREATION/p'
  standard input:1: a line that is too long: it is left out
  tinyllama (memory_efficient) (standard input:5)
    MODEL_CREATION      1,863.25   1,863.25       0.00  +1,863.25     1,863.25  1,863.25     0.00
    MODEL_CREATION       1,863.25   1,863.25       0.00  +1,863.25     1,863.25   1,863.25     0.00
  $ iconv -f UTF-8 -t UTF-16 $logs/tinyllama.log >wide.log; tidemark phases --print wide.log | diff - <(tidemark phases --print $logs/tinyllama.log)
  $ sed 's/tinyllama/tiny\xe9/' $logs/tinyllama.log | tidemark phases - | grep '^tiny'
  tiny? (memory_efficient) (standard input:4)
  tiny? (default) (standard input:27)
  $ seq 20000 | gzip -n | tail -c +2 >junk; cat $logs/tinyllama.log >>junk; tidemark phases junk 2>/dev/null | grep -c '^  MODEL_CREATION'
  2
  $ sed 's/$/\r/' $logs/tinyllama.log >crlf.log; tidemark phases crlf.log | grep -v log: >crlf; tidemark phases $logs/tinyllama.log | grep -v log: | diff - crlf
  $ tidemark phases $logs/tinyllama.log --output absent/chart.svg >/dev/null
  tidemark phases: cannot write absent/chart.svg: No such file or directory
  [2]
  $ tidemark phases $logs/tinyllama.log --json empty.log 2>/dev/null >phases.json
  [2]
  $ python3 - <<'END'
  > import json
  > top = json.load(open("phases.json"))
  > one, two = top["phases"]["inputs"]
  > assert top["schema"] == "tidemark.phases" and two["runs"] == [] and one["source"] == "train_log"
  > for run in one["runs"]:
  >     print(run["name"], run["fits"], run["peak_dram"], run["device_memory_source"], run["model"], run["peak_parts"])
  > print(one["runs"][1]["advice"], one["runs"][1]["no_advice_reason"])
  > END
  tinyllama (memory_efficient) True 8680793702 input {'measured': 1953759232, 'expected': 1938739200, 'difference_percent': 0.7747319495} {'other': 26458358, 'model': 1938739200, 'gradients_overhead': 2635795005, 'optimizer': 3877478400, 'activations': 202322739, 'model_and_optimizer': 'expected'}
  tinyllama (default) False 16427673190 input {'measured': 1953759232, 'expected': 1938739200, 'difference_percent': 0.7747319495} {'other': 26322042, 'model': 1938739200, 'gradients_overhead': 481034240, 'optimizer': 3877478400, 'activations': 10104099308, 'model_and_optimizer': 'expected'}
  {'assumes': 'activations shrink in proportion and nothing else grows', 'peak_without_activations': 6323563397, 'activations_kept_at_most': 0.6493739116, 'batch_divisor': 2, 'batch_divided_peak': 11375613051, 'run_that_fits': 'tinyllama (memory_efficient)'} None

Ledgers: of a process, or by path. A mark has no peak.

  $ tidemark phases --pid 1 2>&1 | sed "s|$PWD|.|"
  tidemark phases: process 1 has no ledger in ./shm: it is not tracked, or its ledger is elsewhere (--dir)
  $ { TIDEMARK=1 $TOOLS/tracked crash; } 2>/dev/null
  [137]
  $ tidemark phases shm/*/* | sed -E "s|$PWD|.|g; s/-[0-9]+\/[0-9]+\.[0-9]+\.[0-9]+/-UID\/PID/; s/\([0-9]+\)/(PID)/"
  tracked (PID), marks (shm/tidemark-UID/PID)
    forward has not ended: its figures are those so far
  
    Phase (MiB)  Peak  Allocated  Freed  Change  Peak so far  In use  L1 peak
    forward         -          -      -   +0.02            -    0.02        -
  
    Whether it fits is not known: the peak is not known.
  $ tidemark phases --print shm/*/* 2>&1 | sed -E 's/\([0-9]+\)/(PID)/'
  tidemark phases: tracked (PID), marks are left out: a mark has no peak
