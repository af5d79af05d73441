/*
 * Follows a kernel from its main function through the functions that it calls, with the host's arguments put in, and
 * lists what it does with buffers. Where the way is lost, a gap says why: an unknown function may push anything.
 */
#include "scan/kernel_parts.h"

#include <stdlib.h>

#include "base/reserve.h"

enum {
	DEPTH_MAX = 12,        /* of calls */
	CONSTANTS_MAX = 12,    /* constants that are made of constants */
	STEPS_MAX = 20000,     /* of one kernel */
	BINDINGS_MAX = 400000, /* expressions looked at for one kernel */
	USES_MAX = 4000,
	INDEX_MAX = 255
};

/* A function that is being followed. Its arguments are free of the caller's parameters. */
struct frame {
	const struct tdm_kernel_function *function;
	uint32_t file;
	const struct tdm_expr *args, *template_args; /* LISTs */
	const struct frame *outer;                   /* of a lambda: the function around it */
	const struct frame *caller;
	bool is_conditional, is_optional, in_loop;
	uint32_t depth;
	const struct tdm_expr *condition; /* the last one that was looked at, */
	enum tdm_kernel_chance chance;    /* and what came of it */
};

struct expansion {
	struct tdm_kernel_index *index;
	const struct tdm_kernel_args *given;
	struct tdm_arena *arena;
	struct tdm_kernel_uses *uses;
	uint32_t steps, bindings;
	bool *was_reached; /* functions of the kernel's own file */
	uint32_t root;
	bool is_deciding; /* what is bound is a condition */
	int err;
};

static void note_gap(
	struct expansion *expansion, enum tdm_unjudged why, struct tdm_str what, uint32_t file, uint32_t line)
{
	struct tdm_kernel_uses *uses = expansion->uses;
	if (uses->gaps == 0) {
		struct tdm_buf buf;
		tdm_buf_init(&buf);
		tdm_buf_printf(
			&buf, "%.*s at %s:%u", TDM_STR_ARG(what), expansion->index->scan->files[file].path, line);
		const char *text = tdm_buf_failed(&buf) ? NULL : tdm_arena_text(expansion->arena, tdm_buf_str(&buf));
		uses->gap_text = text != NULL ? text : "";
		tdm_buf_done(&buf);
	}
	uses->gaps |= (uint16_t)(1u << why);
}

/* The value that a call gives a parameter; NULL when it has none. */
static const struct tdm_expr *argument_of(
	const struct tdm_expr *params, const struct tdm_expr *args, struct tdm_str name)
{
	for (uint32_t i = 0; i < params->arg_count; i++) {
		const struct tdm_expr *param = params->args[i];
		if (!tdm_str_eq(param->text, name))
			continue;
		if (i < args->arg_count)
			return args->args[i];
		return param->op == TDM_EXPR_FIELD ? param->args[0] : NULL;
	}
	return NULL;
}

static const struct tdm_expr *parameter_value(const struct frame *frame, struct tdm_str name)
{
	for (; frame != NULL; frame = frame->outer) {
		const struct tdm_expr *value = argument_of(frame->function->params, frame->args, name);
		if (value == NULL)
			value = argument_of(frame->function->template_params, frame->template_args, name);
		if (value != NULL)
			return value;
	}
	return NULL;
}

static const struct tdm_expr *bind(
	struct expansion *expansion, const struct frame *frame, const struct tdm_expr *expr, uint32_t constants);

/* The same expression with its arguments bound. */
static const struct tdm_expr *bind_args(
	struct expansion *expansion, const struct frame *frame, const struct tdm_expr *expr, uint32_t constants)
{
	enum { ARGS_MAX = 256 };
	const struct tdm_expr *args[ARGS_MAX];
	bool has_changed = false;
	if (expr->arg_count > ARGS_MAX)
		return expr;
	for (uint32_t i = 0; i < expr->arg_count; i++) {
		args[i] = bind(expansion, frame, expr->args[i], constants);
		has_changed |= args[i] != expr->args[i];
	}
	if (!has_changed)
		return expr;
	return tdm_expr_make(expansion->arena, (enum tdm_expr_op)expr->op, expr->text, args, expr->arg_count);
}

