// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open a trace: find out what the input is and set up its streams.
 *
 *	directory			CTF directory: one stream per file; of another
 *					tracer: read by a struct kt_import
 *	file that begins with a packet	one stream file; metadata and names come
 *					from the directory around it
 *	begins with a metadata packet	pipe form: a plain file is indexed; a pipe or
 *					a compressed file is read by live.c
 *	anything else			another format, read by a struct kt_import
 *
 * Names are read from the registry and control streams before the first event is
 * delivered, because a name may be recorded after the events that need it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "stream/metadata.h"
#include "format/formats.h"
#include "format/folders.h"
#include "format/reader.h"
#include "trace/trace.h"

/* Set the error to the name of the file that could not be read.  Return: @err. */
static int name_trace_file(struct ktape_error *error, const char *name, int err)
{
	kt_error(error, 0, "%s", name);
	return err;
}

/* Report a problem of the input; the scanner's callback. */
static void notify_input(void *arg, unsigned int kind, const struct ktape_error *error)
{
	kt_notice(arg, kind, NULL, error);
}

/* Keep the text of the metadata for callers that write the same trace again. */
static int keep_metadata(struct ktape_trace *t, const void *metadata,
			 size_t len, struct ktape_error *error)
{
	if (len >= 4 && kt_get32(metadata) == KTAPE_METADATA_MAGIC)
		return kt_metadata_unpack(metadata, len, &t->metadata,
					  &t->metadata_len, error);
	if (len && *(const char *)metadata == KT_CTF2_MARK)
		return kt_metadata_inner(metadata, len, &t->metadata,
					 &t->metadata_len, error);
	t->metadata = malloc(len);
	if (!t->metadata)
		return -ENOMEM;
	memcpy(t->metadata, metadata, len);
	t->metadata_len = len;
	return 0;
}

/*
 * Report damage of the metadata.  If they are right as far as can be checked, but no checksum
 * covers all of them, keep the reason in @unsealed.
 * Return: 0, also if they are damaged, or -ENOMEM.
 */
static int check_trace_metadata(struct ktape_trace *t, const void *metadata,
				size_t len)
{
	struct ktape_error damage;
	int err = ktape_metadata_check(t->metadata, t->metadata_len, &damage);

	if (err == -ENODATA)
		t->unsealed = damage;
	if (err != -EBADMSG)
		return err == -ENODATA ? 0 : err;
	damage.offset = kt_metadata_offset(metadata, len, damage.offset);
	kt_notice(t, KTAPE_NOTICE_METADATA, NULL, &damage);
	return 0;
}

/* Set up everything that depends on the metadata. */
static int use_metadata(struct ktape_trace *t, const void *metadata, size_t len,
			struct ktape_error *error)
{
	struct ktape_error note;
	int err;

	err = keep_metadata(t, metadata, len, error);
	if (!err)
		err = check_trace_metadata(t, metadata, len);
	if (!err)
		err = ktape_metadata_parse(metadata, len, &t->info, error);
	if (!err)
		err = ktape_decoder_new(&t->info, &t->decoder);
	if (!err)
		err = ktape_registry_new(t->info.freq, &t->registry);
	if (!err && t->info.table_hash != ktape_table_hash()) {
		kt_error(&note, 0,
			 "the trace was recorded with another event table: events that differ are shown as plain words");
		kt_notice(t, KTAPE_NOTICE_TABLE, NULL, &note);
	}
	return err;
}

/*
 * Read the metadata of a directory, compressed or not.  Return: 0, -ENOENT if it has none, -EBADMSG
 * or another negative errno.
 */
static int read_trace_metadata(struct ktape_trace *t, int dir,
			       struct ktape_error *error)
{
	uint8_t *data = NULL;
	ssize_t len = kt_read_file(dir, "metadata", KT_METADATA_MAX, &data);
	int err;

	if (len == -ENOENT)
		len = kt_zin_file(dir, "metadata.zst", KT_METADATA_MAX, &data);
	if (len == -EBADMSG)
		return kt_error(error, 0, "the file metadata.zst is damaged");
	if (len == -EINVAL)
		return kt_error(error, 0, "metadata is not a regular file");
	if (len < 0)
		return name_trace_file(error, "metadata", (int)len);
	err = use_metadata(t, data, (size_t)len, error);
	free(data);
	return err;
}

/*
 * Read the names of a whole stream, then go back to its beginning.  The rest of a packet behind
 * a bad record is not read.  Event rings are left out: their names are learned as they are
 * delivered.  So are all streams of a trace whose names have another form than the event table's.
 * Return: 0 or negative errno.
 */
