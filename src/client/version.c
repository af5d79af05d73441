/*
 * What the library says about itself: its version, and the texts of its codes.
 */
#include "tidemark.h"

#include <assert.h>

#include "base/err.h"
#include "client/tracker.h"
#include "tidemark_version.h"

/* The public header is installed as it is, so it repeats the version that the build knows. */
static_assert(TIDEMARK_VERSION_MAJOR == TDM_VERSION_MAJOR, "tidemark.h is of another major version");
static_assert(TIDEMARK_VERSION_MINOR == TDM_VERSION_MINOR, "tidemark.h is of another minor version");
static_assert(TIDEMARK_VERSION_PATCH == TDM_VERSION_PATCH, "tidemark.h is of another patch version");
static_assert(sizeof(TIDEMARK_VERSION) == sizeof(TDM_VERSION_STRING), "tidemark.h spells the version differently");

const char *tidemark_version(void)
{
	return TIDEMARK_VERSION;
}

uint32_t tidemark_version_number(void)
{
	return TIDEMARK_VERSION_NUMBER;
}

const char *tidemark_strerror(int code)
{
	const char *text = tdm_tracker_strerror(code);
	return text != NULL ? text : tdm_err_text(code);
}
