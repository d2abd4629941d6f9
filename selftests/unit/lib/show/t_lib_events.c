// SPDX-License-Identifier: GPL-2.0-only
/* Test exceptions, user events, code words and system calls as lines of text. */
#include <ktape/mark.h>

#include "lib_lines.h"
#include "tap.h"

static struct lines l;

static void check_event_lines(const struct line *lines, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && !tap_why[0]; i++)
		lines_check(&l, &lines[i]);
	tap_note("%u events", i);
}

/* 0x6540: formats of the four arguments of "typed", the first lowest: S8, S32, U32, X32. */
static const struct object named[] = {
	{ 1, KTAPE_OBJ_EXCEPTION, 0x1234, 0, 0, 0, 0, "driver" },
	{ 1, KTAPE_OBJ_USER_EVENT, 7, 0x6540, 4, 0, 0, "typed" },
	{ 1, KTAPE_OBJ_FUNCTION, 0xf00d, 0x1a, 0, 0, 0, "work_fn" },
};

static const struct line exceptions[] = {
	{ { .opcode = KTAPE_EV_EXCEPTION,
	    .dat20 = KTAPE_SW_SEVERITY2,
	    .nargs = 1,
	    .args = { 0x1234 << 8 | 3 },
	    .blob = "",
	    .size = 0 },
	  "severity=SW2 code=0x1234.3 (driver) args=[]",
	  "\"severity\":\"SW2\",\"major\":4660,\"minor\":3,\"major_name\":\"driver\",\"args\":[]" },
	{ { .opcode = KTAPE_EV_EXCEPTION,
	    .dat20 = KTAPE_HW_SEVERITY3 | 8,
	    .nargs = 7,
	    .args = { 0x99 << 8 | 255, 1, 2, 3, 4, 5, 6 },
	    .blob = "\1\xff",
	    .size = 2 },
	  "severity=HW3 code=0x99.255 args=[0x1 0x2 0x3 0x4 0x5 0x6] data=01ff",
	  "\"severity\":\"HW3\",\"major\":153,\"minor\":255,\"args\":[\"0x1\",\"0x2\",\"0x3\",\"0x4\",\"0x5\",\"0x6\"],\"data\":\"01ff\"" },
	{ { .opcode = KTAPE_EV_EXCEPTION,
	    .dat20 = 8,
	    .nargs = 2,
	    .args = { 0xffff02U << 8, 5 },
	    .blob = "",
	    .size = 0 },
	  "severity=SW0 code=0xffff02.0 (ras) args=[0x5] data=",
	  "\"severity\":\"SW0\",\"major\":16776962,\"minor\":0,\"major_name\":\"ras\",\"args\":[\"0x5\"],\"data\":\"\"" },
	{ { .opcode = KTAPE_EV_EXCEPTION, .blob = "", .size = 0 },
	  "severity=SW0 args=[]",
	  "\"severity\":\"SW0\",\"args\":[]" },
};

/* Each format as a byte, some with a width in its upper half, and a value behind it. */
#define TYPED                  \
	"\x40"                 \
	"\xfe"                 \
	"\x01"                 \
	"\xfe"                 \
	"\x02"                 \
	"\xfe\xff"             \
	"\x03"                 \
	"\xfe\xff"             \
	"\x04"                 \
	"\xfe\xff\xff\xff"     \
	"\x05"                 \
	"\xfe\xff\xff\xff"     \
	"\x66"                 \
	"\x2a\0\0\0"           \
	"\x07"                 \
	"a\"b\0"               \
	"\x08"                 \
	"\x02\x0a\x0b"         \
	"\x09"                 \
	"\x11\0\0\0\0\0\0\0"   \
	"\x0a"                 \
	"\x0d\xf0\0\0\0\0\0\0" \
	"\x0b"                 \
	"\x09\0\0\0"

