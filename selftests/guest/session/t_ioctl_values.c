// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the arguments and results of single ioctls: ranges of numbers, layouts,
 * counts, texts.
 */
#include <sys/utsname.h>
#include <stddef.h>
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "kt_argument.h"
#include "kt_ring.h"

#define PAGE	  4096
#define RING	  (16 * PAGE)
#define TEXT_ROOM (256 << 10)
#define POISON	  0xa5

static char text[TEXT_ROOM];

FIXTURE(value)
{
	int main;
	int fd; /* our own session, overwrite mode */
};

FIXTURE_SETUP(value)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, RING, PAGE);
	ASSERT_LE(0, self->fd);
	kt_alarms(100);
}

FIXTURE_TEARDOWN(value)
{
	kt_alarms(0);
	close(self->fd);
	close(self->main);
}

/* ---- numbers ----------------------------------------------------------- */

#define IN(NAME, member, m, value, want)                                        \
	{                                                                       \
#NAME " " #m " = " #value, KTAPE_IOC_##NAME,                    \
			sizeof(((union kt_argument *)0)->member),               \
			offsetof(union kt_argument, member.m),                  \
			sizeof(((union kt_argument *)0)->member.m), value, want \
	}

/* One member has this value; all others are zero. */
static const struct {
	const char *name;
	unsigned long cmd;
	size_t size, off, len;
	uint64_t value;
	int want;
} numbers[] = {
	IN(LAYOUT, layout, nr, 1, -EFAULT),
	IN(LAYOUT, layout, nr, 0xffffffff, -EFAULT),
	IN(LAYOUT, layout, entries, ~0ULL, 0),
	IN(PROFILE, profile, op, 0, 0),
	IN(PROFILE, profile, op, 2, 0),
	IN(PROFILE, profile, op, 3, 0),
	IN(PROFILE, profile, op, 4, -EINVAL),
	IN(PROFILE, profile, op, 0x7fffffff, -EINVAL),
	IN(PROFILE, profile, op, 0xffffffff, -EINVAL),
	IN(STATS, stats, cpu, 0x7fffffff, -ENXIO),
	IN(STATS, stats, cpu, 0x80000000, -ENXIO),
	IN(STATS, stats, cpu, 0xffffffff, -ENXIO),
	IN(STATS, stats, kind, 1, 0),
	IN(STATS, stats, kind, 2, -ENXIO),
	IN(STATS, stats, kind, 0x80000000, -ENXIO),
	IN(STATS, stats, kind, 0xffffffff, -ENXIO),
	IN(CONSUMER, consumer, op, 0, 0),
	IN(CONSUMER, consumer, op, 2, -EINVAL), /* no positions */
	IN(CONSUMER, consumer, op, 3, -EINVAL),
	IN(CONSUMER, consumer, op, 0x80000000, -EINVAL),
	IN(CONSUMER, consumer, op, 0xffffffff, -EINVAL),
	IN(EVENT_INFO, event_info, opcode, 0, 0),
	IN(EVENT_INFO, event_info, opcode, 255, 0),
	IN(EVENT_INFO, event_info, opcode, 256, -EINVAL),
	IN(EVENT_INFO, event_info, opcode, 0x80000000, -EINVAL),
	IN(EVENT_INFO, event_info, opcode, 0xffffffff, -EINVAL),
	IN(METADATA, metadata, length, 0, -EMSGSIZE),
	IN(METADATA, metadata, length, 1, -EMSGSIZE),
	IN(METADATA, metadata, length, 1ULL << 63, -EFAULT),
	IN(METADATA, metadata, length, ~0ULL, -EFAULT),
	IN(METADATA, metadata, text, ~0ULL, -EMSGSIZE),
	IN(WATERMARK, watermark, bytes, 0, 0),
	IN(WATERMARK, watermark, bytes, 1, 0),
	IN(WATERMARK, watermark, bytes, RING, 0),
	IN(WATERMARK, watermark, bytes, RING + 1, -EINVAL),
	IN(WATERMARK, watermark, bytes, 1ULL << 32, -EINVAL),
	IN(WATERMARK, watermark, bytes, 1ULL << 63, -EINVAL),
	IN(WATERMARK, watermark, bytes, ~0ULL, -EINVAL),
	IN(CREATE, create, mode, 3, -ENODEV),
	IN(CREATE, create, mode, 4, -EINVAL),
	IN(CREATE, create, mode, 0x80000000, -EINVAL),
	IN(CREATE, create, mode, 0xffffffff, -EINVAL),
};

