// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel: version, byte order, options; and whether this is a container. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bits.h"
#include "internal.h"

#define OLDEST_MAJOR 5U
#define OLDEST_MINOR 10U

void kt_check_kernel(struct ktape_doctor *d)
{
	if (!d->version) {
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "the kernel's version cannot be read");
		kt_why(d, "/proc/sys/kernel/osrelease is missing or is not a version");
		kt_next(d, "%smount -t proc proc /proc", d->sudo);
		return;
	}
	if (d->version >= KT_VERSION(OLDEST_MAJOR, OLDEST_MINOR)) {
		kt_ok(d, "kernel %s", d->release);
		return;
	}
	kt_found(d, d->open_error ? KTAPE_DOCTOR_PROBLEM : KTAPE_DOCTOR_NOTE,
		 "kernel %s is older than %u.%u", d->release, OLDEST_MAJOR,
		 OLDEST_MINOR);
	kt_why(d, "the module is built and tested for %u.%u and newer; boot a newer kernel",
	       OLDEST_MAJOR, OLDEST_MINOR);
}

void kt_check_byte_order(struct ktape_doctor *d)
{
	char word[KT_DOCTOR_WORD];

	/* Kernels before 6.2 do not have this file. */
	if (!kt_doctor_word(d, "/sys/kernel/cpu_byteorder", word))
		strcpy(word, d->real && BYTE_ORDER == BIG_ENDIAN ? "big" : "little");
	if (strcmp(word, "big"))
		return;
	kt_found(d, KTAPE_DOCTOR_PROBLEM, "this machine is big-endian");
	kt_why(d, "the module writes little-endian records and refuses to be built here; there is no way around it");
}

/*
 * Numbers of the initial namespaces, which the kernel has fixed
 * (include/linux/proc_ns.h).
 */
static const struct {
	const char *link;
	const char *initial;
	unsigned int severity;
	const char *what;
	const char *why;
} spaces[] = {
	{ "/proc/self/ns/user", "user:[4026531837]", KTAPE_DOCTOR_WARNING,
	  "this is a container with users of its own (a user namespace)",
	  "capabilities of a user namespace do not allow tracing the kernel" },
	{ "/proc/self/ns/pid", "pid:[4026531836]", KTAPE_DOCTOR_NOTE,
	  "this is a container with processes of its own (a PID namespace)",
	  "traces have the thread numbers of the host; the module is loaded on the host, and a container needs --device /dev/ktape --cap-add PERFMON" },
};

/* Report the first namespace that is not the initial one; if recording works, it is only noted. */
void kt_check_container(struct ktape_doctor *d)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(spaces); i++) {
		char path[4096], is[64];
		ssize_t len = kt_doctor_path(d, path, "%s", spaces[i].link) ?
				      readlink(path, is, sizeof(is) - 1) :
				      -1;

		if (len < 0)
			continue;
		is[len] = '\0';
		if (!strcmp(is, spaces[i].initial))
			continue;
		kt_found(d,
			 d->open_error ? spaces[i].severity :
					 (unsigned int)KTAPE_DOCTOR_NOTE,
			 "%s", spaces[i].what);
		kt_why(d, "%s", spaces[i].why);
		if (d->open_error)
			kt_next(d, "sudo ktape doctor   # on the host");
		return;
	}
}

/* ---- options of the kernel -------------------------------------------------- */

/**
 * struct option - an option of the kernel that matters
 * @name: its name without CONFIG_
 * @unwanted: it must be off
 * @severity: if it is not as it should be
 * @lost: what is missing then
 */
