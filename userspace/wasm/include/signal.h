/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <signal.h>: no signal comes; our headers only name this type. */
#ifndef _KT_WASM_SIGNAL_H
#define _KT_WASM_SIGNAL_H

#include <__typedef_sigset_t.h>

#endif /* _KT_WASM_SIGNAL_H */
