/*
 * Errors: one convention for the whole program. A function that can fail returns an int: 0 or a positive count on
 * success, a negative code on failure. Codes above -TDM_ERR_FIRST are negated errno values; the others are our own.
 */
#ifndef TDM_BASE_ERR_H
#define TDM_BASE_ERR_H

#define TDM_ERR_FIRST 1024

#define TDM_ERR_LIST(X)                                             \
	X(SYNTAX, 1024, "malformed input")                          \
	X(CARD, 1025, "unknown card")                               \
	X(FIELD, 1026, "unknown card field")                        \
	X(NOFIT, 1027, "no free block is large enough")             \
	X(OCCUPIED, 1028, "the address range is not free")          \
	X(NOTFOUND, 1029, "nothing is allocated at that address")   \
	X(LIMIT, 1030, "the only place is below the address limit") \
	X(UNKNOWN, 1031, "the figure is not known for this card")   \
	X(REFUSED, 1032, "the runtime refuses this request")        \
	X(CORRUPT, 1033, "damaged data")                            \
	X(VERSION, 1034, "data of another version")                 \
	X(ENDLESS, 1035, "not text: 256 MiB, or 4 GiB of zeros, without a line of text")

enum tdm_err {
	TDM_OK = 0,
#define X(id, number, text) TDM_E##id = -(number),
	TDM_ERR_LIST(X)
#undef X
};

/* The text for any error code; never NULL. */
const char *tdm_err_text(int err);

#endif
