// SPDX-License-Identifier: GPL-2.0-only
/*
 * MemorySanitizer knows what a function writes if it was compiled with the sanitizer, or if
 * the sanitizer's runtime has a replacement for it.  Debian's zstd and liburing are not
 * compiled with it, and the runtime of clang 14 does not know the names that stat() and its
 * kin have since glibc 2.33.  The functions below stand before those of the libraries, call
 * them, and tell the sanitizer what they have written.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <liburing.h>
#include <sanitizer/msan_interface.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zstd.h>

/* Return the library's function of this name. */
static void *next_function(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "msan.c: no library has %s()\n", name);
		abort();
	}
	return function;
}

/* clang-format off */

/* Define @name, which writes a structure to @to unless it fails. */
#define FILLS(name, to, type, params, ...)			\
	int name params;					\
	int name params						\
	{							\
		int (*call) params = next_function(#name);		\
		int ret = call(__VA_ARGS__);			\
								\
		if (ret >= 0)					\
			__msan_unpoison(to, sizeof(type));	\
		return ret;					\
	}

FILLS(stat, st, struct stat, (const char *path, struct stat *st), path, st)
FILLS(stat64, st, struct stat64, (const char *path, struct stat64 *st), path, st)
FILLS(lstat, st, struct stat, (const char *path, struct stat *st), path, st)
FILLS(lstat64, st, struct stat64, (const char *path, struct stat64 *st), path, st)
FILLS(fstat, st, struct stat, (int fd, struct stat *st), fd, st)
FILLS(fstat64, st, struct stat64, (int fd, struct stat64 *st), fd, st)
FILLS(fstatat, st, struct stat,
      (int fd, const char *path, struct stat *st, int flags), fd, path, st, flags)
FILLS(fstatat64, st, struct stat64,
      (int fd, const char *path, struct stat64 *st, int flags), fd, path, st, flags)
FILLS(statx, st, struct statx,
      (int fd, const char *path, int flags, unsigned int mask, struct statx *st),
      fd, path, flags, mask, st)
FILLS(io_uring_queue_init, ring, struct io_uring,
      (unsigned int entries, struct io_uring *ring, unsigned int flags),
      entries, ring, flags)

/* clang-format on */

static int (*chosen)(const struct dirent64 *);

static void know_entry(const struct dirent64 *e)
{
	__msan_unpoison(e, offsetof(struct dirent64, d_name));
	__msan_unpoison(e, e->d_reclen);
}

static int choose_entry(const struct dirent64 *e)
{
	/* The C library calls this, which passes no state of the argument. */
	__msan_unpoison(&e, sizeof(e));
	know_entry(e);
	return chosen ? chosen(e) : 1;
}

int scandirat64(int folder, const char *dir, struct dirent64 ***list,
		int (*filter)(const struct dirent64 *),
		int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	int (*call)(int, const char *, struct dirent64 ***,
		    int (*)(const struct dirent64 *),
		    int (*)(const struct dirent64 **, const struct dirent64 **)) =
		next_function("scandirat64");
	int nr;

	chosen = filter;
	nr = call(folder, dir, list, choose_entry, compare);
	if (nr >= 0)
		__msan_unpoison(list, sizeof(*list));
	if (nr > 0)
		__msan_unpoison(*list, (size_t)nr * sizeof(**list));
	for (int i = 0; i < nr; i++)
		know_entry((*list)[i]);
	return nr;
}

/*
 * The library reads folders by SYS_getdents64 where it must not allocate memory.  Like the C
 * library's, this takes six arguments whatever the caller has passed.
 */
long syscall(long nr, ...)
{
	long (*call)(long, ...) = next_function("syscall"), a[6], ret;
	va_list args;

	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	__msan_unpoison(a, sizeof(a));
	ret = call(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (nr == SYS_getdents64 && ret > 0)
		__msan_unpoison((void *)a[1], (size_t)ret);
	return ret;
}

size_t ZSTD_decompress(void *to, size_t room, const void *from, size_t len)
{
	size_t (*call)(void *, size_t, const void *, size_t) =
		next_function("ZSTD_decompress");
	size_t ret = call(to, room, from, len);

	if (!ZSTD_isError(ret))
		__msan_unpoison(to, ret);
	return ret;
}

size_t ZSTD_decompressStream(ZSTD_DStream *z, ZSTD_outBuffer *to, ZSTD_inBuffer *from)
{
	size_t (*call)(ZSTD_DStream *, ZSTD_outBuffer *, ZSTD_inBuffer *) =
		next_function("ZSTD_decompressStream");
	size_t at = to->pos, ret = call(z, to, from);

	__msan_unpoison((char *)to->dst + at, to->pos - at);
	return ret;
}

/* What is compressed and goes into a file must be initialised, too. */
size_t ZSTD_compressCCtx(ZSTD_CCtx *z, void *to, size_t room, const void *from,
			 size_t len, int level)
{
	size_t (*call)(ZSTD_CCtx *, void *, size_t, const void *, size_t, int) =
		next_function("ZSTD_compressCCtx");
	size_t ret;

	__msan_check_mem_is_initialized(from, len);
	ret = call(z, to, room, from, len, level);
	if (!ZSTD_isError(ret))
		__msan_unpoison(to, ret);
	return ret;
}

size_t ZSTD_compress2(ZSTD_CCtx *z, void *to, size_t room, const void *from,
		      size_t len)
{
	size_t (*call)(ZSTD_CCtx *, void *, size_t, const void *, size_t) =
		next_function("ZSTD_compress2");
	size_t ret;

	__msan_check_mem_is_initialized(from, len);
	ret = call(z, to, room, from, len);
	if (!ZSTD_isError(ret))
		__msan_unpoison(to, ret);
	return ret;
}

size_t ZSTD_compressStream2(ZSTD_CCtx *z, ZSTD_outBuffer *to,
			    ZSTD_inBuffer *from, ZSTD_EndDirective end)
{
	size_t (*call)(ZSTD_CCtx *, ZSTD_outBuffer *, ZSTD_inBuffer *,
		       ZSTD_EndDirective) = next_function("ZSTD_compressStream2");
	size_t at = to->pos, ret;

	__msan_check_mem_is_initialized((const char *)from->src + from->pos,
					from->size - from->pos);
	ret = call(z, to, from, end);
	__msan_unpoison((char *)to->dst + at, to->pos - at);
	return ret;
}
