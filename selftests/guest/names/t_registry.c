// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the registry (the table of names): threads older than the module, changed priorities,
 * names that START records because they are new to the session, names that are evicted for
 * want of room, and numbers that another object gets. Its entries must agree with /proc and
 * /sys. The module is loaded with registry=1024 registry_max=1024 (entries).
 */
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include <ktape_mark.h>
#include "kt_events.h"
#include "kt_fire.h"

#define SHARE	512		 /* half of the registry */
#define IRQ	4000		 /* as in modules/fire.c */
#define DISK	(300U << 20 | 5) /* 300:5, likewise */
#define CGROUPS "/sys/fs/cgroup"
#define GONE	0x100 /* bit of dat20 of a registry record: the object has ended */

FIXTURE(names)
{
	struct kt_hits h;
};

FIXTURE_SETUP(names)
{
}

FIXTURE_TEARDOWN(names)
{
	kt_hits_free(&self->h);
	kt_rmmod("kt_fire");
}

/* Find the latest entry of a type that @likes accepts. */
static bool find_registry_object(uint32_t type,
				 bool (*likes)(const struct ktape_object_entry *e),
				 struct ktape_object_entry *to)
{
	const struct ktape_object_entry *e;
	bool found = false;
	size_t nr;

	e = kt_map_registry(&nr);
	for (size_t i = 0; i < nr; i++)
		if (e[i].type == type && likes(&e[i]) &&
		    (!found || e[i].born >= to->born)) {
			*to = e[i];
			found = true;
		}
	return found;
}

/* ---- threads --------------------------------------------------------------- */

static bool is_init(const struct ktape_object_entry *e)
{
	return e->id == 1 && !e->died;
}

static bool is_self(const struct ktape_object_entry *e)
{
	return e->id == (uint32_t)getpid() && !e->died;
}

/* init is as old as the system, also by the module's clock. */
TEST_F(names, born_before_the_module)
{
	struct ktape_object_entry e;
	struct ktape_features f;
	struct timespec up;
	int fd = kt_open(O_RDWR);
	struct ktape_object_entry now;
	double age;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_features(fd, &f));
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_THREAD, is_init, &e));
	ASSERT_EQ(0, clock_gettime(CLOCK_BOOTTIME, &up));
	EXPECT_NE(0, e.born);
	/* A thread that starts now gets the current time: this test is one. */
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_THREAD, is_self, &now));
	age = (double)(int64_t)(now.born - e.born) / (double)f.clock_hz;
	printf("# init is %.1f s old, the system %ld s\n", age, up.tv_sec);
	EXPECT_LT((double)up.tv_sec - 10 * kt_scale(), age);
	EXPECT_GT((double)up.tv_sec + 10 * kt_scale(), age);
	close(fd);
}

/* The priority of a thread at START and at STOP; param2 has it below the policy. */
TEST_F(names, priority_changes)
{
	struct sched_param rt = { .sched_priority = 7 };
	struct ktape_object_entry e;
	int fd;

	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 5));
	fd = kt_start_recording(KT_OPS(KTAPE_EV_MARK));
	ASSERT_LE(0, fd);
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_THREAD, is_self, &e));
	EXPECT_EQ(120 + 5, e.param2 & 0xff);
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &rt));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_THREAD, is_self, &e));
	EXPECT_EQ(99 - 7, e.param2 & 0xff);
	EXPECT_EQ(SCHED_FIFO, e.param2 >> 8 & 0xff);
}

/* The records about one thread. */
struct reported {
	pid_t tid;
	int named, gone, others;
	char name[KTAPE_NAME_SIZE];
};