static const struct tdm_expr *bind_name(
	struct expansion *expansion, const struct frame *frame, const struct tdm_expr *expr, uint32_t constants)
{
	if (expr->is_parameter) {
		const struct tdm_expr *value = frame != NULL ? parameter_value(frame, expr->text) : NULL;
		if (value == NULL && frame != NULL && frame->function->is_main) /* of the host, by its name */
			value = tdm_kernel_named_value(expansion->given, expansion->given->named, expr->text, 0);
		return value != NULL ? value : expr;
	}
	bool is_bound = tdm_kernel_begins_with(expr->text, "dfb::") || tdm_kernel_begins_with(expr->text, "args::");
	if (is_bound || expr->opaque != NULL || constants >= CONSTANTS_MAX)
		return expr;
	const char *colon = memrchr(expr->text.ptr, ':', expr->text.len);
	struct tdm_str last =
		colon != NULL ? tdm_kernel_after(expr->text, (size_t)(colon + 1 - expr->text.ptr)) : expr->text;
	const struct tdm_expr *value = tdm_kernel_index_constant(expansion->index, last);
	if (value == NULL && (tdm_str_is(last, "TILE_HEIGHT") || tdm_str_is(last, "TILE_WIDTH")))
		return tdm_expr_number(expansion->arena, 32);
	return value != NULL ? bind(expansion, NULL, value, constants + 1) : expr;
}

/* Puts in parameters, constants of other files and the host's arguments. */
static const struct tdm_expr *bind(
	struct expansion *expansion, const struct frame *frame, const struct tdm_expr *expr, uint32_t constants)
{
	if (expansion->bindings++ > BINDINGS_MAX)
		return expr;
	if (expr->op == TDM_EXPR_NAME)
		return bind_name(expansion, frame, expr, constants);
	if (expr->arg_count == 0)
		return expr;
	const struct tdm_expr *bound = bind_args(expansion, frame, expr, constants);
	const struct tdm_expr *value =
		bound->op == TDM_EXPR_CALL ? tdm_kernel_host_value(expansion->given, bound) : NULL;
	int64_t number;
	/* A host that computes the argument of a branch has both cases. */
	if (value != NULL && expansion->is_deciding && tdm_expr_value(value, expansion->given->settings, &number) != 0)
		return tdm_kernel_runtime_value(expansion->given, bound);
	return value != NULL ? value : bound;
}

/* Adds a use, or makes one that is there already less conditional. */
static void add_use(struct expansion *expansion, struct tdm_kernel_use use)
{
	struct tdm_kernel_uses *uses = expansion->uses;
	for (size_t i = 0; i < uses->count; i++) {
		struct tdm_kernel_use *other = &uses->list[i];
		if (other->line == use.line && other->file == use.file && other->action == use.action &&
			other->index == use.index && strcmp(other->name, use.name) == 0 &&
			strcmp(other->buffer, use.buffer) == 0 && strcmp(other->pages, use.pages) == 0) {
			other->is_conditional &= use.is_conditional;
			other->is_optional &= use.is_optional;
			return;
		}
	}
	if (expansion->err == 0)
		expansion->err = tdm_reserve(&uses->list, &uses->cap, uses->count + 1, sizeof *uses->list);
	if (expansion->err == 0)
		uses->list[uses->count++] = use;
}

/* What an operation is about, as far as it is known. */
struct target {
	int32_t index;                /* -1: no circular buffer */
	const char *name;             /* "": no dataflow buffer */
	const struct tdm_expr *other; /* both are possible: the second of two buffers; NULL when there is one */
};

static struct target named_target(struct expansion *expansion, struct tdm_str accessor, const struct tdm_expr *spec)
{
	struct target target = { -1, "", NULL };
	bool is_unbound = false;
	if (spec == NULL)
		spec = tdm_kernel_bound_buffer(expansion->given, accessor, &is_unbound);
	while (spec != NULL && spec->op == TDM_EXPR_LIST && spec->arg_count == 1)
		spec = spec->args[0]; /* {"name"} */
	if (spec != NULL && spec->op == TDM_EXPR_CHOOSE) {
		target.other = spec->args[2];
		spec = spec->args[1];
	}
	if (is_unbound)
		target.name = tdm_arena_text(expansion->arena, accessor);
	else if (spec != NULL && (spec->op == TDM_EXPR_STRING || spec->op == TDM_EXPR_NAME))
		target.name = tdm_expr_plain_text(spec, expansion->arena);
	target.name = target.name != NULL ? target.name : "";
	return target;
}

static struct target target_of(struct expansion *expansion, const struct tdm_expr *buffer)
{
	struct target target = { -1, "", NULL };
	int64_t index;
	if (tdm_expr_value(buffer, expansion->given->settings, &index) == 0 && index >= 0 && index <= INDEX_MAX)
		target.index = (int32_t)index;
	else if (buffer->op == TDM_EXPR_NAME && tdm_kernel_begins_with(buffer->text, "dfb::"))
		target = named_target(expansion, buffer->text, NULL);
	return target;
}

