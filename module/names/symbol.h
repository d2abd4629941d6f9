/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses as 32-bit tokens.
 *
 * Records tell objects and functions apart without telling where they are: a
 * token is a keyed mixture of the address, with a new key at each load.  It
 * keeps addresses out of traces that are passed around; it is no cipher.
 */
#ifndef _KT_TOKEN_H
#define _KT_TOKEN_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/types.h>

/*
 * Code addresses whose symbols were looked up.  One is in its place, by the low
 * bits of its token, or near it.
 */
#define KT_SYMBOLS_SEEN		16384

extern u64 kt_token_key[3];
extern unsigned long kt_symbols_seen[KT_SYMBOLS_SEEN];

int kt_token_init(void);
void kt_token_exit(void);
void kt_symbol_note(unsigned long address, u32 token);

/**
 * kt_token() - an object's address as a token
 * @p: address, may be NULL
 *
 * Context: any.
 * Return: the token, 0 for NULL only.
 */
static __always_inline u32 kt_token(const void *p)
{
	u64 x = (unsigned long)p ^ kt_token_key[0];
	u32 token;

	x *= kt_token_key[1];
	x ^= x >> 32;
	x *= kt_token_key[2];
	token = (u32)(x >> 32);
	return p ? token ?: 1 : 0;
}

/**
 * kt_token_func() - a code address as a token whose symbol gets a name
 * @address: in the kernel or a module, may be 0
 *
 * Context: any, preemption disabled.
 * Return: the token.
 */
static __always_inline u32 kt_token_func(unsigned long address)
{
	u32 token = kt_token((const void *)address);

	if (unlikely(READ_ONCE(kt_symbols_seen[token % KT_SYMBOLS_SEEN]) !=
		     address))
		kt_symbol_note(address, token);
	return token;
}

/*
 * The kernel's part of the address space, tags in the uppermost byte included,
 * without its last megabyte: that holds nothing, but errors and small negative
 * numbers read as addresses in it.
 */
#ifdef CONFIG_64BIT
#define KT_KERNEL_FROM		(0xfUL << 60)
#else
#define KT_KERNEL_FROM		TASK_SIZE
#endif
#define KT_KERNEL_TO		(-1UL << 20)

/**
 * kt_is_kernel_address() - may a number be the address of something in the kernel?
 * @value: the number
 *
 * Context: any.
 * Return: true or false.
 */
static __always_inline bool kt_is_kernel_address(unsigned long value)
{
	return value >= KT_KERNEL_FROM && value < KT_KERNEL_TO;
}

#endif /* _KT_TOKEN_H */
