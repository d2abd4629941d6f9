// SPDX-License-Identifier: GPL-2.0-only
/*
 * What writing alone takes: "bare FILE MIB" writes so much out of a shared mapping of 4 MiB,
 * a MiB at a time, with O_DIRECT where the file system has it.  Prints "bytes=B cpu=S".
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAPPED (4U << 20)
#define PIECE  (1U << 20)

static double process_cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	unsigned long long mib, i;
	int memory, fd;
	double before;
	char *data;

	if (argc != 3 || !(mib = strtoull(argv[2], NULL, 10))) {
		fputs("usage: bare FILE MIB\n", stderr);
		return 2;
	}
	memory = memfd_create("memory", MFD_CLOEXEC);
	if (memory < 0 || ftruncate(memory, MAPPED))
		err(1, "memory");
	data = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (data == MAP_FAILED)
		err(1, "map");
	memset(data, 0x5a, MAPPED);
	fd = open(argv[1], flags | O_DIRECT, 0666);
	/* Without O_DIRECT the file system says so when it has made the file. */
	if (fd < 0 && errno == EINVAL)
		fd = open(argv[1], flags & ~O_EXCL, 0666);
	if (fd < 0)
		err(1, "%s", argv[1]);
	before = process_cpu_time();
	for (i = 0; i < mib; i++)
		if (pwrite(fd, data + i * PIECE % MAPPED, PIECE,
			   (off_t)(i * PIECE)) != PIECE)
			err(1, "write");
	printf("bytes=%llu cpu=%.3f\n", mib * PIECE, process_cpu_time() - before);
	return close(fd) ? 1 : 0;
}
