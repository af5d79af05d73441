/*
 * Traced programs that are built with gcc's address sanitizer. Its library refuses to run, and ends the program, if
 * another one was loaded before it, because that could have functions that it wants to replace. Ours have none. It asks
 * a function of this name for its options; a program that has its own keeps it, and ASAN_OPTIONS comes after it.
 */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
