// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGSTOP and SIGKILL of recorders and readers at random moments: while they start,
 * record, wait and end.  What a recorder wrote can be read and checked, one that was
 * only stopped ends well, and no session, consumer or reference is left.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_spawn.h"

#define TRIES 30
#define TRACE "/tmp/test/trace"
#define LOG   "/tmp/test/log"
#define KTAPE "/bin/ktape"

enum victim { TO_FOLDER, TO_PIPE, READER, MAPPING, VICTIMS };

static const char *const names[] = { "record -o DIR", "record -o -", "read()",
				     "mmap()" };

static uint64_t seed;

/* ---- victims ----------------------------------------------------------------- */

static void be_recorder(bool to_pipe)
{
	int log = open(LOG, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int out = to_pipe ? open(TRACE, O_WRONLY | O_CREAT | O_TRUNC, 0600) :
			    dup(log);

	dup2(log, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	execl(KTAPE, KTAPE, "record", "-q", "-p", "all", "-B", "4K", "-b",
	      "256K", "-o", to_pipe ? "-" : TRACE, NULL);
	_exit(127);
}

/* A registered consumer: its session discards events rather than what it has not read. */
static void be_consumer(void)
{
	struct ktape_consumer c = { .size = sizeof(c),
				    .op = KTAPE_CONSUMER_REGISTER };
	int fd = kt_session(KTAPE_MODE_DISCARD, 65536, 4096,
			    KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT));
	static char buf[65536];

	if (fd < 0 || kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c) ||
	    kt_control(fd, KTAPE_IOC_START))
		_exit(1);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	_exit(2);
}

/* The mapping is all that holds the session. */
static void be_mapping(void)
{
	int fd = kt_session(KTAPE_MODE_OVERWRITE, 65536, 4096,
			    KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT));
	struct kt_map m;

	if (fd < 0 || kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m) ||
	    kt_control(fd, KTAPE_IOC_START))
		_exit(1);
	close(fd);
	for (;;)
		for (size_t i = 0; i < m.size; i += 64)
			(void)*(volatile char *)((char *)m.page + i);
}

static pid_t start_victim(enum victim v)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (v == READER)
		be_consumer();
	if (v == MAPPING)
		be_mapping();
	be_recorder(v == TO_PIPE);
	return -1;
}

/* Something to record. */
static pid_t start_load(void)
{
	pid_t pid = fork();

	while (!pid) {
		kt_getppids(100);
		usleep(500);
	}
	return pid;
}

/* ---- afterwards ---------------------------------------------------------------- */

/* Run `ktape COMMAND TRACE`.  Return: its exit status, or -1. */
static int run_tool(const char *command)
{
	char *argv[] = { KTAPE, (char *)command, TRACE, NULL };
	int log = open(LOG, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), ret;

	ret = kt_run(argv, strcmp(command, "verify") ? null : log, log);
	close(null);
	close(log);
	return ret;
}

static void print_log(const char *what)
{
	char line[256];
	FILE *f = fopen(LOG, "r");

	while (f && fgets(line, sizeof(line), f))
		printf("# %s: %s", what, line);
	if (f)
		fclose(f);
}

/* Has verify found nothing but where the trace is cut off? */
static bool is_only_cut_off(void)
{
	FILE *f = fopen(LOG, "r");
	bool ok = f != NULL;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "wrong", 5) &&
		    !strstr(line, "ends in the middle of a packet") &&
		    !strstr(line, "ends in the header of a packet"))
			ok = false;
	if (f)
		fclose(f);
	return ok;
}

static void remove_trace(void)
{
	if (system("rm -rf " TRACE))
		printf("# cannot remove " TRACE "\n");
}

/* Wait until there is no session but session 0. */
static bool is_alone(int dev)
{
	struct ktape_session_info all[8];

	for (int i = 0; i < 500 * kt_scale(); i++) {
		if (kt_list_sessions(dev, all) == 1)
			return true;
		usleep(20000);
	}
	return false;
}

