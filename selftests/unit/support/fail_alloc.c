// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a command: its KTAPE_FAIL_AT-th allocation since main() fails, once.  The
 * number of allocations goes to the file KTAPE_FAIL_COUNT.  Allocations that the C library
 * makes for the command (streams in memory, copies of strings) are among them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int main_function(int argc, char **argv, char **env);

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

void *memalign(size_t align, size_t size);
int __libc_start_main(main_function *start, int argc, char **argv,
		      void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);

static main_function *real_main;
static atomic_ulong calls;
static unsigned long fail_at;
static bool armed;

static bool fails(void)
{
	if (!armed || ++calls != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	*p = memalign(align, size);
	return *p ? 0 : ENOMEM;
}

static void write_alloc_count(void)
{
	const char *path = getenv("KTAPE_FAIL_COUNT");
	char text[24];
	int fd, n;

	armed = false;
	fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
	n = snprintf(text, sizeof(text), "%lu\n", (unsigned long)calls);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		return;
	close(fd);
}

static int armed_main(int argc, char **argv, char **env)
{
	const char *at = getenv("KTAPE_FAIL_AT");

	fail_at = at ? strtoul(at, NULL, 10) : 0;
	if (getenv("KTAPE_FAIL_COUNT"))
		atexit(write_alloc_count);
	/* Processes that the command starts have all memory. */
	unsetenv("LD_PRELOAD");
	armed = true;
	return real_main(argc, argv, env);
}

int __libc_start_main(main_function *start, int argc, char **argv,
		      void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	__typeof__(__libc_start_main) *next = dlsym(RTLD_NEXT, "__libc_start_main");

	real_main = start;
	return next(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}
