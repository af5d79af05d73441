#include "sources/capture_fields.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

size_t tdm_capture_read_integer(struct tdm_str text, struct tdm_capture_number *number)
{
	size_t i = 0;
	uint64_t value = 0;
	bool negative = i < text.len && text.ptr[i] == '-', overflow = false;
	i += negative || (i < text.len && text.ptr[i] == '+');
	size_t from = i;
	for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
		overflow = overflow || value > (UINT64_MAX - 9) / 10;
		value = value * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	if (overflow || value > (uint64_t)INT64_MAX + negative) {
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_TOO_LARGE };
	} else if (i == from) {
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_NOT_A_NUMBER };
	} else {
		number->value = negative ? (int64_t)(0 - value) : (int64_t)value;
		number->state = TDM_CAPTURE_GIVEN;
	}
	return i;
}

void tdm_capture_read_any(struct tdm_str text, struct tdm_capture_number *number)
{
	char copy[64];
	if (tdm_capture_read_integer(text, number) == text.len)
		return;
	if (text.len >= sizeof copy) {
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_TOO_LARGE };
		return;
	}
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	/* The decimal point is a point, whatever the user's language has. */
	locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	double value = plain != (locale_t)0 ? strtod_l(copy, NULL, plain) : strtod(copy, NULL);
	if (plain != (locale_t)0)
		freelocale(plain);
	if (value > -9.2e18 && value < 9.2e18)
		*number = (struct tdm_capture_number){ (int64_t)value, TDM_CAPTURE_GIVEN };
	else
		*number = (struct tdm_capture_number){ 0, TDM_CAPTURE_TOO_LARGE };
}

void tdm_capture_read_text(struct tdm_str text, struct tdm_capture_number *number)
{
	struct tdm_str rest = text;
	while (rest.len != 0 && (*rest.ptr == ' ' || (*rest.ptr >= '\t' && *rest.ptr <= '\r'))) {
		rest.ptr++;
		rest.len--;
	}
	tdm_capture_read_integer(rest, number);
	if (number->state == TDM_CAPTURE_NOT_A_NUMBER)
		number->value = tdm_str_is(rest, "true");
}

/* NULL, or what is wrong with a number that must be from 0 to `max`. */
static const char *check_number(const struct tdm_capture_number *number, int64_t max, bool is_required)
{
	switch (number->state) {
	case TDM_CAPTURE_ABSENT:
		return is_required ? "is missing" : NULL;
	case TDM_CAPTURE_NOT_A_NUMBER:
		return "is not a number";
	case TDM_CAPTURE_TOO_LARGE:
		return "does not fit 64 bits";
	default:
		return number->value < 0 ? "is negative" : number->value > max ? "is larger than any memory" : NULL;
	}
}

/* Sets of types. */
#define OF(type) (1U << TDM_CAPTURE_##type)
#define PROGRAM  (OF(CB_ALLOCATE) | OF(DFB_ALLOCATE) | OF(SCRATCHPAD_ALLOCATE))
#define SIZED    (PROGRAM | OF(BUFFER) | OF(BUFFER_ALLOCATE))
#define RELEASE  OF(BUFFER_DEALLOCATE)

static const struct {
	const char *name;
	size_t offset;
	int64_t max;
	uint32_t types, required; /* types that may have it, and those that must */
} fields[] = {
#define FIELD(member) offsetof(struct tdm_capture_node, member)
	{ "size", FIELD(size), TDM_CAPTURE_SIZE_MAX, SIZED, SIZED },
	{ "max_size_per_bank", FIELD(bank_size), TDM_CAPTURE_SIZE_MAX, SIZED | RELEASE, 0 },
	{ "address", FIELD(address), TDM_CAPTURE_SIZE_MAX, SIZED, 0 },
	{ "page_size", FIELD(page_size), TDM_CAPTURE_SIZE_MAX, SIZED, 0 },
	{ "num_cores", FIELD(cores), INT32_MAX, SIZED, 0 },
	{ "device_id", FIELD(device), INT32_MAX, SIZED | RELEASE | OF(CB_DEALLOCATE_ALL), 0 },
	{ "connections[0]", FIELD(connection), INT64_MAX, RELEASE | OF(BUFFER_ALLOCATE), RELEASE },
#undef FIELD
};

static const char *range_problem(int err)
{
	return err == -ERANGE  ? "has a core outside a grid of 32 x 32"
	       : err == -E2BIG ? "has more than 256 ranges"
			       : "is not a set of core ranges";
}

bool tdm_capture_find_problem(const struct tdm_capture_node *node, int range_error, char *text, size_t cap)
{
	if (node->type == TDM_CAPTURE_UNTYPED) {
		snprintf(text, cap, "it has no node_type");
		return true;
	}
	uint32_t type = 1U << node->type;
	if ((type & SIZED) != 0 && node->params != TDM_CAPTURE_PARAMS_OBJECT) {
		snprintf(text, cap, "%s without params", tdm_capture_type_name(node->type));
		return true;
	}
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		const struct tdm_capture_number *number = (const void *)((const char *)node + fields[i].offset);
		const char *what = (type & fields[i].types) == 0
					   ? NULL
					   : check_number(number, fields[i].max, (type & fields[i].required) != 0);
		if (what != NULL) {
			snprintf(text, cap, "%s of %s %s", fields[i].name, tdm_capture_type_name(node->type), what);
			return true;
		}
	}
	if ((type & PROGRAM) != 0 && node->has_ranges && range_error != 0) {
		snprintf(text, cap, "core_range_set of %s %s", tdm_capture_type_name(node->type),
			range_problem(range_error));
		return true;
	}
	if ((type & SIZED & ~PROGRAM) != 0 && node->buffer_type.state != TDM_CAPTURE_GIVEN &&
		(node->memory == TDM_CAPTURE_MEMORY_ABSENT || node->memory == TDM_CAPTURE_MEMORY_OTHER)) {
		snprintf(text, cap, "type of %s is neither DRAM nor L1", tdm_capture_type_name(node->type));
		return true;
	}
	return false;
}
