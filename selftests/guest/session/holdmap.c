// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep a mapping of /dev/ktape and no descriptor until killed, for t_load.sh.
 * Print "mapped" when it is mapped.
 */
#include "kt_ring.h"

int main(void)
{
	int fd = kt_open(O_RDONLY);
	struct kt_map m;

	if (fd < 0 || kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m)) {
		perror("holdmap");
		return 1;
	}
	close(fd);
	/* Touch one page, not the others. While session 0 records, its flags are 0. */
	if (m.page->flags)
		return 1;
	puts("mapped");
	fflush(stdout);
	pause();
	return 0;
}
