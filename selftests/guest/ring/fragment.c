// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fragment the memory, and hold it so, for used/scenes/fragment.sh: hardly any free piece is then
 * as large as a block of a ring.  (t_fragment.c does the same in its own process.)
 *
 * usage: fragment FILE
 *   Creates FILE with a line that says what the memory is like, and holds the memory
 *   until FILE is removed.
 */
#include "kt_fragment.h"
#include "kt_load.h"

#define BLOCK_KIB 64 /* size of a ring's block */

static struct ktg_pipes pipes;

int main(int argc, char **argv)
{
	FILE *f;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: fragment FILE\n");
		return 2;
	}
	ret = ktg_fragment(&pipes, KTG_RUN);
	f = ret ? NULL : fopen(argv[1], "w");
	if (!f) {
		fprintf(stderr, "fragment: %s\n", strerror(ret ? -ret : errno));
		return 1;
	}
	fprintf(f, "%ld KiB are free, %ld of them in pieces of %d KiB\n",
		kt_meminfo("MemFree"), ktg_whole_kib(BLOCK_KIB), BLOCK_KIB);
	fclose(f);
	while (!access(argv[1], F_OK))
		usleep(100000);
	return 0;
}
