// SPDX-License-Identifier: LGPL-2.1-or-later
/* The device: is it there, may this process open it, do module and library fit? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/bits.h"
#include "internal.h"

#ifndef KTAPE_VERSION
#define KTAPE_VERSION "unknown"
#endif

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT	  38
#define MISC_MAJOR	  10 /* of devices in /proc/misc */

static const char *device_path(const struct ktape_doctor *d)
{
	return d->o->device ? d->o->device : KTAPE_DEVICE_PATH;
}

/* Read what kind of file the device is.  Return: 0 or negative errno. */
static int device_stat(const struct ktape_doctor *d, struct stat *st)
{
	char path[4096];

	if (!kt_doctor_path(d, path, "%s", device_path(d)))
		return -ENAMETOOLONG;
	return stat(path, st) ? -errno : 0;
}

/* Report that the module is loaded and its device node is missing. */
static void report_no_node(struct ktape_doctor *d)
{
	char *text = kt_doctor_text(d, "/proc/misc");
	unsigned int minor;
	char *p;

	kt_found(d, KTAPE_DOCTOR_PROBLEM,
		 "%s does not exist, although the module is loaded",
		 device_path(d));
	kt_why(d, "no devtmpfs or udev makes device files in this /dev");
	/* " 56 ktape" */
	p = text ? strstr(text, " ktape\n") : NULL;
	while (p && p > text && p[-1] != '\n')
		p--;
	if (p && sscanf(p, "%3u ktape", &minor) == 1)
		kt_next(d, "%smknod -m 600 " KTAPE_DEVICE_PATH " c %d %u",
			d->sudo, MISC_MAJOR, minor);
	free(text);
}

/* Check the device's file.  Whether this process may open it is left to kt_check_rights(). */
void kt_check_device(struct ktape_doctor *d)
{
	const char *path = device_path(d);
	struct stat st;
	int err = device_stat(d, &st);

	if (err == -ENOENT && d->o->device) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM, "%s does not exist", path);
		kt_why(d, "the device of the module is " KTAPE_DEVICE_PATH);
		kt_next(d, "%sktape doctor", d->sudo);
	} else if (err == -ENOENT && d->loaded) {
		report_no_node(d);
	} else if (err == -ENOENT) {
		kt_found(d, KTAPE_DOCTOR_NOTE, "%s does not exist", path);
		kt_why(d, "it appears when the module is loaded");
	} else if (!err && !S_ISCHR(st.st_mode)) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM, "%s is not a device", path);
		kt_why(d, "a file was written there while the module was not loaded; with the file in its place the device cannot be made");
		if (!d->o->device)
			kt_next(d, "%srm %s", d->sudo, path);
	} else if (d->only_read) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "this user may read %s, but not control it", path);
		kt_why(d, "ktape dump and ktape snapshot work; to record sessions of one's own, the module has to be loaded with dev_mode=0660");
		kt_next(d, "sudo ktape record -o trace");
	} else if (!d->open_error) {
		kt_ok(d, "%s can be opened", path);
	} else if (d->open_error == -ENODEV || d->open_error == -ENXIO) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "%s belongs to no module that is loaded", path);
		kt_why(d, "it was made by hand and stays when the module is unloaded; with it in its place the device of the module cannot be made");
		if (!d->o->device)
			kt_next(d, "%srm %s", d->sudo, path);
	} else if (d->open_error == -ENOTTY || d->open_error == -EINVAL) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM, "%s is not a ktape device", path);
		kt_why(d, "it does not answer as the module of this version would");
		if (!d->o->device)
			kt_next(d, "%smodprobe -r ktape && %smodprobe ktape",
				d->sudo, d->sudo);
	} else if (d->open_error != -EPERM && d->open_error != -EACCES) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM, "%s cannot be opened: %s",
			 path, strerror(-d->open_error));
		kt_why(d, "every command that records needs it");
		kt_next(d, "%sdmesg | grep ktape", d->sudo);
	}
}

void kt_check_lockdown(struct ktape_doctor *d)
{
	if (!strcmp(d->lockdown, "confidentiality")) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "the kernel is locked down (confidentiality)");
		kt_why(d, "in this mode nobody may read what happens in the kernel; boot it with lockdown=integrity or without lockdown=");
		kt_next(d, "%sreboot", d->sudo);
	} else if (!d->lockdown[0] &&
		   !kt_doctor_exists(d, "/sys/kernel/security/lsm")) {
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "it is unknown whether the kernel is locked down");
		kt_why(d, "/sys/kernel/security is not mounted");
		kt_next(d, "%smount -t securityfs securityfs /sys/kernel/security",
			d->sudo);
	}
}

/* ---- rights ----------------------------------------------------------------- */

/*
 * Check whether this process belongs to a group: "Gid:" has its real, effective and saved
 * group, "Groups:" all others.
 */
static bool has_group(const struct ktape_doctor *d, unsigned long group)
{
	static const char *const lines[] = { "Gid:", "Groups:" };
	char *text = kt_doctor_text(d, "/proc/self/status"), *end;
	bool found = false;

	for (size_t i = 0; i < KT_ARRAY_SIZE(lines); i++) {
		const char *p = kt_text_line(text, lines[i]);

		while (p && !found) {
			p += strspn(p, " \t");
			if (*p < '0' || *p > '9')
				break;
			found = strtoul(p, &end, 10) == group;
			p = end;
		}
	}
	free(text);
	return found;
}

