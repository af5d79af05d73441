/*
 * What the driver says about the cards of this machine: identity and telemetry from sysfs, the processes that have a
 * card open from procfs. docs/formats/driver.md names the files. The card itself is not opened.
 *
 * Every value has a state: if a file is missing or cannot be read, the value is unknown with a reason, never 0. The
 * driver does not know how much DRAM or L1 is in use.
 */
#ifndef TDM_SOURCES_HOST_H
#define TDM_SOURCES_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sources/proc_facts.h"

enum {
	TDM_HOST_CARDS_MAX = 256,
	TDM_HOST_OPENS_MAX = 65536, /* pairs of a card and a process */
	TDM_HOST_TEXT_CAP = 40,
	TDM_HOST_PCI_CAP = 24,
};

/* The folder of a value's file, and how to parse its text. */
enum tdm_host_place { TDM_HOST_IN_CARD, TDM_HOST_IN_HWMON, TDM_HOST_IN_PCI, TDM_HOST_IN_COUNTERS };
enum tdm_host_form { TDM_HOST_TEXT, TDM_HOST_NUMBER, TDM_HOST_HEX };

/* id, place, file, form, unit ("" for none), summary */
#define TDM_HOST_VALUE_LIST(X)                                                                                 \
	X(CARD_TYPE, CARD, "tt_card_type", TEXT, "", "card")                                                   \
	X(SERIAL, CARD, "tt_serial", HEX, "", "serial number of the board")                                    \
	X(ASIC_ID, CARD, "tt_asic_id", HEX, "", "id of the chip")                                              \
	X(AICLK, CARD, "tt_aiclk", NUMBER, "MHz", "clock of the Tensix cores")                                 \
	X(AXICLK, CARD, "tt_axiclk", NUMBER, "MHz", "clock of the AXI bus")                                    \
	X(ARCCLK, CARD, "tt_arcclk", NUMBER, "MHz", "clock of the management core")                            \
	X(HEARTBEAT, CARD, "tt_heartbeat", NUMBER, "", "counts while the firmware runs")                       \
	X(THERM_TRIPS, CARD, "tt_therm_trip_count", NUMBER, "", "times that the card was too hot")             \
	X(FW_BUNDLE, CARD, "tt_fw_bundle_ver", TEXT, "", "firmware bundle")                                    \
	X(FW_M3APP, CARD, "tt_m3app_fw_ver", TEXT, "", "firmware of the board controller")                     \
	X(FW_M3BL, CARD, "tt_m3bl_fw_ver", TEXT, "", "boot loader of the board controller")                    \
	X(FW_ARC, CARD, "tt_arc_fw_ver", TEXT, "", "firmware of the management core")                          \
	X(FW_ETH, CARD, "tt_eth_fw_ver", TEXT, "", "firmware of the Ethernet cores")                           \
	X(FW_TTFLASH, CARD, "tt_ttflash_ver", TEXT, "", "tt-flash that wrote the firmware")                    \
	X(PCI_VENDOR, PCI, "vendor", HEX, "", "PCI vendor")                                                    \
	X(PCI_DEVICE, PCI, "device", HEX, "", "PCI device")                                                    \
	X(NUMA_NODE, PCI, "numa_node", NUMBER, "", "nearest memory node of the host; -1: none")                \
	X(LINK_SPEED, PCI, "current_link_speed", TEXT, "", "speed of the PCIe link")                           \
	X(LINK_WIDTH, PCI, "current_link_width", TEXT, "", "lanes of the PCIe link")                           \
	X(HWMON_NAME, HWMON, "name", TEXT, "", "architecture")                                                 \
	X(TEMP, HWMON, "temp1_input", NUMBER, "m°C", "temperature")                                            \
	X(TEMP_MAX, HWMON, "temp1_max", NUMBER, "m°C", "highest temperature allowed")                          \
	X(VOLTAGE, HWMON, "in0_input", NUMBER, "mV", "core voltage")                                           \
	X(VOLTAGE_MAX, HWMON, "in0_max", NUMBER, "mV", "highest core voltage allowed")                         \
	X(CURRENT, HWMON, "curr1_input", NUMBER, "mA", "core current")                                         \
	X(CURRENT_MAX, HWMON, "curr1_max", NUMBER, "mA", "highest core current allowed")                       \
	X(POWER, HWMON, "power1_input", NUMBER, "µW", "power")                                                 \
	X(POWER_MAX, HWMON, "power1_max", NUMBER, "µW", "highest power allowed")                               \
	X(FAN, HWMON, "fan1_input", NUMBER, "RPM", "fan")                                                      \
	X(RD_RECEIVED_0, COUNTERS, "mst_rd_data_word_received0", NUMBER, "", "32-byte words")                  \
	X(RD_RECEIVED_1, COUNTERS, "mst_rd_data_word_received1", NUMBER, "", "32-byte words")                  \
	X(NONPOSTED_SENT_0, COUNTERS, "mst_nonposted_wr_data_word_sent0", NUMBER, "", "32-byte words")         \
	X(NONPOSTED_SENT_1, COUNTERS, "mst_nonposted_wr_data_word_sent1", NUMBER, "", "32-byte words")         \
	X(POSTED_SENT_0, COUNTERS, "mst_posted_wr_data_word_sent0", NUMBER, "", "32-byte words")               \
	X(POSTED_SENT_1, COUNTERS, "mst_posted_wr_data_word_sent1", NUMBER, "", "32-byte words")               \
	X(NONPOSTED_RECEIVED_0, COUNTERS, "slv_nonposted_wr_data_word_received0", NUMBER, "", "32-byte words") \
	X(NONPOSTED_RECEIVED_1, COUNTERS, "slv_nonposted_wr_data_word_received1", NUMBER, "", "32-byte words") \
	X(POSTED_RECEIVED_0, COUNTERS, "slv_posted_wr_data_word_received0", NUMBER, "", "32-byte words")       \
	X(POSTED_RECEIVED_1, COUNTERS, "slv_posted_wr_data_word_received1", NUMBER, "", "32-byte words")       \
	X(RD_SENT_0, COUNTERS, "slv_rd_data_word_sent0", NUMBER, "", "32-byte words")                          \
	X(RD_SENT_1, COUNTERS, "slv_rd_data_word_sent1", NUMBER, "", "32-byte words")

