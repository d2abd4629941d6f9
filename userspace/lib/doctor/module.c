// SPDX-License-Identifier: LGPL-2.1-or-later
/* Is there a module for this kernel, what did the kernel say of it, is it loaded? */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"
#include "internal.h"

#define CAP_SYS_MODULE_BIT 16

/* Give the command that builds the module for this kernel. */
void kt_doctor_rebuild(struct ktape_doctor *d)
{
	if (d->dkms[0])
		kt_next(d, "%sdkms install --force ktape/%s -k %s", d->sudo,
			d->dkms, d->release);
	else
		kt_next(d, "make clean modules   # in the source of ktape");
}

/* Find another kernel that has the module. */
static bool find_elsewhere(const struct ktape_doctor *d,
			   char release[KT_DOCTOR_WORD])
{
	char path[4096], file[512];
	bool found = false;
	struct dirent *e;
	DIR *dir = NULL;

	if (kt_doctor_path(d, path, "/lib/modules"))
		dir = opendir(path);
	while (dir && !found && (e = readdir(dir))) {
		found = e->d_name[0] != '.' && kt_text_word(e->d_name, release) &&
			kt_doctor_find_file(d, release, file, sizeof(file));
	}
	if (dir)
		closedir(dir);
	return found;
}

static void report_no_module(struct ktape_doctor *d)
{
	char other[KT_DOCTOR_WORD];

	if (d->o->module)
		kt_found(d, KTAPE_DOCTOR_PROBLEM, "there is no file %s",
			 d->o->module);
	else if (find_elsewhere(d, other))
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "there is no module for kernel %s, only for %s",
			 d->release, other);
	else
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "there is no module for kernel %s: no ktape.ko in /lib/modules/%s or in this folder",
			 d->release, d->release);
	kt_why(d, "the module records the events; each kernel needs one that was built for it");
	kt_doctor_rebuild(d);
}

static void report_foreign(struct ktape_doctor *d)
{
	if (!d->image_release[0])
		kt_found(d, KTAPE_DOCTOR_PROBLEM, "%s is not a kernel module",
			 d->path);
	else if (d->image_machine)
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "%s was built for another architecture", d->path);
	else
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "%s was built for kernel %s, but %s is running",
			 d->path, d->image_release, d->release);
	kt_why(d, "the kernel refuses it (\"Invalid module format\")");
	kt_doctor_rebuild(d);
}

static void report_good(struct ktape_doctor *d)
{
	if (d->listed || d->o->module || d->path[0] == '.') {
		kt_ok(d, "%s is for this kernel%s", d->path,
		      d->image_signed ? " and signed" : "");
		return;
	}
	kt_found(d, KTAPE_DOCTOR_PROBLEM, "modprobe does not know %s", d->path);
	kt_why(d, "the list of modules, modules.dep, was made before the file was installed");
	kt_next(d, "%sdepmod -a", d->sudo);
}

/* Unless the module is loaded, check whether its file is for this kernel. */
void kt_check_module(struct ktape_doctor *d)
{
	if (d->loaded)
		return;
	switch (d->image) {
	case KT_IMAGE_NONE:
		report_no_module(d);
		break;
	case KT_IMAGE_FOREIGN:
		report_foreign(d);
		break;
	case KT_IMAGE_LIKELY:
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "%s was built for kernel %s, but %s is running",
			 d->path, d->image_release, d->release);
		kt_why(d, "the kernel loads it only if no function that it uses has changed (modversions)");
		kt_doctor_rebuild(d);
		break;
	case KT_IMAGE_UNREAD:
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "%s cannot be read or unpacked", d->path);
		kt_why(d, "so it is not known whether it was built for this kernel");
		if (d->shown[0])
			kt_next(d, "%smodinfo %s", d->sudo, d->shown);
		break;
	case KT_IMAGE_GOOD:
		report_good(d);
		break;
	}
}

/* ---- the kernel log --------------------------------------------------------- */

/**
 * struct refusal - a message of a kernel that refuses a module; of several that a line has, the
 *	first in the table counts
 * @text: how it begins
 * @key: it is about a signature
 * @why: what it means
 * @load: the module that has to be loaded before, or NULL
 * @next: the command that helps where the next try may succeed, or NULL: build the module, unless
 *	@load is set, or @key: kt_check_signature() says what helps
 */
