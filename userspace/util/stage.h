/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Outputs that get their final name when they are complete; see stage.c.
 *
 * kt_stage_file() and kt_stage_private() return a descriptor to write to, which the caller
 * closes.  If the output cannot be staged, that is the final file itself, and
 * kt_stage_is_open() is false.  After kt_stage_folder() the files are made in @inner.
 *
 * A staged output may be renamed or moved, and ends with kt_stage_commit(), kt_stage_keep() or
 * kt_stage_drop(), which do nothing for another one.  After an error of kt_stage_commit() it is
 * still staged.
 */
#ifndef _KT_STAGE_H
#define _KT_STAGE_H

#include "temp.h"

#include <stdbool.h>

/**
 * struct kt_stage - an output under a temporary name
 * @folder: folder that contains the temporary name, -1 = the output is not staged
 * @inner: the temporary folder if the output is a folder, -1 = it is a file
 * @name: final name of a file, in @folder
 * @temp: temporary name, in @folder
 * @replaces: there is an earlier file with the final name
 * @is_ours: for a folder, checks whether a file of an earlier output can have a name
 */
struct kt_stage {
	int folder;
	int inner;
	char *name;
	char temp[KT_TEMP_NAME];
	bool replaces;
	bool (*is_ours)(const char *name);
};

#define KT_STAGE_NONE                     \
	{                                 \
		.folder = -1, .inner = -1 \
	}

int kt_stage_direct(const char *path, unsigned int mode);
int kt_stage_file(struct kt_stage *s, const char *path, unsigned int mode);
int kt_stage_private(struct kt_stage *s, const char *path, unsigned int mode);
int kt_stage_folder(struct kt_stage *s, int folder,
		    bool (*is_ours)(const char *name));
int kt_stage_commit(struct kt_stage *s);
int kt_stage_rename(struct kt_stage *s, const char *name);
int kt_stage_move(struct kt_stage *s, int folder);
void kt_stage_keep(struct kt_stage *s);
void kt_stage_drop(struct kt_stage *s);

/* Check whether an output has a temporary name. */
static inline bool kt_stage_is_open(const struct kt_stage *s)
{
	return s->folder >= 0;
}

#endif /* _KT_STAGE_H */
