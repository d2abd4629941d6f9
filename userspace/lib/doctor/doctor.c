// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find out what prevents recording: the table of checks, and what several of them need.
 *
 * Checks run in the order in which a user solves problems: what a check asks for is
 * of use only when those before it are content.  So the first problem is the one to
 * solve next.
 *
 * look_around() reads first what several checks need.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/bits.h"
#include "internal.h"

/**
 * struct check - one check
 * @id: name in findings
 * @opens: the device cannot be opened without it
 * @loads: it is about a module that will be loaded, so it is left out if the kernel loads none
 * @run: adds findings
 */
struct check {
	const char *id;
	bool opens;
	bool loads;
	void (*run)(struct ktape_doctor *d);
};

static const struct check checks[] = {
	{ "kernel", true, false, kt_check_kernel },
	{ "byte-order", true, false, kt_check_byte_order },
	{ "container", false, false, kt_check_container },
	{ "config", true, false, kt_check_config },
	{ "headers", true, true, kt_check_headers },
	{ "module", true, true, kt_check_module },
	{ "log", true, true, kt_check_log },
	{ "signature", true, true, kt_check_signature },
	{ "device", true, false, kt_check_device },
	{ "loaded", true, true, kt_check_loaded },
	{ "lockdown", true, false, kt_check_lockdown },
	{ "rights", true, false, kt_check_rights },
	{ "version", true, false, kt_check_version },
	{ "names", false, false, kt_check_names },
	{ "memory", false, false, kt_check_memory },
	{ "memlock", false, false, kt_check_memlock },
	{ "clock", false, false, kt_check_clock },
	{ "kprobes", false, false, kt_check_kprobes },
	{ "tracers", false, false, kt_check_tracers },
	{ "io_uring", false, false, kt_check_uring },
	{ "output", false, false, kt_check_output },
};

/* Read user and capabilities of this process. */
static void look_at_rights(struct ktape_doctor *d)
{
	char *text = kt_doctor_text(d, "/proc/self/status");
	const char *uid = kt_text_line(text, "Uid:");
	const char *effective = kt_text_line(text, "CapEff:");

	/* Real, effective, saved, of the file system */
	if (!uid || sscanf(uid, "%*u %lu", &d->uid) != 1)
		d->uid = geteuid();
	if (effective)
		d->capabilities = strtoull(effective, NULL, 16);
	d->sudo = d->uid ? "sudo " : "";
	free(text);
}

static void look_at_release(struct ktape_doctor *d)
{
	unsigned int major, minor;

	kt_doctor_word(d, "/proc/sys/kernel/osrelease", d->release);
	if (sscanf(d->release, "%5u.%5u", &major, &minor) == 2)
		d->version = KT_VERSION(major, minor);
}

/* Try to open the device.  Sets @open_error, @only_read and @features. */
static void look_at_device(struct ktape_doctor *d)
{
	struct ktape_device *device;
	char path[4096];
	struct stat st;

	d->open_error = -ENAMETOOLONG;
	if (!kt_doctor_path(d, path, "%s",
			    d->o->device ? d->o->device : KTAPE_DEVICE_PATH))
		return;
	/* Opening a FIFO for reading would wait for its writer. */
	d->open_error = stat(path, &st) ? -errno : -ENOTTY;
	if (d->open_error != -ENOTTY || !S_ISCHR(st.st_mode))
		return;
	d->open_error = ktape_device_open(path, true, &device);
	if (d->open_error == -EACCES) {
		d->open_error = ktape_device_open(path, false, &device);
		d->only_read = !d->open_error;
	}
	if (d->open_error)
		return;
	d->features = *ktape_device_features(device);
	ktape_device_close(device);
}

/* Read what several checks need. */
static void look_around(struct ktape_doctor *d)
{
	char *text = kt_doctor_text(d, "/sys/kernel/security/lockdown");
	const char *now = text ? strchr(text, '[') : NULL;

	/* "none [integrity] confidentiality" */
	if (now)
		snprintf(d->lockdown, sizeof(d->lockdown), "%.*s",
			 (int)strcspn(now + 1, "]"), now + 1);
	free(text);
	look_at_rights(d);
	look_at_release(d);
	d->modules = kt_doctor_text(d, "/proc/modules");
	d->loaded = kt_text_line(d->modules, "ktape ") ||
		    kt_doctor_exists(d, "/sys/module/ktape");
	look_at_device(d);
	d->loaded |= !d->open_error;
	kt_doctor_image(d);
	d->sources = d->release[0] &&
		     kt_doctor_exists(d, "/lib/modules/%s/build/Makefile",
				      d->release);
}

int ktape_doctor_run(const struct ktape_doctor_options *options,
		     struct ktape_doctor **doctor)
{
	struct ktape_doctor *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->o = options;
	d->root = options->root ? options->root : "";
	d->real = !*d->root;
	look_around(d);
	for (size_t i = 0; i < KT_ARRAY_SIZE(checks) && !d->error; i++) {
		if (options->flags & KTAPE_DOCTOR_OPEN && !checks[i].opens)
			continue;
		if (checks[i].loads && d->no_modules)
			continue;
		d->id = checks[i].id;
		checks[i].run(d);
	}
	free(d->modules);
	d->modules = NULL;
	if (d->error) {
		ktape_doctor_free(d);
		return -ENOMEM;
	}
	*doctor = d;
	return 0;
}

const struct ktape_diagnosis *ktape_doctor_finding(const struct ktape_doctor *doctor,
						   unsigned int index)
{
	return index < doctor->findings.nr ? &doctor->findings.list[index] : NULL;
}

const struct ktape_diagnosis *ktape_doctor_problem(const struct ktape_doctor *doctor)
{
	for (unsigned int i = 0; i < doctor->findings.nr; i++) {
		if (doctor->findings.list[i].severity == KTAPE_DOCTOR_PROBLEM)
			return &doctor->findings.list[i];
	}
	return NULL;
}

void ktape_doctor_free(struct ktape_doctor *doctor)
{
	if (!doctor)
		return;
	kt_findings_free(&doctor->findings);
	free(doctor);
}
