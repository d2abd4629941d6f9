/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <stdio.h>: tmpfile() is in stage.c, because WASI's is missing and warns. */
#ifndef _KT_WASM_STDIO_H
#define _KT_WASM_STDIO_H

#include_next <stdio.h>

FILE *kt_tmpfile(void);
#define tmpfile kt_tmpfile

#endif /* _KT_WASM_STDIO_H */
