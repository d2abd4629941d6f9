// SPDX-License-Identifier: GPL-2.0-only
/* ktape list: list events, their fields, and whether this system can record them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "opt.h"
#include "tool.h"

struct list_options {
	bool json;
	bool fields;
	bool unavailable;
	const char *device;
};

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct list_options, json), NULL,
	  "as a JSON array" },
	{ "fields", 'f', KT_OPT_FLAG, offsetof(struct list_options, fields),
	  NULL, "also show the fields and sources of each event" },
	{ "unavailable", 'u', KT_OPT_FLAG,
	  offsetof(struct list_options, unavailable), NULL,
	  "only events that cannot be recorded here" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct list_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

enum {
	ON_REQUEST = 1,
	IMPLIED = 2
};

/* By opcode, what selects an event for a profile; 0: its class or a preset. */
static const unsigned char comes[KTAPE_OPCODES] = {
#define KTAPE_ON_REQUEST(NAME) [KTAPE_EV_##NAME] = ON_REQUEST,
#define KTAPE_IMPLIED(NAME) [KTAPE_EV_##NAME] = IMPLIED,
#include <ktape/events.h>
};

/* Return true for events that are only recorded if named, which probes are as well. */
static bool is_on_request(unsigned int opcode)
{
	return comes[opcode] == ON_REQUEST || opcode >= KTAPE_OP_PROBE;
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
 * @reason: why it is not known or not available
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

/* Read the n-th tracepoint or notifier of an event, if the module knows it. */
static bool next_source(struct ktape_device *device, bool known,
			unsigned int opcode, unsigned int n,
			struct ktape_event_info *e)
{
	return known && !ktape_device_event_source(device, opcode, n, e);
}

static void print_sources(struct ktape_device *device, unsigned int opcode,
			  bool known)
{
	struct ktape_event_info e;

	for (unsigned int n = 1; next_source(device, known, opcode, n, &e);
	     n++) {
		printf("        from %-9s %s", e.name,
		       e.state == KTAPE_EVENT_AVAILABLE ? "yes" : "no");
		if (*e.reason)
			printf(" [%s]", e.reason);
		putchar('\n');
	}
}

static void print_text(struct ktape_device *device,
		       const struct ktape_event_desc *d,
		       const struct availability *a, bool fields)
{
	const struct ktape_class_desc *c = ktape_class_desc(d->event_class);

	printf("%3u %-19s %-9s %u %-4s %s", d->opcode, d->name, c->name,
	       c->priority,
	       !a->known    ? "?" :
	       a->available ? "yes" :
			      "no",
	       d->help);
	if (!a->available)
		printf(" [%s]", a->reason);
	putchar('\n');
	if (!fields)
		return;
	print_fields(d);
	print_sources(device, d->opcode, a->known);
}

static void print_member(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	put_json_text(text);
}

static const char *type_of(const struct ktape_field *f)
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
	for (unsigned int n = 1; next_source(device, known, opcode, n, &e);
	     n++) {
		printf("%s{\"name\":", n > 1 ? "," : "");
		put_json_text(e.name);
		printf(",\"available\":%s,\"attached\":%s",
		       json_bool(e.state == KTAPE_EVENT_AVAILABLE),
		       json_bool(e.attached));
		print_member("reason", e.reason);
		putchar('}');
	}
	putchar(']');
}

static void print_json(struct ktape_device *device,
		       const struct ktape_event_desc *d,
		       const struct availability *a)
{
	const char *comma = "";

	printf("{\"opcode\":%u", d->opcode);
	print_member("name", d->name);
	print_member("class", ktape_class_desc(d->event_class)->name);
	printf(",\"priority\":%u", ktape_class_desc(d->event_class)->priority);
	print_member("help", d->help);
	printf(",\"on_request\":%s,\"implied\":%s",
	       json_bool(is_on_request(d->opcode)),
	       json_bool(comes[d->opcode] == IMPLIED));
	printf(",\"available\":%s",
	       a->known ? json_bool(a->available) : "null");
	printf(",\"attached\":%s", a->known ? json_bool(a->attached) : "null");
	print_member("reason", a->available ? "" : a->reason);
	printf(",\"fields\":[");
	for (unsigned int i = 0; i < d->nr_fields; i++) {
		const struct ktape_field *f = &d->fields[i];

		if (f->place == KTAPE_PLACE_BLOB)
			continue;
		printf("%s{\"name\":", comma);
		put_json_text(f->name);
		print_member("type", type_of(f));
		print_member("help", f->help);
		putchar('}');
		comma = ",";
	}
	putchar(']');
	print_json_sources(device, d->opcode, a->known);
	putchar('}');
}

static int cmd_list(int argc, char **argv)
{
	struct list_options o = { .json = false };
	struct ktape_device *device = NULL;
	struct availability a;
	const char *comma = "[\n";
	int first, no_device = 0, ret;

	ret = kt_options(&command_list, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (first != argc)
		return misuse(&command_list, "list takes no operands");
	if (o.device && open_device(o.device, false, &device))
		return EXIT_FAILED;
	if (!o.device)
		no_device = ktape_device_open(NULL, false, &device);
	if (no_device)
		device = NULL;
	if (no_device && no_device != -ENOENT)
		note("%s: %s: cannot tell which events can be recorded",
		     KTAPE_DEVICE_PATH, strerror(-no_device));
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (!d || i == KTAPE_TIME_EXTEND)
			continue;
		look_up_event(device, no_device, i, &a);
		if (o.unavailable && a.available)
			continue;
		if (o.json) {
			fputs(comma, stdout);
			print_json(device, d, &a);
			comma = ",\n";
		} else {
			print_text(device, d, &a, o.fields);
		}
	}
	if (o.json)
		puts(*comma == '[' ? "[\n]" : "\n]");
	ktape_device_close(device);
	return finish_stdout();
}

const struct kt_command command_list = {
	.name = "list",
	.operands = "",
	.help = "list the events and whether they can be recorded here",
	.options = options,
	.run = KT_RUN(cmd_list),
};
