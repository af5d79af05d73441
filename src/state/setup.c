#include "state/setup.h"
#include "ledger/ledger_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The files of cards, regions and ledgers, and the environments of processes. */
static int read_files(struct tdm_setup *setup)
{
	const struct tdm_host *host = setup->host;
	const struct tdm_metal_list *metal = setup->metal;
	const struct tdm_picture *picture = setup->picture;
	const struct tdm_probe_places *at = &setup->probe.places;
	struct tdm_probe_file left;
	char path[PATH_MAX];
	setup->nodes = calloc(host->card_count + metal->count + picture->problem_count + 1, sizeof *setup->nodes);
	setup->disabled = calloc(host->process_count + 1, sizeof *setup->disabled);
	if (setup->nodes == NULL || setup->disabled == NULL)
		return -ENOMEM;
	setup->regions = setup->nodes + host->card_count;
	setup->unread = setup->regions + metal->count;
	for (size_t i = 0; i < host->card_count; i++) {
		snprintf(path, sizeof path, "%s/" TDM_PROBE_MODULE "/%" PRIu32, at->dev, host->cards[i].number);
		tdm_probe_file(&setup->nodes[i], path);
	}
	for (size_t i = 0; i < metal->count; i++) {
		snprintf(path, sizeof path, "%s/%s", at->shm, metal->regions[i].name);
		tdm_probe_file(&setup->regions[i], path);
	}
	for (size_t i = 0; i < picture->problem_count; i++)
		if (picture->problems[i].path != NULL)
			tdm_probe_file(&setup->unread[i], picture->problems[i].path);
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].life == TDM_LIFE_ENDED) {
			tdm_probe_file(&left, picture->processes[i].ledger);
			setup->left_bytes += left.bytes;
		}
	for (size_t i = 0; i < host->process_count; i++)
		setup->disabled[i] = tdm_probe_environ(&setup->probe, host->processes[i].pid, TDM_PROBE_DISABLE "=1");
	return 0;
}

int tdm_setup_read(struct tdm_setup *setup, const struct tdm_probe_places *places)
{
	const struct tdm_state_options machine = {
		.ledger_dir = places->ledgers, .shm_dir = places->shm, .sysfs = places->sysfs, .proc = places->proc
	};
	const struct tdm_state_options tracked = {
		.ledger_dir = places->ledgers, .only_ledgers = true, .with_ended = true
	};
	const struct tdm_wish wish = { .no_largest = true };
	*setup = (struct tdm_setup){ .machine_state = tdm_state_new(&machine), .state = tdm_state_new(&tracked) };
	if (setup->machine_state == NULL || setup->state == NULL)
		return -ENOMEM;
	setup->machine = tdm_state_look(setup->machine_state, &wish);
	setup->picture = tdm_state_look(setup->state, &wish);
	if (setup->machine == NULL || setup->picture == NULL)
		return -ENOMEM;
	setup->host = tdm_state_host(setup->machine_state);
	setup->metal = tdm_state_metal(setup->machine_state);
	tdm_probe_read(&setup->probe, places);
	return read_files(setup);
}

void tdm_setup_done(struct tdm_setup *setup)
{
	free(setup->nodes);
	free(setup->disabled);
	tdm_state_free(setup->machine_state);
	tdm_state_free(setup->state);
	*setup = (struct tdm_setup){ 0 };
}

bool tdm_setup_mode_is_valid(const char *value)
{
	uint32_t mode;
	return tdm_ledger_parse_mode(value, &mode) == 0;
}

bool tdm_setup_ring_is_valid(const char *value)
{
	uint32_t records;
	return tdm_ledger_parse_ring(value, &records) == 0;
}
