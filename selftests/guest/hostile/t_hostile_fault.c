// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let each access of the module to a program's memory fault: the call gets memory of which
 * that access, and no earlier one, meets a page that cannot be accessed.  The call is
 * EFAULT, leaves no descriptor and no session behind, and succeeds when it is repeated with
 * good memory.  The table at the end has every access in module/; the unit test
 * t_user_accesses.sh compares it with the source.
 */
#include <sys/uio.h>

#include "kselftest_harness.h"

#include "kt_calls.h"
#include "kt_hostile.h"

static struct kt_traps traps;

/*
 * Return the address of @size bytes, of which those beyond @keep cannot be accessed. 1000 is more
 * than any structure here has: all can be.
 */
static void *partly(const void *bytes, size_t size, size_t keep)
{
	if (keep > size)
		keep = size;
	return memcpy(traps.closed - keep, bytes, keep);
}

/* Return memory that can be accessed, or not. */
static char *trap_memory(bool fault)
{
	return fault ? traps.closed : traps.open;
}

/* ---- the structures of ioctls ---------------------------------------------------- */

/* Ask for the features by a structure of @size bytes, which faults beyond @keep. */
static int features(size_t size, size_t keep)
{
	struct {
		struct ktape_features f;
		char beyond[16];
	} a = { .f.size = size };

	return kt_ioctl(call_dev, KTAPE_IOC_FEATURES, partly(&a, size, keep));
}

static int ioctl_size(bool fault)
{
	return features(sizeof(struct ktape_features), fault ? 0 : 1000);
}

static int ioctl_structure(bool fault)
{
	return features(sizeof(struct ktape_features), fault ? 8 : 1000);
}

/* Members that the module does not know have to be zero, so it reads them, first. */
static int ioctl_members_beyond(bool fault)
{
	size_t size = sizeof(struct ktape_features);

	return features(size + 16, fault ? size + 8 : 1000);
}

static int ioctl_result(bool fault)
{
	struct ktape_features *f = (void *)traps.rdonly;
	int ret;

	mprotect(traps.rdonly, KT_PAGE, PROT_READ | PROT_WRITE);
	memset(f, 0, sizeof(*f));
	f->size = sizeof(*f);
	if (fault)
		mprotect(traps.rdonly, KT_PAGE, PROT_READ);
	ret = kt_ioctl(call_dev, KTAPE_IOC_FEATURES, f);
	mprotect(traps.rdonly, KT_PAGE, PROT_READ);
	return ret;
}

/* ---- what their pointers lead to ---------------------------------------------------- */

/*
 * List one session with entries of @size bytes, which fault beyond @keep. The module clears what
 * an entry has behind the structure that it knows.
 */
static int list_sessions(size_t size, size_t keep)
{
	static const char zero[sizeof(struct ktape_session_info) + 16];
	struct ktape_session_list l = {
		.size = sizeof(l),
		.nr = 1,
		.entry_size = size,
		.entries = (uintptr_t)partly(zero, size, keep),
	};

	return kt_ioctl(call_dev, KTAPE_IOC_SESSIONS, &l);
}

static int sessions_entry(bool fault)
{
	return list_sessions(sizeof(struct ktape_session_info), fault ? 8 : 1000);
}

static int sessions_rest(bool fault)
{
	size_t size = sizeof(struct ktape_session_info);

	return list_sessions(size + 16, fault ? size : size + 16);
}

static int sessions_end_of_rest(bool fault)
{
	size_t size = sizeof(struct ktape_session_info);

	return list_sessions(size + 16, fault ? size + 13 : size + 16);
}

static int syscall_filter(uint32_t op, bool fault)
{
	struct ktape_filter f = {
		.size = sizeof(f),
		.op = op,
		.kind = KTAPE_FILTER_SYSCALL,
		.nr = KTAPE_FILTER_SYSCALL_WORDS,
		.entries = (uintptr_t)trap_memory(fault),
	};

	return kt_ioctl(call_fd, KTAPE_IOC_FILTER, &f);
}

static int filter_set(bool fault)
{
	memset(traps.open, 0xff, KTAPE_FILTER_SYSCALL_WORDS * 8);
	return syscall_filter(KTAPE_FILTER_SET, fault);
}

