/*
 * All facts on which `doctor` bases its checks, read once, before the first check: a picture of the machine and its
 * sources, a picture of the ledgers, and facts that pictures do not contain: the driver's module, files and their
 * permissions, environments of processes, the loader, Python, the processor, the container. For an unreadable fact, the
 * system's error code is stored. Nothing is judged or changed here, and no card is opened.
 */
#ifndef TDM_LIVE_SETUP_H
#define TDM_LIVE_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "input/elf/elf_file.h"
#include "ledger/layout/ledger_file.h"
#include "live/join/state.h"

#define TDM_SETUP_MODULE  "tenstorrent"
#define TDM_SETUP_LIBRARY "libtidemark.so.0"
/* The value 1 turns off tt-metal's shared memory. */
#define TDM_SETUP_DISABLE "TT_METAL_SHM_TRACKING_DISABLED"

enum { TDM_SETUP_TEXT_CAP = 64 };

/* Places to read. NULL: the place named by Tidemark's variable, else the system's own. */
struct tdm_setup_places {
	const char *sysfs, *proc, *dev, *shm, *ledgers;
	const char *server_socket; /* socket of the allocation server; NULL: the fixed path of instrumented runtimes */
	const char *python;        /* a shell command; NULL: python3 */
	const char *preload;       /* file name of the preload; not NULL for `doctor --metal`, else unused */
};

struct tdm_setup_file {
	int err; /* 0, or why nothing is known about the file */
	/* 0, or why this user may not read or write the file; reading a directory includes searching it */
	int read_err, write_err;
	bool is_link;    /* a symbolic link; the other members describe its target */
	bool is_foreign; /* belongs to another user; for a link, the link itself does */
	uint32_t mode, gid;
	uint64_t bytes; /* bytes that it occupies on disk */
	/* the owner, if that is another user or if this user may not read or write the file; else empty */
	char owner[TDM_SETUP_TEXT_CAP];
	char group[TDM_SETUP_TEXT_CAP];
};

enum tdm_setup_python { TDM_SETUP_NO_PYTHON, TDM_SETUP_PYTHON_ALONE, TDM_SETUP_PYTHON_PACKAGE };

struct tdm_setup {
	const struct tdm_picture *machine;
	const struct tdm_host *host;
	const struct tdm_metal_list *metal;
	const struct tdm_picture *picture;       /* a picture of the ledgers alone, including ended processes */
	struct tdm_state *machine_state, *state; /* the states of the two pictures */

	struct tdm_setup_file *nodes;   /* one for each card of the host */
	struct tdm_setup_file *regions; /* one for each region */
	struct tdm_setup_file *unread;  /* one for each of the picture's problems */
	uint64_t left_bytes;            /* total size of ended processes' ledgers */
	/* For each of the host's processes, whether TDM_SETUP_DISABLE is set: 1, 0, or a negative code. */
	int *disabled;

	struct tdm_setup_places places; /* none of the paths is NULL */
	char user[TDM_SETUP_TEXT_CAP];  /* name of this user; empty if there is none */
	uint64_t pid_namespace;         /* 0 if unknown */
	bool in_container;

	int module_loaded;                       /* whether the module is loaded: 1, 0, or a negative code */
	bool has_module_dir;                     /* the module has a folder in sysfs */
	char module_version[TDM_SETUP_TEXT_CAP]; /* empty if unknown */
	bool has_node_dir;                       /* the folder of device nodes exists */
	int socket_err;                          /* 0 if a server is listening; or a negative code */

	struct tdm_setup_file ledger_dir;
	struct tdm_setup_file user_folder; /* the folder that this user's programs try first */
	char user_folder_path[TDM_LEDGER_PATH_MAX];
	int space_err;
	uint64_t free_bytes, all_bytes; /* sizes of its file system, if space_err is 0 */

	/* times come from the TSC (see the next three members); other processors' counters are steady by design */
	bool has_tsc;
	int tsc_err;
	bool tsc_is_constant, tsc_is_nonstop;
	bool has_membarrier; /* membarrier() has private expedited barriers */

	uint8_t python; /* enum tdm_setup_python */
	bool has_library;
	char library_version[TDM_SETUP_TEXT_CAP]; /* empty if unknown */
};

/* The places are borrowed. */
void tdm_setup_read(struct tdm_setup *setup, const struct tdm_setup_places *places);
void tdm_setup_done(struct tdm_setup *setup);

/*
 * Whether the library accepts this value of its variable; otherwise the library uses its default and notes that in the
 * ledger.
 */
bool tdm_setup_mode_is_valid(const char *value);
bool tdm_setup_ring_is_valid(const char *value);

/*
 * ---- tt-metal ----
 *
 * The facts by which `doctor --metal` judges a library, a program or a running process, read once and without running
 * anything: which of its files contain functions hooked by the preload, and how often those functions were called.
 */

enum tdm_metal_target { TDM_METAL_TARGET_LIBRARY, TDM_METAL_TARGET_PROGRAM, TDM_METAL_TARGET_PROCESS };

/* A function of tt-metal under one of its symbols: one row of the preload's table, as plain data. */
struct tdm_metal_function {
	/* sees: the information it provides; NULL if none by itself */
	const char *name, *symbol, *since, *until, *sees;
	const char *topic;
	bool is_hook, is_needed;
};

/* A file that contains some of the functions. */
struct tdm_metal_file {
	const char *path;
	uint8_t *has;                           /* for each function, enum tdm_elf_has */
	size_t defined, hidden, imported;       /* hooked functions, without duplicates */
	bool is_symbolic, is_bound, is_deleted; /* is_bound: see tdm_elf_object_find() */
};

struct tdm_metal_setup {
	const struct tdm_metal_function *functions; /* borrowed; the hooked functions come first */
	size_t function_count;
	const char *target; /* as given by the user */
	enum tdm_metal_target type;
	int err; /* why it cannot be examined, with a text in diag */
	struct tdm_diag diag;
	struct tdm_program_file program; /* if the target is a program */
	struct tdm_objects objects;
	struct tdm_metal_file *files; /* the objects with any of the functions; definers first */
	size_t file_count, file_cap, definer_count;
	size_t unread; /* objects that could not be read */
	/* For a process: */
	int32_t pid;
	bool has_preload;      /* the preload is mapped */
	bool has_ledger;       /* and the process's counters could be read */
	int tracking;          /* whether its environment has TIDEMARK=1: 1, 0, or a negative code */
	uint64_t *calls;       /* for each function, by name; unknown: not counted */
	uint64_t called_count; /* number of functions that were called */
};

/* If the target cannot be read, sets `err`. */
void tdm_metal_setup_read(struct tdm_metal_setup *setup, const char *target, const struct tdm_metal_function *functions,
	size_t count, const struct tdm_setup_places *places);
void tdm_metal_setup_done(struct tdm_metal_setup *setup);

#endif
