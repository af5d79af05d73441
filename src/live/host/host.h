/*
 * Reads the driver's information about this machine's cards: identity and telemetry from sysfs, and the processes that
 * have a card open from procfs. docs/formats/driver.md names the files. Cards are not opened.
 *
 * A reading lists the cards, then walks one table of values (TDM_HOST_VALUE_LIST) for each card and folder. Values that
 * never change are copied from the previous reading.
 *
 * Every value has a state: if its file is missing or unreadable, the value is unknown, with a reason; never 0. The
 * driver does not know how much DRAM or L1 is in use.
 */
#ifndef TDM_LIVE_HOST_H
#define TDM_LIVE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/host/proc_facts.h"

enum {
	TDM_HOST_CARDS_MAX = 256,
	TDM_HOST_OPENS_MAX = 65536, /* maximum number of pairs of a card and a process */
	TDM_HOST_TEXT_CAP = 40,
	TDM_HOST_PCI_CAP = 24,
};

/* The folder of a value's file, and the form of its content. */
enum tdm_host_place { TDM_HOST_IN_CARD, TDM_HOST_IN_HWMON, TDM_HOST_IN_PCI };
enum tdm_host_form { TDM_HOST_TEXT, TDM_HOST_NUMBER, TDM_HOST_HEX };

/* id, place, file, form, unit ("" for none), summary */
#define TDM_HOST_VALUE_LIST(X)                                                                     \
	X(CARD_TYPE, CARD, "tt_card_type", TEXT, "", "card")                                       \
	X(SERIAL, CARD, "tt_serial", HEX, "", "serial number of the board")                        \
	X(ASIC_ID, CARD, "tt_asic_id", HEX, "", "id of the chip")                                  \
	X(AICLK, CARD, "tt_aiclk", NUMBER, "MHz", "clock of the Tensix cores")                     \
	X(AXICLK, CARD, "tt_axiclk", NUMBER, "MHz", "clock of the AXI bus")                        \
	X(ARCCLK, CARD, "tt_arcclk", NUMBER, "MHz", "clock of the management core")                \
	X(HEARTBEAT, CARD, "tt_heartbeat", NUMBER, "", "counts while the firmware runs")           \
	X(THERM_TRIPS, CARD, "tt_therm_trip_count", NUMBER, "", "times that the card was too hot") \
	X(FW_BUNDLE, CARD, "tt_fw_bundle_ver", TEXT, "", "firmware bundle")                        \
	X(FW_M3APP, CARD, "tt_m3app_fw_ver", TEXT, "", "firmware of the board controller")         \
	X(FW_M3BL, CARD, "tt_m3bl_fw_ver", TEXT, "", "boot loader of the board controller")        \
	X(FW_ARC, CARD, "tt_arc_fw_ver", TEXT, "", "firmware of the management core")              \
	X(FW_ETH, CARD, "tt_eth_fw_ver", TEXT, "", "firmware of the Ethernet cores")               \
	X(FW_TTFLASH, CARD, "tt_ttflash_ver", TEXT, "", "tt-flash that wrote the firmware")        \
	X(PCI_VENDOR, PCI, "vendor", HEX, "", "PCI vendor")                                        \
	X(PCI_DEVICE, PCI, "device", HEX, "", "PCI device")                                        \
	X(NUMA_NODE, PCI, "numa_node", NUMBER, "", "nearest memory node of the host; -1: none")    \
	X(LINK_SPEED, PCI, "current_link_speed", TEXT, "", "speed of the PCIe link")               \
	X(LINK_WIDTH, PCI, "current_link_width", TEXT, "", "lanes of the PCIe link")               \
	X(HWMON_NAME, HWMON, "name", TEXT, "", "architecture")                                     \
	X(TEMP, HWMON, "temp1_input", NUMBER, "m°C", "temperature")                                \
	X(TEMP_MAX, HWMON, "temp1_max", NUMBER, "m°C", "highest temperature allowed")              \
	X(VOLTAGE, HWMON, "in0_input", NUMBER, "mV", "core voltage")                               \
	X(VOLTAGE_MAX, HWMON, "in0_max", NUMBER, "mV", "highest core voltage allowed")             \
	X(CURRENT, HWMON, "curr1_input", NUMBER, "mA", "core current")                             \
	X(CURRENT_MAX, HWMON, "curr1_max", NUMBER, "mA", "highest core current allowed")           \
	X(POWER, HWMON, "power1_input", NUMBER, "µW", "power")                                     \
	X(POWER_MAX, HWMON, "power1_max", NUMBER, "µW", "highest power allowed")                   \
	X(FAN, HWMON, "fan1_input", NUMBER, "RPM", "fan")

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
	TDM_HOST_UNREAD,
	TDM_HOST_KNOWN,
	TDM_HOST_ABSENT, /* not offered by the driver for this card or firmware */
	TDM_HOST_ERROR,  /* offered, but could not be read; `err` gives the reason */
};

