// SPDX-License-Identifier: LGPL-2.1-or-later
/* What recording needs besides the module: clock, memory, io_uring, an output. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/parse.h"
#include "util/temp.h"
#include "util/tmpfs.h"
#include "internal.h"

#define CLOCKSOURCE \
	"/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define RING_SIZE	 (4ULL << 20)  /* of a CPU, as ktape record asks for */
#define CONTROL_LEAST	 (64ULL << 10) /* of a CPU's control ring, at least */
#define RING_LEAST	 (64ULL << 10) /* smallest ring that is proposed */
#define URING_MEMORY	 (64ULL << 10) /* of a queue, about */
#define CPUS_MOST	 8192U
#define CAP_IPC_LOCK_BIT 14

/* ---- the clock -------------------------------------------------------------- */

/* Clock sources that the kernel takes when it does not trust the CPU's counter. */
static const char *const slow_clocks[] = {
	"acpi_pm", "hpet", "jiffies", "pit", "refined-jiffies",
};

/*
 * Warn if the trace clock is not the CPU's counter, unless the module was asked for that.  If the
 * device cannot be opened, the clock source of the kernel tells what it would be.
 */
void kt_check_clock(struct ktape_doctor *d)
{
	char source[KT_DOCTOR_WORD], wanted[KT_DOCTOR_WORD];
	bool slow = false;

	if (!kt_doctor_word(d, CLOCKSOURCE, source))
		strcpy(source, "unknown");
	kt_doctor_word(d, "/sys/module/ktape/parameters/clock", wanted);
	for (size_t i = 0; i < KT_ARRAY_SIZE(slow_clocks); i++)
		slow |= !strcmp(source, slow_clocks[i]);
	if (!d->open_error && d->features.clock == KTAPE_CLOCK_CYCLES) {
		kt_ok(d, "the trace clock is the CPU's counter");
		return;
	}
	if (!d->open_error && !strcmp(wanted, "mono")) {
		kt_ok(d, "the trace clock is the kernel's, as clock=mono asks for");
		return;
	}
	if (d->open_error && !slow) {
		kt_ok(d, "clock source: %s", source);
		return;
	}
	kt_found(d, KTAPE_DOCTOR_WARNING,
		 "the kernel does not trust the CPU's counter (clock source: %s)",
		 source);
	kt_why(d, "ktape then uses the kernel's monotonic clock: an event costs more, up to a microsecond with hpet or acpi_pm; if the counter is sound, boot with tsc=reliable");
	kt_next(d, "%sdmesg | grep -i -e tsc -e clocksource", d->sudo);
}

/* ---- memory ----------------------------------------------------------------- */

