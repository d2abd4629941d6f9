// SPDX-License-Identifier: GPL-2.0-only
/* ktape profile: show or change the events and filters that a session records. */
#include <stdio.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/control/control.h"
#include "tool/session/filters.h"
#include "tool/session/session.h"
#include "tool/shared/color.h"
#include "tool/shared/event_list.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

#define LIST_MAX      16384 /* bytes of the operands, joined to a list */
#define TEXT_WIDTH    80U   /* of the table of events */
#define EVENTS_COLUMN 21    /* where its column of events begins */

struct profile_options {
	bool json;
	bool no_context;
	const char *device;
	const char *session;
	const char *load;
	const char *save;
	struct filter_options filters;
	struct text_options text;
};

/**
 * struct profile - a request to show or change a profile
 * @o: options
 * @op: KTAPE_PROFILE_*
 * @masked: the events are changed
 * @changed: events or filters are changed
 * @p: the profile: as requested, then as the module has it
 * @config: filters: as requested, then as the module has them
 * @device: the session
 */
struct profile {
	struct profile_options o;
	unsigned int op;
	bool masked;
	bool changed;
	struct ktape_profile p;
	struct ktape_config config;
	struct ktape_device *device;
};

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct profile_options, json),
	  NULL, "show the result as JSON" },
	{ "no-context", 0, KT_OPT_FLAG, offsetof(struct profile_options, no_context),
	  NULL, "with set: do not record which thread runs" },
	{ "load", 'l', KT_OPT_TEXT, offsetof(struct profile_options, load),
	  "FILE", "set events and all filters from FILE" },
	{ "save", 's', KT_OPT_TEXT, offsetof(struct profile_options, save),
	  "FILE|-", "write the resulting profile and filters to FILE" },
	SESSION_OPTION(struct profile_options, session),
	FILTER_OPTIONS(struct profile_options, filters),
	{ "device", 0, KT_OPT_TEXT, offsetof(struct profile_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	COLOR_OPTION(struct profile_options, text),
	PAGER_OPTION(struct profile_options, text),
	{ .name = NULL },
};

static const struct {
	const char *name;
	unsigned int op;
} operations[] = {
	{ "set", KTAPE_PROFILE_SET },
	{ "or", KTAPE_PROFILE_OR },
	{ "andnot", KTAPE_PROFILE_ANDNOT },
};

/*
 * Parse [set|or|andnot] NAMES...; without an operation, NAMES are set.
 * Return: 0 or the exit code.
 */
static int read_operands(int argc, char **argv, unsigned int *op,
			 struct ktape_profile *p)
{
	uint64_t mask[KTAPE_MASK_WORDS];
	char list[LIST_MAX] = "";
	size_t len = 0;
	int i = 0;

	*op = argc ? KTAPE_PROFILE_SET : KTAPE_PROFILE_GET;
	for (size_t k = 0; argc && k < KT_ARRAY_SIZE(operations); k++) {
		if (!strcmp(argv[0], operations[k].name)) {
			*op = operations[k].op;
			i = 1;
		}
	}
	if (i == 1 && argc == 1)
		return misuse(&command_profile, "%s: missing NAMES of events",
			      argv[0]);
	/* Join the operands to one list: "!NAME" removes NAME from the entries before it. */
	for (; i < argc; i++) {
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
					len ? "," : "", argv[i]);
		if (len >= sizeof(list))
			return misuse(&command_profile,
				      "the list of names is too long");
	}
	if (parse_event_list(&command_profile, list, mask))
		return EXIT_USAGE;
	memcpy(p->mask, mask, sizeof(mask));
	return 0;
}

static void print_profile_json(const struct profile *r)
{
	const struct ktape_profile *p = &r->p;
	const char *comma = "";

	printf("{\"generation\":%u,\"context\":%s,\"mask\":\"0x%016llx%016llx%016llx%016llx\",\"events\":[",
	       p->generation, p->flags & KTAPE_PROFILE_NO_CONTEXT ? "false" : "true",
	       (unsigned long long)p->mask[3], (unsigned long long)p->mask[2],
	       (unsigned long long)p->mask[1], (unsigned long long)p->mask[0]);
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (!d || !kt_mask_has(r->config.mask, i))
			continue;
		fputs(comma, stdout);
		put_json_text(d->name);
		comma = ",";
	}
	fputs("],\"filters\":{", stdout);
	put_filters(&r->config, true);
	puts("}}");
}