static int learn_trace_names(struct ktape_trace *t, struct kt_stream *s)
{
	void (*packet)(void *arg, struct kt_stream *s, const uint8_t *head) =
		t->packet;
	struct ktape_trace_options options = t->options;
	int ret;

	if (s->kind == KTAPE_RING_EVENT ||
	    !kt_mask_has(t->info.known, KTAPE_EV_REGISTRY))
		return 0;
	t->options.notice = NULL; /* reported when the events are delivered */
	t->packet = NULL;	  /* called then, too */
	while ((ret = kt_stream_load(t, s)) > 0) {
		do {
			ret = ktape_registry_add(t->registry, &s->event);
			if (ret)
				break;
			ret = ktape_packet_next(&s->packet, &s->event, NULL);
		} while (ret > 0);
		if (ret == -ENOMEM)
			break;
	}
	t->options = options;
	t->packet = packet;
	kt_stream_forget(s);
	return ret;
}

/* Load the first packet of each stream.  Return: 0 or negative errno. */
int kt_trace_begin(struct ktape_trace *t)
{
	int err = 0;

	for (size_t i = 0; i < t->nr_streams && !err; i++)
		err = kt_heap_add(t, t->streams[i]);
	return err;
}

/*
 * Read all names; then load the first packets, unless there is a packet callback: its owner calls
 * kt_trace_begin() when it is ready for the callbacks.
 */
static int start_streams(struct ktape_trace *t)
{
	int err = 0;

	for (size_t i = 0; i < t->nr_streams && !err; i++)
		err = learn_trace_names(t, t->streams[i]);
	return err || t->packet ? err : kt_trace_begin(t);
}

/*
 * Read from its first valid packet which stream a file holds; without one, kind and CPU stay as
 * they were guessed.  Return: 0 or negative errno.
 */
static int identify_stream(struct kt_stream *s)
{
	struct kt_scan *scan = &s->scan;
	struct kt_found found;
	int ret;

	scan->report = NULL; /* reported when the events are delivered */
	while ((ret = kt_scan_next(scan, &found)) > 0 && found.metadata) {
		ret = kt_scan_leave(scan, &found);
		if (ret)
			break;
	}
	if (ret > 0) {
		s->kind = KT_HEAD32(kt_scan_head(scan), kind);
		s->cpu = KT_HEAD32(kt_scan_head(scan), cpu);
	}
	kt_stream_forget(s);
	scan->report = kt_stream_report;
	return ret < 0 ? ret : 0;
}

/*
 * Guess from its name which stream a file holds, in case it has no valid packet: the events of
 * CPU 0 if the name says nothing.
 */
static unsigned int kind_from_name(const char *path, unsigned int *cpu)
{
	static const struct {
		const char *name;
		unsigned int kind;
	} names[] = {
		{ "registry", KTAPE_RING_REGISTRY },
		{ "control", KTAPE_RING_CONTROL },
		{ "cpu", KTAPE_RING_EVENT },
	};
	const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;

	*cpu = 0;
	for (size_t i = 0; i < KT_ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i].name);
		unsigned long nr = 0;
		char *end;

		if (strncmp(p, names[i].name, len))
			continue;
		end = (char *)p + len;
		if (names[i].kind != KTAPE_RING_REGISTRY) {
			if (*end < '0' || *end > '9')
				break;
			nr = strtoul(end, &end, 10);
		}
		if ((*end && *end != '.') || nr >= KT_CPUS_MAX)
			break;
		*cpu = (unsigned int)nr;
		return names[i].kind;
	}
	return KTAPE_RING_EVENT;
}

/*
 * Add a file as a stream; what is not a regular file is left out.  O_NONBLOCK: opening a FIFO
 * must not block.  Return: 0 or negative errno, with the name in @error.
 */
static int add_file(struct ktape_trace *t, int dir, const char *name,
		    struct ktape_error *error)
{
	unsigned int cpu, kind = kind_from_name(name, &cpu);
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct kt_stream *s;
	struct stat st;
	int err;

	if (fd < 0)
		return name_trace_file(error, name, -errno);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	s = kt_stream_add(t, KT_SOURCE_FILE, kind, cpu);
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	kt_stream_file(s, fd);
	err = identify_stream(s);
	return err ? name_trace_file(error, name, err) : 0;
}

/* Names of files. */
struct names {
	char **list;
	size_t nr;
};

