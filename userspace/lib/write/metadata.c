// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The metadata as CTF packets, which a pipe form (a trace in one file) has ahead of the packets of
 * the rings.  A directory has it as text, in the file "metadata".
 */
#include "write/write.h"

#define METADATA_CHUNK (64U << 10) /* bytes of text in a packet */

/*
 * Make metadata packets, in memory that the caller frees.  One byte more, so that it is not NULL
 * for an empty text.  Return: 0 or -ENOMEM.
 */
int kt_metadata_packets(const uint8_t *uuid, const char *metadata, size_t len,
			uint8_t **packets, size_t *size)
{
	size_t nr = (len + METADATA_CHUNK - 1) / METADATA_CHUNK;
	struct ktape_metadata_packet m = {
		.magic = htole32(KTAPE_METADATA_MAGIC),
		.major = 1, /* CTF 1.8 */
		.minor = 8,
	};
	uint8_t *p = malloc(len + nr * sizeof(m) + 1);

	if (!p)
		return -ENOMEM;
	*packets = p;
	*size = len + nr * sizeof(m);
	memcpy(m.uuid, uuid, sizeof(m.uuid));
	while (len) {
		size_t part = kt_min(len, METADATA_CHUNK);
		uint32_t bits = (uint32_t)(sizeof(m) + part) * 8;

		m.content_bits = htole32(bits);
		m.packet_bits = htole32(bits);
		memcpy(p, &m, sizeof(m));
		memcpy(p + sizeof(m), metadata, part);
		p += sizeof(m) + part;
		metadata += part;
		len -= part;
	}
	return 0;
}
