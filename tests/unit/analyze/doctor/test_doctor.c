/* The checks of `tidemark doctor`, on files made by the tests; access is denied by running as another user. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "analyze/doctor/doctor.h"
#include "fake_tree.h"
#include "ledger/layout/layout.h"
#include "metal_bytes.h"
#include "tidemark.h"

enum { NOBODY = 65534 };

struct machine {
	struct tree tree;
	char sys[PATH_MAX], proc[PATH_MAX], dev[PATH_MAX], shm[PATH_MAX], ledgers[PATH_MAX], socket[PATH_MAX];
	const char *python;
	struct tdm_term term;
	char *environ[8];
	struct tdm_setup setup;
	struct tdm_doctor doctor;
};

static void place(struct machine *m, char *dst, const char *name)
{
	tree_dir(&m->tree, name);
	snprintf(dst, PATH_MAX, "%s", tree_path(&m->tree, name));
}

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof *m);
	tree_init(&m->tree);
	place(m, m->sys, "sys");
	place(m, m->proc, "proc");
	place(m, m->dev, "dev");
	place(m, m->shm, "shm");
	place(m, m->ledgers, "ledgers");
	snprintf(m->socket, sizeof m->socket, "%s", tree_path(&m->tree, "server.sock"));
	m->python = "/nowhere/python3";
	*state = m;
	return 0;
}

static void forget(struct machine *m)
{
	tdm_findings_done(&m->doctor.findings);
	tdm_setup_done(&m->setup);
}

static int teardown(void **state)
{
	struct machine *m = *state;
	forget(m);
	tree_done(&m->tree);
	free(m);
	return 0;
}

/* Runs a check on a fresh reading. */
static const struct tdm_findings *check(struct machine *m, const char *name)
{
	const struct tdm_setup_places places = { m->sys, m->proc, m->dev, m->shm, m->ledgers, m->socket, m->python,
		NULL };
	forget(m);
	tdm_setup_read(&m->setup, &places);
	m->doctor = (struct tdm_doctor){ .setup = &m->setup, .environ = m->environ, .term = m->term };
	assert_true(tdm_doctor_run(&m->doctor, name));
	return &m->doctor.findings;
}

/* The i-th finding is this severe and has these words. */
static void expect(const struct tdm_findings *f, size_t i, enum tdm_severity severity, const char *words)
{
	assert_true(i < f->count);
	if (f->list[i].severity != severity || strstr(f->list[i].text, words) == NULL)
		fail_msg("%u: %s, instead of %u: %s", f->list[i].severity, f->list[i].text, severity, words);
}

/* The advice of the i-th finding, and the command for it; NULL: there is none. */
static const char *advice(const struct tdm_findings *f, size_t i)
{
	return f->list[i].advice_count != 0 ? f->advice[f->list[i].first_advice].text : NULL;
}

static const char *command(const struct tdm_findings *f, size_t i)
{
	return f->list[i].advice_count != 0 ? f->advice[f->list[i].first_advice].command : NULL;
}

static void card(struct machine *m, const char *type)
{
	tree_text(&m->tree, "sys/class/tenstorrent/tenstorrent!0/tt_card_type", type);
	tree_text(&m->tree, "proc/driver/tenstorrent/0/pids", "");
}

static void test_module(void **state)
{
	struct machine *m = *state;
	expect(check(m, "driver.module"), 0, TDM_FINDING_WARNING, "not loaded");
	tree_text(&m->tree, "proc/modules", "tenstorrent_other 1 0 - Live 0x0\n");
	expect(check(m, "driver.module"), 0, TDM_FINDING_WARNING, "not loaded");
	tree_text(&m->tree, "proc/modules", "nvme 1 0 - Live 0x0\ntenstorrent 1 0 - Live 0x0\n");
	expect(check(m, "driver.module"), 0, TDM_FINDING_OK, "does not report its version");
	tree_text(&m->tree, "sys/module/tenstorrent/version", "2.10.1\n");
	expect(check(m, "driver.module"), 0, TDM_FINDING_OK, "version 2.10.1");
}

