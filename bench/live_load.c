#include "live_load.h"

#include "bench.h"
#include "bench_child.h"

#include "base/clock.h"
#include "tidemark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	WIDE_EVERY = 20, /* one in this many processes uses several devices */
	WIDE_DEVICES = 8,
	BATCH = 100, /* releases and allocations that a busy process makes at a time */
	BATCH_PAUSE_US = 10000,
	DRAM_BANKS = 12,
	L1_BANKS = 64,
	BANK_STEP = 2048, /* bytes of a bank that one buffer may take */
	L1_EVERY = 64,    /* one in this many buffers is in L1 */
};
#define DRAM_BANK  (UINT64_C(1) << 30)
#define CHIP_FIRST UINT64_C(0x100011800000)

/* Files. */

static bool make_parents(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		bool ok = mkdir(path, 0755) == 0 || errno == EEXIST;
		*slash = '/';
		if (!ok)
			return false;
	}
	return true;
}

static bool put_bytes(const char *dir, const char *name, const void *data, size_t size)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path || !make_parents(path))
		return false;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool ok = fd >= 0 && write(fd, data, size) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool put_text(const char *dir, const char *name, const char *text)
{
	return put_bytes(dir, name, text, strlen(text));
}

/* The driver's files for a card, with plausible values. */
static bool make_card(const struct bench_load *load, uint32_t number)
{
	static const struct {
		const char *file, *text;
	} values[] = {
		{ "tt_card_type", "n150\n" },
		{ "tt_aiclk", "1000\n" },
		{ "tt_axiclk", "900\n" },
		{ "tt_arcclk", "540\n" },
		{ "tt_heartbeat", "12345\n" },
		{ "tt_therm_trip_count", "0\n" },
		{ "tt_fw_bundle_ver", "18.10.0.0\n" },
		{ "tt_m3app_fw_ver", "5.12.0.0\n" },
		{ "tt_m3bl_fw_ver", "129.2.0.0\n" },
		{ "tt_arc_fw_ver", "2.34.0.0\n" },
		{ "tt_eth_fw_ver", "6.15.0.0\n" },
		{ "tt_ttflash_ver", "3.1.0.0\n" },
		{ "device/vendor", "0x1e52\n" },
		{ "device/device", "0x401e\n" },
		{ "device/numa_node", "0\n" },
		{ "device/hwmon/hwmon0/name", "wormhole\n" },
		{ "device/hwmon/hwmon0/temp1_input", "47250\n" },
		{ "device/hwmon/hwmon0/temp1_max", "75000\n" },
		{ "device/hwmon/hwmon0/in0_input", "800\n" },
		{ "device/hwmon/hwmon0/in0_max", "950\n" },
		{ "device/hwmon/hwmon0/curr1_input", "40000\n" },
		{ "device/hwmon/hwmon0/curr1_max", "160000\n" },
		{ "device/hwmon/hwmon0/power1_input", "32000000\n" },
		{ "device/hwmon/hwmon0/power1_max", "85000000\n" },
	};
	char dir[PATH_MAX], text[32];
	snprintf(dir, sizeof dir, "%s/class/tenstorrent/tenstorrent!%" PRIu32, load->sysfs, number);
	snprintf(text, sizeof text, "%016" PRIx64 "\n", CHIP_FIRST + number);
	bool ok = put_text(dir, "tt_serial", text);
	for (size_t i = 0; ok && i < sizeof values / sizeof *values; i++)
		ok = put_text(dir, values[i].file, values[i].text);
	return ok;
}

/* The devices that a process uses: one, or several consecutive ones. */
static uint32_t first_device(const struct bench_load_plan *plan, uint32_t process)
{
	return process % plan->devices;
}

static uint32_t device_count(const struct bench_load_plan *plan, uint32_t process)
{
	uint32_t count = process % WIDE_EVERY == 0 ? WIDE_DEVICES : 1;
	return count < plan->devices ? count : plan->devices;
}

static bool uses(const struct bench_load_plan *plan, uint32_t process, uint32_t device)
{
	return (device + plan->devices - first_device(plan, process)) % plan->devices < device_count(plan, process);
}

static uint64_t buffers_of(const struct bench_load_plan *plan, uint32_t process)
{
	return plan->buffers / plan->processes + (process < plan->buffers % plan->processes);
}

/* The programs. */

