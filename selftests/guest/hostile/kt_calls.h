/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of the calls that the module offers, each with arguments that it accepts. */
#ifndef _KT_CALLS_H
#define _KT_CALLS_H

#include <poll.h>
#include <sys/mman.h>

#include <ktape/cost.h>
#include <ktape/mark.h>

#include "kt_calls_open.h"
#include "kt_filter.h"
#include "kt_load.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_trigger.h"

static unsigned int call_slot; /* opcode of a probe that was added, or 0 */
static char call_buf[65536];

/* ---- calls: a result or a negative errno ----------------------------------- */

static int do_open(void)
{
	return close_it(kt_open(O_RDWR));
}

static int do_open_mark(void)
{
	int m = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);

	return close_it(m < 0 ? -errno : m);
}

static int do_open_session(void)
{
	struct ktape_session_ref ref = { .size = sizeof(ref) };

	return close_it(kt_ioctl(call_dev, KTAPE_IOC_OPEN, &ref));
}

static int do_layout(void)
{
	struct ktape_layout_entry e[KT_REGIONS_MAX];
	struct ktape_layout l;

	return kt_layout(call_fd, &l, e, KT_REGIONS_MAX);
}

static int do_metadata(void)
{
	static char text[1 << 20];
	struct ktape_metadata m = { .size = sizeof(m),
				    .length = sizeof(text),
				    .text = (uintptr_t)text };

	return kt_ioctl(call_fd, KTAPE_IOC_METADATA, &m);
}

static int do_sessions(void)
{
	struct ktape_session_info all[8];
	int ret = kt_list_sessions(call_dev, all);

	return ret < 0 ? ret : 0;
}

/* Of a program that is newer than the module: the rest of each entry is cleared. */
static int do_sessions_larger(void)
{
	char all[8][sizeof(struct ktape_session_info) + 8];
	struct ktape_session_list l = { .size = sizeof(l),
					.nr = 8,
					.entry_size = sizeof(all[0]),
					.entries = (uintptr_t)all };

	return kt_ioctl(call_dev, KTAPE_IOC_SESSIONS, &l);
}

static int do_profile(void)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };

	kt_ops_add(p.mask, KTAPE_EV_SYS_ENTER);
	kt_ops_add(p.mask, KTAPE_EV_SCHED_SWITCH);
	return kt_profile(call_fd, &p);
}

static int do_start(void)
{
	return kt_control(call_fd, KTAPE_IOC_START);
}

static void after_start(void)
{
	kt_control(call_fd, KTAPE_IOC_STOP);
}

static void before_stop(void)
{
	kt_control(call_fd, KTAPE_IOC_START);
}

static int do_stop(void)
{
	return kt_control(call_fd, KTAPE_IOC_STOP);
}

static int set_filter(uint32_t kind, const void *entries, uint32_t nr)
{
	struct ktape_filter f = { .size = sizeof(f),
				  .op = KTAPE_FILTER_SET,
				  .kind = kind,
				  .nr = nr,
				  .entries = (uintptr_t)entries };

	return kt_ioctl(call_fd, KTAPE_IOC_FILTER, &f);
}

static int do_filter_pid(void)
{
	struct ktape_filter_pid e[2] = {
		{ getpid(), KTAPE_PID_THREADS | KTAPE_PID_CHILDREN },
		{ 1, KTAPE_PID_EXCEPT },
	};

	return set_filter(KTAPE_FILTER_PID, e, 2);
}

static int do_filter_uid(void)
{
	uint32_t uid = 0;

	return set_filter(KTAPE_FILTER_UID, &uid, 1);
}

static int do_filter_syscall(void)
{
	uint64_t bits[KTAPE_FILTER_SYSCALL_WORDS] = { ~0ULL };

	return set_filter(KTAPE_FILTER_SYSCALL, bits, KTAPE_FILTER_SYSCALL_WORDS);
}

static int do_filter_gate(void)
{
	struct ktape_filter_gate e = { .gate = KTAPE_GATE_SYSCALL, .ns = 1000 };

	return set_filter(KTAPE_FILTER_GATE, &e, 1);
}

static int do_filter_rate(void)
{
	struct ktape_filter_rate e = { KTAPE_EV_SYS_ENTER, 1000 };

	return set_filter(KTAPE_FILTER_RATE, &e, 1);
}

static int do_filter_stack(void)
{
	uint64_t bits[KTAPE_MASK_WORDS] = {};

	kt_ops_add((__u64 *)bits, KTAPE_EV_SCHED_SWITCH);
	return set_filter(KTAPE_FILTER_STACK, bits, KTAPE_MASK_WORDS);
}

