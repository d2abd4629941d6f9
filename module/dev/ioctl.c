// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of /dev/ktape: one table says of each command which structure it
 * takes, who may call it and when the structure is copied back.  The handlers
 * stand beside their features, the numbers in uapi/ktape/ioctl.h.
 *
 * An argument is copied in once, and the handler checks and uses that copy.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "names/names.h"
#include "persist/persist.h"
#include "internal.h"

/* Describe how full the registry is, and which names had no room. */
static void features_of_names(struct ktape_features *f)
{
	unsigned int i;

	f->registry_entries = kt_registry_entries();
	f->registry_max = kt_registry_max();
	f->registry_limit = kt_registry_limit();
	f->names_reused = kt_registry_reused();
	f->names_evicted = kt_registry_evicted();
	f->names_dropped = 0;
	for (i = 0; i < KTAPE_NO_ROOM_REASONS; i++) {
		f->no_room[i] = kt_registry_no_room(i);
		/* These lack only in the copy in persistent memory, not in the registry. */
		if (i != KTAPE_NO_ROOM_REGION)
			f->names_dropped += f->no_room[i];
	}
}

/* Fill what this module and kernel can do. */
static long ioctl_features(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_features *f = &arg->features;

	f->clock = kt_clock_id();
	f->features = KTAPE_FEATURE_CREATE | KTAPE_FEATURE_DISCARD |
		      KTAPE_FEATURE_FILTER | KTAPE_FEATURE_NAMES |
		      KTAPE_FEATURE_SNAPSHOT | KTAPE_FEATURE_TRIGGER |
		      KTAPE_FEATURE_GROWS;
	if (!kt_dcache_is_aliasing())
		f->features |= KTAPE_FEATURE_MMAP;
	if (IS_ENABLED(CONFIG_CGROUPS))
		f->features |= KTAPE_FEATURE_CGROUP;
	if (IS_ENABLED(CONFIG_TRACEPOINTS))
		f->features |= KTAPE_FEATURE_TRACEPOINTS;
	if (IS_ENABLED(CONFIG_KPROBES))
		f->features |= KTAPE_FEATURE_KPROBE;
	if (IS_ENABLED(CONFIG_STACKTRACE))
		f->features |= KTAPE_FEATURE_STACK;
	if (kt_persist_size())
		f->features |= KTAPE_FEATURE_PERSIST;
	if (!IS_ENABLED(CONFIG_64BIT))
		f->features |= KTAPE_FEATURE_POS32;
	f->clock_hz = kt_clock_hz();
	f->page_size = PAGE_SIZE;
	f->sessions_max = KT_SESSIONS;
	f->cpus = nr_cpu_ids;
	features_of_names(f);
	f->table_hash = kt_metadata_hash();
	memcpy(f->uuid, kt_uuid, sizeof(f->uuid));
	return 0;
}

/**
 * enum kt_ioctl_right - who may call a command
 * @KT_RIGHT_ANY: every descriptor
 * @KT_RIGHT_CONTROL: descriptors that may control their session
 * @KT_RIGHT_HANDLER: the handler decides, by the operation in the structure
 */
enum kt_ioctl_right {
	KT_RIGHT_ANY,
	KT_RIGHT_CONTROL,
	KT_RIGHT_HANDLER,
};

/**
 * enum kt_ioctl_result - when the structure is copied back to the caller
 * @KT_RESULT_NONE: never
 * @KT_RESULT_GIVEN: after success and after -EMSGSIZE
 * @KT_RESULT_FAILED: after -ENOMEM, if the caller's structure has the members
 *	that say what failed
 */
enum kt_ioctl_result {
	KT_RESULT_NONE,
	KT_RESULT_GIVEN,
	KT_RESULT_FAILED,
};

/**
 * struct kt_ioctl_def - one command
 * @cmd: number
 * @size: bytes of its structure in this version
 * @right: who may call it
 * @result: when the structure is copied back
 * @call: handler
 */
struct kt_ioctl_def {
	unsigned int cmd;
	u32 size;
	enum kt_ioctl_right right;
	enum kt_ioctl_result result;
	long (*call)(struct file *file, union kt_ioctl_arg *arg);
};

/* The direction in a command's number has to fit what the command does. */
#define IOCTL_DIRECTION(result) \
	((result) == KT_RESULT_NONE ? _IOC_WRITE : _IOC_READ | _IOC_WRITE)

