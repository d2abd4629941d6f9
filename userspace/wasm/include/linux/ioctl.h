/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* There is no device to control: the numbers of our ioctls are never used. */
#ifndef _KT_WASM_LINUX_IOCTL_H
#define _KT_WASM_LINUX_IOCTL_H

#define _IOW(type, nr, size)  0
#define _IOWR(type, nr, size) 0

#endif /* _KT_WASM_LINUX_IOCTL_H */
