/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols of code addresses, entered into the registry. */
#ifndef _KT_SYMBOL_H
#define _KT_SYMBOL_H

#include "event/event.h"

int kt_symbol_init(void);
void kt_symbol_exit(void);

#endif /* _KT_SYMBOL_H */
