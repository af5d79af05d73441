/*
 * The monitor's state, the saved settings, and the loop, which takes a new picture when one is due, handles keys and
 * signals as they arrive, and draws a frame after each of these.
 *
 * The user's settings are saved between runs in a file of lines "name = value"; docs/top.md lists them. The file's
 * contents are not trusted: a bad line is reported and ignored, and a file that cannot be a settings file is neither
 * read nor replaced.
 */
#include "tui/app/app.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

enum { MESSAGE_SECONDS = 4 };

void tdm_app_say(struct tdm_app *app, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(app->message, sizeof app->message, format, args);
	va_end(args);
	app->message_until_ns = tdm_clock_ns() + MESSAGE_SECONDS * TDM_NS_PER_S;
}

const struct tdm_picture_process *tdm_app_find_process(const struct tdm_app *app, uint64_t handle)
{
	for (size_t p = 0; handle != 0 && p < app->picture->process_count; p++)
		if (app->picture->processes[p].handle == handle)
			return &app->picture->processes[p];
	return NULL;
}

const struct tdm_proc_row *tdm_app_chosen_row(const struct tdm_app *app)
{
	return app->processes.chosen < app->rows.count ? &app->rows.rows[app->processes.chosen] : NULL;
}

const struct tdm_picture_process *tdm_app_chosen_process(const struct tdm_app *app)
{
	if (app->process_handle != 0)
		return tdm_app_find_process(app, app->process_handle);
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	return row != NULL ? tdm_app_find_process(app, row->handle) : NULL;
}

const struct tdm_picture_device *tdm_app_chosen_device(const struct tdm_app *app, size_t *index)
{
	if (app->devices.chosen >= app->shown_count)
		return NULL;
	size_t device = app->shown[app->devices.chosen];
	if (index != NULL)
		*index = device;
	return &app->picture->devices[device];
}

void tdm_app_device_chosen(struct tdm_app *app)
{
	const struct tdm_picture_device *device = tdm_app_chosen_device(app, NULL);
	app->device_key = device != NULL ? device->key : 0;
}

const char *tdm_app_place(
	const struct tdm_app *app, const char *name, uint32_t process, uint32_t stack, char *dst, size_t cap)
{
	const struct tdm_provider *provider = app->provider;
	uint32_t count;
	if (name[0] != '\0')
		return name;
	const struct tdm_kept_frame *frames = tdm_picture_stack(app->picture, stack, &count);
	if (count == 0)
		return "(no name)";
	name = tdm_picture_text(app->picture, frames[0].text);
	if (name[0] != '\0')
		return name;
	dst[0] = '\0';
	if (provider->place != NULL && process != TDM_INDEX_NONE && tdm_clock_ns() < app->places_until_ns)
		provider->place(provider->names, app->picture, process, stack,
			app->screen == TDM_SCREEN_PROCESS && app->buffers.by_site, dst, cap);
	if (dst[0] == '\0')
		snprintf(dst, cap, "0x%" PRIx64, frames[0].address);
	return dst;
}

void tdm_app_buffers_changed(struct tdm_app *app)
{
	tdm_buffer_view_changed(&app->buffers);
	app->buffer_list.chosen = app->buffer_list.top = 0;
}

static size_t tag_of(const struct tdm_app *app, uint64_t handle)
{
	size_t i = 0;
	while (i < app->tag_count && app->tags[i] != handle)
		i++;
	return i;
}

bool tdm_app_is_tagged(const struct tdm_app *app, uint64_t handle)
{
	return tag_of(app, handle) < app->tag_count;
}

void tdm_app_toggle_tag(struct tdm_app *app, uint64_t handle)
{
	size_t at = tag_of(app, handle);
	if (at < app->tag_count)
		app->tags[at] = app->tags[--app->tag_count];
	else if (app->tag_count == TDM_TAGS_MAX)
		tdm_app_say(app, "no more than %d processes can be tagged", TDM_TAGS_MAX);
	else
		app->tags[app->tag_count++] = handle;
}