static int by_ring_file_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int add_trace_name(struct names *names, const char *name)
{
	char **more = names->list;

	/* Room is doubled whenever the number is a power of two. */
	if (!(names->nr & (names->nr - 1)))
		more = realloc(more,
			       (names->nr ? names->nr * 2 : 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->list = more;
	more[names->nr] = strdup(name);
	if (!more[names->nr])
		return -ENOMEM;
	names->nr++;
	return 0;
}

static void free_names(struct names *names)
{
	while (names->nr)
		free(names->list[--names->nr]);
	free(names->list);
}

/*
 * Add the files of a directory in order of their names: readdir() has any order, in which
 * damage of the files would be reported.
 */
static int add_files(struct ktape_trace *t, int fd, DIR *dir,
		     struct ktape_error *error)
{
	struct names names = { NULL, 0 };
	struct dirent *entry;
	int err = 0;

	while (!err && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' &&
		    strncmp(entry->d_name, "metadata", strlen("metadata")))
			err = add_trace_name(&names, entry->d_name);
	}
	if (names.nr)
		qsort(names.list, names.nr, sizeof(*names.list), by_ring_file_name);
	for (size_t i = 0; !err && i < names.nr; i++)
		err = add_file(t, fd, names.list[i], error);
	free_names(&names);
	return err;
}

static int open_directory(struct ktape_trace *t, int fd, struct ktape_error *error)
{
	int err, copy;
	DIR *dir;

	err = read_trace_metadata(t, fd, error);
	if (err == -ENOENT)
		return kt_error(error, 0, "the directory has no metadata file");
	if (err)
		return err;
	copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir)
		return -errno;
	err = add_files(t, fd, dir, error);
	closedir(dir);
	return err ? err : start_streams(t);
}

/*
 * Open one stream file.  The registry stream of its directory is read for names and
 * then removed again.  If there is none that can be opened, names are missing, which is no error;
 * an error while it is read is one.
 */
static int open_stream(struct ktape_trace *t, const char *path,
		       struct ktape_error *error)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) :
			       strdup(".");
	struct kt_stream *mine;
	int dir, err;

	t->single = true;
	if (!parent)
		return -ENOMEM;
	dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(parent);
	if (dir < 0)
		return -errno;
	err = read_trace_metadata(t, dir, error);
	if (err == -ENOENT)
		err = kt_error(error, 0,
			       "this is one stream of a trace, but its directory has no metadata file");
	if (!err)
		err = add_file(t, AT_FDCWD, path, NULL);
	mine = err || !t->nr_streams ? NULL : t->streams[0];
	if (mine && mine->kind != KTAPE_RING_REGISTRY &&
	    (!add_file(t, dir, "registry", NULL) ||
	     !add_file(t, dir, "registry.zst", NULL)) &&
	    t->nr_streams > 1)
		err = learn_trace_names(t, t->streams[1]);
	while (t->nr_streams > 1)
		kt_stream_free(t->streams[--t->nr_streams]);
	close(dir);
	return err ? err : start_streams(t);
}

/* Index the packets of a pipe-form file. */
static int list_packets(struct ktape_trace *t)
{
	struct kt_found found;
	struct kt_stream *s;
	int ret;

	while ((ret = kt_scan_next(&t->input, &found)) > 0) {
		const uint8_t *head = kt_scan_head(&t->input);

		if (!found.metadata) {
			s = kt_stream_find(t, KT_HEAD32(head, kind),
					   KT_HEAD32(head, cpu));
			if (!s)
				s = kt_stream_add(t, KT_SOURCE_LIST,
						  KT_HEAD32(head, kind),
						  KT_HEAD32(head, cpu));
			ret = s ? kt_stream_place(s, found.offset, found.content) :
				  -ENOMEM;
			if (ret)
				return ret;
		}
		ret = kt_scan_leave(&t->input, &found);
		if (ret)
			return ret;
	}
	kt_scan_free(&t->input);
	return ret;
}

static int open_pipe_form(struct ktape_trace *t, struct ktape_error *error)
{
	uint8_t *data;
	size_t len;
	int err;

	err = kt_scan_metadata(&t->input, &data, &len, error);
	if (err)
		return err;
	err = use_metadata(t, data, len, error);
	free(data);
	if (err)
		return err;
	if (!t->input.seekable) {
		kt_live_begin(t);
		return 0;
	}
	err = list_packets(t);
	return err ? err : start_streams(t);
}

/*
 * Detect the format from the first bytes.  A serial line may deliver them one by one,
 * so the formats are probed again after each read until a format recognises the input.
 * Return: 0 with @format, NULL = native or too short for any; -EBADMSG if no format recognises the
 * input; or negative errno.
 */
