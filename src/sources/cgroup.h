/* To which container, pod and job a process belongs, as far as the path of its control group says it. */
#ifndef TDM_SOURCES_CGROUP_H
#define TDM_SOURCES_CGROUP_H

#include <stdint.h>

#include "base/str.h"

struct tdm_cgroup {
	char container[65]; /* the id of a container of Docker, containerd, CRI-O or Podman; empty: none is named */
	char pod[40];       /* the uid of a Kubernetes pod, with hyphens */
	char job[24];       /* the number of a Slurm job */
};

/* `text`: the file /proc/PID/cgroup, which its process cannot write, but whose groups may have any name. */
void tdm_cgroup_parse(struct tdm_str text, struct tdm_cgroup *cgroup);

/* Reads the file of a process below `proc` (as tdm_proc_path() gives it). 0 or -errno; then everything is empty. */
int tdm_cgroup_read(const char *proc, int32_t pid, struct tdm_cgroup *cgroup);

#endif
