/*
 * What becomes of the places of a file once it was read: each gets its line, and those that no buffer came of a reason.
 * Calls of functions that create nothing by themselves are taken out.
 */
#ifndef TDM_SCAN_PLACE_SETTLE_H
#define TDM_SCAN_PLACE_SETTLE_H

#include "scan/file_walk.h"
#include "scan/place.h"

/* Settles the places that the readers of C++ saw; `text` is the file's. */
void tdm_places_settle(struct tdm_file_walk *walk, struct tdm_str text);

/*
 * Settles the places of a file that was refused, or of which reading was stopped. If no buffer came of it, its places
 * are counted without its syntax tree. The reason of each place is that of the file. `tokens` is used for work. 0 or
 * -ENOMEM.
 */
int tdm_places_count(struct tdm_file_walk *walk, struct tdm_str text, struct tdm_tokens *tokens);

#endif
