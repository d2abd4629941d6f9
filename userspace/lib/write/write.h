/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CTF directory that is being written. */
#ifndef _KT_WRITE_H
#define _KT_WRITE_H

#include <zstd.h>

#include "util/file.h"

#include "stream/packet.h"
#include "util/stage.h"

#define KT_CTF_NEXT	"metadata.new"	/* until it takes the place */
#define KT_CTF_PACKED	".zst"	/* ends names of compressed files */

/* Direct writes are multiples of this, from memory aligned to it. */
#define KT_DIRECT_ALIGN	4096U

/**
 * struct kt_ctf_file - one stream
 * @kind: enum ktape_ring_kind
 * @cpu: its CPU
 * @fd: its file
 * @direct: written past the page cache
 * @size: where the next packet goes
 */
struct kt_ctf_file {
	uint32_t kind;
	uint32_t cpu;
	int fd;
	bool direct;
	uint64_t size;
};

struct ktape_ctf {
	char *path;
	bool made;		/* the directory or file, by us */
	bool described;		/* it has our metadata */
	unsigned int rings;	/* whose CPUs it has, of a recorder */
	bool synced;		/* metadata and names are on the disk */
	int dir;		/* where files are written; -1: one file */
	struct kt_stage stage;	/* of KTAPE_CTF_STAGED: @dir is inside */
	bool replaces;		/* an earlier trace is there, to be replaced */
	unsigned int flags;
	uint8_t uuid[16];	/* of a file's metadata packets */
	struct kt_ctf_file **files;
	unsigned int nr_files;
	uint64_t written;	/* bytes, in all files */
	ZSTD_CCtx *pack;	/* or NULL */
	uint8_t *bounce;
	size_t bounce_size;
	uint64_t first_ts;
	int plain;		/* why writes are not direct, or 0 */
	int error;
};

/* replace.c */
const char *kt_ctf_prefix(uint32_t kind);
int kt_ctf_check_empty(int fd, bool force);
int kt_ctf_make_empty(int fd, bool force);
int kt_ctf_stage(struct ktape_ctf *ctf);
int kt_ctf_settle(struct ktape_ctf *ctf);
char *kt_ctf_keep(struct ktape_ctf *ctf);
void kt_ctf_drop(struct ktape_ctf *ctf);

/* pipe.c */
int kt_pipe_metadata(const uint8_t *uuid, const char *metadata, size_t len,
		     uint8_t **packets, size_t *size);

/* ctf.c */
int kt_ctf_file(struct ktape_ctf *ctf, const uint8_t *head,
		struct kt_ctf_file **file);
int kt_ctf_write(struct ktape_ctf *ctf, struct kt_ctf_file *file,
		 struct kt_pieces *pieces);
int kt_ctf_redescribe(struct ktape_ctf *ctf, const char *metadata, size_t len);
int kt_ctf_sync(struct ktape_ctf *ctf);
void kt_ctf_cut(struct ktape_ctf *ctf);
void kt_ctf_discard(struct ktape_ctf *ctf);

#endif /* _KT_WRITE_H */