static const struct line users[] = {
	{ { .opcode = KTAPE_EV_USER_EVENT,
	    .dat20 = 1,
	    .nargs = 6,
	    .args = { 7, 0xfe, 0xfffffffe, 5, 0x2a, 0x10 },
	    .blob = "",
	    .size = 0 },
	  "task=1 id=7 (typed) args=[-2 -2 5 0x2a 0x10]",
	  "\"task\":true,\"id\":7,\"id_name\":\"typed\",\"args\":[-2,-2,5,\"0x2a\",\"0x10\"]" },
	{ { .opcode = KTAPE_EV_USER_EVENT,
	    .nargs = 1,
	    .args = { 8 },
	    .blob = TYPED,
	    .size = sizeof(TYPED) - 1 },
	  "task=0 id=8 args=[] typed=[  -2 254 -2 65534 -2 4294967294 0x00002a \"a\\\"b\" 0a0b 0x11 work_fn+0x1a 9]",
	  "\"task\":false,\"id\":8,\"args\":[],\"typed\":[-2,254,-2,65534,-2,4294967294,\"0x2a\",\"a\\\"b\",\"0a0b\",\"0x11\",\"work_fn+0x1a\",9]" },
	{ { .opcode = KTAPE_EV_USER_EVENT,
	    .nargs = 1,
	    .args = { 8 },
	    .blob = "\x01\x05\x04\x01\x02",
	    .size = 5 }, /* truncated */
	  "task=0 id=8 args=[] typed=[5 040102]",
	  "\"task\":false,\"id\":8,\"args\":[],\"typed\":[5,\"040102\"]" },
	{ { .opcode = KTAPE_EV_USER_EVENT,
	    .nargs = 1,
	    .args = { 8 },
	    .blob = "\x07"
		    "abc",
	    .size = 4 }, /* a string without an end */
	  "task=0 id=8 args=[] typed=[07616263]",
	  "\"task\":false,\"id\":8,\"args\":[],\"typed\":[\"07616263\"]" },
	{ { .opcode = KTAPE_EV_TRACE_EVENT,
	    .nargs = 1,
	    .args = { 2U << 29 | 1U << 28 | 0x12345U << 8 | 200 },
	    .blob = "\1\0\0\0\2\0\0\0\xaa",
	    .size = 9 },
	  "code=0x512345c8 opcode=200 dat20=0x12345 args=[0x1 0x2] data=aa",
	  "\"code\":\"0x512345c8\",\"opcode\":200,\"dat20\":\"0x12345\",\"args\":[\"0x1\",\"0x2\"],\"data\":\"aa\"" },
	{ { .opcode = KTAPE_EV_TRACE_EVENT,
	    .nargs = 1,
	    .args = { 7U << 29 | 200 },
	    .blob = "\1\0\0\0",
	    .size = 4 },
	  "code=0xe00000c8 opcode=200 dat20=0x0 args=[0x1]",
	  "\"code\":\"0xe00000c8\",\"opcode\":200,\"dat20\":\"0x0\",\"args\":[\"0x1\"]" },
};

static void test_users(void)
{
	unsigned int i;

	lines_start(&l);
	for (i = 0; i < ARRAY_SIZE(named); i++)
		lines_object(&l, &named[i]);
	check_event_lines(exceptions, ARRAY_SIZE(exceptions));
	if (!tap_why[0])
		check_event_lines(users, ARRAY_SIZE(users));
	lines_end(&l);
}

/* ---- system calls -------------------------------------------------------------- */

#define COMPAT (1U << 16)
#define X32    (1U << 17)
#define LARGE  (1U << 18)

