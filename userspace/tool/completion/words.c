// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion: print the words of a kind, one a line, with a tabulator and a description
 * where there is one.  What cannot be read is left out without a message, because the
 * user is typing a command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/completion/completion.h"
#include "tool/session/session.h"
#include "tool/shared/text.h"

#define NAMES_MAX 1024U /* more than there are system calls */

static void put_help_word(const char *word, const char *help)
{
	put_shown(stdout, word);
	if (help && *help)
		printf("\t%s", help);
	putchar('\n');
}

static void put_command_words(void)
{
	const struct kt_command *c;

	for (unsigned int i = 0; (c = kt_command(i)); i++)
		put_help_word(c->name, c->help);
	put_help_word("help", KT_HELP_OF_HELP);
}

static void put_classes(void)
{
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		const struct ktape_class_desc *c = ktape_class_desc(i);

		if (c)
			put_help_word(c->name, "class");
	}
}

static void put_group_words(void)
{
	put_help_word("default", "preset");
	put_help_word("all", "preset");
	put_help_word("none", "preset");
	put_classes();
}

static void put_event_words(void)
{
	put_group_words();
	for (unsigned int i = 0; i < KTAPE_TIME_EXTEND; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (d)
			put_help_word(d->name, d->help);
	}
}

/* Return what a probe records, from the module. */
static const char *symbol_of(struct ktape_device *device, unsigned int opcode,
			     struct ktape_probe *p)
{
	*p = (struct ktape_probe){ .opcode = (uint8_t)opcode };
	return ktape_device_probe(device, KTAPE_PROBE_GET, p) ? "" : p->symbol;
}

/*
 * Put an event if the module can record it.  Without a module put each event of the table,
 * but no run-time probe.
 */
static void put_recordable_event(struct ktape_device *device,
				 const struct ktape_event_desc *d)
{
	bool probe = d->opcode >= KTAPE_OP_PROBE;
	struct ktape_event_info info;
	struct ktape_probe p;

	if (!device) {
		if (!probe)
			put_help_word(d->name, d->help);
		return;
	}
	if (ktape_device_event_info(device, d->opcode, &info) ||
	    info.state != KTAPE_EVENT_AVAILABLE)
		return;
	put_help_word(d->name, probe ? symbol_of(device, d->opcode, &p) : d->help);
}

static void put_recordable(void)
{
	struct ktape_device *device = NULL;

	if (ktape_device_open(NULL, false, &device))
		device = NULL;
	put_group_words();
	for (unsigned int i = 0; i < KTAPE_TIME_EXTEND; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (d)
			put_recordable_event(device, d);
	}
	ktape_device_close(device);
}

static void put_probes(void)
{
	struct ktape_device *device = NULL;
	struct ktape_probe p;

	if (ktape_device_open(NULL, false, &device))
		return;
	for (unsigned int i = 0; i < KTAPE_PROBES; i++) {
		const struct ktape_event_desc *d =
			ktape_event_desc(KTAPE_OP_PROBE + i);
		const char *symbol = symbol_of(device, KTAPE_OP_PROBE + i, &p);

		if (d && *symbol)
			put_help_word(d->name, symbol);
	}
	ktape_device_close(device);
}

static void put_session(const struct ktape_session_info *s)
{
	char number[16], help[64];

	if (s->flags & KTAPE_SESSION_GONE)
		return;
	snprintf(number, sizeof(number), "%u", s->id);
	snprintf(help, sizeof(help), "%s, %s", mode_name(s->mode),
		 s->flags & KTAPE_SESSION_RUNNING ? "running" : "stopped");
	put_help_word(*s->name ? s->name : number, help);
}

static void put_sessions(void)
{
	struct ktape_session_info *all = NULL;
	struct ktape_device *device = NULL;
	int nr;

	if (ktape_device_open(NULL, false, &device))
		return;
	nr = ktape_device_sessions(device, &all);
	for (int i = 0; i < nr; i++)
		put_session(&all[i]);
	free(all);
	ktape_device_close(device);
}

static void put_formats(bool out)
{
	const struct ktape_codec *c;

	for (unsigned int i = 0; (c = ktape_codec(i)); i++) {
		if (out ? c->out != NULL : ktape_codec_reads(c))
			put_help_word(c->name, c->help);
	}
}

static void put_inputs(void)
{
	put_formats(false);
}

static void put_outputs(void)
{
	put_formats(true);
}

static void put_value_words(unsigned int type, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		const char *name = ktape_value_name(type, i);

		if (name)
			put_help_word(name, NULL);
	}
}

/* Without "SIG": filters take the names in both forms. */
static void put_signals(void)
{
	for (unsigned int i = 0; i < NAMES_MAX; i++) {
		const char *name = ktape_value_name(KTAPE_TYPE_SIGNAL, i);

		if (name)
			put_help_word(strncmp(name, "SIG", 3) ? name : name + 3,
				      NULL);
	}
}

static void put_softirqs(void)
{
	put_value_words(KTAPE_TYPE_SOFTIRQ, NAMES_MAX);
}

static void put_severities(void)
{
	put_value_words(KTAPE_TYPE_SEVERITY, NAMES_MAX);
}

static void put_object_words(void)
{
	put_value_words(KTAPE_TYPE_OBJECT, KTAPE_OBJ_USER);
}

static void put_syscalls(void)
{
	struct utsname name;

	if (uname(&name))
		return;
	for (unsigned int i = 0; i < NAMES_MAX; i++) {
		const char *call = ktape_syscall_name(name.machine, i);

		if (call)
			put_help_word(call, NULL);
	}
}

static const struct {
	const char *kind;
	void (*put)(void);
} lists[] = {
	{ "commands", put_command_words }, { "events", put_event_words },
	{ "recordable", put_recordable },  { "classes", put_classes },
	{ "probes", put_probes },	   { "sessions", put_sessions },
	{ "inputs", put_inputs },	   { "outputs", put_outputs },
	{ "objects", put_object_words },   { "severities", put_severities },
	{ "signals", put_signals },	   { "softirqs", put_softirqs },
	{ "syscalls", put_syscalls },
};

static void put_choices(const char *text)
{
	while (*text) {
		int len = (int)strcspn(text, "|");

		printf("%.*s\n", len, text);
		text += len;
		text += *text == '|';
	}
}

/**
 * completion_words() - print the words of a kind
 * @kind: name of a list, or words with "|" between them
 *
 * Return: false if there is no such kind.
 */
bool completion_words(const char *kind)
{
	if (completion_is_choice(kind)) {
		put_choices(kind);
		return true;
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(lists); i++) {
		if (!strcmp(lists[i].kind, kind)) {
			lists[i].put();
			return true;
		}
	}
	return false;
}