static int do_trigger(void)
{
	struct ktape_trigger t = { .size = sizeof(t),
				   .op = KTAPE_TRIGGER_ADD,
				   .when = KTAPE_TRIGGER_EVENT,
				   .opcode = KTAPE_EV_SYS_ENTER,
				   .actions = KTAPE_TRIGGER_MARK };
	int ret = kt_ioctl(call_fd, KTAPE_IOC_TRIGGER, &t);

	if (!ret) {
		struct ktape_trigger r = { .size = sizeof(r),
					   .id = t.id,
					   .op = KTAPE_TRIGGER_REMOVE };

		ret = kt_ioctl(call_fd, KTAPE_IOC_TRIGGER, &r);
	}
	return ret;
}

static int do_probe(void)
{
	struct ktape_probe p = { .size = sizeof(p),
				 .op = KTAPE_PROBE_ADD,
				 .symbol = "do_sys_openat2" };
	int ret = kt_ioctl(call_dev, KTAPE_IOC_PROBE, &p);

	call_slot = ret ? 0 : p.opcode;
	return ret;
}

static void after_probe(void)
{
	struct ktape_probe r = { .size = sizeof(r),
				 .opcode = call_slot,
				 .op = KTAPE_PROBE_REMOVE };

	if (call_slot)
		kt_ioctl(call_dev, KTAPE_IOC_PROBE, &r);
	call_slot = 0;
}

static int do_consumer(void)
{
	struct ktape_consumer c = { .size = sizeof(c),
				    .op = KTAPE_CONSUMER_REGISTER };
	int ret = kt_ioctl(call_fd, KTAPE_IOC_CONSUMER, &c);

	if (!ret) {
		c.op = KTAPE_CONSUMER_UNREGISTER;
		ret = kt_ioctl(call_fd, KTAPE_IOC_CONSUMER, &c);
	}
	return ret;
}

static int do_read(void)
{
	struct ktape_session_ref ref = { .size = sizeof(ref) };
	int s = kt_ioctl(call_dev, KTAPE_IOC_OPEN, &ref), ret = s;

	for (int i = 0; s >= 0 && i < 4; i++) {
		fcntl(s, F_SETFL, O_NONBLOCK);
		ret = or_errno(read(s, call_buf, sizeof(call_buf)));
		if (ret)
			break;
	}
	if (s >= 0)
		close(s);
	return ret == -EAGAIN ? 0 : ret;
}

static int do_map(void)
{
	struct kt_map m;
	int ret = kt_map_ring(call_fd, 0, KTAPE_RING_EVENT, &m);

	if (!ret) {
		/* The page fault of a system call allocates, and may be refused. */
		madvise(m.page, m.size, MADV_WILLNEED);
		kt_unmap_ring(&m);
	}
	return ret;
}

static int do_poll(void)
{
	struct pollfd p = { .fd = call_fd, .events = POLLIN };

	return or_errno(poll(&p, 1, 0));
}

static int do_mark(void)
{
	static const char text[200] = "text";

	return or_errno(write(call_mark, text, sizeof(text)));
}

static int do_name(void)
{
	static uint32_t id;
	struct ktape_name n = { .size = sizeof(n),
				.type = KTAPE_OBJ_USER,
				.id = ++id % 16,
				.name = "name" };

	return kt_ioctl(call_mark, KTAPE_MARK_IOC_NAME, &n);
}

static int do_features(void)
{
	struct ktape_features f;

	return kt_features(call_dev, &f);
}

static int do_stats(void)
{
	struct ktape_stats st;

	return kt_stats(call_fd, 0, KTAPE_RING_EVENT, &st);
}

static int do_event_info(void)
{
	struct ktape_event_info e = { .size = sizeof(e),
				      .opcode = KTAPE_EV_SYS_ENTER };

	return kt_ioctl(call_dev, KTAPE_IOC_EVENT_INFO, &e);
}

static int do_watermark(void)
{
	struct ktape_watermark w = { .size = sizeof(w), .bytes = 4096 };

	return kt_ioctl(call_fd, KTAPE_IOC_WATERMARK, &w);
}

static int do_policy(void)
{
	struct ktape_policy p;

	return kt_policy(call_fd, KTAPE_POLICY_SET, 50, 1000, &p);
}

static int do_reader(void)
{
	struct ktape_reader_info r;

	return kt_reader_info(call_fd, 0, KTAPE_RING_EVENT, &r);
}

static int do_cost(void)
{
	struct ktape_cost c = { .size = sizeof(c) };

	return kt_ioctl(call_dev, KTAPE_IOC_COST, &c);
}

static int do_create(void)
{
	return close_it(kt_create(call_dev, KTAPE_MODE_OVERWRITE, 16384, 4096));
}

static void before_destroy(void)
{
	close_it(kt_named(call_dev, "victim", 0, 16384, 4096, KTAPE_CREATE_LINGER));
}

