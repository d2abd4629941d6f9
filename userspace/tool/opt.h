/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of subcommands as tables, from which --help is made too. */
#ifndef _KT_OPT_H
#define _KT_OPT_H

#include <stddef.h>

enum kt_opt_kind {
	KT_OPT_FLAG,	/* bool */
	KT_OPT_TEXT,	/* const char * */
	KT_OPT_NUMBER,	/* uint64_t */
	KT_OPT_SIZE,	/* uint64_t, bytes */
	KT_OPT_TIME,	/* uint64_t, nanoseconds */
	KT_OPT_LIST	/* struct kt_opt_list, may be given again */
};

#define KT_OPT_LIST_MAX	64

/**
 * struct kt_opt_list - options that count one by one, in their order
 * @nr: how many
 * @items: which option it was, and its argument
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
 * @letter: short name, or 0
 * @kind: type of its value
 * @offset: where the value goes in the subcommand's structure
 * @arg: name of its argument, for the help
 * @help: for people
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
 * @name: its name
 * @operands: what follows the options, for the help
 * @help: one line for people
 * @more: further lines for its own help, or NULL
 * @print_more: prints what its own help has from other tables, or NULL
 * @options: ends with an empty entry
 * @in_order: options end at the first operand
 * @run: gets everything from its name on; returns the exit code
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

int kt_options(const struct kt_command *command, int argc, char **argv,
	       void *values, int *first);

#endif /* _KT_OPT_H */
