/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Subcommands and their options as tables.  The parser and --help both use these tables, so that
 * they cannot differ.
 *
 * Read this folder in this order: command.c; color.c, message.c (texts on a terminal), pager.c,
 * terminal.c; opt.c, which uses them.  The others use only message.c: event_list.c, output.c,
 * loss.c, ctf2.c, self.c, browser.c.  text.c, duration.c, signals.c, limit.c and bus_error.c use
 * none of them.
 */
#ifndef _KT_TOOL_SHARED_OPT_H
#define _KT_TOOL_SHARED_OPT_H

#include <stddef.h>
#include <stdint.h>

enum kt_opt_kind {
	KT_OPT_FLAG,   /* bool */
	KT_OPT_TEXT,   /* const char * */
	KT_OPT_NUMBER, /* uint64_t */
	KT_OPT_SIZE,   /* uint64_t, bytes */
	KT_OPT_TIME,   /* uint64_t, nanoseconds */
	KT_OPT_LIST    /* struct kt_opt_list, may be given several times */
};

#define KT_OPT_LIST_MAX 64
#define NOT_GIVEN	UINT64_MAX /* a number that no option has set */

/**
 * struct kt_opt_list - options that may be given several times, in their order
 * @nr: number of items
 * @items: the option and its argument
 */
struct kt_opt_list {
	unsigned int nr;
	struct {
		const struct kt_option *option;
		const char *text;
	} items[KT_OPT_LIST_MAX];
};

/**
 * struct kt_option - one option
 * @name: long name
 * @letter: short name; 0: none
 * @kind: type of the value
 * @offset: offset of the value in the subcommand's options structure
 * @arg: name of the argument in --help, or NULL
 * @help: description in --help
 */
struct kt_option {
	const char *name;
	char letter;
	enum kt_opt_kind kind;
	size_t offset;
	const char *arg;
	const char *help;
};

/**
 * struct kt_command - a subcommand
 * @name: name on the command line
 * @operands: operands in the usage line
 * @help: one line for ktape help and --help
 * @more: further lines for --help, or NULL
 * @print_more: prints lines for --help that come from other tables, or NULL
 * @options: options, ending with an empty entry
 * @in_order: options end at the first operand (it may be a command with options)
 * @run: entry; gets the arguments from @name on and returns the exit code
 */
struct kt_command {
	const char *name;
	const char *operands;
	const char *help;
	const char *more;
	void (*print_more)(void);
	const struct kt_option *options;
	int in_order;
	int (*run)(int argc, char **argv);
};

/*
 * Functions of a subcommand's table.  The program that only writes the scripts for
 * shells while cross-compiling (host/completion.c) has the tables without them.
 */
#ifdef KT_TABLES_ONLY
#define KT_RUN(function) NULL
#else
#define KT_RUN(function) function
#endif

#define KT_HELP_OF_HELP "show this help, or that of a command"

/* command.c: main() sets the table first.  NULL: no command is there, or has the name. */
void kt_commands_set(const struct kt_command *const *all);
const struct kt_command *kt_command(unsigned int i);
const struct kt_command *kt_command_find(const char *name);

/* opt.c */
extern const struct kt_option kt_option_help;

/*
 * Parse the options into @values, which has the defaults, and set @first to the index of the first
 * operand.  Return: -1: go on; else the exit code.
 */
int kt_options(const struct kt_command *command, int argc, char **argv,
	       void *values, int *first);

/* Print what is wrong with the time of an option.  Return: the exit code. */
int wrong_time(const struct kt_command *command, const char *option,
	       const char *text, int err);

#endif /* _KT_TOOL_SHARED_OPT_H */
