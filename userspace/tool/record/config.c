// SPDX-License-Identifier: GPL-2.0-only
/* ktape record: settings of the session, from --config and from the options. */
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/record/record.h"
#include "tool/session/session.h"
#include "tool/shared/event_list.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"

/* Defaults of -b and -B. */
#define RING_SIZE  (4ULL << 20)
#define BLOCK_SIZE (64ULL << 10)

/* Set the events: -p and -e replace those of the file. */
static int take_events(struct record *r)
{
	uint64_t mask[KTAPE_MASK_WORDS] = { 0 };
	const char *preset = r->o.profile;

	if (!preset && !r->o.events && r->config.given & KTAPE_CONFIG_EVENTS)
		return 0;
	if (!preset)
		preset = r->o.events ? "none" : "default";
	if (parse_event_list(r->command, preset, r->config.mask) ||
	    (r->o.events && parse_event_list(r->command, r->o.events, mask)))
		return EXIT_USAGE;
	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++)
		r->config.mask[i] |= mask[i];
	r->config.given |= KTAPE_CONFIG_EVENTS;
	return 0;
}

/*
 * Choose a number: that of the option, else of the file, else the default @usual.  Both @option and
 * @value, which --save writes, are set to it.  If it is NOT_GIVEN, as @usual may be, @value stays.
 */
static void settle_number(struct record *r, uint32_t what, uint64_t *option,
			  uint64_t *value, uint64_t usual)
{
	if (*option == NOT_GIVEN)
		*option = r->config.given & what ? *value : usual;
	if (*option == NOT_GIVEN)
		return;
	*value = *option;
	r->config.given |= what;
}

static int take_mode(struct record *r)
{
	struct ktape_config *c = &r->config;
	int mode = r->o.mode ? mode_parse(r->o.mode) : 0;

	if (mode < 0)
		return misuse(r->command, "-m needs discard, overwrite or snapshot");
	if (r->o.mode)
		c->mode = (uint32_t)mode;
	else if (!(c->given & KTAPE_CONFIG_MODE))
		c->mode = KTAPE_MODE_DISCARD;
	c->given |= KTAPE_CONFIG_MODE;
	r->discard = c->mode == KTAPE_MODE_DISCARD;
	return 0;
}

/**
 * record_configure() - make the configuration of the session
 * @r: recording with its options; @r->config is filled, the caller releases it
 *
 * Return: 0 or the exit code.
 */
int record_configure(struct record *r)
{
	struct record_options *o = &r->o;
	struct ktape_config *c = &r->config;
	int ret;

	if (o->save && !strcmp(o->save, "-") && o->output && !strcmp(o->output, "-"))
		return misuse(r->command,
			      "--save - and -o - cannot both use standard output");
	ret = o->config && o->save ?
		      output_check(o->save, (char *const *)&o->config, 1) :
		      0;
	if (!ret && o->config)
		ret = config_load(o->config, c);
	if (!ret)
		ret = take_mode(r);
	if (!ret)
		ret = take_events(r);
	if (!ret)
		ret = filter_options_read(r->command, &o->filters, c);
	if (!ret)
		ret = rkh_apply(r->command, &o->filters.rkh, NULL, c->mask, c);
	if (ret)
		return ret;
	settle_number(r, KTAPE_CONFIG_BUFFER, &o->ring_size, &c->buffer, RING_SIZE);
	settle_number(r, KTAPE_CONFIG_BLOCK, &o->block_size, &c->block, BLOCK_SIZE);
	settle_number(r, KTAPE_CONFIG_DURATION, &o->time, &c->duration, NOT_GIVEN);
	if (!o->ring_size || !o->block_size || o->block_size > KTAPE_BLOCK_MAX)
		return misuse(r->command,
			      "-b has to be at least 1 byte, and -B 1 to %u bytes",
			      KTAPE_BLOCK_MAX);
	return o->save ? config_save(o->save, c) : 0;
}
