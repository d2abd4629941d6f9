// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open a trace in any format for a subcommand, and print what is wrong with it.
 * Detecting and decoding formats is the library's work.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "util/near.h"

#include "tool/input/input.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"

#define TEXT_MAX 4096

/**
 * read_error() - describe an error of reading a trace
 * @err: negative errno
 *
 * Return: the description.
 */
const char *read_error(int err)
{
	return err == -ENOBUFS ?
		       "packets of the trace need more than 1 GiB of memory" :
		       strerror(-err);
}

/**
 * stream_name() - return the file name of a stream
 * @n: notice about the stream
 * @name: room for the name
 *
 * Return: the name, such as "cpu0".
 */
const char *stream_name(const struct ktape_notice *n, char name[STREAM_NAME])
{
	static const char *const rings[] = { "cpu", "control" };

	if (n->ring == KTAPE_RING_REGISTRY)
		return "registry";
	snprintf(name, STREAM_NAME, "%s%u", rings[n->ring], n->cpu);
	return name;
}

/**
 * is_damage() - does a notice report damage?
 * @n: the notice
 *
 * Return: true if what is read may be wrong or incomplete.
 */
bool is_damage(const struct ktape_notice *n)
{
	return n->kind == KTAPE_NOTICE_CORRUPT || n->kind == KTAPE_NOTICE_METADATA;
}

/**
 * report_input_damage() - print a notice about damage or assumptions
 * @input: operand of the trace
 * @n: the notice
 */
void report_input_damage(const char *input, const struct ktape_notice *n)
{
	char name[STREAM_NAME];

	if (n->kind == KTAPE_NOTICE_METADATA)
		note("%s: %s; names, times and fields may be wrong: use another copy if you have one",
		     input, n->error.text);
	else if (n->kind == KTAPE_NOTICE_TABLE || n->kind == KTAPE_NOTICE_ASSUMED)
		note("%s", n->error.text);
	else
		note("%s%sat byte %llu: %s",
		     n->stream ? stream_name(n, name) : "", n->stream ? ": " : "",
		     (unsigned long long)n->error.offset, n->error.text);
}

static int add_option(char text[TEXT_MAX], const char *key, const char *value)
{
	size_t len = strlen(text);
	int n;

	n = snprintf(text + len, TEXT_MAX - len, "%s%s%s%s", len ? "," : "",
		     key, value ? "=" : "", value ? value : "");
	return n < 0 || (size_t)n >= TEXT_MAX - len ? -E2BIG : 0;
}

/*
 * Split FILE@CORE, unless a file with that whole name exists: the number of the core that recorded
 * a file goes to the format's option "core".  Return: 0 or -E2BIG.
 */
static int split_core(char *path, char text[TEXT_MAX])
{
	char *at = strrchr(path, '@');

	if (!at || !at[1] || at[1 + strspn(at + 1, "0123456789")] ||
	    !access(path, F_OK))
		return 0;
	*at = '\0';
	return add_option(text, "core", at + 1);
}

static int report_unopened(const char *path, int err, const struct ktape_error *error)
{
	if (*error->text && err == -EBADMSG && error->offset)
		return fail("%s: at byte %llu: %s", path,
			    (unsigned long long)error->offset, error->text);
	if (*error->text && (err == -EBADMSG || err == -EINVAL))
		return fail("%s: %s", path, error->text);
	if (*error->text)
		return fail("%s: %s: %s", path, error->text, read_error(err));
	return fail("%s: %s", path, read_error(err));
}

/* Join the options of "NAME:key=value,..." and those of the command line. */
static int gather_options(const struct input_options *o, char *from,
			  char text[TEXT_MAX])
{
	char *colon = strchr(from, ':');
	int err = 0;

	if (colon) {
		*colon = '\0';
		err = add_option(text, colon + 1, NULL);
	}
	for (unsigned int i = 0; i < o->more.nr && !err; i++) {
		const char *name = o->more.items[i].option->name;

		if (!strcmp(name, "in-option"))
			err = add_option(text, o->more.items[i].text, NULL);
		else
			err = add_option(text, name, o->more.items[i].text);
	}
	return err;
}

