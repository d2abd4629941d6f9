// SPDX-License-Identifier: GPL-2.0-only
/* Filters and configurations: command line, device, files, output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters.h"

#define CONFIG_MAX	(1U << 20)

static const char *kind_name(unsigned int kind)
{
	return ktape_value_name(KTAPE_TYPE_FILTER, kind);
}

/**
 * filter_options_given() - does the command line change any filter?
 * @o: its options
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

/* --threads and --children are for every thread that was named. */
static void add_flags(const struct filter_options *o,
		      struct ktape_filter_value *v)
{
	struct ktape_filter_pid *pids = v->entries;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (o->threads)
			pids[i].flags |= KTAPE_PID_THREADS;
		if (o->children)
			pids[i].flags |= KTAPE_PID_CHILDREN;
	}
}

/* Return: 0 or the exit code. */
static int read_one(const struct kt_command *command, const char *text,
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
 * filter_options_read() - the filters of a command line
 * @command: the subcommand
 * @o: its options, but for --suppress and --pass
 * @config: what is given replaces what it has
 *
 * Return: 0 or the exit code.
 */
int filter_options_read(const struct kt_command *command,
			const struct filter_options *o,
			struct ktape_config *config)
{
	if ((o->threads || o->children) && !o->text[KTAPE_FILTER_PID])
		return misuse(command, "--threads and --children go with --pid");
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		struct ktape_filter_value *v = &config->filters[i];
		int ret;

		if (!o->text[i] && !o->off[i])
			continue;
		if (o->text[i] && o->off[i])
			return misuse(command, "--%s or --no-%s, not both",
				      kind_name(i), kind_name(i));
		v->kind = i;
		ret = read_one(command, o->off[i] ? "off" : o->text[i], v);
		if (ret)
			return ret;
		if (i == KTAPE_FILTER_PID)
			add_flags(o, v);
		config->filters_given |= 1U << i;
	}
	return 0;
}

static int tell_trouble(unsigned int kind, int err)
{
	if (err == -ENOTTY)
		return fail("%s: this module has no filters", kind_name(kind));
	if (err == -ESRCH)
		return fail("%s: there is no such thread", kind_name(kind));
	if (err == -EINVAL)
		return fail("%s: the module refuses that", kind_name(kind));
	return fail("%s: %s", kind_name(kind), strerror(-err));
}

/**
 * filters_apply() - put filters in force
 * @device: a writable session
 * @config: those that are given
 * @whole: the others are taken away
 *
 * Return: 0 or the exit code.
 */
int filters_apply(struct ktape_device *device,
		  const struct ktape_config *config, bool whole)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		const struct ktape_filter_value *v = &config->filters[i];
		int err = 0;

		if (config->filters_given >> i & 1)
			err = ktape_device_filter_set(device, v);
		else if (whole)
			err = ktape_device_filter_off(device, i);
		if (err == -ENOTTY && !v->active)
			continue;
		if (err)
			return tell_trouble(i, err);
	}
	return 0;
}

/* Threads without a number, of whom no more can be said. */
static void drop_unknown(struct ktape_filter_value *v)
{
	struct ktape_filter_pid *pids = v->entries;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (pids[i].pid)
			pids[kept++] = pids[i];
	}
	if (kept < v->nr)
		note("pid: left out: %u threads that have ended or are not to be seen from here; what they made is recorded still",
		     v->nr - kept);
	v->nr = kept;
	v->size = kept * sizeof(*pids);
}

/**
 * filter_get() - one filter that is in force
 * @device: the session
 * @kind: enum ktape_filter_kind
 * @v: filled; of threads only those that can be named
 *
 * Return: 0 or negative errno.
 */
int filter_get(struct ktape_device *device, unsigned int kind,
	       struct ktape_filter_value *v)
{
	int err = ktape_device_filter_get(device, kind, v);

	if (!err && kind == KTAPE_FILTER_PID)
		drop_unknown(v);
	return err;
}

/**
 * filters_get() - the filters that are in force
 * @device: the session
 * @config: they are put here; without filters in the module there are none
 *
 * Return: 0 or the exit code.
 */
int filters_get(struct ktape_device *device, struct ktape_config *config)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		struct ktape_filter_value *v = &config->filters[i];
		int err;

		v->kind = i;
		ktape_filter_release(v);
		config->filters_given &= ~(1U << i);
		err = filter_get(device, i, v);
		if (err == -ENOTTY)
			return 0;
		if (err)
			return tell_trouble(i, err);
		if (v->active)
			config->filters_given |= 1U << i;
	}
	return 0;
}

/**
 * config_load() - read a configuration from a file
 * @path: the file
 * @config: filled; ends with ktape_config_release(), after an error too
 *
 * Return: 0 or the exit code.
 */
int config_load(const char *path, struct ktape_config *config)
{
	struct ktape_error error = { .text = "" };
	FILE *f = fopen(path, "re");
	char *text;
	size_t len;
	int err;

	memset(config, 0, sizeof(*config));
	if (!f)
		return fail("%s: %s", path, strerror(errno));
	text = malloc(CONFIG_MAX);
	len = text ? fread(text, 1, CONFIG_MAX, f) : 0;
	err = !text || ferror(f) ? -EIO : len == CONFIG_MAX ? -EFBIG : 0;
	fclose(f);
	if (!err)
		err = ktape_config_parse(text, len, config, &error);
	free(text);
	if (err == -EBADMSG)
		return fail("%s:%llu: %s", path,
			    (unsigned long long)error.offset, error.text);
	return err ? fail("%s: %s", path, strerror(-err)) : 0;
}

/**
 * config_save() - write a configuration to a file
 * @path: the file, or "-"
 * @config: what is given of it
 *
 * Return: 0 or the exit code.
 */
int config_save(const char *path, const struct ktape_config *config)
{
	struct ktape_config named = *config;
	bool out = !strcmp(path, "-");
	char *text = NULL;
	FILE *f;
	int err;

	/* Control events are always there and need not be named. */
	for (unsigned int i = 0; i < KTAPE_OP_EXCEPTION; i++)
		named.mask[0] &= ~(1ULL << i);
	err = ktape_config_format(&named, &text);
	if (err)
		return fail("%s", strerror(-err));
	f = out ? stdout : fopen(path, "we");
	err = !f || fputs(text, f) < 0 || fflush(f) ? errno : 0;
	if (f && !out && fclose(f) && !err)
		err = errno;
	free(text);
	return err ? fail("%s: %s", path, strerror(err)) : 0;
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
 * put_filters() - print the filters that are in force
 * @config: from filters_get()
 * @json: members of an object, else lines of a configuration
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
