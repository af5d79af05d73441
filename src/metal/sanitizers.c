/*
 * Traced programs that are built with the thread sanitizer. It sees what C library functions read and write, also on
 * behalf of libraries that were built without it, but not their atomic operations and locks of their own: it would take
 * reports to libtidemark for races. It asks for a function of this name what to leave out; a program that has its own
 * keeps it.
 */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "called_from_lib:libtidemark.so\n"; /* not ours: what the runtime does for us is to be seen */
}
