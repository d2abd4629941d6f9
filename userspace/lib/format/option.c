// SPDX-License-Identifier: LGPL-2.1-or-later
/* Options of a format: "key=value,key,..." as the user gives them. */
#include "codec.h"

static bool is_known(const struct ktape_codec_option *known, const char *key)
{
	for (; known && known->key; known++) {
		if (!strcmp(known->key, key))
			return true;
	}
	return false;
}

/*
 * Take "key=value,key,..." apart.
 * Return: 0, -ENOMEM, or -EINVAL with @error filled.
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
		if (!is_known(known, part)) {
			kt_error(error, 0, "%s has no option \"%.40s\"", format,
				 part);
			return -EINVAL;
		}
		if (o->nr == KT_CODEC_OPTIONS) {
			kt_error(error, 0, "too many options");
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

/* Return: the value that was given last, or NULL. */
const char *kt_codec_option(const struct kt_codec_options *o, const char *key)
{
	for (unsigned int i = o->nr; i--;) {
		if (!strcmp(o->keys[i], key))
			return o->values[i];
	}
	return NULL;
}
