/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpack files and pipes that are compressed with zstd; see zin.c. */
#ifndef _KT_ZIN_H
#define _KT_ZIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KT_ZSTD_MAGIC 0xfd2fb528U
#define KT_ZIN_MARK   4U /* bytes that identify a compressed input */

/* A compressed file or pipe that is being read.  Its descriptor stays the caller's. */
struct kt_zin;

/**
 * struct kt_zin_trouble - damage of a compressed input
 * @text: description for users, NULL = no damage
 * @offset: offset of the damage in the compressed input
 * @cut: the input ends inside a frame
 */
struct kt_zin_trouble {
	const char *text;
	uint64_t offset;
	bool cut;
};

bool kt_zin_is(const void *mark);
struct kt_zin *kt_zin_new(int fd, bool seekable, const void *first, size_t len);
void kt_zin_free(struct kt_zin *z);
void kt_zin_rewind(struct kt_zin *z);
ssize_t kt_zin_read(struct kt_zin *z, void *to, size_t room,
		    struct kt_zin_trouble *trouble);
bool kt_zin_again(const struct kt_zin *z);
bool kt_zin_pending(const struct kt_zin *z);
size_t kt_zin_memory(const struct kt_zin *z);
ssize_t kt_zin_file(int dir, const char *name, size_t max, uint8_t **data);

#endif /* _KT_ZIN_H */