void tdm_app_update_rows(struct tdm_app *app)
{
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	app->chosen_handle = row != NULL ? row->handle : 0;
	app->chosen_device = row != NULL ? row->device : UINT32_MAX;
	const struct tdm_proc_view view = { .sort = (enum tdm_proc_column)app->set.sort,
		.reversed = app->set.reversed,
		.form = app->set.tree ? TDM_PROC_TREE : TDM_PROC_FLAT,
		.filter = app->filter,
		.pick = app->options.pick,
		.device = app->only_device,
		.growth = &app->growth,
		.hosts = &app->hosts };
	tdm_proc_rows_build(&app->rows, app->picture, &view);
	if (!app->row_is_held)
		app->processes.chosen = 0;
	/* Find the row of the selected process again, in a tree on the same device if possible. */
	bool found = false;
	for (size_t i = 0; app->row_is_held && app->chosen_handle != 0 && i < app->rows.count; i++) {
		row = &app->rows.rows[i];
		if (row->handle == app->chosen_handle && (!found || row->device == app->chosen_device)) {
			app->processes.chosen = i;
			found = true;
			if (row->device == app->chosen_device)
				break;
		}
	}
	tdm_list_fit(&app->processes, app->rows.count, (int)app->processes.page);
}

void tdm_app_update_devices(struct tdm_app *app)
{
	const struct tdm_picture *picture = app->picture;
	app->shown_count = 0;
	tdm_grow(&app->shown, &app->shown_cap, picture->device_count, sizeof *app->shown);
	/* The chips of boards are devices already, so boards come last and are shown only if there is nothing else. */
	size_t boards = picture->device_count - picture->board_count;
	for (size_t d = 0;
		d < picture->device_count && (d < boards || app->shown_count == 0 || app->shown[0] >= boards); d++) {
		if (!tdm_pick_takes_device(&app->options.pick, picture, d))
			continue;
		if (app->device_key != 0 && picture->devices[d].key == app->device_key)
			app->devices.chosen = app->shown_count;
		app->shown[app->shown_count++] = (uint32_t)d;
	}
	tdm_list_fit(&app->devices, app->shown_count, (int)app->devices.page);
}

const struct tdm_trend *tdm_app_trend(const struct tdm_app *app, const struct tdm_picture_device *device)
{
	uint64_t key = device->key;
	for (size_t i = 0; i < app->trend_count; i++)
		if (app->trends[i].key == key)
			return &app->trends[i];
	return NULL;
}

void tdm_app_remember(struct tdm_app *app)
{
	size_t count = app->picture->device_count;
	bool fits = app->trend_count == count;
	tdm_growth_add(&app->growth, app->picture);
	app->moments[app->moment_count++ % TDM_HISTORY_CAP] = app->picture->time_ns;
	/* Trends have the order of the devices and stay in place while the devices stay the same. */
	for (size_t d = 0; d < count && fits; d++)
		fits = app->trends[d].key == app->picture->devices[d].key;
	if (!fits) {
		struct tdm_trend *trends = tdm_zalloc(count, sizeof *trends);
		for (size_t d = 0; d < count; d++) {
			const struct tdm_trend *before = tdm_app_trend(app, &app->picture->devices[d]);
			if (before != NULL)
				trends[d] = *before;
			trends[d].key = app->picture->devices[d].key;
		}
		free(app->trends);
		app->trends = trends;
		app->trend_count = count;
	}
	for (size_t d = 0; d < count; d++) {
		const struct tdm_picture_kind *kinds = app->picture->devices[d].kinds, *dram = &kinds[TDM_KIND_DRAM],
					      *l1 = &kinds[TDM_KIND_L1];
		uint64_t both = l1->used, cb = kinds[TDM_KIND_CB].used;
		/* L1 buffers and circular buffers share memory. If circular buffers are unknown, L1 buffers count
		 * alone. */
		if (both != TDM_BYTES_UNKNOWN && cb != TDM_BYTES_UNKNOWN)
			both = tdm_plus(both, cb);
		tdm_history_add(&app->trends[d].dram, tdm_picture_permille(dram->used, dram->total));
		tdm_history_add(&app->trends[d].l1, tdm_picture_permille(l1->used, l1->total));
		tdm_history_add(&app->trends[d].l1_and_cb, tdm_picture_permille(both, l1->total));
	}
}

