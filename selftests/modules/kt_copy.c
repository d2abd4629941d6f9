// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make the nth access of the kernel to a program's memory fail, as if that memory were
 * gone.  It counts the accesses of the thread that has written nth, from then on.  The
 * kernel's own fault injection needs a kernel that is built for it.  Only for x86: the
 * handlers change the registers of its calls.
 *
 * For guest/hostile/t_hostile_alloc.c.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>

/* An address of a program at which nothing is mapped. */
#define NOWHERE 8UL

static pid_t victim;
static int nth;

/**
 * struct access - a way to access a program's memory
 * @probe: at its function
 * @what: name of the access
 * @failed: number of times that it was made to fail
 */
struct access {
	struct kprobe probe;
	const char *what;
	unsigned int failed;
};

/* Accesses of one thread only, so plain words do. */
static bool is_nth(struct kprobe *p)
{
	if (current->pid != READ_ONCE(victim) || nth <= 0 || --nth)
		return false;
	container_of(p, struct access, probe)->failed++;
	return true;
}

static int on_copy_from(struct kprobe *p, struct pt_regs *regs)
{
	if (is_nth(p))
		regs->si = NOWHERE;
	return 0;
}

/* Also clear_user(), which is inline: its functions take the address likewise. */
static int on_copy_to(struct kprobe *p, struct pt_regs *regs)
{
	if (is_nth(p))
		regs->di = NOWHERE;
	return 0;
}

/* Its address is in an iov_iter: copy no byte, as if the first one faulted. */
static int on_copy_from_iter(struct kprobe *p, struct pt_regs *regs)
{
	if (is_nth(p))
		regs->si = 0;
	return 0;
}

/* An assembler function, with a calling convention of its own. */
static int on_get_user(struct kprobe *p, struct pt_regs *regs)
{
	if (is_nth(p))
		regs->ax = NOWHERE;
	return 0;
}

#define ACCESS(name, function, handler)          \
	{                                        \
		.what = name,                    \
		.probe = {                       \
			.symbol_name = function, \
			.pre_handler = handler,  \
		},                               \
	}

static struct access accesses[] = {
	ACCESS("copy_from_user", "_copy_from_user", on_copy_from),
	ACCESS("copy_to_user", "_copy_to_user", on_copy_to),
	ACCESS("copy_from_iter", "_copy_from_iter", on_copy_from_iter),
	ACCESS("get_user", "__get_user_4", on_get_user),
	/* Depending on the kernel and the CPU; one of them may end in another one. */
	ACCESS("clear_user", "rep_stos_alternative", on_copy_to),
	ACCESS("clear_user", "clear_user_original", on_copy_to),
	ACCESS("clear_user", "clear_user_rep_good", on_copy_to),
	ACCESS("clear_user", "clear_user_erms", on_copy_to),
};

static int set_nth(const char *text, const struct kernel_param *kp)
{
	int n, ret = kstrtoint(text, 0, &n);

	if (ret)
		return ret;
	nth = n;
	WRITE_ONCE(victim, current->pid);
	return 0;
}

/* Nothing fails after that: the thread's next access is none of the tested call. */
static int get_nth(char *text, const struct kernel_param *kp)
{
	int left = nth;

	nth = 0;
	return scnprintf(text, PAGE_SIZE, "%d\n", left);
}

static const struct kernel_param_ops nth_ops = { .set = set_nth, .get = get_nth };

module_param_cb(nth, &nth_ops, NULL, 0600);
MODULE_PARM_DESC(nth,
		 "which access of this thread fails; reads how many were left, 0: it has failed, and ends it");

static int get_failed(char *text, const struct kernel_param *kp)
{
	unsigned int failed;
	int i, len = 0;

	for (i = 0; i < ARRAY_SIZE(accesses); i++) {
		failed = accesses[i].failed;
		while (i + 1 < ARRAY_SIZE(accesses) &&
		       !strcmp(accesses[i].what, accesses[i + 1].what))
			failed += accesses[++i].failed;
		if (failed)
			len += scnprintf(text + len, PAGE_SIZE - len, "%s%u %s",
					 len ? ", " : "", failed, accesses[i].what);
	}
	return len + scnprintf(text + len, PAGE_SIZE - len, "\n");
}

static const struct kernel_param_ops failed_ops = { .get = get_failed };

module_param_cb(failed, &failed_ops, NULL, 0400);
MODULE_PARM_DESC(failed, "how many of each kind were made to fail");

static void remove_access_probes(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(accesses); i++)
		if (accesses[i].probe.addr)
			unregister_kprobe(&accesses[i].probe);
}

static int __init kt_copy_init(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(accesses); i++) {
		struct kprobe *p = &accesses[i].probe;

		ret = register_kprobe(p);
		if (!ret)
			continue;
		p->addr = NULL;
		pr_info("%s cannot be probed: %d\n", p->symbol_name, ret);
		/* Without these two nothing is left to test. */
		if (i < 2) {
			remove_access_probes();
			return ret;
		}
	}
	return 0;
}
module_init(kt_copy_init);

static void __exit kt_copy_exit(void)
{
	remove_access_probes();
}
module_exit(kt_copy_exit);

MODULE_DESCRIPTION("makes accesses to a program's memory fail");
MODULE_LICENSE("GPL");
