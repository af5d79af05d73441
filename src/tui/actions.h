/* The actions of keys. `key` is the key that was pressed. */
#ifndef TDM_TUI_ACTIONS_H
#define TDM_TUI_ACTIONS_H

#include "tui/app.h"

void tdm_act_help(struct tdm_app *app, int key);
void tdm_act_setup(struct tdm_app *app, int key);
void tdm_act_problems(struct tdm_app *app, int key);
void tdm_act_findings(struct tdm_app *app, int key);
void tdm_act_quit(struct tdm_app *app, int key);
void tdm_act_back(struct tdm_app *app, int key);
void tdm_act_screen(struct tdm_app *app, int key); /* '1' to '4' */
void tdm_act_focus(struct tdm_app *app, int key);
void tdm_act_refresh(struct tdm_app *app, int key);
void tdm_act_freeze(struct tdm_app *app, int key);
void tdm_act_redraw(struct tdm_app *app, int key);
void tdm_act_of_device(struct tdm_app *app, int key); /* only the processes of a device, or all again */
void tdm_act_compact(struct tdm_app *app, int key);

void tdm_act_open(struct tdm_app *app, int key); /* the chosen process or device */
void tdm_act_tree(struct tdm_app *app, int key);
void tdm_act_tag(struct tdm_app *app, int key);
void tdm_act_untag(struct tdm_app *app, int key);
void tdm_act_signal(struct tdm_app *app, int key);
void tdm_act_sort_box(struct tdm_app *app, int key);
void tdm_act_sort_step(struct tdm_app *app, int key); /* , and . */
void tdm_act_sort_letter(struct tdm_app *app, int key);
void tdm_act_sort_column(struct tdm_app *app, enum tdm_proc_column column); /* again: reversed */
void tdm_act_reverse(struct tdm_app *app, int key);

void tdm_act_search(struct tdm_app *app, int key);
void tdm_act_search_next(struct tdm_app *app, int key); /* n and N */
void tdm_act_filter(struct tdm_app *app, int key);

void tdm_act_device_step(struct tdm_app *app, int key); /* the previous or next device */
void tdm_act_buffer_sort(struct tdm_app *app, int key);
void tdm_act_buffer_group(struct tdm_app *app, int key);
void tdm_act_event_op(struct tdm_app *app, int key);
void tdm_act_event_kind(struct tdm_app *app, int key);
void tdm_act_event_process(struct tdm_app *app, int key);

/* A key while the user types a text. */
void tdm_act_type(struct tdm_app *app, int key);

#endif