static int get_syscall_filter(bool fault)
{
	int ret = do_filter_syscall();

	return ret ? ret : syscall_filter(KTAPE_FILTER_GET, fault);
}

static int metadata_text(bool fault)
{
	static char text[1 << 20];
	struct ktape_metadata m = {
		.size = sizeof(m),
		.length = sizeof(text),
		.text = (uintptr_t)(fault ? traps.closed - 100 : text),
	};

	return kt_ioctl(call_fd, KTAPE_IOC_METADATA, &m);
}

static int layout_entry(bool fault)
{
	const size_t size = sizeof(struct ktape_layout_entry);
	struct ktape_layout l;

	/* The second entry is the one that faults. */
	return kt_layout(call_fd, &l, (void *)(traps.closed - size), fault ? 2 : 1);
}

static int positions(bool fault)
{
	struct ktape_position p = { .kind = KTAPE_RING_EVENT };
	struct ktape_consumer c = {
		.size = sizeof(c),
		.nr = 1,
		.op = KTAPE_CONSUMER_POSITION,
		.positions = (uintptr_t)partly(&p, sizeof(p), fault ? 8 : sizeof(p)),
	};

	return kt_ioctl(call_fd, KTAPE_IOC_CONSUMER, &c);
}

/* Without an earlier trace there is nothing to copy. */
static int earlier_trace(bool fault)
{
	long ret = read_old(call_dev, 0, trap_memory(fault), KT_PAGE);

	if (!call_old)
		return fault ? -EFAULT : 0;
	return ret < 0 ? ret : 0;
}

/* ---- read() ------------------------------------------------------------------------ */

/* Open session 0, which records. */
static int open_reader(void)
{
	struct ktape_session_ref ref = { .size = sizeof(ref) };
	int s = kt_ioctl(call_dev, KTAPE_IOC_OPEN, &ref);

	if (s >= 0)
		fcntl(s, F_SETFL, O_NONBLOCK);
	return s;
}

static int read_packet(bool fault)
{
	int s = open_reader();
	ssize_t n;

	if (s < 0)
		return s;
	n = read(s, trap_memory(fault), 64);
	n = n < 0 ? -errno : n == 64 ? 0 : -EPROTO;
	close(s);
	return n;
}

/*
 * Three calls of read(): the first copies all that its buffer has room for, the second
 * faults, and the third goes on where the first has ended.
 */
static int read_further(bool fault)
{
	static char want[KT_PAGE], have[KT_PAGE];
	int s = open_reader(), ret = 0;

	if (s < 0)
		return s;
	if (read(s, want, 64) != 64)
		ret = -EPROTO;
	close(s);
	s = open_reader();
	if (s < 0)
		return s;
	memcpy(have, want, 32);
	if (read(s, traps.closed - 32, 32) != 32 ||
	    memcmp(traps.closed - 32, want, 32))
		ret = -EPROTO;
	if (fault && (read(s, traps.closed, 32) != -1 || errno != EFAULT))
		ret = -EPROTO;
	if (read(s, have + 32, 32) != 32 || memcmp(have, want, 64))
		ret = -EPROTO;
	close(s);
	return ret ? ret : fault ? -EFAULT : 0;
}

/* ---- the marks --------------------------------------------------------------------- */

static int write_mark_text(bool fault)
{
	return or_errno(write(call_mark, trap_memory(fault), 4));
}

/* Bytes that were copied are given back to the iterator, and no event is made. */
static int mark_second_part(bool fault)
{
	struct iovec v[2] = { { traps.open, 100 },
			      { fault ? traps.closed - 1 : traps.open, 100 } };

	return or_errno(writev(call_mark, v, 2));
}

/* Emit an event by a structure of @size bytes, which faults beyond @keep. */
static int mark_partly(size_t size, size_t keep)
{
	struct {
		struct ktape_mark m;
		char beyond[16];
	} a = { .m.size = size, .m.opcode = KTAPE_EV_MARK };

	return kt_ioctl(call_mark, KTAPE_MARK_IOC_MARK, partly(&a, size, keep));
}

static int mark_size(bool fault)
{
	return mark_partly(sizeof(struct ktape_mark), fault ? 0 : 1000);
}

static int mark_structure(bool fault)
{
	return mark_partly(sizeof(struct ktape_mark), fault ? 8 : 1000);
}

