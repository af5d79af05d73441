/*
 * The findings of `doctor --metal`: what the preload will see of an unmodified tt-metal in a library, a program or a
 * running process, what not, and why.
 */
#ifndef TDM_ANALYZE_DOCTOR_METAL_H
#define TDM_ANALYZE_DOCTOR_METAL_H

#include "analyze/doctor.h"
#include "state/metal_setup.h"

/* The releases that have most of a set of names. A release may keep an old name for something else, so that no release
 * has all of them. */
struct tdm_release_range {
	const char *since, *until; /* NULL: any, still */
};
struct tdm_release_range tdm_metal_releases(const struct tdm_metal_setup *setup, const struct tdm_metal_file *file);

struct tdm_metal_doctor {
	const struct tdm_metal_setup *setup;
	const char *const *topics; /* in their order; ends with NULL */
	/* The function whose absence hides a topic; NULL: none. `present`: for each function whether it is there. */
	const char *(*missing)(size_t topic, const bool *present);
};
/* Adds all findings to doctor->findings. */
void tdm_doctor_metal(struct tdm_doctor *doctor, const struct tdm_metal_doctor *metal);

#endif
