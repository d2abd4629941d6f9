/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel tells by notifiers: deaths, panics, network devices. */
#ifndef _KT_NOTIFY_H
#define _KT_NOTIFY_H

int kt_notify_init(void);
void kt_notify_exit(void);

#endif /* _KT_NOTIFY_H */
