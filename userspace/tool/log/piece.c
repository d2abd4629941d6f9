// SPDX-License-Identifier: GPL-2.0-only
/* Recognize a piece of a log: a comment in its metadata names the log. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "tool/log/log.h"

/**
 * log_of_piece() - find out of which log a trace is a piece
 * @path: any file or folder
 * @pattern: set to the name of the log, which the caller frees
 *
 * Return: 0, -ENOENT if it is no piece of a log, or the errno of the failed call.
 */
int log_of_piece(const char *path, char **pattern)
{
	const size_t len = strlen(LOG_REMARK);
	char *remark;
	int err = ktape_piece_remark(path, &remark);

	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	if (strncmp(remark, LOG_REMARK, len) != 0) {
		free(remark);
		return -ENOENT;
	}
	memmove(remark, remark + len, strlen(remark + len) + 1);
	*pattern = remark;
	return 0;
}
