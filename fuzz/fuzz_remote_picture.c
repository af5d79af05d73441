/*
 * Fuzz the reader of other machines' pictures. Exercises: base/json_walk.c, live/remote/remote_picture.c,
 * live/remote/picture_shape.c, view/rows/picture_json.c, view/rows/status_result.c.
 *
 * Properties: a refusal has a reason; a picture that is read is valid, can be shown, and can be written and read again,
 * which gives the same text.
 */
#include <stddef.h>
#include <stdint.h>

#include "../tests/unit/picture_valid.h"
#include "fuzz_check.h"
#include "view/rows/picture_json.h"
#include "view/rows/status_result.h"
#include "view/write/write.h"
#include "live/remote/remote_picture.h"

static void write_picture(const struct tdm_picture *picture, struct tdm_buf *out)
{
	tdm_buf_init(out);
	tdm_picture_json(
		&(struct tdm_picture_json){ .picture = picture, .with_processes = true, .with_buffers = true }, out);
}

static void show(const struct tdm_picture *picture)
{
	const struct tdm_status_report report = { .picture = picture, .term = { .width = 80 } };
	struct tdm_result *result = tdm_result_new();
	struct tdm_buf out = { 0 };
	tdm_status_show(&result->top, &report);
	tdm_write_text(&result->top, &report.term, &out);
	tdm_buf_done(&out);
	tdm_result_free(result);
}

/* The text of a picture from its time on: the envelope has the time of writing. */
static struct tdm_str body_of(const struct tdm_buf *out)
{
	static const char key[] = "\"picture\":";
	const char *body = memmem(out->data, out->len, key, sizeof key - 1);
	check(body != NULL);
	return (struct tdm_str){ body, out->len - (size_t)(body - out->data) };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_intern texts;
	struct tdm_remote_picture remote, again;
	struct tdm_diag diag = { 0 };
	struct tdm_buf first, second;
	tdm_intern_init(&texts);
	if (tdm_remote_picture_read((struct tdm_str){ (const char *)data, size }, &texts, &remote, &diag) != 0) {
		check(diag.text[0] != '\0');
		tdm_intern_done(&texts);
		return 0;
	}
	check(picture_is_valid(&remote.picture));
	show(&remote.picture);
	write_picture(&remote.picture, &first);
	check(tdm_remote_picture_read(tdm_buf_str(&first), &texts, &again, &diag) == 0);
	write_picture(&again.picture, &second);
	check(tdm_str_eq(body_of(&first), body_of(&second)));
	tdm_buf_done(&first);
	tdm_buf_done(&second);
	tdm_remote_picture_done(&remote);
	tdm_remote_picture_done(&again);
	tdm_intern_done(&texts);
	return 0;
}