static void describe(uint32_t device)
{
	const struct tidemark_region regions[] = {
		{ .kind = TIDEMARK_DRAM, .banks = DRAM_BANKS, .base = 0, .bank_size = DRAM_BANK, .align = 32 },
		{ .kind = TIDEMARK_L1, .banks = L1_BANKS, .base = 100000, .bank_size = 1 << 20, .align = 16 },
	};
	const struct tidemark_device description = { .size = sizeof description,
		.number = device,
		.card = "n150",
		.chip_id = CHIP_FIRST + device,
		.has_chip_id = 1,
		.grid_x = 8,
		.grid_y = 8,
		.region_count = 2,
		.regions = regions };
	tidemark_describe_device(&description);
}

/* Reports buffer `id` of a process, with a random address and size. */
static void report(uint32_t device, uint64_t id, uint64_t *seed)
{
	uint64_t place = bench_random(seed);
	bool in_l1 = id % L1_EVERY == 0;
	uint64_t bank_bytes = in_l1 ? 64 : (1 + place % (BANK_STEP / 32)) * 32;
	const struct tidemark_buffer buffer = { .size = sizeof buffer,
		.device = device,
		.kind = in_l1 ? TIDEMARK_L1 : TIDEMARK_DRAM,
		.id = id,
		.address = in_l1 ? 100000 + (place >> 16) % (1 << 14) * 64
				 : (place >> 16) % (DRAM_BANK / BANK_STEP) * BANK_STEP,
		.bytes = bank_bytes * (in_l1 ? L1_BANKS : DRAM_BANKS),
		.bytes_per_bank = bank_bytes,
		.banks = in_l1 ? L1_BANKS : DRAM_BANKS };
	tidemark_alloc(&buffer);
}

static uint32_t device_of(const struct bench_load_plan *plan, uint32_t process, uint64_t id)
{
	uint32_t nth = (uint32_t)(id % device_count(plan, process));
	return (first_device(plan, process) + nth) % plan->devices;
}

static void keep_busy(const struct bench_load_plan *plan, uint32_t process, uint64_t *seed)
{
	uint64_t count = buffers_of(plan, process), next = 0;
	for (;;) {
		for (int i = 0; i < BATCH; i++, next++) {
			uint64_t id = 1 + next % count;
			uint32_t device = device_of(plan, process, id);
			tidemark_free(device, id % L1_EVERY == 0 ? TIDEMARK_L1 : TIDEMARK_DRAM, id);
			report(device, id, seed);
		}
		usleep(BATCH_PAUSE_US);
	}
}

static _Noreturn void run_program(
	const struct bench_load *load, const struct bench_load_plan *plan, uint32_t process, int ready)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(process + 1) << 20;
	uint64_t count = buffers_of(plan, process);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("TIDEMARK_DIR", load->ledgers, 1);
	if (tidemark_enable() != 0)
		_exit(2);
	for (uint32_t d = 0; d < device_count(plan, process); d++)
		describe((first_device(plan, process) + d) % plan->devices);
	tidemark_phase("bench");
	for (uint64_t id = 1; id <= count; id++)
		report(device_of(plan, process, id), id, &seed);
	if (write(ready, "", 1) != 1)
		_exit(2);
	close(ready);
	if (process < plan->busy && count != 0)
		keep_busy(plan, process, &seed);
	for (;;)
		pause();
}

static bool start_programs(struct bench_load *load, const struct bench_load_plan *plan, const char **why)
{
	int fds[2];
	char said;
	*why = "no more processes";
	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	fflush(stdout);
	for (uint32_t i = 0; i < plan->processes; i++) {
		pid_t pid = fork();
		if (pid == 0)
			run_program(load, plan, i, fds[1]);
		if (pid < 0)
			break;
		load->pids[load->count++] = pid;
	}
	close(fds[1]);
	uint32_t ready = 0;
	while (ready < load->count && read(fds[0], &said, 1) == 1)
		ready++;
	close(fds[0]);
	if (load->count == plan->processes)
		*why = "the programs of the load could not report their buffers";
	load->live = plan->buffers;
	return ready == plan->processes;
}

/* The counters that tt-metal itself would have. Version 4 of the layout; docs/formats/metal_shm.md has the bytes. */

enum {
	REGION_BYTES = 8576,
	REGION_READY = 0x52454459,
	SLOTS_AT = 856,
	SLOT_BYTES = 120,
	CHIPS_AT = 88,
	CHIP_BYTES = 48,
	CHIPS = 16,
	SLOTS = 64
};

