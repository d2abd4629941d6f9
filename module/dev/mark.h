/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/ktape_mark: events of user programs. */
#ifndef _KT_DEV_MARK_H
#define _KT_DEV_MARK_H

int kt_dev_mark_init(unsigned int mode, unsigned int rate);
void kt_dev_mark_exit(void);

#endif /* _KT_DEV_MARK_H */
