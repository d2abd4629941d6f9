/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream that writes into memory, and says when memory was missing; see memory.c. */
#ifndef _KT_MEMORY_H
#define _KT_MEMORY_H

#include <stddef.h>
#include <stdio.h>

FILE *kt_memory_open(char **text, size_t *len);
int kt_memory_close(FILE *f);

#endif /* _KT_MEMORY_H */
