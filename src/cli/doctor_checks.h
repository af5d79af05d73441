/* Every check, for the table in doctor.c. What each looks at stands at its definition. */
#ifndef TDM_CLI_DOCTOR_CHECKS_H
#define TDM_CLI_DOCTOR_CHECKS_H

#include "cli/doctor.h"

/* doctor_driver.c */
void tdm_doctor_module(struct tdm_doctor *doctor);
void tdm_doctor_cards(struct tdm_doctor *doctor);
void tdm_doctor_nodes(struct tdm_doctor *doctor);
void tdm_doctor_telemetry(struct tdm_doctor *doctor);
void tdm_doctor_users(struct tdm_doctor *doctor);

/* doctor_shm.c */
void tdm_doctor_regions(struct tdm_doctor *doctor);
void tdm_doctor_uncounted(struct tdm_doctor *doctor);
void tdm_doctor_disabled(struct tdm_doctor *doctor);
void tdm_doctor_socket(struct tdm_doctor *doctor);

/* doctor_ledgers.c */
void tdm_doctor_directory(struct tdm_doctor *doctor);
void tdm_doctor_unreadable(struct tdm_doctor *doctor);
void tdm_doctor_left(struct tdm_doctor *doctor);
void tdm_doctor_lost(struct tdm_doctor *doctor);
void tdm_doctor_namespaces(struct tdm_doctor *doctor);
void tdm_doctor_figures(struct tdm_doctor *doctor);

/* doctor_environment.c */
void tdm_doctor_variables(struct tdm_doctor *doctor);
void tdm_doctor_runtime_variables(struct tdm_doctor *doctor);

/* doctor_system.c */
void tdm_doctor_library(struct tdm_doctor *doctor);
void tdm_doctor_python(struct tdm_doctor *doctor);
void tdm_doctor_clock(struct tdm_doctor *doctor);
void tdm_doctor_membarrier(struct tdm_doctor *doctor);
void tdm_doctor_container(struct tdm_doctor *doctor);
void tdm_doctor_terminal(struct tdm_doctor *doctor);

#endif
