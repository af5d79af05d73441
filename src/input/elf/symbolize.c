/*
 * If built with elfutils, uses its libdwfl; otherwise, an address gets only a module and an offset. Modules are
 * collected first; the first call to tdm_symbolizer_find() passes the modules whose files are unchanged to elfutils.
 * Results are remembered by address, because the same call sites recur. Frames from our own inlined headers are
 * skipped, so that the user's line is shown.
 */
#include "input/elf/symbolize.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TDM_HAVE_LIBDW
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

enum { KEPT_MAX = 1 << 14 }; /* symbols remembered */

struct module {
	uint64_t base, size;
	char *path;
};

struct tdm_symbolizer {
	struct module *modules;
	size_t count, cap;
	struct tdm_map by_address;
	struct tdm_symbol **kept;
	uint32_t kept_count;
	struct tdm_symbol last; /* for symbols beyond KEPT_MAX */
	bool reported;          /* whether the modules were passed to elfutils */
	uint64_t loaded_ns;     /* when the modules were loaded, real-time clock; 0 if unknown */
#if TDM_HAVE_LIBDW
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	char *debuginfo_path;
	char *(*demangle)(const char *name, char *dst, size_t *len, int *status);
	void *demangler;
#endif
};

static void set_text(char dst[TDM_SYMBOL_CAP], const char *text)
{
	size_t len = strlen(text);
	len = len < TDM_SYMBOL_CAP ? len : TDM_SYMBOL_CAP - 1;
	memcpy(dst, text, len);
	dst[len] = '\0';
}

#if TDM_HAVE_LIBDW

static void start(struct tdm_symbolizer *sym)
{
	sym->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &sym->debuginfo_path,
	};
	sym->dwfl = dwfl_begin(&sym->callbacks);
	/* The C++ runtime, if installed, demangles C++ names. */
	sym->demangler = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *function = sym->demangler != NULL ? dlsym(sym->demangler, "__cxa_demangle") : NULL;
	memcpy(&sym->demangle, &function, sizeof function);
}

static void stop(struct tdm_symbolizer *sym)
{
	if (sym->dwfl != NULL)
		dwfl_end(sym->dwfl);
	if (sym->demangler != NULL)
		dlclose(sym->demangler);
}

/* A path in a ledger could name anything, so this opens only regular files that have not changed since they were
 * loaded. */
static int open_module(const struct tdm_symbolizer *sym, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	bool has_changed = is_good && sym->loaded_ns != 0 && st.st_ctim.tv_sec > 0 &&
			   (uint64_t)st.st_ctim.tv_sec * TDM_NS_PER_S + (uint64_t)st.st_ctim.tv_nsec > sym->loaded_ns;
	if (fd >= 0 && (!is_good || has_changed)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void report_modules(struct tdm_symbolizer *sym)
{
	sym->reported = true;
	if (sym->dwfl == NULL)
		return;
	dwfl_report_begin(sym->dwfl);
	for (size_t i = 0; i < sym->count; i++) {
		int fd = sym->modules[i].path[0] == '/' ? open_module(sym, sym->modules[i].path) : -1;
		/* On success, elfutils takes ownership of the descriptor. */
		if (fd >= 0 && dwfl_report_elf(sym->dwfl, sym->modules[i].path, sym->modules[i].path, fd,
				       sym->modules[i].base, true) == NULL)
			close(fd);
	}
	dwfl_report_end(sym->dwfl, NULL, NULL);
}

/* Whether a line is in one of our own library's headers, whose functions are inlined into their callers. */
static bool is_own_header(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
	return strcmp(name, "tidemark.h") == 0 || strcmp(name, "tidemark.hpp") == 0;
}

/* Sets the symbol to the place from which an inlined function was called. */
static bool set_call_place(Dwarf_Die *unit, Dwarf_Die *inlined, struct tdm_symbol *symbol)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t count;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
		dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
		dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
		return false;
	const char *name = dwarf_filesrc(files, (size_t)file, NULL, NULL);
	if (name == NULL || line > INT_MAX)
		return false;
	set_text(symbol->file, name);
	symbol->line = (int)line;
	return true;
}

/* The compilation unit of an address. Some compilers omit the table for finding it; in that case, searches all
 * units. */
static Dwarf_Die *find_unit(Dwfl_Module *module, uint64_t address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
	if (unit != NULL)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL)
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
	return NULL;
}

