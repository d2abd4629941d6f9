/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape verify: is a trace whole and consistent?  The library checks (lib/verify).
 *
 * In the order in which to read them:
 *	sum.c		the last lines and the exit code
 *	json.c		findings and counts as JSON, also for pages
 *	verify.c	options, findings as text
 */
#ifndef _KT_TOOL_VERIFY_H
#define _KT_TOOL_VERIFY_H

#include <stdbool.h>
#include <stdio.h>

#include <ktape.h>

#include "tool/shared/opt.h"

#define VERIFY_SHOWN 100U /* findings shown without --all */

/* Exit code for a trace of which a part is missing, while nothing is wrong with the rest. */
#define EXIT_CUT 6

/* What a check that was run has found; @wrong: number of findings that are no notes. */
int verify_code(const struct ktape_verify *verify, int wrong, bool strict);
void verify_print_sum(const struct ktape_verify *verify, int wrong);

/* Parts of the JSON object, and all of it for a trace that was not checked yet. */
void verify_put_finding(FILE *f, const struct ktape_finding *finding, bool first);
void verify_put_counts(FILE *f, const struct ktape_verify *verify);
int verify_put_json(FILE *f, const char *trace);

extern const struct kt_command command_verify;

#endif /* _KT_TOOL_VERIFY_H */
