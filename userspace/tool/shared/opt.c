// SPDX-License-Identifier: GPL-2.0-only
/* Parse options by table with getopt_long(3), convert their values, print --help. */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/near.h"
#include "util/parse.h"

#include "tool/shared/message.h"
#include "tool/shared/terminal.h"

#define OPTIONS_MAX 64 /* of a subcommand */
#define LONG_ONLY \
	256 /* getopt_long() returns this plus the index for a long name */
#define HELP_COLUMN 28 /* where descriptions begin */

/* The option of all subcommands. */
const struct kt_option kt_option_help = {
	.name = "help",
	.letter = 'h',
	.help = "show this help",
};

/**
 * wrong_time() - say what is wrong with a time on the command line
 * @command: the subcommand
 * @option: the option's long name
 * @text: the time
 * @err: negative errno from kt_parse_time(); 0: the time is too large for the subcommand
 *
 * Return: the exit code for it.
 */
int wrong_time(const struct kt_command *command, const char *option,
	       const char *text, int err)
{
	return misuse(
		command,
		"--%s: \"%s\" is %s: give seconds (11, 11.5) or a unit (250ms, 2m, 1795424806915379658ns)",
		option, text,
		err && err != -ERANGE ?
			"not a time" :
			"too large a time, or has too many decimals for its unit");
}

static void print_option(const struct kt_option *o)
{
	char text[80];
	int len;

	len = snprintf(text, sizeof(text), "  %c%c%s--%s%s%s", o->letter ? '-' : ' ',
		       o->letter ? o->letter : ' ', o->letter ? ", " : "  ",
		       o->name, o->arg ? " " : "", o->arg ? o->arg : "");
	if (len >= HELP_COLUMN)
		printf("%s\n%*s%s\n", text, HELP_COLUMN, "", o->help);
	else
		printf("%-*s%s\n", HELP_COLUMN, text, o->help);
}

static void print_command_help(const struct kt_command *c)
{
	printf("usage: ktape %s [options]%s%s\n%s\n\n", c->name,
	       *c->operands ? " " : "", c->operands, c->help);
	for (const struct kt_option *o = c->options; o->name; o++)
		print_option(o);
	print_option(&kt_option_help);
	if (c->more)
		printf("\n%s", c->more);
	if (c->print_more)
		c->print_more();
}

static int take_item(const struct kt_option *o, struct kt_opt_list *list,
		     const char *text)
{
	if (list->nr == KT_OPT_LIST_MAX)
		return -1;
	list->items[list->nr].option = o;
	list->items[list->nr++].text = text;
	return 0;
}

static int take_option_value(const struct kt_option *o, void *values,
			     const char *text)
{
	char *to = (char *)values + o->offset;

	switch (o->kind) {
	case KT_OPT_FLAG:
		*(bool *)to = true;
		return 0;
	case KT_OPT_TEXT:
		*(const char **)to = text;
		return 0;
	case KT_OPT_NUMBER:
		return kt_parse_u64(text, (uint64_t *)to);
	case KT_OPT_SIZE:
		return kt_parse_size(text, (uint64_t *)to);
	case KT_OPT_TIME:
		return kt_parse_time(text, (uint64_t *)to);
	case KT_OPT_LIST:
		return take_item(o, (struct kt_opt_list *)to, text);
	}
	return -1;
}

/* Make the option tables for getopt_long(). */
static void make_getopt_tables(const struct kt_command *c, struct option *longs,
			       char *shorts)
{
	size_t i = 0;

	if (c->in_order)
		*shorts++ = '+';
	*shorts++ = 'h';
	for (; i < OPTIONS_MAX && c->options[i].name; i++) {
		const struct kt_option *o = &c->options[i];

		longs[i].name = o->name;
		longs[i].has_arg = o->kind == KT_OPT_FLAG ? no_argument :
							    required_argument;
		longs[i].flag = NULL;
		longs[i].val = LONG_ONLY + (int)i;
		if (!o->letter)
			continue;
		*shorts++ = o->letter;
		if (o->kind != KT_OPT_FLAG)
			*shorts++ = ':';
	}
	longs[i++] = (struct option){ "help", no_argument, NULL, 'h' };
	longs[i] = (struct option){ NULL, 0, NULL, 0 };
	*shorts = '\0';
}

static const struct kt_option *find_option(const struct kt_command *c, int val)
{
	const struct kt_option *o = c->options;

	if (val >= LONG_ONLY)
		return &o[val - LONG_ONLY];
	while (o->name && o->letter != val)
		o++;
	return o->name ? o : NULL;
}

static int unknown_option(const struct kt_command *c, const char *word)
{
	struct kt_near n = { .word = word + 2 };

	n.len = strcspn(n.word, "=");
	for (const struct kt_option *o = c->options; o->name; o++)
		kt_near_try(&n, o->name);
	kt_near_try(&n, kt_option_help.name);
	if (n.best)
		return misuse(c, "unknown option %.*s: did you mean --%s?",
			      (int)n.len + 2, word, n.best);
	return misuse(c, "unknown option %.*s (see ktape %s --help)",
		      (int)n.len + 2, word, c->name);
}

/*
 * Say why getopt_long() refused an option.  It has set optopt to the option that lacks an
 * argument or has one too many, to an unknown letter, or to 0 for an unknown or ambiguous
 * long name, which is in @word.
 */
static int refuse_option(const struct kt_command *c, const char *word)
{
	const struct kt_option *o = optopt ? find_option(c, optopt) : NULL;

	/* -h is no option of the command, and is never refused as a letter. */
	if (optopt == 'h')
		return misuse(c, "option --help takes no argument");
	if (o && o->kind == KT_OPT_FLAG)
		return misuse(c, "option --%s takes no argument", o->name);
	if (o)
		return misuse(c, "option --%s: missing argument %s", o->name,
			      o->arg);
	if (optopt)
		return misuse(c, "unknown option -%c (see ktape %s --help)",
			      optopt, c->name);
	return unknown_option(c, word);
}

/**
 * kt_options() - parse the options of a subcommand
 * @command: the subcommand
 * @argc: number of arguments, the subcommand's name included
 * @argv: arguments from the subcommand's name on
 * @values: options structure of the subcommand, with its defaults
 * @first: set to the index of the first operand
 *
 * Return: -1: continue; else exit with this code (after --help or an error).
 */
int kt_options(const struct kt_command *command, int argc, char **argv,
	       void *values, int *first)
{
	struct option longs[OPTIONS_MAX + 2];
	char shorts[2 * OPTIONS_MAX + 4];
	const struct kt_option *o;
	int val, err;

	make_getopt_tables(command, longs, shorts);
	optind = 1;
	opterr = 0;
	while ((val = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (val == 'h') {
			print_command_help(command);
			return finish_stdout();
		}
		o = val == '?' ? NULL : find_option(command, val);
		if (!o)
			return refuse_option(command, argv[optind - 1]);
		err = take_option_value(o, values, optarg);
		if (!err)
			continue;
		if (o->kind == KT_OPT_TIME)
			return wrong_time(command, o->name, optarg, err);
		return misuse(command, "--%s: \"%s\" is not a valid value",
			      o->name, optarg);
	}
	*first = optind;
	return -1;
}
