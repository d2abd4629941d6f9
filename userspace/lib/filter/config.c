// SPDX-License-Identifier: LGPL-2.1-or-later
/* Configurations: lines "key = value", "#" after a blank begins a comment. */
#include "util/parse.h"

#include "filter/internal.h"

#define LINE_MAX_LEN	65536

/* A line that is being read. */
struct line {
	unsigned int number;
	char *key;
	char *value;
	struct ktape_error *error;
};

/* A key that is no filter. */
struct key {
	const char *name;
	uint32_t given;
	int (*parse)(struct ktape_config *c, const struct line *line);
	void (*put)(FILE *f, const struct ktape_config *c);
};

static int bad(const struct line *line, const char *what)
{
	return kt_error(line->error, line->number, "%s: \"%.60s\" is no %s",
			line->key, line->value, what);
}

static int parse_events(struct ktape_config *c, const struct line *line)
{
	const char *wrong = line->value;

	if (!ktape_mask_parse(line->value, c->mask, &wrong))
		return 0;
	return kt_error(line->error, line->number, "events: \"%.*s\" is no event, class, preset, glob or mask",
			(int)kt_min(strcspn(wrong, ","), 40), wrong);
}

static int parse_context(struct ktape_config *c, const struct line *line)
{
	c->context = !strcmp(line->value, "yes");
	return c->context || !strcmp(line->value, "no")
		       ? 0 : bad(line, "yes or no");
}

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
	return bad(line, "mode (discard, overwrite, snapshot)");
}

static int parse_buffer(struct ktape_config *c, const struct line *line)
{
	return kt_parse_size(line->value, &c->buffer) ? bad(line, "size") : 0;
}

static int parse_block(struct ktape_config *c, const struct line *line)
{
	if (kt_parse_size(line->value, &c->block) ||
	    c->block > KTAPE_BLOCK_MAX)
		return bad(line, "size of a block");
	return 0;
}

static int parse_duration(struct ktape_config *c, const struct line *line)
{
	return kt_parse_time(line->value, &c->duration) ? bad(line, "time")
							: 0;
}

static void put_events(FILE *f, const struct ktape_config *c)
{
	bool first = true;

	kt_put_mask(f, c->mask, &first);
	if (first)
		fputs("none", f);
}

static void put_context(FILE *f, const struct ktape_config *c)
{
	fputs(c->context ? "yes" : "no", f);
}

static void put_mode(FILE *f, const struct ktape_config *c)
{
	fputs(modes[c->mode < KT_ARRAY_SIZE(modes) ? c->mode : 0], f);
}

static void put_size(FILE *f, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G" };
	unsigned int unit = 0;

	for (; bytes && bytes % 1024 == 0 && unit < 3; unit++)
		bytes /= 1024;
	fprintf(f, "%llu%s", (unsigned long long)bytes, units[unit]);
}

static void put_buffer(FILE *f, const struct ktape_config *c)
{
	put_size(f, c->buffer);
}

static void put_block(FILE *f, const struct ktape_config *c)
{
	put_size(f, c->block);
}

static void put_duration(FILE *f, const struct ktape_config *c)
{
	kt_put_duration(f, c->duration);
}

static const struct key keys[] = {
	{ "events", KTAPE_CONFIG_EVENTS, parse_events, put_events },
	{ "context", KTAPE_CONFIG_CONTEXT, parse_context, put_context },
	{ "mode", KTAPE_CONFIG_MODE, parse_mode, put_mode },
	{ "buffer", KTAPE_CONFIG_BUFFER, parse_buffer, put_buffer },
	{ "block", KTAPE_CONFIG_BLOCK, parse_block, put_block },
	{ "duration", KTAPE_CONFIG_DURATION, parse_duration, put_duration },
};

static int twice(const struct line *line)
{
	return kt_error(line->error, line->number, "%s was given before",
			line->key);
}

static int take_filter(struct ktape_config *c, const struct line *line,
		       unsigned int kind)
{
	struct ktape_error why = { .text = "" };
	int err;

	if (c->filters_given >> kind & 1)
		return twice(line);
	err = ktape_filter_parse(kind, line->value, &c->filters[kind], &why);
	if (err == -EBADMSG)
		return kt_error(line->error, line->number, "%s: %s", line->key,
				why.text);
	if (!err)
		c->filters_given |= 1U << kind;
	return err;
}

static int take(struct ktape_config *c, const struct line *line)
{
	int kind;

	for (size_t i = 0; i < KT_ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].name, line->key))
			continue;
		if (c->given & keys[i].given)
			return twice(line);
		c->given |= keys[i].given;
		return keys[i].parse(c, line);
	}
	kind = ktape_filter_kind(line->key);
	if (kind < 0)
		return kt_error(line->error, line->number,
				"there is no key \"%.60s\"", line->key);
	return take_filter(c, line, (unsigned int)kind);
}

/* Blanks around the commas of a list mean nothing. */
static void squeeze(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text != ' ' && *text != '\t')
			*to++ = *text;
	}
	*to = '\0';
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/* A comment begins with the line or after a blank: a name may have a "#". */
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

/* One line, which ends in NUL. */
static int take_line(struct ktape_config *c, struct line *line, char *text)
{
	cut_comment(text);
	line->key = trim(text);
	if (!*line->key)
		return 0;
	line->value = strchr(line->key, '=');
	if (!line->value)
		return kt_error(line->error, line->number,
				"\"%.60s\" is no key = value", line->key);
	*line->value++ = '\0';
	line->key = trim(line->key);
	line->value = trim(line->value);
	if (strcmp(line->key, "cgroup"))
		squeeze(line->value);
	return take(c, line);
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
					"the line is too long");
		if (memchr(text, '\0', (size_t)(newline - text)))
			return kt_error(error, line.number,
					"there is a byte of zero");
		copy = strndup(text, (size_t)(newline - text));
		if (!copy)
			return -ENOMEM;
		err = take_line(config, &line, copy);
		free(copy);
	}
	return err;
}

static int put_filter(FILE *f, const struct ktape_filter_value *v)
{
	char *text;
	int err = ktape_filter_format(v, &text);

	if (err)
		return err;
	fprintf(f, "%s = %s\n", ktape_value_name(KTAPE_TYPE_FILTER, v->kind),
		text);
	free(text);
	return 0;
}

int ktape_config_format(const struct ktape_config *config, char **text)
{
	char *buf = NULL;
	size_t len;
	FILE *f = open_memstream(&buf, &len);
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
			err = put_filter(f, &config->filters[i]);
	}
	if (fclose(f) || err) {
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
