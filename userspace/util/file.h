/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading and writing all bytes of a request, or with _some as many as one call takes.
 *
 * An int is 0, a ssize_t the number of bytes; both are a negative errno on error.  kt_pread_all()
 * returns fewer bytes than asked for only at the end of the file.  kt_read_file() sets @data to
 * memory that the caller frees, and to NULL on error.  kt_pieces_pass() takes @n written bytes off
 * the front of the pieces; after an error of kt_pwritev_all() they are what was not written.
 */
#ifndef _KT_FILE_H
#define _KT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/**
 * struct kt_pieces - data that is still to be written
 * @iov: the pieces
 * @nr: number of pieces
 * @offset: offset of the first piece in the file, in bytes
 */
struct kt_pieces {
	struct iovec *iov;
	unsigned int nr;
	uint64_t offset;
};

int kt_write_all(int fd, const void *data, size_t len);
ssize_t kt_write_some(int fd, const void *data, size_t len);
int kt_pwrite_all(int fd, const void *data, size_t len, uint64_t offset);
void kt_pieces_pass(struct kt_pieces *p, uint64_t n);
int kt_pwritev_all(int fd, struct kt_pieces *p);
ssize_t kt_read_some(int fd, void *data, size_t len);
ssize_t kt_read_file(int dir, const char *name, size_t max, uint8_t **data);
ssize_t kt_pread_all(int fd, void *data, size_t len, uint64_t offset);
int kt_fsync_at(int dir, const char *name);

#endif /* _KT_FILE_H */
