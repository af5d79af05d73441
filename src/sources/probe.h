/*
 * How a machine is set up, beyond what a picture needs: the driver's module, files and their permissions, environments
 * of processes, the loader, Python, the processor, the container. Each is a value, or the system's code if it could not
 * be read. Nothing is judged or changed, and no card is opened.
 */
#ifndef TDM_SOURCES_PROBE_H
#define TDM_SOURCES_PROBE_H

#include "ledger/ledger_dir.h"

#include <stdbool.h>
#include <stdint.h>

#define TDM_PROBE_MODULE  "tenstorrent"
#define TDM_PROBE_LIBRARY "libtidemark.so.0"
/* The value 1 turns off tt-metal's shared memory. */
#define TDM_PROBE_DISABLE "TT_METAL_SHM_TRACKING_DISABLED"

enum { TDM_PROBE_TEXT_CAP = 64 };

/* Where to look; NULL: Tidemark's variable for it, else the system's own place. */
struct tdm_probe_places {
	const char *sysfs, *proc, *dev, *shm, *ledgers;
	const char *server_socket; /* of the allocation server; NULL: the fixed path that instrumented runtimes use */
	const char *python;        /* command for the shell; NULL: python3 */
};

struct tdm_probe_file {
	int err;                 /* 0, or why nothing is known about it */
	int read_err, write_err; /* 0, or why this user may not; reading a directory includes searching it */
	bool is_link;            /* it is a symbolic link; the rest is about its target */
	bool is_foreign;         /* it belongs to another user; of a link, the link itself */
	uint32_t mode, gid;
	uint64_t bytes;                 /* that it occupies */
	char owner[TDM_PROBE_TEXT_CAP]; /* if it is another's or this user may not read or write it; else empty */
	char group[TDM_PROBE_TEXT_CAP];
};

enum tdm_probe_python { TDM_PROBE_NO_PYTHON, TDM_PROBE_PYTHON_ALONE, TDM_PROBE_PYTHON_PACKAGE };

struct tdm_probe {
	struct tdm_probe_places places; /* none of the paths is NULL */
	char user[TDM_PROBE_TEXT_CAP];  /* who runs this; empty: no name */
	uint64_t pid_namespace;         /* 0: unknown */
	bool in_container;

	int module_loaded;                       /* 1, 0, or a negative code */
	bool has_module_dir;                     /* the module has a folder in sysfs */
	char module_version[TDM_PROBE_TEXT_CAP]; /* empty: unknown */
	bool has_node_dir;                       /* the folder of device nodes exists */
	int socket_err;                          /* 0: a server listens; or a negative code */

	struct tdm_probe_file ledger_dir;
	struct tdm_probe_file user_folder; /* the first name that this user's programs try in it */
	char user_folder_path[TDM_LEDGER_PATH_MAX];
	int space_err;
	uint64_t free_bytes, all_bytes; /* of its file system, if space_err is 0 */

	bool has_tsc; /* times come from the TSC, see the next three; other processors' counters are steady by design */
	int tsc_err;
	bool tsc_is_constant, tsc_is_nonstop;
	bool has_membarrier; /* private expedited membarrier() */

	uint8_t python; /* enum tdm_probe_python */
	bool has_library;
	char library_version[TDM_PROBE_TEXT_CAP]; /* empty: unknown */
};

/* Take pictures first: this loads the library, which may begin a ledger of its own. */
void tdm_probe_read(struct tdm_probe *probe, const struct tdm_probe_places *places);

void tdm_probe_file(struct tdm_probe_file *file, const char *path);

/* Whether the process's environment has `setting`, "NAME=" and the beginning of a value: 1, 0, or a negative code. */
int tdm_probe_environ(const struct tdm_probe *probe, int32_t pid, const char *setting);

#endif
