/* Facts that identify the machine: its system, name and memory, and the driver's version. */
#ifndef TDM_SOURCES_MACHINE_H
#define TDM_SOURCES_MACHINE_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_MACHINE_TEXT_CAP = 128 };

/* Texts are printable; empty: unknown. */
struct tdm_machine {
	char system[TDM_MACHINE_TEXT_CAP];  /* "Linux" */
	char distro[TDM_MACHINE_TEXT_CAP];  /* "Debian GNU/Linux 12 (bookworm)" */
	char release[TDM_MACHINE_TEXT_CAP]; /* "6.1.0-18-amd64" */
	char host[TDM_MACHINE_TEXT_CAP];    /* name of the machine */
	char machine[TDM_MACHINE_TEXT_CAP]; /* "x86_64" */
	char driver[TDM_MACHINE_TEXT_CAP];  /* version of the module, "2.4.0" */
	uint64_t memory_bytes;              /* or TDM_BYTES_UNKNOWN */
};

/* `sysfs`: as in struct tdm_host_options, NULL included. */
void tdm_machine_read(struct tdm_machine *machine, const char *sysfs);

/* The value of PRETTY_NAME in the text of an os-release file, without quotes; empty if there is none. */
void tdm_machine_distro(const char *os_release, char *dst, size_t cap);

#endif
