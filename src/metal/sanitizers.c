/*
 * For traced programs that are built with gcc's address sanitizer. The sanitizer's library ends the program if another
 * library was loaded before it, because that library could define functions that the sanitizer replaces. Our library
 * defines none of them. The sanitizer gets its options from a function of this name; a program's own function takes
 * precedence, and so does ASAN_OPTIONS.
 */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
