/*
 * The kernels that the inspector has seen compiled, with the programs that they belong to: kernels.yaml, or
 * programs_log.yaml, which also says when programs were made and destroyed.
 */
#ifndef TDM_SOURCES_KERNEL_LIST_H
#define TDM_SOURCES_KERNEL_LIST_H

#include "base/buf.h"
#include "event/source.h"

struct tdm_listed_kernel {
	uint64_t watcher_id, line;
	size_t program;            /* index of its program */
	size_t name, path, source; /* offsets into the texts; 0: none */
};

struct tdm_listed_program {
	uint64_t id;
	uint64_t kernels;
	uint64_t compile_ns; /* TDM_BYTES_UNKNOWN: not said */
	bool destroyed;
};

struct tdm_kernel_list {
	size_t kernel_count, program_count;
	struct tdm_listed_kernel *kernels;
	struct tdm_listed_program *programs; /* in the order in which they came */
	struct tdm_buf texts;                /* each terminated; the first is empty */
	uint64_t refused;
	size_t kernel_cap, program_cap;
};

typedef void (*tdm_kernel_list_warn)(void *context, const struct tdm_diag *diag);

/* Reads a descriptor, which stays the caller's, or memory. 0, or a code with diag set: what was read before stays. */
int tdm_kernel_list_read(
	struct tdm_kernel_list *list, int fd, tdm_kernel_list_warn warn, void *context, struct tdm_diag *diag);
int tdm_kernel_list_parse(struct tdm_kernel_list *list, struct tdm_str text, tdm_kernel_list_warn warn, void *context,
	struct tdm_diag *diag);
void tdm_kernel_list_done(struct tdm_kernel_list *list);

/* A terminated text of the list. */
static inline const char *tdm_kernel_list_text(const struct tdm_kernel_list *list, size_t offset)
{
	return list->texts.data != NULL && offset < list->texts.len ? list->texts.data + offset : "";
}

#endif
