/* Names of a Python source and what they stand for. Bindings are only added: one that ends is marked as gone. */
#include "scan/python.h"

#include <errno.h>

#include "base/reserve.h"

uint32_t py_frame(struct py *py, uint32_t parent)
{
	if (tdm_reserve(&py->frame_parent, &py->frame_cap, py->frame_count + 1, sizeof *py->frame_parent) != 0) {
		py->failed = true;
		return 0;
	}
	py->frame_parent[py->frame_count] = parent;
	return (uint32_t)py->frame_count++;
}

/* Shows a variable by its expression, or by its name where that says more. */
static const struct tdm_expr *as_variable(struct py_at *at, struct tdm_str name, const struct tdm_expr *value)
{
	const struct tdm_settings *settings = at->py->walk->settings;
	int64_t number;
	bool is_atom = value->op == TDM_EXPR_NAME || value->op == TDM_EXPR_CALL;
	if (is_atom && !value->is_parameter)
		return py_is_none(value) ? value : py_named(at->py, name);
	bool is_scalar = value->op >= TDM_EXPR_ADD;
	bool is_set = is_scalar && settings != NULL && tdm_settings_find(settings, name) != NULL &&
		      tdm_expr_value(value, settings, &number) != 0;
	if (is_set || (is_scalar && value->nodes > PY_SPREAD_MAX))
		return py_named(at->py, name);
	return value;
}

void py_bind(struct py_at *at, uint32_t frame, struct tdm_str name, const struct tdm_expr *value)
{
	struct py *py = at->py;
	uint64_t hash = tdm_str_hash(name);
	uint32_t before = tdm_map_find(&py->last, hash);
	py->failed |= tdm_reserve(&py->bindings, &py->binding_cap, py->binding_count + 1, sizeof *py->bindings) != 0 ||
		      tdm_map_put(&py->last, hash, (uint32_t)py->binding_count) != 0;
	if (py->failed || py->steps > PY_STEPS_MAX)
		return;
	py->steps++;
	py->bindings[py->binding_count++] = (struct py_binding){
		.name = name,
		.value = as_variable(at, name, value),
		.frame = frame,
		.before = before != TDM_MAP_NONE ? before + 1 : 0,
	};
}

static bool is_visible(const struct py *py, uint32_t frame, uint32_t from)
{
	while (from != frame && from != 0)
		from = py->frame_parent[from];
	return from == frame;
}

const struct tdm_expr *py_lookup(struct py_at *at, struct tdm_str name)
{
	struct py *py = at->py;
	uint32_t place = tdm_map_find(&py->last, tdm_str_hash(name));
	if (place == TDM_MAP_NONE || place >= py->binding_count)
		return NULL;
	for (uint32_t i = place + 1; i != 0 && py->steps <= PY_STEPS_MAX; i = py->bindings[i - 1].before) {
		const struct py_binding *binding = &py->bindings[i - 1];
		py->steps++;
		if (binding->frame != UINT32_MAX && tdm_str_eq(binding->name, name) &&
			is_visible(py, binding->frame, at->frame))
			return binding->value;
	}
	return NULL;
}

struct py_binding *py_find_since(struct py *py, struct tdm_str name, uint32_t frame, size_t since)
{
	uint32_t place = tdm_map_find(&py->last, tdm_str_hash(name));
	if (place == TDM_MAP_NONE || place >= py->binding_count)
		return NULL;
	for (uint32_t i = place + 1; i > since && py->steps <= PY_STEPS_MAX; i = py->bindings[i - 1].before) {
		py->steps++;
		if (py->bindings[i - 1].frame == frame && tdm_str_eq(py->bindings[i - 1].name, name))
			return &py->bindings[i - 1];
	}
	return NULL;
}

static const struct py_thing *thing_of(const struct tdm_expr *value)
{
	return value != NULL && value->op == TDM_EXPR_OPAQUE ? value->opaque : NULL;
}

struct py_definition *py_definition_of(const struct tdm_expr *value)
{
	const struct py_thing *thing = thing_of(value);
	return thing != NULL && thing->type == PY_DEFINITION ? (struct py_definition *)(uintptr_t)thing : NULL;
}

struct py_descriptor *py_descriptor_of(const struct tdm_expr *value)
{
	const struct py_thing *thing = thing_of(value);
	return thing != NULL && thing->type == PY_DESCRIPTOR ? (struct py_descriptor *)(uintptr_t)thing : NULL;
}

bool py_is_none(const struct tdm_expr *value)
{
	return value->op == TDM_EXPR_NAME && tdm_str_is(value->text, "None");
}

static bool is_same(const struct tdm_expr *a, const struct tdm_expr *b)
{
	if (a == b)
		return true;
	if (a->op != b->op)
		return false;
	return (a->op == TDM_EXPR_NUMBER && a->number == b->number) ||
	       (a->op == TDM_EXPR_FORMAT && a->format == b->format) ||
	       (a->op == TDM_EXPR_NAME && tdm_str_eq(a->text, b->text));
}

/* A thing with members: it says more than what else the name may stand for. */
static bool is_object(const struct tdm_expr *value)
{
	return value->op == TDM_EXPR_OBJECT || value->op == TDM_EXPR_OPAQUE;
}

const struct tdm_expr *py_merge(
	struct py_at *at, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	int64_t number;
	if (a == NULL || b == NULL)
		return a != NULL ? a : b;
	if (is_same(a, b))
		return a;
	if (tdm_expr_value(condition, at->py->walk->settings, &number) == 0)
		return number != 0 ? a : b;
	if (is_object(a) || py_is_none(b))
		return a;
	if (is_object(b) || py_is_none(a))
		return b;
	const struct tdm_expr *args[] = { condition, a, b };
	return tdm_expr_make(at->py->arena, TDM_EXPR_CHOOSE, (struct tdm_str){ "", 0 }, args, 3);
}