static void test_cards(void **state)
{
	struct machine *m = *state;
	expect(check(m, "driver.cards"), 0, TDM_FINDING_INFO, "no cards");
	tree_dir(&m->tree, "sys/module/tenstorrent");
	expect(check(m, "driver.cards"), 0, TDM_FINDING_WARNING, "found no card");
	tree_dir(&m->tree, "sys/class/tenstorrent");
	expect(check(m, "driver.cards"), 0, TDM_FINDING_WARNING, "found no card");
	card(m, "n300\n");
	expect(check(m, "driver.cards"), 0, TDM_FINDING_OK, "card 0: n300");
}

static void test_nodes(void **state)
{
	struct machine *m = *state;
	expect(check(m, "driver.nodes"), 0, TDM_FINDING_INFO, "no device nodes");
	card(m, "n300\n");
	expect(check(m, "driver.nodes"), 0, TDM_FINDING_WARNING, "is not there, though the driver has the card");
	tree_text(&m->tree, "dev/tenstorrent/0", "");
	expect(check(m, "driver.nodes"), 0, TDM_FINDING_OK, "1 card may be opened");
}

static void test_users(void **state)
{
	struct machine *m = *state;
	card(m, "n300\n");
	expect(check(m, "driver.users"), 0, TDM_FINDING_OK, "nobody has it open");
	tree_text(&m->tree, "proc/driver/tenstorrent/0/pids", "77\n0\n77\n");
	tree_process(&m->tree, "proc", (struct tree_process){ .pid = 77, .comm = "train", .start = 1 });
	expect(check(m, "driver.users"), 0, TDM_FINDING_INFO, "open in 77 (train), 1 outside of this pid namespace");
	expect(check(m, "runtime.disabled"), 0, TDM_FINDING_OK, "is not set");
	expect(&m->doctor.findings, 1, TDM_FINDING_INFO, "the environment of 1 process");
	tree_bytes(&m->tree, "proc/77/environ", "X=TT_METAL_SHM_TRACKING_DISABLED=1\0TT_METAL_SHM_TRACKING_DISABLED=0",
		67);
	expect(check(m, "runtime.disabled"), 0, TDM_FINDING_OK, "is not set");
	tree_bytes(&m->tree, "proc/77/environ", "A=1\0TT_METAL_SHM_TRACKING_DISABLED=1\0B=2", 40);
	expect(check(m, "runtime.disabled"), 0, TDM_FINDING_WARNING, "process 77 (train)");
}

static void test_regions(void **state)
{
	struct machine *m = *state;
	expect(check(m, "runtime.regions"), 0, TDM_FINDING_INFO, "no shared memory");
	tree_text(&m->tree, "shm/tt_device_$(reboot)_memory", "x");
	expect(check(m, "runtime.regions"), 0, TDM_FINDING_WARNING, "too short");
	assert_null(command(&m->doctor.findings, 0)); /* nobody is asked to type that */
	tree_unlink(&m->tree, "shm/tt_device_$(reboot)_memory");
	tree_text(&m->tree, "shm/tt_device_7_memory", "x");
	check(m, "runtime.regions");
	assert_non_null(strstr(command(&m->doctor.findings, 0), "/shm/tt_device_7_memory"));
	/* A version that is known, but not all of it; and one that is not known. */
	tree_bytes(&m->tree, "shm/tt_device_7_memory", "\3\0\0\0\0\0\0\0", 8);
	expect(check(m, "runtime.regions"), 0, TDM_FINDING_WARNING, "8 bytes, but version 3 has");
	assert_non_null(strstr(advice(&m->doctor.findings, 0), "or it is truncated"));
	tree_bytes(&m->tree, "shm/tt_device_7_memory", "\11\0\0\0\0\0\0\0", 8);
	expect(check(m, "runtime.regions"), 0, TDM_FINDING_WARNING, "version 9 is not known");
	assert_non_null(strstr(advice(&m->doctor.findings, 0), "newer Tidemark"));
	snprintf(m->shm, sizeof m->shm, "/nowhere");
	expect(check(m, "runtime.regions"), 0, TDM_FINDING_WARNING, "cannot be listed");
}