static void take_thread_name(const struct ktape_block *b,
			     const struct kt_rec *r, void *arg)
{
	struct reported *t = arg;

	/* A stream begins with the whole registry, which is no news. */
	if (b->kind == KTAPE_RING_REGISTRY || r->op != KTAPE_EV_REGISTRY ||
	    (r->dat20 & 0xff) != KTAPE_OBJ_THREAD)
		return;
	if (r->args[0] != (uint32_t)t->tid) {
		t->others++;
		return;
	}
	memset(t->name, 0, sizeof(t->name));
	memcpy(t->name, r->blob,
	       r->size < sizeof(t->name) ? r->size : sizeof(t->name) - 1);
	*(r->dat20 & GONE ? &t->gone : &t->named) += 1;
}

static pid_t start_thread(const char *name, int *ready)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NAME, name);
		write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	read(ready[0], &(char){ 0 }, 1);
	return pid;
}

/*
 * A thread that was started while the session was stopped is recorded at the
 * next START, and so is the end of a thread while it was stopped. A thread
 * that was there before and has not changed is not recorded again.
 */
TEST_F_TIMEOUT(names, started_while_stopped, 60)
{
	const unsigned char ops[] = { KTAPE_EV_MARK, 0 };
	struct reported early = { 0 }, late = { 0 };
	struct kt_events e;
	int ready[2];

	ASSERT_EQ(0, pipe(ready));
	early.tid = start_thread("kt-early", ready);
	ASSERT_EQ(0, kt_events_start(&e, ops));
	ASSERT_EQ(0, kt_control(e.fd, KTAPE_IOC_STOP));
	late.tid = start_thread("kt-late", ready);
	ASSERT_EQ(0, kt_control(e.fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(e.fd, KTAPE_IOC_STOP));
	kill(late.tid, SIGKILL);
	waitpid(late.tid, NULL, 0);
	ASSERT_EQ(0, kt_control(e.fd, KTAPE_IOC_START));
	e.ledger->next = take_thread_name;
	e.ledger->arg = &late;
	EXPECT_STREQ("", kt_events_stop(&e));
	EXPECT_EQ(1, late.named);
	EXPECT_EQ(1, late.gone);
	EXPECT_STREQ("kt-late", late.name);
	printf("# %d records of other threads\n", late.others);
	kt_events_free(&e);

	ASSERT_EQ(0, kt_events_start(&e, ops));
	ASSERT_EQ(0, kt_control(e.fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_control(e.fd, KTAPE_IOC_START));
	e.ledger->next = take_thread_name;
	e.ledger->arg = &early;
	EXPECT_STREQ("", kt_events_stop(&e));
	EXPECT_EQ(0, early.named + early.gone);
	kt_events_free(&e);
	kill(early.tid, SIGKILL);
	waitpid(early.tid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* ---- names of a start ------------------------------------------------------ */

#define CHILDREN 1200 /* more than a control ring has room for */

/* Records of children's ends, by pid. */
static struct {
	pid_t first;
	bool reported[4 * CHILDREN];
} ends;

static bool is_child(uint32_t tid)
{
	return tid - (uint32_t)ends.first < ARRAY_SIZE(ends.reported);
}

static void on_end(const struct ktape_block *b, const struct kt_rec *r, void *arg)
{
	if (b->kind != KTAPE_RING_REGISTRY && r->op == KTAPE_EV_REGISTRY &&
	    (r->dat20 & 0x1ff) == (KTAPE_OBJ_THREAD | GONE) && is_child(r->args[0]))
		ends.reported[r->args[0] - (uint32_t)ends.first] = true;
}

/*
 * Count the children whose ends the registry knows.
 * Return: the number of those that no record has reported.
 */
static int children_unreported(int *known)
{
	const struct ktape_object_entry *e;
	int unreported = 0;
	size_t nr;

	*known = 0;
	e = kt_map_registry(&nr);
	for (size_t i = 0; i < nr; i++) {
		if (e[i].type != KTAPE_OBJ_THREAD || !e[i].died ||
		    !is_child(e[i].id))
			continue;
		++*known;
		unreported += !ends.reported[e[i].id - (uint32_t)ends.first];
	}
	return unreported;
}

/*
 * More threads than a control ring has room for end while a session is stopped.  Its
 * next start records all of them, as fast as they are read, and loses nothing.
 */
TEST_F_TIMEOUT(names, many_ended_while_stopped, 120)
{
	static struct kts t = { .record = on_end };
	struct kt_buf b = {};
	uint64_t lost = 0;
	int fd, dev = kt_open(O_RDWR), known = 0, unreported = 1;
	struct ktape_stats st;
	ssize_t n;

	fd = kt_create(dev, KTAPE_MODE_DISCARD, 64 << 10, 4096);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fcntl(fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_SET, KTAPE_EV_MARK, 0, 0));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		ASSERT_LT(0, pid);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		if (!i)
			ends.first = pid;
	}
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	for (int i = 0; i < 5000 * kt_scale() && unreported; i++) {
		n = kt_buf_read(&b, fd, 65536);
		if (n == -EAGAIN)
			usleep(10000);
		else
			ASSERT_LT(0, n);
		kts_feed(&t, b.p + t.offset, b.len - t.offset);
		unreported = children_unreported(&known);
	}
	printf("# %d of %d children are in the registry\n", known, CHILDREN);
	/* The registry has 1024 entries, some of which are of others. */
	EXPECT_LT(700, known);
	EXPECT_EQ(0, unreported);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	EXPECT_STREQ("", t.error);
	for (int cpu = 0; cpu < get_nprocs_conf(); cpu++) {
		ASSERT_EQ(0, kt_stats(fd, cpu, KTAPE_RING_CONTROL, &st));
		for (int i = 0; i < KTAPE_LOST_REASONS; i++)
			lost += st.lost[i][KTAPE_CLASS_CONTROL];
	}
	EXPECT_EQ(0, lost);
	kt_buf_free(&b);
	close(fd);
	close(dev);
}

/* ---- names of programs ----------------------------------------------------- */

static pid_t program;

static bool is_program(const struct ktape_object_entry *e)
{
	return e->id == (uint32_t)program && !e->died;
}

/*
 * Start a program with this file name, and wait until its comm is @comm. /bin/sh is busybox,
 * which does what argv[0] says: sleep.
 */
static void start_sleep_program(struct __test_metadata *_metadata,
				const char *name, const char *comm)
{
	char path[64], text[32];
	FILE *f;

	ASSERT_EQ(0, symlink("/bin/sh", name));
	program = fork();
	ASSERT_LE(0, program);
	if (!program) {
		execl(name, "sleep", "1000", NULL);
		_exit(1);
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", program);
	do {
		usleep(1000);
		f = fopen(path, "r");
		ASSERT_NE(NULL, f);
		ASSERT_EQ(1, fscanf(f, "%31s", text));
		fclose(f);
	} while (strcmp(text, comm));
	ASSERT_EQ(0, unlink(name));
}

/* The name is as long as the kernel's, however long the file's name is. */
TEST_F_TIMEOUT(names, exec_of_a_long_name, 60)
{
	static const char all[] = "kt_0123456789abcdefghijklmnopqrstuvwxyz";
	static const size_t lengths[] = { 14, 15, 16, 30, 31, 32, 39 };
	char name[sizeof(all)], comm[16];
	struct ktape_object_entry e;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		snprintf(name, sizeof(name), "%.*s", (int)lengths[i], all);
		snprintf(comm, sizeof(comm), "%.15s", name);
		start_sleep_program(_metadata, name, comm);
		ASSERT_TRUE(find_registry_object(KTAPE_OBJ_THREAD, is_program, &e));
		EXPECT_STREQ(comm, e.name);
		kill(program, SIGKILL);
		waitpid(program, NULL, 0);
	}
}

/* ---- names that give way --------------------------------------------------- */

static int living(uint32_t type, uint32_t from, uint32_t to)
{
	const struct ktape_object_entry *e;
	size_t nr;
	int n = 0;

	e = kt_map_registry(&nr);
	for (size_t i = 0; i < nr; i++)
		n += e[i].type == type && !e[i].died && e[i].id >= from &&
		     e[i].id < to;
	return n;
}

/* Names that programs give may use half of the table; the newest stay. */
TEST_F_TIMEOUT(names, made_names_are_limited, 120)
{
	int m = ktape_mark_open(), fd = kt_open(O_RDWR), before;
	struct ktape_features f, g;
	uint64_t evicted;

	ASSERT_LE(0, m);
	ASSERT_EQ(0, kt_features(fd, &f));
	before = living(KTAPE_OBJ_MARKER, 0, ~0U);
	for (uint32_t i = 0; i < 2 * SHARE; i++)
		ASSERT_EQ(0, ktape_name_marker(m, 1000 + i, "made"));
	ASSERT_EQ(0, kt_features(fd, &g));
	EXPECT_EQ(SHARE, living(KTAPE_OBJ_MARKER, 0, ~0U));
	EXPECT_EQ(SHARE, living(KTAPE_OBJ_MARKER, 1000 + SHARE, 1000 + 2 * SHARE));
	evicted = g.names_evicted - f.names_evicted;
	EXPECT_EQ(before + SHARE, (int)evicted);
	/* An existing name does not count as new. */
	ASSERT_EQ(0, ktape_name_marker(m, 1000 + SHARE, "again"));
	ASSERT_EQ(0, kt_features(fd, &f));
	EXPECT_EQ(g.names_evicted, f.names_evicted);
	EXPECT_EQ(f.names_dropped, g.names_dropped);
	/* A removed name makes room. */
	for (uint32_t i = 0; i < 2 * SHARE; i++)
		ASSERT_EQ(0, ktape_name_marker(m, 1000 + i, ""));
	EXPECT_EQ(0, living(KTAPE_OBJ_MARKER, 0, ~0U));
	ASSERT_EQ(0, ktape_name_marker(m, 1, "alone"));
	ASSERT_EQ(0, kt_features(fd, &g));
	EXPECT_EQ(g.names_evicted, f.names_evicted);
	EXPECT_EQ(0, ktape_name_marker(m, 1, ""));
	close(fd);
	close(m);
}

/* ---- numbers that become another one's ------------------------------------- */

static bool was_first(const struct ktape_object_entry *e)
{
	return (e->id == IRQ && !strcmp(e->name, "kt-irq")) ||
	       (e->id == DISK && !strcmp(e->name, "kt-disk"));
}

static bool is_other(const struct ktape_object_entry *e)
{
	return (e->id == IRQ || e->id == DISK) && !strcmp(e->name, "kt-other");
}

static void check_reused_number(struct __test_metadata *_metadata,
				FIXTURE_DATA(names) * self, unsigned int opcode,
				uint32_t type, uint32_t id, const char *first,
				const char *other)
{
	struct ktape_object_entry old, new;
	char name[KTAPE_NAME_SIZE];
	int fd = kt_start_recording((const unsigned char[]){ opcode, 0 }), n = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_fire(first, 1));
	ASSERT_EQ(0, kt_wait_object_name(type, id, name));
	/*
	 * The module checks the name of a number at most once a tick; until the next one the
	 * events of a new owner would have the old name.
	 */
	usleep(50000);
	ASSERT_EQ(0, kt_fire(other, 1));
	for (int i = 0;
	     i < 100 * kt_scale() && !find_registry_object(type, is_other, &new);
	     i++)
		usleep(20000);
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	ASSERT_TRUE(find_registry_object(type, was_first, &old));
	ASSERT_TRUE(find_registry_object(type, is_other, &new));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->dat20 != id && hit->args[0] != id)
			continue;
		/*
		 * The first event belongs to the first object, the second event
		 * to the object that got its number.
		 */
		if (!n++) {
			EXPECT_GT(new.born, hit->ts);
			EXPECT_GT(old.died, hit->ts);
		} else {
			EXPECT_LE(new.born, hit->ts);
			EXPECT_LE(old.died, hit->ts);
		}
	}
	EXPECT_LE(2, n);
}

