// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pass descriptors over sockets and through io_uring, in random order, and let go of
 * them in each state: in flight, in a cycle of sockets, in the queue of a process that
 * is killed, registered with a ring, in the middle of a read or a poll.  A descriptor
 * keeps its rights and gives none, and at the end no session and no reference is left.
 */
#include <liburing.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_module.h"
#include "kt_pass.h"
#include "kt_ring.h"
#include "kt_session.h"

#define PASSES	 150
#define RINGS	 150
#define FDS	 4
#define UID	 12345
#define REQUESTS 8

static uint64_t seed;
static long sent; /* messages with descriptors that were sent */

/*
 * Wait until the module has as many users as before.  The kernel collects cycles of
 * sockets when another socket is closed, in a work item.
 */
static bool is_let_go(long users)
{
	for (int i = 0; i < 600; i++) {
		int pair[2];

		if (kt_module_users() == users)
			return true;
		if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
			close(pair[0]);
			close(pair[1]);
		}
		usleep(20000 * kt_scale());
	}
	return false;
}

FIXTURE(fd)
{
	int dev;
	long users;
};

FIXTURE_SETUP(fd)
{
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	self->users = kt_module_users();
	seed = kt_seed();
	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)seed);
	sent = 0;
}

FIXTURE_TEARDOWN(fd)
{
	close(self->dev);
}

/* ---- sockets ----------------------------------------------------------------- */

_Static_assert(FDS + 2 <= KT_PASS_MOST, "a message has room for what is sent");

static bool send_some(int to, const int *fds, int n)
{
	return !kt_send_fds(to, fds, n, MSG_DONTWAIT);
}

static int receive_some(int from, int *fds, int room)
{
	return kt_receive_fds(from, fds, room, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
}

/* Open what is passed: the device, for reading or control, a session, marks. */
static int open_some(int dev, int *fds)
{
	int n = 1 + lcg_below(&seed, FDS);

	for (int i = 0; i < n; i++) {
		switch (lcg_below(&seed, 4)) {
		case 0:
			fds[i] = kt_open(O_RDONLY | O_NONBLOCK);
			break;
		case 1:
			fds[i] = kt_open(O_RDWR | O_NONBLOCK);
			break;
		case 2:
			fds[i] = kt_create(dev, lcg_below(&seed, 2), 16384, 4096);
			break;
		default:
			fds[i] = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);
		}
		/* There are 8 sessions already: pass the device instead. */
		if (fds[i] < 0)
			fds[i] = dup(dev);
		/* Some are mapped as well, until this process ends. */
		if (!lcg_below(&seed, 4))
			mmap(NULL, 4096, PROT_READ, MAP_SHARED, fds[i], 0);
	}
	return n;
}

/*
 * A process without rights uses what it got, and kills itself then or returns.  Return: 0, or what
 * is wrong.  2: it cannot lose its rights, 3: a descriptor for reading controls, 4: a descriptor
 * opens another session, 5: creates one, 6: the process can open the device.
 */
static int use_without_rights(int from)
{
	int fds[FDS + 2], n;
	char buf[4096];
	ssize_t got;

	if (setgid(UID) || setuid(UID))
		return 2;
	n = receive_some(from, fds, FDS + 2);
	for (int i = 0; i < n; i++) {
		struct ktape_session_ref ref = { .size = sizeof(ref) };
		int flags = fcntl(fds[i], F_GETFL);
		int ret = kt_control(fds[i], KTAPE_IOC_STOP);

		if ((flags & O_ACCMODE) == O_RDONLY && !ret)
			return 3;
		ret = kt_ioctl(fds[i], KTAPE_IOC_OPEN, &ref);
		if (ret >= 0)
			return 4;
		if (kt_create(fds[i], 0, 16384, 4096) >= 0)
			return 5;
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
		got = read(fds[i], buf, sizeof(buf));
		(void)got; /* it may be refused */
	}
	if (kt_open(O_RDONLY) >= 0)
		return 6;
	return lcg_below(&seed, 2) ? 0 : raise(SIGKILL);
}