static int do_destroy(void)
{
	return kt_destroy(call_dev, "victim");
}

static void after_destroy(void)
{
	kt_destroy(call_dev, "victim");
}

static int do_clear(void)
{
	return kt_control(call_fd, KTAPE_IOC_CLEAR);
}

static int do_flush(void)
{
	int ret = kt_control(call_fd, KTAPE_IOC_FLUSH);

	return ret == -EAGAIN ? 0 : ret;
}

static int do_position(void)
{
	struct ktape_consumer c = { .size = sizeof(c),
				    .nr = 1,
				    .op = KTAPE_CONSUMER_POSITION };
	struct ktape_position p = { .kind = KTAPE_RING_EVENT };
	struct ktape_stats st;
	int ret = kt_stats(call_fd, 0, KTAPE_RING_EVENT, &st);

	if (ret)
		return ret;
	p.position = st.commit;
	c.positions = (uintptr_t)&p;
	return kt_ioctl(call_fd, KTAPE_IOC_CONSUMER, &c);
}

static int do_get_filter(void)
{
	uint64_t bits[KTAPE_FILTER_SYSCALL_WORDS];
	struct ktape_filter f = { .size = sizeof(f),
				  .op = KTAPE_FILTER_GET,
				  .kind = KTAPE_FILTER_SYSCALL,
				  .nr = KTAPE_FILTER_SYSCALL_WORDS,
				  .entries = (uintptr_t)bits };

	return kt_ioctl(call_fd, KTAPE_IOC_FILTER, &f);
}

static int do_mark_event(void)
{
	static const char text[200] = "message";
	struct ktape_mark m = { .size = sizeof(m),
				.opcode = KTAPE_EV_MARK,
				.message = (uintptr_t)text,
				.length = sizeof(text) };

	return kt_ioctl(call_mark, KTAPE_MARK_IOC_MARK, &m);
}

static int do_trace(void)
{
	static const char bytes[1000] = "buffer";
	struct ktape_trace t = { .size = sizeof(t),
				 .opcode = KTAPE_EV_EXCEPTION,
				 .flags = KTAPE_TRACE_BUFFER,
				 .code = 0x100,
				 .buffer = (uintptr_t)bytes,
				 .length = sizeof(bytes) };

	return kt_ioctl(call_mark, KTAPE_MARK_IOC_TRACE, &t);
}

/**
 * struct call - a call of the module
 * @name: its name
 * @call: makes it; the tests let allocations or accesses to memory in it fail
 * @before: prepares what it needs, or NULL
 * @after: undoes what it did, or NULL
 */
struct call {
	const char *name;
	int (*call)(void);
	void (*before)(void);
	void (*after)(void);
};

static const struct call calls[] = {
	{ "open", do_open },
	{ "open mark", do_open_mark },
	{ "OPEN", do_open_session },
	{ "LAYOUT", do_layout },
	{ "METADATA", do_metadata },
	{ "SESSIONS", do_sessions },
	{ "SESSIONS larger", do_sessions_larger },
	{ "PROFILE", do_profile },
	{ "START", do_start, NULL, after_start },
	{ "STOP", do_stop, before_stop, after_start },
	{ "FILTER pid", do_filter_pid },
	{ "FILTER uid", do_filter_uid },
	{ "FILTER syscall", do_filter_syscall },
	{ "FILTER gate", do_filter_gate },
	{ "FILTER rate", do_filter_rate },
	{ "FILTER stack", do_filter_stack },
	{ "TRIGGER", do_trigger },
	{ "PROBE", do_probe, NULL, after_probe },
	{ "CONSUMER", do_consumer },
	{ "read", do_read },
	{ "mmap", do_map },
	{ "FEATURES", do_features },
	{ "STATS", do_stats },
	{ "EVENT_INFO", do_event_info },
	{ "WATERMARK", do_watermark },
	{ "POLICY", do_policy },
	{ "READER", do_reader },
	{ "COST", do_cost },
	{ "CREATE", do_create },
	{ "DESTROY", do_destroy, before_destroy, after_destroy },
	{ "CLEAR", do_clear },
	{ "FLUSH", do_flush },
	{ "POSITION", do_position },
	{ "FILTER get", do_get_filter },
	{ "MARK", do_mark_event },
	{ "TRACE", do_trace },
	{ "poll", do_poll },
	{ "write mark", do_mark },
	{ "NAME", do_name },
	{ "PERSIST_INFO", do_persist_info },
	{ "PERSIST_READ", do_persist_read },
	{ "CREATE persistent", do_persist_create },
	{ "PERSIST_DROP", do_persist_drop, before_drop },
};

#endif /* _KT_CALLS_H */
