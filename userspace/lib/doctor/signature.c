// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Does the kernel load only modules that are signed with a key that it trusts?  Then
 * the owner makes a key, enrolls it at boot (MOK, "machine owner key"), and signs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"
#include "internal.h"

#define SECURE_BOOT \
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define EFI_ATTRIBUTES 4U /* bytes before the value of a variable */

/* Where distributions keep the owner's key: DKMS, Ubuntu, Fedora's akmods. */
static const struct key {
	const char *public;
	const char *private;
} keys[] = {
	{ "/var/lib/dkms/mok.pub", "/var/lib/dkms/mok.key" },
	{ "/var/lib/shim-signed/mok/MOK.der", "/var/lib/shim-signed/mok/MOK.priv" },
	{ "/etc/pki/akmods/certs/public_key.der",
	  "/etc/pki/akmods/private/private_key.priv" },
};

static const struct key *find_key(const struct ktape_doctor *d)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(keys); i++) {
		if (kt_doctor_exists(d, "%s", keys[i].public))
			return &keys[i];
	}
	return NULL;
}

/* Is Secure Boot on?  Return: "off", "on", or "unknown". */
static const char *secure_boot(const struct ktape_doctor *d)
{
	size_t len = 0;
	unsigned char *data = kt_doctor_unpacked(d, SECURE_BOOT, 64, &len);
	const char *is = "off";

	if (data && len > EFI_ATTRIBUTES)
		is = data[EFI_ATTRIBUTES] == 1 ? "on" : "off";
	else if (kt_doctor_exists(d, "/sys/firmware/efi"))
		is = "unknown";
	free(data);
	return is;
}

/* Make and enroll a key.  DKMS signs with this one without an option. */
static void next_make_key(struct ktape_doctor *d)
{
	kt_why(d, "make a key and enroll it: mokutil asks for a password, the blue screen \"Enroll MOK\" at the next boot asks for it again; then build the module and run ktape doctor");
	kt_next(d, "%smkdir -p /var/lib/dkms && %sopenssl req -new -x509 -newkey rsa:2048 -nodes -days 36500 -subj /CN=ktape/ -addext extendedKeyUsage=codeSigning -keyout %s -outform DER -out %s && %smokutil --import %s",
		d->sudo, d->sudo, keys[0].private, keys[0].public, d->sudo,
		keys[0].public);
}

static void next_enroll(struct ktape_doctor *d, const struct key *key)
{
	kt_why(d, "the key has to be enrolled: mokutil asks for a password, the blue screen \"Enroll MOK\" at the next boot asks for it again");
	kt_next(d, "%smokutil --import %s && %sreboot", d->sudo, key->public,
		d->sudo);
}

static void next_sign(struct ktape_doctor *d, const struct key *key)
{
	const char *end = strrchr(d->shown, '.');

	kt_why(d, "sign it with the owner's key, %s", key->public);
	if (d->dkms[0])
		kt_doctor_rebuild(d);
	else if (end && !strcmp(end, ".ko"))
		kt_next(d, "%s/lib/modules/%s/build/scripts/sign-file sha256 %s %s %s",
			d->sudo, d->release, key->private, key->public, d->shown);
	else
		kt_next(d, "make clean modules   # then sign ktape.ko, then compress it");
}

static void report_signature_refused(struct ktape_doctor *d, const char *secure)
{
	const struct key *key = find_key(d);
	bool is_signed = d->image_signed;

	kt_found(d, KTAPE_DOCTOR_PROBLEM,
		 "%s is %s, and the kernel loads only modules with a signature that it trusts (Secure Boot is %s%s%s)",
		 d->path,
		 is_signed ? "signed with a key that the kernel does not trust" :
			     "not signed",
		 secure, d->lockdown[0] ? ", lockdown=" : "", d->lockdown);
	if (!strcmp(secure, "unknown")) {
		kt_why(d, "the variable of the firmware that says whether Secure Boot demands it cannot be read");
		kt_next(d, "%smodprobe efivarfs && %smount -t efivarfs efivarfs /sys/firmware/efi/efivars",
			d->sudo, d->sudo);
	} else if (strcmp(secure, "on")) {
		/* Without Secure Boot the kernel does not read the owner's keys. */
		kt_why(d, "it was booted with lockdown= or module.sig_enforce; remove that from the kernel's command line");
		kt_next(d, "%sreboot", d->sudo);
	} else if (!key) {
		next_make_key(d);
	} else if (is_signed) {
		next_enroll(d, key);
	} else {
		next_sign(d, key);
	}
}

/*
 * Check whether the kernel demands signatures, and whether it trusts that of the module's file: it
 * does unless the kernel log says otherwise (@untrusted), because its keys cannot be read.
 */
void kt_check_signature(struct ktape_doctor *d)
{
	const char *is = secure_boot(d);
	bool secure = !strcmp(is, "on");
	char enforce[KT_DOCTOR_WORD];
	/* Of a file that could not be read it is not known whether it is signed. */
	bool has_file = d->image == KT_IMAGE_LIKELY || d->image == KT_IMAGE_GOOD;
	bool enforced;

	if (d->loaded)
		return;
	kt_doctor_word(d, "/sys/module/module/parameters/sig_enforce", enforce);
	enforced = !strcmp(enforce, "Y") ||
		   (d->lockdown[0] && strcmp(d->lockdown, "none"));
	if (!enforced && secure && !d->lockdown[0]) {
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "Secure Boot is on, and it is unknown whether the kernel loads unsigned modules");
		kt_why(d, "/sys/kernel/security/lockdown cannot be read");
		kt_next(d, "%smount -t securityfs securityfs /sys/kernel/security",
			d->sudo);
	} else if (!enforced) {
		kt_ok(d, "the kernel loads unsigned modules%s",
		      secure ? ", although Secure Boot is on" : "");
	} else if (has_file && (!d->image_signed || d->untrusted)) {
		report_signature_refused(d, is);
	} else if (has_file) {
		kt_ok(d, "the module is signed, as the kernel demands");
	} else {
		kt_found(d, KTAPE_DOCTOR_NOTE,
			 "the kernel loads only modules with a signature that it trusts");
		kt_why(d, "the module has to be signed after it was built");
		/* Without a key, say instead how to make one. */
		if (secure && !find_key(d))
			next_make_key(d);
	}
}
