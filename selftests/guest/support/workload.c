// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cause events of many kinds for a while: processes, pipes, sockets on lo, disk
 * writes, timers, signals.
 *
 * usage: workload SECONDS FOLDER
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "now.h"

#define CHUNK	    65536
#define FILE_CHUNKS 64

struct job {
	const char *name;
	void (*run)(void);
};

static uint64_t deadline; /* by now_ns() */
static const char *folder;

static void exit_on_failure(const char *what)
{
	perror(what);
	exit(1);
}

static bool is_before_deadline(void)
{
	return now_ns() < deadline;
}

/* Half of the children execute another program, the others only exit. */
static void run_fork(void)
{
	for (int i = 0; is_before_deadline(); i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit_on_failure("fork");
		if (pid == 0) {
			if (i % 2)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		if (waitpid(pid, NULL, 0) != pid)
			exit_on_failure("waitpid");
	}
}

/* Echo until the peer closes. */
static void echo_from(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

static void run_pipe(void)
{
	int ping[2], pong[2];
	char byte = 'x';
	pid_t pid;

	if (pipe(ping) || pipe(pong))
		exit_on_failure("pipe");
	pid = fork();
	if (pid < 0)
		exit_on_failure("fork");
	if (pid == 0) {
		close(ping[1]);
		close(pong[0]);
		prctl(PR_SET_NAME, "wl-pong");
		echo_from(ping[0], pong[1]);
	}
	close(ping[0]);
	close(pong[1]);
	while (is_before_deadline())
		if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
			exit_on_failure("ping");
	close(ping[1]);
	waitpid(pid, NULL, 0);
}

static int bound_socket(int type, struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd = socket(AF_INET, type, 0);

	memset(addr, 0, sizeof(*addr));
	addr->sin_family = AF_INET;
	addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)addr, sizeof(*addr)) ||
	    getsockname(fd, (struct sockaddr *)addr, &len))
		exit_on_failure("socket");
	return fd;
}

static void run_udp_load(void)
{
	struct sockaddr_in addr;
	int in = bound_socket(SOCK_DGRAM, &addr);
	int out = socket(AF_INET, SOCK_DGRAM, 0);
	char packet[512] = "";

	if (out < 0)
		exit_on_failure("socket");
	while (is_before_deadline()) {
		if (sendto(out, packet, sizeof(packet), 0,
			   (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
		    recv(in, packet, sizeof(packet), 0) < 0)
			exit_on_failure("udp");
		usleep(500);
	}
}

static void run_tcp(void)
{
	struct sockaddr_in addr;
	int server = bound_socket(SOCK_STREAM, &addr);
	char byte = 'x';
	pid_t pid;

	if (listen(server, 8))
		exit_on_failure("listen");
	pid = fork();
	if (pid < 0)
		exit_on_failure("fork");
	if (pid == 0) {
		int fd = accept(server, NULL, NULL);

		prctl(PR_SET_NAME, "wl-tcpd");
		echo_from(fd, fd);
	}
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		exit_on_failure("connect");
	while (is_before_deadline()) {
		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			exit_on_failure("tcp");
		usleep(1000);
	}
	close(fd);
	waitpid(pid, NULL, 0);
}

static void run_disk(void)
{
	static char chunk[CHUNK];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/workload.dat", folder);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		exit_on_failure(path);
	for (int i = 0; is_before_deadline(); i = (i + 1) % FILE_CHUNKS) {
		if (pwrite(fd, chunk, CHUNK, (off_t)i * CHUNK) != CHUNK)
			exit_on_failure("pwrite");
		if (i % 8 == 0 && fdatasync(fd))
			exit_on_failure("fdatasync");
	}
	close(fd);
	unlink(path);
}

static void ignore_alarm(int sig)
{
	(void)sig;
}

static void run_timer(void)
{
	struct sigaction sa = { .sa_handler = ignore_alarm };
	struct itimerspec every_ms = { { 0, 1000000 }, { 0, 1000000 } };
	timer_t timer;

	if (sigaction(SIGALRM, &sa, NULL) ||
	    timer_create(CLOCK_MONOTONIC, NULL, &timer) ||
	    timer_settime(timer, 0, &every_ms, NULL))
		exit_on_failure("timer");
	while (is_before_deadline())
		pause();
}

/*
 * Call in bursts with pauses, because continuous system calls would outnumber
 * all other events.
 */
static void run_call_bursts(void)
{
	while (is_before_deadline()) {
		for (int i = 0; i < 64; i++)
			getppid();
		usleep(2000);
	}
}

static const struct job jobs[] = {
	{ "wl-fork", run_fork },	   { "wl-ping", run_pipe },
	{ "wl-udp", run_udp_load },	   { "wl-tcp", run_tcp },
	{ "wl-disk", run_disk },	   { "wl-timer", run_timer },
	{ "wl-syscall", run_call_bursts },
};

int main(int argc, char **argv)
{
	const size_t n = sizeof(jobs) / sizeof(jobs[0]);
	int status, failed = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: workload SECONDS FOLDER\n");
		return 2;
	}
	folder = argv[2];
	deadline = now_ns() + strtoull(argv[1], NULL, 10) * NS_PER_S;
	for (size_t i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit_on_failure("fork");
		if (pid == 0) {
			prctl(PR_SET_NAME, jobs[i].name);
			jobs[i].run();
			return 0;
		}
	}
	while (wait(&status) > 0 || errno == EINTR)
		failed |= status;
	return failed != 0;
}
