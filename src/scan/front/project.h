/*
 * The definitions in a project's files, by name: functions that may create buffers, constants, enums and macros. The
 * index is built from the tokens of every file (lexer.h) before any file is parsed. A definition is parsed on first
 * use, separately from its file, and kept.
 *
 * Threads: one thread adds all files; afterwards, any thread may find and parse definitions. Each is parsed once, under
 * a lock, and the result does not change.
 */
#ifndef TDM_SCAN_PROJECT_H
#define TDM_SCAN_PROJECT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "base/arena.h"
#include "scan/front/syntax.h"
#include "scan/scan.h"

struct tdm_tokens;

/* Whether a function is a helper, which creates buffers for its callers. */
enum tdm_verdict { TDM_VERDICT_NONE, TDM_VERDICT_HELPER, TDM_VERDICT_OTHER };

enum tdm_definition_kind { TDM_DEFINES_FUNCTION, TDM_DEFINES_CONSTANT, TDM_DEFINES_ENUM, TDM_DEFINES_MACRO };

/* Maximum number of definitions kept per name; limited because every call searches all of them. */
enum { TDM_DEFINITIONS_MAX = 2000 };

struct tdm_definition {
	struct tdm_str name;
	uint8_t kind;    /* enum tdm_definition_kind */
	bool is_private; /* static, or in an unnamed namespace: invisible to other files */
	uint32_t file;   /* index in the scan's list */
	bool is_template;
	uint32_t least, most;        /* FUNCTION: minimum and maximum number of arguments */
	struct tdm_str text;         /* function or enum: the whole definition; constant or macro: the value */
	struct tdm_definition *next; /* next definition with the same hash, from an earlier file */
	uint32_t rank;               /* number of earlier definitions with the same hash */
	struct tdm_syntax *piece;    /* the tree, guarded by the lock; NULL until needed */
	_Atomic(int) verdict;        /* enum tdm_verdict */
};

/* Must be zeroed at first, except for the files and the lock. */
struct tdm_project {
	struct tdm_arena arena;
	struct tdm_map by_name; /* hash of a name, or of a name and file: index in `firsts` */
	struct tdm_definition **firsts;
	size_t first_count, first_cap;
	struct tdm_map calls;              /* hash of a helper-like name: number of calls */
	const struct tdm_scan_file *files; /* borrowed */
	pthread_mutex_t lock;
};

void tdm_project_done(struct tdm_project *project);

/* Adds the definitions in a file. */
void tdm_project_add(struct tdm_project *project, uint32_t file, const struct tdm_tokens *tokens);

/* The first function returns a definition of the name, or NULL; the second, the next definition with the same name. */
struct tdm_definition *tdm_project_find(const struct tdm_project *project, struct tdm_str name);
struct tdm_definition *tdm_definition_next(const struct tdm_definition *definition);

/* The first definition of a name in the file itself. tdm_definition_next() continues, possibly with definitions in
 * other files. */
struct tdm_definition *tdm_project_find_own(const struct tdm_project *project, struct tdm_str name, uint32_t file);

/* The first function returns a file's name without folders; the second, whether the file is a header. */
const char *tdm_project_base(const struct tdm_project *project, uint32_t file);
bool tdm_project_is_header(const struct tdm_project *project, uint32_t file);

/* How often functions in the project call a helper-like name. */
uint32_t tdm_project_call_count(const struct tdm_project *project, struct tdm_str name);

/* The parsed form of a definition; NULL if it cannot be parsed. */
const struct tdm_syntax *tdm_project_parse(
	struct tdm_project *project, struct tdm_definition *definition, struct tdm_parser *parser);

#endif