void tdm_app_refreshed(struct tdm_app *app)
{
	tdm_app_update_devices(app);
	tdm_app_update_rows(app);
	/* Handles are never reused, but tags of processes that have ended would make the count wrong. */
	for (size_t i = app->tag_count; i-- > 0;)
		if (tdm_app_find_process(app, app->tags[i]) == NULL)
			app->tags[i] = app->tags[--app->tag_count];
}

void tdm_app_done(struct tdm_app *app)
{
	tdm_buffer_view_done(&app->buffers);
	tdm_device_view_done(&app->device);
	tdm_buf_done(&app->device.text);
	tdm_event_log_done(&app->events);
	tdm_buf_done(&app->findings);
	tdm_proc_rows_done(&app->rows);
	tdm_growth_done(&app->growth);
	tdm_host_uses_done(&app->hosts);
	tdm_canvas_done(&app->canvas);
	free(app->zones);
	free(app->shown);
	free(app->trends);
}

void tdm_app_zone(struct tdm_app *app, struct tdm_area area, enum tdm_zone_type type, size_t value)
{
	if (area.rows <= 0 || area.cols <= 0 || !app->set.mouse)
		return;
	tdm_grow(&app->zones, &app->zone_cap, app->zone_count + 1, sizeof *app->zones);
	app->zones[app->zone_count++] = (struct tdm_zone){ area, type, value };
}

/* ---- settings ---- */

enum {
	WORD_CAP = 32,
	BYTES_MAX = 65536,
	INTERVAL_DEFAULT_MS = 1000,
	INTERVAL_LEAST_MS = 100,
	INTERVAL_MAX_MS = 86400000
};

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

