// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: memory that survived a reset. The input is a byte of flags and
 * a list of changes to a valid image, each an offset (3 bytes) and a value. Then the
 * checksums of the superblocks and of the table of rings are computed again,
 * unless the first byte is odd, because otherwise the fuzzer would not get past
 * them.
 */
#include <stdio.h>

#include "lib_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct image whole, image;
	struct image_result res;
	size_t i;

	if (!whole.data)
		image_make(&whole);
	if (!len)
		return 0;
	image = whole;
	image.data = malloc(whole.size);
	assert(image.data);
	memcpy(image.data, whole.data, whole.size);
	image.super = (void *)image.data;
	image.rings = (void *)(image.data + whole.super->rings);
	for (i = 1; i + 4 <= len; i += 4) {
		uint32_t at = data[i] | data[i + 1] << 8 | data[i + 2] << 16;

		image.data[at % image.size] = data[i + 3];
	}
	if (!(data[0] & 1))
		image_seal(&image);
	image_recover(image.data, image.size, &res);
	/*
	 * Whatever was changed: all packets that were recovered are in order and can be read.
	 * If the UUID of the image was changed, the packets get the changed one, and opening them
	 * with the former one fails.
	 */
	assert(!res.back);
	assert(!res.bad_packets || memcmp(image.super->uuid, image_info.uuid, 16));
	ktape_recovered_release(&res.r);
	image_free(&image);
	return 0;
}