static void record(struct expansion *expansion, const struct frame *frame, const struct tdm_kernel_step *step,
	const struct tdm_expr *buffer, struct target target, bool is_conditional)
{
	struct tdm_arena *arena = expansion->arena;
	const struct tdm_expr *pages = bind(expansion, frame, step->pages, 0);
	struct tdm_bounds bounds = tdm_expr_eval(pages, expansion->given->settings);
	/* Other operations on an unknown buffer are listed as such, and nothing else depends on them. */
	if (step->action == TDM_KERNEL_PUSH && target.index < 0 && target.name[0] == '\0')
		note_gap(expansion, TDM_UNJUDGED_NO_BUFFER, tdm_str_of(tdm_expr_text(buffer, arena)), frame->file,
			step->line);
	add_use(expansion, (struct tdm_kernel_use){
				   .action = step->action,
				   .form = step->form,
				   .is_conditional = is_conditional,
				   .is_optional = frame->is_optional || step->is_in_preproc,
				   .in_loop = frame->in_loop || step->in_loop,
				   .file = frame->file,
				   .line = step->line,
				   .index = target.index,
				   .name = target.name,
				   .buffer = tdm_expr_text(buffer, arena),
				   .pages = tdm_expr_text(pages, arena),
				   .pages_min = bounds.min,
				   .pages_max = bounds.max,
			   });
}

/* One operation; a choice between two buffers is two operations under a condition. */
static void use_buffer(struct expansion *expansion, const struct frame *frame, const struct tdm_kernel_step *step,
	const struct tdm_expr *buffer, bool is_conditional)
{
	struct target target = target_of(expansion, buffer);
	if (target.index < 0 && buffer->op == TDM_EXPR_CHOOSE) {
		use_buffer(expansion, frame, step, buffer->args[1], true);
		use_buffer(expansion, frame, step, buffer->args[2], true);
		return;
	}
	record(expansion, frame, step, buffer, target, is_conditional || target.other != NULL);
	while (target.other != NULL) {
		target = named_target(expansion, buffer->text, target.other);
		record(expansion, frame, step, buffer, target, true);
	}
}

static void follow(struct expansion *expansion, struct frame *frame);

/* Whether a function is being followed already. */
static bool is_active(const struct frame *frame, const struct tdm_kernel_function *function)
{
	for (; frame != NULL; frame = frame->caller)
		if (frame->function == function)
			return true;
	return false;
}

/* The frame in which a lambda was made: the nearest caller in the same file that is no lambda itself. */
static const struct frame *around(const struct frame *frame, uint32_t file)
{
	while (frame != NULL && (frame->file != file || frame->function->is_lambda))
		frame = frame->caller;
	return frame;
}

/* Whether a step may happen, or will. Neighbours have the same condition. */
static enum tdm_kernel_chance chance_of(
	struct expansion *expansion, struct frame *frame, const struct tdm_kernel_step *step)
{
	if (step->condition == NULL)
		return step->is_conditional ? TDM_KERNEL_MAY_HAPPEN : TDM_KERNEL_HAPPENS;
	if (frame->condition != step->condition) {
		frame->condition = step->condition;
		expansion->is_deciding = true;
		frame->chance =
			tdm_kernel_chance_of(bind(expansion, frame, step->condition, 0), expansion->given->settings);
		expansion->is_deciding = false;
	}
	return step->is_conditional && frame->chance == TDM_KERNEL_HAPPENS ? TDM_KERNEL_MAY_HAPPEN : frame->chance;
}

/* A step that happens, or may happen. */
struct event {
	const struct tdm_kernel_step *step;
	bool is_conditional;
};

static void follow_entry(struct expansion *expansion, const struct frame *frame, struct event event, uint32_t entry,
	bool is_one_of_several)
{
	const struct tdm_kernel_step *step = event.step;
	const struct tdm_kernel_function *function = tdm_kernel_index_get(expansion->index, entry);
	uint32_t file = expansion->index->entries[entry].file;
	if (is_active(frame, function))
		return;
	struct frame next = {
		.function = function,
		.file = file,
		.args = bind(expansion, frame, step->args, 0),
		.template_args = bind(expansion, frame, step->template_args, 0),
		.outer = function->is_lambda ? around(frame, file) : NULL,
		.caller = frame,
		.is_conditional = frame->is_conditional || event.is_conditional || is_one_of_several,
		.is_optional = frame->is_optional || step->is_in_preproc || is_one_of_several,
		.in_loop = frame->in_loop || step->in_loop,
		.depth = frame->depth + 1,
	};
	follow(expansion, &next);
}

