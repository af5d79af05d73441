Input that has no end, or unpacks to gigabytes. The limits are those of the commands, so this takes long.

  $ D=$DATADIR; cp $D/logs/demo.log l.log; gzip -n l.log

A bomb costs time, but no memory: 2 GiB of zeros in little more than nothing.

  $ python3 - <<'.'
  > import gzip, lzma, resource, subprocess
  > zeros = gzip.compress(bytes(1 << 20), mtime=0)
  > open("bomb", "wb").write(lzma.compress(zeros * 2048))
  > print(subprocess.run(["tidemark", "log", "bomb"], capture_output=True, text=True).stdout.split("\n")[0])
  > print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 400000)
  > .
  Log            bomb: 1 line, 2 GiB
  True

Without a line end for ever: an error, in every command. JSON may have no line ends, but tokens.

  $ tidemark info /dev/zero 2>&1 | cut -c 1-48
  /dev/zero: not a kind of file that is known here
  $ for command in 'log' 'phases' 'simulate' 'log --follow' 'info --json'; do timeout 100 tidemark $command /dev/zero > /dev/null 2>&1; echo $command: $?; done
  log: 2
  phases: 2
  simulate: 2
  log --follow: 2
  info --json: 2
  $ tidemark phases /dev/zero
  /dev/zero: cannot read on: not text: 256 MiB, or 4 GiB of zeros, without a line of text
  [2]
  $ tidemark simulate /dev/zero
  /dev/zero:2: cannot read on: not text: 256 MiB, or 4 GiB of zeros, without a line of text
  [2]
  $ noise() { /usr/bin/python3 -c 'import random, sys
  > piece = random.Random(1).randbytes(1 << 20)
  > while True: sys.stdout.buffer.write(piece)' 2>/dev/null; }
  $ noise | tidemark log - 2>&1 > /dev/null
  tidemark log: standard input:*: cannot read on: not text: 256 MiB, or 4 GiB of zeros, without a line of text (glob)
  [2]
  $ noise | tidemark phases --logs - 2>&1
  standard input: cannot read on: not text: 256 MiB, or 4 GiB of zeros, without a line of text
  [2]
  $ endless() { tr '\0' x < /dev/zero; }
  $ mkdir copies; endless | TMPDIR=copies tidemark info - 2>&1 | head -2; ls copies
  standard input:1:262145: the line is longer than 256 KiB: only its beginning was looked at
  standard input:1: cannot read on: not text: 256 MiB, or 4 GiB of zeros, without a line of text
  $ (printf '[{"node_type":"tensor","params":{"shape":"'; endless) | tidemark info - 2>&1 | head -2
  standard input: byte *, after node 0: a text of more than 4 MiB; its end is left out (glob)
  standard input: byte *, after node 0: 256 MiB without the end of a text or number (glob)

  $ cat l.log.gz /dev/zero | tidemark log - 2>&1 | head -2
  tidemark log: standard input:51: cannot read on: not text: 256 MiB, or 4 GiB of zeros, without a line of text
  Log            standard input: 50 lines, 5.58 KiB, 07:36:20.265 to 07:36:20.274
