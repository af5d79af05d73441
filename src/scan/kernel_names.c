/* Names of the device's side: operations on buffers, types of buffers, and what else the runtime's API has. */
#include "scan/kernel_parts.h"

static bool is_one_of(struct tdm_str name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (tdm_str_is(name, *names))
			return true;
	return false;
}

static bool begins_with(struct tdm_str name, const char *prefix)
{
	size_t len = strlen(prefix);
	return name.len >= len && memcmp(name.ptr, prefix, len) == 0;
}

static bool ends_with(struct tdm_str name, const char *suffix)
{
	size_t len = strlen(suffix);
	return name.len >= len && memcmp(name.ptr + name.len - len, suffix, len) == 0;
}

static bool contains(struct tdm_str name, const char *part)
{
	return memmem(name.ptr, name.len, part, strlen(part)) != NULL;
}

static const char *const action_names[TDM_KERNEL_ACTIONS] = {
#define X(id, name) [TDM_KERNEL_##id] = name,
	TDM_KERNEL_ACTION_LIST(X)
#undef X
};

const char *tdm_kernel_action_name(enum tdm_kernel_action action)
{
	return action < TDM_KERNEL_ACTIONS ? action_names[action] : "-";
}

const char *tdm_unjudged_text(enum tdm_unjudged reason)
{
	static const char *const texts[TDM_UNJUDGED_COUNT] = {
#define X(id, text) [TDM_UNJUDGED_##id] = text,
		TDM_UNJUDGED_LIST(X)
#undef X
	};
	return reason < TDM_UNJUDGED_COUNT ? texts[reason] : "-";
}

const char *tdm_mismatch_name(enum tdm_mismatch_kind kind)
{
	static const char *const names[TDM_MISMATCH_KINDS] = {
#define X(id, name) [TDM_MISMATCH_##id] = name,
		TDM_MISMATCH_LIST(X)
#undef X
	};
	return kind < TDM_MISMATCH_KINDS ? names[kind] : "-";
}

bool tdm_kernel_is_buffer_type(struct tdm_str name)
{
	static const char *const types[] = { "CircularBuffer", "DataflowBuffer", "CB", NULL };
	return is_one_of(name, types);
}

bool tdm_kernel_action_of(struct tdm_str name, bool is_method, uint8_t *action)
{
	if (!is_method) {
		if (!begins_with(name, "cb_"))
			return false;
		name = (struct tdm_str){ name.ptr + 3, name.len - 3 };
	}
	for (uint8_t i = 0; i < TDM_KERNEL_ACTIONS; i++)
		if (tdm_str_is(name, action_names[i])) {
			*action = i;
			return true;
		}
	return false;
}

bool tdm_kernel_is_mover(struct tdm_str name)
{
	static const char *const words[] = { "push", "pop", "wait_front", "reserve", "wait_tiles", "free_tiles", NULL };
	for (size_t i = 0; words[i] != NULL; i++)
		if (contains(name, words[i]))
			return true;
	return false;
}

bool tdm_kernel_is_api(struct tdm_str name)
{
	if (tdm_kernel_is_mover(name))
		return false;
	static const char *const prefixes[] = { "get_", "noc_", "tile_regs_", "reconfig_data_format", "pack_reconfig_",
		"llk_", "async_", "set_", "is_", "fabric_", "to_noc_", "to_chip_", "TTI_", "mailbox_", "std::", "next_",
		"welford_", "send_payload", "topk_", "write_zeros_l1_", "__builtin_", "DPRINT", "DeviceZone", "dprint",
		NULL };
	for (size_t i = 0; prefixes[i] != NULL; i++)
		if (begins_with(name, prefixes[i]))
			return true;
	static const char *const suffixes[] = { "_tile", "_tiles", "_init", "_uninit", "_init_short", "_tile_init",
		"_init_common", "_init_short_with_dt", "_with_dt", "_hw_startup", "_cast", "_t", "_bcast_rows",
		"_bcast_cols", "_bcast_scalar", NULL };
	for (size_t i = 0; suffixes[i] != NULL; i++)
		if (ends_with(name, suffixes[i]))
			return true;
	static const char *const names[] = { "TensorAccessor", "TensorAccessorArgs", "CoreLocalMem", "defined", "set",
		"min", "max", "PACK", "UNPACK", "MATH", "sizeof", "CircularBuffer", "DataflowBuffer", "CB", "wait",
		"ASSERT", "static_assert", "up", "wait_min", "inc", "acquire_dst", "release_dst", "ACQ", "REL",
		"matmul_block", "init_sfpu", "pack_untilize_dest", "tilize_block", "untilize_block",
		"pack_untilize_block", "unary_bcast", "div_up", "round_up", "ceil_div", "decltype", "__attribute__",
		"invalidate_l1_cache", "Semaphore", "Noc", "InterleavedAddrGen", "InterleavedAddrGenFast",
		"ShardedAddrGen", "UnicastEndpoint", "MulticastEndpoint", "read_tile_value", "int", "uint32_t",
		"uint16_t", "uint8_t", "uint64_t", "float", "bool", "memcpy", "memset", "move", "swap", "size", "data",
		"begin", "end", "get", "write_tile_value", "experimental", "abs", "tt_memmove", "bit_cast",
		"copy_dest_values", "Noc", "multicast", "set_multicast", "AllocatorBank", "increment_arg_idx",
		"num_compile_time_args", "enable_reload", "fill", "ALIGN", "FORCE_INLINE", "make_tuple", "tie", "tuple",
		"array", "pair", "forward", "apply", "copy_block_matmul_partials", NULL };
	return is_one_of(name, names);
}

uint32_t tdm_kernel_op_count(const struct tdm_kernel_code *code, enum tdm_kernel_action action)
{
	return code->op_count[action][TDM_KERNEL_BY_FUNCTION] + code->op_count[action][TDM_KERNEL_BY_METHOD];
}

bool tdm_kernel_begins_with(struct tdm_str text, const char *prefix)
{
	size_t len = strlen(prefix);
	return text.len > len && memcmp(text.ptr, prefix, len) == 0;
}

struct tdm_str tdm_kernel_after(struct tdm_str text, size_t skip)
{
	return (struct tdm_str){ text.ptr + skip, text.len - skip };
}
