#include "tui/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

enum { WORD_CAP = 32, LINE_CAP = 1024 };

enum form { FLAG, INTERVAL, COLUMN, COLUMNS };

struct setting {
	const char *name, *wants;
	enum form form;
	size_t offset, size;
};

#define SETTING(name, member, form, wants)                                                                         \
	{                                                                                                          \
		name, wants, form, offsetof(struct tdm_settings, member), sizeof((struct tdm_settings *)0)->member \
	}

static const char *const column_names[TDM_PROC_COLUMN_COUNT] = {
#define X(id, title, width, priority, letter) #id,
	TDM_PROC_COLUMN_LIST(X)
#undef X
};

static const struct setting table[] = {
	SETTING("sort", sort, COLUMN, "the name of a column"),
	SETTING("reversed", reversed, FLAG, "yes or no"),
	SETTING("tree", tree, FLAG, "yes or no"),
	SETTING("hidden_columns", hidden, COLUMNS, "names of columns"),
	SETTING("refresh_ms", interval_ms, INTERVAL, "100 to 86400000 milliseconds"),
	SETTING("colour", colour, FLAG, "yes or no"),
	SETTING("ascii", ascii, FLAG, "yes or no"),
	SETTING("mouse", mouse, FLAG, "yes or no"),
	SETTING("vi_keys", vi_keys, FLAG, "yes or no"),
};
enum { SETTINGS = sizeof table / sizeof table[0] };

void tdm_settings_default(struct tdm_settings *settings)
{
	*settings = (struct tdm_settings){
		.interval_ms = TDM_INTERVAL_DEFAULT_MS, .sort = TDM_PROC_MEMORY, .colour = true, .mouse = true
	};
}

char *tdm_settings_path(void)
{
	const char *base = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME"), *inside = "";
	if (base == NULL || base[0] != '/') { /* the specification says to ignore any other */
		base = home;
		inside = "/.config";
	}
	char *path;
	if (base == NULL || base[0] != '/' || asprintf(&path, "%s%s/tidemark/top.conf", base, inside) < 0)
		return NULL;
	return path;
}

static bool parse_flag(struct tdm_str text, bool *value)
{
	*value = tdm_str_is(text, "yes");
	return *value || tdm_str_is(text, "no");
}

static bool parse_column(struct tdm_str text, uint32_t *column)
{
	for (uint32_t c = 0; c < TDM_PROC_COLUMN_COUNT; c++)
		if (strlen(column_names[c]) == text.len && strncasecmp(column_names[c], text.ptr, text.len) == 0) {
			*column = c;
			return true;
		}
	return false;
}

/* Names with blanks between them; none is allowed. The command has no switch in the setup. */
static bool parse_columns(struct tdm_str text, bool *hidden)
{
	memset(hidden, 0, TDM_PROC_COLUMN_COUNT * sizeof *hidden);
	while ((text = tdm_str_trim(text)).len != 0) {
		struct tdm_str word = { text.ptr, 0 };
		uint32_t column;
		while (word.len < text.len && word.ptr[word.len] != ' ' && word.ptr[word.len] != '\t')
			word.len++;
		if (!parse_column(word, &column) || column == TDM_PROC_COMMAND)
			return false;
		hidden[column] = true;
		text = (struct tdm_str){ text.ptr + word.len, text.len - word.len };
	}
	return true;
}

static bool parse_interval(struct tdm_str text, uint32_t *ms)
{
	uint64_t value;
	if (tdm_str_parse_u64(text, &value) != 0 || value < 100 || value > TDM_INTERVAL_MAX_MS)
		return false;
	*ms = (uint32_t)value;
	return true;
}

/* False, and nothing has changed, if it is not a value of the setting. */
static bool parse_value(const struct setting *setting, struct tdm_str text, struct tdm_settings *settings)
{
	struct tdm_settings parsed = { 0 };
	void *to = (char *)&parsed + setting->offset;
	bool is_valid = setting->form == FLAG       ? parse_flag(text, to)
			: setting->form == INTERVAL ? parse_interval(text, to)
			: setting->form == COLUMN   ? parse_column(text, to)
						    : parse_columns(text, to);
	if (is_valid)
		memcpy((char *)settings + setting->offset, to, setting->size);
	return is_valid;
}

/* The first problem is the one that is told. */
static void complain(struct tdm_diag *diag, uint64_t line, const char *what, struct tdm_str text, const char *wants)
{
	char shown[WORD_CAP];
	if (diag != NULL && diag->text[0] == '\0')
		tdm_diag_set(diag, 0, line, 0, "%s \"%s\"%s%s: the line is ignored", what,
			tdm_str_shown(text, shown, sizeof shown), wants[0] != '\0' ? " is not " : "", wants);
}

static void parse_line(struct tdm_settings *settings, struct tdm_str line, uint64_t number, struct tdm_diag *diag)
{
	line = tdm_str_trim(line);
	if (line.len == 0 || line.ptr[0] == '#')
		return;
	const char *equals = memchr(line.ptr, '=', line.len);
	if (equals == NULL) {
		complain(diag, number, "no '=' in", line, "");
		return;
	}
	size_t before = (size_t)(equals - line.ptr);
	struct tdm_str name = tdm_str_trim((struct tdm_str){ line.ptr, before }),
		       value = tdm_str_trim((struct tdm_str){ equals + 1, line.len - before - 1 });
	for (size_t i = 0; i < SETTINGS; i++) {
		if (!tdm_str_is(name, table[i].name))
			continue;
		if (!parse_value(&table[i], value, settings))
			complain(diag, number, table[i].name, value, table[i].wants);
		return;
	}
	complain(diag, number, "there is no setting", name, "");
}

