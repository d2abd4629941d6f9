/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: find out what prevents recording on this machine, and the command that
 * mends it.
 *
 * Included by ktape.h.  The checks read files of /proc, /sys, /boot, /lib/modules and
 * /etc, open the device, and create and remove a file in the folder for traces.  Nothing
 * is changed.  Compressed files are read by the programs gzip, xz and zstd.
 */
#ifndef _KTAPE_DOCTOR_H
#define _KTAPE_DOCTOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum ktape_doctor_severity - how bad a finding is
 * @KTAPE_DOCTOR_OK: as it should be
 * @KTAPE_DOCTOR_NOTE: worth knowing
 * @KTAPE_DOCTOR_WARNING: something is missing or slow, but recording works
 * @KTAPE_DOCTOR_PROBLEM: prevents recording
 */
enum ktape_doctor_severity {
	KTAPE_DOCTOR_OK = 0,
	KTAPE_DOCTOR_NOTE = 1,
	KTAPE_DOCTOR_WARNING = 2,
	KTAPE_DOCTOR_PROBLEM = 3
};

/**
 * struct ktape_diagnosis - what one check has found
 * @id: name of the check; several findings may have the same
 * @severity: enum ktape_doctor_severity
 * @what: what is the case
 * @why: why it matters; "" if @severity is OK
 * @next: command for a shell that mends it, or ""
 *
 * Texts are one line of valid UTF-8 without control characters.
 */
struct ktape_diagnosis {
	const char *id;
	unsigned int severity;
	const char *what;
	const char *why;
	const char *next;
};

/* Flags of struct ktape_doctor_options. */
#define KTAPE_DOCTOR_OPEN \
	(1U << 0) /* only what the device needs to be opened */

/**
 * struct ktape_doctor_options - what is to be checked
 * @root: folder below which all files are read, for tests and foreign systems, or
 *	NULL.  With it, nothing but files is read
 * @device: path of the device, NULL for KTAPE_DEVICE_PATH
 * @module: file of the module, NULL to search it in /lib/modules and in "."
 * @output: folder for traces, NULL for "."; it is not below @root
 * @ring_size: bytes of a CPU's ring that are wanted, 0 for those of ktape record
 * @flags: KTAPE_DOCTOR_*
 */
struct ktape_doctor_options {
	const char *root;
	const char *device;
	const char *module;
	const char *output;
	uint64_t ring_size;
	unsigned int flags;
};

/* The findings of one run. */
struct ktape_doctor;

/**
 * ktape_doctor_run() - Run the checks
 * @options: what is to be checked
 * @doctor: set on success; release with ktape_doctor_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_doctor_run(const struct ktape_doctor_options *options,
		     struct ktape_doctor **doctor);

/**
 * ktape_doctor_finding() - Return a finding
 * @doctor: the findings
 * @index: number of the finding, from 0
 *
 * What a finding needs comes before it: headers, then the module, then the device.
 *
 * Return: the finding, valid until ktape_doctor_free(), or NULL if there are fewer.
 */
const struct ktape_diagnosis *ktape_doctor_finding(const struct ktape_doctor *doctor,
						   unsigned int index);

/**
 * ktape_doctor_problem() - Return the problem that has to be solved first
 * @doctor: the findings
 *
 * Return: the finding, valid until ktape_doctor_free(), or NULL if nothing prevents
 * recording.
 */
const struct ktape_diagnosis *ktape_doctor_problem(const struct ktape_doctor *doctor);

/**
 * ktape_doctor_free() - Free the findings
 * @doctor: the findings, or NULL
 */
void ktape_doctor_free(struct ktape_doctor *doctor);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_DOCTOR_H */