/* Look up the name of a group.  Return: false if it has none. */
static bool group_name(const struct ktape_doctor *d, unsigned long group,
		       char name[KT_DOCTOR_WORD])
{
	char *text = kt_doctor_text(d, "/etc/group"), *line, *rest;
	bool found = false;
	char pattern[32];

	/* "tracing:x:998:user,user" */
	snprintf(pattern, sizeof(pattern), ":%lu:", group);
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *colon = strchr(line, ':'), *second;

		second = colon ? strchr(colon + 1, ':') : NULL;
		if (!second || strncmp(second, pattern, strlen(pattern)))
			continue;
		*colon = '\0';
		found = kt_text_word(line, name);
	}
	free(text);
	return found;
}

/* Does the mode of the device let this process read it? */
static bool mode_allows(const struct ktape_doctor *d, const struct stat *st)
{
	if (!d->uid)
		return true;
	if (st->st_uid == d->uid)
		return st->st_mode & S_IRUSR;
	if (has_group(d, st->st_gid))
		return st->st_mode & S_IRGRP;
	return st->st_mode & S_IROTH;
}

/* Return whether the mode of the device decides who may open it, and not a capability. */
static bool mode_decides(const struct ktape_doctor *d)
{
	uint64_t mode = 0;

	kt_doctor_number(d, "/sys/module/ktape/parameters/dev_mode", &mode);
	return mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
}

static void report_mode(struct ktape_doctor *d, const struct stat *st)
{
	char group[KT_DOCTOR_WORD];

	kt_found(d, KTAPE_DOCTOR_PROBLEM,
		 "this user may not open %s: its mode is %04o, its owner %u, its group %u",
		 device_path(d), (unsigned int)st->st_mode & 07777U, st->st_uid,
		 st->st_gid);
	if (mode_decides(d) && st->st_gid && st->st_mode & S_IRGRP &&
	    group_name(d, st->st_gid, group)) {
		kt_why(d, "members of the group \"%s\" may open it, after they have logged in again",
		       group);
		kt_next(d, "sudo usermod -aG %s \"$USER\"", group);
		return;
	}
	kt_why(d, "only root may open it, unless the module was loaded with dev_mode=0640 or 0660, which gives it to a group");
	kt_next(d, "sudo ktape doctor");
}

/*
 * If the device could not be opened, report which right this process lacks, unless another check
 * has reported what is wrong.
 */
void kt_check_rights(struct ktape_doctor *d)
{
	/* Nothing but the mode of the file would forbid it. */
	bool capable = mode_decides(d) || (d->capabilities >> CAP_PERFMON_BIT |
					   d->capabilities >> CAP_SYS_ADMIN_BIT) &
						  1;
	struct stat st;

	if (!d->open_error)
		return;
	if (!device_stat(d, &st) && !mode_allows(d, &st)) {
		report_mode(d, &st);
		return;
	}
	/* Other checks have said what is wrong. */
	if (capable && d->open_error != -EPERM && d->open_error != -EACCES)
		return;
	if (capable && !strcmp(d->lockdown, "confidentiality"))
		return;
	if (capable) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "%s refuses this process, although it has the right",
			 device_path(d));
		kt_why(d, "a user namespace, the device rules of a container or a security module forbids it");
		kt_next(d, "sudo ktape doctor   # on the host");
		return;
	}
	kt_found(d, d->loaded ? KTAPE_DOCTOR_PROBLEM : KTAPE_DOCTOR_NOTE,
		 "this process has neither CAP_PERFMON nor CAP_SYS_ADMIN");
	kt_why(d, "the module lets only processes with one of them open the device, unless it was loaded with dev_mode=0640 or 0660");
	kt_next(d, "sudo ktape doctor");
}

/* ---- versions --------------------------------------------------------------- */

static void next_version(struct ktape_doctor *d)
{
	if (d->listed && !strcmp(d->image_version, KTAPE_VERSION))
		kt_next(d, "%smodprobe -r ktape && %smodprobe ktape", d->sudo,
			d->sudo);
	else
		kt_next(d, "make && %smake install   # in the source of ktape; then load the module again",
			d->sudo);
}

/* Compare version and event table of the loaded module with those of this command. */
void kt_check_version(struct ktape_doctor *d)
{
	char loaded[KT_DOCTOR_WORD];
	bool known = kt_doctor_word(d, "/sys/module/ktape/version", loaded);

	if (!d->loaded)
		return;
	if (known && strcmp(loaded, KTAPE_VERSION)) {
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "the loaded module is version %s, this command is " KTAPE_VERSION,
			 loaded);
		kt_why(d, "what only one of them knows cannot be used");
		next_version(d);
	}
	if (d->open_error)
		return;
	if (d->features.table_hash != ktape_table_hash()) {
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "the loaded module and this command have different tables of events");
		kt_why(d, "events that only one of them knows cannot be chosen by name, or are shown without their fields");
		next_version(d);
	} else {
		kt_ok(d, "module and command have the same table of events");
	}
}
