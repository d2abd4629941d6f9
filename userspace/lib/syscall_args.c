// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arguments of system calls with their names and flags.
 *
 * A call is a line of words NAME:KIND.  Kinds: d number with a sign, u without,
 * x bits, p pointer, m mode in octal, D directory, S signal; the others are
 * sets of flags.
 */
#include "line.h"
#include "syscall_flags.h"

#define ARGS		6
#define FLAGS_MAX	24	/* names of one value; the rest is a number */
#define AT_FDCWD_VALUE	(-100)

struct call {
	const char *name;
	const char *args;
};

/* Ordered by name. */
static const struct call calls[] = {
	{ "accept", "fd:d addr:p addrlen:p" },
	{ "accept4", "fd:d addr:p addrlen:p flags:T" },
	{ "access", "filename:p mode:r" },
	{ "alarm", "seconds:u" },
	{ "bind", "fd:d addr:p addrlen:u" },
	{ "bpf", "cmd:d attr:p size:u" },
	{ "brk", "brk:p" },
	{ "capget", "header:p data:p" },
	{ "capset", "header:p data:p" },
	{ "chdir", "filename:p" },
	{ "chmod", "filename:p mode:m" },
	{ "chown", "filename:p uid:d gid:d" },
	{ "chroot", "filename:p" },
	{ "clock_getres", "clock:c tp:p" },
	{ "clock_gettime", "clock:c tp:p" },
	{ "clock_nanosleep", "clock:c flags:t request:p remain:p" },
	{ "clock_settime", "clock:c tp:p" },
	{ "clone", "flags:C newsp:p parent_tid:p child_tid:p tls:p" },
	{ "clone3", "args:p size:u" },
	{ "close", "fd:d" },
	{ "close_range", "first:u last:u flags:x" },
	{ "connect", "fd:d addr:p addrlen:u" },
	{ "copy_file_range",
	  "fd_in:d off_in:p fd_out:d off_out:p len:u flags:x" },
	{ "creat", "filename:p mode:m" },
	{ "dup", "fd:d" },
	{ "dup2", "oldfd:d newfd:d" },
	{ "dup3", "oldfd:d newfd:d flags:O" },
	{ "epoll_create", "size:d" },
	{ "epoll_create1", "flags:O" },
	{ "epoll_ctl", "epfd:d op:e fd:d event:p" },
	{ "epoll_pwait",
	  "epfd:d events:p maxevents:d timeout:d sigmask:p size:u" },
	{ "epoll_wait", "epfd:d events:p maxevents:d timeout:d" },
	{ "eventfd", "count:u" },
	{ "eventfd2", "count:u flags:V" },
	{ "execve", "filename:p argv:p envp:p" },
	{ "execveat", "dfd:D filename:p argv:p envp:p flags:A" },
	{ "exit", "status:d" },
	{ "exit_group", "status:d" },
	{ "faccessat", "dfd:D filename:p mode:r" },
	{ "faccessat2", "dfd:D filename:p mode:r flags:A" },
	{ "fadvise64", "fd:d offset:u len:u advice:d" },
	{ "fallocate", "fd:d mode:x offset:u len:u" },
	{ "fchdir", "fd:d" },
	{ "fchmod", "fd:d mode:m" },
	{ "fchmodat", "dfd:D filename:p mode:m" },
	{ "fchown", "fd:d uid:d gid:d" },
	{ "fchownat", "dfd:D filename:p uid:d gid:d flags:A" },
	{ "fcntl", "fd:d cmd:n arg:x" },
	{ "fdatasync", "fd:d" },
	{ "finit_module", "fd:d args:p flags:x" },
	{ "flock", "fd:d operation:l" },
	{ "fstat", "fd:d statbuf:p" },
	{ "fstatfs", "fd:d buf:p" },
	{ "fsync", "fd:d" },
	{ "ftruncate", "fd:d length:u" },
	{ "futex", "uaddr:p op:f val:u timeout:p uaddr2:p val3:u" },
	{ "getcwd", "buf:p size:u" },
	{ "getdents", "fd:d dirent:p count:u" },
	{ "getdents64", "fd:d dirent:p count:u" },
	{ "getitimer", "which:i value:p" },
	{ "getpeername", "fd:d addr:p addrlen:p" },
	{ "getpgid", "pid:d" },
	{ "getpriority", "which:d who:d" },
	{ "getrandom", "buf:p count:u flags:G" },
	{ "getrlimit", "resource:L rlim:p" },
	{ "getrusage", "who:d usage:p" },
	{ "getsockname", "fd:d addr:p addrlen:p" },
	{ "getsockopt", "fd:d level:d optname:d optval:p optlen:p" },
	{ "gettimeofday", "tv:p tz:p" },
	{ "getxattr", "path:p name:p value:p size:u" },
	{ "inotify_add_watch", "fd:d path:p mask:x" },
	{ "inotify_init1", "flags:O" },
	{ "io_uring_enter",
	  "fd:d to_submit:u min_complete:u flags:x sig:p size:u" },
	{ "io_uring_register", "fd:d opcode:d arg:p nr_args:u" },
	{ "io_uring_setup", "entries:u params:p" },
	{ "ioctl", "fd:d cmd:x arg:x" },
	{ "kill", "pid:d sig:S" },
	{ "lchown", "filename:p uid:d gid:d" },
	{ "link", "oldname:p newname:p" },
	{ "linkat", "olddfd:D oldname:p newdfd:D newname:p flags:A" },
	{ "listen", "fd:d backlog:d" },
	{ "lseek", "fd:d offset:d whence:w" },
	{ "lstat", "filename:p statbuf:p" },
	{ "madvise", "start:p len:u advice:a" },
	{ "membarrier", "cmd:d flags:x cpu:d" },
	{ "memfd_create", "name:p flags:Q" },
	{ "mincore", "start:p len:u vec:p" },
	{ "mkdir", "pathname:p mode:m" },
	{ "mkdirat", "dfd:D pathname:p mode:m" },
	{ "mknod", "filename:p mode:m dev:u" },
	{ "mknodat", "dfd:D filename:p mode:m dev:u" },
	{ "mlock", "start:p len:u" },
	{ "mmap", "addr:p len:u prot:P flags:M fd:d off:x" },
	{ "mmap2", "addr:p len:u prot:P flags:M fd:d pgoff:x" },
	{ "mount", "dev:p dir:p type:p flags:x data:p" },
	{ "mprotect", "start:p len:u prot:P" },
	{ "mremap", "addr:p old_len:u new_len:u flags:R new_addr:p" },
	{ "msync", "start:p len:u flags:Y" },
	{ "munlock", "start:p len:u" },
	{ "munmap", "addr:p len:u" },
	{ "nanosleep", "request:p remain:p" },
	{ "newfstatat", "dfd:D filename:p statbuf:p flags:A" },
	{ "open", "filename:p flags:O mode:m" },
	{ "openat", "dfd:D filename:p flags:O mode:m" },
	{ "openat2", "dfd:D filename:p how:p size:u" },
	{ "perf_event_open", "attr:p pid:d cpu:d group_fd:d flags:x" },
	{ "pidfd_open", "pid:d flags:O" },
	{ "pidfd_send_signal", "pidfd:d sig:S info:p flags:x" },
	{ "pipe", "fds:p" },
	{ "pipe2", "fds:p flags:O" },
	{ "poll", "fds:p nfds:u timeout:d" },
	{ "ppoll", "fds:p nfds:u timeout:p sigmask:p size:u" },
	{ "prctl", "option:d arg2:x arg3:x arg4:x arg5:x" },
	{ "pread64", "fd:d buf:p count:u pos:u" },
	{ "preadv", "fd:d vec:p vlen:u pos_low:u pos_high:u" },
	{ "prlimit64", "pid:d resource:L new_rlim:p old_rlim:p" },
	{ "pselect6", "n:d in:p out:p ex:p timeout:p sig:p" },
	{ "ptrace", "request:d pid:d addr:x data:x" },
	{ "pwrite64", "fd:d buf:p count:u pos:u" },
	{ "pwritev", "fd:d vec:p vlen:u pos_low:u pos_high:u" },
	{ "read", "fd:d buf:p count:u" },
	{ "readahead", "fd:d offset:u count:u" },
	{ "readlink", "path:p buf:p size:d" },
	{ "readlinkat", "dfd:D path:p buf:p size:d" },
	{ "readv", "fd:d vec:p vlen:u" },
	{ "reboot", "magic1:x magic2:x cmd:x arg:p" },
	{ "recvfrom", "fd:d buf:p size:u flags:B addr:p addrlen:p" },
	{ "recvmmsg", "fd:d msgs:p vlen:u flags:B timeout:p" },
	{ "recvmsg", "fd:d msg:p flags:B" },
	{ "rename", "oldname:p newname:p" },
	{ "renameat", "olddfd:D oldname:p newdfd:D newname:p" },
	{ "renameat2", "olddfd:D oldname:p newdfd:D newname:p flags:x" },
	{ "rmdir", "pathname:p" },
	{ "rt_sigaction", "sig:S act:p oact:p size:u" },
	{ "rt_sigpending", "set:p size:u" },
	{ "rt_sigprocmask", "how:h set:p oset:p size:u" },
	{ "rt_sigqueueinfo", "pid:d sig:S info:p" },
	{ "rt_sigsuspend", "set:p size:u" },
	{ "rt_sigtimedwait", "set:p info:p timeout:p size:u" },
	{ "rt_tgsigqueueinfo", "tgid:d pid:d sig:S info:p" },
	{ "sched_getaffinity", "pid:d len:u mask:p" },
	{ "sched_setaffinity", "pid:d len:u mask:p" },
	{ "sched_setscheduler", "pid:d policy:s param:p" },
	{ "select", "n:d in:p out:p ex:p timeout:p" },
	{ "sendfile", "out_fd:d in_fd:d offset:p count:u" },
	{ "sendmmsg", "fd:d msgs:p vlen:u flags:B" },
	{ "sendmsg", "fd:d msg:p flags:B" },
	{ "sendto", "fd:d buf:p size:u flags:B addr:p addrlen:u" },
	{ "setitimer", "which:i value:p ovalue:p" },
	{ "setpgid", "pid:d pgid:d" },
	{ "setpriority", "which:d who:d nice:d" },
	{ "setrlimit", "resource:L rlim:p" },
	{ "setsockopt", "fd:d level:d optname:d optval:p optlen:u" },
	{ "setuid", "uid:d" },
	{ "shutdown", "fd:d how:H" },
	{ "sigaltstack", "ss:p oss:p" },
	{ "signalfd4", "fd:d mask:p size:u flags:O" },
	{ "socket", "domain:F type:T protocol:d" },
	{ "socketpair", "domain:F type:T protocol:d fds:p" },
	{ "splice", "fd_in:d off_in:p fd_out:d off_out:p len:u flags:x" },
	{ "stat", "filename:p statbuf:p" },
	{ "statfs", "path:p buf:p" },
	{ "statx", "dfd:D filename:p flags:A mask:x buf:p" },
	{ "symlink", "oldname:p newname:p" },
	{ "symlinkat", "oldname:p newdfd:D newname:p" },
	{ "tgkill", "tgid:d pid:d sig:S" },
	{ "timer_create", "clock:c event:p id:p" },
	{ "timer_settime", "id:d flags:t new:p old:p" },
	{ "timerfd_create", "clock:c flags:O" },
	{ "timerfd_settime", "fd:d flags:t new:p old:p" },
	{ "tkill", "pid:d sig:S" },
	{ "truncate", "path:p length:u" },
	{ "umask", "mask:m" },
	{ "umount2", "name:p flags:x" },
	{ "uname", "name:p" },
	{ "unlink", "pathname:p" },
	{ "unlinkat", "dfd:D pathname:p flags:A" },
	{ "unshare", "flags:C" },
	{ "utimensat", "dfd:D filename:p times:p flags:A" },
	{ "wait4", "pid:d status:p options:W rusage:p" },
	{ "waitid", "which:I id:d info:p options:W rusage:p" },
	{ "write", "fd:d buf:p count:u" },
	{ "writev", "fd:d vec:p vlen:u" },
};

