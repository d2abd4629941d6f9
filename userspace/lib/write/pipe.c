// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pipe forms: write the metadata packets at the beginning of one, and split one into
 * a CTF directory.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "write/write.h"
#include "stream/metadata.h"
#include "stream/scan.h"

/* A pipe form being split.  @again: the input is a file and can be read again. */
struct split {
	struct ktape_trace_options options;
	bool again;
	struct kt_scan input;
	struct ktape_info info;
	struct ktape_ctf *ctf;
	bool damaged; /* a part of the input cannot be read */
};

int ktape_pipe_metadata(int fd, const uint8_t *uuid, const char *metadata, size_t len)
{
	uint8_t *packets;
	size_t size;
	int err;

	err = kt_metadata_packets(uuid, metadata, len, &packets, &size);
	if (err)
		return err;
	err = kt_write_all(fd, packets, size);
	free(packets);
	return err;
}

/* Report a problem of the input; the scanner's callback. */
static void notify_split(void *arg, unsigned int kind, const struct ktape_error *error)
{
	struct ktape_notice n = { .kind = kind, .error = *error };
	struct split *s = arg;

	s->damaged |= kind == KTAPE_NOTICE_CORRUPT || kind == KTAPE_NOTICE_METADATA;
	if (s->options.notice)
		s->options.notice(s->options.arg, &n);
}

/* Shorten a truncated packet to its complete records: an event that is cut is left out. */
static void mend_packet(const struct split *s, uint8_t *data, struct ktape_packet *p)
{
	struct ktape_event event;
	uint32_t flags = KT_HEAD32(data, flags);
	const char *why;

	while (kt_packet_read_event(p, &event, &why, &s->info) > 0)
		;
	KT_HEAD_SET64(data, ts_end, p->ts);
	KT_HEAD_SET64(data, content_bits, p->at * 8);
	KT_HEAD_SET32(data, flags, flags | KTAPE_BLOCK_OPEN);
}

/* Write a packet without its padding. */
static int split_packet(struct split *s, const struct kt_found *found)
{
	uint8_t *data = s->input.buf + s->input.head;
	uint64_t size = found->content;
	struct ktape_packet p;

	if (found->cut) {
		kt_packet_begin(&p, data, size, NULL, NULL);
		mend_packet(s, data, &p);
		size = p.at;
	}
	if (size != found->size) {
		KT_HEAD_SET64(data, packet_bits, size * 8);
		ktape_packet_seal(data);
	}
	return ktape_ctf_append(s->ctf, data, size);
}

static int split_all(struct split *s)
{
	struct kt_found found;
	int ret;

	while ((ret = kt_scan_next(&s->input, &found)) > 0) {
		ret = found.metadata ? 0 : split_packet(s, &found);
		if (!ret)
			ret = kt_scan_leave(&s->input, &found);
		if (ret)
			break;
	}
	return ret;
}

/* Report damage of the metadata.  Return: 0 or -ENOMEM. */
static int check_pipe_metadata(struct split *s, const uint8_t *data,
			       size_t size, const char *text, size_t len)
{
	struct ktape_error damage;
	int err = ktape_metadata_check(text, len, &damage);

	if (err != -EBADMSG)
		return err == -ENODATA ? 0 : err;
	damage.offset = kt_metadata_offset(data, size, damage.offset);
	notify_split(s, KTAPE_NOTICE_METADATA, &damage);
	return 0;
}

/* Read the metadata and create the directory. */
static int begin_split(struct split *s, const char *dir, bool force,
		       struct ktape_error *error)
{
	unsigned int flags = 0;
	char *text = NULL;
	size_t size, len;
	uint8_t *data;
	int err;

	err = kt_scan_metadata(&s->input, &data, &size, error);
	if (err)
		return err;
	err = kt_metadata_unpack(data, size, &text, &len, error);
	if (!err)
		err = check_pipe_metadata(s, data, size, text, len);
	if (!err)
		err = ktape_metadata_parse(data, size, &s->info, error);
	if (force)
		flags |= KTAPE_CTF_FORCE;
	/* What came from a pipe cannot be read again: it keeps its place even if this fails. */
	if (s->again)
		flags |= KTAPE_CTF_STAGED;
	if (!err)
		err = ktape_ctf_create(dir, flags, text, len, &s->ctf);
	free(data);
	free(text);
	return err;
}

/*
 * Let a trace with what could be read of a damaged input go beside the earlier one.
 * Return: 1, 0 if there is no earlier one, or negative errno.
 */
static int divert_output(struct split *s, const char *dir)
{
	size_t len = strlen(dir);
	bool made;
	char *path;
	int fd, err;

	if (!s->damaged || !kt_stage_is_open(&s->ctf->stage) || !s->ctf->replaces)
		return 0;
	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (asprintf(&path, "%.*s.partial", (int)len, dir) < 0)
		return -ENOMEM;
	made = !mkdir(path, 0777);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : kt_ctf_move(s->ctf, fd);
	if (err && fd >= 0)
		close(fd);
	if (err && made)
		rmdir(path);
	free(path);
	return err ? err : 1;
}

int ktape_split(const char *path, const char *dir, bool force,
		const struct ktape_trace_options *options, struct ktape_error *error)
{
	struct split *s = calloc(1, sizeof(*s));
	int fd, err, closed, moved = 0;
	struct stat st;

	if (!s)
		return -ENOMEM;
	if (options)
		s->options = *options;
	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				 fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	err = fd < 0 ? -errno : 0;
	if (!err) {
		s->again = !fstat(fd, &st) && S_ISREG(st.st_mode);
		kt_scan_init(&s->input, fd);
		s->input.uuid = s->info.uuid;
		s->input.report = notify_split;
		s->input.arg = s;
		err = begin_split(s, dir, force, error);
	}
	if (!err)
		err = split_all(s);
	if (!err)
		moved = divert_output(s, dir);
	if (moved < 0)
		err = moved;
	if (!err)
		err = ktape_ctf_commit(s->ctf);
	closed = ktape_ctf_close(s->ctf);
	kt_scan_free(&s->input);
	if (fd >= 0)
		close(fd);
	free(s);
	return err ? err : closed ? closed : moved;
}
