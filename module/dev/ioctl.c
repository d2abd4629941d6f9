// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls: a table says of each what it takes and who may call it.
 *
 * Arguments are copied once and checked in the copy.
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "dev.h"
#include "event/event.h"
#include "metadata.h"
#include "persist/persist.h"
#include "probes/probes.h"
#include "names/registry.h"

/* Largest argument structure, for the copy. */
union kt_arg {
	u32 size;
	struct ktape_features features;
	struct ktape_layout layout;
	struct ktape_profile profile;
	struct ktape_command command;
	struct ktape_stats stats;
	struct ktape_consumer consumer;
	struct ktape_event_info event_info;
	struct ktape_metadata metadata;
	struct ktape_watermark watermark;
	struct ktape_create create;
	struct ktape_session_list sessions;
	struct ktape_session_ref ref;
	struct ktape_policy policy;
	struct ktape_reader_info reader;
	struct ktape_filter filter;
	struct ktape_probe probe;
	struct ktape_cost cost;
	struct ktape_trigger trigger;
	struct ktape_persist_info persist_info;
	struct ktape_persist_read persist_read;
};

/**
 * enum kt_result - when the structure goes back to the caller
 * @KT_RESULT_NONE: never
 * @KT_RESULT_GIVEN: after success, and after -EMSGSIZE
 * @KT_RESULT_FAILED: after -ENOMEM, and only what tells of it
 */
enum kt_result {
	KT_RESULT_NONE,
	KT_RESULT_GIVEN,
	KT_RESULT_FAILED,
};

/**
 * struct kt_ioctl - one command
 * @cmd: its number
 * @size: of its structure
 * @write: it needs a descriptor opened for writing
 * @result: when the structure goes back
 * @call: what it does
 */
struct kt_ioctl {
	unsigned int cmd;
	u32 size;
	bool write;
	enum kt_result result;
	long (*call)(struct file *file, union kt_arg *arg);
};

static struct kt_file *file_of(struct file *file)
{
	return file->private_data;
}

static bool may_control(struct file *file)
{
	/* Of the opener, so that a descriptor handed on does not gain rights. */
	return (file->f_mode & FMODE_WRITE) &&
	       (file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
		file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN));
}

static long features(struct file *file, union kt_arg *arg)
{
	struct ktape_features *f = &arg->features;

	f->clock = kt_clock_id();
	f->features = KTAPE_FEATURE_CREATE | KTAPE_FEATURE_DISCARD |
		      KTAPE_FEATURE_FILTER | KTAPE_FEATURE_NAMES |
		      KTAPE_FEATURE_SNAPSHOT | KTAPE_FEATURE_TRIGGER;
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
	f->registry_entries = kt_registry_entries();
	f->names_dropped = kt_registry_dropped();
	f->names_reused = kt_registry_reused();
	f->names_evicted = kt_registry_evicted();
	f->table_hash = kt_metadata_hash();
	memcpy(f->uuid, kt_uuid, sizeof(f->uuid));
	return 0;
}

static void describe_ring(const struct kt_session *s, unsigned int index,
			  const struct kt_ring *r, struct ktape_layout_entry *e)
{
	e->cpu = r->cpu;
	e->kind = r->kind;
	e->offset = kt_dev_region(s, index);
	e->ctl_size = PAGE_SIZE;
	e->block_size = r->block_size;
	e->data_size = r->size;
}

static long layout(struct file *file, union kt_arg *arg)
{
	struct ktape_layout *l = &arg->layout;
	struct kt_session *s = file_of(file)->session;
	struct ktape_layout_entry __user *to = u64_to_user_ptr(l->entries);
	unsigned int i, found = 0;
	struct kt_ring *r;

	for (i = 0; i < kt_dev_regions(); i++) {
		struct ktape_layout_entry e = {};

		r = kt_session_ring(s, i / KTAPE_RINGS_PER_CPU,
				    i % KTAPE_RINGS_PER_CPU);
		if (r) {
			describe_ring(s, i, r, &e);
		} else if (i == kt_dev_regions() - 1) {
			e.cpu = -1;
			e.kind = KTAPE_RING_REGISTRY;
			e.offset = kt_dev_region(s, i);
			e.data_size = (u64)kt_registry_entries() *
				      sizeof(struct ktape_object_entry);
		} else {
			continue;
		}
		if (found < l->nr && copy_to_user(to + found, &e, sizeof(e)))
			return -EFAULT;
		found++;
	}
	l->nr = found;
	l->session = s->id;
	l->mode = s->mode;
	l->running = READ_ONCE(s->running);
	l->generation = READ_ONCE(s->owner.generation);
	return 0;
}