enum tdm_host_value_id {
#define X(id, place, file, form, unit, summary) TDM_HOST_##id,
	TDM_HOST_VALUE_LIST(X)
#undef X
		TDM_HOST_VALUE_COUNT
};

struct tdm_host_attribute {
	const char *file;
	uint8_t place, form; /* enum tdm_host_place, enum tdm_host_form */
	const char *unit, *summary;
};
extern const struct tdm_host_attribute tdm_host_attributes[TDM_HOST_VALUE_COUNT];

enum tdm_host_state {
	TDM_HOST_UNREAD, /* not asked for */
	TDM_HOST_KNOWN,
	TDM_HOST_ABSENT, /* the driver does not offer it for this card or firmware */
	TDM_HOST_ERROR,  /* offered, but could not be read: `err` */
};

struct tdm_host_value {
	uint8_t state; /* enum tdm_host_state */
	int err; /* -ENODATA and -ENODEV while the card is being reset; TDM_ESYNTAX: not of its form; -EIO also for
		    an id whose bits are all set, as read from a card that does not answer */
	union {
		int64_t number; /* TDM_HOST_NUMBER, in the attribute's unit */
		uint64_t id;    /* TDM_HOST_HEX */
	};
	char text[TDM_HOST_TEXT_CAP]; /* as read, made printable; empty unless known */
};