static void put_number(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static bool make_region(const struct bench_load *load, const struct bench_load_plan *plan, uint32_t device)
{
	uint8_t data[REGION_BYTES] = { 0 };
	char name[64];
	struct timespec now;
	uint64_t total = 0, slots = 0;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t time = (uint64_t)now.tv_sec * TDM_NS_PER_S;
	for (uint32_t p = 0; p < plan->processes && slots < SLOTS; p++) {
		if (!uses(plan, p, device))
			continue;
		uint8_t *slot = data + SLOTS_AT + slots++ * SLOT_BYTES;
		put_number(slot, (uint64_t)load->pids[p], 4);
		put_number(slot + 8, 1 << 20, 8);
		put_number(slot + 48, time, 8);
		memcpy(slot + 56, "tidemark-bench", 14);
		total += 1 << 20;
	}
	put_number(data, 4, 4);
	put_number(data + 4, slots, 4);
	put_number(data + 8, time, 8);
	put_number(data + 16, slots, 4);
	put_number(data + 32, CHIP_FIRST + device, 8);
	put_number(data + 40, device, 4);
	put_number(data + 48, total, 8);
	for (int i = 1; i < CHIPS; i++)
		put_number(data + CHIPS_AT + i * CHIP_BYTES, UINT32_MAX, 4);
	put_number(data + 8536, REGION_READY, 4);
	snprintf(name, sizeof name, "tt_device_%" PRIu64 "_memory", CHIP_FIRST + device);
	return put_bytes(load->shm, name, data, sizeof data);
}

/* A /proc with the driver's lists; the processes are the real ones. */
static bool make_proc(const struct bench_load *load, const struct bench_load_plan *plan)
{
	static char stat[1 << 20];
	char path[PATH_MAX], target[64];
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, stat, sizeof stat) : -1;
	if (fd >= 0)
		close(fd);
	bool ok = got > 0 && put_bytes(load->proc, "stat", stat, (size_t)got);
	for (uint32_t d = 0; ok && d < plan->devices; d++) {
		static char text[1 << 16];
		size_t len = 0;
		for (uint32_t p = 0; p < plan->processes; p++)
			if (uses(plan, p, d) && len < sizeof text - 16)
				len += (size_t)snprintf(text + len, sizeof text - len, "%d\n", (int)load->pids[p]);
		snprintf(path, sizeof path, "driver/tenstorrent/%" PRIu32 "/pids", d);
		ok = put_bytes(load->proc, path, text, len);
	}
	for (size_t i = 0; ok && i < load->count; i++) {
		snprintf(path, sizeof path, "%s/%d", load->proc, (int)load->pids[i]);
		snprintf(target, sizeof target, "/proc/%d", (int)load->pids[i]);
		ok = symlink(target, path) == 0;
	}
	return ok;
}

static bool make_dir(struct bench_load *load, int i, const char *variable, const char *name, char dir[96])
{
	snprintf(dir, 96, "%s/%s", load->root, name);
	snprintf(load->words[i], sizeof load->words[i], "%s=%s", variable, dir);
	load->env[i] = load->words[i];
	return mkdir(dir, 0755) == 0;
}

bool bench_load_start(struct bench_load *load, const struct bench_load_plan *plan, const char **why)
{
	*load = (struct bench_load){ 0 };
	snprintf(load->root, sizeof load->root, "%s/tidemark-bench.XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	load->pids = calloc(plan->processes, sizeof *load->pids);
	*why = "no room for its files";
	if (load->pids == NULL || mkdtemp(load->root) == NULL) {
		load->root[0] = '\0';
		return false;
	}
	bool ok = make_dir(load, 0, "TIDEMARK_DIR", "ledgers", load->ledgers) &&
		  make_dir(load, 1, "TIDEMARK_SHM_DIR", "shm", load->shm) &&
		  make_dir(load, 2, "TIDEMARK_SYSFS_ROOT", "sys", load->sysfs) &&
		  make_dir(load, 3, "TIDEMARK_PROC_ROOT", "proc", load->proc);
	for (uint32_t d = 0; ok && d < plan->devices; d++)
		ok = make_card(load, d);
	if (!ok || !start_programs(load, plan, why))
		return false;
	*why = "no room for its files";
	for (uint32_t d = 0; ok && d < plan->devices; d++)
		ok = make_region(load, plan, d);
	return ok && make_proc(load, plan);
}

void bench_load_stop(struct bench_load *load)
{
	for (size_t i = 0; i < load->count; i++)
		kill(load->pids[i], SIGKILL);
	for (size_t i = 0; i < load->count; i++)
		waitpid(load->pids[i], NULL, 0);
	free(load->pids);
	if (load->root[0] != '\0')
		bench_remove_tree(load->root);
	*load = (struct bench_load){ 0 };
}
