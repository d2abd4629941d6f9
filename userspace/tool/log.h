/* SPDX-License-Identifier: GPL-2.0-only */
/* ktape record -l: names of the pieces of a log, and which of them are kept. */
#ifndef _KT_TOOL_LOG_H
#define _KT_TOOL_LOG_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct log_piece - a piece that is there
 * @path: of it
 * @age: when it was begun, in ns since the epoch; of ours the number
 */
struct log_piece {
	char *path;
	int64_t age;
};

/**
 * struct log - a log in pieces
 * @pattern: of names, as in strftime(3), with its folder
 * @remark: what tells our pieces from others, in their metadata
 * @file: pieces are files, not directories
 * @zstd: and are compressed
 * @bytes: when a piece is full, or 0
 * @time: after how many ns it is, or 0
 * @keep: how many pieces there may be, or 0
 * @pieces: those that are there, the oldest first; the last one is written
 * @nr_pieces: how many
 * @made: how many were made by us
 * @began: when the piece was begun, on the clock of the loop
 * @retry: when to try again after a failure, or 0
 * @told: the last failure was told
 */
struct log {
	char *pattern;
	char *remark;
	bool file;
	bool zstd;
	uint64_t bytes;
	uint64_t time;
	uint64_t keep;
	struct log_piece *pieces;
	unsigned int nr_pieces;
	uint64_t made;
	uint64_t began;
	uint64_t retry;
	bool told;
};

int log_prepare(struct log *log, const char *pattern, bool zstd);
int log_parse_rotate(struct log *log, const char *text);
char *log_name(const struct log *log, unsigned int attempt);
int log_add(struct log *log, char *path);
void log_find_earlier(struct log *log);
void log_expire(struct log *log);
const char *log_current(const struct log *log);
void log_release(struct log *log);

#endif /* _KT_TOOL_LOG_H */
