/*
 * What the files of a project define: functions that may create buffers, constants, enums and macros, by name. It is
 * built from the cheap look at every file (lexer.h), before any is parsed; a definition is parsed when somebody asks
 * for it, apart from its file, and kept.
 *
 * Threads: files are added by one thread. After tdm_project_end() any thread may find definitions and parse them; the
 * parsed form is made once, under a lock, and is immutable afterwards.
 */
#ifndef TDM_SCAN_PROJECT_H
#define TDM_SCAN_PROJECT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "scan/arena.h"
#include "scan/syntax.h"

/* What the reader of functions makes of one. */
enum tdm_verdict { TDM_VERDICT_NONE, TDM_VERDICT_HELPER, TDM_VERDICT_OTHER };

enum tdm_definition_kind { TDM_DEFINES_FUNCTION, TDM_DEFINES_CONSTANT, TDM_DEFINES_ENUM, TDM_DEFINES_MACRO };

/* A definition as a text of its own, parsed. */
struct tdm_piece {
	struct tdm_str text;
	struct tdm_syntax syntax;
};

/* Definitions of one name that are kept. Every call looks at all of them, and nobody needs so many. */
enum { TDM_DEFINITIONS_MAX = 2000 };

struct tdm_definition {
	struct tdm_str name;
	uint8_t kind;    /* enum tdm_definition_kind */
	bool is_private; /* static, or in a namespace without a name: other files do not see it */
	uint32_t file;   /* in the list of files that the project was made from */
	bool is_template;
	uint32_t least, most;        /* FUNCTION: how many arguments it takes */
	struct tdm_str text;         /* a function or enum: all of it; a constant or macro: its value */
	struct tdm_definition *next; /* another one with the same hash, of an earlier file */
	uint32_t rank;               /* how many there are with the same hash before it */
	struct tdm_piece *piece;     /* NULL until it is asked for; under the lock */
	_Atomic(int) verdict;        /* enum tdm_verdict */
};

struct tdm_project {
	struct tdm_arena arena;
	struct tdm_map by_name; /* tdm_definition_key(): place in `firsts` */
	struct tdm_definition **firsts;
	size_t first_count, first_cap;
	struct tdm_map calls;     /* hash of a name that functions which create buffers have: how often it is called */
	const char *const *paths; /* of the files; borrowed */
	pthread_mutex_t lock;
};

int tdm_project_init(struct tdm_project *project); /* 0 or -ENOMEM */
void tdm_project_done(struct tdm_project *project);

/* Adds what a text defines. 0 or -ENOMEM. */
int tdm_project_add(struct tdm_project *project, uint32_t file, struct tdm_str text);

/* A definition with a name, or NULL; and the next one with the same name. */
struct tdm_definition *tdm_project_find(const struct tdm_project *project, struct tdm_str name);
struct tdm_definition *tdm_definition_next(const struct tdm_definition *definition);

/* The first definition that a file can see by a name because it is its own; go on with tdm_definition_next(). It may
 * give those of other files too. */
struct tdm_definition *tdm_project_find_own(const struct tdm_project *project, struct tdm_str name, uint32_t file);

bool tdm_project_is_header(const struct tdm_project *project, uint32_t file);

/* What a definition is found by: its name; and its file, if other files cannot see it: constants, enums and macros of
 * files that are not headers. Thousands of files may define the same ones. */
uint64_t tdm_definition_key(
	const struct tdm_project *project, enum tdm_definition_kind kind, struct tdm_str name, uint32_t file);

/* How often functions of the project call a name of the kind that creates buffers. */
uint32_t tdm_project_call_count(const struct tdm_project *project, struct tdm_str name);

/* The parsed form of a definition; NULL when it cannot be parsed or memory is out. */
const struct tdm_piece *tdm_project_parse(
	struct tdm_project *project, struct tdm_definition *definition, struct tdm_parser *parser);

#endif