/*
 * Whether a function that was not found cannot move pages: it is one of the runtime's, or all files that the kernel
 * includes are known and none of those that work with buffers defines it.
 */
static bool is_harmless(const struct expansion *expansion, const struct frame *frame, struct tdm_str name)
{
	const struct tdm_kernel_index *index = expansion->index;
	if (tdm_kernel_is_runtime(index->scan->files[frame->file].path))
		return true; /* it was written to be followed no further */
	if (tdm_kernel_is_mover(name) || tdm_kernel_index_has_macro(index, name))
		return false;
	if (tdm_kernel_is_api(name))
		return true;
	return !index->has_lost && !tdm_kernel_index_has(index, name);
}

/* Whether a call has as many arguments as a function takes: of several with one name the others are not meant. */
static bool takes(const struct tdm_kernel_function *function, const struct tdm_kernel_step *step)
{
	uint32_t count = step->args->arg_count, least = 0;
	while (least < function->params->arg_count && function->params->args[least]->op != TDM_EXPR_FIELD)
		least++;
	return function->is_variadic || (count >= least && count <= function->params->arg_count);
}

/* The first function from `entry` on that a call may mean. */
static uint32_t next_meant(const struct expansion *expansion, uint32_t entry, const struct tdm_kernel_step *step)
{
	while (entry != TDM_MAP_NONE && !takes(tdm_kernel_index_get(expansion->index, entry), step))
		entry = tdm_kernel_index_next(expansion->index, entry, step->callee);
	return entry;
}

/* Whether what a function gets may be a buffer: a small number, or a name that says so. */
static bool may_be_buffer(const struct expansion *expansion, const struct tdm_expr *arg)
{
	static const char *const words[] = { "cb", "CB", "dfb", "DFB", "uffer" };
	int64_t number;
	if (tdm_expr_value(arg, expansion->given->settings, &number) == 0)
		return number >= 0 && number <= INDEX_MAX;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (arg->text.len != 0 && memmem(arg->text.ptr, arg->text.len, words[i], strlen(words[i])) != NULL)
			return true;
	for (uint32_t i = 0; i < arg->arg_count; i++)
		if (may_be_buffer(expansion, arg->args[i]))
			return true;
	return false;
}

/* Whether a function that is not known gets only what is surely no buffer: it cannot push one. */
static bool gets_no_buffer(struct expansion *expansion, const struct frame *frame, const struct tdm_kernel_step *step)
{
	const struct tdm_expr *lists[] = { step->args, step->template_args };
	for (size_t i = 0; i < 2; i++)
		if (may_be_buffer(expansion, bind(expansion, frame, lists[i], 0)))
			return false;
	return step->args->arg_count != 0 && !tdm_kernel_is_mover(step->callee) &&
	       !tdm_kernel_index_has_macro(expansion->index, step->callee);
}

static void follow_call(struct expansion *expansion, const struct frame *frame, struct event event)
{
	const struct tdm_kernel_step *step = event.step;
	uint32_t entry = tdm_kernel_index_function(expansion->index, step->callee);
	if (entry == TDM_MAP_NONE) {
		if (!is_harmless(expansion, frame, step->callee) && !gets_no_buffer(expansion, frame, step))
			note_gap(expansion, TDM_UNJUDGED_UNKNOWN_CALL, step->callee, frame->file, step->line);
		return;
	}
	if (frame->depth >= DEPTH_MAX) {
		note_gap(expansion, TDM_UNJUDGED_TOO_MUCH, step->callee, frame->file, step->line);
		return;
	}
	uint32_t meant = next_meant(expansion, entry, step);
	if (meant == TDM_MAP_NONE) { /* a constructor, or something that was not read as it is: all of them */
		for (; entry != TDM_MAP_NONE; entry = tdm_kernel_index_next(expansion->index, entry, step->callee))
			follow_entry(expansion, frame, event, entry, true);
		return;
	}
	uint32_t next = next_meant(expansion, tdm_kernel_index_next(expansion->index, meant, step->callee), step);
	follow_entry(expansion, frame, event, meant, next != TDM_MAP_NONE);
	while (next != TDM_MAP_NONE) {
		follow_entry(expansion, frame, event, next, true);
		next = next_meant(expansion, tdm_kernel_index_next(expansion->index, next, step->callee), step);
	}
}