/* Count the CPUs of a list such as "0-3,8".  Return: at least 1. */
static unsigned int count_cpus(const char *list)
{
	unsigned long first, last, nr = 0;
	char *end;

	while (list && *list >= '0' && *list <= '9' && nr < CPUS_MOST) {
		first = strtoul(list, &end, 10);
		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		if (last < first || last >= CPUS_MOST)
			break;
		nr += last - first + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return nr ? (unsigned int)nr : 1;
}

/* Read a line of /proc/meminfo in bytes, UINT64_MAX if it is missing. */
static uint64_t read_meminfo(const char *text, const char *name)
{
	const char *line = kt_text_line(text, name);
	unsigned long long kib;

	return line && sscanf(line, "%15llu", &kib) == 1 ? kib << 10 : UINT64_MAX;
}

/* Control groups: version 2, and the controller "memory" of version 1. */
static const struct {
	const char *begin;
	const char *folder;
	const char *limit;
	const char *used;
} groups[] = {
	{ "0::", "/sys/fs/cgroup", "memory.max", "memory.current" },
	{ "0::", "/sys/fs/cgroup/unified", "memory.max", "memory.current" },
	{ "memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
	  "memory.usage_in_bytes" },
};

/* Find the path of this process in a line "4:memory:/a/b" or "0::/a/b". */
static bool group_path(const char *text, const char *begin, char path[256])
{
	const char *line = text;
	bool found = false;

	while (line && *line && !found) {
		const char *rest = line;

		/* The number of a hierarchy of version 1 */
		if (*begin != '0')
			rest += strcspn(rest, ":\n") + (*rest != '\0');
		if (!strncmp(rest, begin, strlen(begin))) {
			rest += strlen(begin);
			found = strcspn(rest, "\n") < 256;
		}
		if (found)
			snprintf(path, 256, "%.*s", (int)strcspn(rest, "\n"), rest);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return found;
}

/* Return how many bytes the control groups of this process still allow. */
static uint64_t group_left(const struct ktape_doctor *d)
{
	char *text = kt_doctor_text(d, "/proc/self/cgroup");
	uint64_t left = UINT64_MAX, limit, used;
	char path[256], file[512];

	for (size_t i = 0; i < KT_ARRAY_SIZE(groups); i++) {
		if (!group_path(text, groups[i].begin, path))
			continue;
		/* A group is limited by those above it, too. */
		for (;;) {
			char *slash = strrchr(path, '/');

			snprintf(file, sizeof(file), "%s%s/%s",
				 groups[i].folder, path, groups[i].limit);
			if (kt_doctor_number(d, file, &limit)) {
				snprintf(file, sizeof(file), "%s%s/%s",
					 groups[i].folder, path, groups[i].used);
				if (!kt_doctor_number(d, file, &used))
					used = 0;
				left = kt_min(left, limit > used ? limit - used : 0);
			}
			if (!slash)
				break;
			*slash = '\0';
		}
	}
	free(text);
	return left;
}

/* Return what both rings of a CPU take in mode discard, where the control ring gets an eighth. */
static uint64_t rings_of_cpu(uint64_t ring)
{
	return ring + kt_max(ring / 8, CONTROL_LEAST);
}

/*
 * Report that rings of the wanted size do not fit into @room bytes, and give a command with the
 * largest size, a power of two and at least RING_LEAST, that fits.  @limit: what allows only that.
 */
static void report_memory(struct ktape_doctor *d, unsigned int cpus,
			  uint64_t room, const char *limit)
{
	uint64_t ring = RING_LEAST;

	while (rings_of_cpu(ring * 2) * cpus <= room)
		ring *= 2;
	kt_found(d, KTAPE_DOCTOR_PROBLEM,
		 "%s allows %llu MiB for rings, %llu MiB are needed (%llu KiB on each of %u CPUs)",
		 limit, (unsigned long long)(room >> 20),
		 (unsigned long long)(rings_of_cpu(d->wanted) * cpus >> 20),
		 (unsigned long long)(d->wanted >> 10), cpus);
	kt_why(d, "a session that does not fit into the memory is refused");
	kt_next(d, "%sktape record -b %lluK -o trace", d->sudo,
		(unsigned long long)(ring >> 10));
}

/*
 * Check the rings against the limit of the control group, that of the module (half of the memory),
 * and the memory that is free.
 */
void kt_check_memory(struct ktape_doctor *d)
{
	char *list = kt_doctor_text(d, "/sys/devices/system/cpu/online");
	char *text = kt_doctor_text(d, "/proc/meminfo");
	uint64_t total = read_meminfo(text, "MemTotal:");
	uint64_t low = read_meminfo(text, "LowTotal:");
	uint64_t left = read_meminfo(text, "MemAvailable:");
	uint64_t group = group_left(d);
	unsigned int cpus = count_cpus(list);
	uint64_t needed;

	d->wanted = d->o->ring_size ? kt_min(d->o->ring_size, 1ULL << 40) :
				      RING_SIZE;
	needed = rings_of_cpu(d->wanted) * cpus;
	if (total == UINT64_MAX || left == UINT64_MAX) {
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "it is unknown how much memory there is");
		kt_why(d, "/proc/meminfo cannot be read");
	} else if (needed > group) {
		report_memory(d, cpus, group, "the control group of this process");
	} else if (low != UINT64_MAX && low && needed > low / 2) {
		/* Of 32-bit kernels, which map only that part of the memory. */
		report_memory(d, cpus, low / 2,
			      "half of the low memory, the limit of the module,");
	} else if (needed > total / 2) {
		report_memory(d, cpus, total / 2,
			      "half of the memory, the limit of the module,");
	} else if (needed > left) {
		report_memory(d, cpus, left, "the free memory");
	} else {
		kt_ok(d, "memory for rings of %llu KiB on each of %u CPUs",
		      (unsigned long long)(d->wanted >> 10), cpus);
	}
	free(text);
	free(list);
}

void kt_check_memlock(struct ktape_doctor *d)
{
	char *text;
	const char *line;
	unsigned long long soft;

	/* Since 5.12 the memory of io_uring is charged to the control group. */
	if (!d->version || d->version >= KT_VERSION(5, 12) ||
	    d->capabilities >> CAP_IPC_LOCK_BIT & 1)
		return;
	text = kt_doctor_text(d, "/proc/self/limits");
	line = kt_text_line(text, "Max locked memory");
	if (line && sscanf(line, "%19llu", &soft) == 1 && soft < URING_MEMORY) {
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "this process may lock only %llu KiB of memory",
			 soft >> 10);
		kt_why(d, "this kernel counts io_uring's memory as locked; without io_uring ktape writes by plain calls, which takes more time");
		kt_next(d, "ulimit -l %llu", URING_MEMORY >> 10);
	}
	free(text);
}

