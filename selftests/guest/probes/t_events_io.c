// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test block and network events: each as often as the test or kt_fire.ko has caused it,
 * with the right device, place and size. Devices and interrupts have the names that the
 * kernel gives them, also after they were renamed.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_fire.h"

#define TIMES	 20
#define BYTES	 4096
#define SECTORS	 (BYTES / 512)
#define STRIDE	 65536
#define FIRST	 (128ULL << 20) /* no other process reads there */
#define OP_READ	 0
#define OP_WRITE 1

FIXTURE(io)
{
	struct kt_hits h;
	void *page;
};

FIXTURE_SETUP(io)
{
	ASSERT_EQ(0, posix_memalign(&self->page, 4096, BYTES));
}

FIXTURE_TEARDOWN(io)
{
	kt_hits_free(&self->h);
	free(self->page);
}

/* ---- block ----------------------------------------------------------------- */

static uint32_t device_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : major(st.st_rdev) << 20 | minor(st.st_rdev);
}

/* Read BYTES bytes TIMES times with O_DIRECT. Return: 0 or -errno. */
static int read_direct(const char *path, uint64_t first, void *page)
{
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	for (int i = 0; i < TIMES && !ret; i++)
		if (pread(fd, page, BYTES, first + i * STRIDE) != BYTES)
			ret = -EIO;
	close(fd);
	return ret;
}

/*
 * Return the number of correct events of the reads, each counted once; -1 if
 * one is wrong. dat20 is what is done, the words are the device, two of the
 * sector, and the bytes.
 */
static int count_reads(const struct kt_hits *h, uint32_t op, uint32_t dev,
		       uint64_t first)
{
	int seen[TIMES] = {}, nr = 0;

	for (int i = 0; i < h->nr; i++) {
		const struct kt_hit *hit = &h->hit[i];
		uint64_t at = kt_wide(hit->args + 1) * 512 - first;
		uint32_t bytes = hit->args[3];

		/* Since 6.16 brd advances a completed operation to its end. */
		if (op == KTAPE_EV_BLOCK_BIO_COMPLETE && !bytes) {
			at -= BYTES;
			bytes = BYTES;
		}
		if (hit->op != op || hit->args[0] != dev || at >= TIMES * STRIDE)
			continue;
		if (at % STRIDE || seen[at / STRIDE]++ ||
		    hit->dat20 != OP_READ || bytes != BYTES)
			return -1;
		nr++;
	}
	return nr;
}

static int set_scheduler(const char *disk, const char *name)
{
	char path[100];
	int fd, ret;

	snprintf(path, sizeof(path), "/sys/block/%s/queue/scheduler", disk);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, name, strlen(name)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

TEST_F_TIMEOUT(io, block_requests, 200)
{
	uint32_t dev = device_of("/dev/vdb");
	char name[KTAPE_NAME_SIZE];
	int fd, inserts = 0;

	if (!dev)
		SKIP(return, "no /dev/vdb");
	/*
	 * An I/O scheduler queues each request first, which is an event of its
	 * own.
	 */
	if (!set_scheduler("vdb", "mq-deadline"))
		inserts = TIMES;
	fd = kt_start_recording(
		KT_OPS(KTAPE_EV_BLOCK_RQ_INSERT, KTAPE_EV_BLOCK_RQ_ISSUE,
		       KTAPE_EV_BLOCK_RQ_COMPLETE, KTAPE_EV_BLOCK_BIO_QUEUE));
	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, read_direct("/dev/vdb", FIRST, self->page));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	set_scheduler("vdb", "none");
	EXPECT_EQ(0, self->h.lost);
	EXPECT_EQ(TIMES,
		  count_reads(&self->h, KTAPE_EV_BLOCK_BIO_QUEUE, dev, FIRST));
	EXPECT_EQ(inserts,
		  count_reads(&self->h, KTAPE_EV_BLOCK_RQ_INSERT, dev, FIRST));
	EXPECT_EQ(TIMES, count_reads(&self->h, KTAPE_EV_BLOCK_RQ_ISSUE, dev, FIRST));
	EXPECT_EQ(TIMES,
		  count_reads(&self->h, KTAPE_EV_BLOCK_RQ_COMPLETE, dev, FIRST));
	TH_LOG("%d records, %d inserts", self->h.nr, inserts);
	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_BLOCK_DEVICE, dev, name));
	EXPECT_STREQ("vdb", name);
}

