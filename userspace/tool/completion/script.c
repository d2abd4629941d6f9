// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion: write the script of a shell.  The templates are shells/SHELL in this
 * folder.  Their lines @commands@ and @options@ stand for rows that are made from the
 * tables of commands and options (kt_command()).
 *
 * The kind of an option's argument says what the shell offers there: "files", "folders",
 * "traces" or "programs", which shells complete themselves; the name of a list of words, such as
 * "events", which the script gets from "ktape completion --list"; or the words, with "|" between
 * them (kind.c).
 */
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "tool/completion/completion.h"

/* The templates as text_SHELL, made by the Makefile from shells/SHELL. */
#include "completion.inc"

/**
 * struct escape - a character that a shell would not take literally
 * @c: the character
 * @as: what is written in its place
 */
struct escape {
	char c;
	const char *as;
};

static void put_shell_escaped(const char *text, const struct escape *escapes)
{
	for (; *text; text++) {
		const struct escape *e = escapes;

		while (e->c && e->c != *text)
			e++;
		if (e->c)
			fputs(e->as, stdout);
		else
			putchar(*text);
	}
}

/* Put a kind that is the words themselves, "a|b", as "a b". */
static void put_choice(const char *kind)
{
	for (; *kind; kind++)
		putchar(*kind == '|' ? ' ' : *kind);
}

/* ---- bash ------------------------------------------------------------------- */

static void bash_command(const char *name, const char *help)
{
	(void)help;
	printf(" \\\n\t\t\t%s", name);
}

static void bash_begin(const struct kt_command *c)
{
	printf("\t%s)\n\t\tprintf '%%s\\n'", c->name);
}

static void bash_option(const struct kt_command *c, const struct kt_option *o)
{
	(void)c;
	fputs(" \\\n\t\t\t", stdout);
	if (o->letter)
		printf("-%c ", o->letter);
	printf("--%s", o->name);
}

static void bash_end(const struct kt_command *c)
{
	(void)c;
	fputs("\n\t\t;;\n", stdout);
}

/* ---- zsh -------------------------------------------------------------------- */

/* Escapes inside '...' and inside a description or message of zsh's _arguments. */
static const struct escape zsh_escapes[] = {
	{ '\'', "'\\''" }, { '[', "\\[" }, { ']', "\\]" },
	{ ':', "\\:" },	   { '\0', NULL },
};

static void zsh_command(const char *name, const char *help)
{
	printf("\t\t'%s:", name);
	put_shell_escaped(help, zsh_escapes);
	fputs("'\n", stdout);
}

/* If c->in_order is set, options end at the first operand: -A says so to _arguments. */
static void zsh_begin(const struct kt_command *c)
{
	printf("\t(%s)\n\t\t_arguments -s -S%s :", c->name,
	       c->in_order ? " -A '-*'" : "");
}

/* Put what completes a word of a kind; NULL: any text. */
static void zsh_action(const char *kind)
{
	if (!kind)
		putchar(' ');
	else if (!strcmp(kind, "folders"))
		fputs("_files -/", stdout);
	else if (completion_is_native(kind))
		fputs("_files", stdout);
	else if (!completion_is_choice(kind))
		printf(" _ktape_words %s", kind);
	else {
		putchar('(');
		put_choice(kind);
		putchar(')');
	}
}

/*
 * "*": the option can be repeated.  If it cannot, and has a letter, the list in parentheses makes
 * each of its two forms exclude the other one.
 */
static void zsh_option(const struct kt_command *c, const struct kt_option *o)
{
	bool flag = o->kind == KT_OPT_FLAG, list = o->kind == KT_OPT_LIST;

	(void)c;
	printf(" \\\n\t\t\t'%s", list ? "*" : "");
	if (o->letter && !list)
		printf("(-%c --%s)", o->letter, o->name);
	if (o->letter)
		printf("'{-%c%s,--%s%s}'", o->letter, flag ? "" : "+", o->name,
		       flag ? "" : "=");
	else
		printf("--%s%s", o->name, flag ? "" : "=");
	putchar('[');
	put_shell_escaped(o->help, zsh_escapes);
	putchar(']');
	if (!flag) {
		putchar(':');
		put_shell_escaped(o->arg, zsh_escapes);
		putchar(':');
		zsh_action(completion_kind(o));
	}
	putchar('\'');
}

static void zsh_end(const struct kt_command *c)
{
	if (*c->operands)
		fputs(" \\\n\t\t\t'*: :_ktape_operands'", stdout);
	fputs("\n\t\t;;\n", stdout);
}

/* ---- fish ------------------------------------------------------------------- */

static const struct escape fish_escapes[] = {
	{ '\'', "\\'" },
	{ '\\', "\\\\" },
	{ '\0', NULL },
};

static void fish_command(const char *name, const char *help)
{
	printf("complete -c ktape -n __ktape_none -a %s -d '", name);
	put_shell_escaped(help, fish_escapes);
	fputs("'\n", stdout);
}

/* Put what completes the argument of an option, by its kind as for zsh_action(). */
static void fish_value(const char *kind)
{
	if (!kind) {
		fputs(" -x", stdout);
	} else if (!strcmp(kind, "folders")) {
		fputs(" -x -a '(__fish_complete_directories (commandline -ct) \"\")'",
		      stdout);
	} else if (completion_is_native(kind)) {
		fputs(" -r -F", stdout);
	} else if (!completion_is_choice(kind)) {
		printf(" -x -a '(__ktape_words %s)'", kind);
	} else {
		fputs(" -x -a '", stdout);
		put_choice(kind);
		putchar('\'');
	}
}