struct set {
	const struct flag *flags;
	size_t nr;
};

#define SET(array) { array, KT_ARRAY_SIZE(array) }

/* By the letter of their kind. */
static const struct set sets[128] = {
	['O'] = SET(open_flags),
	['r'] = SET(access_modes),
	['P'] = SET(protections),
	['M'] = SET(map_flags),
	['R'] = SET(remap_flags),
	['Y'] = SET(sync_flags),
	['a'] = SET(advices),
	['C'] = SET(clone_flags),
	['A'] = SET(at_flags),
	['W'] = SET(wait_options),
	['I'] = SET(wait_ids),
	['w'] = SET(whences),
	['F'] = SET(domains),
	['T'] = SET(socket_types),
	['B'] = SET(message_flags),
	['H'] = SET(shutdowns),
	['f'] = SET(futex_ops),
	['n'] = SET(fcntl_commands),
	['l'] = SET(flock_operations),
	['e'] = SET(epoll_operations),
	['V'] = SET(event_flags),
	['c'] = SET(clocks),
	['t'] = SET(timer_flags),
	['i'] = SET(itimers),
	['h'] = SET(mask_hows),
	['L'] = SET(resources),
	['G'] = SET(random_flags),
	['Q'] = SET(memfd_flags),
	['s'] = SET(policies),
};