static long profile(struct file *file, union kt_arg *arg)
{
	struct ktape_profile *p = &arg->profile;

	if (p->op > KTAPE_PROFILE_ANDNOT || p->generation ||
	    (p->flags & ~KTAPE_PROFILE_NO_CONTEXT) ||
	    (p->flags && p->op != KTAPE_PROFILE_SET))
		return -EINVAL;
	if (p->op != KTAPE_PROFILE_GET) {
		if (!may_control(file))
			return -EPERM;
		if (!kt_session_mask_ok(p->mask))
			return -EINVAL;
	}
	kt_session_profile(file_of(file)->session, p);
	return 0;
}

static long start(struct file *file, union kt_arg *arg)
{
	if (arg->command.flags)
		return -EINVAL;
	kt_registry_refresh();
	return kt_session_start(file_of(file)->session);
}

static long stop(struct file *file, union kt_arg *arg)
{
	if (arg->command.flags)
		return -EINVAL;
	kt_registry_refresh();
	kt_session_stop(file_of(file)->session);
	return 0;
}

static long clear(struct file *file, union kt_arg *arg)
{
	if (arg->command.flags)
		return -EINVAL;
	kt_session_clear(file_of(file)->session);
	return 0;
}

static long flush(struct file *file, union kt_arg *arg)
{
	return arg->command.flags ? -EINVAL :
				    kt_session_flush(file_of(file)->session);
}

static long stats(struct file *file, union kt_arg *arg)
{
	struct ktape_stats *st = &arg->stats;
	const struct ktape_ring_page *page;
	struct kt_ring *r;

	if (st->flags)
		return -EINVAL;
	r = kt_session_ring(file_of(file)->session, st->cpu, st->kind);
	if (!r)
		return -ENXIO;
	page = r->page;
	st->commit = kt_ring_commit(r);
	st->tail = READ_ONCE(page->tail);
	st->floor = READ_ONCE(page->floor);
	st->consumer = READ_ONCE(page->consumer);
	memcpy(st->emitted, page->emitted, sizeof(st->emitted));
	memcpy(st->filtered, page->filtered, sizeof(st->filtered));
	memcpy(st->lost, page->lost, sizeof(st->lost));
	return 0;
}

static bool position_ok(const struct kt_file *kf,
			const struct ktape_position *p)
{
	struct kt_ring *r = kt_session_ring(kf->session, p->cpu, p->kind);
	unsigned int cpu = array_index_nospec(p->cpu, nr_cpu_ids);
	unsigned int kind = array_index_nospec(p->kind, KTAPE_RINGS_PER_CPU);
	unsigned long pos = p->position, commit;

	/* With 32 bits positions wrap, and callers may count on. */
	if (!r)
		return false;
	commit = kt_ring_commit(r);
	if (kt_before(commit, pos) ||
	    kt_before(pos, kt_reader_cursor(&kf->reader, cpu, kind)->pos))
		return false;
	return pos == commit || !(pos & (r->block_size - 1));
}

/* All of them, before any is taken; each ring at most once. */
static bool positions_ok(const struct kt_file *kf,
			 const struct ktape_position *p, u32 nr)
{
	unsigned int rings = nr_cpu_ids * KTAPE_RINGS_PER_CPU;
	unsigned long *seen = bitmap_zalloc(rings, GFP_KERNEL);
	bool ok = seen;
	u32 i;

	for (i = 0; ok && i < nr; i++)
		ok = position_ok(kf, &p[i]) &&
		     !test_and_set_bit(p[i].cpu * KTAPE_RINGS_PER_CPU +
					       p[i].kind, seen);
	bitmap_free(seen);
	return ok;
}

