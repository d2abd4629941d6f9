/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outputs that get their name when they are whole. */
#ifndef _KT_STAGE_H
#define _KT_STAGE_H

#include "temp.h"

#include <stdbool.h>

/**
 * struct kt_stage - an output under a temporary name
 * @folder: where the temporary name is; -1: there is none
 * @inner: of a folder: the temporary folder; -1: it is a file
 * @name: of a file: the name that it gets, in @folder
 * @temp: its temporary name, in @folder
 * @replaces: there is an earlier file of that name
 * @is_ours: of a folder: whether a name is one of an earlier output's files
 */
struct kt_stage {
	int folder;
	int inner;
	char *name;
	char temp[KT_TEMP_NAME];
	bool replaces;
	bool (*is_ours)(const char *name);
};

#define KT_STAGE_NONE	{ .folder = -1, .inner = -1 }

int kt_stage_direct(const char *path, unsigned int mode);
int kt_stage_file(struct kt_stage *s, const char *path, unsigned int mode);
int kt_stage_folder(struct kt_stage *s, int folder,
		    bool (*is_ours)(const char *name));
int kt_stage_commit(struct kt_stage *s);
void kt_stage_keep(struct kt_stage *s);
void kt_stage_drop(struct kt_stage *s);

/* Has it a temporary name? */
static inline bool kt_stage_is_open(const struct kt_stage *s)
{
	return s->folder >= 0;
}

#endif /* _KT_STAGE_H */