static const struct line calls[] = {
	{ { .opcode = KTAPE_EV_SYS_ENTER, .dat20 = 39 },
	  "nr=39 (getpid) compat=0 x32=0 large=0",
	  "\"nr\":39,\"nr_name\":\"getpid\",\"compat\":false,\"x32\":false,\"large\":false" },
	{ { .opcode = KTAPE_EV_SYS_ENTER, .dat20 = 20 | COMPAT },
	  "nr=20 (getpid) compat=1 x32=0 large=0",
	  "\"nr\":20,\"nr_name\":\"getpid\",\"compat\":true,\"x32\":false,\"large\":false" },
	{ { .opcode = KTAPE_EV_SYS_ENTER, .dat20 = 512 | X32 },
	  "nr=512 (rt_sigaction) compat=0 x32=1 large=0",
	  "\"nr\":512,\"nr_name\":\"rt_sigaction\",\"compat\":false,\"x32\":true,\"large\":false" },
	{ { .opcode = KTAPE_EV_SYS_ENTER,
	    .dat20 = 0xffff | LARGE,
	    .nargs = 1,
	    .args = { 0xffffffff } },
	  "nr=65535 compat=0 x32=0 large=1 full=-1",
	  "\"nr\":65535,\"compat\":false,\"x32\":false,\"large\":true,\"full\":-1" },
	{ { .opcode = KTAPE_EV_SYS_EXIT,
	    .dat20 = 257,
	    .nargs = 2,
	    .args = { (uint32_t)-2, (uint32_t)-1 } },
	  "nr=257 (openat) compat=0 x32=0 large=0 ret=-2 error=ENOENT",
	  "\"nr\":257,\"nr_name\":\"openat\",\"compat\":false,\"x32\":false,\"large\":false,\"ret\":\"-2\",\"error\":\"ENOENT\"" },
	{ { .opcode = KTAPE_EV_SYS_EXIT,
	    .dat20 = 9,
	    .nargs = 2,
	    .args = { 0, (uint32_t)-1 } }, /* large, but not an error */
	  "nr=9 (mmap) compat=0 x32=0 large=0 ret=-4294967296",
	  "\"nr\":9,\"nr_name\":\"mmap\",\"compat\":false,\"x32\":false,\"large\":false,\"ret\":\"-4294967296\"" },
	{ { .ts = 9000,
	    .opcode = KTAPE_EV_SYS_SPAN,
	    .dat20 = 0,
	    .nargs = 4,
	    .args = { (uint32_t)-4, (uint32_t)-1, 8000, 0 } },
	  "nr=0 (read) compat=0 x32=0 large=0 ret=-4 start=0.000008000 error=EINTR duration_ns=1000",
	  "\"nr\":0,\"nr_name\":\"read\",\"compat\":false,\"x32\":false,\"large\":false,\"ret\":\"-4\",\"start\":\"8000\",\"error\":\"EINTR\",\"duration_ns\":1000" },
	{ { .opcode = KTAPE_EV_SYS_PATH,
	    .dat20 = 59 | 1U << 18,
	    .blob = "/bin/sh",
	    .size = 7 },
	  "nr=59 (execve) compat=0 x32=0 cut=1 path=/bin/sh",
	  "\"nr\":59,\"nr_name\":\"execve\",\"compat\":false,\"x32\":false,\"cut\":true,\"path\":\"/bin/sh\"" },
};

static void test_syscall_lines(void)
{
	lines_start(&l);
	check_event_lines(calls, ARRAY_SIZE(calls));
	lines_end(&l);
}

/*
 * A wide record, and its last field as text and as JSON.  @text: NULL: no such field is shown;
 * @json: NULL: it is not checked.
 */