TEST_F_TIMEOUT(names, reused_interrupt_number, 60)
{
	ASSERT_EQ(0, kt_fire_load());
	check_reused_number(_metadata, self, KTAPE_EV_IRQ_HANDLER_ENTRY,
			    KTAPE_OBJ_IRQ, IRQ, "irq", "other_irq");
}

TEST_F_TIMEOUT(names, reused_disk_number, 60)
{
	ASSERT_EQ(0, kt_fire_load());
	check_reused_number(_metadata, self, KTAPE_EV_BLOCK_RQ_REQUEUE,
			    KTAPE_OBJ_BLOCK_DEVICE, DISK, "requeue", "other_disk");
}

/* ---- cgroups --------------------------------------------------------------- */

static uint64_t cgroup;

static bool is_cgroup(const struct ktape_object_entry *e)
{
	return e->id == (uint32_t)cgroup && e->param1 == cgroup >> 32;
}

/*
 * A cgroup has the number of its folder's inode as id and param1, its parent's as param2. Once it
 * is removed, its entry says so.
 */
TEST_F(names, cgroups)
{
	struct ktape_object_entry e;
	struct stat root, st;

	ASSERT_EQ(0, stat(CGROUPS, &root));
	cgroup = root.st_ino;
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_CGROUP, is_cgroup, &e));
	EXPECT_STREQ("/", e.name);
	EXPECT_EQ(0, e.param2);
	ASSERT_EQ(0, mkdir(CGROUPS "/kt_a_name_that_is_longer_than_31", 0700));
	ASSERT_EQ(0, stat(CGROUPS "/kt_a_name_that_is_longer_than_31", &st));
	cgroup = st.st_ino;
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_CGROUP, is_cgroup, &e));
	/* The last 31 bytes of its path. */
	EXPECT_STREQ("t_a_name_that_is_longer_than_31", e.name);
	EXPECT_EQ((uint32_t)root.st_ino, e.param2);
	EXPECT_EQ(0, e.died);
	ASSERT_EQ(0, rmdir(CGROUPS "/kt_a_name_that_is_longer_than_31"));
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_CGROUP, is_cgroup, &e));
	EXPECT_NE(0, e.died);
}

