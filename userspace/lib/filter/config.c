// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Configurations as text, ktape-format(5): lines "key = value".  A "#" at the beginning
 * of a line or after a blank begins a comment.
 */
#include "util/memory.h"
#include "util/parse.h"

#include "filter/internal.h"

#define LINE_MAX_LEN 65536

/* A line while it is parsed.  Its number counts from 1; errors have it as their offset. */
struct line {
	unsigned int number;
	char *key;
	char *value;
	struct ktape_error *error;
};

/* A key that is not a filter: its bit in ktape_config.given, and how to parse and put its value. */
struct key {
	const char *name;
	uint32_t given;
	int (*parse)(struct ktape_config *c, const struct line *line);
	void (*put)(FILE *f, const struct ktape_config *c);
};

/* Report a bad value.  Return: -EBADMSG. */
static int report_value(const struct line *line, const char *expected)
{
	return kt_error(line->error, line->number,
			"%s: \"%.60s\" is not valid, expected %s", line->key,
			line->value, expected);
}

static int parse_config_events(struct ktape_config *c, const struct line *line)
{
	const char *wrong = line->value, *near;

	if (!ktape_mask_parse(line->value, c->mask, &wrong))
		return 0;
	near = ktape_event_near(wrong);
	if (near)
		return kt_error(line->error, line->number,
				"events: unknown event \"%.*s\": did you mean \"%s\"?",
				(int)kt_min(strcspn(wrong, ","), 40), wrong, near);
	return kt_error(line->error, line->number,
			"events: \"%.*s\" is not an event, class, preset, glob or mask",
			(int)kt_min(strcspn(wrong, ","), 40), wrong);
}

static int parse_context(struct ktape_config *c, const struct line *line)
{
	c->context = !strcmp(line->value, "yes");
	return c->context || !strcmp(line->value, "no") ?
		       0 :
		       report_value(line, "yes or no");
}

/* Not persistent: only parameters of the module make such a session. */
static const char *const modes[] = {
	[KTAPE_MODE_OVERWRITE] = "overwrite",
	[KTAPE_MODE_DISCARD] = "discard",
	[KTAPE_MODE_SNAPSHOT] = "snapshot",
};

static int parse_mode(struct ktape_config *c, const struct line *line)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(modes); i++) {
		c->mode = (uint32_t)i;
		if (!strcmp(line->value, modes[i]))
			return 0;
	}
	return report_value(line, "discard, overwrite or snapshot");
}

static int parse_buffer(struct ktape_config *c, const struct line *line)
{
	return kt_parse_size(line->value, &c->buffer) ?
		       report_value(line, "a size such as 4M") :
		       0;
}

static int parse_config_block(struct ktape_config *c, const struct line *line)
{
	if (kt_parse_size(line->value, &c->block) || c->block > KTAPE_BLOCK_MAX)
		return report_value(line, "a size of at most 64M");
	return 0;
}

static int parse_duration(struct ktape_config *c, const struct line *line)
{
	return kt_parse_time(line->value, &c->duration) ?
		       report_value(line, "a time such as 10s") :
		       0;
}

static void put_config_events(FILE *f, const struct ktape_config *c)
{
	bool first = true;

	kt_put_mask(f, c->mask, &first);
	if (first)
		fputs("none", f);
}

static void put_config_context(FILE *f, const struct ktape_config *c)
{
	fputs(c->context ? "yes" : "no", f);
}

static void put_mode(FILE *f, const struct ktape_config *c)
{
	fputs(modes[c->mode < KT_ARRAY_SIZE(modes) ? c->mode : 0], f);
}

static void put_config_size(FILE *f, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G" };
	unsigned int unit = 0;

	for (; bytes && bytes % 1024 == 0 && unit < 3; unit++)
		bytes /= 1024;
	fprintf(f, "%llu%s", (unsigned long long)bytes, units[unit]);
}

static void put_buffer(FILE *f, const struct ktape_config *c)
{
	put_config_size(f, c->buffer);
}

static void put_config_block(FILE *f, const struct ktape_config *c)
{
	put_config_size(f, c->block);
}

static void put_duration(FILE *f, const struct ktape_config *c)
{
	kt_put_duration(f, c->duration);
}

static const struct key keys[] = {
	{ "events", KTAPE_CONFIG_EVENTS, parse_config_events, put_config_events },
	{ "context", KTAPE_CONFIG_CONTEXT, parse_context, put_config_context },
	{ "mode", KTAPE_CONFIG_MODE, parse_mode, put_mode },
	{ "buffer", KTAPE_CONFIG_BUFFER, parse_buffer, put_buffer },
	{ "block", KTAPE_CONFIG_BLOCK, parse_config_block, put_config_block },
	{ "duration", KTAPE_CONFIG_DURATION, parse_duration, put_duration },
};

