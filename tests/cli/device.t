The cards.

  $ export COLUMNS=80
  $ tidemark device list
  Card       Arch       Chips  Grid     Cores       DRAM  L1 a core  for buffers
  n150       Wormhole       1  8x8         64     12 GiB   1464 KiB     1.33 MiB
  n300       Wormhole       2  8x7         56     12 GiB   1464 KiB     1.33 MiB
  wh-galaxy  Wormhole      32  8x9         72     12 GiB   1464 KiB     1.33 MiB
  p100       Blackhole      1  11x10      110  27.89 GiB   1536 KiB     1427 KiB
  p150       Blackhole      1  11x10      110  31.88 GiB   1536 KiB     1427 KiB
  p300       Blackhole      2  11x10      110  31.88 GiB   1536 KiB     1427 KiB
  bh-galaxy  Blackhole     32  12x10      120  31.88 GiB   1536 KiB     1427 KiB
  grayskull  Grayskull      1  12x9   unknown      8 GiB      1 MiB      unknown
  quasar     Quasar         1  8x4         32      2 GiB      4 MiB     3.70 MiB
  
  Grid, cores and DRAM are those of one chip. 'tidemark device show CARD' has the
    rest.

A card: figures, regions, the L1 map, firmware, tiles.

  $ tidemark device show n150
  Wormhole n150
    name             n150
    architecture     Wormhole
    chips            1
    compute grid     8 x 8, 64 cores
    Tensix cores     8 x 10, 1 row harvested
    dispatch         tensix-row (default)
    variant          current firmware, no Tracy
    L1               1464 KiB a core, 256 KiB an Ethernet core
    DRAM             12 banks of 1 GiB, buffers from address 1048640 (0x100040)
    alignment        L1 16 B, DRAM 32 B, PCIe 32 B
    circular buffers 32 a core, most pages of one: 65,535
  
  Capacity by region
    Region         Banks  Bytes per bank     Per bank  Device total
    DRAM              12   1,072,693,184  1023.00 MiB     11.99 GiB
    TRACE             12               0          0 B           0 B
    L1                64       1,393,472     1.33 MiB     85.05 MiB
    L1_SMALL          64               0          0 B           0 B
    kernel config     64          70,656       69 KiB      4416 KiB
    firmware          64          35,008    34.19 KiB      2188 KiB
  
  L1 of one core
    1499136  0x16e000 ┌────────────────────────────┐
                      │   ▼ L1 buffers grow down   │
                      │                            │
                      │                            │
                      │                            │
                      │                            │
                      │                            │  free             1,393,472 B
                      │                            │
                      │                            │
                      │                            │
                      │                            │
                      │ ▲ circular buffers grow up │
     105664  0x019cc0 ├────────────────────────────┤
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│  kernel config       70,656 B
      35008  0x0088c0 ├────────────────────────────┤
                      │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│
                      │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│  firmware            35,008 B
          0  0x000000 └────────────────────────────┘
  
  Firmware's part of L1
    Address             Bytes  Name
          0  0x000000       4  boot code
          4  0x000004       8  NoC atomic return value
         12  0x00000c       4  L1 barrier
         16  0x000010  13,296  mailbox
      13312  0x003400     512  zeros
      13824  0x003600   1,024  LLK debug
      14848  0x003a00   7,712  BRISC firmware
      22560  0x005820   2,048  NCRISC firmware
      24608  0x006020   1,536  TRISC0 firmware
      26144  0x006620   1,536  TRISC1 firmware
      27680  0x006c20   1,536  TRISC2 firmware
      29216  0x007220      80  NoC counters
      29296  0x007270      32  fabric counters
      29328  0x007290     144  fabric connection lock
      29472  0x007320     516  routing table
      29988  0x007524   1,024  routing paths
      31012  0x007924   1,024  exit node table
      32036  0x007d24      12  unnamed
      32048  0x007d30     656  fabric connections
      32704  0x007fc0   2,304  packet header pool
  
  Bytes of a 32 x 32 tile
       4096 B      Float32 (fp32), Int32, UInt32, RawUInt32
       2048 B      Float16 (fp16), Float16_b (bf16), UInt16, Int16, RawUInt16
       1088 B      Bfp8, Bfp8_b (bfloat8_b)
       1056 B      MxInt8, MxFp8R, MxFp6R, MxFp8P, MxFp6P
       1024 B      Lf8, Int8, Fp8_e4m3 (fp8), UInt8, RawUInt8
        576 B      Bfp4, Bfp4_b (bfloat4_b)
        544 B      MxInt4, MxFp4
        320 B      Bfp2, Bfp2_b (bfloat2_b)
        288 B      MxInt2