static void look_up(struct tdm_symbolizer *sym, uint64_t address, struct tdm_symbol *symbol)
{
	if (!sym->reported)
		report_modules(sym);
	Dwfl_Module *module = sym->dwfl != NULL ? dwfl_addrmodule(sym->dwfl, address) : NULL;
	if (module == NULL)
		return;
	const char *name = dwfl_module_addrname(module, address);
	int status = -1;
	char *text = name != NULL && sym->demangle != NULL && tdm_has_prefix(name, "_Z")
			     ? sym->demangle(name, NULL, NULL, &status)
			     : NULL;
	if (name != NULL)
		set_text(symbol->function, text != NULL ? text : name);
	free(text);
	Dwarf_Addr bias;
	Dwarf_Die *unit = find_unit(module, address, &bias), *scopes = NULL;
	Dwarf_Line *line = unit != NULL ? dwarf_getsrc_die(unit, address - bias) : NULL;
	const char *file = line != NULL ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (file == NULL)
		return;
	set_text(symbol->file, file);
	dwarf_lineno(line, &symbol->line);
	/* Walks from the library's own inlined functions to their caller, innermost first. */
	int count = is_own_header(symbol->file) ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
	for (int i = 0; i < count && is_own_header(symbol->file); i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine && !set_call_place(unit, &scopes[i], symbol))
			break;
	free(scopes);
}

#else

static void start(struct tdm_symbolizer *sym)
{
	(void)sym;
}

static void stop(struct tdm_symbolizer *sym)
{
	(void)sym;
}

static void look_up(struct tdm_symbolizer *sym, uint64_t address, struct tdm_symbol *symbol)
{
	(void)sym;
	(void)address;
	(void)symbol;
}

#endif

struct tdm_symbolizer *tdm_symbolizer_new(void)
{
	struct tdm_symbolizer *sym = tdm_zalloc(1, sizeof *sym);
	sym->kept = tdm_zalloc(KEPT_MAX, sizeof(struct tdm_symbol *));
	start(sym);
	return sym;
}

void tdm_symbolizer_free(struct tdm_symbolizer *sym)
{
	if (sym == NULL)
		return;
	stop(sym);
	for (size_t i = 0; i < sym->count; i++)
		free(sym->modules[i].path);
	free(sym->modules);
	for (uint32_t i = 0; i < sym->kept_count; i++)
		free(sym->kept[i]);
	free(sym->kept);
	tdm_map_done(&sym->by_address);
	free(sym);
}

int tdm_symbolizer_module(struct tdm_symbolizer *sym, uint64_t base, uint64_t size, const char *path)
{
	if (size > UINT64_MAX - base)
		return -EOVERFLOW;
	tdm_grow(&sym->modules, &sym->cap, sym->count + 1, sizeof *sym->modules);
	sym->modules[sym->count++] = (struct module){ base, size, tdm_strdup(path) };
	return 0;
}

void tdm_symbolizer_loaded(struct tdm_symbolizer *sym, uint64_t real_ns)
{
	sym->loaded_ns = real_ns;
}

static void find_symbol(struct tdm_symbolizer *sym, uint64_t address, struct tdm_symbol *symbol)
{
	*symbol = (struct tdm_symbol){ 0 };
	for (size_t i = 0; i < sym->count; i++) {
		const struct module *module = &sym->modules[i];
		if (address < module->base || address - module->base >= module->size)
			continue;
		const char *slash = strrchr(module->path, '/');
		set_text(symbol->module, slash != NULL ? slash + 1 : module->path);
		symbol->offset = address - module->base;
		look_up(sym, address, symbol);
		return;
	}
}

const struct tdm_symbol *tdm_symbolizer_find(struct tdm_symbolizer *sym, uint64_t address)
{
	address -= address != 0;
	uint32_t known = tdm_map_find(&sym->by_address, address);
	if (known != TDM_MAP_NONE)
		return sym->kept[known];
	struct tdm_symbol *symbol = &sym->last;
	if (sym->kept_count < KEPT_MAX) {
		symbol = tdm_alloc(sizeof *symbol);
		tdm_map_set(&sym->by_address, address, sym->kept_count);
		sym->kept[sym->kept_count++] = symbol;
	}
	find_symbol(sym, address, symbol);
	return symbol;
}