static void pass_once(struct __test_metadata *_metadata, int dev)
{
	int pair[2], fds[FDS + 2], got[FDS + 2], n = open_some(dev, fds), m;
	pid_t pid = -1;
	int status;

	ASSERT_EQ(0, socketpair(AF_UNIX, lcg_below(&seed, 2) ? SOCK_STREAM : SOCK_DGRAM,
				0, pair));
	switch (lcg_below(&seed, 6)) {
	case 0: /* Closed in flight. */
		sent += send_some(pair[0], fds, n);
		break;
	case 1: /* In a cycle: each socket is in flight to the other one. */
		fds[n] = pair[0];
		fds[n + 1] = pair[1];
		sent += send_some(pair[0], fds, n + 2);
		sent += send_some(pair[1], fds, n + 2);
		break;
	case 2: /* The receiver has no room for all of them. */
		sent += send_some(pair[0], fds, n);
		m = receive_some(pair[1], got, lcg_below(&seed, n + 1));
		while (m > 0)
			close(got[--m]);
		break;
	case 3: /* The receiver is killed before it receives. */
		pid = fork();
		if (!pid) {
			pause();
			_exit(0);
		}
		sent += send_some(pair[0], fds, n);
		kill(pid, SIGKILL);
		break;
	case 4: /* The sender ends at once. */
		pid = fork();
		if (!pid)
			_exit(!send_some(pair[0], fds, n));
		break;
	default:
		sent += send_some(pair[0], fds, n);
		pid = fork();
		if (!pid)
			_exit(use_without_rights(pair[1]));
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
	if (pid > 0) {
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(!status ||
			    (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
		{
			TH_LOG("a process without rights: %d", WEXITSTATUS(status));
		}
	}
	close(pair[0]);
	close(pair[1]);
}

TEST_F_TIMEOUT(fd, passed_by_sockets, 3600)
{
	long tries = kt_tries(PASSES), processes = 0;
	int status;

	/*
	 * In a child, whose mappings go with it.  It uses up a copy of the seed; adding a number
	 * gives the next child others.
	 */
	for (long i = 0; i < tries; i += 10) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid) {
			for (int k = 0; k < 10; k++)
				pass_once(_metadata, self->dev);
			/* 99: no message was sent, so nothing was tested. */
			_exit(sent > 0 ? _metadata->exit_code : 99);
		}
		seed += 12345;
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		processes++;
	}
	EXPECT_TRUE(is_let_go(self->users))
	{
		TH_LOG("%ld users of the module, %ld before", kt_module_users(),
		       self->users);
	}
	TH_LOG("%ld tries by %ld processes", tries, processes);
}

/* ---- io_uring ------------------------------------------------------------------ */

/* Results that a request may have, besides a number of bytes or events. */
static bool is_request_result(int res)
{
	return res >= 0 || res == -EAGAIN || res == -EINTR ||
	       res == -ECANCELED || res == -EBADF || res == -EFAULT ||
	       res == -EINVAL || res == -EBUSY || res == -EOPNOTSUPP ||
	       res == -ENXIO || res == -ENOENT || res == -EALREADY;
}

static void prepare_request(struct io_uring_sqe *sqe, const int *fds, int n,
			    bool registered, const struct kt_traps *t)
{
	int at = lcg_below(&seed, n), fd = registered ? at : fds[at];
	unsigned int size = lcg_below(&seed, 9000);
	char *buf = kt_address(&seed, t, size);

	switch (lcg_below(&seed, 7)) {
	case 0:
	case 1:
		io_uring_prep_read(sqe, fd, buf, size, 0);
		break;
	case 2:
		io_uring_prep_poll_add(sqe, fd, POLLIN);
		break;
	case 3:
		io_uring_prep_write(sqe, fd, buf, size, 0);
		break;
	case 4:
		io_uring_prep_cancel64(sqe, 1 + lcg_below(&seed, REQUESTS), 0);
		return;
	case 5:
		/* Fixed files are not closed this way. */
		io_uring_prep_close(sqe, fds[at]);
		return;
	default:
		io_uring_prep_fsync(sqe, fd, 0);
	}
	if (registered)
		sqe->flags |= IOSQE_FIXED_FILE;
	if (!lcg_below(&seed, 4))
		sqe->flags |= IOSQE_ASYNC;
	if (!lcg_below(&seed, 8))
		sqe->flags |= IOSQE_IO_LINK;
}

/*
 * Make a ring, requests for descriptors, and let go of it: by closing it, by the end of this
 * process, which the caller makes for it, or by a SIGKILL here.  Return: 0; an errno; 1000 + the
 * errno of a request that may not have it.
 */
static int ring_once(int dev, const struct kt_traps *t)
{
	int fds[FDS + 2], n = open_some(dev, fds), ret, odd = 0;
	bool registered = lcg_below(&seed, 2);
	struct io_uring_cqe *cqe;
	struct io_uring ring;

	ret = io_uring_queue_init(16, &ring, 0);
	if (ret)
		return -ret;
	for (int i = 0; i < n; i++)
		if (lcg_below(&seed, 3))
			fcntl(fds[i], F_SETFL, 0); /* may block */
	registered = registered && !io_uring_register_files(&ring, fds, n);
	for (int i = 0; i < REQUESTS; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

		prepare_request(sqe, fds, n, registered, t);
		io_uring_sqe_set_data64(sqe, i + 1);
	}
	io_uring_submit(&ring);
	/* Some are done, some wait for data that does not come. */
	if (lcg_below(&seed, 2))
		usleep(lcg_below(&seed, 3000));
	for (int i = 0; i < REQUESTS && !io_uring_peek_cqe(&ring, &cqe); i++) {
		if (!is_request_result(cqe->res))
			odd = 1000 - cqe->res;
		io_uring_cqe_seen(&ring, cqe);
	}
	/* Registered files live until the ring ends, whatever is closed. */
	if (registered && lcg_below(&seed, 2))
		io_uring_unregister_files(&ring);
	for (int i = 0; i < n; i++)
		close(fds[i]);
	switch (lcg_below(&seed, 3)) {
	case 0: /* With the process, which is killed. */
		return odd ? odd : raise(SIGKILL);
	case 1:
		break; /* The ring ends with the process, which exits. */
	default:
		io_uring_queue_exit(&ring);
	}
	return odd;
}

TEST_F_TIMEOUT(fd, in_io_uring, 3600)
{
	long tries = kt_tries(RINGS), killed = 0;
	struct kt_traps t = {};
	struct io_uring ring;
	int status, ret = io_uring_queue_init(4, &ring, 0);

	if (ret)
		SKIP(return, "no io_uring: %s", strerror(-ret));
	io_uring_queue_exit(&ring);
	ASSERT_EQ(0, kt_traps_make(&t));
	for (long i = 0; i < tries; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid) {
			ret = ring_once(self->dev, &t);
			if (ret)
				TH_LOG("round %ld: error %d", i, ret);
			_exit(ret != 0);
		}
		seed += 12345; /* as above */
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		killed += WIFSIGNALED(status);
		EXPECT_TRUE(!status ||
			    (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	}
	EXPECT_TRUE(is_let_go(self->users))
	{
		TH_LOG("%ld users of the module, %ld before", kt_module_users(),
		       self->users);
	}
	TH_LOG("%ld tries of %d requests, %ld processes killed in the middle",
	       tries, REQUESTS, killed);
	kt_traps_free(&t);
}

/* A mapping cannot be pinned as a buffer, and a mapped ring cannot be read into. */
TEST_F(fd, mapping_is_no_buffer)
{
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	struct iovec iov;
	struct kt_map m;
	int ret = io_uring_queue_init(4, &ring, 0), pipes[2];

	if (ret)
		SKIP(return, "no io_uring: %s", strerror(-ret));
	ASSERT_EQ(0, kt_map_ring(self->dev, 0, KTAPE_RING_EVENT, &m));
	iov = (struct iovec){ m.page, m.size };
	EXPECT_GT(0, io_uring_register_buffers(&ring, &iov, 1));
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(16, write(pipes[1], "0123456789abcdef", 16));
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read(sqe, pipes[0], m.data, 16, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	ASSERT_EQ(0, io_uring_wait_cqe(&ring, &cqe));
	EXPECT_EQ(-EFAULT, cqe->res);
	io_uring_cqe_seen(&ring, cqe);
	io_uring_queue_exit(&ring);
	close(pipes[0]);
	close(pipes[1]);
	kt_unmap_ring(&m);
}

TEST_HARNESS_MAIN
