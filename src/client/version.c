/* The library's version and the texts of its error codes. */
#include "tidemark.h"

#include <assert.h>

#include "base/err.h"
#include "client/tracker.h"
#include "tidemark_version.h"

/* The public header is installed unchanged, so it repeats the version of the build. */
static_assert(TIDEMARK_VERSION_MAJOR == TDM_VERSION_MAJOR, "tidemark.h has a different major version");
static_assert(TIDEMARK_VERSION_MINOR == TDM_VERSION_MINOR, "tidemark.h has a different minor version");
static_assert(TIDEMARK_VERSION_PATCH == TDM_VERSION_PATCH, "tidemark.h has a different patch version");
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
