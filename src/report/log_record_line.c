/* A record of a log as one line of text. */
#include "base/duration.h"
#include "report/cell.h"
#include "report/finding_report.h"
#include "report/log_report.h"
#include "report/report_put.h"

#include <inttypes.h>

static void put_bytes(struct tdm_buf *out, const char *before, uint64_t bytes)
{
	if (bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "%s%s", before, TDM_SIZE_TEXT(bytes));
}

static void put_number(struct tdm_buf *out, const char *before, uint64_t number, const char *after)
{
	if (number != TDM_LOG_UNKNOWN)
		tdm_buf_printf(out, "%s%" PRIu64 "%s", before, number, after);
}

static void put_duration(struct tdm_buf *out, const char *before, uint64_t ns)
{
	if (ns != TDM_LOG_UNKNOWN)
		tdm_buf_printf(out, "%s%s", before, TDM_TIME_TEXT(ns));
}

static void put_where(struct tdm_buf *out, const struct tdm_log_record *r)
{
	if (r->device != TDM_LOG_DEVICE_UNKNOWN)
		tdm_buf_printf(out, " on device %" PRIu32, r->device);
	if (r->pid > 0)
		tdm_buf_printf(out, ", process %" PRId32, r->pid);
	if (r->id != TDM_LOG_UNKNOWN)
		tdm_buf_printf(out, ", buffer 0x%" PRIx64, r->id);
}

static void put_buffer(struct tdm_buf *out, const struct tdm_log_record *r)
{
	tdm_buf_puts(out, r->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)r->kind) : "buffer");
	put_bytes(out, " ", r->bytes);
	put_where(out, r);
}

static void put_cb(struct tdm_buf *out, const struct tdm_log_record *r)
{
	if (r->name.len != 0)
		tdm_cell_put(out, r->name, 32, false);
	else
		tdm_buf_printf(out, "CB%" PRIu32, r->cb);
	put_number(out, ", ", r->tiles, r->tiles == 1 ? " tile" : " tiles");
	put_bytes(out, ", ", r->bytes);
	put_number(out, ", ", r->cores, r->cores == 1 ? " core" : " cores");
	put_duration(out, ", waited ", r->duration_ns);
}

static void put_name(struct tdm_buf *out, const struct tdm_log_record *r)
{
	tdm_cell_put(out, r->name.len != 0 ? r->name : tdm_str_of("(no name)"), 60, false);
	put_bytes(out, ", ", r->bytes);
	put_duration(out, ", ", r->duration_ns);
}

static void put_geometry(struct tdm_buf *out, const struct tdm_log_geometry *g)
{
	tdm_buf_puts(out, "L1");
	put_bytes(out, " of ", g->worker_l1_size);
	put_number(out, ", buffers from ", g->l1_base, "");
	put_bytes(out, ", for buffers ", g->allocatable_l1_size);
	put_bytes(out, ", L1_SMALL ", g->l1_small_size);
}

void tdm_log_record_line(const struct tdm_log_record *r, struct tdm_buf *out)
{
	char clock[TDM_DURATION_CAP] = "-";
	if (r->time_ns != 0)
		tdm_format_clock(clock, sizeof clock, r->time_ns);
	tdm_buf_printf(
		out, "%-12s %9" PRIu64 "  %-13s ", clock, r->line, tdm_log_type_name((enum tdm_log_type)r->type));
	switch (r->type) {
	case TDM_LOG_FAILURE:
		tdm_failure_text(&r->failure, out);
		break;
	case TDM_LOG_ALLOC:
	case TDM_LOG_FREE:
	case TDM_LOG_UNKNOWN_FREE:
		put_buffer(out, r);
		break;
	case TDM_LOG_PROCESS_GONE:
		tdm_buf_printf(out, "process %" PRId32, r->pid);
		put_number(out, ", buffers that it left: ", r->count, "");
		put_bytes(out, ", ", r->bytes);
		break;
	case TDM_LOG_REMAINING:
		put_number(out, "", r->count, " buffers of ");
		put_buffer(out, r);
		break;
	case TDM_LOG_GEOMETRY:
		put_geometry(out, &r->geometry);
		break;
	case TDM_LOG_MEMORY_STATE:
		tdm_buf_puts(out, tdm_kind_name((enum tdm_kind)r->kind));
		put_bytes(out, ", allocated ", r->view.allocated);
		put_bytes(out, " of ", r->view.total);
		put_bytes(out, ", largest free ", r->view.largest_free);
		put_number(out, ", in each of ", r->view.banks, " banks");
		break;
	case TDM_LOG_TILES:
		put_number(out, "A ", r->a_tiles, " tiles ");
		put_number(out, "B ", r->b_tiles, " tiles ");
		put_number(out, "", r->shard_tiles, " tiles per shard ");
		put_number(out, "on ", r->devices, " devices ");
		put_number(out, "on ", r->cores, " cores");
		break;
	case TDM_LOG_STACK:
		tdm_cell_put(out, r->stack.processor, 24, false);
		put_bytes(out, ", stack used ", r->stack.used);
		put_bytes(out, " of ", r->stack.size);
		put_bytes(out, ", free ", r->stack.free);
		tdm_buf_puts(out, ", kernel ");
		tdm_cell_put(out, r->name, 60, false);
		break;
	case TDM_LOG_VERIFICATION:
		put_number(out, "", r->tiles, "");
		put_number(out, " of ", r->count, " values passed");
		break;
	case TDM_LOG_CB_ALLOC:
	case TDM_LOG_CB_RESERVE:
	case TDM_LOG_CB_PUSH:
	case TDM_LOG_CB_WAIT:
	case TDM_LOG_CB_POP:
		put_cb(out, r);
		break;
	default:
		put_name(out, r);
		break;
	}
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}
