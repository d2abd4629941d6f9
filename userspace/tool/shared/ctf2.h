/* SPDX-License-Identifier: GPL-2.0-only */
/* --ctf: the version of CTF that the metadata of a native trace have. */
#ifndef _KT_TOOL_SHARED_CTF2_H
#define _KT_TOOL_SHARED_CTF2_H

#include <stdbool.h>

#include "tool/shared/opt.h"

struct kt_command;

/* Both return 0 or the exit code.  ctf2_describe() is for a trace that is complete. */
int ctf_version(const struct kt_command *command, const char *text, bool *two);
int ctf2_describe(const char *dir);

#endif /* _KT_TOOL_SHARED_CTF2_H */
