// SPDX-License-Identifier: GPL-2.0-only
/* Read the filters of a command line, and print the filters of a session. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "tool/session/filters.h"
#include "tool/shared/message.h"
#include "tool/shared/text.h"

const char *kind_name(unsigned int kind)
{
	return ktape_value_name(KTAPE_TYPE_FILTER, kind);
}

/**
 * filter_options_given() - does the command line change any filter?
 * @o: filter options
 *
 * Return: true or false.
 */
bool filter_options_given(const struct filter_options *o)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		if (o->text[i] || o->off[i])
			return true;
	}
	return o->rkh.nr;
}

/* Apply --threads and --children to every thread of --pid. */
static void add_flags(const struct filter_options *o, struct ktape_filter_value *v)
{
	struct ktape_filter_pid *pids = v->entries;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (o->threads)
			pids[i].flags |= KTAPE_PID_THREADS;
		if (o->children)
			pids[i].flags |= KTAPE_PID_CHILDREN;
	}
}

/* Parse one filter.  Return: 0 or the exit code. */
static int parse_filter(const struct kt_command *command, const char *text,
			struct ktape_filter_value *v)
{
	struct ktape_error error = { .text = "" };
	unsigned int kind = v->kind;
	int err;

	ktape_filter_release(v);
	err = ktape_filter_parse(kind, text, v, &error);
	if (err == -EBADMSG)
		return misuse(command, "--%s: %s", kind_name(kind), error.text);
	return err ? fail("%s", strerror(-err)) : 0;
}

/**
 * filter_options_read() - parse the filters of a command line
 * @command: the subcommand
 * @o: filter options; --suppress and --pass are left to rkh_apply()
 * @config: filters that are given replace those in it
 *
 * Return: 0 or the exit code.
 */
int filter_options_read(const struct kt_command *command,
			const struct filter_options *o, struct ktape_config *config)
{
	if ((o->threads || o->children) && !o->text[KTAPE_FILTER_PID])
		return misuse(command, "--threads and --children need --pid");
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		struct ktape_filter_value *v = &config->filters[i];
		int ret;

		if (!o->text[i] && !o->off[i])
			continue;
		if (o->text[i] && o->off[i])
			return misuse(command, "--%s and --no-%s exclude each other",
				      kind_name(i), kind_name(i));
		v->kind = i;
		ret = parse_filter(command, o->off[i] ? "off" : o->text[i], v);
		if (ret)
			return ret;
		if (i == KTAPE_FILTER_PID)
			add_flags(o, v);
		config->filters_given |= 1U << i;
	}
	return 0;
}

static void put_filter_json(const struct ktape_filter_value *v,
			    const char *text, const char *comma)
{
	fputs(comma, stdout);
	put_json_text(kind_name(v->kind));
	fputs(":{\"value\":", stdout);
	put_json_text(text);
	printf(",\"entries\":%u,\"collisions\":%llu}", v->nr,
	       (unsigned long long)v->collisions);
}

/**
 * put_filters() - print the active filters
 * @config: filters from filters_get()
 * @json: print members of a JSON object; else lines of a configuration
 */
void put_filters(const struct ktape_config *config, bool json)
{
	const char *comma = "";

	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		const struct ktape_filter_value *v = &config->filters[i];
		char *text;

		if (!(config->filters_given >> i & 1) ||
		    ktape_filter_format(v, &text))
			continue;
		if (json)
			put_filter_json(v, text, comma);
		else
			printf("%s = %s\n", kind_name(i), text);
		comma = ",";
		free(text);
	}
}