static void fish_option(const struct kt_command *c, const struct kt_option *o)
{
	printf("complete -c ktape -n '__ktape_has %s'", c->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	printf(" -l %s", o->name);
	if (o->kind != KT_OPT_FLAG)
		fish_value(completion_kind(o));
	fputs(" -d '", stdout);
	put_shell_escaped(o->help, fish_escapes);
	fputs("'\n", stdout);
}

/* ---- elvish, PowerShell: pairs of a word and its description ------------------- */

static const struct escape doubled[] = {
	{ '\'', "''" },
	{ '\0', NULL },
};

static void elvish_pair(const char *indent, const char *dashes,
			const char *word, const char *help)
{
	printf("%s['%s%s' '", indent, dashes, word);
	put_shell_escaped(help, doubled);
	fputs("']\n", stdout);
}

static void elvish_command(const char *name, const char *help)
{
	elvish_pair("        ", "", name, help);
}

static void elvish_begin(const struct kt_command *c)
{
	printf("        &%s=[\n", c->name);
}

static void elvish_option(const struct kt_command *c, const struct kt_option *o)
{
	const char letter[] = { o->letter, '\0' };

	(void)c;
	if (o->letter)
		elvish_pair("            ", "-", letter, o->help);
	elvish_pair("            ", "--", o->name, o->help);
}

static void elvish_end(const struct kt_command *c)
{
	(void)c;
	fputs("        ]\n", stdout);
}

/* The comma keeps PowerShell from joining the pairs to one array. */
static void powershell_pair(const char *indent, const char *dashes,
			    const char *word, const char *help)
{
	printf("%s, @('%s%s', '", indent, dashes, word);
	put_shell_escaped(help, doubled);
	fputs("')\n", stdout);
}

static void powershell_command(const char *name, const char *help)
{
	powershell_pair("        ", "", name, help);
}

static void powershell_begin(const struct kt_command *c)
{
	printf("        '%s' = @(\n", c->name);
}

static void powershell_option(const struct kt_command *c, const struct kt_option *o)
{
	const char letter[] = { o->letter, '\0' };

	(void)c;
	if (o->letter)
		powershell_pair("            ", "-", letter, o->help);
	powershell_pair("            ", "--", o->name, o->help);
}

static void powershell_end(const struct kt_command *c)
{
	(void)c;
	fputs("        )\n", stdout);
}

/* ---- the scripts ------------------------------------------------------------ */

/**
 * struct shell - a shell
 * @name: its name
 * @text: the template of its script
 * @command: writes a row of @commands@
 * @begin: begins the rows of a command in @options@, or NULL
 * @option: writes the row of an option
 * @end: ends the rows of a command, or NULL
 */
struct shell {
	const char *name;
	const char *text;
	void (*command)(const char *name, const char *help);
	void (*begin)(const struct kt_command *c);
	void (*option)(const struct kt_command *c, const struct kt_option *o);
	void (*end)(const struct kt_command *c);
};

static const struct shell shells[] = {
	{ "bash", text_bash, bash_command, bash_begin, bash_option, bash_end },
	{ "zsh", text_zsh, zsh_command, zsh_begin, zsh_option, zsh_end },
	{ "fish", text_fish, fish_command, NULL, fish_option, NULL },
	{ "elvish", text_elvish, elvish_command, elvish_begin, elvish_option,
	  elvish_end },
	{ "powershell", text_powershell, powershell_command, powershell_begin,
	  powershell_option, powershell_end },
};

static void put_command_rows(const struct shell *s)
{
	const struct kt_command *c;

	for (unsigned int i = 0; (c = kt_command(i)); i++)
		s->command(c->name, c->help);
	s->command("help", KT_HELP_OF_HELP);
}

static void put_option_rows(const struct shell *s)
{
	const struct kt_command *c;

	for (unsigned int i = 0; (c = kt_command(i)); i++) {
		if (s->begin)
			s->begin(c);
		for (const struct kt_option *o = c->options; o->name; o++)
			s->option(c, o);
		s->option(c, &kt_option_help);
		if (s->end)
			s->end(c);
	}
}

static const struct {
	const char *marker;
	void (*put)(const struct shell *s);
} rows[] = {
	{ "@commands@", put_command_rows },
	{ "@options@", put_option_rows },
};

/*
 * Write the rows that the marker at @at stands for, or one character if there is none.
 * Return: the rest of the template.
 */
static const char *put_rows(const struct shell *s, const char *at)
{
	bool whole = at == s->text || at[-1] == '\n';
	size_t len;

	for (size_t i = 0; i < KT_ARRAY_SIZE(rows); i++) {
		len = strlen(rows[i].marker);
		if (strncmp(at, rows[i].marker, len))
			continue;
		rows[i].put(s);
		/* Rows in place of a whole line end with a newline themselves. */
		return at + len + (whole && at[len] == '\n');
	}
	putchar(*at);
	return at + 1;
}

/**
 * completion_script() - print the script of a shell
 * @shell: name of the shell
 *
 * Return: false if there is no such shell.
 */
bool completion_script(const char *shell)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(shells); i++) {
		if (strcmp(shells[i].name, shell))
			continue;
		for (const char *at = shells[i].text; *at;)
			at = put_rows(&shells[i], at);
		return true;
	}
	return false;
}
