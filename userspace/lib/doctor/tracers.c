// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Other tracers, and the kernel's switch for kprobes.  Several tracers can use the same event; each
 * one's time is in the times of events that follow.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bits.h"
#include "internal.h"

#define PROCESSES_MOST 65536U
#define FILES_MOST     4096U /* of a process */

/* Is the kernel's switch for kprobes off?  If it cannot be read, it counts as on. */
void kt_check_kprobes(struct ktape_doctor *d)
{
	uint64_t enabled = 1;

	kt_doctor_number(d, "/sys/kernel/debug/kprobes/enabled", &enabled);
	if (enabled)
		return;
	kt_found(d, KTAPE_DOCTOR_WARNING, "kprobes are switched off");
	kt_why(d, "ktape probe adds probes, but they record nothing");
	kt_next(d, "echo 1 | %stee /sys/kernel/debug/kprobes/enabled", d->sudo);
}

/*
 * Modules of other tracers, by the beginning of their lines in /proc/modules: the name and a
 * space.  SystemTap makes up the rest of a name.
 */
static const struct {
	const char *begin;
	const char *name;
} modules[] = {
	{ "lttng_tracer ", "LTTng" }, { "sysdig_probe ", "sysdig" },
	{ "scap ", "sysdig" },	      { "falco ", "Falco" },
	{ "stap_", "SystemTap" },     { "kutrace_mod ", "KUtrace" },
};

static unsigned int look_for_modules(struct ktape_doctor *d)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < KT_ARRAY_SIZE(modules); i++) {
		if (!kt_text_line(d->modules, modules[i].begin))
			continue;
		nr++;
		kt_found(d, KTAPE_DOCTOR_NOTE, "the module of %s is loaded",
			 modules[i].name);
		kt_why(d, "if it records, each event takes longer, and ktape's traces show its work");
		kt_next(d, "%slsmod", d->sudo);
	}
	return nr;
}

/* tracefs is mounted at the first place, on older systems at the second. */
static const char *const tracefs[] = { "/sys/kernel/tracing",
				       "/sys/kernel/debug/tracing" };

static char *read_tracefs(const struct ktape_doctor *d, const char *name)
{
	char *text = NULL;

	for (size_t i = 0; i < KT_ARRAY_SIZE(tracefs) && !text; i++)
		text = kt_doctor_text(d, "%s/%s", tracefs[i], name);
	return text;
}

static unsigned int look_for_ftrace(struct ktape_doctor *d)
{
	char *events = read_tracefs(d, "set_event");
	char *tracer = read_tracefs(d, "current_tracer");
	char word[KT_DOCTOR_WORD];
	unsigned int lines = 0, nr = 0;

	for (const char *p = events; p && (p = strchr(p, '\n')); p++)
		lines++;
	if (lines) {
		nr++;
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "ftrace records %u event%s (set_event)", lines,
			 lines == 1 ? "" : "s");
		kt_why(d, "each of these events takes longer");
		kt_next(d, "echo | %stee /sys/kernel/tracing/set_event", d->sudo);
	}
	if (tracer && kt_text_word(tracer, word) && strcmp(word, "nop")) {
		nr++;
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "ftrace's tracer \"%s\" is running", word);
		kt_why(d, "it may take time in every kernel function");
		kt_next(d, "echo nop | %stee /sys/kernel/tracing/current_tracer",
			d->sudo);
	}
	free(tracer);
	free(events);
	return nr;
}

/* Does an open file belong to perf or BPF? */
static bool is_tracer(const char *target)
{
	return strstr(target, "anon_inode:[perf_event]") ||
	       strstr(target, "anon_inode:bpf-prog") ||
	       strstr(target, "anon_inode:bpf_link");
}

/* Has a process an open file of perf or BPF? */
static bool process_traces(const char *folder)
{
	unsigned int files = 0;
	char target[128];
	bool found = false;
	struct dirent *e;
	ssize_t len;
	DIR *dir = opendir(folder);

	while (dir && !found && files++ < FILES_MOST && (e = readdir(dir))) {
		len = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		found = is_tracer(target);
	}
	if (dir)
		closedir(dir);
	return found;
}

static unsigned int look_for_processes(struct ktape_doctor *d)
{
	unsigned int seen = 0, nr = 0;
	char path[4096], file[64], name[KT_DOCTOR_WORD];
	struct dirent *e;
	DIR *dir = NULL;

	if (kt_doctor_path(d, path, "/proc"))
		dir = opendir(path);
	while (dir && seen < PROCESSES_MOST && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]) || strlen(e->d_name) > 10)
			continue;
		seen++;
		if (!kt_doctor_path(d, path, "/proc/%s/fd", e->d_name) ||
		    !process_traces(path))
			continue;
		nr++;
		snprintf(file, sizeof(file), "/proc/%.10s/comm", e->d_name);
		kt_doctor_word(d, file, name);
		kt_found(d, KTAPE_DOCTOR_NOTE, "process %s (%s) uses perf or BPF",
			 e->d_name, name[0] ? name : "?");
		kt_why(d, "if it watches the same events, each of them takes longer; systemd uses BPF for other purposes");
		kt_next(d, "ps -p %lu -f", strtoul(e->d_name, NULL, 10));
	}
	if (dir)
		closedir(dir);
	return nr;
}

void kt_check_tracers(struct ktape_doctor *d)
{
	unsigned int nr = look_for_modules(d) + look_for_ftrace(d) +
			  look_for_processes(d);

	if (!nr)
		kt_ok(d, "no other tracer is visible%s",
		      d->uid ? " to this user" : "");
}
