#include "base/memory.h"

#include "base/reserve.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*restore_first)(void);

void tdm_before_out_of_memory(void (*restore)(void))
{
	restore_first = restore;
}

/* stdio may need memory itself. */
_Noreturn void tdm_out_of_memory(void)
{
	static const char said[] = ": out of memory\n";
	const char *name = program_invocation_short_name;
	if (restore_first != NULL)
		restore_first();
	if (write(STDERR_FILENO, name, strlen(name)) < 0 || write(STDERR_FILENO, said, sizeof said - 1) < 0)
		_exit(2);
	_exit(2);
}

static void *there(void *memory)
{
	if (memory == NULL)
		tdm_out_of_memory();
	return memory;
}

void *tdm_alloc(size_t bytes)
{
	return there(malloc(bytes != 0 ? bytes : 1));
}

void *tdm_zalloc(size_t count, size_t item)
{
	return there(calloc(count != 0 ? count : 1, item));
}

void *tdm_realloc(void *old, size_t count, size_t item)
{
	return there(reallocarray(old, count != 0 ? count : 1, item));
}

void *tdm_copy_of(const void *data, size_t bytes)
{
	void *copy = tdm_alloc(bytes);
	if (bytes != 0)
		memcpy(copy, data, bytes);
	return copy;
}

char *tdm_strdup(const char *text)
{
	return text != NULL ? there(strdup(text)) : NULL;
}

char *tdm_strndup(const char *text, size_t most)
{
	return there(strndup(text, most));
}

char *tdm_vprinted(const char *format, va_list arguments)
{
	char *text = NULL;
	return vasprintf(&text, format, arguments) >= 0 ? text : there(NULL);
}

char *tdm_printed(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = tdm_vprinted(format, arguments);
	va_end(arguments);
	return text;
}

void tdm_grow(void *list, size_t *cap, size_t count, size_t item)
{
	if (tdm_reserve(list, cap, count, item) != 0)
		tdm_out_of_memory();
}

void tdm_map_set(struct tdm_map *map, uint64_t key, uint32_t value)
{
	if (tdm_map_put(map, key, value) != 0)
		tdm_out_of_memory();
}
