/*
 * `tidemark demo`: programs on simulated chips that look real to libtidemark. The device model places every buffer
 * where the runtime's allocator would. Buffers are reported through the library's public interface, or by messages to
 * an allocation server. Nothing else is simulated: no data, no kernels, no time.
 *
 * One engine (demo_card.c) runs every workload. It tracks the live buffers, so workloads hold no handles. Each buffer
 * belongs to a group on a chip, and is freed with the group, by its name within the group, or when the workload ends.
 * The engine also keeps time. It blocks signals that would end the program and checks for them between steps, so a
 * workload always ends in an orderly way and removes its ledger.
 *
 * An allocation that does not fit is reported to the ledger and recorded as the demo's failure; later allocations are
 * still tried.
 */
#ifndef TDM_CLI_DEMO_H
#define TDM_CLI_DEMO_H

#include <signal.h>

#include "base/diag.h"
#include "base/kind.h"
#include "cli/options/cmd.h"
#include "model/card/bank.h"
#include "model/card/card.h"

#define TDM_DEMO_CARD     "n150" /* default card */
#define TDM_DEMO_NO_LIMIT UINT64_MAX

enum {
	TDM_DEMO_CHIPS_MAX = 32,
	TDM_DEMO_TILE = 2048, /* bytes of a tile of 32 x 32 two-byte values, the page size of all tensors here */
	TDM_DEMO_CBS_MAX = 8, /* maximum number of circular buffers in a program */
	TDM_DEMO_PROGRAMS_MAX = 64,
	TDM_DEMO_TEXT_MAX = 96, /* maximum length of a buffer's name */
	TDM_DEMO_FAILURE_MAX = 320,
	TDM_DEMO_REGIONS = 4, /* DRAM, L1, L1_SMALL and TRACE, numbered as in enum tdm_kind */
	TDM_DEMO_LEAKED = -1, /* a group that outlives the workload and is freed when the chips are closed */
};

/* Marks a function that must appear in call stacks under its own name. */
#if __has_attribute(noipa)
#define TDM_DEMO_FRAME __attribute__((noipa))
#else
#define TDM_DEMO_FRAME __attribute__((noinline))
#endif

/* In the order of the --view words; 0 if --view was not given. */
enum tdm_demo_view {
	TDM_DEMO_AUTO = 1, /* TOP on a terminal, otherwise PLAIN */
	TDM_DEMO_TOP,      /* the full-screen monitor of `tidemark top` */
	TDM_DEMO_PLAIN,    /* frames of `tidemark top` as text */
	TDM_DEMO_NONE,
};

struct tdm_demo_options {
	const char *card;
	uint32_t chips, first_device; /* first_device: device number of the first workload */
	uint64_t seconds, rounds;     /* or TDM_DEMO_NO_LIMIT */
	const char *socket;           /* socket of a server to report to; NULL to report to the library */
	uint32_t message_size;        /* size of the messages to the server */
	/* For workloads in separate processes: */
	const struct tdm_demo_workload *only; /* NULL for all */
	enum tdm_demo_view view;
	bool server;    /* start the daemon and let the workloads report to it */
	bool recompute; /* training in memory-efficient mode, which recomputes activations when needed */
};

struct tdm_demo;
struct tdm_demo_program;
struct tdm_demo_live;

/* A chip. Only demo_card.c uses the members after the first two. */
struct tdm_demo_chip {
	struct tdm_demo *demo;
	uint32_t number;                             /* device number */
	struct tdm_freelist *list[TDM_DEMO_REGIONS]; /* NULL if the card has no such region */
	/* unused entries form a chain from `spare`; entry 0 ends the chain */
	struct tdm_demo_live *live;
	size_t live_cap;
	uint32_t live_used, spare;
	const struct tdm_demo_program *loaded[TDM_DEMO_PROGRAMS_MAX];
	size_t loaded_count;
	uint64_t cb_ids[TDM_DEMO_CBS_MAX], cb_bytes[TDM_DEMO_CBS_MAX]; /* circular buffers of the running program */
	size_t cb_count;
};

struct tdm_demo {
	const struct tdm_demo_options *options;
	struct tdm_card model;
	char failure[TDM_DEMO_FAILURE_MAX]; /* a sentence about the last failed allocation; "" if there is none */
	bool dispatch;                      /* false: nothing is placed, so buffers have no address and always fit */

	/* The rest is for demo_card.c. */
	struct tdm_bank_range range[TDM_DEMO_REGIONS];
	struct tdm_demo_chip *chip; /* chips, as many as requested */
	uint64_t next_id, lost;     /* lost: number of lost messages */
	int fd;                     /* socket to the server; -1 if not connected */
	uint64_t deadline_ns;       /* or TDM_DEMO_NO_LIMIT */
	uint64_t rounds;            /* remaining rounds; TDM_DEMO_NO_LIMIT if only time limits them */
	bool stopped;
	sigset_t signals;
};

struct tdm_demo_workload {
	const char *name;
	const char *summary;                /* description to follow "NAME: " */
	const char *const *settings;        /* card overrides, "field=value", NULL-terminated; or NULL */
	void (*run)(struct tdm_demo *demo); /* runs until the last round or a failed allocation; prints the result */
};

extern const struct tdm_demo_workload tdm_demo_training;
extern const struct tdm_demo_workload tdm_demo_inference;
extern const struct tdm_demo_workload tdm_demo_leak;
extern const struct tdm_demo_workload tdm_demo_clash;

extern const struct tdm_demo_workload *const tdm_demo_workloads[]; /* ends with NULL */

