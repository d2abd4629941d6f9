/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record by ftrace in an instance of its own, and read its ring buffer: pages of
 * trace_pipe_raw, as the kernel's events/header_page, events/header_event and the format
 * file of each event describe them.
 */
#ifndef _KT_FTRACE_H
#define _KT_FTRACE_H

#include <sys/stat.h>

#include "kt.h"

#define KTF_TRACING  "/sys/kernel/tracing"
#define KTF_INSTANCE KTF_TRACING "/instances/ktape"
#define KTF_PAGE     4096

/* Bits of common_flags, the byte at offset 2 of an event. */
#define KTF_HARDIRQ 0x08
#define KTF_SOFTIRQ 0x10
#define KTF_NMI	    0x40

/**
 * struct ktf_field - a field of an event
 * @offset: bytes from the begin of the event
 * @size: its bytes, 0 = the kernel has no such field
 */
struct ktf_field {
	int offset, size;
};

/**
 * struct ktf_event - an event as ftrace stored it
 * @ts: its time by the clock of the instance
 * @id: number of its format
 * @level: 0 task, 1 soft interrupt, 2 interrupt, 3 NMI
 * @data: the event, from common_type on
 * @size: bytes at @data
 */
struct ktf_event {
	uint64_t ts;
	int id, level;
	const char *data;
	size_t size;
};

static inline int ktf_write(const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), KTF_INSTANCE "/%s", file);
	return kt_write_text(path, text);
}

/*
 * Make the instance, stopped, with @kib of buffer per CPU, which keeps the oldest events when
 * it is full. One that an ended test has left is used again. Return: 0 or a negative errno.
 */
static inline int ktf_open(const char *clock, size_t kib)
{
	char text[32];
	int ret;

	if (mkdir(KTF_INSTANCE, 0700) && errno != EEXIST)
		return -errno;
	snprintf(text, sizeof(text), "%zu", kib);
	ret = ktf_write("tracing_on", "0");
	ret = ret ?: ktf_write("trace_clock", clock);
	ret = ret ?: ktf_write("options/overwrite", "0");
	return ret ?: ktf_write("buffer_size_kb", text);
}

static inline void ktf_close(void)
{
	ktf_write("tracing_on", "0");
	ktf_write("events/enable", "0");
	rmdir(KTF_INSTANCE);
}

/* Enable an event, "SYSTEM/NAME". Return: 0 or a negative errno. */
static inline int ktf_enable(const char *event)
{
	char file[120];

	snprintf(file, sizeof(file), "events/%s/enable", event);
	return ktf_write(file, "1");
}

/* Open a description in the events folder. */
static inline FILE *ktf_describe(const char *event, const char *file)
{
	char path[200];

	snprintf(path, sizeof(path), KTF_INSTANCE "/events/%s/%s", event, file);
	return fopen(path, "re");
}

/* Return the number of the event's format, or -1: the kernel has no such event. */
static inline int ktf_id(const char *event)
{
	FILE *f = ktf_describe(event, "id");
	int id;

	if (!f || fscanf(f, "%d", &id) != 1)
		id = -1;
	if (f)
		fclose(f);
	return id;
}

/* Find a field of an event by its name, which for an array has its bounds. */
static inline struct ktf_field ktf_field(const char *event, const char *name)
{
	struct ktf_field field = {}, at;
	char line[256], declared[128];
	FILE *f = ktf_describe(event, "format");
	const char *last;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " field:%127[^;]; offset:%d; size:%d;",
			   declared, &at.offset, &at.size) != 3)
			continue;
		last = strrchr(declared, ' ');
		if (last && !strcmp(last + 1, name))
			field = at;
	}
	if (f)
		fclose(f);
	return field;
}

/* Return the field's value, 0 if the event is too short for it or it has more than 8 bytes. */
static inline uint64_t ktf_value(const struct ktf_event *e, struct ktf_field f)
{
	uint64_t v = 0;

	if (f.offset + f.size > (int)e->size || f.size > (int)sizeof(v))
		return 0;
	memcpy(&v, e->data + f.offset, f.size);
	return v;
}

