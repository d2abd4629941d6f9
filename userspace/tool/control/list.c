// SPDX-License-Identifier: GPL-2.0-only
/* ktape list: list events, their fields, and whether this system can record them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool/control/control.h"
#include "tool/session/session.h"
#include "tool/shared/color.h"
#include "tool/shared/event_list.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"
#include "util/bits.h"

struct list_options {
	bool json;
	bool fields;
	bool unavailable;
	const char *device;
	struct text_options text;
};

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct list_options, json), NULL,
	  "as a JSON array" },
	{ "fields", 'f', KT_OPT_FLAG, offsetof(struct list_options, fields),
	  NULL, "also show the fields and sources of each event" },
	{ "verbose", 'v', KT_OPT_FLAG, offsetof(struct list_options, fields),
	  NULL, "the same as --fields" },
	{ "unavailable", 'u', KT_OPT_FLAG, offsetof(struct list_options, unavailable),
	  NULL, "only events that cannot be recorded here" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct list_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	COLOR_OPTION(struct list_options, text),
	PAGER_OPTION(struct list_options, text),
	{ .name = NULL },
};

/*
 * enum - what puts an event into a profile
 * @ON_REQUEST: only its own name, no class or preset
 * @IMPLIED: not its name either: it comes with a gate (*_span), with stacks (kernel_stack), or
 *	with run-time probes (missed)
 */
enum { ON_REQUEST = 1, IMPLIED = 2 };

/* By opcode; 0: its name, its class or a preset selects the event. */
static const unsigned char selected_by[KTAPE_OPCODES] = {
#define KTAPE_ON_REQUEST(NAME) [KTAPE_EV_##NAME] = ON_REQUEST,
#define KTAPE_IMPLIED(NAME)    [KTAPE_EV_##NAME] = IMPLIED,
#include <ktape/events.h>
};

/* Return true for events that are recorded only if they are named, as all run-time probes are. */
static bool is_on_request(unsigned int opcode)
{
	return selected_by[opcode] == ON_REQUEST || opcode >= KTAPE_OP_PROBE;
}

static const char *json_bool(bool value)
{
	return value ? "true" : "false";
}

/**
 * struct availability - whether an event can be recorded
 * @known: the module knows the event
 * @available: it can be recorded
 * @attached: its probe is attached
 * @reason: why it is not known or not available, or a restriction
 * @info: what the module says about it
 */
struct availability {
	bool known;
	bool available;
	bool attached;
	const char *reason;
	struct ktape_event_info info;
};

/* Ask the module about an event.  @no_device: negative errno why there is no device. */
static void look_up_event(struct ktape_device *device, int no_device,
			  unsigned int opcode, struct availability *a)
{
	int err;

	memset(a, 0, sizeof(*a));
	a->reason = strerror(-no_device);
	if (no_device == -ENOENT)
		a->reason = "the module is not loaded";
	if (!device)
		return;
	err = ktape_device_event_info(device, opcode, &a->info);
	if (err) {
		a->reason = strerror(-err);
		return;
	}
	a->known = true;
	a->available = a->info.state == KTAPE_EVENT_AVAILABLE;
	a->attached = a->info.attached;
	a->reason = a->info.reason;
}

static void print_fields(const struct ktape_event_desc *d)
{
	for (unsigned int i = 0; i < d->nr_fields; i++) {
		const struct ktape_field *f = &d->fields[i];

		if (f->place != KTAPE_PLACE_BLOB)
			printf("        %-14s %s\n", f->name, f->help);
	}
}

/* Read the n-th tracepoint or notifier of an event, from 1, if the module knows the event. */
static bool next_source(struct ktape_device *device, bool known, unsigned int opcode,
			unsigned int n, struct ktape_event_info *e)
{
	return known && !ktape_device_event_source(device, opcode, n, e);
}

static void print_reason(const char *reason)
{
	fputs(" [", stdout);
	put_shown(stdout, reason);
	putchar(']');
}

