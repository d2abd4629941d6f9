// SPDX-License-Identifier: GPL-2.0-only
/* The tracers: start each, read its counts, stop it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ktape/filter.h>
#include "bench_guest.h"

#define TRACEFS	   "/sys/kernel/tracing/"
#define RING_SIZE  (8UL << 20)
#define STREAM_MAX (2 * RING_SIZE)

const char *ktape_ko, *floor_ko, *folder;
bool ktape_has_cycles = true;

static bool try_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY);
	bool loaded = syscall(SYS_finit_module, fd, parameters, 0) == 0;

	close(fd);
	return loaded;
}

void must_insmod(const char *path, const char *parameters)
{
	if (!try_load(path, parameters))
		die("insmod %s %s", path, parameters);
}

void must_rmmod(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die("rmmod %s", name);
}

static void base_on(const struct set *set)
{
	(void)set;
}

static uint64_t no_events(void)
{
	return 0;
}

static void base_off(const struct set *set, struct result *result)
{
	(void)set;
	(void)result;
}

static void floor_load(const struct set *set, bool store)
{
	char text[512];

	snprintf(text, sizeof(text), "store=%d events=%s", store, set->tracepoints);
	must_insmod(floor_ko, text);
}

static void empty_on(const struct set *set)
{
	floor_load(set, false);
}

static void store_on(const struct set *set)
{
	floor_load(set, true);
}

static void floor_off(const struct set *set, struct result *result)
{
	(void)set;
	(void)result;
	must_rmmod("floor");
}

static int session = -1; /* the session that was made last */

static void session_command(unsigned int command)
{
	struct ktape_command arg = { .size = sizeof(arg) };

	if (ioctl(session, command, &arg))
		die("ioctl %#x", command);
}

void ktape_load(void)
{
	if (!try_load(ktape_ko, "profile=none clock=cycles"))
		must_insmod(ktape_ko, "profile=none");
}

void ktape_start(void)
{
	session_command(KTAPE_IOC_START);
}

/* A separate session, so that only this profile costs. */
int ktape_session(const uint64_t *mask)
{
	struct ktape_create create = {
		.size = sizeof(create),
		.mode = KTAPE_MODE_OVERWRITE,
		.ring_size = RING_SIZE,
	};
	struct ktape_profile profile = {
		.size = sizeof(profile),
		.op = KTAPE_PROFILE_SET,
	};
	struct ktape_features features = { .size = sizeof(features) };
	int fd;

	fd = open("/dev/ktape", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("open /dev/ktape");
	session = ioctl(fd, KTAPE_IOC_CREATE, &create);
	if (session < 0 || ioctl(fd, KTAPE_IOC_FEATURES, &features))
		die("create a session");
	ktape_has_cycles = features.clock == KTAPE_CLOCK_CYCLES;
	close(fd);
	memcpy(profile.mask, mask, sizeof(profile.mask));
	if (ioctl(session, KTAPE_IOC_PROFILE, &profile))
		die("set the profile");
	return session;
}

void ktape_filter(int fd, unsigned int kind, const void *entries, unsigned int nr)
{
	struct ktape_filter filter = {
		.size = sizeof(filter),
		.op = KTAPE_FILTER_SET,
		.kind = kind,
		.nr = nr,
		.entries = (uintptr_t)entries,
	};

	if (ioctl(fd, KTAPE_IOC_FILTER, &filter))
		die("set a filter of kind %u", kind);
}

static void ktape_on(const struct set *set)
{
	ktape_load();
	ktape_session(set->mask);
	ktape_start();
}

void ktape_counts(struct ktape_stats *stats)
{
	if (ioctl(session, KTAPE_IOC_STATS, stats))
		die("get the counts");
}

static uint64_t sum_class_counts(const __u64 *counts)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		total += counts[i];
	return total;
}

static struct ktape_stats ktape_stats(void)
{
	struct ktape_stats stats = {
		.size = sizeof(stats),
		.kind = KTAPE_RING_EVENT,
	};

	ktape_counts(&stats);
	return stats;
}

static uint64_t ktape_events(void)
{
	return sum_class_counts(ktape_stats().emitted);
}

/* Return the length of the packet at @p, and its content if it holds events. */
static size_t packet_length(const char *p, size_t left, size_t *content)
{
	struct ktape_metadata_packet metadata;
	struct ktape_block block;

	*content = 0;
	if (left < KTAPE_BLOCK_HEADER)
		return 0;
	memcpy(&block, p, sizeof(block));
	memcpy(&metadata, p, sizeof(metadata));
	if (metadata.magic == KTAPE_METADATA_MAGIC)
		return metadata.packet_bits / 8;
	if (block.magic != KTAPE_BLOCK_MAGIC)
		return 0;
	if (block.kind == KTAPE_RING_EVENT)
		*content = block.content_bits / 8;
	return block.packet_bits / 8;
}

/* Read everything that read() delivers. */
static size_t read_whole_session(char *stream)
{
	size_t length = 0;
	ssize_t got;

	do {
		got = read(session, stream + length, STREAM_MAX - length);
		if (got < 0 || length == STREAM_MAX)
			die("read the session");
		length += got;
	} while (got > 0);
	return length;
}

/* Save the packets with events. Return: bytes of their content. */
static uint64_t save_packets(const char *path)
{
	static char stream[STREAM_MAX];
	size_t length = read_whole_session(stream), step, content;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	uint64_t total = 0;

	for (size_t at = 0; at < length; at += step) {
		step = packet_length(stream + at, length - at, &content);
		if (!step || step > length - at)
			die("packet at %zu of %zu", at, length);
		if (write(fd, stream + at, content) != (ssize_t)content)
			die("write %s", path);
		total += content;
	}
	close(fd);
	return total;
}

