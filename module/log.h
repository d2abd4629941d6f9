/* SPDX-License-Identifier: GPL-2.0-only */
/* Included before everything else: how messages of the module begin. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
