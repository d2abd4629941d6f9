// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: a packet; or metadata if the input begins with 'm'; or a
 * configuration if it begins with 'c'. The checksum of a packet whose last byte
 * is odd is corrected first, because otherwise the fuzzer would not get past it.
 */
#include "lib_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void fuzz_packet(const uint8_t *data, size_t len)
{
	struct feed feed;
	uint8_t *copy = malloc(len);
	uint64_t content = 0;

	assert(copy);
	memcpy(copy, data, len);
	if (len >= KTAPE_BLOCK_HEADER) {
		memcpy(&content,
		       copy + offsetof(struct ktape_block, content_bits), 8);
		if (content / 8 >= KTAPE_BLOCK_HEADER && content / 8 <= len &&
		    data[len - 1] & 1)
			ktape_packet_seal(copy);
	}
	if (!feed_start(&feed)) {
		feed_packet(&feed, copy, len);
		/* Decode again, with the names that are known by now. */
		feed_packet(&feed, copy, len);
	}
	feed_end(&feed);
	free(copy);
}

/* A configuration that was parsed must parse again after it was printed. */
static void fuzz_config(const char *text, size_t len)
{
	struct ktape_config config, again;
	struct ktape_error error;
	char *first, *second;

	if (!ktape_config_parse(text, len, &config, &error)) {
		assert(!ktape_config_format(&config, &first));
		assert(!ktape_config_parse(first, strlen(first), &again, &error));
		assert(!ktape_config_format(&again, &second));
		assert(!strcmp(first, second));
		ktape_config_release(&again);
		free(first);
		free(second);
	}
	ktape_config_release(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ktape_info info;
	struct ktape_error error;

	if (len && data[0] == 'm')
		ktape_metadata_parse(data + 1, len - 1, &info, &error);
	else if (len && data[0] == 'c')
		fuzz_config((const char *)data + 1, len - 1);
	else if (len)
		fuzz_packet(data, len);
	return 0;
}