const struct tdm_demo_workload *tdm_demo_find(const char *name); /* NULL if unknown */

/* Runs a workload in this process, which reports like any other program. Returns the exit code. */
int tdm_demo_run(
	const struct tdm_cmd *cmd, const struct tdm_demo_workload *workload, const struct tdm_demo_options *options);

/* ---- for workloads ----------------------------------------------------------------------------------------------- */

struct tdm_demo_request {
	enum tdm_kind kind; /* DRAM, L1, L1_SMALL or TRACE */
	uint64_t bytes;     /* a multiple of the page */
	uint32_t page_size; /* 0 for TDM_DEMO_TILE */
	uint32_t cores;     /* number of cores that hold shards; 0 if interleaved */
	const char *name;
	int group;
	const char *key; /* a static string that identifies the buffer in its group, or NULL */
};

bool tdm_demo_alloc(struct tdm_demo_chip *chip, const struct tdm_demo_request *request);

/* Allocates a tensor of two-byte values in DRAM, with both sides rounded up to whole tiles. */
bool tdm_demo_tensor(
	struct tdm_demo_chip *chip, uint64_t rows, uint64_t columns, int group, const char *name, const char *key);

/* Allocates an activation in L1, with this many tiles in every core. */
bool tdm_demo_shards(struct tdm_demo_chip *chip, uint32_t tiles, int group, const char *name, const char *key);

/* Free a group, or the buffer in the group with this key. Neither need exist. */
void tdm_demo_drop(struct tdm_demo_chip *chip, int group);
void tdm_demo_drop_key(struct tdm_demo_chip *chip, int group, const char *key);
/* Frees all groups on a chip except TDM_DEMO_LEAKED. */
void tdm_demo_drop_all(struct tdm_demo_chip *chip);
/* Moves the buffer with this key to a different group, under a different key. */
void tdm_demo_move(struct tdm_demo_chip *chip, int from, const char *key, int to, const char *new_key);

/* A program. Its circular buffers are consecutive in every core of the compute grid. */
struct tdm_demo_program {
	const char *name;
	uint32_t kernel_bytes; /* code size of the kernels, which are loaded when the program first runs on a chip */
	struct {
		const char *name; /* NULL after the last one */
		uint32_t tiles;
	} cb[TDM_DEMO_CBS_MAX];
};

/*
 * Checks the program against the lowest L1 buffer, as the runtime does. If the program fits, allocates its circular
 * buffers, and buffers allocated before the program ends carry the program's name. Otherwise, returns false and sets
 * *verdict (`verdict` may be NULL), and the program has not begun.
 */
bool tdm_demo_program_begin(
	struct tdm_demo_chip *chip, const struct tdm_demo_program *program, struct tdm_l1_verdict *verdict);
void tdm_demo_program_end(struct tdm_demo_chip *chip);

/* Pauses, unless a number of rounds was given. False if the workload has to end. */
bool tdm_demo_pause(struct tdm_demo *demo, unsigned ms);

/* Ends a round. False if it was the last one. */
bool tdm_demo_round(struct tdm_demo *demo);

/*
 * Tensors of a model shaped like TinyLlama: 22 layers of width 2048 with 32 heads, 4 key/value heads, and a gated MLP
 * of 5632; two bytes per value, in tiles.
 */
enum {
	TDM_LLAMA_LAYERS = 22,
	TDM_LLAMA_WIDTH = 2048,
	TDM_LLAMA_HEADS = 32,
	TDM_LLAMA_HEAD = 64, /* width of one head */
	TDM_LLAMA_KV = 256,  /* width of the four key (or value) heads */
	TDM_LLAMA_MLP = 5632,
	TDM_LLAMA_CONTEXT = 2048, /* tokens */
};

/* A layer's parameters. Three more parameters follow those of all layers. */
enum {
	TDM_LLAMA_NORM1,
	TDM_LLAMA_Q,
	TDM_LLAMA_KV_LINEAR,
	TDM_LLAMA_O,
	TDM_LLAMA_NORM2,
	TDM_LLAMA_GATE,
	TDM_LLAMA_UP,
	TDM_LLAMA_DOWN,
	TDM_LLAMA_PARTS,
	TDM_LLAMA_EMBEDDING = TDM_LLAMA_LAYERS * TDM_LLAMA_PARTS,
	TDM_LLAMA_NORM,
	TDM_LLAMA_HEAD_LINEAR,
	TDM_LLAMA_TENSORS
};

/* Allocates the tensor of a parameter. Its name is the parameter's name followed by `suffix`: "weight", "grad", … */
bool tdm_llama_alloc(struct tdm_demo_chip *chip, uint32_t vocabulary, uint32_t index, int group, const char *suffix);

/* ---- workloads in separate processes (demo_fleet.c) ---------------------------------------------------------- */

/* Runs until the time is up, the user leaves the view, or a signal arrives. Returns the exit code. */
int tdm_demo_fleet_run(const struct tdm_cmd *cmd, const struct tdm_demo_options *options);

/* Executes this program again to run one workload with call stacks on. Returns only on failure: -errno. */
int tdm_demo_exec(const struct tdm_demo_workload *workload, const struct tdm_demo_options *options);

/* Whether the environment turns call stacks on or off. */
bool tdm_demo_has_stacks(void);

/* For a demo of `seconds`, sets the time of the first plain frame and the time after which no frames are made. A frame
 * made while programs are ending would show only some of them, or nothing. */
void tdm_demo_plan_frames(uint64_t now_ns, uint64_t seconds, uint64_t *first_ns, uint64_t *end_ns);

#endif
