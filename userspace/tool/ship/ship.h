/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape ship: convert the pieces of a log to tables (Parquet files), and hand these over.  A
 * piece is one file or folder of a rotating log (record -l).
 *
 * In the order in which to read them:
 *	key.c		a key for each piece: names are used again
 *	piece.c		what a piece is, and its removal
 *	state.c		how far each piece is, on disk
 *	find.c		which entries of a folder are pieces of the log
 *	send.c		where the tables go, and the uploader
 *	place.c		tables that stay on this machine
 *	ship.c		command line and order of the work
 */
#ifndef _KT_TOOL_SHIP_H
#define _KT_TOOL_SHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/shared/opt.h"

#define SHIP_NAME 208U		   /* bytes of the name of a piece */
#define SHIP_KEY  (SHIP_NAME + 34) /* bytes of its key, see key.c */

/* How far a piece is. */
enum ship_stage {
	SHIP_WAITS, /* it has to be converted */
	SHIP_READY, /* its tables wait for the uploader */
	SHIP_DONE,  /* the uploader has them */
	SHIP_BAD    /* it cannot be converted */
};

/**
 * struct ship_piece - a piece of a log
 * @name: its name in the folder
 * @key: its name in the state
 * @time: when it was changed last, in ns since the epoch
 * @stage: enum ship_stage
 * @locked: a recorder writes to it
 */
struct ship_piece {
	char name[SHIP_NAME];
	char key[SHIP_KEY];
	int64_t time;
	unsigned int stage;
	bool locked;
};

/**
 * struct ship - the folder of a log
 * @path: its path
 * @fd: its descriptor
 * @state: descriptor of the folder with the state, in it
 * @target: folder of this machine that gets the tables; NULL: a command gets them
 * @log: name of the log whose pieces are taken; NULL: any log whose folder this is
 * @keep: pieces stay when they were shipped
 * @pieces: pieces, oldest first
 * @nr: entries of @pieces
 * @foreign: entries of the folder that are no pieces of the log
 * @foreign_name: one of them
 * @foreign_log: log that one of them is a piece of, or NULL
 * @reported: the message about them was printed
 */
struct ship {
	const char *path;
	int fd;
	int state;
	char *target;
	const char *log;
	bool keep;
	struct ship_piece *pieces;
	size_t nr;
	size_t foreign;
	char foreign_name[SHIP_NAME];
	char *foreign_log;
	bool reported;
};

/*
 * state.c
 *
 * A piece that SHIP_WAITS: ship_begin(), let its tables be written to its KEY.tmp, then
 * ship_converted() (it is SHIP_READY) or ship_mark() with SHIP_BAD.  One that is SHIP_READY: hand
 * its tables over, then ship_mark() with SHIP_DONE, then ship_clean().
 */
extern const char *const ship_ends[]; /* by enum ship_stage; none for SHIP_WAITS */
int ship_check_locks(void);
int ship_open(struct ship *s, const char *path);
int ship_begin(struct ship *s, const struct ship_piece *p);
int ship_converted(struct ship *s, struct ship_piece *p);
int ship_mark(struct ship *s, struct ship_piece *p, unsigned int stage);
int ship_clean(struct ship *s, struct ship_piece *p);
int ship_forget(struct ship *s, const char *file);
int ship_drop(struct ship *s, const struct ship_piece *p);
uint64_t ship_bytes(const struct ship *s, const struct ship_piece *p);
void ship_path(const struct ship *s, const struct ship_piece *p,
	       const char *end, char *path, size_t size);
void ship_close(struct ship *s);

/* find.c */
int ship_find(struct ship *s);

/* piece.c */
int ship_piece_check(struct ship *s, const char *name, char key[SHIP_KEY]);
int ship_remove(struct ship *s, const struct ship_piece *p);

/* key.c */
int ship_key(const struct ship *s, const char *name, const char *log,
	     char key[SHIP_KEY]);
bool ship_key_name(const char *key, char name[SHIP_NAME]);
bool ship_key_is_of(const char *key, const char *log);
bool ship_key_holds(const struct ship *s, const char *key);

/* send.c */
bool ship_has_target(const char *to);
int ship_target_folder(const char *to, const char *log, char **folder);
int ship_send(const char *to, const char *folder);

/* place.c */
int ship_place(const char *from, const char *to);

extern const struct kt_command command_ship;

#endif /* _KT_TOOL_SHIP_H */