With box drawing where the locale has it, and without when asked.

  $ LC_ALL=C.UTF-8 tidemark device show n150 --set l1_small=32K | sed -n '/^L1 of/,/^$/p'
  L1 of one core
    1499136  0x16e000 ┌────────────────────────────┐
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│  L1_SMALL            32,768 B
    1466368  0x166000 ├────────────────────────────┤
                      │   ▼ L1 buffers grow down   │
                      │                            │
                      │                            │
                      │                            │
                      │                            │
                      │                            │  free             1,360,704 B
                      │                            │
                      │                            │
                      │                            │
                      │ ▲ circular buffers grow up │
     105664  0x019cc0 ├────────────────────────────┤
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│  kernel config       70,656 B
      35008  0x0088c0 ├────────────────────────────┤
                      │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│
                      │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│  firmware            35,008 B
          0  0x000000 └────────────────────────────┘
  
  $ LC_ALL=C.UTF-8 tidemark device show n150 --set l1_small=32K --ascii | sed -n '/^L1 of/,/^$/p'
  L1 of one core
    1499136  0x16e000 +----------------------------+
                      |============================|
                      |============================|  L1_SMALL            32,768 B
    1466368  0x166000 +----------------------------+
                      |   v L1 buffers grow down   |
                      |                            |
                      |                            |
                      |                            |
                      |                            |
                      |                            |  free             1,360,704 B
                      |                            |
                      |                            |
                      |                            |
                      | ^ circular buffers grow up |
     105664  0x019cc0 +----------------------------+
                      |============================|
                      |============================|  kernel config       70,656 B
      35008  0x0088c0 +----------------------------+
                      |############################|
                      |############################|  firmware            35,008 B
          0  0x000000 +----------------------------+
  

Two chips have a total of their own.

  $ tidemark device show n300 | sed -n '/^Capacity/,/^$/p'
  Capacity by region
    Region         Banks  Bytes per bank     Per bank  Device total  Card total
    DRAM              12   1,072,693,184  1023.00 MiB     11.99 GiB   23.98 GiB
    TRACE             12               0          0 B           0 B         0 B
    L1                56       1,393,472     1.33 MiB     74.42 MiB  148.84 MiB
    L1_SMALL          56               0          0 B           0 B         0 B
    kernel config     56          70,656       69 KiB      3864 KiB    7728 KiB
    firmware          56          35,008    34.19 KiB      1.87 MiB    3829 KiB
  

Variants and overrides.

  $ tidemark device show p150 --set dispatch=eth --set trace_region=64M --set tracy=1 | sed -n '1,/^L1 of/p'
  Blackhole p150
    name             p150
    architecture     Blackhole
    chips            1
    compute grid     12 x 10, 120 cores
    Tensix cores     14 x 10, 2 columns harvested
    dispatch         eth
    variant          current firmware, Tracy build
    L1               1536 KiB a core, 512 KiB an Ethernet core
    DRAM             8 banks of 4080 MiB, buffers from address 5848704 (0x593e80)
    alignment        L1 16 B, DRAM 64 B, PCIe 64 B
    circular buffers 64 a core, most pages of one: 65,535
  
  Capacity by region
    Region         Banks  Bytes per bank  Per bank  Device total
    DRAM               8   4,263,952,768  3.97 GiB     31.77 GiB
    TRACE              8       8,388,608     8 MiB        64 MiB
    L1               120       1,461,248  1427 KiB    167.23 MiB
    L1_SMALL         120               0       0 B           0 B
    kernel config    120          70,656    69 KiB      8280 KiB
    firmware         120          40,960    40 KiB      4800 KiB
  
  L1 of one core
  $ tidemark device show p150 --set firmware=old | grep -e grid -e Tensix -e variant
    compute grid     13 x 10, 130 cores
    Tensix cores     14 x 10, none harvested
    variant          old firmware, no Tracy
  $ tidemark device show p150 -s l1_small=32K --sources | grep '^  l1_small '
    l1_small       32,768 B: L1_SMALL region at the top of L1; set by the user

What is not known is said, with the reason.

  $ tidemark device show grayskull | sed -n '/^Capacity/,/^$/p;/^Unknown/,$p'
  Capacity by region
    Region           Banks  Bytes per bank   Per bank  Device total
    DRAM                 8         unknown    unknown       unknown
    TRACE                8         unknown    unknown       unknown
    L1             unknown         unknown    unknown       unknown
    L1_SMALL       unknown         unknown    unknown       unknown
    kernel config  unknown          70,656     69 KiB       unknown
    firmware       unknown          29,344  28.66 KiB       unknown
  
  Unknown, and why
    l1_banks       Grayskull also has L1 banks on storage cores, of another size;
                   they are not modelled
    dram_base      the runtime's part of DRAM is not published for Grayskull
    cb_max_pages   not published for Grayskull

