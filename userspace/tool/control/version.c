// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape version: say what this command is, which formats and libraries it was built with,
 * and which version of the module is loaded.
 */
#include <stdio.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/control/control.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

#ifndef KTAPE_VERSION
#define KTAPE_VERSION "unknown"
#endif
#ifndef KT_NCURSES
#define KT_NCURSES 0
#endif
#ifndef KT_MICROHTTPD
#define KT_MICROHTTPD 0
#endif

#define VERSION_OF_MODULE "/sys/module/ktape/version"

struct version_options {
	bool json;
};

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct version_options, json),
	  NULL, "as a JSON object" },
	{ .name = NULL },
};

/* What is built in only where the library that it needs was there. */
static const struct version_part {
	const char *name;
	bool built;
} version_parts[] = {
	{ "screen", KT_NCURSES },
	{ "serve", KT_MICROHTTPD },
};

/* Set @version to that of the loaded module, or to "" if none is loaded. */
static void read_module_version(char *version, int size)
{
	FILE *f = fopen(VERSION_OF_MODULE, "re");

	version[0] = '\0';
	if (!f)
		return;
	if (!fgets(version, size, f))
		version[0] = '\0';
	version[strcspn(version, "\n")] = '\0';
	fclose(f);
}

static void print_version_formats(const char *what, bool out)
{
	const struct ktape_codec *codec;

	printf("%-8s", what);
	for (unsigned int i = 0; (codec = ktape_codec(i)); i++) {
		if (out ? !!codec->out : ktape_codec_reads(codec))
			printf(" %s", codec->name);
	}
	putchar('\n');
}

static void print_json_formats(const char *what, bool out)
{
	const struct ktape_codec *codec;
	const char *comma = "";

	printf(",\"%s\":[", what);
	for (unsigned int i = 0; (codec = ktape_codec(i)); i++) {
		if (!(out ? !!codec->out : ktape_codec_reads(codec)))
			continue;
		printf("%s\"%s\"", comma, codec->name);
		comma = ",";
	}
	putchar(']');
}

static void print_version(const char *module)
{
	printf("ktape " KTAPE_VERSION ", event table %016llx\n",
	       (unsigned long long)ktape_table_hash());
	printf("%-8s %s\n", "module", module[0] ? module : "not loaded");
	print_version_formats("reads", false);
	print_version_formats("writes", true);
	for (size_t i = 0; i < KT_ARRAY_SIZE(version_parts); i++)
		printf("%-8s %s\n", version_parts[i].name,
		       version_parts[i].built ? "built in" : "not built in");
}

static void print_version_json(const char *module)
{
	printf("{\"version\":\"" KTAPE_VERSION
	       "\",\"table_hash\":\"%016llx\",\"module\":",
	       (unsigned long long)ktape_table_hash());
	if (module[0])
		put_json_text(module);
	else
		fputs("null", stdout);
	print_json_formats("in", false);
	print_json_formats("out", true);
	for (size_t i = 0; i < KT_ARRAY_SIZE(version_parts); i++)
		printf(",\"%s\":%s", version_parts[i].name,
		       version_parts[i].built ? "true" : "false");
	puts("}");
}

static int cmd_version(int argc, char **argv)
{
	struct version_options o = { .json = false };
	char module[64];
	int first, ret;

	ret = kt_options(&command_version, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (first != argc)
		return misuse(&command_version, "version takes no operands");
	read_module_version(module, sizeof(module));
	if (o.json)
		print_version_json(module);
	else
		print_version(module);
	return finish_stdout();
}

const struct kt_command command_version = {
	.name = "version",
	.operands = "",
	.help = "show the versions of command and module, and what is built in",
	.options = options,
	.run = KT_RUN(cmd_version),
};