static const struct set open_arm = SET(open_flags_arm);

static int compare(const void *name, const void *call)
{
	return strcmp(name, ((const struct call *)call)->name);
}

/* The line of a call, or NULL. */
static const char *args_of(const struct kt_line *l, const char *name, bool i386)
{
	bool x86 = !strcmp(l->info->machine, "x86_64") && !i386;
	const struct call *c;

	/* The first mmap() of i386 took a structure. */
	if (i386 && !strcmp(name, "mmap"))
		return "args:p";
	if (!x86 && !strcmp(name, "clone"))
		return "flags:C newsp:p parent_tid:p tls:p child_tid:p";
	c = bsearch(name, calls, KT_ARRAY_SIZE(calls), sizeof(calls[0]),
		    compare);
	return c ? c->args : NULL;
}

static char *put_flags(char *p, const struct set *set, uint32_t value)
{
	uint32_t rest = value;
	unsigned int names = 0;

	for (size_t i = 0; i < set->nr && names < FLAGS_MAX; i++) {
		const struct flag *f = &set->flags[i];

		if ((rest & f->mask) != f->value)
			continue;
		if (names++)
			p = kt_put_char(p, '|');
		p = kt_put_str(p, f->name);
		rest &= ~f->mask;
		if (f->mask == ALL)
			return p;
	}
	if (names && !rest)
		return p;
	if (names)
		p = kt_put_char(p, '|');
	return rest ? kt_put_hex(p, rest) : kt_put_char(p, '0');
}