/* brd has no requests; its operations complete at once. */
TEST_F_TIMEOUT(io, block_operations, 200)
{
	char name[KTAPE_NAME_SIZE];
	uint32_t dev;
	int fd, ret;

	ret = kt_modprobe("brd");
	if (ret == -ENOENT)
		SKIP(return, "no brd to load");
	ASSERT_EQ(0, ret);
	dev = device_of("/dev/ram0");
	fd = kt_start_recording(
		KT_OPS(KTAPE_EV_BLOCK_BIO_QUEUE, KTAPE_EV_BLOCK_BIO_COMPLETE));
	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, read_direct("/dev/ram0", 0, self->page));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, kt_rmmod("brd"));
	EXPECT_EQ(TIMES, count_reads(&self->h, KTAPE_EV_BLOCK_BIO_QUEUE, dev, 0));
	EXPECT_EQ(TIMES, count_reads(&self->h, KTAPE_EV_BLOCK_BIO_COMPLETE, dev, 0));
	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_BLOCK_DEVICE, dev, name));
	EXPECT_STREQ("ram0", name);
}

/*
 * Block operations that a guest's disk never does are caused by the helper
 * module.
 */
TEST_F_TIMEOUT(io, block_requeue_and_merge, 200)
{
	static const uint8_t ops[] = { KTAPE_EV_BLOCK_RQ_REQUEUE,
				       KTAPE_EV_BLOCK_RQ_MERGE };
	const uint32_t dev = 300U << 20 | 5; /* of kt_fire, like the values below */
	int fd, nr[2] = {}, n = 0;
	char name[KTAPE_NAME_SIZE];

	ASSERT_EQ(0, kt_fire_load());
	fd = kt_start_recording(KT_OPS(ops[0], ops[1]));
	EXPECT_EQ(0, kt_fire("requeue", TIMES));
	EXPECT_EQ(0, kt_fire("merge", TIMES + 1));
	EXPECT_EQ(0, kt_rmmod("kt_fire"));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->args[0] != dev)
			continue;
		n++;
		EXPECT_EQ(OP_WRITE, hit->dat20);
		EXPECT_EQ(0x123456789aULL, kt_wide(hit->args + 1));
		EXPECT_EQ(8192, hit->args[3]);
		nr[hit->op == ops[1]]++;
	}
	EXPECT_EQ(TIMES, nr[0]);
	EXPECT_EQ(TIMES + 1, nr[1]);
	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_BLOCK_DEVICE, dev, name));
	EXPECT_STREQ("kt-disk", name);
}

/* ---- interrupts -------------------------------------------------------------- */

/*
 * Return true if a line of /proc/interrupts has this number and this name. On ARM the
 * interrupts by which CPUs call each other are not listed there, but in /sys.
 */
static bool in_proc(uint32_t irq, const char *name)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[512], path[64];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strtoul(line, NULL, 10) == irq && strstr(line, name);
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", irq);
	f = found ? NULL : fopen(path, "r");
	if (f) {
		found = fgets(line, sizeof(line), f) && strstr(line, name);
		fclose(f);
	}
	return found;
}

TEST_F_TIMEOUT(io, interrupts_have_names, 200)
{
	char name[KTAPE_NAME_SIZE];
	int fd, named = 0;

	if (!device_of("/dev/vdb"))
		SKIP(return, "no /dev/vdb");
	fd = kt_start_recording(KT_OPS(KTAPE_EV_IRQ_HANDLER_ENTRY));
	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, read_direct("/dev/vdb", FIRST, self->page));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_GE(self->h.nr, TIMES);
	for (int i = 0; i < self->h.nr; i++) {
		ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_IRQ,
						 self->h.hit[i].dat20, name));
		EXPECT_TRUE(in_proc(self->h.hit[i].dat20, name));
		named += strstr(name, "virtio") != NULL;
	}
	EXPECT_GE(named, TIMES);
	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_SOFTIRQ, 3, name));
	EXPECT_STREQ("NET_RX", name);
}

/* ---- network ------------------------------------------------------------------ */

#define PAYLOAD	 777
#define IP_BYTES (PAYLOAD + 28) /* including the IP and UDP headers */
#define LO	 1
#define ETH_IP	 0x0800