static const struct {
	const char *machine;
	uint32_t dat20;
	uint64_t args[6];
	const char *text;
	const char *json;
} wides[] = {
	{ "x86_64",
	  257,
	  { (uint32_t)-100, 0x7f00, 02000000 | 0100, 0644 },
	  "openat(dfd=AT_FDCWD, filename=0x7f00, flags=O_RDONLY|O_CREAT|O_CLOEXEC, mode=0644)",
	  "{\"dfd\":\"AT_FDCWD\",\"filename\":\"0x7f00\",\"flags\":\"O_RDONLY|O_CREAT|O_CLOEXEC\",\"mode\":\"0644\"}" },
	{ "x86_64",
	  257,
	  { 3, 0, 04010002 | 0x80000000, 0 },
	  "openat(dfd=3, filename=NULL, flags=O_RDWR|O_SYNC|0x80000000, mode=0)",
	  "{\"dfd\":\"3\",\"filename\":\"NULL\",\"flags\":\"O_RDWR|O_SYNC|0x80000000\",\"mode\":\"0\"}" },
	{ "x86_64",
	  2,
	  { 1, 0200000 },
	  "open(filename=0x1, flags=O_RDONLY|O_DIRECTORY, mode=0)",
	  NULL },
	{ "x86_64",
	  9,
	  { 0, 4096, 3, 0x22, (uint64_t)-1, 0 },
	  "mmap(addr=NULL, len=4096, prot=PROT_READ|PROT_WRITE, flags=MAP_PRIVATE|MAP_ANONYMOUS, fd=-1, off=0x0)",
	  "{\"addr\":\"NULL\",\"len\":4096,\"prot\":\"PROT_READ|PROT_WRITE\",\"flags\":\"MAP_PRIVATE|MAP_ANONYMOUS\",\"fd\":-1,\"off\":\"0x0\"}" },
	{ "x86_64",
	  10,
	  { 0x1000, 1, 0 },
	  "mprotect(start=0x1000, len=1, prot=PROT_NONE)",
	  NULL },
	{ "x86_64",
	  56,
	  { 0x1200011, 0, 0, 5, 0 },
	  "clone(flags=SIGCHLD|CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID, newsp=NULL, parent_tid=NULL, child_tid=0x5, tls=NULL)",
	  NULL },
	{ "x86_64", 62, { (uint32_t)-5, 9 }, "kill(pid=-5, sig=SIGKILL)", NULL },
	{ "x86_64",
	  41,
	  { 2, 1 | 04000 | 02000000, 0 },
	  "socket(domain=AF_INET, type=SOCK_STREAM|SOCK_NONBLOCK|SOCK_CLOEXEC, protocol=0)",
	  NULL },
	{ "x86_64", 41, { 77, 9, 0 }, "socket(domain=0x4d, type=0x9, protocol=0)", NULL },
	{ "x86_64",
	  202,
	  { 1, 128, 2, 0, 0, 0 },
	  "futex(uaddr=0x1, op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG, val=2, timeout=NULL, uaddr2=NULL, val3=0)",
	  NULL },
	{ "x86_64", 21, { 1, 0 }, "access(filename=0x1, mode=F_OK)", NULL },
	{ "x86_64",
	  233,
	  { 4, 1, 5, 6 },
	  "epoll_ctl(epfd=4, op=EPOLL_CTL_ADD, fd=5, event=0x6)",
	  NULL },
	{ "x86_64",
	  5 | COMPAT,
	  { 1, 1, 0 },
	  "open(filename=0x1, flags=O_WRONLY, mode=0)",
	  NULL },
	{ "x86_64", 90 | COMPAT, { 0xbfff, 0 }, "mmap(args=0xbfff)", NULL },
	{ "x86_64",
	  120 | COMPAT,
	  { 17, 0, 0, 5, 6 },
	  "clone(flags=SIGCHLD, newsp=NULL, parent_tid=NULL, tls=0x5, child_tid=0x6)",
	  NULL },
	{ "x86_64", 39, { 1, 2 }, "getpid()", "{}" },
	/* int, unsigned int, off_t and size_t. */
	{ "x86_64",
	  8,
	  { 3, 0xc0000000, 0 },
	  "lseek(fd=3, offset=3221225472, whence=SEEK_SET)",
	  "{\"fd\":3,\"offset\":3221225472,\"whence\":\"SEEK_SET\"}" },
	{ "x86_64",
	  8,
	  { 0x7fffffff00000003, (uint64_t)-5, 2 },
	  "lseek(fd=3, offset=-5, whence=SEEK_END)",
	  NULL },
	{ "x86_64", 62, { 1, 0x100000009 }, "kill(pid=1, sig=SIGKILL)", NULL },
	{ "x86_64", 62, { 1, 0x1ffffffff }, "kill(pid=1, sig=-1)", NULL },
	{ "x86_64",
	  7,
	  { 1, 0x100000002, (uint32_t)-1 },
	  "poll(fds=0x1, nfds=2, timeout=-1)",
	  NULL },
	{ "x86_64",
	  17,
	  { 1, 2, 1ULL << 63, 1ULL << 62 },
	  "pread64(fd=1, buf=0x2, count=9223372036854775808, pos=4611686018427387904)",
	  NULL },
	/* The same bits have other names in another context. */
	{ "x86_64",
	  439,
	  { 3, 1, 4, 0x1200 },
	  "faccessat2(dfd=3, filename=0x1, mode=R_OK, flags=AT_EACCESS|AT_EMPTY_PATH)",
	  NULL },
	{ "x86_64",
	  263,
	  { 3, 1, 0x200 },
	  "unlinkat(dfd=3, pathname=0x1, flags=AT_REMOVEDIR)",
	  NULL },
	{ "x86_64", 293, { 1, 0 }, "pipe2(fds=0x1, flags=0)", NULL },
	{ "x86_64", 293, { 1, 02040000 }, "pipe2(fds=0x1, flags=O_DIRECT|O_CLOEXEC)", NULL },
	{ "x86_64", 293, { 1, 01200 }, "pipe2(fds=0x1, flags=O_NOTIFICATION_PIPE|0x200)", NULL },
	{ "x86_64",
	  283,
	  { 1, 02004000 },
	  "timerfd_create(clock=CLOCK_MONOTONIC, flags=TFD_NONBLOCK|TFD_CLOEXEC)",
	  NULL },
	{ "x86_64", 291, { 0 }, "epoll_create1(flags=0)", NULL },
	{ "x86_64", 291, { 02000000 }, "epoll_create1(flags=EPOLL_CLOEXEC)", NULL },
	{ "x86_64", 292, { 3, 4, 0 }, "dup3(oldfd=3, newfd=4, flags=0)", NULL },
	{ "x86_64",
	  289,
	  { (uint64_t)-1, 1, 8, 02000000 },
	  "signalfd4(fd=-1, mask=0x1, size=8, flags=SFD_CLOEXEC)",
	  NULL },
	{ "x86_64", 294, { 04000 }, "inotify_init1(flags=IN_NONBLOCK)", NULL },
	{ "x86_64",
	  434,
	  { 7, 04200 },
	  "pidfd_open(pid=7, flags=PIDFD_THREAD|PIDFD_NONBLOCK)",
	  NULL },
	{ "x86_64", 272, { 0x80 }, "unshare(flags=CLONE_NEWTIME)", NULL },
	{ "x86_64",
	  308,
	  { 4, 0x20000080 },
	  "setns(fd=4, nstype=CLONE_NEWTIME|CLONE_NEWPID)",
	  NULL },
	{ "x86_64",
	  165,
	  { 1, 2, 3, 0x5001, 0 },
	  "mount(dev=0x1, dir=0x2, type=0x3, flags=MS_RDONLY|MS_BIND|MS_REC, data=NULL)",
	  NULL },
	{ "x86_64",
	  332,
	  { 3, 1, 0x1000, 0x7ff | 0x1000, 2 },
	  "statx(dfd=3, filename=0x1, flags=AT_EMPTY_PATH, mask=STATX_BASIC_STATS|STATX_MNT_ID, buf=0x2)",
	  NULL },
	{ "x86_64",
	  285,
	  { 3, 3, 0, 1ULL << 32 },
	  "fallocate(fd=3, mode=FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, offset=0, len=4294967296)",
	  NULL },
	{ "x86_64",
	  157,
	  { 15, 0x7f },
	  "prctl(option=PR_SET_NAME, arg2=0x7f, arg3=0x0, arg4=0x0, arg5=0x0)",
	  NULL },
	{ "x86_64", 98, { (uint32_t)-1, 5 }, "getrusage(who=RUSAGE_CHILDREN, usage=0x5)", NULL },
	{ "x86_64",
	  54,
	  { 3, 1, 2, 5, 4 },
	  "setsockopt(fd=3, level=SOL_SOCKET, optname=SO_REUSEADDR, optval=0x5, optlen=4)",
	  NULL },
	{ "x86_64",
	  54,
	  { 3, 6, 1, 5, 4 },
	  "setsockopt(fd=3, level=SOL_TCP, optname=TCP_NODELAY, optval=0x5, optlen=4)",
	  "{\"fd\":3,\"level\":\"SOL_TCP\",\"optname\":\"TCP_NODELAY\",\"optval\":\"0x5\",\"optlen\":4}" },
	{ "x86_64",
	  55,
	  { 3, 255, 2, 5, 4 },
	  "getsockopt(fd=3, level=SOL_RAW, optname=2, optval=0x5, optlen=0x4)",
	  "{\"fd\":3,\"level\":\"SOL_RAW\",\"optname\":2,\"optval\":\"0x5\",\"optlen\":\"0x4\"}" },
	{ "x86_64",
	  237,
	  { 0, 1, 0x2001, 0, 0, 0 },
	  "mbind(start=NULL, len=1, mode=MPOL_PREFERRED|MPOL_F_NUMA_BALANCING, nmask=NULL, maxnode=0, flags=0x0)",
	  NULL },
	/* Calls that 32-bit programs make differently or under another name. */
	{ "x86_64", 82 | COMPAT, { 5 }, "select(args=0x5)", NULL },
	{ "x86_64",
	  142 | COMPAT,
	  { 5, 1, 0, 0, 0 },
	  "_newselect(n=5, in=0x1, out=NULL, ex=NULL, timeout=NULL)",
	  NULL },
	{ "x86_64",
	  180 | COMPAT,
	  { 3, 1, 9, 0xffffffff, 1 },
	  "pread64(fd=3, buf=0x1, count=9, pos_low=0xffffffff, pos_high=0x1)",
	  NULL },
	{ "x86_64",
	  324 | COMPAT,
	  { 3, 1, 2, 3, 4, 5 },
	  "fallocate(fd=3, mode=FALLOC_FL_KEEP_SIZE, offset_low=0x2, offset_high=0x3, len_low=0x4, len_high=0x5)",
	  NULL },
	{ "x86_64",
	  272 | COMPAT,
	  { 3, 1, 2, 3, 4, 2 },
	  "fadvise64_64(fd=3, offset_low=0x1, offset_high=0x2, len_low=0x3, len_high=0x4, advice=POSIX_FADV_SEQUENTIAL)",
	  NULL },
	{ "x86_64",
	  19 | COMPAT,
	  { 3, (uint32_t)-5, 1 },
	  "lseek(fd=3, offset=-5, whence=SEEK_CUR)",
	  NULL },
	{ "x86_64",
	  422 | COMPAT,
	  { 1, 128, 2, 0, 0, 0 },
	  "futex_time64(uaddr=0x1, op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG, val=2, timeout=NULL, uaddr2=NULL, val3=0)",
	  NULL },
	{ "i686",
	  180,
	  { 3, 1, 9, 7, 1 },
	  "pread64(fd=3, buf=0x1, count=9, pos_low=0x7, pos_high=0x1)",
	  NULL },
	{ "i686", 199, { 0 }, "getuid32()", NULL },
	{ "x86_64", 0xfff, { 0 }, NULL, NULL },
	{ "aarch64",
	  56,
	  { (uint64_t)-100, 1, 040000, 0 },
	  "openat(dfd=AT_FDCWD, filename=0x1, flags=O_RDONLY|O_DIRECTORY, mode=0)",
	  NULL },
	{ "armv7l",
	  322,
	  { (uint32_t)-100, 1, 040000, 0 },
	  "openat(dfd=AT_FDCWD, filename=0x1, flags=O_RDONLY|O_DIRECTORY, mode=0)",
	  NULL },
	{ "armv7l",
	  19,
	  { 3, (uint32_t)-5, 1 },
	  "lseek(fd=3, offset=-5, whence=SEEK_CUR)",
	  NULL },
	{ "armv7l", 199, { 0 }, "getuid32()", NULL },
	{ "armv7l", 180, { 3, 1, 9, 0, 7, 1 }, NULL, NULL },
	{ "riscv64",
	  220,
	  { 17, 0, 0, 0, 0 },
	  "clone(flags=SIGCHLD, newsp=NULL, parent_tid=NULL, tls=NULL, child_tid=NULL)",
	  NULL },
	{ "vax", 1, { 0 }, NULL, NULL },
};