TEST_F(value, numbers)
{
	union kt_argument a;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		memset(&a, 0, sizeof(a));
		a.size = numbers[i].size;
		memcpy((char *)&a + numbers[i].off, &numbers[i].value,
		       numbers[i].len);
		EXPECT_EQ(numbers[i].want, kt_ioctl(self->fd, numbers[i].cmd, &a))
		{
			TH_LOG("%s", numbers[i].name);
		}
	}
}

/* ---- FEATURES and LAYOUT ----------------------------------------------- */

static void check_entry(struct __test_metadata *_metadata,
			const struct ktape_features *f,
			const struct ktape_layout_entry *e)
{
	EXPECT_EQ(0, e->offset % f->page_size);
	EXPECT_NE(0, e->data_size);
	if (e->kind == KTAPE_RING_REGISTRY) {
		EXPECT_EQ(-1, e->cpu);
		EXPECT_EQ(0, e->ctl_size);
		EXPECT_EQ(0, e->block_size);
		EXPECT_EQ(f->registry_entries * sizeof(struct ktape_object_entry),
			  e->data_size);
		return;
	}
	EXPECT_GT(KTAPE_RINGS_PER_CPU, e->kind);
	EXPECT_GT(f->cpus, (__u32)e->cpu);
	EXPECT_EQ(f->page_size, e->ctl_size);
	EXPECT_LE(f->page_size, e->block_size);
	EXPECT_EQ(0, e->block_size & (e->block_size - 1));
	EXPECT_EQ(0, e->data_size & (e->data_size - 1));
	EXPECT_LE(4, e->data_size / e->block_size);
}

TEST_F(value, features_and_layout_agree)
{
	struct utsname u;
	struct ktape_layout_entry e[KT_REGIONS_MAX];
	struct ktape_features f, again;
	struct ktape_layout l;
	__u32 nr;

	ASSERT_EQ(0, kt_features(self->fd, &f));
	ASSERT_EQ(0, kt_features(self->main, &again));
	EXPECT_EQ(0, memcmp(&f, &again, sizeof(f)));
	EXPECT_EQ(sysconf(_SC_PAGESIZE), f.page_size);
	EXPECT_LE(sysconf(_SC_NPROCESSORS_CONF), f.cpus);
	EXPECT_EQ(8, f.sessions_max);
	EXPECT_GE(KTAPE_CLOCK_CYCLES, f.clock);
	if (f.clock == KTAPE_CLOCK_MONO)
		EXPECT_EQ(1000000000, f.clock_hz);
	EXPECT_NE(0, f.clock_hz);
	EXPECT_NE(0, f.table_hash);
	EXPECT_EQ(KTAPE_FEATURE_MMAP | KTAPE_FEATURE_CREATE |
			  KTAPE_FEATURE_DISCARD | KTAPE_FEATURE_TRACEPOINTS |
			  KTAPE_FEATURE_FILTER | KTAPE_FEATURE_CGROUP |
			  KTAPE_FEATURE_KPROBE | KTAPE_FEATURE_STACK |
			  KTAPE_FEATURE_NAMES | KTAPE_FEATURE_SNAPSHOT |
			  KTAPE_FEATURE_TRIGGER | KTAPE_FEATURE_GROWS,
		  f.features & ~KTAPE_FEATURE_POS32);
	/* The kernel's width, not that of this program. */
	ASSERT_EQ(0, uname(&u));
	EXPECT_EQ(!strstr(u.machine, "64"), !!(f.features & KTAPE_FEATURE_POS32));

	ASSERT_EQ(0, kt_layout(self->fd, &l, e, KT_REGIONS_MAX));
	nr = l.nr;
	ASSERT_EQ(sysconf(_SC_NPROCESSORS_ONLN) * KTAPE_RINGS_PER_CPU + 1, nr);
	EXPECT_EQ(KTAPE_MODE_OVERWRITE, l.mode);
	EXPECT_EQ(0, l.running);
	EXPECT_GT(f.sessions_max, l.session);
	for (__u32 i = 0; i < nr; i++) {
		check_entry(_metadata, &f, &e[i]);
		for (__u32 j = 0; j < i; j++) {
			EXPECT_TRUE(e[i].cpu != e[j].cpu || e[i].kind != e[j].kind);
			EXPECT_TRUE(e[i].offset >= e[j].offset + e[j].ctl_size +
							   e[j].data_size ||
				    e[j].offset >= e[i].offset + e[i].ctl_size +
							   e[i].data_size);
		}
	}
	/* The answer is the same for any room. */
	ASSERT_EQ(0, kt_layout(self->fd, &l, NULL, 0));
	EXPECT_EQ(nr, l.nr);
}

