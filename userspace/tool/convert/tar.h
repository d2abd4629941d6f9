/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing a tar archive; see tar.c. */
#ifndef _KT_TOOL_CONVERT_TAR_H
#define _KT_TOOL_CONVERT_TAR_H

#include <stdint.h>

/*
 * For each file: tar_begin(), its bytes, tar_end_file() with the same size; at last tar_end().
 * Return: 0 or negative errno.
 */
int tar_begin(int fd, const char *name, uint64_t size);
int tar_end_file(int fd, uint64_t size);
int tar_end(int fd);

#endif /* _KT_TOOL_CONVERT_TAR_H */