enum tdm_host_arch { TDM_HOST_ARCH_UNKNOWN, TDM_HOST_WORMHOLE, TDM_HOST_BLACKHOLE };

struct tdm_host_card {
	uint32_t number;            /* of /dev/tenstorrent/N; not the runtime's logical number */
	int err;                    /* 0, or why its folder cannot be opened; all values are unknown then */
	int hwmon_err;              /* 0, or why there is no hwmon folder: -ENOENT when the driver made none */
	uint8_t arch;               /* enum tdm_host_arch */
	char pci[TDM_HOST_PCI_CAP]; /* "0000:01:00.0"; empty: unknown */
	struct tdm_host_value values[TDM_HOST_VALUE_COUNT];

	int opens_err;                     /* 0, or why its processes are not known */
	uint32_t open_first, open_count;   /* its part of the host's `opens` */
	uint64_t hidden_opens;             /* descriptors of processes outside the reader's pid namespace */
	uint64_t refused_lines, cut_opens; /* of the list of pids: lines without a pid; entries beyond the limits */
};

/* A process that has a card open. */
struct tdm_host_open {
	uint32_t process;     /* index into the host's `processes` */
	uint32_t descriptors; /* open on that card */
};

struct tdm_host_process {
	int32_t pid;
	struct tdm_proc_facts facts; /* `err` is set if they could not be read; the process is kept anyway */
};

struct tdm_host {
	int err;                     /* 0, or why the class folder cannot be read; -ENOENT: the driver is not loaded */
	struct tdm_host_card *cards; /* by number */
	size_t card_count;
	uint64_t cut_cards;          /* beyond TDM_HOST_CARDS_MAX */
	struct tdm_host_open *opens; /* by card, then by pid */
	size_t open_count;
	struct tdm_host_process *processes; /* by pid */
	size_t process_count;
};

struct tdm_host_options {
	const char *sysfs;                /* NULL: $TIDEMARK_SYSFS_ROOT, else /sys */
	const char *proc;                 /* NULL: $TIDEMARK_PROC_ROOT, else /proc */
	bool counters;                    /* also read the counters of the PCIe link */
	const struct tdm_proc_root *root; /* `proc`, already open; NULL: it is opened for this reading */
	const struct tdm_host *before;    /* an earlier reading, to copy lasting values from; may be NULL */
};

/* The directory to use, see tdm_host_options. Borrowed. */
const char *tdm_host_sysfs_path(const char *path);

/* Reads everything. 0, host->err, or -ENOMEM; release the host in every case. */
int tdm_host_read(struct tdm_host *host, const struct tdm_host_options *options);
void tdm_host_done(struct tdm_host *host);

/* Whether processes outside the reader's pid namespace have cards open: the reader is in a container, they are not. */
bool tdm_host_has_outsiders(const struct tdm_host *host);

/* How certain it is that the device with such an id in tt-metal's shared memory is this card's chip. */
enum tdm_host_surety {
	TDM_HOST_WEAK,  /* only the number is the same, perhaps by chance */
	TDM_HOST_BOARD, /* some chip of this board */
	TDM_HOST_EXACT, /* this chip */
};

struct tdm_host_chip_id {
	uint64_t id;
	uint8_t surety;   /* enum tdm_host_surety, if the ids are equal */
	bool is_own;      /* the driver's own id of the chip; the others are derived from the serial number */
	const char *when; /* when the runtime gives the chip this id */
};
enum { TDM_HOST_CHIP_IDS_MAX = 40 };

/*
 * The unique ids that the runtime may have given to this card's chip, surest first. Returns how many. The id depends on
 * whether an Ethernet link is up, which sysfs does not show, so all of them are candidates. The ids of a connected
 * Wormhole and of a remote chip cannot be derived from sysfs.
 */
size_t tdm_host_chip_ids(const struct tdm_host_card *card, struct tdm_host_chip_id ids[TDM_HOST_CHIP_IDS_MAX]);

#endif