/* Print a name in the column of events, on a new line if it does not fit. */
static void print_event(const char *name, unsigned int *column)
{
	unsigned int len = (unsigned int)strlen(name);

	if (*column + 1 + len > TEXT_WIDTH) {
		printf("\n%*s", EVENTS_COLUMN, "");
		*column = EVENTS_COLUMN;
	}
	printf(" %s%s%s", role_begin(ROLE_EVENT), name, role_end());
	*column += 1 + len;
}

/* Print the recorded events of a class as a row. */
static void print_class(const struct profile *r, unsigned int number)
{
	const struct ktape_class_desc *c = ktape_class_desc(number);
	unsigned int column = EVENTS_COLUMN, all = 0, recorded = 0;
	const struct ktape_event_desc *d;

	for (unsigned int i = 0; i < KTAPE_TIME_EXTEND; i++) {
		d = ktape_event_desc(i);
		if (!d || d->event_class != number)
			continue;
		all++;
		recorded += kt_mask_has(r->config.mask, i);
	}
	if (!c || !recorded)
		return;
	printf("%-10s %3u of %3u", c->name, recorded, all);
	for (unsigned int i = 0; i < KTAPE_TIME_EXTEND; i++) {
		d = ktape_event_desc(i);
		if (d && d->event_class == number && kt_mask_has(r->config.mask, i))
			print_event(d->name, &column);
	}
	putchar('\n');
}

/* Print events that only the module knows, by their numbers. */
static void print_unknown(const struct profile *r)
{
	unsigned int column = EVENTS_COLUMN;
	char name[24];

	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		if (!kt_mask_has(r->config.mask, i) || ktape_event_desc(i))
			continue;
		if (column == EVENTS_COLUMN)
			printf("%-*s", EVENTS_COLUMN, "(unknown)");
		snprintf(name, sizeof(name), "opcode_%u", i);
		print_event(name, &column);
	}
	if (column > EVENTS_COLUMN)
		putchar('\n');
}

static void print_profile_text(const struct profile *r)
{
	pager_start(&r->o.text);
	printf("%s%-*s %s%s\n", role_begin(ROLE_HEAD), EVENTS_COLUMN,
	       "class       recorded", "events", role_end());
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		print_class(r, i);
	print_unknown(r);
	put_filters(&r->config, false);
}

/* Check options and operands without the module.  Return: 0 or the exit code. */
static int prepare_profile(struct profile *r, int argc, char **argv)
{
	const struct profile_options *o = &r->o;
	int ret;

	ret = read_operands(argc, argv, &r->op, &r->p);
	if (ret)
		return ret;
	r->masked = r->op != KTAPE_PROFILE_GET;
	if (o->json && o->save && !strcmp(o->save, "-"))
		return misuse(&command_profile,
			      "--save - and --json cannot both use standard output");
	if (o->load && r->masked)
		return misuse(&command_profile,
			      "--load and NAMES exclude each other");
	if (o->no_context && r->op != KTAPE_PROFILE_SET)
		return misuse(&command_profile, "--no-context needs set");
	if (o->load) {
		ret = o->save ? output_check(o->save, (char *const *)&o->load, 1) :
				0;
		if (!ret)
			ret = config_load(o->load, &r->config);
		if (ret)
			return ret;
		if (r->config.given & KTAPE_CONFIG_SESSION)
			note("%s: mode, buffer, block and duration are ignored: only ktape record uses them",
			     o->load);
		r->masked = r->config.given & KTAPE_CONFIG_EVENTS;
		r->op = r->masked ? KTAPE_PROFILE_SET : KTAPE_PROFILE_GET;
		memcpy(r->p.mask, r->config.mask, sizeof(r->p.mask));
	}
	if (o->no_context ||
	    (r->config.given & KTAPE_CONFIG_CONTEXT && !r->config.context))
		r->p.flags = KTAPE_PROFILE_NO_CONTEXT;
	r->changed = r->masked || o->load || filter_options_given(&o->filters);
	return filter_options_read(&command_profile, &o->filters, &r->config);
}