/* The file uses lower-case names. */
static const char *const column_names[TDM_PROC_COLUMN_COUNT] = {
#define X(id, priority, letter) #id,
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

static const struct tdm_settings usual = {
	.interval_ms = INTERVAL_DEFAULT_MS, .sort = TDM_PROC_MEMORY, .colour = true, .mouse = true
};

char *tdm_tui_settings_path(void)
{
	const char *base = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME"), *inside = "";
	if (base == NULL || base[0] != '/') { /* the specification says to ignore relative paths */
		base = home;
		inside = "/.config";
	}
	return base != NULL && base[0] == '/' ? tdm_printed("%s%s/tidemark/top.conf", base, inside) : NULL;
}

/* Removes a column name from the start of the text and returns the column; TDM_PROC_COLUMN_COUNT if there is none. */
static uint32_t take_column(struct tdm_str *text)
{
	struct tdm_str word = tdm_str_take_word(text);
	uint32_t column = 0;
	while (column < TDM_PROC_COLUMN_COUNT && !tdm_str_is_word(word, column_names[column]))
		column++;
	return column;
}

/* Returns false and changes nothing if the text is not a valid value for the setting. */
static bool parse_value(const struct setting *setting, struct tdm_str text, struct tdm_settings *settings)
{
	struct tdm_settings parsed = { 0 };
	void *to = (char *)&parsed + setting->offset;
	uint64_t number = 0;
	bool is_valid = true;
	if (setting->form == FLAG) {
		*(bool *)to = tdm_str_is(text, "yes");
		is_valid = *(bool *)to || tdm_str_is(text, "no");
	} else if (setting->form == INTERVAL) {
		is_valid = tdm_str_parse_u64(text, &number) == 0 && number >= INTERVAL_LEAST_MS &&
			   number <= INTERVAL_MAX_MS;
		*(uint32_t *)to = (uint32_t)number;
	} else if (setting->form == COLUMN) {
		*(uint32_t *)to = take_column(&text);
		is_valid = *(uint32_t *)to < TDM_PROC_COLUMN_COUNT && text.len == 0;
	}
	while (setting->form == COLUMNS && is_valid && text.len != 0) {
		uint32_t column = take_column(&text);
		is_valid = column < TDM_PROC_COMMAND; /* the command column cannot be switched off */
		((bool *)to)[is_valid ? column : 0] = true;
	}
	if (is_valid)
		memcpy((char *)settings + setting->offset, to, setting->size);
	return is_valid;
}

/* Only the first problem is reported. */
static void parse_line(struct tdm_settings *settings, struct tdm_str line, uint64_t number, struct tdm_diag *diag)
{
	line = tdm_str_trim(line);
	if (line.len == 0 || line.ptr[0] == '#')
		return;
	const char *equals = memchr(line.ptr, '=', line.len), *what = "no '=' in", *wants = "";
	if (equals != NULL) {
		struct tdm_str name = tdm_str_trim((struct tdm_str){ line.ptr, (size_t)(equals - line.ptr) }),
			       value = tdm_str_trim(tdm_str_rest(line, equals + 1));
		size_t i = 0;
		while (i < SETTINGS && !tdm_str_is(name, table[i].name))
			i++;
		if (i < SETTINGS && parse_value(&table[i], value, settings))
			return;
		what = i < SETTINGS ? table[i].name : "there is no setting";
		wants = i < SETTINGS ? table[i].wants : "";
		line = i < SETTINGS ? value : name;
	}
	char shown[WORD_CAP];
	if (diag->text[0] == '\0')
		tdm_diag_set(diag, 0, number, 0, "%s \"%s\"%s%s: the line is ignored", what,
			tdm_str_shown(line, shown, sizeof shown), wants[0] != '\0' ? " is not " : "", wants);
}

/* Whether the bytes are text. An empty file is text. */
static bool is_text(struct tdm_str all)
{
	for (size_t i = 0; i < all.len; i++)
		if (((unsigned char)all.ptr[i] < ' ' && memchr("\t\n\r", all.ptr[i], 3) == NULL) || all.ptr[i] == 127)
			return false;
	return true;
}

/*
 * Reads the file and overrides members of `settings`. Returns 0, even if there is no file, or a negative code if the
 * file cannot be read or is not a settings file. `diag` then describes the problem; if the result is 0, `diag`
 * describes the first bad line, if any.
 */
static int read_settings(struct tdm_settings *settings, const char *path, struct tdm_diag *diag)
{
	struct stat st;
	struct tdm_buf text = { 0 };
	struct tdm_lines lines;
	struct tdm_str line;
	diag->file = path;
	int err = stat(path, &st) != 0 ? -errno : 0;
	if (err == -ENOENT || err == -ENOTDIR)
		return 0;
	if (err == 0 && !S_ISREG(st.st_mode)) /* reading other kinds of files could block */
		return tdm_diag_set(diag, -EINVAL, 0, 0, "not a regular file");
	err = err == 0 ? tdm_file_read(path, BYTES_MAX, &text) : err;
	if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "%s", err == -EFBIG ? "too large for settings" : tdm_err_text(err));
	else if (!is_text(tdm_buf_str(&text)))
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "not a text file");
	tdm_lines_memory(&lines, text.data, err == 0 ? text.len : 0);
	while (tdm_lines_next(&lines, &line) == 1)
		parse_line(settings, line, lines.line, diag);
	tdm_lines_done(&lines);
	tdm_buf_done(&text);
	return err;
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
			for (const char *name = column_names[c]; *name != '\0'; name++)
				tdm_buf_putc(out, *name != '_' ? (char)(*name | 0x20) : *name);
		}
}

/*
 * Writes the settings that differ from `before` and leaves the rest of the file unchanged. Creates the file's folder
 * and that folder's parent, but no others.
 */
