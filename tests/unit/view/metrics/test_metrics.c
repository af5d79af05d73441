/* Metrics of hand-made pictures, in both formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/err.h"
#include "picture_make.h"
#include "view/metrics/metrics.h"
#include "live/host/proc_facts.h"

struct written {
	struct tdm_metrics *metrics;
	struct tdm_buf out;
};

static void begin(struct written *written, unsigned names, bool processes)
{
	tdm_buf_init(&written->out);
	written->metrics = tdm_metrics_new(names, processes, "/nonexistent");
	assert_non_null(written->metrics);
}

static void end(struct written *written)
{
	tdm_metrics_free(written->metrics);
	tdm_buf_done(&written->out);
}

static const char *write_as(struct written *written, struct make *make, struct tdm_metrics_view view, bool open)
{
	struct tdm_metrics_text text;
	view.picture = &make->picture;
	tdm_buf_clear(&written->out);
	tdm_metrics_update(written->metrics, &make->picture);
	tdm_metrics_begin(&text, &written->out, open);
	tdm_metrics_write(written->metrics, &view, &text);
	tdm_metrics_end(&text);
	return written->out.data;
}

static const struct tdm_metrics_view all = { .sees_all = true, .leak_age_ns = TDM_BYTES_UNKNOWN };
static const struct tdm_metrics_view stranger = { .uid = TDM_UID_UNKNOWN, .leak_age_ns = TDM_BYTES_UNKNOWN };

static void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("missing: %s\nin:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	if (strstr(text, part) != NULL)
		fail_msg("not expected: %s\nin:\n%s", part, text);
}

#define DEVICE_0 "device=\"0\",pci_bdf=\"0000:01:00.0\",arch=\"Wormhole\",asic_id=\"0x0000000000001000\""

static void a_family_has_help_type_and_unit(void **state)
{
	(void)state;
	static const char open[] = "# HELP tt_x_bytes A size.\\nWith \\\\.\n# TYPE tt_x_bytes gauge\n"
				   "# UNIT tt_x_bytes bytes\ntt_x_bytes 18446744073709551614\ntt_x_bytes{a=\"b\"} 0.5\n"
				   "# HELP tt_n A count.\n# TYPE tt_n counter\ntt_n_total 3\n"
				   "# HELP tt_i A fact.\n# TYPE tt_i info\ntt_i_info{v=\"1\"} 1\n# EOF\n",
			  plain[] = "# HELP tt_x_bytes A size.\\nWith \\\\.\n# TYPE tt_x_bytes gauge\n"
				    "tt_x_bytes 18446744073709551614\ntt_x_bytes{a=\"b\"} 0.5\n"
				    "# HELP tt_n_total A count.\n# TYPE tt_n_total counter\ntt_n_total 3\n"
				    "# HELP tt_i_info A fact.\n# TYPE tt_i_info gauge\ntt_i_info{v=\"1\"} 1\n";
	for (int is_open = 0; is_open < 2; is_open++) {
		struct tdm_buf out;
		struct tdm_metrics_text text;
		tdm_buf_init(&out);
		tdm_metrics_begin(&text, &out, is_open != 0);
		tdm_metrics_family(&text, "tt_x_bytes", TDM_METRIC_GAUGE, "A size.\nWith \\.");
		tdm_metrics_u64(&text, "", UINT64_MAX - 1);
		tdm_metrics_real(&text, "a=\"b\"", 0.5);
		tdm_metrics_family(&text, "tt_none", TDM_METRIC_GAUGE, "No sample.");
		tdm_metrics_u64(&text, "", TDM_BYTES_UNKNOWN);
		tdm_metrics_real(&text, "", (double)NAN);
		tdm_metrics_family(&text, "tt_n", TDM_METRIC_COUNTER, "A count.");
		tdm_metrics_u64(&text, "", 3);
		tdm_metrics_family(&text, "tt_i", TDM_METRIC_INFO, "A fact.");
		tdm_metrics_u64(&text, "v=\"1\"", 1);
		tdm_metrics_end(&text);
		assert_string_equal(out.data, is_open != 0 ? open : plain);
		tdm_buf_done(&out);
	}
}

static void labels_are_escaped_and_cut(void **state)
{
	(void)state;
	struct tdm_buf labels;
	char *many = malloc(10001);
	tdm_buf_init(&labels);
	tdm_metrics_label(&labels, "a", "he said \"no\\yes\"\nand \xff left\xc3\xa9");
	tdm_metrics_label(&labels, "b", "");
	tdm_metrics_label(&labels, "c", "x");
	assert_string_equal(labels.data, "a=\"he said \\\"no\\\\yes\\\"\\nand \xef\xbf\xbd left\xc3\xa9\",c=\"x\"");
	tdm_buf_clear(&labels);
	memset(many, 'x', 10000);
	many[10000] = '\0';
	tdm_metrics_label(&labels, "long", many);
	assert_int_equal(labels.len, strlen("long=\"\"") + TDM_METRIC_LABEL_MAX);
	assert_has(labels.data, "xxx" TDM_METRIC_CUT "\"");
	/* A character is never cut in two, nor does what is not UTF-8 make the label longer. */
	for (size_t shift = 0; shift < 4; shift++) {
		tdm_buf_clear(&labels);
		for (size_t i = 0; i + 1 < 10000; i += 2)
			memcpy(many + i, "\xc3\xa9", 2);
		tdm_metrics_label(&labels, "long", many + shift);
		assert_true(labels.len <= strlen("long=\"\"") + TDM_METRIC_LABEL_MAX);
		for (size_t at = 0; at < labels.len;) {
			size_t len = tdm_str_utf8(labels.data + at, labels.len - at);
			assert_true(len > 0);
			at += len;
		}
	}
	memset(many, 0x80, 10000);
	tdm_buf_clear(&labels);
	tdm_metrics_label(&labels, "long", many);
	assert_true(labels.len <= strlen("long=\"\"") + TDM_METRIC_LABEL_MAX);
	free(many);
	tdm_buf_done(&labels);
}