static long positions(struct kt_file *kf, const struct ktape_consumer *c)
{
	struct ktape_position *p;
	long ret = -EINVAL;
	u32 i;

	if (!c->nr || c->nr > nr_cpu_ids * KTAPE_RINGS_PER_CPU)
		return -EINVAL;
	p = memdup_user(u64_to_user_ptr(c->positions),
			array_size(c->nr, sizeof(*p)));
	if (IS_ERR(p))
		return PTR_ERR(p);
	/* read() moves the cursors as well; it may be waiting. */
	if (mutex_lock_interruptible(&kf->lock)) {
		kfree(p);
		return -ERESTARTSYS;
	}
	/* A snapshot that is not over may end before what is there now. */
	if (kt_session_holds_back(kf->session) ||
	    !positions_ok(kf, p, c->nr))
		goto out;
	for (i = 0; i < c->nr; i++) {
		kt_reader_skips(&kf->reader, kf->session, p[i].cpu, p[i].kind,
				p[i].position);
		kt_reader_moved(&kf->reader, kf->session, p[i].cpu, p[i].kind,
				p[i].position);
	}
	ret = 0;
out:
	mutex_unlock(&kf->lock);
	kfree(p);
	return ret;
}

static long consumer(struct file *file, union kt_arg *arg)
{
	const struct ktape_consumer *c = &arg->consumer;
	struct kt_file *kf = file_of(file);

	if (c->flags || c->op > KTAPE_CONSUMER_POSITION)
		return -EINVAL;
	if (c->op == KTAPE_CONSUMER_POSITION)
		return positions(kf, c);
	if (c->nr || c->positions)
		return -EINVAL;
	if (!may_control(file))
		return -EPERM;
	if (mutex_lock_interruptible(&kf->lock))
		return -ERESTARTSYS;
	kt_reader_register(&kf->reader, kf->session,
			   c->op == KTAPE_CONSUMER_REGISTER);
	mutex_unlock(&kf->lock);
	return 0;
}

static const char *const reasons[] = {
	[KTAPE_EVENT_UNKNOWN] = "no such event",
	[KTAPE_EVENT_AVAILABLE] = "",
	[KTAPE_EVENT_NO_TRACEPOINT] = "the kernel has no such tracepoint",
	[KTAPE_EVENT_PROTOTYPE] = "the tracepoint has an unknown prototype",
	[KTAPE_EVENT_NO_CONFIG] = "the kernel was built without tracepoints",
	[KTAPE_EVENT_FAILED] = "the probe could not be attached",
	[KTAPE_EVENT_FREE_SLOT] = "a free slot: add a probe to it",
	[KTAPE_EVENT_GONE] = "the probed function's module was unloaded",
};

static const char *reason_of(u32 opcode, u32 state)
{
	if (state == KTAPE_EVENT_NO_CONFIG && kt_kprobe_is_slot(opcode))
		return "the kernel was built without kprobes";
	if (state == KTAPE_EVENT_NO_CONFIG && opcode == KTAPE_EV_KERNEL_STACK)
		return "the kernel was built without call stacks";
	return reasons[state];
}

static long event_info(struct file *file, union kt_arg *arg)
{
	struct ktape_event_info *e = &arg->event_info;
	bool attached;
	u32 opcode = e->opcode;

	if (opcode >= KTAPE_OPCODES || e->state || e->error || e->attached ||
	    memchr_inv(e->reason, 0, sizeof(e->reason)) ||
	    memchr_inv(e->name, 0, sizeof(e->name)))
		return -EINVAL;
	opcode = array_index_nospec(opcode, KTAPE_OPCODES);
	e->state = KTAPE_EVENT_UNKNOWN;
	if (e->source) {
		if (!kt_probe_source(opcode, e))
			return -ENOENT;
	} else if (kt_event_opcode_exists(opcode) || opcode == KTAPE_TIME_EXTEND) {
		e->state = kt_probe_state(opcode, &e->error, &attached);
		e->attached = attached;
	}
	strscpy(e->reason, reason_of(opcode, e->state), sizeof(e->reason));
	return 0;
}

