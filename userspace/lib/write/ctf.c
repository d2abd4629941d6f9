// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a native trace: the files of a CTF directory, or one pipe-form file.
 *
 * Each ring has a file of its own.  With direct writes, packets are padded to
 * KT_DIRECT_ALIGN; with compression, each packet is a zstd frame.  replace.c puts a
 * staged directory in its place and decides what may be replaced.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write/write.h"

#define MODE_DIR  0777
#define MODE_FILE 0666
#define NAME_SIZE 32
#define LEVEL	  3 /* zstd compression level */

static int write_text(struct ktape_ctf *ctf, const char *name, const char *text,
		      size_t len)
{
	int fd = openat(ctf->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			MODE_FILE);
	int err;

	if (fd < 0)
		return -errno;
	err = kt_write_all(fd, text, len);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int write_metadata(struct ktape_ctf *ctf, const char *metadata, size_t len)
{
	int err = write_text(ctf, "metadata", metadata, len);

	/* A partly written file must be removed, too. */
	ctf->described = err != -EEXIST;
	return err;
}

/*
 * Replace the metadata of a directory.  rename(2) makes sure that at any moment
 * the directory has the old or the new metadata.  A pipe form keeps its metadata.
 * Return: 0 or negative errno.
 */
int kt_ctf_redescribe(struct ktape_ctf *ctf, const char *metadata, size_t len)
{
	int err;

	if (ctf->dir < 0)
		return 0;
	err = write_text(ctf, KT_CTF_NEXT, metadata, len);
	if (!err)
		err = kt_fsync_at(ctf->dir, KT_CTF_NEXT);
	if (!err && renameat(ctf->dir, KT_CTF_NEXT, ctf->dir, "metadata"))
		err = -errno;
	/* -EEXIST: the file was not made here. */
	if (err && err != -EEXIST)
		unlinkat(ctf->dir, KT_CTF_NEXT, 0);
	return err;
}

static void name_ctf_file(const struct kt_ctf_file *f, bool packed,
			  char name[NAME_SIZE])
{
	const char *prefix = kt_ctf_prefix(f->kind);
	const char *end = packed ? KT_CTF_PACKED : "";

	if (prefix)
		snprintf(name, NAME_SIZE, "%s%u%s", prefix, f->cpu, end);
	else
		snprintf(name, NAME_SIZE, "registry%s", end);
}

/* Create the file of a stream; where the file system has no O_DIRECT, without it. */
static int open_ctf_file(struct ktape_ctf *ctf, struct kt_ctf_file *f)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
	char name[NAME_SIZE];

	name_ctf_file(f, ctf->pack, name);
	f->direct = (ctf->flags & KTAPE_CTF_DIRECT) && !ctf->plain;
	f->fd = openat(ctf->dir, name, flags | (f->direct ? O_DIRECT : 0),
		       MODE_FILE);
	if (f->fd < 0 && f->direct && errno == EINVAL) {
		ctf->plain = -EINVAL;
		f->direct = false;
		/* open(2) may have made the file before it refused O_DIRECT. */
		unlinkat(ctf->dir, name, 0);
		f->fd = openat(ctf->dir, name, flags, MODE_FILE);
	}
	return f->fd < 0 ? -errno : 0;
}

static int make_bounce(struct ktape_ctf *ctf, size_t size)
{
	void *p;

	if (ctf->bounce_size >= size)
		return 0;
	if (posix_memalign(&p, KT_DIRECT_ALIGN, size))
		return -ENOMEM;
	free(ctf->bounce);
	ctf->bounce = p;
	ctf->bounce_size = size;
	return 0;
}

/* Write pieces.  If a direct write fails with EINVAL, continue with plain writes. */
int kt_ctf_write(struct ktape_ctf *ctf, struct kt_ctf_file *file,
		 struct kt_pieces *pieces)
{
	int err = kt_pwritev_all(file->fd, pieces);

	if (err != -EINVAL || !file->direct)
		return err;
	file->direct = false;
	ctf->plain = err;
	if (fcntl(file->fd, F_SETFL, 0))
		return -errno;
	return kt_pwritev_all(file->fd, pieces);
}