static int probe_format(struct ktape_trace *t, const struct ktape_codec **format,
			struct ktape_error *error)
{
	uint64_t need = t->input.seekable ? KT_CODEC_PROBE : 4;
	uint32_t magic;
	int64_t there;

	for (;;) {
		there = kt_scan_need(&t->input, need);
		if (there < 4)
			return there < 0 ? (int)there : 0;
		magic = kt_get32(kt_scan_head(&t->input));
		if (magic == KTAPE_BLOCK_MAGIC || magic == KTAPE_METADATA_MAGIC)
			return 0;
		*format = kt_codec_probe(kt_scan_head(&t->input),
					 kt_scan_there(&t->input), t->input.eof);
		if (*format)
			return 0;
		if (t->input.eof || there >= (int64_t)KT_CODEC_PROBE)
			return kt_error(
				error, 0,
				"unknown format; name it with --from (`ktape convert --list` shows the formats)");
		need = (uint64_t)there + 1;
	}
}

/* Find the format by name or by probing; @format NULL = native. */
static int find_trace_format(struct ktape_trace *t,
			     const struct ktape_codec **format,
			     struct ktape_error *error)
{
	const char *name = t->options.format;

	*format = NULL;
	if (name) {
		*format = kt_codec_get(name, false, error);
		if (!*format)
			return -EINVAL;
		if (!(*format)->in) /* the native one */
			*format = NULL;
		return 0;
	}
	return probe_format(t, format, error);
}

/* Read a trace in another format; @folder -1 = the input is a file. */
static int open_import(struct ktape_trace *t, const struct ktape_codec *format,
		       int folder, struct ktape_error *error)
{
	const struct kt_import_trace import = {
		.options = &t->options,
		.input = &t->input,
		.folder = folder,
		.info = &t->info,
		.formats = kt_user_formats,
		.registry = &t->registry,
	};

	t->folder = folder;
	return kt_import_open(&import, format, &t->import, error);
}

static void begin_input(struct ktape_trace *t, int fd)
{
	kt_scan_init(&t->input, fd);
	t->input.uuid = t->info.uuid;
	t->input.budget = &t->budget;
	t->input.report = notify_input;
	t->input.arg = t;
}

/* For the file "metadata" of a folder; a FIFO of that name must not block. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* Keep why the first part of a folder cannot be read. */
static void keep_skip(void *arg, const char *path, const char *why)
{
	struct ktape_error *error = arg;

	if (!*error->text)
		kt_error(error, 0,
			 "no trace in the directory can be read: %.100s: %s",
			 path, why);
}

/*
 * Open the metadata of a folder below another one.
 * Return: descriptor; -1 with errno, which stays 0 if they are empty or no regular file.
 */
static int open_below(int folder, const char *path)
{
	int below = openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = below < 0 ? -1 : openat(below, "metadata", FLAGS);
	struct stat st;

	if (below >= 0)
		close(below);
	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size))
		return fd;
	close(fd);
	return -1;
}

/*
 * Open the metadata of a folder, or of the first trace below it, of which there may be more
 * (format/folders.h): LTTng makes a trace for the kernel and one for programs.
 * Return: descriptor; @below tells that it is of a folder below.  -1 if there are none, with
 * @error filled if some below cannot be read; or if the folder's own cannot be opened, which
 * open_directory() then reports.
 */
static int find_metadata(int folder, bool *below, struct ktape_error *error)
{
	struct kt_folders found = { .skip = keep_skip, .arg = error };
	int fd = openat(folder, "metadata", FLAGS);

	*below = false;
	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* The format reads them once more, and reports if they are too many. */
	kt_folders_find(folder, &found);
	for (size_t i = 0; i < found.nr && fd < 0; i++) {
		errno = 0;
		fd = open_below(folder, found.list[i]);
		if (fd < 0 && errno)
			keep_skip(error, found.list[i], strerror(errno));
	}
	*below = fd >= 0;
	kt_folders_free(&found);
	return fd;
}

/*
 * Open a directory by the format of its file "metadata".  The directory is the trace's
 * input if it is native; else the file is, and the directory is its folder.
 */
