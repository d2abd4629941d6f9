// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overwrite memory that the kernel does not use, like a device or another
 * kernel would. Loading the module does so once.
 *
 * insmod kt_poke.ko address=ADDRESS length=BYTES value=BYTE
 *
 * For guest/ring/t_persist_damage.c.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/string.h>

static unsigned long address;
module_param(address, ulong, 0444);
MODULE_PARM_DESC(address, "physical, outside of the kernel's memory");

static unsigned long length;
module_param(length, ulong, 0444);
MODULE_PARM_DESC(length, "bytes");

static unsigned char value;
module_param(value, byte, 0444);
MODULE_PARM_DESC(value, "what each of them becomes");

static int __init kt_poke_init(void)
{
	void *p;

	if (!length)
		return -EINVAL;
	p = memremap(address, length, MEMREMAP_WB);
	if (!p)
		return -ENOMEM;
	memset(p, value, length);
	memunmap(p);
	return 0;
}

static void __exit kt_poke_exit(void)
{
}

module_init(kt_poke_init);
module_exit(kt_poke_exit);

MODULE_DESCRIPTION("overwrites memory outside of the kernel's");
MODULE_AUTHOR("the ktape developers");
MODULE_LICENSE("GPL");