/*
 * Compress a packet to one frame in the bounce buffer.
 * Return: bytes, or negative errno.
 */
static int64_t pack_packet(struct ktape_ctf *ctf, const void *packet, size_t len)
{
	size_t size = ZSTD_compressBound(len);
	int err = make_bounce(ctf, size);

	if (err)
		return err;
	size = ZSTD_compress2(ctf->pack, ctf->bounce, ctf->bounce_size, packet, len);
	return ZSTD_isError(size) ? -ENOMEM : (int64_t)size;
}

/* Copy a packet to the bounce buffer; for direct writes, pad it for alignment. */
static int64_t copy_packet(struct ktape_ctf *ctf, const void *packet, size_t len)
{
	bool aligned = ctf->flags & KTAPE_CTF_DIRECT;
	size_t size = aligned ? kt_align(len, KT_DIRECT_ALIGN) : len;
	int err = make_bounce(ctf, size);

	if (err)
		return err;
	memcpy(ctf->bounce, packet, len);
	memset(ctf->bounce + len, 0, size - len);
	if (size != len) {
		KT_HEAD_SET64(ctf->bounce, packet_bits, (uint64_t)size * 8);
		ktape_packet_seal(ctf->bounce);
	}
	return (int64_t)size;
}

/*
 * Append a packet to a file, compressed or padded; if that fails, the file is as before.
 * Return: 0 or negative errno.
 */
static int append_packet(struct ktape_ctf *ctf, struct kt_ctf_file *f,
			 const void *packet, size_t len)
{
	int64_t size = ctf->pack ? pack_packet(ctf, packet, len) :
				   copy_packet(ctf, packet, len);
	struct iovec iov = { .iov_base = ctf->bounce };
	struct kt_pieces pieces = { &iov, 1, f->size };
	int err;

	if (size < 0)
		return (int)size;
	iov.iov_len = (size_t)size;
	err = kt_ctf_write(ctf, f, &pieces);
	if (!err) {
		f->size += (uint64_t)size;
		ctf->written += (uint64_t)size;
		return 0;
	}
	/* Remove the partial packet, so that the file stays readable. */
	if (ftruncate(f->fd, (off_t)f->size))
		return -errno;
	return err;
}

/*
 * Write the empty packet that precedes the first one, @head, unless that is the first of its ring
 * (seq 0) or such an empty packet itself.  Its loss counter is 0, so a reader can compute how many
 * events were lost up to the end of the first packet.  It has the time at which the earliest packet
 * of any file so far begins.
 */
static int begin_ctf_file(struct ktape_ctf *ctf, struct kt_ctf_file *f,
			  const uint8_t *head)
{
	uint8_t packet[KTAPE_BLOCK_HEADER];
	struct ktape_block h = {
		.context = KTAPE_CTX_CONTINUED,
		.seq = KT_HEAD64(head, seq) - 1,
		.cpu = f->cpu,
		.kind = f->kind,
	};
	struct ktape_builder b;
	size_t len;

	ctf->first_ts = kt_min(ctf->first_ts, KT_HEAD64(head, ts_begin));
	if (!KT_HEAD64(head, seq) ||
	    (!KT_HEAD64(head, discarded) &&
	     KT_HEAD64(head, content_bits) == KTAPE_BLOCK_HEADER * 8))
		return 0;
	memcpy(h.uuid, head + offsetof(struct ktape_block, uuid), sizeof(h.uuid));
	h.ts_begin = ctf->first_ts;
	ktape_build_begin(&b, packet, sizeof(packet), &h);
	len = ktape_build_end(&b, h.ts_begin, 0);
	return append_packet(ctf, f, packet, len);
}

/*
 * Find the file of a packet's ring, or create the file and begin it with an empty packet; a pipe
 * form has one file for all.  Return: 0 or negative errno.
 */