/* Opens a regular file of a sensible size; nothing else is waited for. A descriptor or a negative code. */
static int open_file(const char *path, struct tdm_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? -ENOENT
			       : tdm_diag_set(diag, -errno, 0, 0, "%s", tdm_err_text(-errno));
	int err = fstat(fd, &st) != 0 ? -errno : 0;
	if (err == 0 && !S_ISREG(st.st_mode))
		err = tdm_diag_set(diag, -EINVAL, 0, 0, "not a regular file");
	else if (err == 0 && st.st_size > TDM_SETTINGS_BYTES_MAX)
		err = tdm_diag_set(diag, -EFBIG, 0, 0, "too large for settings");
	if (err == 0)
		return fd;
	close(fd);
	return err;
}

/* Whether the bytes are text; a file without any is. */
static bool is_text(struct tdm_str all)
{
	for (size_t i = 0; i < all.len; i++)
		if ((unsigned char)all.ptr[i] < ' ' && strchr("\t\n\r", all.ptr[i]) == NULL)
			return false;
		else if (all.ptr[i] == '\0' || all.ptr[i] == 127)
			return false;
	return true;
}

/* The size may have changed since it was looked at, so it is limited again. */
static int read_all(int fd, char *dst, size_t cap, size_t *len)
{
	for (*len = 0; *len < cap;) {
		ssize_t got = read(fd, dst + *len, cap - *len);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return 0;
		*len += got > 0 ? (size_t)got : 0;
	}
	return -EFBIG;
}

int tdm_settings_read(struct tdm_settings *settings, const char *path, struct tdm_diag *diag)
{
	if (diag != NULL)
		diag->file = path;
	int fd = open_file(path, diag);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	char *data = malloc(TDM_SETTINGS_BYTES_MAX + 1);
	size_t len = 0;
	int err = data != NULL ? read_all(fd, data, TDM_SETTINGS_BYTES_MAX + 1, &len) : -ENOMEM;
	close(fd);
	if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	else if (!is_text((struct tdm_str){ data, len }))
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "not a text file");
	struct tdm_lines lines;
	struct tdm_str line;
	tdm_lines_memory(&lines, data, err == 0 ? len : 0);
	while (err == 0 && tdm_lines_next(&lines, &line) == 1)
		parse_line(settings, line, lines.line, diag);
	tdm_lines_done(&lines);
	free(data);
	return err;
}

static void put_name(struct tdm_buf *out, const char *name)
{
	for (; *name != '\0'; name++)
		tdm_buf_putc(out, *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name);
}

static void put_value(struct tdm_buf *out, const struct setting *setting, const struct tdm_settings *settings)
{
	const void *from = (const char *)settings + setting->offset;
	const bool *flags = from;
	const uint32_t *number = from;
	if (setting->form == FLAG)
		tdm_buf_puts(out, flags[0] ? " yes" : " no");
	else if (setting->form == INTERVAL)
		tdm_buf_printf(out, " %u", (unsigned)*number);
	for (size_t c = 0; setting->form >= COLUMN && c < TDM_PROC_COLUMN_COUNT; c++)
		if (setting->form == COLUMN ? *number == c : flags[c]) {
			tdm_buf_putc(out, ' ');
			put_name(out, column_names[c]);
		}
}

/* The folder, and the one that it is in; what is missing above was not made for settings. */
static int make_folder(const char *path)
{
	char *folder = strdup(path), *slash = folder != NULL ? strrchr(folder, '/') : NULL;
	int err = folder == NULL ? -ENOMEM : 0;
	if (slash != NULL) {
		*slash = '\0';
		char *above = strrchr(folder, '/');
		if (above != NULL && above != folder) {
			*above = '\0';
			mkdir(folder, 0700);
			*above = '/';
		}
		if (mkdir(folder, 0700) != 0 && errno != EEXIST)
			err = -errno;
	}
	free(folder);
	return err;
}

static int write_file(const char *path, const struct tdm_settings *settings)
{
	struct tdm_buf out;
	tdm_buf_init(&out);
	tdm_buf_puts(&out, "# Settings of `tidemark top`, which rewrites this file when they change.\n");
	for (size_t i = 0; i < SETTINGS; i++) {
		tdm_buf_printf(&out, "%s =", table[i].name);
		put_value(&out, &table[i], settings);
		tdm_buf_putc(&out, '\n');
	}
	int err = tdm_buf_failed(&out) ? -ENOMEM : make_folder(path);
	mode_t mask = umask(0077);
	if (err == 0)
		err = tdm_file_replace(path, out.data, out.len);
	umask(mask);
	tdm_buf_done(&out);
	return err;
}

int tdm_settings_keep(
	const struct tdm_settings *before, const struct tdm_settings *now, const char *path, struct tdm_diag *diag)
{
	struct tdm_settings kept;
	bool differs = false;
	tdm_settings_default(&kept);
	/* Another monitor may have changed other settings in the meantime. */
	if (memcmp(before, now, sizeof *now) == 0 || tdm_settings_read(&kept, path, NULL) != 0)
		return 0;
	for (size_t i = 0; i < SETTINGS; i++) {
		const char *from = (const char *)now + table[i].offset;
		if (memcmp((const char *)before + table[i].offset, from, table[i].size) == 0)
			continue;
		memcpy((char *)&kept + table[i].offset, from, table[i].size);
		differs = true;
	}
	int err = differs ? write_file(path, &kept) : 0;
	if (err != 0 && diag != NULL)
		diag->file = path;
	return err == 0 ? 0 : tdm_diag_set(diag, err, 0, 0, "settings are not kept: %s", tdm_err_text(err));
}
