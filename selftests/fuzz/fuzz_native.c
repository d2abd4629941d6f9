// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: a whole native trace, which is read and verified.  The first byte says
 * how: as a file, from a pipe, or as a directory with the metadata that the file begins
 * with; and whether the pipe form that follows has its own metadata, or only packets, and
 * then whether their metadata says that a conversion made them: only in such a trace a record
 * of further fields (KTAPE_FORMAT_ID_FIELDS) is joined with the event after it.
 * UUIDs and checksums are corrected first, unless a bit of the first byte says otherwise,
 * because the fuzzer would not get past them.
 */
#include <sys/stat.h>

#include <ktape.h>

#include "lib_codec.h"

/* Bits of the first byte. */
#define AS_PIPE	     1U
#define AS_FOLDER    2U
#define AS_IT_IS     4U
#define VERIFY	     8U
#define OWN_METADATA 16U
#define CONVERTED    32U

#define INPUT_MAX 32768U
#define PIPE_SIZE (1 << 20)

/* Internal functions of libktape. */
void kt_metadata_seal(char *text, size_t len);
int kt_metadata_packets(const uint8_t *uuid, const char *metadata, size_t len,
			uint8_t **packets, size_t *size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint64_t get_le(const uint8_t *p, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, p, size);
	return value;
}

/* Return the bytes of the metadata packet at the beginning, or 0. */
static size_t metadata_packet_size(const uint8_t *data, size_t len)
{
	size_t size;

	if (len <= sizeof(struct ktape_metadata_packet) ||
	    get_le(data, 4) != KTAPE_METADATA_MAGIC)
		return 0;
	size = get_le(data + offsetof(struct ktape_metadata_packet, packet_bits), 4) /
	       8;
	return size > sizeof(struct ktape_metadata_packet) && size <= len ? size : 0;
}

/* Correct the checksums of a pipe form, and the UUIDs of its packets. */
static void seal(uint8_t *data, size_t len)
{
	size_t at = metadata_packet_size(data, len);

	if (at)
		kt_metadata_seal((char *)data + sizeof(struct ktape_metadata_packet),
				 at - sizeof(struct ktape_metadata_packet));
	while (len - at >= KTAPE_BLOCK_HEADER &&
	       get_le(data + at, 4) == KTAPE_BLOCK_MAGIC) {
		uint8_t *p = data + at;
		uint64_t content, packet;

		content = get_le(p + offsetof(struct ktape_block, content_bits), 8);
		packet = get_le(p + offsetof(struct ktape_block, packet_bits), 8) / 8;
		if (content / 8 < KTAPE_BLOCK_HEADER || content / 8 > len - at)
			break;
		if (at)
			memcpy(p + offsetof(struct ktape_block, uuid),
			       data + offsetof(struct ktape_metadata_packet, uuid),
			       16);
		ktape_packet_seal(p);
		if (packet < KTAPE_BLOCK_HEADER || packet > len - at)
			break;
		at += packet;
	}
}

static void take_finding(void *arg, const struct ktape_finding *f)
{
	(void)arg;
	if (f->rule >= KTAPE_RULES || !ktape_rule_name(f->rule) ||
	    !memchr(f->text, 0, sizeof(f->text)))
		abort();
}

static void verify_fuzzed(const char *path)
{
	const struct ktape_verify_options how = { .finding = take_finding };
	struct ktape_verify_cpu cpu = { 0 };
	struct ktape_verify *v;

	if (ktape_verify_open(path, &how, &v, NULL))
		return;
	ktape_verify_run(v);
	for (unsigned int i = 0; i < 16 && ktape_verify_next_cpu(v, &cpu); i++)
		cpu.cpu++;
	ktape_verify_close(v);
}

static void read_fuzzed_events(const char *path)
{
	struct ktape_trace_options how = { .window = 4096, .memory = 1 << 20 };
	const struct ktape_event *e;
	struct ktape_trace *t;

	if (ktape_trace_open(path, &how, &t, NULL))
		return;
	while (ktape_trace_next(t, &e) > 0)
		free(codec_line(t, e));
	ktape_trace_close(t);
}

/* Let the pipe form come from standard input. */
static void read_as_pipe(const uint8_t *data, size_t len)
{
	int fds[2];

	/* All of it fits into the pipe, so no other thread has to write. */
	if (pipe(fds) || fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE) < 0 ||
	    write(fds[1], data, len) != (ssize_t)len)
		abort();
	close(fds[1]);
	if (dup2(fds[0], 0) < 0)
		abort();
	close(fds[0]);
	read_fuzzed_events("-");
}

static void write_native_file(int dir, const char *name, const uint8_t *data,
			      size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	close(fd);
}

/* Make a directory of it: its metadata as text, and all packets as one stream. */
static void read_as_folder(const uint8_t *data, size_t len, bool check)
{
	static char path[] = "ktape-fuzz.XXXXXX";
	const size_t head = sizeof(struct ktape_metadata_packet);
	size_t metadata = metadata_packet_size(data, len);
	int dir;

	if (!metadata || !mkdtemp(path))
		return;
	dir = open(path, O_RDONLY | O_DIRECTORY);
	write_native_file(dir, "metadata", data + head, metadata - head);
	write_native_file(dir, "stream_0_0", data + metadata, len - metadata);
	if (check)
		verify_fuzzed(path);
	else
		read_fuzzed_events(path);
	unlinkat(dir, "metadata", 0);
	unlinkat(dir, "stream_0_0", 0);
	close(dir);
	rmdir(path);
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
}

/* Return the metadata packet of a trace that was @converted or not; each is made once. */
static const uint8_t *fixed_metadata(bool converted, size_t *size)
{
	static const struct ktape_info info = {
		.uuid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
		.freq = 1000000000,
		.clock = "mono",
		.hostname = "board",
		.release = "6.1.0",
		.machine = "x86_64",
	};
	static uint8_t *packets[2];
	static size_t sizes[2];
	size_t len;
	char *text;

	if (!packets[converted]) {
		if (ktape_metadata_format(&info, &text, &len) ||
		    (converted &&
		     ktape_metadata_add(&text, &len, "converted", "yes")) ||
		    kt_metadata_packets(info.uuid, text, len,
					&packets[converted], &sizes[converted]))
			abort();
		free(text);
	}
	*size = sizes[converted];
	return packets[converted];
}

static void read_fuzzed_trace(unsigned int how, uint8_t *trace, size_t len)
{
	char path[CODEC_PATH];
	int fd;

	if (!(how & AS_IT_IS))
		seal(trace, len);
	if (how & AS_FOLDER) {
		read_as_folder(trace, len, how & VERIFY);
	} else if (how & AS_PIPE) {
		read_as_pipe(trace, len);
	} else {
		fd = codec_file(path, trace, len);
		if (how & VERIFY)
			verify_fuzzed(path);
		else
			read_fuzzed_events(path);
		close(fd);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *head = NULL;
	size_t head_len = 0;
	uint8_t *trace;

	if (len < 2 || len > INPUT_MAX)
		return 0;
	if (!(data[0] & OWN_METADATA))
		head = fixed_metadata(data[0] & CONVERTED, &head_len);
	trace = malloc(head_len + len - 1);
	if (!trace)
		abort();
	if (head)
		memcpy(trace, head, head_len);
	memcpy(trace + head_len, data + 1, len - 1);
	read_fuzzed_trace(data[0], trace, head_len + len - 1);
	free(trace);
	return 0;
}