static long metadata(struct file *file, union kt_arg *arg)
{
	struct ktape_metadata *m = &arg->metadata;
	u64 room = m->length;
	size_t length;
	const char *text = kt_metadata_text(&length);

	if (m->flags)
		return -EINVAL;
	m->length = length;
	if (room < length)
		return -EMSGSIZE;
	if (copy_to_user(u64_to_user_ptr(m->text), text, length))
		return -EFAULT;
	return 0;
}

static long watermark(struct file *file, union kt_arg *arg)
{
	struct kt_file *kf = file_of(file);

	if (arg->watermark.flags ||
	    arg->watermark.bytes > kf->session->size[KTAPE_RING_EVENT])
		return -EINVAL;
	WRITE_ONCE(kf->watermark, arg->watermark.bytes);
	return 0;
}

static long create(struct file *file, union kt_arg *arg)
{
	return kt_dev_create(&arg->create);
}

static long sessions(struct file *file, union kt_arg *arg)
{
	return kt_dev_sessions(&arg->sessions);
}

static long open_ref(struct file *file, union kt_arg *arg)
{
	return kt_dev_open_ref(&arg->ref, may_control(file));
}

static long destroy(struct file *file, union kt_arg *arg)
{
	return kt_dev_destroy(&arg->ref);
}

static long policy(struct file *file, union kt_arg *arg)
{
	if (arg->policy.op != KTAPE_POLICY_GET && !may_control(file))
		return -EPERM;
	return kt_dev_policy(file_of(file)->session, &arg->policy);
}

static long reader(struct file *file, union kt_arg *arg)
{
	return kt_dev_reader(file_of(file), &arg->reader);
}

static long filter(struct file *file, union kt_arg *arg)
{
	if (arg->filter.op != KTAPE_FILTER_GET && !may_control(file))
		return -EPERM;
	return kt_dev_filter(file_of(file)->session, &arg->filter);
}

static long probe(struct file *file, union kt_arg *arg)
{
	if (arg->probe.op != KTAPE_PROBE_GET && !may_control(file))
		return -EPERM;
	return kt_dev_probe(&arg->probe);
}

static long trigger(struct file *file, union kt_arg *arg)
{
	if (arg->trigger.op != KTAPE_TRIGGER_GET && !may_control(file))
		return -EPERM;
	return kt_dev_trigger(file_of(file)->session, &arg->trigger);
}

static long cost(struct file *file, union kt_arg *arg)
{
	struct ktape_cost *c = &arg->cost;

	if (c->flags || c->reserved)
		return -EINVAL;
	if (c->cpu >= nr_cpu_ids || !cpu_possible(c->cpu))
		return -ENXIO;
	c->cpu = array_index_nospec(c->cpu, nr_cpu_ids);
	kt_cost_tell(c);
	return 0;
}

static long persist_info(struct file *file, union kt_arg *arg)
{
	return kt_dev_persist_info(&arg->persist_info);
}

static long persist_read(struct file *file, union kt_arg *arg)
{
	return kt_dev_persist_read(&arg->persist_read);
}

static long persist_drop(struct file *file, union kt_arg *arg)
{
	return kt_dev_persist_drop(&arg->command);
}

/* The direction in a command's number is what the command does. */
#define DIRECTION(result) \
	((result) == KT_RESULT_NONE ? _IOC_WRITE : _IOC_READ | _IOC_WRITE)

