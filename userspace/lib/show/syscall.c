// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Put the arguments of system calls with their names and flags.
 *
 * The signature of a call is a text of words NAME:KIND (syscall_calls.h).  Kinds:
 *
 *	d  int			U  unsigned int		m  mode in octal
 *	o  long, signed		u  unsigned long	D  directory descriptor
 *	x  hexadecimal		X  low 32 bits of x	S  signal
 *	p  pointer		1  socket option (its level is the argument before)
 *
 * All other letters are sets of flags, see sets[].
 */
#include "show/line.h"
#include "show/syscall_calls.h"
#include "show/syscall_flags.h"
#include "show/syscall_options.h"

#define ARGS 6
/* Most flag names of one value; the rest is put as a number. */
#define FLAGS_MAX      24
#define AT_FDCWD_VALUE (-100)

/*
 * Calls with other arguments in 32-bit programs, because a 64-bit value takes two
 * registers.  They are valid for i386.  Other machines align these pairs differently,
 * so the arguments of these calls are not shown for them.  Sorted by name.
 */
static const struct call narrow_calls[] = {
	{ "fadvise64", "fd:d offset_low:X offset_high:X len:u advice:v" },
	{ "fadvise64_64",
	  "fd:d offset_low:X offset_high:X len_low:X len_high:X advice:v" },
	{ "fallocate", "fd:d mode:K offset_low:X offset_high:X len_low:X len_high:X" },
	{ "fanotify_mark", "fd:d flags:X mask_low:X mask_high:X dfd:D pathname:p" },
	{ "ftruncate64", "fd:d length_low:X length_high:X" },
	{ "lookup_dcookie", "cookie_low:X cookie_high:X buf:p len:u" },
	{ "mmap", "args:p" },
	{ "pread64", "fd:d buf:p count:u pos_low:X pos_high:X" },
	{ "pwrite64", "fd:d buf:p count:u pos_low:X pos_high:X" },
	{ "readahead", "fd:d offset_low:X offset_high:X count:u" },
	{ "select", "args:p" },
	{ "sync_file_range",
	  "fd:d offset_low:X offset_high:X len_low:X len_high:X flags:|" },
	{ "truncate64", "path:p length_low:X length_high:X" },
};

/* Suffixes of calls that have the same arguments as the call without the suffix. */
static const char *const endings[] = { "_time64", "64", "32" };

struct set {
	const struct flag *flags;
	size_t nr;
};

#define SET(array)                          \
	{                                   \
		array, KT_ARRAY_SIZE(array) \
	}

/* Sets of flags by the letter of the kind. */
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
	['E'] = SET(cloexec_flags),
	['/'] = SET(timerfd_flags),
	['~'] = SET(timerfd_settings),
	[';'] = SET(epoll_flags),
	['['] = SET(signalfd_flags),
	[']'] = SET(inotify_flags),
	['<'] = SET(pidfd_flags),
	['b'] = SET(access_flags),
	['{'] = SET(name_space_flags),
	['g'] = SET(mount_flags),
	['y'] = SET(umount_flags),
	['j'] = SET(rename_flags),
	['_'] = SET(splice_flags),
	['z'] = SET(close_range_flags),
	['J'] = SET(statx_mask),
	['K'] = SET(fallocate_modes),
	['v'] = SET(file_advices),
	['|'] = SET(range_flags),
	['-'] = SET(io_flags),
	['+'] = SET(lock_flags),
	[','] = SET(lock_all_flags),
	['='] = SET(mem_policies),
	['#'] = SET(module_flags),
	[')'] = SET(fs_flags),
	['('] = SET(fs_mount_flags),
	['5'] = SET(mount_attributes),
	['6'] = SET(fs_commands),
	['8'] = SET(xattr_flags),
	['@'] = SET(inotify_mask),
	['9'] = SET(who_kinds),
	['!'] = SET(usages),
	['7'] = SET(barriers),
	['%'] = SET(ipc_commands),
	['?'] = SET(compare_types),
	['$'] = SET(perf_flags),
	['2'] = SET(seccomp_operations),
	['"'] = SET(seccomp_flags),
	['4'] = SET(rule_types),
	['k'] = SET(keyrings),
	['3'] = SET(key_operations),
	['&'] = SET(ring_enter_flags),
	['*'] = SET(ring_operations),
	['^'] = SET(arch_options),
	['N'] = SET(prctl_options),
	['q'] = SET(trace_requests),
	['`'] = SET(bpf_commands),
	['Z'] = SET(socket_levels),
	['}'] = SET(socket_calls),
};

static const struct set open_arm = SET(open_flags_arm);

/* Socket options by level. */
static const struct {
	uint32_t level;
	struct set set;
} levels[] = {
	{ 0, SET(ip_options) },
	{ 1, SET(socket_options) },
	{ 6, SET(tcp_options) },
	{ 41, SET(ipv6_options) },
};

/* A call: its signature @spec and its 6 arguments at @values, of 32 bits if @narrow. */
struct call_args {
	const struct kt_line *l;
	const char *spec;
	const uint8_t *values;
	bool narrow;
};

static int compare_name(const void *name, const void *call)
{
	return strcmp(name, ((const struct call *)call)->name);
}

static const char *find_syscall_call(const struct call *list, size_t nr,
				     const char *name)
{
	const struct call *c = bsearch(name, list, nr, sizeof(*list), compare_name);

	return c ? c->args : NULL;
}

/* Return the signature of a call with a suffix of 32-bit programs, or NULL. */
static const char *find_without_ending(const char *name)
{
	size_t len = strlen(name), end;
	char plain[64];

	for (size_t i = 0; i < KT_ARRAY_SIZE(endings); i++) {
		end = strlen(endings[i]);
		if (len <= end || len - end >= sizeof(plain) ||
		    strcmp(name + len - end, endings[i]))
			continue;
		memcpy(plain, name, len - end);
		plain[len - end] = '\0';
		return find_syscall_call(calls, KT_ARRAY_SIZE(calls), plain);
	}
	return NULL;
}