static void keep_settings(
	const struct tdm_settings *before, const struct tdm_settings *now, const char *path, struct tdm_diag *diag)
{
	struct tdm_settings kept = usual;
	struct tdm_diag ignored = { 0 };
	struct tdm_buf out = { 0 };
	/* Another monitor may have saved other settings in the meantime. */
	if (memcmp(before, now, sizeof *now) == 0 || read_settings(&kept, path, &ignored) != 0)
		return;
	tdm_buf_puts(&out, "# Settings of `tidemark top`, which rewrites this file when they change.\n");
	for (size_t i = 0; i < SETTINGS; i++) {
		const char *from = (const char *)now + table[i].offset;
		bool differs = memcmp((const char *)before + table[i].offset, from, table[i].size) != 0;
		tdm_buf_printf(&out, "%s =", table[i].name);
		put_value(&out, &table[i], differs ? now : &kept);
		tdm_buf_putc(&out, '\n');
	}
	char *folder = tdm_strdup(path), *slash = strrchr(folder, '/');
	int err = 0;
	if (slash != NULL) {
		*slash = '\0';
		char *above = strrchr(folder, '/');
		if (above != NULL && above != folder) {
			*above = '\0';
			mkdir(folder, 0700);
			*above = '/';
		}
		err = mkdir(folder, 0700) != 0 && errno != EEXIST ? -errno : 0;
	}
	free(folder);
	mode_t mask = umask(0077);
	err = err == 0 ? tdm_file_replace(path, out.data, out.len) : err;
	umask(mask);
	tdm_buf_done(&out);
	if (err != 0) {
		diag->file = path;
		tdm_diag_set(diag, err, 0, 0, "settings are not kept: %s", tdm_err_text(err));
	}
}

/* ---- the loop ---- */

enum { INTERVAL_MIN_MS = 50, KEYS_AT_ONCE = 64, WAIT_MAX_MS = 60000, OUTPUT_RETRY_MS = 50, PLACES_MS = 50 };

/* Takes a new picture with the parts that the current screen needs. */
static void look(struct tdm_app *app, uint64_t now_ns, bool by_user)
{
	const struct tdm_screen *screen = tdm_screens[app->screen];
	app->look_now = false;
	app->wish = (struct tdm_wish){ 0 };
	if (screen->wish != NULL)
		screen->wish(app, &app->wish, by_user);
	if (tdm_event_log_wants(&app->events)) {
		app->wish.parts |= TDM_WISH_EVENTS;
		app->wish.events_of = 0;
	}
	app->wish.latest_events = TDM_EVENT_LOG_LATEST;
	app->picture = app->provider->look(app->provider->state, &app->wish);
	tdm_app_refreshed(app);
	app->events_ns = now_ns + TDM_EVENT_LOG_MS * TDM_NS_PER_MS;
	tdm_event_log_add(&app->events, app->picture);
	/* Other screens hold lists borrowed from the previous picture, which is gone. */
	if (app->screen != TDM_SCREEN_PROCESS)
		tdm_buffer_view_done(&app->buffers);
	if (app->screen != TDM_SCREEN_DEVICE)
		tdm_device_view_done(&app->device);
	if (screen->refresh != NULL)
		screen->refresh(app, &app->wish);
}

static bool shows_events(const struct tdm_app *app)
{
	return app->screen == TDM_SCREEN_EVENTS && !app->frozen;
}

static void draw(struct tdm_app *app)
{
	if (app->redraw_all)
		tdm_terminal_redraw();
	app->redraw_all = false;
	app->places_until_ns = tdm_clock_ns() + PLACES_MS * TDM_NS_PER_MS;
	tdm_screens_draw(app);
	app->unsent = !tdm_terminal_show(&app->canvas, app->set.colour, app->set.mouse);
}

