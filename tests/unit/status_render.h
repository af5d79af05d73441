/* Texts and JSON of `tidemark status` from hand-made pictures, for its tests. */
#ifndef TESTS_UNIT_STATUS_RENDER_H
#define TESTS_UNIT_STATUS_RENDER_H

#include "picture_valid.h"
#include "picture_make.h"
#include "view/rows/status_result.h"
#include "view/write/write.h"

static inline void render_as(struct make *make, struct tdm_status_report report, struct tdm_buf *out)
{
	struct tdm_result *result = tdm_result_new();
	report.picture = &make->picture;
	report.term.folds = !report.is_piped;
	tdm_buf_clear(out);
	tdm_status_show(&result->top, &report);
	tdm_write_text(&result->top, &report.term, out);
	tdm_result_free(result);
}

/* On a terminal. */
static inline void render(struct make *make, struct tdm_pick pick, size_t width, bool utf8, struct tdm_buf *out)
{
	render_as(make, (struct tdm_status_report){ .pick = pick, .term = { .utf8 = utf8, .width = width } }, out);
}

static inline void render_json(struct make *make, const struct tdm_host *host, struct tdm_buf *out)
{
	struct tdm_status_report report = { .picture = &make->picture, .host = host };
	struct tdm_json json;
	tdm_buf_clear(out);
	tdm_json_init(&json, out);
	json.compact = true;
	struct tdm_result *result = tdm_result_new();
	tdm_snapshot_show(&result->top, &report);
	tdm_json_envelope(&json, "tidemark.status");
	tdm_write_members(&result->top, &json);
	tdm_json_object_end(&json);
	tdm_result_free(result);
	assert_int_equal(json.depth, 0);
	assert_ptr_equal(strchr(out->data, '\n'), out->data + out->len - 1);
}

static inline void assert_has(const struct tdm_buf *out, const char *text)
{
	if (strstr(out->data, text) == NULL)
		fail_msg("expected '%s' in:\n%s", text, out->data);
}

static inline void assert_has_not(const struct tdm_buf *out, const char *text)
{
	if (strstr(out->data, text) != NULL)
		fail_msg("did not expect '%s' in:\n%s", text, out->data);
}

/* Columns of the longest line. */
static inline size_t widest(const char *text)
{
	size_t most = 0, now = 0;
	for (; *text != '\0'; text++) {
		now = *text == '\n' ? 0 : now + (((unsigned char)*text & 0xc0) != 0x80);
		most = now > most ? now : most;
	}
	return most;
}

static inline void know(struct tdm_reading *reading, int64_t value)
{
	*reading = (struct tdm_reading){ .is_known = true, .value = value };
}

/* A machine on which there is one of everything. */
static inline void make_full(struct make *make)
{
	make_init(make);
	struct tdm_picture_device *device = make_n150(make, 0);
	make_kind(device, TDM_KIND_DRAM, 9 * MAKE_GIB, 12 * MAKE_GIB);
	device->kinds[TDM_KIND_DRAM].total_from = TDM_FROM_MODEL;
	device->kinds[TDM_KIND_DRAM].peak_is_seen = true;
	device->kinds[TDM_KIND_DRAM].rival_from = TDM_FROM_METAL_SHM;
	device->kinds[TDM_KIND_DRAM].rival_used = 10 * MAKE_GIB;
	device->kinds[TDM_KIND_DRAM].rival_processes = 1;
	device->kinds[TDM_KIND_DRAM].rival_bytes = 2 * MAKE_GIB;
	make_kind(device, TDM_KIND_L1, 52 * MAKE_MIB, 85 * MAKE_MIB);
	make_kind(device, TDM_KIND_CB, 8 * MAKE_MIB, 0);
	device->kinds[TDM_KIND_CB].total = TDM_BYTES_UNKNOWN;
	device->kinds[TDM_KIND_CB].free = TDM_BYTES_UNKNOWN;
	device->kinds[TDM_KIND_CB].largest_free = TDM_BYTES_UNKNOWN;
	device->kinds[TDM_KIND_CB].total_from = TDM_FROM_NONE;
	device->kinds[TDM_KIND_DRAM].stale = 3 * MAKE_MIB;
	know(&device->telemetry.temp, 47250);
	know(&device->telemetry.temp_max, 100000);
	know(&device->telemetry.power, 35500000);
	know(&device->telemetry.clock, 1000);
	know(&device->telemetry.voltage, 850);
	device->telemetry.fan.err = -ENODATA;
	make_process(make, 4242, "python3 train.py --model llama --batch 32 --layers 40 --checkpoint /data/llama");
	struct tdm_holding *holding = make_holding(make, 0);
	make_amount(make, holding, TDM_KIND_DRAM, 8 * MAKE_GIB);
	make_amount(make, holding, TDM_KIND_L1, 52 * MAKE_MIB);
	make_amount(make, holding, TDM_KIND_CB, 8 * MAKE_MIB);
	make->picture.problem_count = 1;
	snprintf(make->problems[0].place, sizeof make->problems[0].place, "/dev/shm/tt_device_5_memory");
	snprintf(make->problems[0].text, sizeof make->problems[0].text, "it belongs to another user");
	make->problems[0].from = TDM_FROM_METAL_SHM;
	assert_true(picture_is_valid(&make->picture));
}

#endif
