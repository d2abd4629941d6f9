/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * <signal.h> for the viewer's WebAssembly program: no signals exist there, but util/temp.h
 * names sigset_t.
 */
#ifndef _KT_WASM_SIGNAL_H
#define _KT_WASM_SIGNAL_H

#include <__typedef_sigset_t.h>

#endif /* _KT_WASM_SIGNAL_H */
