// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion: which kind of word the argument of an option is.  A kind is the name of a list
 * of words (events, sessions, ...) that the shell's script gets from ktape completion; or of
 * something that shells complete themselves (files, folders, traces, programs); or the words,
 * with "|" between them.
 */
#include <string.h>

#include "util/bits.h"

#include "tool/completion/completion.h"

/*
 * By the name of the argument, and by the option's where the argument's is too general.
 * recordable: events that this machine can record; events: all, as for a trace of another one.
 */
static const struct {
	const char *arg;
	const char *option;
	const char *kind;
} kinds[] = {
	{ "LIST|FILE", "events", "events" },
	{ "LIST", "event", "events" },
	{ "LIST", "events", "recordable" },
	{ "LIST", "group", "classes" },
	{ "LIST", "object", "objects" },
	{ "LIST", "signal", "signals" },
	{ "LIST", "softirq", "softirqs" },
	{ "LIST", "syscall", "syscalls" },
	{ "EVENT[:FIELD=VALUE]", NULL, "events" },
	{ "EVENTS", NULL, "recordable" },
	{ "EVENT=N,...", NULL, "recordable" },
	{ "MASK", NULL, "none|default|all" },
	{ "MODE", NULL, "discard|overwrite|snapshot" },
	{ "LEVEL", NULL, "0|1|2|3" },
	{ "NAME", "session", "sessions" },
	{ "SESSION", NULL, "sessions" },
	{ "FORMAT[:KEY=VALUE,...]", "to", "outputs" },
	{ "FORMAT[:KEY=VALUE,...]", "from", "inputs" },
	{ "TIME|FORMAT[:KEY=VALUE,...]", "from", "inputs" },
	{ "DIR", NULL, "folders" },
	{ "DIR|-", NULL, "folders" },
	{ "DIR|FILE.html|-", NULL, "files" },
	{ "DIR|NAME", NULL, "files" },
	{ "FILE", NULL, "files" },
	{ "FILE.html", NULL, "files" },
	{ "FILE|-", NULL, "files" },
	{ "OUT", NULL, "files" },
	{ "PATH", NULL, "files" },
	{ "PATHS", NULL, "folders" },
	{ "DIR|FILE|-", "input", "traces" },
	{ "KEY", "sort", "run|wait|longest|switches|tid|name" }, /* top_keys (top/order.c) */
};

/* Kinds that shells complete; traces: folders with a trace; programs: operands only (after.c). */
static const char *const native[] = { "files", "folders", "traces", "programs" };

/**
 * completion_is_native() - does the shell complete this kind by itself?
 * @kind: any kind
 *
 * Return: true if it does.
 */
bool completion_is_native(const char *kind)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(native); i++) {
		if (!strcmp(native[i], kind))
			return true;
	}
	return false;
}

/**
 * completion_is_choice() - is this kind the words themselves?
 * @kind: any kind
 *
 * Return: true if it is, with "|" between the words.
 */
bool completion_is_choice(const char *kind)
{
	return strchr(kind, '|');
}

/* An argument in small letters is a choice of words: "rkh|cobs". */
static bool is_words(const char *arg)
{
	return strchr(arg, '|') && !strpbrk(arg, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/**
 * completion_kind() - return the kind of an option's argument
 * @option: the option
 *
 * Return: the kind, or NULL if it has no argument or any text is one.
 */
const char *completion_kind(const struct kt_option *option)
{
	if (!option->arg)
		return NULL;
	if (is_words(option->arg))
		return option->arg;
	for (size_t i = 0; i < KT_ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].arg, option->arg) &&
		    (!kinds[i].option || !strcmp(kinds[i].option, option->name)))
			return kinds[i].kind;
	}
	return NULL;
}
