/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The traces of a folder, which are read as one; see session.c. */
#ifndef _KT_LTTNG_SESSION_H
#define _KT_LTTNG_SESSION_H

#include "fields.h"

/**
 * struct lt_trace - a trace: a folder with metadata and streams
 * @path: from the folder that is read, "" = it is that one
 * @folder: descriptor of the folder
 * @c: its metadata
 * @classes: by class of @c: how it is mapped; in the memory of @c
 * @bytes: memory of the types of @c, a part of lt_session.bytes
 * @reported_far: a time that is too large was reported, which is done once
 */
struct lt_trace {
	char *path;
	int folder;
	struct ctf c;
	struct lt_class *classes;
	size_t bytes;
	bool reported_far;
};

/**
 * struct lt_session - traces that are read as one
 * @list: the traces
 * @nr: entries of @list
 * @freq: ticks in a second of all times that are delivered
 * @bytes: memory of the types of all traces, at most CTF_BYTES
 */
struct lt_session {
	struct lt_trace *list;
	size_t nr;
	uint64_t freq;
	size_t bytes;
};

/*
 * In this order: read the metadata, map the event classes, close all, also after a failure.
 * lt_session_time() converts ticks of a clock to the time that is delivered.
 */
int lt_session_open(struct kt_import *in, struct lt_session *all);
int lt_session_bind(struct kt_tp *tp, struct lt_session *all, struct lt_values *v);
void lt_session_close(struct lt_session *all);
uint64_t lt_session_time(const struct lt_session *all,
			 const struct ctf_origin *o, uint64_t ticks);

#endif /* _KT_LTTNG_SESSION_H */
