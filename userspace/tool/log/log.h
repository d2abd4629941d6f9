/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logs of ktape record -l: traces in pieces, each a file or folder of its own.
 *
 * In the order in which to read them:
 *	piece.c		of which log is a trace a piece?
 *	name.c		is a name one that the log would generate?
 *	log.c		names of the pieces, removal of old pieces
 */
#ifndef _KT_TOOL_LOG_H
#define _KT_TOOL_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_REMARK   "a piece of the log " /* its name follows */
#define LOG_FILE_END ".ktape"
#define LOG_ZSTD_END ".zst"

/**
 * struct log_piece - a piece that exists
 * @path: path of the piece
 * @begun: when a piece of an earlier run was begun, in ns since the epoch; INT64_MAX
 *	for pieces of this run, which are newer
 */
struct log_piece {
	char *path;
	int64_t begun;
};

/**
 * struct log - a log in pieces
 * @pattern: absolute path with conversions of strftime(3)
 * @remark: comment in the metadata of this log's pieces
 * @file: pieces are single files, as -o - writes them (pipe form); else directories
 * @zstd: pieces are compressed
 * @bytes: size at which a piece is full; 0: no limit
 * @time: time after which a piece is full, in ns; 0: no limit
 * @keep: number of pieces to keep; 0: all
 * @pieces: existing pieces, oldest first; the last one is being written
 * @nr_pieces: entries of @pieces
 * @made: number of pieces of this run
 * @began: when the current piece was begun, CLOCK_MONOTONIC in ns
 * @retry: CLOCK_MONOTONIC in ns before which no new piece is begun, because the current
 *	one is empty or the last attempt failed; 0: any time
 * @reported: the message about the last failure was printed
 * @lock: descriptor of the current piece, which is locked; 0 or negative: none
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
	bool reported;
	int lock;
};

/* log.c */
int log_prepare(struct log *log, const char *pattern, bool zstd);
int log_parse_rotate(struct log *log, const char *text);
char *log_name(const struct log *log, unsigned int attempt);
int log_add(struct log *log, char *path);
void log_find_earlier(struct log *log);
void log_expire(struct log *log);
const char *log_current(const struct log *log);
void log_release(struct log *log);

/* name.c */
bool log_gives_name(const char *pattern, const char *name);
bool log_is_in(const char *pattern, const char *path, int folder);

/* piece.c */
int log_of_piece(const char *path, char **pattern);

#endif /* _KT_TOOL_LOG_H */
