/*
 * The runtime's messages about failed allocations, as findings: `code` is the type of the failure, `what` its name.
 */
#ifndef TDM_ANALYZE_FAILURE_FINDING_H
#define TDM_ANALYZE_FAILURE_FINDING_H

#include "model/event/log_record.h"
#include "model/result/result.h"

/* The cause of a failure, derived from the figures in the message; unknown if the figures are missing. */
enum tdm_cause tdm_failure_cause(const struct tdm_failure *failure);

void tdm_failure_find(const struct tdm_failure *failure, struct tdm_findings *out);
/* Appends the sentence that describes a failure. */
void tdm_failure_put(const struct tdm_failure *failure, struct tdm_buf *out);

/*
 * Exception messages stored in a capture or a report, each reduced to one line. For a message about memory, the line
 * contains the failure's figures. Otherwise, it is the message's first line, without the location that the runtime puts
 * before it.
 *
 * tdm_error_find() adds an error at a place, such as "node" 12; the operation's name may be empty. The other function
 * adds errors of which only the number is known.
 */
void tdm_error_find(
	const char *place, uint64_t number, struct tdm_str operation, struct tdm_str message, struct tdm_findings *out);
void tdm_errors_lost(uint64_t count, struct tdm_findings *out);

/* For columns whose member is a message: the name of the failure (unknown if the message is not about memory), and the
 * message as one line. */
struct tdm_value tdm_error_sort(const struct tdm_field *field);
struct tdm_value tdm_error_summary(const struct tdm_field *field);

#endif