/* Send TIMES packets over lo; @open: a socket receives them. Return: 0, or negative if not sent. */
static int send_lo_packets(bool open)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int in = socket(AF_INET, SOCK_DGRAM, 0), out, ret = -1;
	socklen_t len = sizeof(to);
	char data[PAYLOAD] = {};

	if (bind(in, (void *)&to, len) || getsockname(in, (void *)&to, &len))
		goto err;
	out = socket(AF_INET, SOCK_DGRAM, 0);
	if (!open)
		close(in);
	ret = 0;
	for (int i = 0; i < TIMES && !ret; i++) {
		if (sendto(out, data, PAYLOAD, 0, (void *)&to, len) != PAYLOAD)
			ret = -errno;
		if (open && recv(in, data, PAYLOAD, 0) != PAYLOAD)
			ret = -errno;
	}
	close(out);
	if (!open)
		return ret;
err:
	close(in);
	return ret;
}

/*
 * Wait until this CPU has received what was sent over lo before: its backlog is a queue, so
 * a datagram that arrives was the last one.  Return: 0 or -errno.
 */
static int receive_backlog(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), ret = 0;
	socklen_t len = sizeof(to);
	char c = 0;

	if (bind(fd, (void *)&to, len) || getsockname(fd, (void *)&to, &len) ||
	    sendto(fd, &c, 1, 0, (void *)&to, len) != 1 || recv(fd, &c, 1, 0) != 1)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * Count our packets, which are known by @len, at one tracepoint. @skbs: their tokens in order;
 * the first tracepoint fills them in, the others must have the same. Return: number of packets;
 * -1: a field or a token is wrong, or there are more than TIMES.
 */
static int count_packets(const struct kt_hits *h, uint32_t op, uint32_t len,
			 uint32_t dat20, uint32_t *skbs)
{
	int nr = 0;

	for (int i = 0; i < h->nr; i++) {
		const struct kt_hit *hit = &h->hit[i];

		if (hit->op != op || hit->args[2] != len)
			continue;
		if (hit->args[0] != LO || hit->dat20 != dat20 || nr == TIMES)
			return -1;
		if (skbs[nr] && skbs[nr] != hit->args[1])
			return -1;
		skbs[nr++] = hit->args[1];
	}
	return nr;
}

/* Send and receive datagrams that no device sees. Return: 0 or -errno. */
static int send_locally(void)
{
	int fd[2], ret = 0;
	char c = 0;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
		return -errno;
	for (int i = 0; i < TIMES && !ret; i++)
		if (write(fd[0], &c, 1) != 1 || read(fd[1], &c, 1) != 1)
			ret = -errno;
	close(fd[0]);
	close(fd[1]);
	return ret;
}

/* Was it a local datagram that was consumed?  Only newer kernels tell where. */
static bool is_consumed_locally(const struct kt_hit *hit)
{
	char name[KTAPE_NAME_SIZE];

	return hit->args[1] &&
	       !kt_wait_object_name(KTAPE_OBJ_FUNCTION, hit->args[1], name) &&
	       (strstr(name, "unix") || strstr(name, "datagram"));
}