/* A call that is never made: its function, and what that calls, is not taken to be called by somebody else. */
static void pass_over(struct expansion *expansion, struct tdm_str callee, uint32_t depth)
{
	const struct tdm_kernel_index *index = expansion->index;
	const struct tdm_kernel_code *own = index->scan->files[expansion->root].code;
	uint32_t entry = depth < DEPTH_MAX ? tdm_kernel_index_function(index, callee) : TDM_MAP_NONE;
	for (; entry != TDM_MAP_NONE && expansion->steps++ <= STEPS_MAX;
		entry = tdm_kernel_index_next(index, entry, callee)) {
		const struct tdm_kernel_function *function = tdm_kernel_index_get(index, entry);
		if (index->entries[entry].file != expansion->root || expansion->was_reached[function - own->functions])
			continue;
		expansion->was_reached[function - own->functions] = true;
		for (size_t i = 0; i < function->step_count; i++)
			if (function->steps[i].is_call)
				pass_over(expansion, function->steps[i].callee, depth + 1);
	}
}

static void follow(struct expansion *expansion, struct frame *frame)
{
	const struct tdm_kernel_function *function = frame->function;
	const struct tdm_kernel_code *own = expansion->index->scan->files[expansion->root].code;
	frame->is_conditional |= function->is_conditional;
	frame->is_optional |= function->is_conditional;
	if (frame->file == expansion->root)
		expansion->was_reached[function - own->functions] = true;
	for (size_t i = 0; i < function->step_count; i++) {
		const struct tdm_kernel_step *step = &function->steps[i];
		if (expansion->steps++ > STEPS_MAX || expansion->uses->count > USES_MAX) {
			note_gap(expansion, TDM_UNJUDGED_TOO_MUCH, function->name, frame->file, step->line);
			return;
		}
		enum tdm_kernel_chance chance = chance_of(expansion, frame, step);
		struct event event = { step, chance != TDM_KERNEL_HAPPENS };
		if (chance == TDM_KERNEL_NEVER) {
			if (step->is_call)
				pass_over(expansion, step->callee, 0);
			continue;
		}
		if (step->is_call)
			follow_call(expansion, frame, event);
		else
			use_buffer(expansion, frame, step, bind(expansion, frame, step->buffer, 0),
				frame->is_conditional || event.is_conditional);
	}
}

/* Begins at the main function; other functions of the file that nobody was seen to call may be called all the same. */
static void follow_file(struct expansion *expansion)
{
	const struct tdm_kernel_code *code = expansion->index->scan->files[expansion->root].code;
	const struct tdm_expr *none = &tdm_expr_nothing; /* no arguments */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < code->function_count; i++) {
			const struct tdm_kernel_function *function = &code->functions[i];
			if (expansion->was_reached[i] || function->is_main != (pass == 0))
				continue;
			struct frame frame = { .function = function,
				.file = expansion->root,
				.args = none,
				.template_args = none,
				.is_conditional = pass == 1,
				.is_optional = pass == 1 };
			follow(expansion, &frame);
		}
	if (!code->is_whole)
		note_gap(expansion, TDM_UNJUDGED_NOT_PARSED, tdm_str_of("source"), expansion->root, 1);
}

const struct tdm_kernel_uses *tdm_kernel_expand(
	struct tdm_kernel_index *index, uint32_t file, const struct tdm_kernel_args *args, struct tdm_arena *arena)
{
	const struct tdm_kernel_code *code = index->scan->files[file].code;
	struct tdm_kernel_uses *uses = tdm_arena_take(arena, sizeof *uses);
	struct expansion expansion = { .index = index,
		.given = args,
		.arena = arena,
		.uses = uses,
		.root = file,
		.was_reached = calloc(code->function_count + 1, sizeof *expansion.was_reached) };
	if (uses == NULL || expansion.was_reached == NULL) {
		free(expansion.was_reached);
		return NULL;
	}
	uses->gap_text = "";
	tdm_kernel_index_see(index, file);
	follow_file(&expansion);
	struct tdm_kernel_use *list = uses->list;
	uses->list = tdm_arena_take(arena, sizeof *list * (uses->count + 1));
	if (uses->list != NULL && uses->count != 0)
		memcpy(uses->list, list, sizeof *list * uses->count);
	free(list);
	free(expansion.was_reached);
	return expansion.err == 0 && !arena->failed ? uses : NULL;
}