TEST_F(value, layout_room)
{
	char *end = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const size_t size = sizeof(struct ktape_layout_entry);
	struct ktape_layout_entry e[KT_REGIONS_MAX];
	struct ktape_layout l;
	unsigned char *p;
	__u32 nr;

	ASSERT_NE(MAP_FAILED, end);
	end += PAGE;
	ASSERT_EQ(0, mprotect(end, PAGE, PROT_NONE));
	ASSERT_EQ(0, kt_layout(self->fd, &l, e, KT_REGIONS_MAX));
	nr = l.nr;
	for (__u32 room = 0; room <= nr; room++) {
		p = memset(end - PAGE, POISON, PAGE);
		EXPECT_EQ(0, kt_layout(self->fd, &l, (void *)p, room));
		EXPECT_EQ(nr, l.nr);
		EXPECT_EQ(0, memcmp(p, e, room * size));
		for (size_t i = room * size; i < PAGE; i++)
			ASSERT_EQ(POISON, p[i]);
	}
	/* More room than entries; one byte too little; unaligned addresses. */
	EXPECT_EQ(0, kt_layout(self->fd, &l, (void *)(end - nr * size), ~0U));
	EXPECT_EQ(-EFAULT,
		  kt_layout(self->fd, &l, (void *)(end - nr * size + 1), nr));
	EXPECT_EQ(0, kt_layout(self->fd, &l, (void *)(end - nr * size - 3), nr));
	EXPECT_EQ(0, memcmp(end - nr * size - 3, e, nr * size));
	EXPECT_EQ(-EFAULT, kt_layout(self->fd, &l, (void *)1, nr));
	EXPECT_EQ(-EFAULT, kt_layout(self->fd, &l, (void *)0xffff888000000000, nr));
}

/* ---- METADATA and EVENT_INFO ------------------------------------------- */

TEST_F(value, metadata)
{
	struct ktape_metadata m = { .size = sizeof(m),
				    .length = sizeof(text),
				    .text = (uintptr_t)text };
	struct ktape_features f;
	char hash[20], uuid[8];
	__u64 length;

	memset(text, POISON, sizeof(text));
	ASSERT_EQ(0, kt_features(self->fd, &f));
	ASSERT_EQ(0, kt_ioctl(self->fd, KTAPE_IOC_METADATA, &m));
	length = m.length;
	ASSERT_GT(sizeof(text) - 1, length);
	EXPECT_EQ(POISON, (unsigned char)text[length]);
	text[length] = '\0';
	EXPECT_EQ(length, strlen(text));
	EXPECT_EQ(0, strncmp(text, "/* CTF 1.8 */", 13));
	snprintf(hash, sizeof(hash), "%llx", (unsigned long long)f.table_hash);
	EXPECT_NE(NULL, strstr(text, hash));
	snprintf(uuid, sizeof(uuid), "%02x%02x", f.uuid[0], f.uuid[1]);
	EXPECT_NE(NULL, strstr(text, uuid));

	/* One byte too little: the length is returned, nothing is written. */
	text[0] = POISON;
	m.length = length - 1;
	EXPECT_EQ(-EMSGSIZE, kt_ioctl(self->fd, KTAPE_IOC_METADATA, &m));
	EXPECT_EQ(length, m.length);
	EXPECT_EQ(sizeof(m), m.size);
	EXPECT_EQ((char)POISON, text[0]);
	EXPECT_EQ(0, kt_ioctl(self->fd, KTAPE_IOC_METADATA, &m));
	EXPECT_EQ('/', text[0]);
	m.text = ~0ULL - 100;
	EXPECT_EQ(-EFAULT, kt_ioctl(self->fd, KTAPE_IOC_METADATA, &m));
}

