#include "analyze/replay_feed.h"

/* Whether the event is about the device that is replayed. */
static bool is_wanted(struct tdm_replay_feed *f, uint32_t device)
{
	if (!f->has_device) {
		f->has_device = true;
		f->device = device;
	}
	if (device == f->device)
		return true;
	f->other_device = device;
	return false;
}

static bool is_of_allocator(uint8_t kind)
{
	return kind < TDM_REPLAY_SPACES;
}

/* For a buffer with only a size: a tile of 16-bit numbers or, failing that, a page that divides the size. */
static uint64_t assumed_page(uint64_t size)
{
	enum { TILE_BYTES = 2048, LEAST_BYTES = 32 };
	return size % TILE_BYTES == 0 ? TILE_BYTES : size % LEAST_BYTES == 0 ? LEAST_BYTES : size;
}

/* For a file that does not describe the device: only the user knows the card. */
static int describe(struct tdm_replay_feed *f, struct tdm_diag *diag)
{
	const struct tdm_event unknown = { .op = TDM_OP_DEVICE, .text = tdm_str_of("device -") };
	return f->replay->space_count == 0 ? tdm_replay_apply(f->replay, &unknown, NULL, diag) : 0;
}

static int apply(
	struct tdm_replay_feed *f, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag)
{
	struct tdm_event request = *event;
	int err = describe(f, diag);
	if (err != 0)
		return err;
	if (event->op == TDM_OP_ALLOC && !f->is_own_card)
		request.bytes_per_bank = TDM_SIZE_UNKNOWN;
	if (event->op == TDM_OP_ALLOC && request.bytes_per_bank == TDM_SIZE_UNKNOWN && event->page_size == 0) {
		request.page_size = assumed_page(event->size);
		f->assumed++;
	}
	return tdm_replay_apply(f->replay, &request, results, diag);
}

int tdm_replay_feed(
	struct tdm_replay_feed *f, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag)
{
	enum tdm_left_out left_out;
	if (f->is_trace)
		return tdm_replay_apply(f->replay, event, results, diag);
	switch (event->op) {
	case TDM_OP_DEVICE:
		/* A description after the first buffers is too late. */
		return is_wanted(f, event->device) && f->replay->space_count == 0
			       ? tdm_replay_apply(f->replay, event, results, diag)
			       : 0;
	case TDM_OP_ALLOC:
	case TDM_OP_FREE:
		if (!is_of_allocator(event->kind)) {
			left_out = tdm_kind_is_per_core((enum tdm_kind)event->kind) ? TDM_LEFT_OUT_PROGRAM
										    : TDM_LEFT_OUT_OTHER_KINDS;
			f->left_out[left_out] += event->op == TDM_OP_ALLOC; /* its release does not count again */
			return 0;
		}
		if (is_wanted(f, event->device) && (event->op == TDM_OP_ALLOC || tdm_replay_has(f->replay, event->id)))
			return apply(f, event, results, diag);
		f->left_out[event->device != f->device ? TDM_LEFT_OUT_OTHER_DEVICES : TDM_LEFT_OUT_UNKNOWN_FREES]++;
		return 0;
	case TDM_OP_OOM:
		f->left_out[TDM_LEFT_OUT_ERRORS]++;
		return 0;
	default:
		return 0; /* programs, phases and processes are not requests */
	}
}