/* Check whether native calls of a machine have arguments of 32 bits. */
static bool is_narrow_machine(const char *machine)
{
	return machine[0] == 'i' || !strncmp(machine, "arm", 3);
}

/* Return the signature of a call, or NULL. */
static const char *find_signature(const struct kt_line *l, const char *name,
				  bool compat)
{
	bool x86_64 = !strcmp(l->info->machine, "x86_64");
	bool i386 = x86_64 ? compat : l->info->machine[0] == 'i';
	bool narrow = compat || is_narrow_machine(l->info->machine);
	const char *spec = NULL;

	if (narrow)
		spec = find_syscall_call(narrow_calls,
					 KT_ARRAY_SIZE(narrow_calls), name);
	if (spec)
		return i386 ? spec : NULL;
	/* Only x86-64 has child_tid before tls. */
	if ((!x86_64 || compat) && !strcmp(name, "clone"))
		return "flags:C newsp:p parent_tid:p tls:p child_tid:p";
	spec = find_syscall_call(calls, KT_ARRAY_SIZE(calls), name);
	return spec || !narrow ? spec : find_without_ending(name);
}

/* Put the names of a value's flags with "|" between them, and what has no name as a number. */
static char *put_syscall_flags(char *p, const struct set *set, uint32_t value)
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

/* Put a value that is neither a set of flags nor a plain number. */
static char *put_syscall_word(char *p, char kind, uint64_t value)
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
		name = ktape_value_name(KTAPE_TYPE_SIGNAL, (uint32_t)value);
		return name ? kt_put_str(p, name) : kt_put_s64(p, (int32_t)value);
	case 'X':
		return kt_put_hex(p, (uint32_t)value);
	case 'p':
		return value ? kt_put_hex(p, value) : kt_put_str(p, "NULL");
	default:
		return kt_put_hex(p, value);
	}
}

/* Return the names of the socket option in argument @nr, by the level before it. */
static const struct set *options_of(const struct call_args *m, unsigned int nr)
{
	uint32_t level = nr ? kt_get32(m->values + (nr - 1) * 8) : UINT32_MAX;

	for (size_t i = 0; i < KT_ARRAY_SIZE(levels); i++) {
		if (levels[i].level == level)
			return &levels[i].set;
	}
	return NULL;
}

/* Put a plain number.  Return: the end, or NULL if @kind is not a plain number. */
static char *put_syscall_number(char *p, char kind, uint64_t value, bool narrow)
{
	switch (kind) {
	case 'd':
		return kt_put_s64(p, (int32_t)value);
	case 'o':
		return kt_put_s64(p, narrow ? (int32_t)value : (int64_t)value);
	case 'U':
		return kt_put_u64(p, (uint32_t)value);
	case 'u':
		return kt_put_u64(p, narrow ? (uint32_t)value : value);
	default:
		return NULL;
	}
}

static char *put_arg(char *p, const struct call_args *m, char kind, unsigned int nr)
{
	const struct set *set = &sets[(unsigned char)kind & 127];
	uint64_t value = kt_get64(m->values + nr * 8);
	char *end = put_syscall_number(p, kind, value, m->narrow);

	if (end)
		return end;
	if (kind == 'O' && (!strcmp(m->l->info->machine, "aarch64") ||
			    !strncmp(m->l->info->machine, "arm", 3)))
		set = &open_arm;
	if (kind == '1')
		set = options_of(m, nr);
	/* A socket option of an unknown level. */
	if (!set)
		return kt_put_s64(p, (int32_t)value);
	if (m->l->json)
		p = kt_put_char(p, '"');
	p = set->nr ? put_syscall_flags(p, set, (uint32_t)value) :
		      put_syscall_word(p, kind, value);
	return m->l->json ? kt_put_char(p, '"') : p;
}

/* Put all arguments. */
static char *put_syscall_args(char *p, const struct call_args *m)
{
	const char *spec = m->spec;
	bool json = m->l->json;

	p = kt_put_char(p, json ? '{' : '(');
	for (unsigned int i = 0; i < ARGS && *spec; i++) {
		size_t len = strcspn(spec, ":");

		if (i)
			p = json ? kt_put_char(p, ',') : kt_put_mem(p, ", ", 2);
		if (json)
			p = kt_put_char(p, '"');
		p = kt_put_mem(p, spec, len);
		p = json ? kt_put_mem(p, "\":", 2) : kt_put_char(p, '=');
		p = put_arg(p, m, spec[len + 1], i);
		spec += len + 2;
		spec += *spec == ' ';
	}
	return kt_put_char(p, json ? '}' : ')');
}

/*
 * Put the system call of a sys_enter_wide or sys_exit_wide with its arguments, which are the last 6
 * values of the blob; sys_exit_wide has the result before them.
 */
char *kt_show_call(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	size_t skip = e->opcode == KTAPE_EV_SYS_EXIT_WIDE ? 8 : 0;
	const char *name = kt_syscall_of(l, e->dat20 & KT_CALL_NR);
	bool compat = e->dat20 & KT_CALL_COMPAT;
	struct call_args m = {
		.l = l,
		.values = (const uint8_t *)e->blob + skip,
		.narrow = compat || is_narrow_machine(l->info->machine),
	};

	if (!name)
		return p;
	m.spec = find_signature(l, name, compat);
	if (!m.spec)
		return p;
	p = kt_show_key(p, l, "call");
	if (!l->json)
		p = kt_put_str(p, name);
	return put_syscall_args(p, &m);
}