int kt_ctf_file(struct ktape_ctf *ctf, const uint8_t *head, struct kt_ctf_file **file)
{
	uint32_t kind = KT_HEAD32(head, kind), cpu = KT_HEAD32(head, cpu);
	struct kt_ctf_file **more, *f;
	int err;

	for (unsigned int i = 0; i < ctf->nr_files; i++) {
		*file = ctf->files[i];
		if (ctf->dir < 0 || ((*file)->kind == kind && (*file)->cpu == cpu))
			return 0;
	}
	more = realloc(ctf->files, (ctf->nr_files + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	ctf->files = more;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->kind = kind;
	f->cpu = cpu;
	err = open_ctf_file(ctf, f);
	if (err) {
		free(f);
		return err;
	}
	ctf->files[ctf->nr_files++] = f;
	*file = f;
	return begin_ctf_file(ctf, f, head);
}

/* Make the directory or, unless KTAPE_CTF_NEW forbids it, empty or stage one that is there. */
static int make_directory(struct ktape_ctf *c, const char *metadata, size_t len)
{
	int err;

	c->made = !mkdir(c->path, MODE_DIR);
	if (!c->made && (errno != EEXIST || c->flags & KTAPE_CTF_NEW))
		return -errno;
	c->dir = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->dir < 0)
		return -errno;
	if (c->flags & KTAPE_CTF_STAGED)
		err = kt_ctf_stage(c);
	else
		err = kt_ctf_make_empty(c->dir, c->flags & KTAPE_CTF_FORCE);
	if (!err)
		err = write_metadata(c, metadata, len);
	c->written = len;
	return err;
}

/* Create the file of a pipe form, and write its metadata packets. */
static int make_ctf_file(struct ktape_ctf *c, const char *metadata, size_t len)
{
	uint8_t *packets;
	size_t size;
	int err;

	c->files = calloc(1, sizeof(*c->files));
	if (!c->files)
		return -ENOMEM;
	c->files[0] = calloc(1, sizeof(**c->files));
	if (!c->files[0])
		return -ENOMEM;
	c->files[0]->fd =
		open(c->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MODE_FILE);
	if (c->files[0]->fd < 0) {
		free(c->files[0]);
		return -errno;
	}
	c->nr_files = 1;
	c->made = true;
	err = kt_metadata_packets(c->uuid, metadata, len, &packets, &size);
	if (err)
		return err;
	err = append_packet(c, c->files[0], packets, size);
	free(packets);
	return err;
}

static int start_packing(struct ktape_ctf *c)
{
	size_t ret = 0;

	c->pack = ZSTD_createCCtx();
	if (!c->pack)
		return -ENOMEM;
	ret = ZSTD_CCtx_setParameter(c->pack, ZSTD_c_compressionLevel, LEVEL);
	if (!ZSTD_isError(ret))
		ret = ZSTD_CCtx_setParameter(c->pack, ZSTD_c_checksumFlag, 1);
	return ZSTD_isError(ret) ? -EINVAL : 0;
}

int ktape_ctf_create(const char *dir, unsigned int flags, const char *metadata,
		     size_t len, struct ktape_ctf **ctf)
{
	struct ktape_ctf *c = calloc(1, sizeof(*c));
	struct ktape_info info;
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->flags = flags;
	c->first_ts = UINT64_MAX;
	c->dir = -1;
	c->stage = (struct kt_stage)KT_STAGE_NONE;
	c->path = strdup(dir);
	if (!c->path)
		err = -ENOMEM;
	if (!err && flags & KTAPE_CTF_ZSTD)
		err = start_packing(c);
	if (!err && flags & KTAPE_CTF_FILE) {
		err = ktape_metadata_parse(metadata, len, &info, NULL);
		memcpy(c->uuid, info.uuid, sizeof(c->uuid));
	}
	if (!err)
		err = flags & KTAPE_CTF_FILE ? make_ctf_file(c, metadata, len) :
					       make_directory(c, metadata, len);
	if (err) {
		kt_ctf_discard(c);
		return err;
	}
	*ctf = c;
	return 0;
}

int ktape_ctf_append(struct ktape_ctf *ctf, const void *packet, size_t len)
{
	struct kt_ctf_file *f;
	int err;

	if (len < KTAPE_BLOCK_HEADER || kt_packet_size(packet, NULL) != len)
		return -EINVAL;
	err = kt_ctf_file(ctf, packet, &f);
	if (!err)
		err = append_packet(ctf, f, packet, len);
	if (err && !ctf->error)
		ctf->error = err;
	return err;
}

static void unlink_file(const struct ktape_ctf *ctf, const struct kt_ctf_file *f)
{
	char name[NAME_SIZE];

	if (ctf->dir < 0) {
		unlink(ctf->path);
		return;
	}
	name_ctf_file(f, ctf->pack, name);
	unlinkat(ctf->dir, name, 0);
}

/*
 * After an error, truncate each file after its last complete packet, and remove those without
 * one.  An error of this is kept in @error, unless there is one.
 */
void kt_ctf_cut(struct ktape_ctf *ctf)
{
	for (unsigned int i = 0; i < ctf->nr_files; i++) {
		const struct kt_ctf_file *f = ctf->files[i];

		if (ftruncate(f->fd, (off_t)f->size) && !ctf->error)
			ctf->error = -errno;
		if (!f->size)
			unlink_file(ctf, f);
	}
}

/* Sync a folder.  Creating files in it may be allowed although opening it is not. */
static int sync_folder(int dir, const char *path)
{
	int err = kt_fsync_at(dir, path);

	return err == -EACCES ? 0 : err;
}

/* Sync the folder that contains the trace, so that the trace's name is on the disk. */
static int sync_place(const struct ktape_ctf *ctf)
{
	char *path, *slash;
	int err;

	if (ctf->dir >= 0)
		return sync_folder(ctf->dir, "..");
	path = strdup(ctf->path);
	if (!path)
		return -ENOMEM;
	slash = strrchr(path, '/');
	/* Of "/name", the slash itself is the folder. */
	if (slash)
		slash[slash == path] = '\0';
	err = sync_folder(AT_FDCWD, slash ? path : ".");
	free(path);
	return err;
}

/*
 * Sync all files and the folder of their names; the first time also the metadata and the folder
 * that contains the trace.
 * Return: 0 or the first error.
 */
int kt_ctf_sync(struct ktape_ctf *ctf)
{
	int err = 0, ret;

	for (unsigned int i = 0; i < ctf->nr_files; i++) {
		ret = fsync(ctf->files[i]->fd) ? -errno : 0;
		/* EINVAL: this file or file system does not support fsync(2). */
		err = err || ret == -EINVAL ? err : ret;
	}
	if (ctf->synced)
		return ctf->dir < 0 || err ? err : kt_fsync_at(ctf->dir, ".");
	if (ctf->dir >= 0 && !err)
		err = kt_fsync_at(ctf->dir, "metadata");
	if (ctf->dir >= 0 && !err)
		err = kt_fsync_at(ctf->dir, ".");
	if (!err)
		err = sync_place(ctf);
	ctf->synced = !err;
	return err;
}

int ktape_ctf_close(struct ktape_ctf *ctf)
{
	int err;

	if (!ctf)
		return 0;
	err = ctf->error;
	kt_ctf_drop(ctf);
	for (unsigned int i = 0; i < ctf->nr_files; i++) {
		if (close(ctf->files[i]->fd) && !err)
			err = -errno;
		free(ctf->files[i]);
	}
	if (ctf->dir >= 0)
		close(ctf->dir);
	ZSTD_freeCCtx(ctf->pack);
	free(ctf->files);
	free(ctf->bounce);
	free(ctf->path);
	free(ctf);
	return err;
}

/* Close the trace and remove everything that was written. */
void kt_ctf_discard(struct ktape_ctf *ctf)
{
	if (!kt_stage_is_open(&ctf->stage)) {
		for (unsigned int i = 0; i < ctf->nr_files; i++)
			unlink_file(ctf, ctf->files[i]);
		if (ctf->described)
			unlinkat(ctf->dir, "metadata", 0);
		if (ctf->made && ctf->dir >= 0)
			rmdir(ctf->path);
	}
	ktape_ctf_close(ctf);
}