/* Return a number of per_cpu/cpuN/stats, which has lines like "overrun: 5"; -1: none. */
static inline long ktf_stat(int cpu, const char *name)
{
	char path[120], line[120], key[64];
	long value = -1, n;
	FILE *f;

	snprintf(path, sizeof(path), KTF_INSTANCE "/per_cpu/cpu%d/stats", cpu);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63[^:]: %ld", key, &n) == 2 && !strcmp(key, name))
			value = n;
	if (f)
		fclose(f);
	return value;
}

static inline int ktf_level(unsigned int flags)
{
	return flags & KTF_NMI	   ? 3 :
	       flags & KTF_HARDIRQ ? 2 :
	       flags & KTF_SOFTIRQ ? 1 :
				     0;
}

/*
 * Call @take for each event of a page. Return: number of events, or -EBADMSG if the page
 * is not what the kernel's description says, or if ftrace has lost events before it.
 *
 * A page begins with its time and the number of bytes that follow, 8 bytes each. The lower
 * 5 bits of an event's first word are its type, the others the time since the event before.
 * Types 1 to 28 are events of as many words; with type 0 the next word is the length in bytes,
 * its own 4 included.  The other types are no events: padding (up to the end of the page if it
 * has no time, else of the next word's length), and two with 27 low bits of a time in the first
 * word and the rest in the next: an extension of the time between two events, or a whole time.
 */
static inline long ktf_walk(const char *page, size_t len,
			    void (*take)(const struct ktf_event *e, void *arg),
			    void *arg)
{
	enum { PADDING = 29, EXTEND, STAMP };
	const uint32_t *word;
	struct ktf_event e;
	uint64_t commit;
	size_t at = 16, end, size;
	long n = 0;

	if (len < at)
		return -EBADMSG;
	memcpy(&e.ts, page, 8);
	memcpy(&commit, page + 8, 8);
	/* The upper bits say that events are missing before this page. */
	if (commit >> 30)
		return -EBADMSG;
	end = at + commit;
	if (end > len)
		return -EBADMSG;
	for (; at + 4 <= end; at += size) {
		word = (const void *)(page + at);
		unsigned int type = word[0] & 31;
		uint64_t delta = word[0] >> 5;

		if (type == PADDING) {
			if (!delta)
				break;
			size = word[1] + 4;
			continue;
		}
		if (type == EXTEND || type == STAMP) {
			delta += (uint64_t)word[1] << 27;
			e.ts = type == STAMP ? delta : e.ts + delta;
			size = 8;
			continue;
		}
		e.data = (const char *)(word + (type ? 1 : 2));
		e.size = type ? type * 4 : word[1] - 4;
		size = e.data - (const char *)word + e.size;
		if (at + size > end || e.size < 8)
			return -EBADMSG;
		e.ts += delta;
		e.id = *(const uint16_t *)e.data;
		e.level = ktf_level((unsigned char)e.data[2]);
		take(&e, arg);
		n++;
	}
	return n;
}

/*
 * Read what a CPU's buffer has, and call @take for each event. Return: number of events,
 * or a negative errno if the buffer cannot be opened or a page is wrong, see ktf_walk().
 */
static inline long
ktf_read(int cpu, void (*take)(const struct ktf_event *e, void *arg), void *arg)
{
	uint64_t page[KTF_PAGE / 8];
	char path[120];
	long all = 0, n = 0;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path),
		 KTF_INSTANCE "/per_cpu/cpu%d/trace_pipe_raw", cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (n >= 0 && (len = read(fd, page, sizeof(page))) > 0) {
		n = ktf_walk((const char *)page, len, take, arg);
		all += n;
	}
	close(fd);
	return n < 0 ? n : all;
}

#endif /* _KT_FTRACE_H */