#define COMMAND(NAME, member, wr, res, fn)				\
	{								\
		.cmd = KTAPE_IOC_##NAME +				\
		       BUILD_BUG_ON_ZERO(_IOC_DIR(KTAPE_IOC_##NAME) !=	\
					 DIRECTION(KT_RESULT_##res)),	\
		.size = sizeof(((union kt_arg *)0)->member),		\
		.write = wr,						\
		.result = KT_RESULT_##res,				\
		.call = fn,						\
	}

static const struct kt_ioctl commands[] = {
	COMMAND(FEATURES, features, false, GIVEN, features),
	COMMAND(LAYOUT, layout, false, GIVEN, layout),
	COMMAND(PROFILE, profile, false, GIVEN, profile),
	COMMAND(START, command, true, NONE, start),
	COMMAND(STOP, command, true, NONE, stop),
	COMMAND(CLEAR, command, true, NONE, clear),
	COMMAND(FLUSH, command, true, NONE, flush),
	COMMAND(STATS, stats, false, GIVEN, stats),
	COMMAND(CONSUMER, consumer, false, NONE, consumer),
	COMMAND(EVENT_INFO, event_info, false, GIVEN, event_info),
	COMMAND(METADATA, metadata, false, GIVEN, metadata),
	COMMAND(WATERMARK, watermark, false, NONE, watermark),
	COMMAND(CREATE, create, true, FAILED, create),
	COMMAND(SESSIONS, sessions, false, GIVEN, sessions),
	COMMAND(OPEN, ref, false, NONE, open_ref),
	COMMAND(DESTROY, ref, true, NONE, destroy),
	COMMAND(POLICY, policy, false, GIVEN, policy),
	COMMAND(READER, reader, false, GIVEN, reader),
	COMMAND(FILTER, filter, false, GIVEN, filter),
	COMMAND(PROBE, probe, false, GIVEN, probe),
	COMMAND(TRIGGER, trigger, false, GIVEN, trigger),
	COMMAND(COST, cost, false, GIVEN, cost),
	COMMAND(PERSIST_INFO, persist_info, false, GIVEN, persist_info),
	COMMAND(PERSIST_READ, persist_read, false, GIVEN, persist_read),
	COMMAND(PERSIST_DROP, command, true, NONE, persist_drop),
};

static const struct kt_ioctl *find(unsigned int cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].cmd == cmd)
			return &commands[i];
	return NULL;
}

/* Copy the argument in; what the caller's structure does not have is zero. */
static int get_arg(const struct kt_ioctl *c, void __user *from,
		   union kt_arg *arg, u32 *size)
{
	int ret;

	if (get_user(*size, (u32 __user *)from))
		return -EFAULT;
	if (*size < sizeof(u32) * 2)
		return -EINVAL;
	if (*size > PAGE_SIZE)
		return -E2BIG;
	memset(arg, 0, sizeof(*arg));
	ret = copy_struct_from_user(arg, c->size, from, *size);
	if (ret)
		return ret;
	/* The size that was checked, not the one that was copied. */
	arg->size = *size;
	return 0;
}

/* Does the structure go back?  A failed CREATE says so where there is room. */
static bool has_result(const struct kt_ioctl *c, long ret, u32 size)
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

static int put_arg(const struct kt_ioctl *c, void __user *to,
		   union kt_arg *arg, u32 size)
{
	arg->size = min(size, c->size);
	return copy_to_user(to, arg, arg->size) ? -EFAULT : 0;
}

/**
 * kt_dev_ioctl() - the commands of uapi/ktape/abi.h
 * @file: the device
 * @cmd: the command
 * @arg: pointer to its structure
 *
 * Context: process context, may sleep.
 * Return: what the command returns; -ENOTTY: unknown; -EPERM: not by this
 * descriptor; -EFAULT, -EINVAL, -E2BIG: the structure.
 */
long kt_dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct kt_ioctl *c = find(cmd);
	void __user *user = (void __user *)arg;
	union kt_arg *copy;
	u32 size;
	long ret;

	if (!c)
		return -ENOTTY;
	if (c->write && !may_control(file))
		return -EPERM;
	copy = kmalloc(sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	ret = get_arg(c, user, copy, &size);
	if (!ret) {
		ret = c->call(file, copy);
		if (has_result(c, ret, size) && put_arg(c, user, copy, size))
			ret = -EFAULT;
	}
	kfree(copy);
	return ret;
}
