/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of the metadata: writing, extending, checking and parsing.  Read the files in
 * this order; each calls only those before it: metadata_seal.c, metadata.c,
 * metadata_parse.c, metadata_check.c.
 */
#ifndef _KT_METADATA_H
#define _KT_METADATA_H

#include "util/hash.h"

#include "stream/packet.h"

#define KT_METADATA_MAX (16U << 20) /* bytes of metadata that are read */
/*
 * Metadata of CTF 2 begin with this mark.  An attribute in them has the text of CTF 1.8 that
 * describes the same trace; KT_CTF2_TEXT stands before it.
 */
#define KT_CTF2_MARK '\x1e'
#define KT_CTF2_TEXT "{\"ktape\":{\"tsdl\":"
#define KT_UUID_TEXT 37 /* bytes of a UUID as text, with its NUL */
/* Stands before our minor version; 0 = before 0.9, without a seal. */
#define KT_METADATA_MINOR "tracer_minor = "

/* metadata.c */
void kt_uuid_text(const uint8_t *uuid, char text[KT_UUID_TEXT]);
size_t kt_event_index(unsigned int opcode);
const char *kt_event_text(size_t place, unsigned int *opcode, size_t *len);
int kt_clock_check(const struct ktape_info *info, struct ktape_error *error);
/* Add a comment at the end. */
int kt_metadata_remark(char **text, size_t *len, const char *remark);

/* A part of the text. */
struct kt_text {
	const char *at;
	size_t len;
};

/*
 * metadata_seal.c: the seal is a CRC32C of the whole text, in its env block.  "Without": as if
 * the bytes from @from to @to, and those from @end on, were not there.  Unseal: take the seal
 * away, or spoil it if the text repeats a @damaged input.
 */
const char *kt_metadata_find(const struct kt_text *t, const char *what);
const char *kt_metadata_digits(const struct kt_text *t);
bool kt_metadata_is_sealed_without(const struct kt_text *t, size_t from,
				   size_t to, size_t end);
bool kt_metadata_is_sealed(const char *text, size_t len);
void kt_metadata_seal(char *text, size_t len);
void kt_metadata_unseal(char *text, size_t *len, bool damaged);

/* metadata_parse.c */
bool kt_metadata_is_packets(const uint8_t *data, size_t len);
int kt_metadata_unpack(const uint8_t *data, size_t len, char **text,
		       size_t *text_len, struct ktape_error *error);
/* Take the CTF 1.8 text out of CTF 2. */
int kt_metadata_inner(const char *json, size_t len, char **text,
		      size_t *text_len, struct ktape_error *error);
uint64_t kt_metadata_offset(const uint8_t *data, size_t len, uint64_t offset);

#endif /* _KT_METADATA_H */
