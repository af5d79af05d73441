#include "base/term.h"
#include "base/str.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool tdm_term_has_colour(int fd)
{
	const char *refused = getenv("NO_COLOR"), *type = getenv("TERM");
	if (refused != NULL && refused[0] != '\0')
		return false;
	return type != NULL && type[0] != '\0' && strcmp(type, "dumb") != 0 && isatty(fd) == 1;
}

static size_t clamp_width(uint64_t columns)
{
	if (columns < TDM_TERM_WIDTH_MIN)
		return TDM_TERM_WIDTH_MIN;
	return columns > TDM_TERM_WIDTH_MAX ? TDM_TERM_WIDTH_MAX : (size_t)columns;
}

size_t tdm_term_width(int fd)
{
	struct winsize size = { 0 };
	uint64_t columns = 0;
	if (tdm_str_parse_u64(tdm_str_of(getenv("COLUMNS")), &columns) == 0 && columns != 0)
		return clamp_width(columns);
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
		return clamp_width(size.ws_col);
	return TDM_TERM_WIDTH;
}

bool tdm_term_is_utf8(void)
{
	return strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct tdm_term tdm_term_detect(int fd)
{
	return (struct tdm_term){ tdm_term_has_colour(fd), tdm_term_is_utf8(), tdm_term_width(fd), false };
}