static const struct tdm_findings *check_region(struct machine *m, const struct metal_bytes *bytes)
{
	tree_bytes(&m->tree, "shm/tt_device_143238002252608_memory", bytes->data, bytes->layout->size);
	return check(m, "runtime.regions");
}

/* The i-th finding has these words in its advice. */
static void expect_advice(const struct tdm_findings *f, size_t i, const char *words)
{
	assert_non_null(advice(f, i));
	assert_non_null(strstr(advice(f, i), words));
}

/* Why a program, or a card, is missing in a region that can be read. */
static void test_missing(void **state)
{
	struct machine *m = *state;
	struct metal_bytes bytes;
	card(m, "n150\n");
	/* Nobody is there. Then somebody is, and nothing is counted. */
	metal_init(&bytes, 3, &metal_common);
	expect(check_region(m, &bytes), 1, TDM_FINDING_OK, "version 3, device 0, 0 processes");
	metal_u32(&bytes, 16, 1);
	expect(check_region(m, &bytes), 1, TDM_FINDING_INFO, "all totals are 0");
	expect_advice(&m->doctor.findings, 1, "other threads");
	metal_init(&bytes, 4, &metal_common);
	metal_u32(&bytes, 16, 1);
	expect(check_region(m, &bytes), 1, TDM_FINDING_INFO, "all totals are 0");
	assert_null(strstr(advice(&m->doctor.findings, 1), "threads"));
	metal_total(&bytes, 0, 4096);
	expect(check_region(m, &bytes), 1, TDM_FINDING_OK, "version 4");
	/* No place is left. */
	for (uint32_t version = 3; version <= 4; version++) {
		metal_init(&bytes, version, &metal_common);
		metal_u32(&bytes, 4, TDM_METAL_SLOTS_MAX);
		metal_total(&bytes, 0, 4096);
		for (size_t i = 0; i < TDM_METAL_SLOTS_MAX; i++)
			metal_slot(&bytes, i, 5000 + (int32_t)i, "model", METAL_TIME);
		expect(check_region(m, &bytes), 1, TDM_FINDING_WARNING,
			version == 3 ? "in its totals only, unattributed" : "not counted at all");
	}
	/* Ids that are none of a chip. */
	const struct {
		uint64_t id;
		enum tdm_severity severity;
		const char *words, *advice;
	} ids[] = {
		{ METAL_ASIC, TDM_FINDING_INFO, "which card its chip is on", "linked by Ethernet" },
		{ 2, TDM_FINDING_INFO, "which card its chip is on", "found no id" },
		{ UINT64_C(0xDEADDEAD00000002), TDM_FINDING_WARNING, "the chip of device 2 unhealthy", "reset" },
		{ UINT64_C(0x5AA5000000000002), TDM_FINDING_INFO, "a simulated device", NULL },
	};
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		char name[64];
		tree_unlink(&m->tree, "shm");
		metal_init(&bytes, 3, &metal_common);
		metal_u64(&bytes, 32, ids[i].id);
		metal_u32(&bytes, 40, 2);
		snprintf(name, sizeof name, "shm/tt_device_%llu_memory", (unsigned long long)ids[i].id);
		tree_bytes(&m->tree, name, bytes.data, bytes.layout->size);
		expect(check(m, "runtime.regions"), 0, ids[i].severity, ids[i].words);
		if (ids[i].advice != NULL)
			expect_advice(&m->doctor.findings, 0, ids[i].advice);
		assert_int_equal(m->doctor.findings.count, 2);
	}
}