static int wait_ms(const struct tdm_app *app, uint64_t now_ns)
{
	uint64_t until = app->look_now ? now_ns : now_ns + WAIT_MAX_MS * TDM_NS_PER_MS;
	if (!app->frozen && app->due_ns < until)
		until = app->due_ns;
	if (shows_events(app) && app->events_ns < until)
		until = app->events_ns;
	if (app->message[0] != '\0' && app->message_until_ns > now_ns && app->message_until_ns < until)
		until = app->message_until_ns;
	if (app->unsent && now_ns + OUTPUT_RETRY_MS * TDM_NS_PER_MS < until)
		until = now_ns + OUTPUT_RETRY_MS * TDM_NS_PER_MS;
	return until <= now_ns ? 0 : (int)((until - now_ns + TDM_NS_PER_MS - 1) / TDM_NS_PER_MS);
}

static void handle_keys(struct tdm_app *app)
{
	struct tdm_mouse mouse;
	for (int i = 0; i < KEYS_AT_ONCE && !app->quit; i++) {
		int key = tdm_terminal_key(&mouse);
		if (key == TDM_KEY_NONE)
			return;
		if (key == TDM_KEY_GONE)
			app->quit = true;
		else if (key == TDM_KEY_MOUSE)
			tdm_mouse_use(app, mouse, tdm_clock_ns());
		else if (key != TDM_KEY_OTHER)
			tdm_keys_press(app, key);
		if (app->look_now) /* the next key is meant for the newly opened screen */
			look(app, tdm_clock_ns(), true);
	}
}

static void run(struct tdm_app *app)
{
	while (!app->quit) {
		uint64_t now_ns = tdm_clock_ns(), interval = app->set.interval_ms * TDM_NS_PER_MS;
		bool is_due = app->refresh_now || (!app->frozen && now_ns >= app->due_ns);
		if (is_due) {
			bool by_user = app->refresh_now;
			app->refreshes++;
			app->refresh_now = false;
			look(app, now_ns, by_user);
			tdm_app_remember(app);
			app->due_ns += interval;
			if (app->due_ns <= now_ns || app->due_ns > now_ns + interval)
				app->due_ns = now_ns + interval;
		} else if (app->look_now)
			look(app, now_ns, true);
		else if (shows_events(app) && now_ns >= app->events_ns)
			look(app, now_ns, false); /* read them before a busy program's ring overwrites most of them */
		draw(app);
		if ((is_due && app->options.frames != 0 && app->refreshes >= app->options.frames) ||
			!tdm_terminal_wait(wait_ms(app, tdm_clock_ns())))
			return;
		app->quit |= !tdm_terminal_signals(&app->canvas);
		handle_keys(app);
	}
}

int tdm_tui_run(const struct tdm_provider *provider, const struct tdm_tui_options *options, struct tdm_diag *diag)
{
	struct tdm_app *app = tdm_zalloc(1, sizeof *app);
	struct tdm_settings *set = &app->set;
	const char *path = options->settings;
	char text[TDM_APP_MESSAGE_CAP];
	app->provider = provider;
	app->options = *options;
	app->most_detail = TDM_DETAIL_FULL;
	app->can_utf8 = tdm_term_is_utf8();
	*set = usual;
	if (path != NULL && read_settings(set, path, diag) != 0)
		path = NULL; /* a bad file is not overwritten */
	if (diag->text[0] != '\0')
		tdm_app_say(app, "%s", tdm_diag_format(diag, text, sizeof text));
	set->interval_ms = options->interval_ms != 0 ? options->interval_ms : set->interval_ms;
	set->interval_ms = set->interval_ms < INTERVAL_MIN_MS ? INTERVAL_MIN_MS : set->interval_ms;
	set->colour &= !options->no_colour;
	set->ascii |= options->ascii;
	set->mouse &= !options->no_mouse;
	const struct tdm_settings begun = *set;
	int err = tdm_terminal_open(&app->canvas, diag);
	if (err == 0) {
		run(app);
		tdm_terminal_close();
		if (path != NULL)
			keep_settings(&begun, set, path, diag);
	}
	tdm_app_done(app);
	free(app);
	return err;
}