TEST_F(value, event_info)
{
	static const bool exists[KTAPE_OPCODES] = {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) [opcode] = true,
#include <ktape/events.h>
		[KTAPE_TIME_EXTEND] = true,
	};

	for (unsigned int op = 0; op < KTAPE_OPCODES; op++) {
		struct ktape_event_info e = { .size = sizeof(e), .opcode = op };
		size_t len;

		ASSERT_EQ(0, kt_ioctl(self->fd, KTAPE_IOC_EVENT_INFO, &e));
		EXPECT_EQ(exists[op], e.state != KTAPE_EVENT_UNKNOWN)
		{
			TH_LOG("opcode %u: %s", op, e.reason);
		}
		EXPECT_EQ(op, e.opcode);
		EXPECT_EQ(0, e.error);
		EXPECT_EQ(0, e.source);
		EXPECT_GE(1, e.attached);
		len = strnlen(e.reason, sizeof(e.reason));
		ASSERT_GT(sizeof(e.reason), len);
		EXPECT_EQ(e.state != KTAPE_EVENT_AVAILABLE, len > 0);
		for (; len < sizeof(e.reason); len++)
			EXPECT_EQ(0, e.reason[len]);
	}
}

/* ---- STATS ------------------------------------------------------------- */

static void count_stored_records(const struct kt_rec *r, void *arg)
{
	*(long *)arg += r->op != KTAPE_TIME_EXTEND;
}

static void check_entry_stats(struct __test_metadata *_metadata, int fd,
			      const struct ktape_layout_entry *e)
{
	struct ktape_stats st;
	__u64 emitted = 0;
	struct kt_map m;
	long n = 0;

	ASSERT_EQ(0, kt_stats(fd, e->cpu, e->kind, &st));
	ASSERT_EQ(0, kt_map_ring(fd, e->cpu, e->kind, &m));
	EXPECT_EQ((__u32)e->cpu, st.cpu);
	EXPECT_EQ(e->kind, st.kind);
	EXPECT_EQ(m.page->commit, st.commit);
	EXPECT_EQ(m.page->tail, st.tail);
	EXPECT_EQ(m.page->floor, st.floor);
	EXPECT_EQ(m.page->consumer, st.consumer);
	EXPECT_EQ(0, memcmp(m.page->emitted, st.emitted, sizeof(st.emitted)));
	EXPECT_EQ(0, memcmp(m.page->filtered, st.filtered, sizeof(st.filtered)));
	EXPECT_EQ(0, memcmp(m.page->lost, st.lost, sizeof(st.lost)));
	for (int i = 0; i < KTAPE_CLASSES; i++)
		emitted += st.emitted[i];
	EXPECT_LE(0, kt_walk(&m, count_stored_records, &n));
	EXPECT_LE(n, emitted);
	EXPECT_EQ(st.tail == 0, n == (long)emitted);
	kt_unmap_ring(&m);
}

TEST_F(value, stats_are_the_page_when_stopped)
{
	struct ktape_layout_entry e[KT_REGIONS_MAX];
	struct ktape_layout l;

	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, KTAPE_EV_SYS_ENTER,
				    KTAPE_EV_SYS_EXIT, KTAPE_EV_SCHED_SWITCH));
	for (int round = 0; round < 3; round++) {
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		kt_getppids(round ? 20000 / kt_scale() : 10);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		ASSERT_EQ(0, kt_layout(self->fd, &l, e, KT_REGIONS_MAX));
		for (__u32 i = 0; i < l.nr; i++)
			if (e[i].kind != KTAPE_RING_REGISTRY)
				check_entry_stats(_metadata, self->fd, &e[i]);
	}
}

TEST_HARNESS_MAIN