A card file, alone and on top of a card.

  $ printf 'card = n150\n# bigger\nl1_small = 64K\n' >lab.card
  $ tidemark device show --card-file lab.card | grep L1_SMALL
    L1_SMALL          64          65,536       64 KiB         4 MiB
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│  L1_SMALL            65,536 B
  $ tidemark device show n150 --card-file=lab.card | grep L1_SMALL
    L1_SMALL          64          65,536       64 KiB         4 MiB
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│  L1_SMALL            65,536 B
  $ tidemark device show n150 -f lab.card -s l1_small=32K | grep L1_SMALL
    L1_SMALL          64          32,768       32 KiB         2 MiB
                      │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│  L1_SMALL            32,768 B
  $ tidemark device show p150 --card-file lab.card
  tidemark device: lab.card describes card 'n150', but 'p150' was asked for
  [2]
  $ printf 'l1_small = 64X\n' | tidemark device show n150 --card-file -
  tidemark device: -:1:14: expected a size in bytes, like 4096, 64K or 1.5MiB, as the value of l1_small
  [2]
  $ printf 'l1_small = 64K\n' >part.card
  $ tidemark device show --card-file part.card
  tidemark device: part.card:1:1: expected 'card = NAME' first: no card was given
  [2]
  $ tidemark device show --card-file missing.card
  tidemark device: missing.card: cannot be read: No such file or directory
  [2]

No colour without a terminal; on one it can be refused.

  $ tidemark device show n150 | grep -c "$(printf '\033')"
  0
  [1]
  $ TERM=xterm script -qec 'tidemark device show n150' /dev/null | grep -c "$(printf '\033')" | sed 's/^[1-9][0-9]*$/some/'
  some
  $ NO_COLOR=1 TERM=xterm script -qec 'tidemark device show n150' /dev/null | grep -c "$(printf '\033')"
  0
  [1]
  $ TERM=dumb script -qec 'tidemark device show n150' /dev/null | grep -c "$(printf '\033')"
  0
  [1]

Lines fit a terminal, and none ends in a blank.

  $ for card in $(tidemark device list | awk '/^$/ { exit } NR > 1 { print $1 }'); do
  >   tidemark device show $card --sources --ascii --set l1_small=32K | awk 'length > 80 || / $/'
  > done
  $ tidemark device list | awk 'length > 80 || / $/'
  $ tidemark device show n150 --sources --width 66 | sed -n '/^Fields/,$p' | awk 'length > 66 || / $/'