#define IOCTL(NAME, member, RIGHT, RESULT, fn)                                 \
	{                                                                      \
		.cmd = KTAPE_IOC_##NAME +                                      \
		       BUILD_BUG_ON_ZERO(_IOC_DIR(KTAPE_IOC_##NAME) !=         \
					 IOCTL_DIRECTION(KT_RESULT_##RESULT)), \
		.size = sizeof(((union kt_ioctl_arg *)0)->member),             \
		.right = KT_RIGHT_##RIGHT, .result = KT_RESULT_##RESULT,       \
		.call = fn,                                                    \
	}

static const struct kt_ioctl_def ioctl_defs[] = {
	IOCTL(FEATURES, features, ANY, GIVEN, ioctl_features),
	IOCTL(LAYOUT, layout, ANY, GIVEN, kt_ioctl_layout),
	IOCTL(PROFILE, profile, HANDLER, GIVEN, kt_ioctl_profile),
	IOCTL(START, command, CONTROL, NONE, kt_ioctl_start),
	IOCTL(STOP, command, CONTROL, NONE, kt_ioctl_stop),
	IOCTL(CLEAR, command, CONTROL, NONE, kt_ioctl_clear),
	IOCTL(FLUSH, command, CONTROL, NONE, kt_ioctl_flush),
	IOCTL(STATS, stats, ANY, GIVEN, kt_ioctl_stats),
	IOCTL(CONSUMER, consumer, HANDLER, NONE, kt_ioctl_consumer),
	IOCTL(EVENT_INFO, event_info, ANY, GIVEN, kt_ioctl_event_info),
	IOCTL(METADATA, metadata, ANY, GIVEN, kt_ioctl_metadata),
	IOCTL(WATERMARK, watermark, ANY, NONE, kt_ioctl_watermark),
	IOCTL(CREATE, create, CONTROL, FAILED, kt_ioctl_create),
	IOCTL(SESSIONS, sessions, ANY, GIVEN, kt_ioctl_sessions),
	IOCTL(OPEN, ref, ANY, NONE, kt_ioctl_open),
	IOCTL(DESTROY, ref, CONTROL, NONE, kt_ioctl_destroy),
	IOCTL(POLICY, policy, HANDLER, GIVEN, kt_ioctl_policy),
	IOCTL(READER, reader, ANY, GIVEN, kt_ioctl_reader),
	IOCTL(FILTER, filter, HANDLER, GIVEN, kt_ioctl_filter),
	IOCTL(PROBE, probe, HANDLER, GIVEN, kt_ioctl_probe),
	IOCTL(TRIGGER, trigger, HANDLER, GIVEN, kt_ioctl_trigger),
	IOCTL(COST, cost, ANY, GIVEN, kt_ioctl_cost),
	IOCTL(PERSIST_INFO, persist_info, ANY, GIVEN, kt_ioctl_persist_info),
	IOCTL(PERSIST_READ, persist_read, ANY, GIVEN, kt_ioctl_persist_read),
	IOCTL(PERSIST_DROP, command, CONTROL, NONE, kt_ioctl_persist_drop),
};

static const struct kt_ioctl_def *ioctl_find(unsigned int cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ioctl_defs); i++)
		if (ioctl_defs[i].cmd == cmd)
			return &ioctl_defs[i];
	return NULL;
}

/*
 * Copy the argument in.  Members that the caller's structure lacks are zero; @size receives
 * the size of that structure.
 * Return: 0; -EFAULT; -EINVAL: too short; -E2BIG: more than a page, or
 * unknown members that are not zero.
 */
static int ioctl_get_arg(const struct kt_ioctl_def *c, void __user *from,
			 union kt_ioctl_arg *arg, u32 *size)
{
	int ret;

	if (get_user(*size, (u32 __user *)from))
		return -EFAULT;
	/* The smallest structure has its size and one more word. */
	if (*size < sizeof(u32) * 2)
		return -EINVAL;
	if (*size > PAGE_SIZE)
		return -E2BIG;
	memset(arg, 0, sizeof(*arg));
	ret = copy_struct_from_user(arg, c->size, from, *size);
	if (ret)
		return ret;
	/* User space may have changed the size after it was checked. */
	arg->size = *size;
	return 0;
}

/* Return true if the structure is copied back to the caller. */
static bool ioctl_has_result(const struct kt_ioctl_def *c, long ret, u32 size)
{
	switch (c->result) {
	case KT_RESULT_GIVEN:
		return !ret || ret == -EMSGSIZE;
	case KT_RESULT_FAILED:
		return ret == -ENOMEM &&
		       size > offsetof(struct ktape_create, failed_cpu);
	default:
		return false;
	}
}

static int ioctl_put_arg(const struct kt_ioctl_def *c, void __user *to,
			 union kt_ioctl_arg *arg, u32 size)
{
	arg->size = min(size, c->size);
	return copy_to_user(to, arg, arg->size) ? -EFAULT : 0;
}

/**
 * kt_dev_ioctl() - execute a command of uapi/ktape/ioctl.h
 * @file: the descriptor
 * @cmd: number of the command
 * @arg: user address of its structure
 *
 * Context: process context, may sleep.
 * Return: what the handler returns; -ENOTTY: no such command; -EPERM: the
 * descriptor may not control its session; -EFAULT, -EINVAL, -E2BIG: the structure
 * cannot be read, is too short, or has unknown members that are not zero; -ENOMEM.
 */
long kt_dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct kt_ioctl_def *c = ioctl_find(cmd);
	void __user *user = (void __user *)arg;
	union kt_ioctl_arg *copy;
	u32 size;
	long ret;

	if (!c)
		return -ENOTTY;
	if (c->right == KT_RIGHT_CONTROL && !kt_dev_may_control(file))
		return -EPERM;
	copy = kmalloc(sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	ret = ioctl_get_arg(c, user, copy, &size);
	if (!ret) {
		ret = c->call(file, copy);
		if (ioctl_has_result(c, ret, size) &&
		    ioctl_put_arg(c, user, copy, size))
			ret = -EFAULT;
	}
	kfree(copy);
	return ret;
}