/*
 * Compute the requested profile where it depends on the current one; after that it only has to be
 * set.  Return: 0 or the exit code.
 */
static int merge_current(struct profile *r)
{
	struct ktape_profile now = { .flags = 0 };
	uint64_t mask[KTAPE_MASK_WORDS];
	int err, ret;

	err = ktape_device_profile(r->device, KTAPE_PROFILE_GET, &now);
	if (err)
		return fail("cannot read the profile: %s", strerror(-err));
	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++) {
		if (r->op == KTAPE_PROFILE_ANDNOT)
			r->p.mask[i] = now.mask[i] & ~r->p.mask[i];
		else if (r->op != KTAPE_PROFILE_SET)
			r->p.mask[i] |= now.mask[i];
	}
	if (r->op != KTAPE_PROFILE_SET && !(r->config.given & KTAPE_CONFIG_CONTEXT))
		r->p.flags = now.flags;
	r->op = KTAPE_PROFILE_SET;
	memcpy(mask, r->p.mask, sizeof(mask));
	ret = rkh_apply(&command_profile, &r->o.filters.rkh, r->device, mask,
			&r->config);
	memcpy(r->p.mask, mask, sizeof(mask));
	return ret;
}

static int change_profile_mask(struct profile *r)
{
	uint64_t mask[KTAPE_MASK_WORDS];
	int err;

	memcpy(mask, r->p.mask, sizeof(mask));
	err = ktape_device_profile(r->device, r->op, &r->p);
	return err ? report_profile_refused(r->device, mask, err) : 0;
}

/* Change filters and events; restore the filters if either fails. */
static int change_all(struct profile *r)
{
	struct ktape_config before = { .given = 0 };
	int ret = filters_get(r->device, &before);

	if (!ret) {
		ret = filters_apply(r->device, &r->config, r->o.load);
		if (!ret)
			ret = change_profile_mask(r);
		if (ret)
			filters_put_back(r->device, &before);
	}
	ktape_config_release(&before);
	return ret;
}

/* Change what is requested, then read the result.  Return: 0 or the exit code. */
static int change_profile(struct profile *r)
{
	int ret = 0;

	/* RKH's options and a file without events change what the session has. */
	if (r->o.filters.rkh.nr ||
	    (r->config.given & KTAPE_CONFIG_CONTEXT && !r->masked))
		ret = merge_current(r);
	if (!ret && r->changed)
		ret = change_all(r);
	else if (!ret)
		ret = change_profile_mask(r); /* KTAPE_PROFILE_GET: only read it */
	if (ret)
		return ret;
	ret = filters_get(r->device, &r->config);
	memcpy(r->config.mask, r->p.mask, sizeof(r->config.mask));
	r->config.context = !(r->p.flags & KTAPE_PROFILE_NO_CONTEXT);
	r->config.given = KTAPE_CONFIG_EVENTS | KTAPE_CONFIG_CONTEXT;
	return ret;
}

static int cmd_profile(int argc, char **argv)
{
	struct profile r = { .op = KTAPE_PROFILE_GET };
	int first, ret;

	ret = kt_options(&command_profile, argc, argv, &r.o, &first);
	if (ret >= 0)
		return ret;
	ret = color_start(&command_profile, &r.o.text);
	if (!ret)
		ret = prepare_profile(&r, argc - first, argv + first);
	if (!ret && open_named(r.o.device, r.o.session, r.changed, &r.device))
		ret = EXIT_FAILED;
	if (!ret)
		ret = change_profile(&r);
	if (!ret && r.o.save)
		ret = config_save(r.o.save, &r.config);
	if (!ret && r.o.json)
		print_profile_json(&r);
	else if (!ret && !r.changed && !r.o.save)
		print_profile_text(&r);
	ktape_device_close(r.device);
	ktape_config_release(&r.config);
	return ret ? ret : finish_stdout();
}

const struct kt_command command_profile = {
	.name = "profile",
	.operands = "[[set|or|andnot] NAMES...]",
	.help = "show or change what a session records: events and filters",
	.more = "NAMES are events, classes, globs, masks (0x...) or presets\n"
		"(none, default, all).  \"!\" before a name removes it; so it does in\n"
		"the lists of --cpu to --signal.\n",
	.options = options,
	.run = KT_RUN(cmd_profile),
};