struct tdm_host_value {
	uint8_t state; /* enum tdm_host_state */
	/* -ENODATA or -ENODEV while the card is being reset; TDM_ESYNTAX: malformed; -EIO also for an id of all
	 * ones, as read from a card that does not answer */
	int err;
	union {
		int64_t number; /* for TDM_HOST_NUMBER, in the attribute's unit */
		uint64_t id;    /* for TDM_HOST_HEX */
	};
	char text[TDM_HOST_TEXT_CAP]; /* as read, made printable; empty unless known */
};

enum tdm_host_arch { TDM_HOST_ARCH_UNKNOWN, TDM_HOST_WORMHOLE, TDM_HOST_BLACKHOLE };

struct tdm_host_card {
	uint32_t number;            /* N in /dev/tenstorrent/N; not the runtime's logical number */
	int err;                    /* 0, or why its folder cannot be opened, in which case all values are unknown */
	int hwmon_err;              /* 0, or why there is no hwmon folder; -ENOENT if the driver made none */
	uint8_t arch;               /* enum tdm_host_arch */
	char pci[TDM_HOST_PCI_CAP]; /* "0000:01:00.0"; empty if unknown */
	struct tdm_host_value values[TDM_HOST_VALUE_COUNT];

	int opens_err;                     /* 0, or why the processes using it are unknown */
	uint32_t open_first, open_count;   /* the card's range in the host's `opens` */
	uint64_t hidden_opens;             /* number of descriptors of processes outside the reader's pid namespace */
	uint64_t refused_lines, cut_opens; /* lines without a pid in the list of pids, and entries beyond the limits */
};

/* A process that has a card open. */
struct tdm_host_open {
	uint32_t process;     /* index into the host's `processes` */
	uint32_t descriptors; /* number of descriptors open on that card */
};

struct tdm_host_process {
	int32_t pid;
	struct tdm_proc_facts facts; /* if the facts could not be read, `err` is set and the process is kept anyway */
};

struct tdm_host {
	int err;                     /* 0, or why the class folder cannot be read; -ENOENT: the driver is not loaded */
	struct tdm_host_card *cards; /* sorted by number */
	size_t card_count;
	uint64_t cut_cards;          /* number of cards beyond TDM_HOST_CARDS_MAX */
	struct tdm_host_open *opens; /* sorted by card, then by pid */
	size_t open_count, open_cap;
	struct tdm_host_process *processes; /* each process once */
	size_t process_count, process_cap;
};

/* The directory to use: `path`, else $TIDEMARK_SYSFS_ROOT, else /sys. Borrowed. */
const char *tdm_host_sysfs_path(const char *path);

/* Reads everything. `sysfs`: as above; `root`: NULL to skip processes; `before`: an earlier reading from which to
 * copy lasting values, or NULL. Returns 0 or host->err; release the host in every case. */
int tdm_host_read(
	struct tdm_host *host, const char *sysfs, const struct tdm_proc_root *root, const struct tdm_host *before);
void tdm_host_done(struct tdm_host *host);

enum { TDM_HOST_CHIP_IDS_MAX = 40 };

/*
 * The unique ids that the runtime may give to this card's chip. Returns their number. The id depends on whether an
 * Ethernet link is up, which sysfs does not show, so all are candidates. The first may be the driver's own id of the
 * chip; the others are derived from the serial number. The ids of a connected Wormhole and of a remote chip cannot be
 * derived from sysfs.
 */
size_t tdm_host_chip_ids(const struct tdm_host_card *card, uint64_t ids[TDM_HOST_CHIP_IDS_MAX], bool *is_first_own);

/*
 * ---- the machine ----
 *
 * Facts that identify the machine: system, name, memory, and the driver's version.
 */

enum { TDM_MACHINE_TEXT_CAP = 128 };

/* Strings are printable, and empty if unknown. */
struct tdm_machine {
	char system[TDM_MACHINE_TEXT_CAP];  /* "Linux" */
	char distro[TDM_MACHINE_TEXT_CAP];  /* "Debian GNU/Linux 12 (bookworm)" */
	char release[TDM_MACHINE_TEXT_CAP]; /* "6.1.0-18-amd64" */
	char host[TDM_MACHINE_TEXT_CAP];    /* name of the machine */
	char machine[TDM_MACHINE_TEXT_CAP]; /* "x86_64" */
	char driver[TDM_MACHINE_TEXT_CAP];  /* version of the driver's module, such as "2.4.0" */
	uint64_t memory_bytes;              /* or TDM_BYTES_UNKNOWN */
};

/* `sysfs`: see above; may be NULL. */
void tdm_machine_read(struct tdm_machine *machine, const char *sysfs);

/* Finds PRETTY_NAME in the content of an os-release file, without quotes; empty if there is none. */
void tdm_machine_distro(const char *os_release, char *dst, size_t cap);

#endif
