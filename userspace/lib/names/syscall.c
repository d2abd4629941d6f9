// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of system calls by machine and table, and of error numbers. */
#include "util/bits.h"

#include "names/names.h"

/*
 * Tables made by scripts/gen-names.  They are checked in, so that every build knows all
 * machines.
 */
static const char *const x86_64_calls[] = {
#include "syscalls_x86_64.inc"
};

static const char *const x32_calls[] = {
#include "syscalls_x32.inc"
};

static const char *const i386_calls[] = {
#include "syscalls_i386.inc"
};

static const char *const generic_calls[] = {
#include "syscalls_generic.inc"
};

static const char *const arm_calls[] = {
#include "syscalls_arm.inc"
};

static const char *const ppc64_calls[] = {
#include "syscalls_ppc64.inc"
};

static const char *const s390x_calls[] = {
#include "syscalls_s390x.inc"
};

static const char *const errors[] = {
#include "errors.inc"
	/* Kernel-internal errors, which a tracer sees but a program does not. */
	[512] = "ERESTARTSYS",
	"ERESTARTNOINTR",
	"ERESTARTNOHAND",
	"ENOIOCTLCMD",
	"ERESTART_RESTARTBLOCK",
	"EPROBE_DEFER",
	"EOPENSTALE",
	"ENOPARAM",
	[524] = "ENOTSUPP",
	[529] = "EIOCBQUEUED",
};

struct table {
	const char *const *names;
	size_t nr;
};

#define TABLE(array)                        \
	{                                   \
		array, KT_ARRAY_SIZE(array) \
	}

/* The tables of each machine, by enum ktape_abi. */
static const struct {
	const char *machine;
	struct table tables[KTAPE_ABIS];
} machines[] = {
	{ "x86_64", { TABLE(x86_64_calls), TABLE(i386_calls), TABLE(x32_calls) } },
	{ "aarch64", { TABLE(generic_calls), TABLE(arm_calls) } },
	{ "armv5tejl", { TABLE(arm_calls) } },
	{ "armv6l", { TABLE(arm_calls) } },
	{ "armv7l", { TABLE(arm_calls) } },
	{ "armv8l", { TABLE(arm_calls) } },
	{ "riscv64", { TABLE(generic_calls) } },
	{ "loongarch64", { TABLE(generic_calls) } },
	{ "ppc64", { TABLE(ppc64_calls) } },
	{ "ppc64le", { TABLE(ppc64_calls) } },
	{ "s390x", { TABLE(s390x_calls) } },
	{ "i386", { TABLE(i386_calls) } },
	{ "i486", { TABLE(i386_calls) } },
	{ "i586", { TABLE(i386_calls) } },
	{ "i686", { TABLE(i386_calls) } },
};

const char *ktape_syscall_abi_name(const char *machine, unsigned int abi,
				   unsigned int nr)
{
	if (abi >= KTAPE_ABIS)
		return NULL;
	for (size_t i = 0; i < KT_ARRAY_SIZE(machines); i++) {
		const struct table *t = &machines[i].tables[abi];

		if (strcmp(machines[i].machine, machine))
			continue;
		return nr < t->nr ? t->names[nr] : NULL;
	}
	return NULL;
}

const char *ktape_syscall_name(const char *machine, unsigned int nr)
{
	return ktape_syscall_abi_name(machine, KTAPE_ABI_NATIVE, nr);
}

/*
 * Calls whose result can be any number, so a small negative result is not an error.
 * They return a register of the interrupted program, or a clock that wraps.
 */
static const char *const without_status[] = {
	"rt_sigreturn", "sigreturn", "uretprobe", "uprobe",
	"vm86",		"vm86old",   "times",
};

/* Check whether a small negative result of a call is -errno; true if unknown. */
bool kt_syscall_has_status(const char *machine, unsigned int abi, unsigned int nr)
{
	const char *name = ktape_syscall_abi_name(machine, abi, nr);

	for (size_t i = 0; name && i < KT_ARRAY_SIZE(without_status); i++) {
		if (!strcmp(name, without_status[i]))
			return false;
	}
	return true;
}

const char *ktape_errno_name(int number)
{
	if (number < 0 || (size_t)number >= KT_ARRAY_SIZE(errors))
		return NULL;
	return errors[number];
}