static void check_wide(unsigned int i)
{
	uint64_t blob[7];
	struct one one = {
		.opcode = KTAPE_EV_SYS_ENTER_WIDE,
		.dat20 = wides[i].dat20,
		.nargs = 1,
		.blob = blob,
		.size = 48,
	};
	const char *line, *got;

	strcpy(l.feed.info.machine, wides[i].machine);
	memcpy(blob, wides[i].args, 48);
	l.json = false;
	line = lines_show(&l, &one);
	got = strstr(line, " call=");
	check(!got == !wides[i].text, "%u: %s", i, line);
	check(!got || !strcmp(got + 6, wides[i].text), "%s, not %.150s", got,
	      wides[i].text);
	l.json = true;
	got = strstr(lines_show(&l, &one), ",\"call\":");
	check(!wides[i].json || (got && !strcmp(got + 8, wides[i].json)),
	      "%s, not %.150s", got, wides[i].json);
	/* At the exit the result comes first. */
	one.opcode = KTAPE_EV_SYS_EXIT_WIDE;
	one.size = 56;
	blob[0] = (uint64_t)-14;
	memcpy(blob + 1, wides[i].args, 48);
	l.json = false;
	line = lines_show(&l, &one);
	check(strstr(line, " error=EFAULT"), "%s", line);
	got = strstr(line, " call=");
	check(!got || !strcmp(got + 6, wides[i].text), "%s, not %.150s", got,
	      wides[i].text);
}