/* Does any format have this input option?  @n gets the nearest one. */
static bool some_format_has(const char *key, struct kt_near *n)
{
	const struct ktape_codec_option *o;
	const struct ktape_codec *codec;

	for (unsigned int i = 0; (codec = ktape_codec(i)); i++) {
		o = ktape_codec_options(codec, false);
		for (; o && o->key; o++) {
			if (!strcmp(o->key, key))
				return true;
			kt_near_try(n, o->key);
		}
	}
	return false;
}

/*
 * The native format has no options.  Say so, because those that another format has may be
 * meant for another input of the command line; refuse those that no format has.
 * @text is changed, and @trace is closed if it is refused.
 * Return: 0 or the exit code.
 */
static int check_native(const struct kt_command *command, const char *operand,
			char *text, struct ktape_trace **trace)
{
	char *part;
	int ret = 0;

	while (!ret && (part = strsep(&text, ","))) {
		struct kt_near n = { .word = part, .len = strcspn(part, "=") };

		part[n.len] = '\0';
		if (some_format_has(part, &n))
			note("%s: option %s is ignored: the native format has no options",
			     operand, part);
		else if (n.best)
			ret = misuse(command,
				     "no format has an option \"%.40s\": did you mean \"%s\"? (see ktape convert --list)",
				     part, n.best);
		else
			ret = misuse(command,
				     "no format has an option \"%.40s\" (see ktape convert --list)",
				     part);
	}
	if (ret) {
		ktape_trace_close(*trace);
		*trace = NULL;
	}
	return ret;
}

/**
 * input_open() - open a trace in any format, or print why it cannot be opened
 * @command: the subcommand
 * @o: options of the input
 * @operand: operand of the trace
 * @how: callbacks and flags; the format is set here while the trace is opened
 * @trace: set to the trace
 *
 * Return: 0 or the exit code.
 */
int input_open(const struct kt_command *command, const struct input_options *o,
	       const char *operand, struct ktape_trace_options *how,
	       struct ktape_trace **trace)
{
	struct ktape_error error = { .text = "" };
	char *from = strdup(o->from ? o->from : "");
	char *path = strdup(operand);
	char text[TEXT_MAX] = "";
	int err;

	err = from && path ? gather_options(o, from, text) : -ENOMEM;
	if (!err)
		err = split_core(path, text);
	if (!err) {
		how->format = *from && strcmp(from, "auto") ? from : NULL;
		how->format_options = *text ? text : NULL;
		err = ktape_trace_open(path, how, trace, &error);
		how->format = NULL;
		how->format_options = NULL;
	}
	if (err == -EINVAL && *error.text)
		err = misuse(command, "%s: %s", operand, error.text);
	else if (err)
		err = report_unopened(path ? path : operand, err, &error);
	else if (*text && !ktape_trace_format(*trace))
		err = check_native(command, path, text, trace);
	free(from);
	free(path);
	return err;
}

/* Return true if a format has an option @key whose value is a file to read. */
static bool names_file(const char *key)
{
	const struct ktape_codec_option *o;
	const struct ktape_codec *codec;

	for (unsigned int i = 0; (codec = ktape_codec(i)); i++) {
		o = ktape_codec_options(codec, false);
		for (; o && o->key; o++) {
			if (!strcmp(o->key, key) && !strcmp(o->arg, "FILE"))
				return true;
		}
	}
	return false;
}

/* Check the files among "key=value,...".  Return: 0 or the exit code. */
static int check_input_options(const char *out, const char *text)
{
	char *copy = strdup(text), *at = copy, *part, *value;
	int ret = copy ? 0 : fail("%s", strerror(ENOMEM));

	while (!ret && (part = strsep(&at, ","))) {
		value = strchr(part, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (names_file(part))
			ret = output_check(out, &value, 1);
	}
	free(copy);
	return ret;
}

/**
 * input_check() - refuse an output that is an input, or a file its format reads
 * @o: options of the inputs
 * @out: path of the output; "-": standard output
 * @inputs: operands of the inputs
 * @nr: number of inputs
 *
 * Return: 0 or the exit code.
 */
int input_check(const struct input_options *o, const char *out,
		char *const *inputs, int nr)
{
	const char *colon = o->from ? strchr(o->from, ':') : NULL;
	int ret = output_check(out, inputs, nr);

	if (!ret && colon)
		ret = check_input_options(out, colon + 1);
	for (unsigned int i = 0; i < o->more.nr && !ret; i++)
		ret = check_input_options(out, o->more.items[i].text);
	return ret;
}
