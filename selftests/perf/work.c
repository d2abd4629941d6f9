// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work for perf to record: threads that rename themselves, processes that fork and exec, mapped
 * memory, signals, timers, and system calls with texts.
 *
 * usage: work [ROUNDS [PROGRAM]]	default 3 rounds, and this program with "leaf"
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static __attribute__((noinline)) int deep(int n)
{
	char page[256];

	memset(page, n, sizeof(page));
	if (n > 0)
		return deep(n - 1) + page[n];
	sched_yield();
	return (int)getppid();
}

/* A thread with a new name before and after each pause. */
static void *renamed(void *arg)
{
	char name[32];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "w %d: \"%c\" (%s)", i, 'a' + i,
			 (char *)arg);
		prctl(PR_SET_NAME, name);
		deep(8);
		pause_ns(200000);
	}
	return NULL;
}

static void touch_memory(void)
{
	size_t size = 64 * 4096;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	munmap(p, size);
}

/* Calls that succeed, and two that fail: a negative offset, and no descriptor. */
static void touch_files(void)
{
	char text[300];
	int fd = open("/tmp/perf work", O_RDWR | O_CREAT | O_TRUNC, 0600);

	memset(text, 'x', sizeof(text));
	if (write(fd, text, sizeof(text)) < 0 || lseek(fd, -1, SEEK_SET) >= 0)
		perror("/tmp/perf work");
	close(fd);
	close(-1);
	unlink("/tmp/perf work");
}

static void spin_10_ms(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec -
			 begin.tv_nsec <
		 10000000L);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	const char *program = argc > 2 ? argv[2] : "/bin/work";
	pthread_t threads[2];

	if (argc > 1 && !strcmp(argv[1], "leaf"))
		return deep(20) == 0;
	signal(SIGUSR1, SIG_IGN);
	for (int i = 0; i < rounds; i++) {
		pid_t child = fork();

		if (!child) {
			prctl(PR_SET_NAME, "before exec");
			deep(5);
			execl(program, "leaf", "leaf", NULL);
			_exit(127);
		}
		for (size_t j = 0; j < 2; j++)
			pthread_create(&threads[j], NULL, renamed,
				       "one\0two" + 4 * j);
		touch_memory();
		touch_files();
		spin_10_ms();
		kill(getpid(), SIGUSR1);
		for (size_t j = 0; j < 2; j++)
			pthread_join(threads[j], NULL);
		waitpid(child, NULL, 0);
	}
	return 0;
}
