/* Makes tree-sitter take its memory from a place that survives a fault of the library (syntax_memory.c). */
#ifndef TDM_SCAN_SYNTAX_MEMORY_H
#define TDM_SCAN_SYNTAX_MEMORY_H

/* To be called before the first parser is made; any thread, any number of times. */
void tdm_syntax_memory_use(void);

#endif
