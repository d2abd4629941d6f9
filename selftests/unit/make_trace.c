// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces for tests of the command:
 *
 *   make_trace folder DIR CPUS	8 packets of 4 records a CPU, each of 4096 bytes
 *   make_trace pipe CPUS	the same as a pipe form on standard output
 *   make_trace image FILE	memory that survived a reset, behind 3 pages of zeros
 *   make_trace kinds DIR	one packet with records of several kinds
 */
#include "lib_image.h"
#include "lib_trace.h"

#define PACKETS	8U

static void make_cpus(const char *dir, unsigned int cpus)
{
	unsigned char data[TRACE_PACKET];
	unsigned int i, cpu;
	char name[16];

	for (i = 0; i < PACKETS; i++) {
		for (cpu = 0; cpu < cpus; cpu++) {
			const struct trace_packet p = {
				.cpu = cpu,
				.seq = i + 1,
				.ts = 1000 + i * 1000 + cpu,
				.discarded = i == PACKETS - 1 ? 5 : 0,
			};

			trace_packet(data, &p);
			trace_fill(data, TRACE_PACKET);
			snprintf(name, sizeof(name), "cpu%u", cpu);
			if (dir)
				trace_write(dir, name, data, sizeof(data));
			else if (write(STDOUT_FILENO, data, sizeof(data)) < 0)
				abort();
		}
	}
}

static void add(struct ktape_builder *b, const struct ktape_record *record)
{
	if (ktape_build_add(b, record))
		abort();
}

/* On request, of no table, behind a time extension, with controls in it. */
static void make_kinds(const char *dir)
{
	static const uint32_t args[7];
	static const uint64_t words[6];
	const struct ktape_record records[] = {
		{ .ts = 10, .opcode = KTAPE_EV_SYS_ENTER_WIDE, .nargs = 1,
		  .args = args, .blob = words, .blob_size = sizeof(words) },
		{ .ts = 20, .opcode = TRACE_OPCODE, .nargs = 1, .args = args },
		{ .ts = 30 + (1ULL << 33), .opcode = KTAPE_EV_SCHED_SWITCH,
		  .nargs = 2, .args = args },
		{ .ts = 40 + (1ULL << 33), .opcode = KTAPE_EV_MARK,
		  .nargs = 1, .args = args,
		  .blob = "a\xc2\x9b" "2J\x9b" "b\xc3\xa9\x1b", .blob_size = 10 },
	};
	struct ktape_block head = { .ts_begin = 5, .seq = 1, .tid = 3 };
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;
	size_t i;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (i = 0; i < ARRAY_SIZE(records); i++)
		add(&b, &records[i]);
	trace_write(dir, "cpu0", data, ktape_build_end(&b, b.ts, 0));
}

static void make_image(const char *path)
{
	static const char front[3 * IMAGE_PAGE];
	struct image m;

	image_make(&m);
	trace_write(".", path, front, sizeof(front));
	trace_write(".", path, m.data, m.size);
	image_free(&m);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "pipe")) {
		trace_begin_pipe(STDOUT_FILENO);
		make_cpus(NULL, (unsigned int)atoi(argv[2]));
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "image")) {
		make_image(argv[2]);
		return 0;
	}
	if (argc < 3 || mkdir(argv[2], 0777))
		return 2;
	trace_metadata(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "folder"))
		make_cpus(argv[2], (unsigned int)atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "kinds"))
		make_kinds(argv[2]);
	else
		return 2;
	return 0;
}
