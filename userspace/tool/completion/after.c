// SPDX-License-Identifier: GPL-2.0-only
/* Completion: read the words before the cursor, and print what can follow them. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "tool/completion/completion.h"

/* Operands that are kept: as a verb, the table below looks only at numbers 0 and 1. */
#define OPERANDS 2

/**
 * struct place - where the cursor is
 * @command: the command
 * @wants: the option whose argument is at the cursor, or NULL
 * @operands: the first operands before the cursor
 * @nr: number of operands before the cursor
 * @ended: no options can follow
 */
struct place {
	const struct kt_command *command;
	const struct kt_option *wants;
	const char *operands[OPERANDS];
	int nr;
	bool ended;
};

/*
 * Kinds of operands: @kind is for the operands @first to @last of @command, from 0, if its
 * operand number @verb_at is @verb, or in any case if @verb is NULL.
 */
static const struct {
	const char *command;
	int first;
	int last;
	const char *kind;
	int verb_at;
	const char *verb;
} operands[] = {
	{ "record", 0, 0, "programs", 0, NULL },
	{ "record", 1, INT_MAX, "files", 0, NULL },
	{ "dump", 0, INT_MAX, "traces", 0, NULL },
	{ "convert", 0, INT_MAX, "traces", 0, NULL },
	{ "stats", 0, INT_MAX, "traces", 0, NULL },
	{ "diff", 0, 1, "traces", 0, NULL },
	{ "verify", 0, 0, "traces", 0, NULL },
	{ "send", 0, 0, "traces", 0, NULL },
	{ "send", 1, 1, "files", 0, NULL },
	{ "receive", 0, 0, "files", 0, NULL },
	{ "profile", 0, 0, "set|or|andnot", 0, NULL },
	{ "profile", 0, INT_MAX, "recordable", 0, NULL },
	{ "list", 0, INT_MAX, "events", 0, NULL },
	{ "status", 0, 0, "sessions", 0, NULL },
	{ "start", 0, 0, "sessions", 0, NULL },
	{ "stop", 0, 0, "sessions", 0, NULL },
	{ "clear", 0, 0, "sessions", 0, NULL },
	{ "destroy", 0, 0, "sessions", 0, NULL },
	{ "snapshot", 0, 0, "sessions", 0, NULL },
	{ "trigger", 0, 0, "sessions", 0, NULL },
	{ "trigger", 1, 1, "add|list|del|run", 0, NULL },
	{ "trigger", 2, 2, "recordable", 1, "add" },
	{ "trigger", 2, 2, "recordable", 1, "run" },
	{ "trigger", 3, 3, "programs", 1, "run" },
	{ "trigger", 4, INT_MAX, "files", 1, "run" },
	{ "probe", 0, 0, "add|list|remove", 0, NULL },
	{ "probe", 1, INT_MAX, "probes", 0, "remove" },
	{ "mark", 0, 0, "text|instant|begin|end|value|exception|event|name", 0, NULL },
	{ "mark", 1, 1, "severities", 0, "exception" },
	{ "mark", 1, 1, "marker|value|isr|exception|event", 0, "name" },
	{ "completion", 0, 0, COMPLETION_SHELLS, 0, NULL },
};

/*
 * Find an option by its name or the beginning of it, as getopt_long(3) does.  Of several names with
 * that beginning this is the first; getopt_long(3) refuses them, so what follows does not matter.
 */
static const struct kt_option *find_long(const struct kt_command *c, const char *name)
{
	const struct kt_option *begins = NULL;

	for (const struct kt_option *o = c->options; o->name; o++) {
		if (!strcmp(o->name, name))
			return o;
		if (!begins && !strncmp(o->name, name, strlen(name)))
			begins = o;
	}
	return begins;
}

static const struct kt_option *find_letter(const struct kt_command *c, char letter)
{
	for (const struct kt_option *o = c->options; o->name; o++) {
		if (o->letter == letter)
			return o;
	}
	return NULL;
}

/* Return the option of a word whose argument is the next word, or NULL. */
static const struct kt_option *waiting_option(const struct kt_command *c,
					      const char *word)
{
	const struct kt_option *o = NULL;

	if (word[1] == '-') {
		if (!strchr(word, '='))
			o = find_long(c, word + 2);
		return o && o->kind != KT_OPT_FLAG ? o : NULL;
	}
	while (*++word) {
		o = find_letter(c, *word);
		if (o && o->kind != KT_OPT_FLAG)
			return word[1] ? NULL : o;
	}
	return NULL;
}

static void add_operand(struct place *p, const char *word)
{
	if (p->nr < OPERANDS)
		p->operands[p->nr] = word;
	p->nr++;
	p->ended |= p->command->in_order != 0;
}

static void read_words(struct place *p, int nr, char **words)
{
	for (int i = 0; i < nr; i++) {
		const char *word = words[i];

		if (p->wants)
			p->wants = NULL;
		else if (p->ended || word[0] != '-' || !word[1])
			add_operand(p, word);
		else if (!strcmp(word, "--"))
			p->ended = true;
		else
			p->wants = waiting_option(p->command, word);
	}
}

/* Print the words of a kind, or the name of a kind that the shell completes. */
static void print_kind(const char *kind)
{
	if (completion_is_native(kind))
		printf(":%s\n", kind);
	else
		completion_words(kind);
}

static void print_operands(const struct place *p)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(operands); i++) {
		const char *verb = operands[i].verb;

		if (strcmp(operands[i].command, p->command->name) ||
		    p->nr < operands[i].first || p->nr > operands[i].last ||
		    (verb && strcmp(verb, p->operands[operands[i].verb_at])))
			continue;
		print_kind(operands[i].kind);
	}
}

/**
 * completion_after() - print what can follow on a command line
 * @nr: number of words
 * @words: the words between "ktape" and the cursor
 *
 * A line is a word, with a tabulator and a description if there is one, or ":" and a
 * kind that the shell completes, or ":options" if options can follow.  Nothing is printed
 * after an unknown command, or where an option takes any text.
 */
void completion_after(int nr, char **words)
{
	struct place p = { .nr = 0 };
	const char *kind;

	if (!nr || (nr == 1 && !strcmp(words[0], "help"))) {
		completion_words("commands");
		return;
	}
	p.command = kt_command_find(words[0]);
	if (!p.command)
		return;
	read_words(&p, nr - 1, words + 1);
	if (p.wants) {
		kind = completion_kind(p.wants);
		if (kind)
			print_kind(kind);
		return;
	}
	if (!p.ended)
		puts(":options");
	print_operands(&p);
}
