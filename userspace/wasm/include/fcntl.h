/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <fcntl.h>: flags that WASI lacks. */
#ifndef _KT_WASM_FCNTL_H
#define _KT_WASM_FCNTL_H

#include_next <fcntl.h>

#define O_DIRECT	0
#define F_DUPFD_CLOEXEC 1030 /* fcntl() refuses it */

#endif /* _KT_WASM_FCNTL_H */