static void test_wide(void)
{
	unsigned int i;

	lines_start(&l);
	for (i = 0; i < ARRAY_SIZE(wides) && !tap_why[0]; i++)
		check_wide(i);
	lines_end(&l);
	tap_note("%u calls", i);
}

/* Return true if the kernel has no such call, or will remove it. */
static bool is_unused(const char *name)
{
	static const char *const unused[] = {
		"_sysctl",
		"afs_syscall",
		"arch_specific_syscall",
		"bdflush",
		"break",
		"create_module",
		"epoll_ctl_old",
		"epoll_wait_old",
		"ftime",
		"get_kernel_syms",
		"getpmsg",
		"gtty",
		"idle",
		"lock",
		"mpx",
		"nfsservctl",
		"prof",
		"profil",
		"putpmsg",
		"query_module",
		"security",
		"stty",
		"tuxcall",
		"ulimit",
		"uretprobe",
		"uselib",
		"vm86",
		"vm86old",
		"vserver",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(unused); i++)
		if (!strcmp(unused[i], name))
			return true;
	return false;
}

/* Every call of a table has a line: the library finds its arguments in a list sorted by name. */
static void check_table(const char *machine, bool compat, unsigned int *nr_calls)
{
	uint64_t blob[6];
	struct one one = {
		.opcode = KTAPE_EV_SYS_ENTER_WIDE,
		.nargs = 1,
		.blob = blob,
		.size = sizeof(blob),
	};
	const char *name;
	unsigned int nr;

	strcpy(l.feed.info.machine, machine);
	for (nr = 0; nr < 512; nr++) {
		one.dat20 = nr | (compat ? COMPAT : 0);
		name = ktape_syscall_abi_name(
			machine, compat ? KTAPE_ABI_COMPAT : KTAPE_ABI_NATIVE, nr);
		if (!name || is_unused(name))
			continue;
		++*nr_calls;
		memset(blob, 0, sizeof(blob));
		if (!strstr(lines_show(&l, &one), " call="))
			tap_fail("%s has no line", name);
		/* With all flags set the line still has room. */
		memset(blob, 0xff, sizeof(blob));
		l.json = true;
		if (!strstr(lines_show(&l, &one), "\"call\":"))
			tap_fail("%s has no line", name);
		l.json = false;
	}
}

static void test_order(void)
{
	unsigned int nr = 0;

	lines_start(&l);
	l.json = false;
	check_table("x86_64", false, &nr);
	check_table("x86_64", true, &nr);
	check_table("aarch64", false, &nr);
	lines_end(&l);
	check(nr > 1000, "%u calls", nr);
	tap_note("%u calls", nr);
	check(!strcmp(ktape_errno_name(11), "EAGAIN"), "11");
	check(!strcmp(ktape_errno_name(133), "EHWPOISON"), "133");
	check(!strcmp(ktape_errno_name(512), "ERESTARTSYS"), "512");
	check(!strcmp(ktape_errno_name(516), "ERESTART_RESTARTBLOCK"), "516");
	check(!ktape_errno_name(41), "41 has a name");
	check(!ktape_errno_name(0) && !ktape_errno_name(-1) &&
		      !ktape_errno_name(100000),
	      "no error");
}

static const struct tap_test tests[] = {
	{ "exceptions, user events, code words", test_users },
	{ "system calls of each table, errors, spans", test_syscall_lines },
	{ "arguments of system calls", test_wide },
	{ "every call is found by its name", test_order },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
