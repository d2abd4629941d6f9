// SPDX-License-Identifier: LGPL-2.1-or-later
/* The headers of the running kernel, and the package that has them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"
#include "internal.h"

/**
 * enum package - how a distribution names the package of the headers
 * @BY_RELEASE: by the release of the kernel
 * @BY_FLAVOUR: by its flavour, the text after the last "-" of the release
 * @BY_BASE: by the package of the kernel, in /lib/modules/RELEASE/pkgbase
 */
enum package { BY_RELEASE, BY_FLAVOUR, BY_BASE };

/*
 * Distributions by their ID in os-release.  The package is @before, the part that @kind says, and
 * @after.
 */
static const struct distribution {
	const char *id;
	enum package kind;
	const char *install;
	const char *before;
	const char *after;
	const char *base; /* flavour or package if it is unknown */
} distributions[] = {
	{ "debian", BY_RELEASE, "apt-get install", "linux-headers-", "", "" },
	{ "ubuntu", BY_RELEASE, "apt-get install", "linux-headers-", "", "" },
	{ "fedora", BY_RELEASE, "dnf install", "kernel-devel-", "", "" },
	{ "rhel", BY_RELEASE, "dnf install", "kernel-devel-", "", "" },
	{ "arch", BY_BASE, "pacman -S", "", "-headers", "linux" },
	{ "opensuse", BY_FLAVOUR, "zypper install", "kernel-", "-devel", "default" },
	{ "suse", BY_FLAVOUR, "zypper install", "kernel-", "-devel", "default" },
	{ "alpine", BY_FLAVOUR, "apk add", "linux-", "-dev", "lts" },
};

static const struct distribution *find_distribution(const char *id, size_t len)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(distributions); i++) {
		if (strlen(distributions[i].id) == len &&
		    !strncmp(distributions[i].id, id, len))
			return &distributions[i];
	}
	return NULL;
}

/* Look for the words of ID= or ID_LIKE=, in quotes or not. */
static const struct distribution *find_any(const char *words)
{
	const struct distribution *found = NULL;
	static const char ends[] = " \t\"'\n";

	while (words && *words && *words != '\n' && !found) {
		size_t len = strcspn(words, ends);

		found = find_distribution(words, len);
		words += len;
		if (*words && *words != '\n')
			words++;
	}
	return found;
}

static const struct distribution *which_distribution(const struct ktape_doctor *d)
{
	char *text = kt_doctor_text(d, "/etc/os-release");
	const struct distribution *found;

	if (!text)
		text = kt_doctor_text(d, "/usr/lib/os-release");
	found = find_any(kt_text_line(text, "ID="));
	if (!found)
		found = find_any(kt_text_line(text, "ID_LIKE="));
	free(text);
	return found;
}

/* Write the variable part of the package's name. */
static void package_base(const struct ktape_doctor *d,
			 const struct distribution *x, char base[KT_DOCTOR_WORD])
{
	const char *flavour = strrchr(d->release, '-');
	char path[256];

	if (x->kind == BY_RELEASE) {
		strcpy(base, d->release);
		return;
	}
	if (x->kind == BY_BASE) {
		snprintf(path, sizeof(path), "/lib/modules/%s/pkgbase", d->release);
		if (kt_doctor_word(d, path, base))
			return;
	} else if (flavour && flavour[1]) {
		strcpy(base, flavour + 1);
		return;
	}
	strcpy(base, x->base);
}

/* Has /lib/modules other kernels, but not the running one? */
static bool was_upgraded(const struct ktape_doctor *d)
{
	bool others = false;
	struct dirent *e;
	char path[4096];
	DIR *dir;

	if (!d->release[0] || kt_doctor_exists(d, "/lib/modules/%s", d->release) ||
	    !kt_doctor_path(d, path, "/lib/modules"))
		return false;
	dir = opendir(path);
	while (dir && !others && (e = readdir(dir)))
		others = e->d_name[0] >= '0' && e->d_name[0] <= '9' &&
			 kt_doctor_exists(d, "/lib/modules/%s/modules.dep",
					  e->d_name);
	if (dir)
		closedir(dir);
	return others;
}

/* Check for the headers, which are needed only if the module has to be built. */
void kt_check_headers(struct ktape_doctor *d)
{
	const struct distribution *x = which_distribution(d);
	bool needed = !d->loaded && d->image != KT_IMAGE_GOOD;
	char base[KT_DOCTOR_WORD];

	if (d->sources) {
		kt_ok(d, "headers of the kernel: /lib/modules/%s/build", d->release);
		return;
	}
	if (needed && was_upgraded(d)) {
		kt_found(d, KTAPE_DOCTOR_PROBLEM,
			 "/lib/modules has other kernels, but not the running one, %s",
			 d->release);
		kt_why(d, "the kernel was upgraded and the machine not yet rebooted, or the running kernel did not come from a package; there are no modules and no headers for it");
		kt_next(d, "%sreboot", d->sudo);
		return;
	}
	kt_found(d, needed ? KTAPE_DOCTOR_PROBLEM : KTAPE_DOCTOR_NOTE,
		 "the headers of kernel %s are missing: no /lib/modules/%s/build",
		 d->release, d->release);
	kt_why(d, needed ? "the module is built with them" :
			   "the module cannot be built again without them");
	if (!d->release[0])
		return;
	if (!x) {
		kt_next(d, "make modules KDIR=FOLDER   # in the source of ktape; FOLDER is where kernel %s was built",
			d->release);
		return;
	}
	package_base(d, x, base);
	kt_next(d, "%s%s %s%s%s", d->sudo, x->install, x->before, base, x->after);
}
