/* The library's version and the texts of its error codes. */
#include "tidemark.h"

#include <assert.h>
#include <errno.h>

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

/* The codes that the library returns, in its own terms. */
static const struct {
	int code;
	const char *text;
} texts[] = {
	{ -EINVAL, "refused: a kind or flag that does not exist, a structure that is too small, cores that are given "
		   "twice or are no rectangle, or a size that no device has" },
	{ -ENOENT, "no live buffer with this id on this device" },
	{ -EEXIST, "a live buffer with this id is already known on this device" },
	{ -ENODEV, "nothing was ever reported for this device" },
	{ -EBUSY, "called in a signal handler that interrupted a report, or a thread has stopped in a report on this "
		  "device" },
	{ -ENOSPC, "no room: the file system of the ledgers is full (TIDEMARK_DIR), or there are too many devices or "
		   "segments" },
	{ -ENOMEM, "no memory left for the ledger of this process" },
	{ -EFBIG, "the ledger would exceed the limit on the size of files" },
	{ -ENOTDIR, "the directory of the ledgers does not exist (TIDEMARK_DIR)" },
	{ -EACCES, "no permission to make a ledger in its directory (TIDEMARK_DIR)" },
	{ -EPERM, "no permission to make a ledger in its directory (TIDEMARK_DIR)" },
	{ -EROFS, "the directory of the ledgers cannot be written to (TIDEMARK_DIR)" },
	{ -ENAMETOOLONG, "the name of the segment or of the directory of the ledgers (TIDEMARK_DIR) is too long" },
	{ -EMFILE, "this process has no file descriptor left for its ledger" },
	{ -ENFILE, "this machine has no file descriptor left for a ledger" },
	{ -ERANGE, "no segment has this number" },
	{ -EDEADLK, "called in a signal handler that interrupted the phase tracker" },
	{ -EIO, "the ledger or the summary could not be written" },
};

const char *tidemark_strerror(int code)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].code == code)
			return texts[i].text;
	const char *text = tdm_tracker_strerror(code);
	return text != NULL ? text : tdm_err_text(code);
}
