// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CTF 1.8 metadata of the lttng format.  The environment names LTTng's kernel
 * tracer (domain kernel, lttng-modules 2.13), because Trace Compass chooses its
 * kernel analyses by that.
 */
#include <fcntl.h>
#include <unistd.h>

#include "util/file.h"
#include "util/memory.h"

#include "stream/metadata.h"
#include "internal.h"
#include "meta2.h"

#define MODE_FILE 0666

static const char aliases[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := xint64_t;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float_t;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double_t;\n"
	"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text_t;\n\n";

static const char stream[] = "struct packet_context {\n"
			     "\tuint64_clock_monotonic_t timestamp_begin;\n"
			     "\tuint64_clock_monotonic_t timestamp_end;\n"
			     "\tuint64_t content_size;\n"
			     "\tuint64_t packet_size;\n"
			     "\tuint64_t packet_seq_num;\n"
			     "\tuint64_t events_discarded;\n"
			     "\tuint32_t cpu_id;\n"
			     "};\n\n"
			     "struct event_header_large {\n"
			     "\tuint32_t id;\n"
			     "\tuint64_clock_monotonic_t timestamp;\n"
			     "};\n\n"
			     "stream {\n"
			     "\tid = 0;\n"
			     "\tevent.header := struct event_header_large;\n"
			     "\tpacket.context := struct packet_context;\n"
			     "\tevent.context := struct {\n"
			     "\t\tint32_t _tid;\n"
			     "\t};\n"
			     "};\n\n";

static const char dump[] =
	"event {\n\tname = \"lttng_statedump_start\";\n\tid = %u;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t};\n};\n\n"
	"event {\n\tname = \"lttng_statedump_process_state\";\n\tid = %u;\n\tstream_id = 0;\n"
	"\tfields := struct {\n"
	"\t\tint32_t _tid;\n\t\tint32_t _pid;\n\t\tint32_t _ppid;\n"
	"\t\ttext_t _name[16];\n\t\tint32_t _type;\n\t\tint32_t _mode;\n"
	"\t\tint32_t _submode;\n\t\tint32_t _status;\n\t\tuint32_t _cpu;\n"
	"\t};\n};\n\n"
	"event {\n\tname = \"lttng_statedump_end\";\n\tid = %u;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t};\n};\n\n";

/* Write a quoted text; quotes, \ and all but printable ASCII become '?'. */
static void put_meta_quoted(FILE *f, const char *key, const char *text)
{
	fprintf(f, "\t%s = \"", key);
	for (; *text; text++)
		fputc(*text < ' ' || *text > '~' || *text == '"' || *text == '\\' ?
			      '?' :
			      *text,
		      f);
	fputs("\";\n", f);
}

static void put_env(FILE *f, const struct ktape_info *info)
{
	fputs("env {\n", f);
	put_meta_quoted(f, "hostname", info->hostname);
	fputs("\tdomain = \"kernel\";\n\tsysname = \"Linux\";\n", f);
	put_meta_quoted(f, "kernel_release", info->release);
	put_meta_quoted(f, "kernel_version", "");
	fputs("\ttracer_name = \"lttng-modules\";\n\ttracer_major = 2;\n\ttracer_minor = 13;\n\ttracer_patchlevel = 0;\n",
	      f);
	fputs("\ttrace_buffering_scheme = \"global\";\n\ttrace_name = \"ktape\";\n\tarchitecture_bit_width = 64;\n",
	      f);
	fputs("};\n\n", f);
}

static void put_meta_clock(FILE *f, const struct ktape_info *info)
{
	int64_t offset = ktape_epoch_ns(info, 0) - ktape_mono_ns(info, 0);

	fprintf(f, "clock {\n\tname = \"monotonic\";\n\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000;\n\toffset = %lld;\n};\n\n",
		offset > 0 ? (long long)offset : 0LL); /* readers take it without a sign */
	fputs("typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;\n\n",
	      f);
}

static void put_meta_fields(FILE *f, const struct lttng *t, uint32_t id,
			    uint32_t without)
{
	if (id >= LT_CALLS)
		lt_describe_call(f, &t->call_list[id - LT_CALLS]);
	else
		lt_describe(f, id, without);
}

/* Write an event class.  @user: that of a user event or of extra fields, or NULL. */
static void put_class(FILE *f, const struct lttng *t, uint32_t id,
		      const struct lt_user *user)
{
	char name[LT_NAME_ROOM];

	if (!user)
		lt_class_name(name, t, id);
	fprintf(f, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n",
		user ? user->name : name, id);
	if (!user)
		put_meta_fields(f, t, id, 0);
	else if (user->base)
		put_meta_fields(f, t, user->base, user->without);
	if (user)
		lt_describe_user(f, user);
	fputs("\t};\n};\n\n", f);
}

static void put_meta_metadata(FILE *f, const struct lttng *t)
{
	const struct ktape_info *info = t->s->info;
	char uuid[KT_UUID_TEXT];

	kt_uuid_text(info->uuid, uuid);
	fputs("/* CTF 1.8 */\n\n", f);
	fputs(aliases, f);
	fprintf(f, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n",
		uuid);
	put_env(f, info);
	put_meta_clock(f, info);
	fputs(stream, f);
	for (uint32_t i = 0; i < KTAPE_OPCODES; i++) {
		if (t->used[i])
			put_class(f, t, i, NULL);
	}
	fprintf(f, dump, LT_DUMP_START, LT_DUMP_THREAD, LT_DUMP_END);
	for (uint32_t i = 0; i < t->nr_calls; i++) {
		if (t->call_list[i].used)
			put_class(f, t, LT_CALLS + i, NULL);
	}
	for (uint32_t i = 0; i < t->nr_users; i++)
		put_class(f, t, LT_USERS + i, &t->user_list[i]);
}

/* Replace metadata of CTF 1.8 by those of CTF 2.  Return: 0 or negative errno. */
static int make_ctf2(char **text, size_t *len)
{
	char *more = NULL;
	size_t size = 0;
	FILE *f = kt_memory_open(&more, &size);
	int err;

	if (!f)
		return -ENOMEM;
	err = lt_put_ctf2(f, *text, *len, false);
	if (kt_memory_close(f) && !err)
		err = -ENOMEM;
	free(*text);
	*text = more;
	*len = size;
	return err;
}

/**
 * lt_metadata() - write the file "metadata"
 * @t: trace of which all events are written, so that all event classes are known
 *
 * Return: 0 or negative errno.
 */
int lt_metadata(const struct lttng *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = kt_memory_open(&text, &len);
	int fd, err;

	if (!f)
		return -ENOMEM;
	put_meta_metadata(f, t);
	err = kt_memory_close(f);
	if (!err && t->ctf2)
		err = make_ctf2(&text, &len);
	fd = err ? -1 :
		   openat(t->dir, "metadata",
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_FILE);
	if (fd < 0) {
		err = err ? err : -errno;
		free(text);
		return err;
	}
	err = kt_write_all(fd, text, len);
	if (close(fd) && !err)
		err = -errno;
	free(text);
	return err;
}