TEST_F_TIMEOUT(io, net_packets, 200)
{
	const uint32_t frame = IP_BYTES + 14;
	int fd, polls = 0, consumed = 0, locally = 0;
	uint32_t skbs[TIMES] = {};

	fd = kt_start_recording(KT_OPS(KTAPE_EV_NET_DEV_QUEUE,
				       KTAPE_EV_NET_DEV_START_XMIT,
				       KTAPE_EV_NET_DEV_XMIT, KTAPE_EV_NETIF_RX,
				       KTAPE_EV_NETIF_RECEIVE_SKB,
				       KTAPE_EV_NAPI_POLL, KTAPE_EV_CONSUME_SKB));
	ASSERT_GE(fd, 0);
	kt_pin(2);
	EXPECT_EQ(0, send_lo_packets(true));
	EXPECT_EQ(0, send_locally());
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	/* Every tracepoint must see the same packets in the same order. */
	EXPECT_EQ(TIMES, count_packets(&self->h, KTAPE_EV_NET_DEV_QUEUE, frame,
				       ETH_IP, skbs));
	EXPECT_EQ(TIMES, count_packets(&self->h, KTAPE_EV_NET_DEV_START_XMIT,
				       frame, ETH_IP, skbs));
	EXPECT_EQ(TIMES,
		  count_packets(&self->h, KTAPE_EV_NET_DEV_XMIT, frame, 0, skbs));
	EXPECT_EQ(TIMES, count_packets(&self->h, KTAPE_EV_NETIF_RX, IP_BYTES,
				       ETH_IP, skbs));
	EXPECT_EQ(TIMES, count_packets(&self->h, KTAPE_EV_NETIF_RECEIVE_SKB,
				       IP_BYTES, ETH_IP, skbs));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		/* The backlog of a CPU has no device. */
		if (hit->op == KTAPE_EV_NAPI_POLL && !hit->args[0])
			polls += hit->args[1] <= hit->args[2];
		if (hit->op != KTAPE_EV_CONSUME_SKB)
			continue;
		if (is_consumed_locally(hit))
			locally++;
		else if (consumed < TIMES)
			consumed += hit->args[0] == skbs[consumed];
	}
	TH_LOG("%d records, %d polls, %d and %d consumed", self->h.nr, polls,
	       consumed, locally);
	EXPECT_EQ(TIMES, polls);
	/* Since 6.18 UDP frees its packets later, without the tracepoint. */
	EXPECT_EQ(TIMES, consumed ?: locally);
}

/*
 * No socket receives: each packet is dropped once, and the place of the drop is
 * recorded.
 */
TEST_F_TIMEOUT(io, net_drops, 200)
{
	/* Since 5.17. */
	const bool reasons = kt_tracefs_has("skb/kfree_skb", " reason;");
	uint32_t skbs[TIMES] = {};
	char name[KTAPE_NAME_SIZE];
	int fd, drops = 0;

	fd = kt_start_recording(
		KT_OPS(KTAPE_EV_NETIF_RECEIVE_SKB, KTAPE_EV_KFREE_SKB));
	ASSERT_GE(fd, 0);
	kt_pin(2);
	EXPECT_EQ(0, send_lo_packets(false));
	EXPECT_EQ(0, receive_backlog());
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(TIMES, count_packets(&self->h, KTAPE_EV_NETIF_RECEIVE_SKB,
				       IP_BYTES, ETH_IP, skbs));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->op != KTAPE_EV_KFREE_SKB || drops == TIMES ||
		    hit->args[0] != skbs[drops])
			continue;
		drops++;
		EXPECT_EQ(reasons, hit->dat20 != 0);
		ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_FUNCTION,
						 hit->args[1], name));
		EXPECT_NE(NULL, strstr(name, "udp"));
	}
	EXPECT_EQ(TIMES, drops);
}

static int rename_device(const char *from, const char *to)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), ret = 0;
	struct ifreq r = {};

	strcpy(r.ifr_name, from);
	if (ioctl(fd, SIOCGIFFLAGS, &r))
		ret = -errno;
	r.ifr_flags &= ~IFF_UP;
	if (!ret && ioctl(fd, SIOCSIFFLAGS, &r))
		ret = -errno;
	strcpy(r.ifr_newname, to);
	if (!ret && ioctl(fd, SIOCSIFNAME, &r))
		ret = -errno;
	strcpy(r.ifr_name, to);
	r.ifr_flags = IFF_UP;
	if (!ret && ioctl(fd, SIOCSIFFLAGS, &r))
		ret = -errno;
	close(fd);
	return ret;
}

/* Renamed devices are recorded; devices of another network namespace are not. */
TEST_F_TIMEOUT(io, net_names, 200)
{
	char name[KTAPE_NAME_SIZE];
	int status = -1;
	pid_t pid;

	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_NET_DEVICE, LO, name));
	EXPECT_STREQ("lo", name);
	EXPECT_EQ(0, rename_device("lo", "kt-lo"));
	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_NET_DEVICE, LO, name));
	EXPECT_STREQ("kt-lo", name);
	pid = fork();
	if (!pid)
		_exit(unshare(CLONE_NEWNET) ? errno : 0);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_NET_DEVICE, LO, name));
	EXPECT_STREQ("kt-lo", name);
	EXPECT_EQ(0, rename_device("kt-lo", "lo"));
	ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_NET_DEVICE, LO, name));
	EXPECT_STREQ("lo", name);
}

TEST_HARNESS_MAIN