static void ktape_off(const struct set *set, struct result *result)
{
	struct ktape_stats stats;
	char path[256];

	session_command(KTAPE_IOC_STOP);
	stats = ktape_stats();
	result->total = sum_class_counts(stats.emitted);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		if (sum_class_counts(stats.lost[i]))
			die("events were lost in set %s", set->name);
	snprintf(path, sizeof(path), "%s/%s.events", folder, set->name);
	result->bytes = save_packets(path);
	if (stats.tail)
		die("the ring is too small for set %s", set->name);
	close(session);
	must_rmmod("ktape");
}

/* ---- further sessions and filters ---------------------------------------- */

#define MORE 2

static int more[MORE], nr_more;

static void more_on(const struct set *set, unsigned int sessions)
{
	ktape_load();
	for (nr_more = 0; --sessions; nr_more++) {
		more[nr_more] = ktape_session(set->mask);
		ktape_start();
	}
	ktape_session(set->mask);
	ktape_start();
}

static void two_on(const struct set *set)
{
	more_on(set, 2);
}

static void three_on(const struct set *set)
{
	more_on(set, 3);
}

static void filter_on(const struct set *set, unsigned int kind, const void *entries)
{
	ktape_load();
	nr_more = 0;
	ktape_filter(ktape_session(set->mask), kind, entries, 1);
	ktape_start();
}

static void pid_on(const struct set *set, const struct ktape_filter_pid *pid)
{
	filter_on(set, KTAPE_FILTER_PID, pid);
}

static void pid_pass_on(const struct set *set)
{
	const struct ktape_filter_pid own = {
		.pid = getpid(),
		.flags = KTAPE_PID_THREADS,
	};

	pid_on(set, &own);
}

static void pid_hold_on(const struct set *set)
{
	const struct ktape_filter_pid other = { .pid = 1 };

	pid_on(set, &other);
}

static void cgroup_on(const struct set *set, const char *path)
{
	int32_t fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		die("open %s", path);
	filter_on(set, KTAPE_FILTER_CGROUP, &fd);
	close(fd);
}

static void cgroup_pass_on(const struct set *set)
{
	cgroup_on(set, CGROUP_ROOT);
}

static void cgroup_hold_on(const struct set *set)
{
	mkdir(CGROUP, 0755);
	cgroup_on(set, CGROUP);
}

/* The events that a filter holds back count, too. */
static void more_off(const struct set *set, struct result *result)
{
	struct ktape_stats stats;

	(void)set;
	session_command(KTAPE_IOC_STOP);
	stats = ktape_stats();
	result->total = sum_class_counts(stats.emitted);
	close(session);
	while (nr_more)
		close(more[--nr_more]);
	must_rmmod("ktape");
}

static uint64_t ftrace_stat(const char *name)
{
	char text[1024], *at;
	ssize_t length;
	int fd = open(TRACEFS "per_cpu/cpu0/stats", O_RDONLY);

	length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (length < 0)
		die("read ftrace's counts");
	close(fd);
	text[length] = '\0';
	for (at = strtok(text, "\n"); at; at = strtok(NULL, "\n"))
		if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == ':')
			return strtoull(at + strlen(name) + 1, NULL, 10);
	die("no %s in ftrace's counts", name);
}

/* Enable events of ftrace. The kernel takes one name per write. */
static void enable_ftrace_events(const char *names)
{
	char text[512], *name;
	int fd = open(TRACEFS "set_event", O_WRONLY | O_TRUNC);

	snprintf(text, sizeof(text), "%s", names);
	for (name = strtok(text, " "); name; name = strtok(NULL, " "))
		if (write(fd, name, strlen(name)) != (ssize_t)strlen(name))
			die("enable %s", name);
	close(fd);
}

static void ftrace_on(const struct set *set)
{
	write_setting(TRACEFS "trace_clock", "local");
	write_setting(TRACEFS "trace", " ");
	write_setting(TRACEFS "tracing_on", "1");
	enable_ftrace_events(set->ftrace);
}

static uint64_t ftrace_events(void)
{
	return ftrace_stat("entries") + ftrace_stat("overrun");
}

/* The bytes do not include overwritten events. */
static void ftrace_off(const struct set *set, struct result *result)
{
	(void)set;
	write_setting(TRACEFS "tracing_on", "0");
	result->total = ftrace_stat("entries");
	result->bytes = ftrace_stat("bytes");
	write_setting(TRACEFS "set_event", " ");
	write_setting(TRACEFS "trace", " ");
}

const struct mode modes[] = {
	{ "base", base_on, no_events, base_off, false },
	{ "empty", empty_on, no_events, floor_off, false },
	{ "store", store_on, no_events, floor_off, false },
	{ "ktape", ktape_on, ktape_events, ktape_off, false },
	{ "ftrace", ftrace_on, ftrace_events, ftrace_off, false },
	{ "two", two_on, ktape_events, more_off, true },
	{ "three", three_on, ktape_events, more_off, true },
	{ "pid-pass", pid_pass_on, ktape_events, more_off, true },
	{ "pid-hold", pid_hold_on, ktape_events, more_off, true },
	{ "cgroup-pass", cgroup_pass_on, ktape_events, more_off, true },
	{ "cgroup-hold", cgroup_hold_on, ktape_events, more_off, true },
	{ .name = NULL },
};
