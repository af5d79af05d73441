/*
 * libtidemark: the library that a program links, or loads, to have its device memory seen by the `tidemark` command.
 *
 * It never prints, aborts or blocks the program that uses it, and needs nothing but the C library. A function that can
 * fail returns an int: 0 or a positive count when it went well, a negative code, for tidemark_strerror(), when it did
 * not.
 */
#ifndef TIDEMARK_H
#define TIDEMARK_H

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMARK_API                                    __attribute__((visibility("default")))

/* The version of this header. */
#define TIDEMARK_VERSION_MAJOR                          0
#define TIDEMARK_VERSION_MINOR                          1
#define TIDEMARK_VERSION_PATCH                          0

/* A version as one number, larger for a later one; each part is below 1000. */
#define TIDEMARK_VERSION_NUMBER_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define TIDEMARK_VERSION_NUMBER \
	TIDEMARK_VERSION_NUMBER_OF(TIDEMARK_VERSION_MAJOR, TIDEMARK_VERSION_MINOR, TIDEMARK_VERSION_PATCH)

/* The version as text: "major.minor.patch". */
#define TIDEMARK_TEXT_OF_(x) #x
#define TIDEMARK_TEXT_(x)    TIDEMARK_TEXT_OF_(x)
#define TIDEMARK_VERSION                       \
	TIDEMARK_TEXT_(TIDEMARK_VERSION_MAJOR) \
	"." TIDEMARK_TEXT_(TIDEMARK_VERSION_MINOR) "." TIDEMARK_TEXT_(TIDEMARK_VERSION_PATCH)

/* The version of the library that runs, which may be later than the header's: TIDEMARK_VERSION as it was built. */
TIDEMARK_API const char *tidemark_version(void);
TIDEMARK_API int tidemark_version_number(void); /* TIDEMARK_VERSION_NUMBER as it was built */

/* What a code that a function of this library returned means, in English; never NULL, never freed; for any thread. */
TIDEMARK_API const char *tidemark_strerror(int code);

#ifdef __cplusplus
}
#endif

#endif
