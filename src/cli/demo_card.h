/*
 * Simulated chips that look real to libtidemark: the device model places every buffer where the runtime's allocator
 * would, and the library's public interface reports it, or messages to an allocation server do. Nothing else is
 * simulated: no data, no kernels, no time.
 *
 * A handle identifies a live buffer; 0 is none. An allocation that does not fit is reported to the ledger, remembered
 * as the card's failure and returns 0; later ones are still tried.
 */
#ifndef TDM_CLI_DEMO_CARD_H
#define TDM_CLI_DEMO_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/kind.h"
#include "device/card.h"
#include "device/l1_map.h"

enum {
	TDM_DEMO_CHIPS_MAX = 32,
	TDM_DEMO_TILE = 2048,  /* bytes of a tile of 32 x 32 two-byte values, the page of all tensors here */
	TDM_DEMO_CBS_MAX = 8,  /* circular buffers of one program */
	TDM_DEMO_TEXT_MAX = 96 /* of a buffer's name */
};

struct tdm_demo_card;

struct tdm_demo_card_options {
	const char *card;            /* "n150" */
	const char *const *settings; /* "field=value", NULL-terminated; NULL: none */
	uint32_t chips;              /* 1 … TDM_DEMO_CHIPS_MAX */
	uint32_t first_device;       /* the number of the first chip */
	const char *socket;          /* of a server that gets the reports; NULL: the library gets them */
	uint32_t message_size;       /* of the messages to it */
};

struct tdm_demo_request {
	enum tdm_kind kind; /* DRAM, L1, L1_SMALL or TRACE */
	uint64_t bytes;     /* a multiple of the page */
	uint32_t page_size; /* 0: TDM_DEMO_TILE */
	uint32_t cores;     /* sharded over this many; 0: interleaved */
	const char *name;
};

/* A program. Its circular buffers are on every core of the compute grid, one after another. */
struct tdm_demo_program {
	const char *name;
	uint32_t kernel_bytes; /* code of its kernels, loaded when it first runs on a chip */
	struct {
		const char *name; /* NULL after the last */
		uint32_t tiles;
	} cb[TDM_DEMO_CBS_MAX];
};

/* 0 with *out set, or a negative code with diag set. */
int tdm_demo_card_open(const struct tdm_demo_card_options *options, struct tdm_demo_card **out, struct tdm_diag *diag);

/*
 * Closes the chips, which frees their remaining buffers, like closing a device. If ledgers are kept (TIDEMARK_KEEP),
 * forgotten buffers stay in them. NULL is allowed.
 */
void tdm_demo_card_close(struct tdm_demo_card *card);

const struct tdm_card *tdm_demo_card_model(const struct tdm_demo_card *card);
uint32_t tdm_demo_card_chips(const struct tdm_demo_card *card);

/* Bytes of a kind on one chip, in all banks. */
uint64_t tdm_demo_card_capacity(const struct tdm_demo_card *card, enum tdm_kind kind);

/* Events that were lost. */
uint64_t tdm_demo_card_lost(const struct tdm_demo_card *card);

/* A sentence about the last failed allocation; NULL: none failed. Borrowed. */
const char *tdm_demo_card_failure(const struct tdm_demo_card *card);

/* Without dispatch nothing is placed: buffers have no address and always fit. */
void tdm_demo_card_dispatch(struct tdm_demo_card *card, bool on);

/* `chip` counts from 0. */
uint32_t tdm_demo_alloc(struct tdm_demo_card *card, uint32_t chip, const struct tdm_demo_request *request);
void tdm_demo_free(
	struct tdm_demo_card *card, uint32_t *handle); /* a handle of 0 is allowed; *handle is 0 afterwards */

/* A tensor of two-byte values in DRAM, both sides rounded up to whole tiles. */
uint32_t tdm_demo_tensor(struct tdm_demo_card *card, uint32_t chip, uint64_t rows, uint64_t columns, const char *format,
	...) __attribute__((format(printf, 5, 6)));

/* An activation in L1: this many tiles in every core. */
uint32_t tdm_demo_shards(struct tdm_demo_card *card, uint32_t chip, uint32_t tiles, const char *name);

/*
 * Checks the program against the lowest L1 buffer, as the runtime does. If it fits, its circular buffers are allocated,
 * and buffers carry its name until it ends. If not, it has not begun: false with *verdict set (may be NULL).
 */
bool tdm_demo_program_begin(struct tdm_demo_card *card, uint32_t chip, const struct tdm_demo_program *program,
	struct tdm_l1_verdict *verdict);
void tdm_demo_program_end(struct tdm_demo_card *card, uint32_t chip);

#endif
