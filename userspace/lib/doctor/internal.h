/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the checks of this folder share: the state of a run, and reading of files.
 *
 * Read the files in this order; each calls only those before it: finding.c, read.c,
 * image.c, then the checks (system.c, headers.c, module.c, signature.c, access.c, names.c,
 * machine.c, tracers.c), and doctor.c, which runs them.
 */
#ifndef _KT_DOCTOR_INTERNAL_H
#define _KT_DOCTOR_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <ktape.h>

#define KT_DOCTOR_WORD		 128U /* longest word of a file that is used */
#define KT_DOCTOR_TEXT		 (4U << 20) /* longest text that is read, in bytes */
#define KT_DOCTOR_FILE		 (64U << 20) /* largest module that is read, in bytes */
#define KT_VERSION(major, minor) ((major) << 16 | (minor))

/* What was found: @nr entries of @list are in use, @room are allocated. */
struct kt_findings {
	struct ktape_diagnosis *list;
	unsigned int nr;
	unsigned int room;
};

/**
 * enum kt_image - is there a module, and does it belong to the running kernel?
 * @KT_IMAGE_NONE: no module was found
 * @KT_IMAGE_FOREIGN: it was built for another kernel, or is not a module
 * @KT_IMAGE_LIKELY: it was built for another version, and modversions decide
 * @KT_IMAGE_UNREAD: it cannot be read
 * @KT_IMAGE_GOOD: it was built for this kernel
 */
enum kt_image {
	KT_IMAGE_NONE,
	KT_IMAGE_FOREIGN,
	KT_IMAGE_LIKELY,
	KT_IMAGE_UNREAD,
	KT_IMAGE_GOOD
};

/**
 * struct ktape_doctor - a run of the checks
 * @o: what is to be checked
 * @root: prefix of all paths
 * @real: the running system is checked, not files below a folder
 * @error: -ENOMEM after an allocation failed
 * @id: name of the running check
 * @findings: what was found so far
 * @release: version of the running kernel, a plain word or ""
 * @version: KT_VERSION() of it, 0 if unknown
 * @uid: effective user
 * @capabilities: effective capabilities
 * @sudo: "sudo " for users other than root
 * @no_modules: the kernel was built without modules
 * @modules: text of /proc/modules, or NULL
 * @loaded: the module is loaded
 * @image: state of the module's file
 * @path: path of the module's file, without @root; "" = none
 * @shown: @path for a command line, "" if it is not a plain word
 * @listed: depmod knows the file, so modprobe finds it
 * @image_signed: the file has a signature
 * @image_machine: the file was built for another architecture
 * @image_release: kernel that the file was built for, or ""
 * @image_version: version of the module in the file, or ""
 * @image_time: when the file was written, in seconds since 1970
 * @untrusted: the kernel log says that a key was rejected
 * @dkms: version of the module in /usr/src or /var/lib/dkms, or ""
 * @sources: there is a folder of headers
 * @lockdown: "none", "integrity", "confidentiality", or "" if unknown
 * @open_error: negative errno from opening the device
 * @only_read: it could be opened, but only for reading
 * @features: features of the module, if @open_error is 0
 * @wanted: bytes of a CPU's event ring, as kt_check_memory() has checked them
 */
struct ktape_doctor {
	const struct ktape_doctor_options *o;
	const char *root;
	bool real;
	int error;
	const char *id;
	struct kt_findings findings;
	char release[KT_DOCTOR_WORD];
	unsigned int version;
	unsigned long uid;
	uint64_t capabilities;
	const char *sudo;
	bool no_modules;
	char *modules;
	bool loaded;
	enum kt_image image;
	char path[512];
	char shown[512];
	bool listed;
	bool image_signed;
	bool image_machine;
	char image_release[KT_DOCTOR_WORD];
	char image_version[KT_DOCTOR_WORD];
	int64_t image_time;
	bool untrusted;
	char dkms[KT_DOCTOR_WORD];
	bool sources;
	char lockdown[KT_DOCTOR_WORD];
	int open_error;
	bool only_read;
	struct ktape_features features;
	uint64_t wanted;
};

/* ---- findings: finding.c -------------------------------------------------- */

/* kt_found() adds a finding; then kt_why() and kt_next() give its reason and what to do next. */
#define KT_PRINTF(text, args) __attribute__((format(printf, text, args)))

void kt_found(struct ktape_doctor *d, unsigned int severity, const char *format,
	      ...) KT_PRINTF(3, 4);
void kt_why(struct ktape_doctor *d, const char *format, ...) KT_PRINTF(2, 3);
void kt_next(struct ktape_doctor *d, const char *format, ...) KT_PRINTF(2, 3);

void kt_findings_free(struct kt_findings *f);

#define kt_ok(d, ...) kt_found(d, KTAPE_DOCTOR_OK, __VA_ARGS__)

/* ---- files below the root: read.c ----------------------------------------- */

/* The caller frees what kt_doctor_text() and kt_doctor_unpacked() return. */
bool kt_doctor_path(const struct ktape_doctor *d, char path[4096],
		    const char *format, ...) KT_PRINTF(3, 4);
bool kt_doctor_exists(const struct ktape_doctor *d, const char *format, ...)
	KT_PRINTF(2, 3);
char *kt_doctor_text(const struct ktape_doctor *d, const char *format, ...)
	KT_PRINTF(2, 3);
void *kt_doctor_unpacked(const struct ktape_doctor *d, const char *name,
			 size_t max, size_t *len);
bool kt_doctor_word(const struct ktape_doctor *d, const char *path,
		    char word[KT_DOCTOR_WORD]);
bool kt_doctor_number(const struct ktape_doctor *d, const char *path,
		      uint64_t *value);
const char *kt_text_line(const char *text, const char *begin);
bool kt_text_word(const char *text, char word[KT_DOCTOR_WORD]);
bool kt_text_plain(const char *word);

/* ---- the checks ----------------------------------------------------------- */

/* image.c: the file of the module */
void kt_doctor_image(struct ktape_doctor *d);
bool kt_doctor_find_file(const struct ktape_doctor *d, const char *release,
			 char *path, size_t room);
/* system.c: the kernel and where it runs */
void kt_check_kernel(struct ktape_doctor *d);
void kt_check_byte_order(struct ktape_doctor *d);
void kt_check_container(struct ktape_doctor *d);
void kt_check_config(struct ktape_doctor *d);
/* headers.c */
void kt_check_headers(struct ktape_doctor *d);
/* module.c: is there a module for this kernel, and is it loaded? */
void kt_doctor_rebuild(struct ktape_doctor *d);
void kt_check_module(struct ktape_doctor *d);
void kt_check_log(struct ktape_doctor *d);
void kt_check_loaded(struct ktape_doctor *d);
/* signature.c */
void kt_check_signature(struct ktape_doctor *d);
/* access.c: the device */
void kt_check_device(struct ktape_doctor *d);
void kt_check_lockdown(struct ktape_doctor *d);
void kt_check_rights(struct ktape_doctor *d);
void kt_check_version(struct ktape_doctor *d);
/* names.c */
void kt_check_names(struct ktape_doctor *d);
/* machine.c: what recording needs besides the module */
void kt_check_clock(struct ktape_doctor *d);
void kt_check_memory(struct ktape_doctor *d);
void kt_check_memlock(struct ktape_doctor *d);
void kt_check_uring(struct ktape_doctor *d);
void kt_check_output(struct ktape_doctor *d);
/* tracers.c */
void kt_check_kprobes(struct ktape_doctor *d);
void kt_check_tracers(struct ktape_doctor *d);

#endif /* _KT_DOCTOR_INTERNAL_H */