static void the_format_is_what_the_reader_prefers(void **state)
{
	(void)state;
	static const struct {
		const char *accept;
		bool open;
	} cases[] = {
		{ NULL, false },
		{ "", false },
		{ "*/*", false },
		{ "text/html,application/xhtml+xml", false },
		{ "application/openmetrics-text", true },
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
			true },
		{ "text/plain;version=0.0.4, application/openmetrics-text; q=0.3", false },
		{ "application/openmetrics-text;q=0", false },
		{ "APPLICATION/OpenMetrics-Text ; q=1", true },
		{ "application/openmetrics-textual", false },
		{ "application/openmetrics-text;q=99999999999999999999", false },
		{ ",,,;q=;q", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (tdm_metrics_accepts_openmetrics(cases[i].accept) != cases[i].open)
			fail_msg("%s", cases[i].accept);
}

static void make_one(struct make *make)
{
	make_init(make);
	struct tdm_picture_device *device = make_n150(make, 0);
	device->key = 77;
	make_kind(device, TDM_KIND_DRAM, 9 * MAKE_GIB, 12 * MAKE_GIB);
	device->kinds[TDM_KIND_DRAM].largest_free = MAKE_GIB;
	device->kinds[TDM_KIND_DRAM].buffers = 3;
	make_kind(device, TDM_KIND_L1_SMALL, 4096, 2 * MAKE_MIB);
	device->telemetry.temp = (struct tdm_reading){ .is_known = true, .value = 47250 };
	device->space_ns = 1;
	make_process(make, 4242, "python3 train.py \"x\"\ny");
	make_amount(make, make_holding(make, 0), TDM_KIND_DRAM, 8 * MAKE_GIB);
	device->kinds[TDM_KIND_L1_SMALL].is_estimated = true;
	make->holdings[0].kinds[TDM_KIND_DRAM].allocs = 10;
	make->holdings[0].kinds[TDM_KIND_DRAM].out_of_memory = 2;
}

static void a_device_has_its_figures_and_nothing_that_is_unknown(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	make_one(&make);
	begin(&written, 0, false);
	const char *text = write_as(&written, &make, stranger, true);
	assert_has(text, "# HELP tt_dram_used_bytes Memory of kind dram in use by running processes.\n"
			 "# TYPE tt_dram_used_bytes gauge\n# UNIT tt_dram_used_bytes bytes\n"
			 "tt_dram_used_bytes{" DEVICE_0 "} 9663676416\n");
	assert_has(text, "\ntt_dram_total_bytes{" DEVICE_0 "} 12884901888\n");
	assert_has(text, "\ntt_dram_largest_free_block_bytes{" DEVICE_0 "} 1073741824\n");
	assert_has(text, "\ntt_dram_peak_bytes{" DEVICE_0 "} 9663676416\n");
	assert_has(text, "\ntt_l1_small_peak_bytes{" DEVICE_0 "} 4096\n");
	assert_has(text, "\ntt_fragmentation_ratio{" DEVICE_0 ",kind=\"dram\"} 0.6666666667\n");
	assert_has(text, "\ntt_buffers{" DEVICE_0 ",kind=\"dram\"} 3\n");
	assert_has(text, "\ntt_banks{" DEVICE_0 ",kind=\"dram\"} 12\n");
	assert_has(text, "\ntt_estimated{" DEVICE_0 ",kind=\"dram\"} 0\n");
	assert_has(text, "\ntt_estimated{" DEVICE_0 ",kind=\"l1_small\"} 1\n");
	assert_has_not(text, "\ntt_estimated{" DEVICE_0 ",kind=\"l1\"}");
	assert_has(text, "\ntt_temperature_celsius{" DEVICE_0 "} 47.25\n");
	assert_has(text, "\ntt_l1_core_bytes{" DEVICE_0 "} 1499136\n");
	assert_has(text, "\ntt_device_info{" DEVICE_0 ",card=\"n150\",number=\"0\",node=\"0\",sort=\"chip\"} 1\n");
	assert_has_not(text, "tt_l1_used_bytes"); /* nobody counts it */
	assert_has_not(text, "tt_power_watts");
	assert_has_not(text, "tt_process");
	assert_has_not(text, "tenstorrent_");
	assert_has_not(text, "megabytes");
	end(&written);
}

static void the_largest_free_block_is_left_out_when_it_is_old(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	make_one(&make);
	begin(&written, 0, false);
	make.picture.time_ns = UINT64_C(50) * 1000000000;
	make.devices[0].space_is_old = true;
	assert_has(write_as(&written, &make, all, true), "tt_dram_largest_free_block_bytes{");
	make.picture.time_ns = UINT64_C(70) * 1000000000;
	const char *text = write_as(&written, &make, all, true);
	assert_has_not(text, "tt_dram_largest_free_block_bytes{");
	assert_has_not(text, "tt_fragmentation_ratio");
	assert_has(text, "tt_space_age_seconds{" DEVICE_0 "} 70\n");
	make.devices[0].space_is_old = false; /* nothing has changed since, so it is still true */
	assert_has(write_as(&written, &make, all, true), "tt_dram_largest_free_block_bytes{");
	end(&written);
}

static void counters_never_fall(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	make_one(&make);
	begin(&written, 0, false);
	assert_has(write_as(&written, &make, all, true), "\ntt_allocations_total{" DEVICE_0 ",kind=\"dram\"} 10\n");
	make.holdings[0].kinds[TDM_KIND_DRAM].allocs = 15;
	const char *text = write_as(&written, &make, all, false);
	assert_has(text, "# TYPE tt_allocations_total counter\ntt_allocations_total{" DEVICE_0 ",kind=\"dram\"} 15\n");
	assert_has(text, "\ntt_oom_total{" DEVICE_0 ",kind=\"dram\"} 2\n");
	/* The process ends: the sum stays. */
	make.processes[0].life = TDM_LIFE_ENDED;
	assert_has(write_as(&written, &make, all, true), "\ntt_allocations_total{" DEVICE_0 ",kind=\"dram\"} 15\n");
	/* Another one begins, and counts from its own start. */
	make.processes[0].life = TDM_LIFE_RUNS;
	make.processes[0].handle = 99;
	make.holdings[0].kinds[TDM_KIND_DRAM].allocs = 4;
	assert_has(write_as(&written, &make, all, true), "\ntt_allocations_total{" DEVICE_0 ",kind=\"dram\"} 19\n");
	make.holdings[0].kinds[TDM_KIND_DRAM].allocs = 1; /* it began again */
	assert_has(write_as(&written, &make, all, true), "\ntt_allocations_total{" DEVICE_0 ",kind=\"dram\"} 20\n");
	make.holdings[0].kinds[TDM_KIND_DRAM].allocs = TDM_BYTES_UNKNOWN;
	assert_has(write_as(&written, &make, all, true), "\ntt_allocations_total{" DEVICE_0 ",kind=\"dram\"} 20\n");
	end(&written);
}

static void a_counter_that_nobody_keeps_is_not_0(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	make_one(&make);
	begin(&written, 0, false);
	/* As tt-metal's shared memory has it: bytes, and nothing else. */
	tdm_holding_init(&make.holdings[0], make.holdings[0].process, make.holdings[0].device);
	make.processes[0].lost = TDM_BYTES_UNKNOWN;
	make.holdings[0].kinds[TDM_KIND_DRAM].reserved = make.devices[0].kinds[TDM_KIND_DRAM].used;
	const char *text = write_as(&written, &make, all, true);
	assert_has(text, "tt_dram_used_bytes{");
	assert_has_not(text, "tt_allocations");
	assert_has_not(text, "tt_oom");
	assert_has_not(text, "tt_lost_events");
	make.holdings[0].kinds[TDM_KIND_L1].allocs = 0; /* another program counts L1 */
	text = write_as(&written, &make, all, true);
	assert_has(text, "\ntt_allocations_total{" DEVICE_0 ",kind=\"l1\"} 0\n");
	assert_has_not(text, "tt_allocations_total{" DEVICE_0 ",kind=\"dram\"}");
	end(&written);
}

static void lost_events_are_counted_once(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	make_one(&make);
	begin(&written, 0, false);
	make.processes[0].lost = 3;
	assert_has(write_as(&written, &make, all, true), "\ntt_lost_events_total{" DEVICE_0 "} 3\n");
	make.processes[0].lost = 5;
	assert_has(write_as(&written, &make, all, true), "\ntt_lost_events_total{" DEVICE_0 "} 5\n");
	assert_has(write_as(&written, &make, all, true), "\ntt_lost_events_total{" DEVICE_0 "} 5\n");
	make.processes[0].handle = 99; /* another process */
	make.processes[0].lost = 2;
	assert_has(write_as(&written, &make, all, true), "\ntt_lost_events_total{" DEVICE_0 "} 7\n");
	end(&written);
}

/* The last counters of a process come with its end. */
static void what_a_process_counted_until_its_end_is_added(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	make_one(&make);
	begin(&written, 0, false);
	struct tdm_picture_end last = { .process = make.processes[0].handle, .device = make.devices[0].key };
	memcpy(last.kinds, make.holdings[0].kinds, sizeof last.kinds);
	last.kinds[TDM_KIND_DRAM].out_of_memory = 3;
	write_as(&written, &make, all, true);
	make.processes[0].life = TDM_LIFE_ENDED;
	make.picture.ends = &last;
	make.picture.end_count = 1;
	const char *text = write_as(&written, &make, all, true);
	assert_has(text, "\ntt_oom_total{" DEVICE_0 ",kind=\"dram\"} 3\n"); /* two of them were known */
	assert_has(text, "\ntt_allocations_total{" DEVICE_0 ",kind=\"dram\"} 10\n");
	make.picture.end_count = 0;
	assert_has(write_as(&written, &make, all, true), "\ntt_oom_total{" DEVICE_0 ",kind=\"dram\"} 3\n");
	last.process = 12345; /* which was never counted */
	make.picture.end_count = 1;
	assert_has(write_as(&written, &make, all, true), "\ntt_oom_total{" DEVICE_0 ",kind=\"dram\"} 3\n");
	end(&written);
}

static void processes_are_shown_to_whom_they_belong(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	struct tdm_metrics_view owner = stranger;
	owner.uid = 1000;
	make_one(&make);
	begin(&written, 0, true);
	static const char sample[] =
		"\ntt_process_dram_bytes{" DEVICE_0 ",pid=\"4242\",process=\"python3\",user=\"alice\","
		"command=\"python3 train.py \\\"x\\\"\\ny\"} 8589934592\n";
	assert_has(write_as(&written, &make, all, true), sample);
	assert_has(write_as(&written, &make, owner, true), sample);
	assert_has_not(write_as(&written, &make, stranger, true), "tt_process_");
	owner.uid = 1001;
	assert_has_not(write_as(&written, &make, owner, true), "alice");
	make.processes[0].life = TDM_LIFE_ENDED;
	assert_has_not(write_as(&written, &make, all, true), "tt_process_");
	end(&written);
}

static void two_processes_with_one_pid_are_one_series(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	make_one(&make);
	make_process(&make, 4242, "other");
	make_amount(&make, make_holding(&make, 0), TDM_KIND_DRAM, 4096);
	begin(&written, 0, true);
	const char *text = write_as(&written, &make, all, true);
	assert_has(text, "8589934592\n");
	assert_has_not(text, "command=\"other\"");
	make.processes[0].life = TDM_LIFE_ENDED;
	assert_has(write_as(&written, &make, all, true), "command=\"other\"} 4096\n");
	end(&written);
}

static void names_of_other_exporters_are_added(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	unsigned names;
	assert_int_equal(tdm_metrics_names_parse("tt-exporter, tt-telemetry,tt-mgmt", &names), 0);
	assert_int_equal(names, TDM_METRIC_NAMES_TT_EXPORTER | TDM_METRIC_NAMES_TT_TELEMETRY);
	assert_int_equal(tdm_metrics_names_parse("tt-exporter,nvidia", &names), TDM_ESYNTAX);
	assert_int_equal(tdm_metrics_names_parse("", &names), 0);
	assert_int_equal(names, 0);
	make_one(&make);
	make.devices[0].kinds[TDM_KIND_DRAM].used += MAKE_MIB / 2;
	begin(&written, TDM_METRIC_NAMES_TT_EXPORTER | TDM_METRIC_NAMES_TT_TELEMETRY, true);
	const char *text = write_as(&written, &make, all, false);
	assert_has(text, "\ntenstorrent_dram_used_bytes{asic_id=\"0x0000000000001000\",device_id=\"0000:01:00.0\"} "
			 "9664200704\n");
	assert_has(text, "\ntenstorrent_temperature_celsius{asic_id=\"0x0000000000001000\","
			 "device_id=\"0000:01:00.0\"} 47.25\n");
	assert_has(text, "\ntenstorrent_proc_dram_used_bytes{asic_id=\"0x0000000000001000\","
			 "device_id=\"0000:01:00.0\",pid=\"4242\",process_name=\"python3\"} 8589934592\n");
	assert_has(text, "\ntt_device_dram_used_megabytes{hostname=\"");
	assert_has(text, "\",chip=\"0\",unit=\"MB\"} 9217\n"); /* rounded */
	assert_has(text, "\ntt_process_count 1\n");
	assert_has_not(text, "tenstorrent_power_watts");
	end(&written);
}

static void sources_and_leaks_are_shown(void **state)
{
	(void)state;
	struct make make;
	struct written written;
	const struct tdm_metrics_source sources[] = { { TDM_FROM_LEDGER, false, 250000000, 2 },
		{ TDM_FROM_DRIVER, true, TDM_BYTES_UNKNOWN, 0 } };
	const struct tdm_metrics_leak leaks[] = { { 77, TDM_KIND_DRAM, true, 3, 4096 },
		{ 12345, TDM_KIND_DRAM, false, 1, 1 } };
	const struct tdm_metrics_view view = { .sees_all = true,
		.sources = sources,
		.source_count = 2,
		.leaks = leaks,
		.leak_count = 2,
		.leak_age_ns = UINT64_C(5000000000) };
	make_one(&make);
	begin(&written, 0, false);
	const char *text = write_as(&written, &make, view, true);
	assert_has(text, "\ntt_source_last_collect_success{source=\"ledger\"} 1\n"
			 "tt_source_last_collect_success{source=\"driver\"} 0\n");
	assert_has(text, "\ntt_source_age_seconds{source=\"ledger\"} 0.25\n# ");
	assert_has(text, "\ntt_source_problems{source=\"ledger\"} 2\n");
	assert_has(text, "\ntt_leak_suspect_bytes{" DEVICE_0 ",kind=\"dram\",verdict=\"leak\"} 4096\n# ");
	assert_has(text, "\ntt_leak_suspects{" DEVICE_0 ",kind=\"dram\",verdict=\"leak\"} 3\n# ");
	assert_has(text, "\ntt_leak_watch_age_seconds 5\n");
	end(&written);
}

static void control_groups_name_containers_pods_and_jobs(void **state)
{
	(void)state;
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct {
		const char *text, *container, *pod, *job;
	} cases[] = {
		{ "0::/system.slice/docker-" ID ".scope\n", ID, "", "" },
		{ "12:memory:/docker/" ID "\n0::/\n", ID, "", "" },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
		  "pod3f2b1c4d_0000_4abc_9def_0123456789ab.slice/cri-containerd-" ID ".scope",
			ID, "3f2b1c4d-0000-4abc-9def-0123456789ab", "" },
		{ "0::/kubepods/besteffort/pod3f2b1c4d-0000-4abc-9def-0123456789ab/" ID, ID,
			"3f2b1c4d-0000-4abc-9def-0123456789ab", "" },
		{ "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", "", "", "4711" },
		{ "4:devices:/slurm/uid_1000/job_99/step_batch\n", "", "", "99" },
		{ "0::/user.slice/job_5\n", "", "", "" }, /* not Slurm's */
		{ "0::/slurm/job_5x\n", "", "", "" },
		{ "0::/slurm/job_123456789012345678901234567890\n", "", "", "" },
		{ "0::/docker/" ID "0\n", "", "", "" }, /* too long for an id */
		{ "0::/user.slice\n", "", "", "" },
		{ "", "", "", "" },
		{ "::", "", "", "" },
		{ "no colon /docker/" ID, "", "", "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tdm_cgroup cgroup;
		tdm_cgroup_parse(tdm_str_of(cases[i].text), &cgroup);
		assert_string_equal(cgroup.container, cases[i].container);
		assert_string_equal(cgroup.pod, cases[i].pod);
		assert_string_equal(cgroup.job, cases[i].job);
	}
	struct tdm_cgroup cgroup;
	assert_true(tdm_cgroup_read("/nonexistent", 1, &cgroup) < 0);
	assert_string_equal(cgroup.container, "");
}

/* Of running processes, on devices with traces. */
static void counts_trace_hazards(void **state)
{
	const struct tdm_trace trace = { .id = 1 };
	const struct tdm_hazard hazards[] = { { .state = TDM_HAZARD_LIVE, .count = 3 },
		{ .state = TDM_HAZARD_LIVE, .count = 2 }, { .state = TDM_HAZARD_WAITS, .count = 1 } };
	struct make make;
	struct written written;
	(void)state;
	make_init(&make);
	make_n150(&make, 0);
	make_n150(&make, 1);
	make_process(&make, 1, "a");
	struct tdm_holding *holding = make_holding(&make, 0);
	make_holding(&make, 1);
	holding->told.traces = &trace;
	holding->told.trace_count = 1;
	holding->told.hazards = hazards;
	holding->told.hazard_count = 3;
	begin(&written, 0, false);
	const char *text = write_as(&written, &make, all, true);
	assert_has(text, "tt_trace_hazards{" DEVICE_0 ",state=\"live\"} 5\n");
	assert_has(text, "state=\"waiting\"} 1\n");
	assert_has(text, "state=\"freed\"} 0\n");
	assert_has_not(text, "tt_trace_hazards{device=\"1\"");
	make.processes[0].life = TDM_LIFE_ENDED;
	assert_has_not(write_as(&written, &make, all, true), "tt_trace_hazards{");
	end(&written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_trace_hazards),
		cmocka_unit_test(a_family_has_help_type_and_unit),
		cmocka_unit_test(labels_are_escaped_and_cut),
		cmocka_unit_test(the_format_is_what_the_reader_prefers),
		cmocka_unit_test(a_device_has_its_figures_and_nothing_that_is_unknown),
		cmocka_unit_test(the_largest_free_block_is_left_out_when_it_is_old),
		cmocka_unit_test(counters_never_fall),
		cmocka_unit_test(a_counter_that_nobody_keeps_is_not_0),
		cmocka_unit_test(lost_events_are_counted_once),
		cmocka_unit_test(what_a_process_counted_until_its_end_is_added),
		cmocka_unit_test(processes_are_shown_to_whom_they_belong),
		cmocka_unit_test(two_processes_with_one_pid_are_one_series),
		cmocka_unit_test(names_of_other_exporters_are_added),
		cmocka_unit_test(sources_and_leaks_are_shown),
		cmocka_unit_test(control_groups_name_containers_pods_and_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