JSON.

  $ tidemark device list --json | /usr/bin/python3 -c '
  > import json, sys
  > doc = json.load(sys.stdin)
  > print(doc["schema"], doc["version"], sorted(doc))
  > for d in doc["devices"]:
  >     print(d["name"], d["arch"], d["chips"], d["grid_x"], d["grid_y"], d["l1_banks"], d["dram_banks"])'
  tidemark.device 1 ['devices', 'host', 'schema', 'time', 'version']
  n150 Wormhole 1 8 8 64 12
  n300 Wormhole 2 8 7 56 12
  wh-galaxy Wormhole 32 8 9 72 12
  p100 Blackhole 1 11 10 110 7
  p150 Blackhole 1 11 10 110 8
  p300 Blackhole 2 11 10 110 8
  bh-galaxy Blackhole 32 12 10 120 8
  grayskull Grayskull 1 12 9 None 8
  quasar Quasar 1 8 4 32 2
  $ tidemark device show n150 --json >n150.json
  $ /usr/bin/python3 -c '
  > import json
  > d = json.load(open("n150.json"))["device"]
  > print(list(d))
  > print(d["variant"])
  > for f in "l1_size", "l1_base", "dram_banks":
  >     print(f, {k: v for k, v in d["fields"][f].items() if k != "source"})
  > for r in d["regions"]:
  >     print(r["kind"], r["banks"], r["base"], r["size_per_bank"], r["total_bytes"])
  > for z in d["l1_map"]:
  >     print(z)
  > at = 0
  > for p in d["firmware"]:
  >     assert p["address"] == at and p["source"], p
  >     at += p["size"]
  > print(at, d["l1_map"][0]["size"])
  > print([f["tile_bytes"] for f in d["data_formats"] if f["name"] in ("Float16_b", "Bfp8_b", "Tf32")])
  > assert all(f["source"] for f in d["fields"].values())'
  ['full_name', 'name', 'arch', 'chips', 'variant', 'fields', 'regions', 'l1_map', 'firmware', 'data_formats', 'l1_bank_cores']
  {'dispatch': 'tensix-row', 'tracy': False, 'old_firmware': False, 'fabric_mux': False, 'harvested': 1}
  l1_size {'value': 1499136, 'unit': 'bytes', 'overridden': False}
  l1_base {'value': 105664, 'unit': 'bytes', 'overridden': False}
  dram_banks {'value': 12, 'unit': 'count', 'overridden': False}
  dram 12 1048640 1072693184 12872318208
  trace 12 1073741824 0 0
  l1 64 105664 1393472 89182208
  l1_small 64 1499136 0 0
  config 64 35008 70656 4521984
  firmware 64 0 35008 2240512
  {'zone': 'firmware', 'address': 0, 'size': 35008}
  {'zone': 'config', 'address': 35008, 'size': 70656}
  {'zone': 'cb', 'address': 105664, 'size': 0}
  {'zone': 'free', 'address': 105664, 'size': 1393472}
  {'zone': 'l1', 'address': 1499136, 'size': 0}
  {'zone': 'l1_small', 'address': 1499136, 'size': 0}
  35008 35008
  [None, 2048, 1088]
  $ tidemark device show grayskull --json | /usr/bin/python3 -c '
  > import json, sys
  > d = json.load(sys.stdin)["device"]
  > print(d["fields"]["dram_base"])
  > print(d["regions"][0])'
  {'value': None, 'unit': 'bytes', 'overridden': False, 'source': "the runtime's part of DRAM is not published for Grayskull"}
  {'kind': 'dram', 'banks': 8, 'base': None, 'size_per_bank': None, 'total_bytes': None, 'source': 'tt-metal v0.55.0 grayskull_120_arch.yaml (soc_descriptors): dram_bank_size'}
  $ tidemark device show n150 --json --set l1_small=32K | grep -A2 '"l1_small": {'
        "l1_small": {
          "value": 32768,
          "unit": "bytes",

Wrong input.

  $ tidemark device
  tidemark device: say 'list' or 'show'
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device shwo
  tidemark device: expected 'list' or 'show', got 'shwo'
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device show
  tidemark device: 'show' needs the name of a card, or --card-file
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device show n15
  tidemark device: unknown card 'n15'; the known cards are n150, n300, wh-galaxy, p100, p150, p300, bh-galaxy, grayskull, quasar
  [2]
  $ tidemark device show n150 n300
  tidemark device: unexpected argument 'n300' after the card
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device list n150
  tidemark device: unexpected argument 'n150' after 'list'
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device list --set l1_small=32K
  tidemark device: option '--set' is for 'show' only
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device show n150 --set l1_smal=3
  tidemark device: --set l1_smal=3: column 1: unknown card field 'l1_smal': did you mean l1_small?
  [2]
  $ tidemark device show n150 --set l1_small
  tidemark device: --set l1_small: column 9: expected '=' and a value after 'l1_small'
  [2]
  $ tidemark device show n150 --set l1_small=abc
  tidemark device: --set l1_small=abc: column 10: expected a size in bytes, like 4096, 64K or 1.5MiB, as the value of l1_small
  [2]
  $ tidemark device show n150 --set l1_small=99999999999999999999G
  tidemark device: --set l1_small=99999999999999999999G: column 10: the value of l1_small is too large
  [2]
  $ tidemark device show p150 --set dispatch=tensix-row
  tidemark device: --set dispatch=tensix-row: column 1: the runtime has no Blackhole core descriptor for dispatch=tensix-row with fabric_mux=0 and harvested=2; for these it has dispatch=tensix-col, eth, none
  [2]
  $ tidemark device show p150 --set dispatch=tensix-row --set fabric_mux=1 | grep grid
    compute grid     12 x 9, 108 cores
  $ tidemark device show p150 --set fabric_mux=1 --set dispatch=tensix-row | grep grid
    compute grid     12 x 9, 108 cores
  $ tidemark device show n150 --set dispatch=sideways
  tidemark device: --set dispatch=sideways: column 10: expected default, tensix-row, tensix-col, tensix, eth or none as the value of dispatch
  [2]
  $ tidemark device show n150 --set grid_x=40
  tidemark device: card 'n150': grid_x is 40, more than the 8 that workers_x allows
  [2]
  $ tidemark device show n150 --width 10
  tidemark device: --width '10': expected a number of columns from 40 to 1000
  tidemark device: see 'tidemark device --help'
  [2]
  $ tidemark device show n150 --width wide
  tidemark device: --width 'wide': expected a number of columns from 40 to 1000
  tidemark device: see 'tidemark device --help'
  [2]

Which bank each core is, as the runtime shuffles them:

  $ tidemark device show n150 --banks | tail -10
  L1 bank of each core
    y\x                0    1    2    3    4    5    6    7
      0               34   63   38    6   52   33    4   37
      1               20   35   14   22    2   31   36   19
      2               30   40    3   10   25    7   59   56
      3               39   24   50   12   21   42   29    5
      4               61    0   26   54    1    9   15   13
      5               18   58    8   46   27   51   16   53
      6               62   45   44   43   41   17   55   60
      7               49   48   57   32   47   23   11   28