static const struct refusal {
	const char *text;
	bool key;
	const char *why;
	const char *load;
	const char *next;
} refusals[] = {
	{ "ktape: version magic ", false,
	  "the module was built for a kernel with other options or another version",
	  NULL, NULL },
	{ "ktape: disagrees about version of symbol ", false,
	  "the module was built for another build of this kernel", NULL, NULL },
	{ "ktape: Unknown symbol __crc32c_le", false,
	  "that is in the module crc32, which modprobe loads and insmod does not",
	  "crc32", NULL },
	{ "ktape: Unknown symbol crc32c", false,
	  "that is in the module crc32, which modprobe loads and insmod does not",
	  "crc32", NULL },
	{ "ktape: Unknown symbol ", false,
	  "the kernel does not export a function that the module uses: the module was built for another kernel, or the kernel has CONFIG_TRIM_UNUSED_KSYMS",
	  NULL, NULL },
	{ "ktape: Could not allocate ", false,
	  "static per-CPU data of all modules shares 8 KiB on most machines, and no piece of this size is free: unload some of the modules that have such data, or restart",
	  NULL, "ls -d /sys/module/*/sections/.data..percpu" },
	{ "ktape: cannot be loaded: ", false,
	  "a part of the module could not be made; lines before this one say how much it needs",
	  NULL, "dmesg | grep ktape" },
	{ "unsigned module is rejected", true,
	  "insmod says \"Key was rejected by service\"", NULL, NULL },
	{ "unavailable key is rejected", true,
	  "insmod says \"Key was rejected by service\" or \"Required key not available\"",
	  NULL, NULL },
	{ "unsupported crypto is rejected", true,
	  "insmod says \"Key was rejected by service\"", NULL, NULL },
	{ "unsigned module loading is restricted", true,
	  "insmod says \"Operation not permitted\"", NULL, NULL },
};

static const struct refusal *find_refusal(const char *line)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(refusals); i++) {
		if (strstr(line, refusals[i].text))
			return &refusals[i];
	}
	return NULL;
}

/*
 * Was the module built after a message?  Lines are "level,number,us,flags;text".  Boot
 * and message are rounded down to seconds.
 */
static bool is_answered(const struct ktape_doctor *d, const char *line)
{
	char *text = kt_doctor_text(d, "/proc/stat");
	const char *boot = kt_text_line(text, "btime ");
	long long begin = 0, us = 0;
	bool answered;

	answered = boot && sscanf(boot, "%18lld", &begin) == 1 &&
		   sscanf(line, "%*u,%*u,%18lld", &us) == 1 &&
		   d->image_time > begin + us / 1000000 + 2;
	free(text);
	return answered;
}

/*
 * Report the latest refusal of the module in the kernel log, unless its file is newer.  Sets
 * @untrusted if that was about a key, for kt_check_signature().
 */
void kt_check_log(struct ktape_doctor *d)
{
	const struct refusal *r, *latest = NULL;
	char *text, *line, *rest, *last = NULL;

	if (d->loaded)
		return;
	text = kt_doctor_text(d, "/dev/kmsg");
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		r = find_refusal(line);
		if (!r)
			continue;
		latest = r;
		last = line;
	}
	if (last && !is_answered(d, last)) {
		const char *message = strchr(last, ';');

		d->untrusted = latest->key;
		kt_found(d,
			 latest->key || latest->next ? KTAPE_DOCTOR_WARNING :
						       KTAPE_DOCTOR_PROBLEM,
			 "the kernel has refused a module: \"%.200s\"",
			 message ? message + 1 : last);
		kt_why(d, "%s", latest->why);
		if (latest->load)
			kt_next(d, "%smodprobe %s", d->sudo, latest->load);
		else if (latest->next)
			kt_next(d, "%s%s", d->sudo, latest->next);
		else if (!latest->key)
			kt_doctor_rebuild(d);
	}
	free(text);
}

/* ---- loaded? ---------------------------------------------------------------- */

/* If the module is not loaded, report what loads it, or what forbids that. */
void kt_check_loaded(struct ktape_doctor *d)
{
	bool barred = !d->uid && !(d->capabilities >> CAP_SYS_MODULE_BIT & 1);
	uint64_t disabled = 0;

	if (d->loaded) {
		kt_ok(d, "the module is loaded");
		return;
	}
	kt_doctor_number(d, "/proc/sys/kernel/modules_disabled", &disabled);
	if (disabled) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "the module is not loaded, and loading of modules is disabled until the next boot");
		kt_why(d, "kernel.modules_disabled is 1; load the module at boot before it is set");
		kt_next(d, "echo ktape | %stee /etc/modules-load.d/ktape.conf",
			d->sudo);
		return;
	}
	kt_found(d, KTAPE_DOCTOR_PROBLEM, "the module is not loaded");
	kt_why(d, "it makes the device and records the events%s",
	       barred ? "; this process may not load it, because it has no CAP_SYS_MODULE" :
			"");
	if (barred) {
		kt_next(d, "sudo modprobe ktape   # on the host");
	} else if (d->shown[0] && !d->listed &&
		   (d->o->module || d->shown[0] == '.')) {
		kt_next(d, "%sinsmod %s", d->sudo, d->shown);
	} else {
		kt_next(d, "%smodprobe ktape", d->sudo);
	}
}