static char *put_octal(char *p, uint32_t value)
{
	char digits[16];
	char *at = digits + sizeof(digits);

	for (; value; value >>= 3)
		*--at = (char)('0' + (value & 7));
	p = kt_put_char(p, '0');
	return kt_put_mem(p, at, (size_t)(digits + sizeof(digits) - at));
}

/* A value that is no set of flags and no plain number. */
static char *put_word(char *p, char kind, uint64_t value)
{
	const char *name;

	switch (kind) {
	case 'm':
		return put_octal(p, (uint32_t)value);
	case 'D':
		if ((int32_t)value == AT_FDCWD_VALUE)
			return kt_put_str(p, "AT_FDCWD");
		return kt_put_s64(p, (int32_t)value);
	case 'S':
		name = ktape_value_name(KTAPE_TYPE_SIGNAL, value);
		return name ? kt_put_str(p, name) : kt_put_u64(p, value);
	case 'p':
		return value ? kt_put_hex(p, value) : kt_put_str(p, "NULL");
	default:
		return kt_put_hex(p, value);
	}
}

static char *put_arg(char *p, const struct kt_line *l, char kind,
		     uint64_t value, bool narrow)
{
	const struct set *set = &sets[(unsigned char)kind & 127];

	/* Offsets have 64 bits, descriptors and the like have 32. */
	if (kind == 'd' && (narrow || value >> 31 == 1 ||
			    value >> 32 == UINT32_MAX))
		return kt_put_s64(p, (int32_t)value);
	if (kind == 'd')
		return kt_put_s64(p, (int64_t)value);
	if (kind == 'u')
		return kt_put_u64(p, value);
	if (kind == 'O' && !strcmp(l->info->machine, "aarch64"))
		set = &open_arm;
	if (l->json)
		p = kt_put_char(p, '"');
	p = set->nr ? put_flags(p, set, (uint32_t)value)
		    : put_word(p, kind, value);
	return l->json ? kt_put_char(p, '"') : p;
}

/* All arguments of @spec; @values are 6 of 64 bits. */
static char *put_args(char *p, const struct kt_line *l, const char *spec,
		      const uint8_t *values, bool narrow)
{
	p = kt_put_char(p, l->json ? '{' : '(');
	for (unsigned int i = 0; i < ARGS && *spec; i++) {
		size_t len = strcspn(spec, ":");

		if (i)
			p = l->json ? kt_put_char(p, ',')
				    : kt_put_mem(p, ", ", 2);
		if (l->json)
			p = kt_put_char(p, '"');
		p = kt_put_mem(p, spec, len);
		p = l->json ? kt_put_mem(p, "\":", 2) : kt_put_char(p, '=');
		p = put_arg(p, l, spec[len + 1], kt_get64(values + i * 8),
			    narrow);
		spec += len + 2;
		spec += *spec == ' ';
	}
	return kt_put_char(p, l->json ? '}' : ')');
}

/*
 * A wide record's system call with its arguments.  They are the last 6 values
 * of its blob.
 */
char *kt_show_call(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	size_t skip = e->opcode == KTAPE_EV_SYS_EXIT_WIDE ? 8 : 0;
	const char *name = kt_syscall_of(l, e->dat20 & 0xffff);
	bool compat = e->dat20 >> 16 & 1;
	const char *spec;
	bool i386;

	if (!name)
		return p;
	i386 = compat && !strcmp(l->info->machine, "x86_64");
	spec = args_of(l, name, i386 || l->info->machine[0] == 'i');
	if (!spec)
		return p;
	p = kt_show_key(p, l, "call");
	if (!l->json)
		p = kt_put_str(p, name);
	return put_args(p, l, spec, (const uint8_t *)e->blob + skip, compat);
}