/* ---- writing ---------------------------------------------------------------- */

/* Try io_uring.  Of files below a folder, only the switch for it tells. */
void kt_check_uring(struct ktape_doctor *d)
{
	uint64_t disabled = 0;
	struct io_uring ring;
	int err = 0;

	kt_doctor_number(d, "/proc/sys/kernel/io_uring_disabled", &disabled);
	if (d->real) {
		err = io_uring_queue_init(4, &ring, 0);
		if (!err)
			io_uring_queue_exit(&ring);
	} else if (disabled == 2 || (disabled && d->uid)) {
		err = -EPERM;
	}
	if (!err) {
		kt_ok(d, "io_uring works");
		return;
	}
	kt_found(d, KTAPE_DOCTOR_NOTE, "io_uring does not work: %s",
		 disabled	? "it is disabled (kernel.io_uring_disabled)" :
		 err == -EPERM	? "it is forbidden, probably by seccomp" :
		 err == -ENOSYS ? "the kernel does not have it" :
				  strerror(-err));
	kt_why(d, "ktape record writes by plain calls then, which takes more time of a CPU");
	if (disabled)
		kt_next(d, "%ssysctl kernel.io_uring_disabled=0", d->sudo);
}

/* Check by a temporary file that the folder can be written, and whether O_DIRECT works there. */
void kt_check_output(struct ktape_doctor *d)
{
	const char *folder = d->o->output ? d->o->output : ".";
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = dir < 0 ? -errno : 0, fd = -1;
	char name[KT_TEMP_NAME];

	if (!err) {
		fd = kt_temp_file(dir, name, 0600);
		err = fd < 0 ? fd : 0;
	}
	if (err) {
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "no trace can be written to %s: %s", folder,
			 strerror(-err));
		kt_why(d, "ktape record writes there unless -o names another folder");
		kt_next(d, "cd /var/tmp");
	} else if (kt_is_on_tmpfs(fd) || fcntl(fd, F_SETFL, O_DIRECT)) {
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "the file system of %s has no O_DIRECT that saves copying",
			 folder);
		kt_why(d, "traces go through the page cache there, which takes more time and memory while they are recorded");
		kt_next(d, "ktape doctor -o /var/tmp");
	} else {
		kt_ok(d, "traces can be written to %s, with O_DIRECT", folder);
	}
	if (fd >= 0) {
		unlinkat(dir, name, 0);
		kt_temp_forget(dir, name);
		close(fd);
	}
	if (dir >= 0)
		close(dir);
}
