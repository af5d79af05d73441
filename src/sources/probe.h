/*
 * How a machine is set up, beyond what a picture needs: the driver's module, files and who may use them, environments
 * of processes, the loader, Python, the processor, the container. Each is a value, with the system's code where it
 * could not be read. Nothing is judged or changed, and no card is opened.
 */
#ifndef TDM_SOURCES_PROBE_H
#define TDM_SOURCES_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define TDM_PROBE_MODULE  "tenstorrent"
#define TDM_PROBE_LIBRARY "libtidemark.so.0"
/* With the value 1 it turns tt-metal's shared memory off. */
#define TDM_PROBE_DISABLE "TT_METAL_SHM_TRACKING_DISABLED"

enum { TDM_PROBE_TEXT_CAP = 64 };

/* Where to look; NULL: its variable of Tidemark, else the system's own place. */
struct tdm_probe_places {
	const char *sysfs, *proc, *dev, *shm, *ledgers;
	const char *server_socket; /* of the server of instrumented runtimes, which fix its path; NULL: that */
	const char *python;        /* the program, as a shell takes it; NULL: python3 */
};

struct tdm_probe_file {
	int err;                 /* 0; or why nothing is known of it */
	int read_err, write_err; /* 0; or why this user may not; of a directory, reading is also searching */
	bool is_link;            /* it is a symbolic link; the rest is about what that leads to */
	uint32_t mode, gid;
	uint64_t bytes;                 /* that it takes */
	char owner[TDM_PROBE_TEXT_CAP]; /* of a file that this user may not use; else, and when not known, empty */
	char group[TDM_PROBE_TEXT_CAP];
};

enum tdm_probe_python { TDM_PROBE_NO_PYTHON, TDM_PROBE_PYTHON_ALONE, TDM_PROBE_PYTHON_PACKAGE };

struct tdm_probe {
	struct tdm_probe_places places; /* none of the paths is NULL */
	char user[TDM_PROBE_TEXT_CAP];  /* who looks; empty: without a name */
	uint64_t pid_namespace;         /* 0: unknown */
	bool in_container;

	int module_loaded;                       /* 1, 0, or a negative code */
	bool has_module_dir;                     /* sysfs has the module's folder */
	char module_version[TDM_PROBE_TEXT_CAP]; /* empty: unknown */
	bool has_node_dir;                       /* the folder of device nodes is there */
	int socket_err;                          /* 0: somebody listens; or a negative code */

	struct tdm_probe_file ledger_dir;
	int space_err;
	uint64_t free_bytes, all_bytes; /* of its file system, unless space_err */

	bool has_tsc; /* times are the time stamp counter's, of which the next three tell; others are steady by design
		       */
	int tsc_err;
	bool tsc_is_constant, tsc_is_nonstop;
	bool has_membarrier; /* expedited, for one process */

	uint8_t python; /* enum tdm_probe_python */
	bool has_library;
	char library_version[TDM_PROBE_TEXT_CAP]; /* empty: unknown */
};

/* The library is loaded last, because it may begin a ledger of its own: pictures are to be taken before. */
void tdm_probe_read(struct tdm_probe *probe, const struct tdm_probe_places *places);

void tdm_probe_file(struct tdm_probe_file *file, const char *path);

/* Whether the process was started with `setting`, "NAME=" and the beginning of a value: 1, 0, or a negative code. */
int tdm_probe_environ(const struct tdm_probe *probe, int32_t pid, const char *setting);

#endif
