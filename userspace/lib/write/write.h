/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A native trace that is being written.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	metadata.c	packets that hold the metadata
 *	replace.c	puts a complete directory in its place; what it may remove
 *	ctf.c		the files of a directory, or the one of a pipe form
 *	pipe.c		begins a pipe form, and splits one into a directory
 */
#ifndef _KT_WRITE_H
#define _KT_WRITE_H

#include <zstd.h>

#include "util/file.h"

#include "stream/packet.h"
#include "util/stage.h"

#define KT_CTF_NEXT   "metadata.new" /* new metadata, until it is renamed */
#define KT_CTF_PACKED ".zst"	     /* suffix of compressed stream files */

/* Size and memory address of a direct write are multiples of this, in bytes. */
#define KT_DIRECT_ALIGN 4096U

/**
 * struct kt_ctf_file - the file of one stream, or of a pipe form
 * @kind: enum ktape_ring_kind
 * @cpu: CPU number
 * @fd: descriptor of the file
 * @direct: writes bypass the page cache
 * @size: bytes written, which is the offset of the next packet
 */
struct kt_ctf_file {
	uint32_t kind;
	uint32_t cpu;
	int fd;
	bool direct;
	uint64_t size;
};

/**
 * struct ktape_ctf - a native trace that is being written
 * @path: path of the directory or file
 * @made: this writer created the directory or file
 * @described: this writer wrote the metadata file, perhaps in part
 * @rings: number of rings whose CPUs the recorder has listed in the metadata
 * @synced: metadata and names of the files are on the disk
 * @dir: folder with the files; -1 = a pipe-form file, or the end of @stage has closed it
 * @stage: temporary folder of a KTAPE_CTF_STAGED trace; @dir is this folder
 * @replaces: an earlier trace in @path will be replaced
 * @flags: KTAPE_CTF_*
 * @uuid: UUID for the metadata packets of a pipe form
 * @files: one entry per stream; one in all for a pipe form
 * @nr_files: number of entries in @files
 * @written: bytes written to all files
 * @pack: compressor, NULL = not compressed
 * @bounce: aligned buffer for compressed or padded packets
 * @bounce_size: bytes of @bounce
 * @first_ts: earliest begin of the first packet of any stream, in ticks
 * @plain: negative errno that says why writes are not direct, 0 = direct
 * @error: first error of ktape_ctf_append() or kt_ctf_cut()
 */
struct ktape_ctf {
	char *path;
	bool made;
	bool described;
	unsigned int rings;
	bool synced;
	int dir;
	struct kt_stage stage;
	bool replaces;
	unsigned int flags;
	uint8_t uuid[16];
	struct kt_ctf_file **files;
	unsigned int nr_files;
	uint64_t written;
	ZSTD_CCtx *pack;
	uint8_t *bounce;
	size_t bounce_size;
	uint64_t first_ts;
	int plain;
	int error;
};

/*
 * ktape_ctf_create() makes a trace.  Packets are added by ktape_ctf_append() or, if the caller
 * writes them itself, in the file of kt_ctf_file().  Of a staged trace kt_ctf_settle() moves the
 * files to their place, and kt_ctf_keep() leaves them where they are.  ktape_ctf_close() frees the
 * trace, and removes it if it is still staged (kt_ctf_drop()); kt_ctf_discard() removes it always.
 */

/* replace.c */
const char *kt_ctf_prefix(uint32_t kind);
int kt_ctf_make_empty(int fd, bool force);
int kt_piece_check(const char *path);
int kt_ctf_stage(struct ktape_ctf *ctf);
int kt_ctf_move(struct ktape_ctf *ctf, int folder);
int kt_ctf_settle(struct ktape_ctf *ctf);
char *kt_ctf_keep(struct ktape_ctf *ctf);
void kt_ctf_drop(struct ktape_ctf *ctf);

/* metadata.c */
int kt_metadata_packets(const uint8_t *uuid, const char *metadata, size_t len,
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