/* ---- network name spaces --------------------------------------------------- */

static uint32_t space;

static bool is_of_space(const struct ktape_object_entry *e)
{
	return e->param1 == space && !strcmp(e->name, "lo");
}

static int send_to_self(void)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(9),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_DGRAM, 0), ret;

	ret = ioctl(s, SIOCSIFFLAGS, &r) ||
	      sendto(s, "x", 1, 0, (void *)&to, sizeof(to)) != 1;
	close(s);
	return ret;
}

/*
 * Another namespace has an interface index 1 as well; its device must be a
 * separate object.
 */
TEST_F_TIMEOUT(names, other_network_namespace, 60)
{
	struct ktape_object_entry e;
	struct stat init, st;
	int fd, seen = 0;

	ASSERT_EQ(0, stat("/proc/self/ns/net", &init));
	space = init.st_ino;
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_NET_DEVICE, is_of_space, &e));
	EXPECT_EQ(1, e.id);
	EXPECT_EQ(1, e.param2);
	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	ASSERT_EQ(0, stat("/proc/self/ns/net", &st));
	space = st.st_ino;
	ASSERT_TRUE(find_registry_object(KTAPE_OBJ_NET_DEVICE, is_of_space, &e));
	EXPECT_EQ(1, e.param2);
	EXPECT_NE(0, e.id & KTAPE_NETDEV_OTHER);
	fd = kt_start_recording(KT_OPS(KTAPE_EV_NET_DEV_START_XMIT));
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, send_to_self());
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++)
		seen += self->h.hit[i].args[0] == e.id;
	EXPECT_LE(1, seen);
}

TEST_HARNESS_MAIN
