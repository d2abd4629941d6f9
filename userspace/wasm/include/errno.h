/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <errno.h>: a number that WASI lacks. */
#ifndef _KT_WASM_ERRNO_H
#define _KT_WASM_ERRNO_H

#include_next <errno.h>

#define ENODATA 261 /* the numbers of WASI end below 100 */

#endif /* _KT_WASM_ERRNO_H */