static void test_socket(void **state)
{
	struct machine *m = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	expect(check(m, "runtime.socket"), 0, TDM_FINDING_OK, "none is needed");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%.100s", m->socket);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 4), 0);
	expect(check(m, "runtime.socket"), 0, TDM_FINDING_INFO, "listens");
	close(fd);
	expect(check(m, "runtime.socket"), 0, TDM_FINDING_WARNING, "nobody listens");
	assert_non_null(strstr(command(&m->doctor.findings, 0), "rm /"));
}

/* Ledgers of a real program: a child that reports, tells so, and waits until it may end. */

struct child {
	pid_t pid;
	int go;
};

static void alloc(uint32_t kind, uint64_t id, uint64_t bytes)
{
	const struct tidemark_buffer buffer = { .size = sizeof buffer, .kind = kind, .id = id, .bytes = bytes };
	tidemark_alloc(&buffer);
}

static struct child start(struct machine *m, void (*report)(void))
{
	int ready[2], go[2];
	char c;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		setenv("TIDEMARK_DIR", m->ledgers, 1);
		tidemark_enable();
		report();
		if (write(ready[1], "x", 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ready[1]);
	close(go[0]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return (struct child){ pid, go[1] };
}

static void finish(struct child child)
{
	int status;
	assert_int_equal(write(child.go, "x", 1), 1);
	close(child.go);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_int_equal(status, 0);
}

static void report_kernels(void)
{
	for (uint64_t i = 0; i < 64; i++)
		alloc(TIDEMARK_KERNEL, i, 24576);
}

static void report_buffers(void)
{
	alloc(TIDEMARK_DRAM, 1, 1 << 20);
}

static void report_and_free(void)
{
	alloc(TIDEMARK_DRAM, 1, 1 << 20);
	tidemark_free(0, TIDEMARK_DRAM, 1);
}

static void report_nonsense(void)
{
	alloc(TIDEMARK_DRAM, 1, 1 << 20);
	alloc(99, 1, 1 << 20);
}

static void test_figures(void **state)
{
	struct machine *m = *state;
	expect(check(m, "ledgers.figures"), 0, TDM_FINDING_INFO, "no tracked program runs");
	struct child kernels = start(m, report_kernels);
	expect(check(m, "ledgers.figures"), 0, TDM_FINDING_WARNING, "only kernels, firmware and circular buffers");
	struct child freed = start(m, report_and_free);
	expect(check(m, "ledgers.figures"), 0, TDM_FINDING_OK, "2 tracked programs run, 1 of them with buffers");
	finish(kernels);
	expect(check(m, "ledgers.figures"), 0, TDM_FINDING_INFO, "everything was freed");
	struct child buffers = start(m, report_buffers);
	expect(check(m, "ledgers.figures"), 0, TDM_FINDING_OK, "2 tracked programs run, 2 of them with buffers");
	finish(freed);
	finish(buffers);
	expect(check(m, "ledgers.left"), 0, TDM_FINDING_INFO, "left their ledger behind");
	assert_string_equal(command(&m->doctor.findings, 0), "tidemark dump --reap");
}

/* Who has a card open and is counted nowhere. */
static void test_uncounted(void **state)
{
	struct machine *m = *state;
	struct metal_bytes bytes;
	assert_int_equal(check(m, "runtime.uncounted")->count, 0);
	card(m, "n150\n");
	tree_text(&m->tree, "proc/driver/tenstorrent/0/pids", "77\n78\n");
	tree_process(&m->tree, "proc", (struct tree_process){ .pid = 77, .comm = "train", .start = 1 });
	tree_process(&m->tree, "proc", (struct tree_process){ .pid = 78, .comm = "serve", .start = 1 });
	expect(check(m, "runtime.uncounted"), 0, TDM_FINDING_INFO, "they hold: 77 (train), 78 (serve)");
	metal_init(&bytes, 3, &metal_common);
	metal_u32(&bytes, 4, 1);
	metal_slot(&bytes, 0, 78, "serve", METAL_TIME);
	tree_bytes(&m->tree, "shm/tt_device_143238002252608_memory", bytes.data, bytes.layout->size);
	expect(check(m, "runtime.uncounted"), 0, TDM_FINDING_INFO, "it holds: 77 (train)");
	expect_advice(&m->doctor.findings, 0, "older than v0.70");
	metal_slot(&bytes, 1, 77, "train", METAL_TIME);
	tree_bytes(&m->tree, "shm/tt_device_143238002252608_memory", bytes.data, bytes.layout->size);
	expect(check(m, "runtime.uncounted"), 0, TDM_FINDING_OK, "every process");
	/* A ledger counts, too. */
	tree_unlink(&m->tree, "shm/tt_device_143238002252608_memory");
	struct child child = start(m, report_buffers);
	char pids[16];
	snprintf(pids, sizeof pids, "%d\n", (int)child.pid);
	tree_text(&m->tree, "proc/driver/tenstorrent/0/pids", pids);
	check(m, "runtime.uncounted");
	assert_int_equal(m->setup.picture->process_count, 1);
	const struct tree_process process = {
		.pid = child.pid, .comm = "train", .start = m->setup.picture->processes[0].start_time
	};
	tree_process(&m->tree, "proc", process);
	expect(check(m, "runtime.uncounted"), 0, TDM_FINDING_OK, "every process");
	finish(child);
	expect(check(m, "runtime.uncounted"), 0, TDM_FINDING_INFO, "a process has a card open");
}

/* What has the name of a ledger and is no file: no command that would not take it away. */
static void test_no_files(void **state)
{
	struct machine *m = *state;
	tree_dir(&m->tree, "ledgers/tidemark.1.1.0");
	tree_link(&m->tree, "ledgers/tidemark.2.1.0", "/dev/zero");
	tree_text(&m->tree, "ledgers/tidemark.3.1.0", "no ledger");
	const struct tdm_findings *f = check(m, "ledgers.unreadable");
	expect(f, 0, TDM_FINDING_WARNING, "not a regular file");
	assert_null(command(f, 0));
	expect_advice(f, 0, "move it elsewhere");
	expect(f, 1, TDM_FINDING_WARNING, "a symbolic link");
	assert_non_null(strstr(command(f, 1), "rm /"));
	assert_string_equal(command(f, 2), "tidemark dump --reap");
	snprintf(m->ledgers, sizeof m->ledgers, "/nowhere");
	assert_int_equal(check(m, "ledgers.figures")->count, 0); /* nothing is known, so nothing is said */
}

static void test_lost(void **state)
{
	struct machine *m = *state;
	struct child good = start(m, report_buffers);
	expect(check(m, "ledgers.lost"), 0, TDM_FINDING_OK, "no event was lost");
	struct child bad = start(m, report_nonsense);
	expect(check(m, "ledgers.lost"), 0, TDM_FINDING_WARNING, "lost 1 event because of impossible values");
	finish(good);
	finish(bad);
}

static void test_directory(void **state)
{
	struct machine *m = *state;
	expect(check(m, "ledgers.directory"), 0, TDM_FINDING_OK, "may be written");
	expect(check(m, "ledgers.unreadable"), 0, TDM_FINDING_OK, "no ledgers");
	tree_text(&m->tree, "ledgers/tidemark.1.2.3", "nothing");
	expect(check(m, "ledgers.unreadable"), 0, TDM_FINDING_WARNING, "not a ledger");
	snprintf(m->ledgers, sizeof m->ledgers, "%s/none", m->tree.root);
	expect(check(m, "ledgers.directory"), 0, TDM_FINDING_BROKEN, "No such file or directory");
	assert_int_equal(check(m, "ledgers.unreadable")->count, 0);
	snprintf(m->ledgers, sizeof m->ledgers, "%s/here; reboot", m->tree.root);
	expect(check(m, "ledgers.directory"), 0, TDM_FINDING_BROKEN, "No such file or directory");
	assert_null(command(&m->doctor.findings, 0));
}

/* In a child who is not root: what the checks say about things of somebody else. */
static void refused_checks(struct machine *m)
{
	expect(check(m, "driver.nodes"), 0, TDM_FINDING_WARNING, "may not be opened for reading and writing");
	expect(check(m, "runtime.regions"), 0, TDM_FINDING_WARNING, "tt_device_7_memory");
	assert_non_null(strstr(advice(&m->doctor.findings, 0), "readable for its owner only"));
	expect(check(m, "ledgers.unreadable"), 0, TDM_FINDING_INFO, "tidemark.5.5.0 cannot be read");
	assert_non_null(strstr(m->doctor.findings.list[0].text, "; nor can 2 more"));
	assert_non_null(strstr(advice(&m->doctor.findings, 0), "another user's"));
	/* The advice to reap it would not help: only its owner can. */
	struct stat st;
	bool is_own = stat(m->ledgers, &st) == 0 && st.st_uid == geteuid();
	expect(check(m, "ledgers.unreadable"), 1, is_own ? TDM_FINDING_WARNING : TDM_FINDING_INFO,
		"tidemark.6.6.0 cannot be read: not a ledger");
	assert_non_null(strstr(
		advice(&m->doctor.findings, 1), is_own ? "damaged: remove it" : "that user or root can remove it"));
	assert_int_equal(check(m, "ledgers.unreadable")->count, 2);
	expect(check(m, "ledgers.figures"), 0, TDM_FINDING_INFO, "no tracked program runs whose ledger can be read");
	expect(check(m, "ledgers.directory"), 0, TDM_FINDING_BROKEN, "cannot write their ledgers");
}

static void test_refused(void **state)
{
	struct machine *m = *state;
	int status;
	card(m, "n300\n");
	tree_text(&m->tree, "dev/tenstorrent/0", "");
	tree_text(&m->tree, "shm/tt_device_7_memory", "x");
	tree_text(&m->tree, "ledgers/tidemark.5.5.0", "x");
	tree_text(&m->tree, "ledgers/tidemark.6.6.0", "x");
	tree_text(&m->tree, "ledgers/tidemark.7.7.0", "x");
	tree_text(&m->tree, "ledgers/tidemark.8.8.0", "x");
	static const char *const files[] = { "dev/tenstorrent/0", "shm/tt_device_7_memory", "ledgers/tidemark.5.5.0",
		"ledgers/tidemark.7.7.0", "ledgers/tidemark.8.8.0" };
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		assert_int_equal(chmod(tree_path(&m->tree, files[i]), 0), 0);
	assert_int_equal(chmod(m->ledgers, 0555), 0);
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
			_exit(2);
		refused_checks(m);
		forget(m);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(chmod(m->ledgers, 0755), 0);
	assert_int_equal(status, 0);
}

static void test_variables(void **state)
{
	struct machine *m = *state;
	char wrong[] = "TIDEMARK_STAKCS=8", value[] = "TIDEMARK_UNWIND=magic", good[] = "TIDEMARK=auto";
	char empty[] = "TIDEMARK_DIR=", other[] = "TT_BUFFER_DEBUG_LOG=1", on[] = "TT_ALLOC_TRACKING_ENABLED=1";
	char evil[] = "TIDEMARK;reboot=1";
	expect(check(m, "environment.tidemark"), 0, TDM_FINDING_OK, "0 variables");
	expect(check(m, "environment.runtime"), 0, TDM_FINDING_OK, "no variable");
	memcpy(m->environ, (char *[]){ good, empty, NULL }, 3 * sizeof(char *));
	expect(check(m, "environment.tidemark"), 0, TDM_FINDING_OK, "2 variables");
	memcpy(m->environ, (char *[]){ wrong, value, other, on, evil, NULL }, 6 * sizeof(char *));
	expect(check(m, "environment.tidemark"), 0, TDM_FINDING_WARNING, "did you mean TIDEMARK_STACKS?");
	expect(&m->doctor.findings, 1, TDM_FINDING_WARNING,
		"TIDEMARK_UNWIND is 'magic'; expected auto, fp or libunwind");
	expect(&m->doctor.findings, 2, TDM_FINDING_WARNING, "nothing reads it");
	assert_null(command(&m->doctor.findings, 2));
	expect(check(m, "environment.runtime"), 0, TDM_FINDING_INFO, "turns on libtidemark");
	expect(&m->doctor.findings, 1, TDM_FINDING_WARNING, "TT_BUFFER_DEBUG_LOG is set and does nothing");
}

static void test_clock(void **state)
{
	struct machine *m = *state;
#if defined(__x86_64__)
	expect(check(m, "system.clock"), 0, TDM_FINDING_INFO, "cannot tell whether");
	tree_text(&m->tree, "proc/cpuinfo", "model : x\nflags : constant_tsc_not nonstop_tsc\n");
	expect(check(m, "system.clock"), 0, TDM_FINDING_WARNING, "(no constant_tsc)");
	tree_text(&m->tree, "proc/cpuinfo", "model : x\nflags : a constant_tsc nonstop_tsc\n");
#endif
	expect(check(m, "system.clock"), 0, TDM_FINDING_OK, "");
}

static void test_container(void **state)
{
	struct machine *m = *state;
	tree_text(&m->tree, "proc/self/status", "Name:\tx\nNSpid:\t9\nX:\t1\t2\n");
	expect(check(m, "system.container"), 0, TDM_FINDING_OK, "not in a container");
	tree_text(&m->tree, "proc/self/status", "Name:\tx\nNSpid:\t9\t1\n");
	expect(check(m, "system.container"), 0, TDM_FINDING_INFO, "in a container");
}

static void test_python(void **state)
{
	struct machine *m = *state;
	expect(check(m, "library.python"), 0, TDM_FINDING_INFO, "there is no python3");
	m->python = "true";
	expect(check(m, "library.python"), 0, TDM_FINDING_OK, "finds the package");
	m->python = "false";
	expect(check(m, "library.python"), 0, TDM_FINDING_INFO, "does not find the package");
}

static void test_terminal(void **state)
{
	struct machine *m = *state;
	expect(check(m, "system.terminal"), 0, TDM_FINDING_INFO,
		"TERM is unset; characters are not UTF-8; without colour");
	assert_string_equal(command(&m->doctor.findings, 0), "export LC_ALL=C.UTF-8");
	char type[] = "TERM=xterm";
	m->environ[0] = type;
	m->term = (struct tdm_term){ .colour = true, .utf8 = true };
	expect(check(m, "system.terminal"), 0, TDM_FINDING_OK, "TERM is xterm; characters are UTF-8; with colour");
}

/* Every check has a name of its own, with a group before it, and its findings carry it. */
static void test_table(void **state)
{
	struct machine *m = *state;
	for (const struct tdm_doctor_check *c = tdm_doctor_checks; c->name != NULL; c++) {
		assert_non_null(strchr(c->name, '.'));
		for (const struct tdm_doctor_check *d = tdm_doctor_checks; d != c; d++)
			assert_string_not_equal(c->name, d->name);
		const struct tdm_findings *f = check(m, c->name);
		for (size_t i = 0; i < f->count; i++) {
			const char *looked = tdm_finding_word(f, &f->list[i], "looked_at");
			assert_string_equal(f->list[i].what, c->name);
			assert_int_equal(f->list[i].family, TDM_FAMILY_DOCTOR);
			assert_true(f->list[i].text[0] != '\0');
			assert_true(looked != NULL && looked[0] != '\0');
		}
	}
	assert_false(tdm_doctor_run(&m->doctor, "driver.nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_module, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cards, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nodes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_users, setup, teardown),
		cmocka_unit_test_setup_teardown(test_regions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_uncounted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_variables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_container, setup, teardown),
		cmocka_unit_test_setup_teardown(test_python, setup, teardown),
		cmocka_unit_test_setup_teardown(test_terminal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_table, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
