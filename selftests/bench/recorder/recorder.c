// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure what the recorder takes: the library's own code, which reads a ring, counts its
 * records, seals its blocks and writes them, while another thread fills the ring.
 *
 * usage: recorder file|null FOLDER MIB FILE...
 *   null	what is written to the files of the trace goes to /dev/null
 *   FOLDER	is created, and gets the trace
 *   MIB	how much is written
 *   FILE	rings of a trace whose blocks are put into the ring
 *
 * Prints "bytes=B records=R cpu=S how=WAY": CPU seconds of the recorder and of the kernel's
 * threads that write for it, without those of the thread that fills the ring.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

static int nowhere = -1;

ssize_t __real_pwritev64(int fd, const struct iovec *iov, int nr, off_t offset);
ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int nr, off_t offset);

/* The linker puts this in the place of the library's pwritev(). */
ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int nr, off_t offset)
{
	return __real_pwritev64(nowhere < 0 ? fd : nowhere, iov, nr, offset);
}

static void recorder_fail(const char *what, int err)
{
	fprintf(stderr, "recorder: %s: %s\n", what, strerror(-err));
	exit(1);
}

/* Return the CPU time of the process so far, without that of a thread. */
static double recorder_cpu_time(const struct timespec *other)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)(ts.tv_sec - other->tv_sec) +
	       (double)(ts.tv_nsec - other->tv_nsec) / 1e9;
}

/* As ktape record does: a step after each call of the device, and while there is work. */
static void record_device(struct ktape_recorder *recorder)
{
	uint64_t count;
	int ret = 1;

	while (ret >= 0 && (ret || !device_done())) {
		if (!ret && read(device_ready(), &count, sizeof(count)) < 0)
			recorder_fail("wait", -errno);
		ret = ktape_recorder_step(recorder);
	}
	if (ret < 0)
		recorder_fail("step", ret);
	ret = ktape_recorder_finish(recorder);
	if (ret)
		recorder_fail("finish", ret);
}

int main(int argc, char **argv)
{
	struct ktape_recorder_options options = { .fd = -1 };
	struct timespec other = { 0 };
	double before, after;
	struct ktape_recorder_stats stats;
	struct ktape_recorder *recorder;
	uint64_t blocks;
	int err;

	if (argc < 5 ||
	    !(blocks = strtoull(argv[3], NULL, 10) * ((1U << 20) / BLOCK))) {
		fputs("usage: recorder file|null FOLDER MIB FILE...\n", stderr);
		return 2;
	}
	device_make(argv + 4, argc - 4);
	options.dir = argv[2];
	if (!strcmp(argv[1], "null")) {
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		/* io_uring does not call the wrapper of pwritev(). */
		options.flags = KTAPE_RECORD_NO_URING;
		if (nowhere < 0)
			recorder_fail("/dev/null", -errno);
	}
	err = ktape_recorder_open(device_get(), &options, &recorder);
	if (err)
		recorder_fail("open", err);
	before = recorder_cpu_time(&other);
	device_start(blocks);
	record_device(recorder);
	other = device_finish();
	after = recorder_cpu_time(&other);
	ktape_recorder_stats(recorder, &stats);
	ktape_recorder_close(recorder);
	if (stats.records != device_records() || stats.missed || stats.lost) {
		fputs("recorder: the counts disagree\n", stderr);
		return 1;
	}
	printf("bytes=%llu records=%llu cpu=%.3f how=%s\n",
	       (unsigned long long)stats.bytes, (unsigned long long)stats.records,
	       after - before, stats.plain_writes ? "plain" : "io_uring");
	return 0;
}