static int mark_members_beyond(bool fault)
{
	size_t size = sizeof(struct ktape_mark);

	return mark_partly(size + 16, fault ? size + 8 : 1000);
}

static int mark_message(bool fault)
{
	struct ktape_mark m = { .size = sizeof(m),
				.opcode = KTAPE_EV_MARK,
				.message = (uintptr_t)trap_memory(fault),
				.length = 8 };

	return kt_ioctl(call_mark, KTAPE_MARK_IOC_MARK, &m);
}

/* More bytes than the stack has room for. */
static int trace_buffer(bool fault)
{
	struct ktape_trace t = { .size = sizeof(t),
				 .opcode = KTAPE_EV_USER_EVENT,
				 .flags = KTAPE_TRACE_BUFFER,
				 .code = 0x100,
				 .buffer = (uintptr_t)(fault ? traps.closed - 1 :
							       traps.open),
				 .length = 1000 };

	return kt_ioctl(call_mark, KTAPE_MARK_IOC_TRACE, &t);
}

/**
 * struct access - an access to a program's memory
 * @where: file of module/ and function, and which one of several
 * @call: makes a call that needs it, with memory that faults there, or does not
 */
static const struct access {
	const char *where;
	int (*call)(bool fault);
} accesses[] = {
	{ "dev/ioctl.c get_user", ioctl_size },
	{ "dev/ioctl.c copy_struct_from_user", ioctl_structure },
	{ "dev/ioctl.c copy_struct_from_user: unknown members", ioctl_members_beyond },
	{ "dev/ioctl.c copy_to_user", ioctl_result },
	{ "dev/session.c copy_to_user", sessions_entry },
	{ "dev/session.c clear_user", sessions_rest },
	{ "dev/session.c clear_user: its end", sessions_end_of_rest },
	{ "dev/event.c vmemdup_user", filter_set },
	{ "dev/event.c copy_to_user", get_syscall_filter },
	{ "dev/metadata.c copy_to_user", metadata_text },
	{ "dev/map.c copy_to_user", layout_entry },
	{ "dev/read.c memdup_user", positions },
	{ "dev/read.c copy_to_user", read_packet },
	{ "dev/read.c copy_to_user: in the middle", read_further },
	{ "dev/mark.c copy_from_iter_full", write_mark_text },
	{ "dev/mark.c copy_from_iter_full: second part", mark_second_part },
	{ "dev/mark.c get_user", mark_size },
	{ "dev/mark.c copy_struct_from_user", mark_structure },
	{ "dev/mark.c copy_struct_from_user: unknown members", mark_members_beyond },
	{ "dev/mark.c copy_from_user", mark_message },
	{ "dev/mark.c copy_from_user: allocated", trace_buffer },
	{ "persist/region.c copy_to_user", earlier_trace },
	/* "probes/syscall.c copy_from_user_nofault": t_path, end_of_a_page, unreadable */
};

FIXTURE(fault){};

FIXTURE_SETUP(fault)
{
	ASSERT_EQ(0, calls_load());
	kt_expedite(true);
	ASSERT_TRUE(calls_open());
	ASSERT_EQ(0, kt_traps_make(&traps));
	if (!call_old)
		TH_LOG("no persistent memory: kt_old_read() has nothing to copy");
}

FIXTURE_TEARDOWN(fault)
{
	kt_traps_free(&traps);
	calls_close();
	EXPECT_EQ(0, unload_ktape());
}

TEST_F_TIMEOUT(fault, each_access, 300)
{
	struct ktape_session_info all[8];
	int free_one = next_descriptor();
	int sessions = kt_list_sessions(call_dev, all);

	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++) {
		const struct access *a = &accesses[i];

		for (int n = 0; n < 4; n++) {
			EXPECT_EQ(n % 2 ? 0 : -EFAULT, a->call(n % 2 == 0))
			{
				TH_LOG("%s, memory that %s", a->where,
				       n % 2 ? "is good" : "faults");
			}
		}
		EXPECT_EQ(free_one, next_descriptor())
		{
			TH_LOG("%s leaves a descriptor", a->where);
		}
		EXPECT_EQ(sessions, kt_list_sessions(call_dev, all))
		{
			TH_LOG("%s leaves a session", a->where);
		}
	}
	TH_LOG("%zu accesses, each faults twice", ARRAY_SIZE(accesses));
}

TEST_HARNESS_MAIN
