// SPDX-License-Identifier: GPL-2.0-only
/* ktape start: start a session, and create it if it does not exist. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"

#include "tool/control/control.h"
#include "tool/session/filters.h"
#include "tool/session/session.h"
#include "tool/shared/event_list.h"
#include "tool/shared/message.h"

struct start_options {
	const char *device;
	const char *mode;
	const char *profile;
	const char *events;
	uint64_t ring_size;
	uint64_t block_size;
	uint64_t control_size;
	uint64_t stall;
	struct filter_options filters;
};

#define OPT(member) offsetof(struct start_options, member)

static const struct kt_option options[] = {
	{ "mode", 'm', KT_OPT_TEXT, OPT(mode), "MODE",
	  "overwrite (default), discard or snapshot" },
	{ "profile", 'p', KT_OPT_TEXT, OPT(profile), "MASK",
	  "none, default, all or a 0x mask; default without -e" },
	{ "events", 'e', KT_OPT_TEXT, OPT(events), "LIST",
	  "events, classes, globs, comma separated" },
	{ "size", 'b', KT_OPT_SIZE, OPT(ring_size), "SIZE",
	  "ring size of each CPU (default 1M)" },
	{ "block", 'B', KT_OPT_SIZE, OPT(block_size), "SIZE",
	  "block size (default 64K, less in small rings)" },
	{ "control", 0, KT_OPT_SIZE, OPT(control_size), "SIZE",
	  "control ring size of each CPU (default 64K; discard: 1/8 of --size)" },
	{ "stall", 0, KT_OPT_TIME, OPT(stall), "TIME",
	  "discard: wait this long for a reader that stalls" },
	FILTER_OPTIONS(struct start_options, filters),
	{ "device", 0, KT_OPT_TEXT, OPT(device), "PATH",
	  "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

/**
 * struct start - a session to be started or created
 * @o: options
 * @create: request to create it
 * @config: its filters, and its events as in @profile
 * @profile: its events
 * @session: the session, once it is open
 */
struct start {
	struct start_options o;
	struct ktape_create create;
	struct ktape_config config;
	struct ktape_profile profile;
	struct ktape_device *session;
};

static bool has_start_options(const struct start_options *o)
{
	return o->mode || o->profile || o->events || o->ring_size ||
	       o->block_size || o->control_size || o->stall ||
	       filter_options_given(&o->filters);
}

/* Fill @s from the options, without asking the module.  Return: 0 or the exit code. */
static int read_start_options(struct start *s, const char *name)
{
	const struct start_options *o = &s->o;
	uint64_t mask[KTAPE_MASK_WORDS] = { 0 }, more[KTAPE_MASK_WORDS] = { 0 };
	int mode = o->mode ? mode_parse(o->mode) : KTAPE_MODE_OVERWRITE;
	int ret;

	if (mode < 0)
		return misuse(&command_start,
			      "-m needs overwrite, discard or snapshot");
	if (strlen(name) >= sizeof(s->create.name))
		return misuse(&command_start,
			      "\"%s\" is too long for a session name", name);
	if (o->block_size > KTAPE_BLOCK_MAX)
		return misuse(&command_start, "-B can be at most %u bytes",
			      KTAPE_BLOCK_MAX);
	if (o->stall / NS_PER_MS > UINT32_MAX)
		return misuse(&command_start, "--stall is too long");
	s->create.mode = (uint32_t)mode;
	s->create.ring_size = o->ring_size;
	s->create.block_size = (uint32_t)o->block_size;
	s->create.control_size = o->control_size;
	s->create.flags = KTAPE_CREATE_LINGER; /* it stays when this command has ended */
	snprintf(s->create.name, sizeof(s->create.name), "%s", name);
	if (parse_event_list(&command_start,
			     o->profile ? o->profile :
			     o->events	? "none" :
					  "default",
			     mask) ||
	    (o->events && parse_event_list(&command_start, o->events, more)))
		return EXIT_USAGE;
	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++)
		mask[i] |= more[i];
	ret = filter_options_read(&command_start, &o->filters, &s->config);
	if (!ret)
		ret = rkh_apply(&command_start, &o->filters.rkh, NULL, mask,
				&s->config);
	memcpy(s->profile.mask, mask, sizeof(mask));
	memcpy(s->config.mask, mask, sizeof(mask));
	return ret;
}