static void print_sources(struct ktape_device *device, unsigned int opcode, bool known)
{
	struct ktape_event_info e;

	for (unsigned int n = 1; next_source(device, known, opcode, n, &e); n++) {
		printf("        from %-9s %s", e.name,
		       e.state == KTAPE_EVENT_AVAILABLE ? "yes" : "no");
		if (*e.reason)
			print_reason(e.reason);
		putchar('\n');
	}
}

/* Print an event as a row of the table. */
static void print_list_text(struct ktape_device *device,
			    const struct ktape_event_desc *d,
			    const struct availability *a, bool fields)
{
	const char *here = !a->known ? "?" : a->available ? "yes" : "no";
	enum kt_role role = a->available ? ROLE_GOOD : ROLE_LOSS;

	printf("  %s%-20s%s %3u %s%-4s%s %s", role_begin(ROLE_EVENT), d->name,
	       role_end(), d->opcode, role_begin(role), here, role_end(), d->help);
	if (device && *a->reason)
		print_reason(a->reason);
	putchar('\n');
	if (!fields)
		return;
	print_fields(d);
	print_sources(device, d->opcode, a->known);
}

static void print_list_member(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	put_json_text(text);
}

static const char *type_of_field(const struct ktape_field *f)
{
	switch (f->place) {
	case KTAPE_PLACE_TEXT:
		return "text";
	case KTAPE_PLACE_BYTES:
		return "bytes";
	default:
		return ktape_type_name(f->type);
	}
}

static void print_json_sources(struct ktape_device *device, unsigned int opcode,
			       bool known)
{
	struct ktape_event_info e;

	printf(",\"sources\":[");
	for (unsigned int n = 1; next_source(device, known, opcode, n, &e); n++) {
		printf("%s{\"name\":", n > 1 ? "," : "");
		put_json_text(e.name);
		printf(",\"available\":%s,\"attached\":%s",
		       json_bool(e.state == KTAPE_EVENT_AVAILABLE),
		       json_bool(e.attached));
		print_list_member("reason", e.reason);
		putchar('}');
	}
	putchar(']');
}

static void print_list_json(struct ktape_device *device,
			    const struct ktape_event_desc *d,
			    const struct availability *a)
{
	const char *comma = "";

	printf("{\"opcode\":%u", d->opcode);
	print_list_member("name", d->name);
	print_list_member("class", ktape_class_desc(d->event_class)->name);
	printf(",\"priority\":%u", ktape_class_desc(d->event_class)->priority);
	print_list_member("help", d->help);
	printf(",\"on_request\":%s,\"implied\":%s",
	       json_bool(is_on_request(d->opcode)),
	       json_bool(selected_by[d->opcode] == IMPLIED));
	printf(",\"available\":%s", a->known ? json_bool(a->available) : "null");
	printf(",\"attached\":%s", a->known ? json_bool(a->attached) : "null");
	print_list_member("reason", a->reason);
	printf(",\"fields\":[");
	for (unsigned int i = 0; i < d->nr_fields; i++) {
		const struct ktape_field *f = &d->fields[i];

		if (f->place == KTAPE_PLACE_BLOB)
			continue;
		printf("%s{\"name\":", comma);
		put_json_text(f->name);
		print_list_member("type", type_of_field(f));
		print_list_member("help", f->help);
		putchar('}');
		comma = ",";
	}
	putchar(']');
	print_json_sources(device, d->opcode, a->known);
	putchar('}');
}

/**
 * struct list - a list of events
 * @o: options
 * @mask: the events that may be listed
 * @device: the device, or NULL
 * @no_device: negative errno why there is no device
 * @shown: events printed
 */
struct list {
	struct list_options o;
	uint64_t mask[KTAPE_MASK_WORDS];
	struct ktape_device *device;
	int no_device;
	unsigned int shown;
};

/*
 * Look an event up.  Return: its description with @a, or NULL if it is not to be listed.  Nobody
 * asks for the record that extends times, so it is never listed.
 */