/* Report a key that was given before.  Return: -EBADMSG. */
static int report_twice(const struct line *line)
{
	return kt_error(line->error, line->number, "%s is given twice", line->key);
}

static int take_config_filter(struct ktape_config *c, const struct line *line,
			      unsigned int kind)
{
	struct ktape_error why = { .text = "" };
	int err;

	if (c->filters_given >> kind & 1)
		return report_twice(line);
	err = ktape_filter_parse(kind, line->value, &c->filters[kind], &why);
	if (err == -EBADMSG)
		return kt_error(line->error, line->number, "%s: %s", line->key,
				why.text);
	if (!err)
		c->filters_given |= 1U << kind;
	return err;
}

/* Store the value of a key. */
static int take_config_value(struct ktape_config *c, const struct line *line)
{
	int kind;

	for (size_t i = 0; i < KT_ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].name, line->key))
			continue;
		if (c->given & keys[i].given)
			return report_twice(line);
		c->given |= keys[i].given;
		return keys[i].parse(c, line);
	}
	kind = ktape_filter_kind(line->key);
	if (kind < 0)
		return kt_error(line->error, line->number,
				"unknown key \"%.60s\" (ktape-format(5) lists the keys)",
				line->key);
	return take_config_filter(c, line, (unsigned int)kind);
}

/* Remove all blanks of a list. */
static void remove_blanks(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text != ' ' && *text != '\t')
			*to++ = *text;
	}
	*to = '\0';
}

static char *trim_config_blanks(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/* Cut a comment.  A "#" inside a word does not begin one, because names may have it. */
static void cut_comment(char *text)
{
	char *hash = text;

	while ((hash = strchr(hash, '#'))) {
		if (hash == text || hash[-1] == ' ' || hash[-1] == '\t') {
			*hash = '\0';
			return;
		}
		hash++;
	}
}

/* Parse one line, which ends in NUL. */
static int take_config_line(struct ktape_config *c, struct line *line, char *text)
{
	cut_comment(text);
	line->key = trim_config_blanks(text);
	if (!*line->key)
		return 0;
	line->value = strchr(line->key, '=');
	if (!line->value)
		return kt_error(line->error, line->number,
				"\"%.60s\" is not of the form key = value",
				line->key);
	*line->value++ = '\0';
	line->key = trim_config_blanks(line->key);
	line->value = trim_config_blanks(line->value);
	/* The path of a cgroup may have blanks. */
	if (strcmp(line->key, "cgroup"))
		remove_blanks(line->value);
	return take_config_value(c, line);
}

int ktape_config_parse(const char *text, size_t len,
		       struct ktape_config *config, struct ktape_error *error)
{
	struct line line = { .number = 1, .error = error };
	const char *end = text + len, *newline;
	char *copy;
	int err = 0;

	memset(config, 0, sizeof(*config));
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++)
		config->filters[i].kind = i;
	for (; text < end && !err; text = newline + 1, line.number++) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline)
			newline = end;
		if (newline - text > LINE_MAX_LEN)
			return kt_error(error, line.number,
					"the line has more than 65536 bytes");
		if (memchr(text, '\0', (size_t)(newline - text)))
			return kt_error(error, line.number,
					"the line has a NUL byte");
		copy = strndup(text, (size_t)(newline - text));
		if (!copy)
			return -ENOMEM;
		err = take_config_line(config, &line, copy);
		free(copy);
	}
	return err;
}

static int put_config_filter(FILE *f, const struct ktape_filter_value *v)
{
	char *text;
	int err = ktape_filter_format(v, &text);

	if (err)
		return err;
	fprintf(f, "%s = %s\n", ktape_value_name(KTAPE_TYPE_FILTER, v->kind), text);
	free(text);
	return 0;
}

int ktape_config_format(const struct ktape_config *config, char **text)
{
	char *buf = NULL;
	size_t len;
	FILE *f = kt_memory_open(&buf, &len);
	int err = 0;

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < KT_ARRAY_SIZE(keys); i++) {
		if (!(config->given & keys[i].given))
			continue;
		fprintf(f, "%s = ", keys[i].name);
		keys[i].put(f, config);
		fputc('\n', f);
	}
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS && !err; i++) {
		if (config->filters_given >> i & 1)
			err = put_config_filter(f, &config->filters[i]);
	}
	if (kt_memory_close(f) || err) {
		free(buf);
		return -ENOMEM;
	}
	*text = buf;
	return 0;
}

void ktape_config_release(struct ktape_config *config)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++)
		free(config->filters[i].entries);
	memset(config, 0, sizeof(*config));
}