/* Set filters, policy and profile, and start.  Return: 0 or the exit code. */
static int set_up_session(struct start *s)
{
	struct ktape_policy policy;
	int err = 0;

	if (filters_apply(s->session, &s->config, false))
		return EXIT_FAILED;
	if (s->o.stall) {
		err = ktape_device_policy(s->session, KTAPE_POLICY_GET, &policy);
		policy.stall_ms = (uint32_t)kt_max(s->o.stall / NS_PER_MS, 1);
		if (!err)
			err = ktape_device_policy(s->session, KTAPE_POLICY_SET,
						  &policy);
		if (err)
			return fail("cannot set --stall: %s", strerror(-err));
	}
	err = ktape_device_profile(s->session, KTAPE_PROFILE_SET, &s->profile);
	if (err)
		return report_profile_refused(s->session, s->config.mask, err);
	err = ktape_device_start(s->session);
	return err ? fail("cannot start the session: %s", strerror(-err)) : 0;
}

static int make_named_session(struct start *s, struct ktape_device *device)
{
	uint64_t events[KTAPE_MASK_WORDS];
	int ret, err = session_create(device, &s->create, s->config.mask,
				      &s->session);

	if (err)
		return session_refused(device, &s->create, err);
	report_sizes(s->session, &s->create);
	if (s->o.events && !ktape_mask_parse(s->o.events, events, NULL))
		report_unavailable(s->session, s->o.events, events);
	report_no_log(s->session, s->o.events, s->config.mask);
	ret = set_up_session(s);
	if (ret)
		ktape_device_destroy(device, s->create.name);
	return ret;
}

/* Start a session, after creating it if needed.  A name of digits is a number: not created. */
static int start_named(struct start *s, const char *name)
{
	struct ktape_device *device;
	int err, ret;

	if (open_device(s->o.device, true, &device))
		return EXIT_FAILED;
	err = ktape_device_attach(device, name, true, &s->session);
	if (err == -ENOENT && name[strspn(name, "0123456789")]) {
		ret = make_named_session(s, device);
	} else if (err) {
		ret = fail("session %s: %s", name, strerror(-err));
	} else if (has_start_options(&s->o)) {
		ret = fail("session \"%s\" already exists: change what it records with ktape profile -S %s",
			   name, name);
	} else {
		err = ktape_device_start(s->session);
		ret = err ? fail("cannot start the session: %s", strerror(-err)) :
			    EXIT_OK;
	}
	ktape_device_close(device);
	return ret;
}

static int start_session_0(struct start *s)
{
	int err;

	if (has_start_options(&s->o))
		return misuse(&command_start,
			      "options set up a new session, which needs a NAME");
	if (open_device(s->o.device, true, &s->session))
		return EXIT_FAILED;
	err = ktape_device_start(s->session);
	return err ? fail("cannot start the session: %s", strerror(-err)) : EXIT_OK;
}

static int cmd_start(int argc, char **argv)
{
	struct start s = { .session = NULL };
	int first, ret;

	ret = kt_options(&command_start, argc, argv, &s.o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first > 1)
		return misuse(&command_start,
			      "too many operands: give at most one NAME");
	if (first == argc) {
		ret = start_session_0(&s);
	} else {
		ret = read_start_options(&s, argv[first]);
		if (!ret)
			ret = start_named(&s, argv[first]);
	}
	ktape_device_close(s.session);
	ktape_config_release(&s.config);
	return ret;
}

const struct kt_command command_start = {
	.name = "start",
	.operands = "[NAME]",
	.help = "start a session, and create it if it does not exist",
	.more = "Without NAME, session 0 is started.  A session that was created stays until\n"
		"ktape destroy, also when the command that created it has ended.\n",
	.options = options,
	.run = KT_RUN(cmd_start),
};