static const struct ktape_event_desc *next_listed_event(const struct list *l,
							unsigned int opcode,
							struct availability *a)
{
	const struct ktape_event_desc *d = ktape_event_desc(opcode);

	if (!d || opcode == KTAPE_TIME_EXTEND || !kt_mask_has(l->mask, opcode))
		return NULL;
	look_up_event(l->device, l->no_device, opcode, a);
	return l->o.unavailable && a->available ? NULL : d;
}

static void list_json(struct list *l)
{
	const struct ktape_event_desc *d;
	struct availability a;

	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		d = next_listed_event(l, i, &a);
		if (!d)
			continue;
		fputs(l->shown++ ? ",\n" : "[\n", stdout);
		print_list_json(l->device, d, &a);
	}
	puts(l->shown ? "\n]" : "[\n]");
}

/* List the events of a class below a line about the class. */
static void list_class(struct list *l, unsigned int number)
{
	const struct ktape_class_desc *c = ktape_class_desc(number);
	const struct ktape_event_desc *d;
	struct availability a;
	bool begun = false;

	for (unsigned int i = 0; c && i < KTAPE_OPCODES; i++) {
		d = ktape_event_desc(i);
		if (!d || d->event_class != number || !next_listed_event(l, i, &a))
			continue;
		if (!begun)
			printf("\n%s%s%s: %s, priority %u\n", role_begin(ROLE_HEAD),
			       c->name, role_end(), c->help, c->priority);
		begun = true;
		l->shown++;
		print_list_text(l->device, d, &a, l->o.fields);
	}
}

static void list_text(struct list *l)
{
	const char *what =
		l->no_device == -ENOENT ?
			"what it records (?: only the module knows, which is not loaded)" :
			"what it records, and why it is not here";

	pager_start(&l->o.text);
	printf("%s  %-20s %3s %-4s %s%s\n", role_begin(ROLE_HEAD), "event",
	       "nr", "here", what, role_end());
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		list_class(l, i);
}

/*
 * Take the events that the operands name, each as in -e of dump.  Without an operand: all.
 * Return: 0 or the exit code.
 */
static int read_listed_events(struct list *l, int nr, char **lists)
{
	uint64_t mask[KTAPE_MASK_WORDS];
	const char *bad;

	memset(l->mask, nr ? 0 : 0xff, sizeof(l->mask));
	for (int i = 0; i < nr; i++) {
		bad = lists[i];
		if (ktape_mask_parse_shown(lists[i], mask, &bad))
			return unknown_event(&command_list, bad);
		for (unsigned int w = 0; w < KTAPE_MASK_WORDS; w++)
			l->mask[w] |= mask[w];
	}
	return 0;
}

static int cmd_list(int argc, char **argv)
{
	struct list l = { .device = NULL };
	int first, ret;

	ret = kt_options(&command_list, argc, argv, &l.o, &first);
	if (ret >= 0)
		return ret;
	ret = read_listed_events(&l, argc - first, argv + first);
	if (ret)
		return ret;
	ret = color_start(&command_list, &l.o.text);
	if (ret)
		return ret;
	if (l.o.device && open_device(l.o.device, false, &l.device))
		return EXIT_FAILED;
	if (!l.o.device)
		l.no_device = ktape_device_open(NULL, false, &l.device);
	if (l.no_device)
		l.device = NULL;
	if (l.no_device && l.no_device != -ENOENT)
		note("%s: %s: cannot find out which events can be recorded",
		     KTAPE_DEVICE_PATH, strerror(-l.no_device));
	if (l.o.json)
		list_json(&l);
	else
		list_text(&l);
	ktape_device_close(l.device);
	return finish_stdout();
}

const struct kt_command command_list = {
	.name = "list",
	.operands = "[LIST...]",
	.help = "list the events and whether they can be recorded here",
	.options = options,
	.run = KT_RUN(cmd_list),
};