/* Was anything written that makes a trace?  Before that there is only an error. */
static bool has_trace(enum victim v)
{
	struct stat st;

	if (v == TO_FOLDER)
		return !stat(TRACE "/metadata", &st) && st.st_size;
	/* Metadata and the names of all threads come first: a complete beginning. */
	return !stat(TRACE, &st) && st.st_size > 100000;
}

/**
 * struct counts - what happened
 * @killed: victims that were killed
 * @stopped: victims that were stopped, and went on
 * @read: traces of killed recorders that were read
 * @early: recorders that were killed before they had written a trace
 */
struct counts {
	long killed, stopped, read, early;
};

static void check_trace(struct __test_metadata *_metadata, enum victim v,
			bool killed, struct counts *n)
{
	int dump, verify;

	if (!has_trace(v)) {
		n->early++;
		return;
	}
	dump = run_tool("dump");
	EXPECT_EQ(0, dump)
	{
		print_log("dump");
	}
	verify = run_tool("verify");
	/* The end is missing, which is not the same as damage: exit status 6. */
	EXPECT_TRUE(!verify || (killed && verify == 6) ||
		    (killed && verify == 1 && is_only_cut_off()))
	{
		print_log("verify");
	}
	n->read++;
}

static void pause_it(pid_t pid)
{
	kill(pid, SIGSTOP);
	usleep(lcg_below(&seed, 60000));
	kill(pid, SIGCONT);
}

static void try_once(struct __test_metadata *_metadata, int dev, struct counts *n)
{
	enum victim v = lcg_below(&seed, VICTIMS);
	bool kills = lcg_below(&seed, 3);
	pid_t pid = start_victim(v);
	int status;

	ASSERT_LE(0, pid);
	usleep(lcg_below(&seed, 400000 * kt_scale()));
	for (int i = lcg_below(&seed, 3); i > 0; i--) {
		pause_it(pid);
		n->stopped++;
		usleep(lcg_below(&seed, 100000));
	}
	if (kills || v == READER || v == MAPPING) {
		/* Some are killed while they are stopped. */
		if (!lcg_below(&seed, 4))
			kill(pid, SIGSTOP);
		kill(pid, SIGKILL);
		n->killed++;
	} else {
		kill(pid, SIGINT);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	if (WIFEXITED(status)) {
		/* SIGINT before its handler is there ends the process, too. */
		EXPECT_EQ(0, WEXITSTATUS(status))
		{
			TH_LOG("%s", names[v]);
			print_log("record");
		}
	}
	EXPECT_TRUE(is_alone(dev))
	{
		TH_LOG("%s leaves a session", names[v]);
	}
	if (v == TO_FOLDER || v == TO_PIPE)
		check_trace(_metadata, v, kills || !WIFEXITED(status), n);
	remove_trace();
}

FIXTURE(kill)
{
	int dev;
	pid_t load;
};

FIXTURE_SETUP(kill)
{
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	if (access(KTAPE, X_OK))
		SKIP(return, "no " KTAPE);
	self->load = start_load();
}

FIXTURE_TEARDOWN(kill)
{
	if (self->load > 0) {
		kill(self->load, SIGKILL);
		waitpid(self->load, NULL, 0);
	}
	close(self->dev);
}

TEST_F_TIMEOUT(kill, at_random_moments, 7200)
{
	long tries = kt_tries(TRIES);
	struct counts n = {};

	seed = kt_seed();
	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)seed);
	for (long i = 0; i < tries; i++)
		try_once(_metadata, self->dev, &n);
	TH_LOG("%ld tries: %ld killed, %ld times stopped; %ld traces read and checked, %ld killed too early for one",
	       tries, n.killed, n.stopped, n.read, n.early);
	EXPECT_LT(0, n.killed);
}

TEST_HARNESS_MAIN