static int open_trace_folder(struct ktape_trace *t, struct ktape_error *error)
{
	const struct ktape_codec *format = NULL;
	int folder = t->input.fd, fd, err = 0;
	struct ktape_error why = { .text = "" };
	int64_t there = 1;
	struct stat st;
	bool below;

	fd = find_metadata(folder, &below, &why);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		if (fd < 0 && *why.text)
			return kt_error(error, 0, "%s", why.text);
		return open_directory(t, folder, error);
	}
	begin_input(t, fd);
	if (t->options.format)
		err = find_trace_format(t, &format, error);
	else
		there = kt_scan_need(&t->input, KT_CODEC_PROBE);
	if (there < 0)
		err = (int)there;
	else if (!there)
		err = kt_error(error, 0, "the file metadata is empty");
	else if (!err && !t->options.format)
		format = kt_codec_probe(kt_scan_head(&t->input),
					kt_scan_there(&t->input), t->input.eof);
	if (!err && !format && below)
		err = kt_error(error, 0,
			       "the directory has no metadata file, only folders in it have");
	if (!err && format && !format->in->folder)
		err = kt_error(error, 0, "format %s is a file, not a folder",
			       format->name);
	if (!err && format)
		return open_import(t, format, folder, error);
	kt_scan_free(&t->input);
	close(fd);
	begin_input(t, folder);
	return err ? err : open_directory(t, folder, error);
}

static int open_path(struct ktape_trace *t, const char *path,
		     struct ktape_error *error)
{
	const struct ktape_codec *format;
	struct stat st;
	int64_t there;
	int fd, err;

	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				 fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	begin_input(t, fd);
	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return open_trace_folder(t, error);
	err = find_trace_format(t, &format, error);
	if (err)
		return err;
	if (format)
		return open_import(t, format, -1, error);
	there = kt_scan_need(&t->input, 4);
	if (there < 0)
		return (int)there;
	if (there < 4)
		return kt_error(error, 0,
				"the input is empty or too short for a trace");
	if (kt_get32(kt_scan_head(&t->input)) == KTAPE_BLOCK_MAGIC &&
	    kt_scan_is_rereadable(&t->input))
		return open_stream(t, path, error);
	return open_pipe_form(t, error);
}

/* As ktape_trace_open(), with options and packet callback from @how. */
int kt_trace_open(const char *path, const struct ktape_trace *how,
		  struct ktape_trace **trace, struct ktape_error *error)
{
	struct ktape_trace *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->options = how->options;
	t->packet = how->packet;
	t->packet_arg = how->packet_arg;
	if (error)
		memset(error, 0, sizeof(*error));
	t->input.fd = -1;
	t->folder = -1;
	t->budget.max = t->options.memory ? t->options.memory : KTAPE_TRACE_HELD_MAX;
	/* Losses wait until it is open.  With a packet callback, packets are loaded later. */
	t->opening = !t->packet;
	err = open_path(t, path, error);
	kt_loss_opened(t);
	if (!err)
		err = t->failed;
	if (err) {
		kt_loss_until(t, UINT64_MAX);
		ktape_trace_close(t);
		return err;
	}
	*trace = t;
	return 0;
}

int ktape_trace_open(const char *path, const struct ktape_trace_options *options,
		     struct ktape_trace **trace, struct ktape_error *error)
{
	struct ktape_trace how = { .packet = NULL };

	if (options)
		how.options = *options;
	return kt_trace_open(path, &how, trace, error);
}

bool ktape_trace_is_live(const struct ktape_trace *trace)
{
	return trace->live || (trace->import && !trace->input.seekable);
}

const char *ktape_trace_metadata(const struct ktape_trace *trace, size_t *len)
{
	*len = trace->metadata_len;
	return trace->metadata;
}

const char *ktape_trace_format(const struct ktape_trace *trace)
{
	return trace->import ? trace->import->format->name : NULL;
}

bool ktape_trace_is_kernel(const struct ktape_trace *trace)
{
	return !trace->import || trace->import->format->in->kernel;
}

const char *ktape_trace_source(struct ktape_trace *trace, size_t *len)
{
	return trace->import ? kt_import_json(trace->import, len) : NULL;
}

const struct ktape_info *ktape_trace_info(const struct ktape_trace *trace)
{
	return &trace->info;
}

const struct ktape_registry *ktape_trace_registry(const struct ktape_trace *trace)
{
	return trace->registry;
}

void ktape_trace_close(struct ktape_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->nr_streams; i++)
		kt_stream_free(trace->streams[i]);
	free(trace->streams);
	free(trace->heap);
	free(trace->index);
	free(trace->losses);
	free(trace->metadata);
	kt_import_close(trace->import);
	kt_scan_free(&trace->input);
	if (trace->input.fd >= 0)
		close(trace->input.fd);
	if (trace->folder >= 0)
		close(trace->folder);
	ktape_decoder_free(trace->decoder);
	ktape_registry_free(trace->registry);
	free(trace);
}