static const struct option {
	const char *name;
	bool unwanted;
	unsigned int severity;
	const char *lost;
} options[] = {
	{ "MODULES", false, KTAPE_DOCTOR_PROBLEM,
	  "no module can be loaded; the kernel has to be built with it" },
	{ "CPU_BIG_ENDIAN", true, KTAPE_DOCTOR_PROBLEM,
	  "the module refuses to be built for big-endian kernels" },
	{ "CRC32", false, KTAPE_DOCTOR_PROBLEM,
	  "the module refuses to be built: packets of a trace have checksums; the kernel has to be built with it" },
	{ "TRACEPOINTS", false, KTAPE_DOCTOR_WARNING,
	  "the kernel has no events: only markers, exceptions and events of programs and modules can be recorded" },
	{ "HAVE_SYSCALL_TRACEPOINTS", false, KTAPE_DOCTOR_WARNING,
	  "system calls cannot be recorded (events of class syscall)" },
	{ "KPROBES", false, KTAPE_DOCTOR_WARNING,
	  "kernel functions cannot be probed (ktape probe)" },
	{ "STACKTRACE", false, KTAPE_DOCTOR_WARNING, "events have no call stacks" },
	{ "TRIM_UNUSED_KSYMS", true, KTAPE_DOCTOR_WARNING,
	  "the kernel exports only functions that its own modules use; loading ktape may fail with \"Unknown symbol\"" },
	{ "BLOCK", false, KTAPE_DOCTOR_NOTE, "there are no events of class block" },
	{ "NET", false, KTAPE_DOCTOR_NOTE, "there are no events of class net" },
	{ "CGROUPS", false, KTAPE_DOCTOR_NOTE, "events cannot be filtered by cgroup" },
	{ "DETECT_HUNG_TASK", false, KTAPE_DOCTOR_NOTE,
	  "hung tasks are not recorded as exceptions" },
	{ "MODULE_UNLOAD", false, KTAPE_DOCTOR_NOTE,
	  "the module stays until the next boot" },
};

/* Where the options are if there is no /proc/config.gz. */
static const char *const config_files[] = {
	"/boot/config-%s",
	"/lib/modules/%s/config",
	"/usr/lib/modules/%s/config",
	"/lib/modules/%s/build/.config",
};

/* Return the options as a text that the caller frees, or NULL. */
static char *read_config(const struct ktape_doctor *d)
{
	char name[256];
	size_t len;
	char *text;

	text = kt_doctor_unpacked(d, "/proc/config.gz", KT_DOCTOR_TEXT, &len);
	for (size_t i = 0;
	     !text && d->release[0] && i < KT_ARRAY_SIZE(config_files); i++) {
		snprintf(name, sizeof(name), config_files[i], d->release);
		text = kt_doctor_text(d, "%s", name);
	}
	if (text && !kt_text_line(text, "CONFIG_")) {
		free(text);
		text = NULL;
	}
	return text;
}

static bool has_option(const char *config, const char *name)
{
	char begin[64];
	const char *value;

	snprintf(begin, sizeof(begin), "CONFIG_%s=", name);
	value = kt_text_line(config, begin);
	return value && (*value == 'y' || *value == 'm');
}

/* Check the options of the kernel.  Sets @no_modules, which leaves out the checks of the module. */
void kt_check_config(struct ktape_doctor *d)
{
	char *config = read_config(d);
	unsigned int bad = 0;

	if (!config) {
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "the options of the kernel are unknown");
		kt_why(d, "neither /proc/config.gz nor /boot/config-%s can be read, so nothing is said about missing events",
		       d->release);
		return;
	}
	d->no_modules = !has_option(config, "MODULES") && !d->loaded;
	for (size_t i = 0; i < KT_ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];

		if (has_option(config, o->name) != o->unwanted)
			continue;
		bad++;
		/* What runs cannot be impossible. */
		kt_found(d,
			 o->severity == KTAPE_DOCTOR_PROBLEM && d->loaded ?
				 (unsigned int)KTAPE_DOCTOR_WARNING :
				 o->severity,
			 "the kernel is built with%s CONFIG_%s",
			 o->unwanted ? "" : "out", o->name);
		kt_why(d, "%s", o->lost);
	}
	free(config);
	if (!bad)
		kt_ok(d, "the kernel has all options that ktape uses");
}
