// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: what a user types or writes into a file.  The first byte chooses the
 * parser; the text follows.
 *
 *	'm'		event masks: names, patterns, classes, exceptions
 *	'f'		a filter; the next byte is its kind
 *	't'		trigger conditions: "event field>5"
 *	'e'		texts for events: ktape-fmt(5)
 *	'd'		numbers, sizes and times of options
 *
 * A filter or a condition that was accepted must be accepted again after it was printed,
 * with the same meaning.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "tool/control/condition.h"
#include "util/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void fuzz_mask(char *text, size_t len)
{
	uint64_t mask[KTAPE_MASK_WORDS];
	const char *bad = NULL;

	if (ktape_mask_parse(text, mask, &bad))
		assert(bad >= text && bad <= text + len);
	bad = NULL;
	if (ktape_mask_parse_shown(text, mask, &bad))
		assert(bad >= text && bad <= text + len);
	ktape_event_near(text);
}

static void fuzz_filter(char *text, size_t len)
{
	struct ktape_filter_value value, again;
	struct ktape_error error;
	unsigned int kind;
	char *first, *second;

	if (!len)
		return;
	kind = (unsigned char)*text % (KTAPE_FILTER_KINDS + 1);
	if (ktape_filter_parse(kind, text + 1, &value, &error))
		return;
	assert(!ktape_filter_format(&value, &first));
	assert(!ktape_filter_parse(kind, first, &again, &error));
	assert(!ktape_filter_format(&again, &second));
	assert(!strcmp(first, second));
	free(first);
	free(second);
	ktape_filter_release(&value);
	ktape_filter_release(&again);
}

static void fuzz_trigger(char *text, size_t len)
{
	struct ktape_trigger t = { 0 }, again = { 0 };
	char why[96] = "", *shown;
	size_t size;
	FILE *out;

	(void)len;
	if (trigger_parse(text, &t, why)) {
		assert(memchr(why, 0, sizeof(why)));
		return;
	}
	out = open_memstream(&shown, &size);
	assert(out);
	trigger_show(out, &t);
	fclose(out);
	assert(!trigger_parse(shown, &again, why));
	assert(!memcmp(&t, &again, sizeof(t)));
	free(shown);
}

/* Make messages of events whose codes the seeds use; the text is also their blob. */
static void fuzz_formats(char *text, size_t len)
{
	static const uint8_t opcodes[] = { KTAPE_EV_EXCEPTION, KTAPE_EV_USER_EVENT };
	static const uint32_t args[][4] = {
		{ 0x123401, 5, 0xffffffff, 1 },
		{ 1025, 0x80000000, 0, 7 },
		{ 1 },
	};
	struct ktape_message message;
	struct ktape_formats *formats;

	assert(!ktape_formats_new(&formats));
	ktape_formats_parse(formats, text, len, NULL);
	for (size_t i = 0; i < 6; i++) {
		const struct ktape_event e = {
			.opcode = opcodes[i % 2],
			.known = true,
			.args = args[i / 2],
			.nargs = i / 2 == 2 ? 1 : 4,
			.blob = text,
			.blob_size = (uint32_t)len,
		};

		if (ktape_formats_message(formats, &e, &message))
			assert(message.name && message.len <= sizeof(message.text));
	}
	ktape_formats_free(formats);
}

static void fuzz_numbers(char *text, size_t len)
{
	uint64_t value, mask[4];

	(void)len;
	kt_parse_u64(text, &value);
	kt_parse_size(text, &value);
	kt_parse_time(text, &value);
	kt_parse_mask(text, mask);
}

static const struct {
	uint8_t id;
	void (*run)(char *text, size_t len);
} parsers[] = {
	{ 'm', fuzz_mask },    { 'f', fuzz_filter },  { 't', fuzz_trigger },
	{ 'e', fuzz_formats }, { 'd', fuzz_numbers },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text;

	if (!len)
		return 0;
	/* Exactly as long as the text, so that reading behind it is found. */
	text = malloc(len);
	assert(text);
	memcpy(text, data + 1, len - 1);
	text[len - 1] = '\0';
	for (size_t i = 0; i < sizeof(parsers) / sizeof(*parsers); i++) {
		if (parsers[i].id == data[0])
			parsers[i].run(text, len - 1);
	}
	free(text);
	return 0;
}
