// SPDX-License-Identifier: LGPL-2.1-or-later
/* Options of a format, as the user gives them: "key=value,key,...". */
#include "util/near.h"

#include "format.h"

static bool is_option_known(const struct ktape_codec_option *known, const char *key)
{
	for (; known && known->key; known++) {
		if (!strcmp(known->key, key))
			return true;
	}
	return false;
}

static void report_option_unknown(const struct ktape_codec_option *known,
				  const char *key, const char *format,
				  struct ktape_error *error)
{
	struct kt_near n = { .word = key, .len = strlen(key) };

	for (; known && known->key; known++)
		kt_near_try(&n, known->key);
	if (n.best)
		kt_error(error, 0,
			 "format %s has no option \"%.40s\": did you mean \"%s\"? (see `ktape convert --list`)",
			 format, key, n.best);
	else
		kt_error(error, 0,
			 "format %s has no option \"%.40s\" (see `ktape convert --list`)",
			 format, key);
}

/**
 * kt_codec_options_parse() - split "key=value,key,..."
 * @o: filled; ends with kt_codec_options_free(), also after an error
 * @text: the text; NULL or "" = no options
 * @known: options of the format, up to an entry without a key; NULL = none
 * @format: name of the format, for @error
 * @error: filled on -EINVAL; may be NULL
 *
 * Return: 0, -ENOMEM, or -EINVAL for an option that the format does not have, or for more than
 * KT_CODEC_OPTIONS.
 */
int kt_codec_options_parse(struct kt_codec_options *o, const char *text,
			   const struct ktape_codec_option *known,
			   const char *format, struct ktape_error *error)
{
	char *at, *part, *value;

	memset(o, 0, sizeof(*o));
	if (!text || !*text)
		return 0;
	o->text = strdup(text);
	if (!o->text)
		return -ENOMEM;
	at = o->text;
	while ((part = strsep(&at, ","))) {
		if (!*part)
			continue;
		value = strchr(part, '=');
		if (value)
			*value++ = '\0';
		if (!is_option_known(known, part)) {
			report_option_unknown(known, part, format, error);
			return -EINVAL;
		}
		if (o->nr == KT_CODEC_OPTIONS) {
			kt_error(error, 0, "more than %u options for format %s",
				 KT_CODEC_OPTIONS, format);
			return -EINVAL;
		}
		o->keys[o->nr] = part;
		o->values[o->nr++] = value ? value : "";
	}
	return 0;
}

void kt_codec_options_free(struct kt_codec_options *o)
{
	free(o->text);
	memset(o, 0, sizeof(*o));
}

/**
 * kt_codec_option() - return the value of an option
 * @o: the options
 * @key: name of the option
 *
 * Return: its value, the last one if it was given several times; NULL if it was not
 * given.
 */
const char *kt_codec_option(const struct kt_codec_options *o, const char *key)
{
	for (unsigned int i = o->nr; i--;) {
		if (!strcmp(o->keys[i], key))
			return o->values[i];
	}
	return NULL;
}
