// SPDX-License-Identifier: GPL-2.0-only
/* Test filters: a text becomes the same filter again after it was written, or an error. */
#include <errno.h>
#include <unistd.h>

#include <ktape.h>

#include "tap.h"

static bool is_x86;

/* Parse @text. Return: the filter as text again, to be freed; NULL: it is refused. */
static char *print_parsed_filter(unsigned int kind, const char *text,
				 struct ktape_error *error)
{
	struct ktape_filter_value v;
	char *copy = strdup(text), *out = NULL;

	if (!ktape_filter_parse(kind, copy, &v, error)) {
		if (ktape_filter_format(&v, &out))
			out = NULL;
		ktape_filter_release(&v);
	}
	free(copy);
	return out;
}

struct pair {
	unsigned int kind;
	const char *from;
	const char *to;
};

static void check_filter_text(const struct pair *p)
{
	struct ktape_error error = { .text = "" };
	char *out = print_parsed_filter(p->kind, p->from, &error), *second;
	bool same;

	check(out, "%s is refused: %s", p->from, error.text);
	same = !strcmp(out, p->to);
	if (!same)
		tap_fail("%s becomes %.200s, not %s", p->from, out, p->to);
	second = print_parsed_filter(p->kind, out, &error);
	if (!second || strcmp(second, out))
		tap_fail("%s then becomes %s", out, second);
	free(out);
	free(second);
}

static const struct pair pairs[] = {
	{ KTAPE_FILTER_CPU, "0-3,5", "0-3,5" },
	{ KTAPE_FILTER_CPU, " 5 , 1,0", "0-1,5" },
	{ KTAPE_FILTER_CPU, "300", "300" },
	{ KTAPE_FILTER_CPU, "none", "none" },
	{ KTAPE_FILTER_CPU, "off", "off" },
	{ KTAPE_FILTER_IRQ, "1,2,3,100-102", "1-3,100-102" },
	{ KTAPE_FILTER_IRQ, "!7", "!7" },
	{ KTAPE_FILTER_IRQ, "all,!7,!9-11", "!7,!9-11" },
	{ KTAPE_FILTER_IRQ, "0-4095", "all" },
	{ KTAPE_FILTER_SOFTIRQ, "rcu,TIMER,3", "TIMER,NET_RX,RCU" },
	{ KTAPE_FILTER_SOFTIRQ, "!SCHED", "!SCHED" },
	{ KTAPE_FILTER_SIGNAL, "KILL,sigint,17", "SIGINT,SIGKILL,SIGCHLD" },
	{ KTAPE_FILTER_SIGNAL, "SIGRTMIN+2,IOT,CLD,64",
	  "SIGABRT,SIGCHLD,SIGRTMIN+2,SIGRTMAX" },
	{ KTAPE_FILTER_SIGNAL, "!SEGV", "!SIGSEGV" },
	{ KTAPE_FILTER_PID, "1,22:threads,3:children:threads",
	  "1,22:threads,3:threads:children" },
	{ KTAPE_FILTER_PID, "7:except,8:except:children,9",
	  "7:except,8:children:except,9" },
	{ KTAPE_FILTER_PID, "none", "none" },
	{ KTAPE_FILTER_CGROUP, "/user.slice,id:77", "/user.slice,id:77" },
	{ KTAPE_FILTER_CGROUP, "/a\\,b, /c d\\#\\e ,\\x0a\\ ,/f\\x23\\xff",
	  "/a\\,b,/c d\\#e,\\x0a\\x20,/f\\#\xff" },
	{ KTAPE_FILTER_CGROUP, "\\off", "\\off" },
	{ KTAPE_FILTER_CGROUP, "\\none,all,nones", "\\none,\\all,nones" },
	{ KTAPE_FILTER_UID, "root,1000", "0,1000" },
	{ KTAPE_FILTER_SEVERITY, "3", "3" },
	{ KTAPE_FILTER_SEVERITY, "SW1", "1" },
	{ KTAPE_FILTER_SEVERITY, "_TRACE_HW_SEVERITY2", "2" },
	{ KTAPE_FILTER_GATE, "irq=10us,syscall=2ms", "irq=10us,syscall=2ms" },
	{ KTAPE_FILTER_GATE, "work=1.5ms,timer=1h", "work=1500us,timer=3600s" },
	{ KTAPE_FILTER_GATE, "hrtimer=0", "hrtimer=0ns" },
	{ KTAPE_FILTER_RATE, "sched_switch=100", "sched_switch=100" },
	{ KTAPE_FILTER_RATE, "ipi=5,ipi_raise=9",
	  "ipi_raise=9,ipi_entry=5,ipi_exit=5,ipi_send_cpu=5,ipi_send_cpumask=5" },
	{ KTAPE_FILTER_STACK, "sched_switch,!exception,kfree_skb",
	  "sched_switch,kfree_skb" },
	{ KTAPE_FILTER_STACK, " mark , !mark,\tirq_handler_entry ",
	  "irq_handler_entry" },
	{ KTAPE_FILTER_STACK, "none", "none" },
};

/* The numbers of x86_64 and of i386. */
static const struct pair calls[] = {
	{ KTAPE_FILTER_SYSCALL, "read,write", "read,write" },
	{ KTAPE_FILTER_SYSCALL, "0", "64:read" },
	{ KTAPE_FILTER_SYSCALL, "0,32:3", "read" },
	{ KTAPE_FILTER_SYSCALL, "32:read", "32:read" },
	{ KTAPE_FILTER_SYSCALL, "64:read", "64:read" },
	{ KTAPE_FILTER_SYSCALL, "64:500,32:501", "64:500,32:501" },
	{ KTAPE_FILTER_SYSCALL, "!futex", "!futex" },
	{ KTAPE_FILTER_SYSCALL, "!64:futex", "!64:futex" },
	{ KTAPE_FILTER_SYSCALL, "pip*", "pipe,pipe2" },
	{ KTAPE_FILTER_SYSCALL, "arch_prctl", "arch_prctl" },
	{ KTAPE_FILTER_SYSCALL, "none", "none" },
	{ KTAPE_FILTER_SYSCALL, "all", "all" },
};

static void test_filter_texts(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pairs) && !tap_why[0]; i++)
		check_filter_text(&pairs[i]);
	tap_note("%u forms", i);
}

static void test_filter_syscalls(void)
{
	struct ktape_filter_value v;
	const uint64_t *bits;
	unsigned int i;

	if (!is_x86) {
		tap_skip("the numbers are those of x86_64");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(calls) && !tap_why[0]; i++)
		check_filter_text(&calls[i]);
	if (tap_why[0])
		return;
	check(!ktape_filter_parse(KTAPE_FILTER_SYSCALL, "openat", &v, NULL),
	      "openat");
	check_equal(v.nr, KTAPE_FILTER_SYSCALL_WORDS);
	check_equal(v.size, KTAPE_FILTER_SYSCALL_WORDS * 8);
	/* 257 is openat of x86_64; from bit 512 on is the table of i386, which has it as 295. */
	bits = v.entries;
	check_equal(bits[257 / 64], 1ULL << 257 % 64);
	check_equal(bits[(512 + 295) / 64], 1ULL << (512 + 295) % 64);
	ktape_filter_release(&v);
	check(!v.entries && !v.active && !v.nr, "released");
}

/* Entries exactly as the ioctl takes them. */
static void test_entries(void)
{
	const struct ktape_filter_gate *gate;
	const struct ktape_filter_pid *pid;
	struct ktape_filter_value v;

	check(!ktape_filter_parse(KTAPE_FILTER_CPU, "0,65", &v, NULL), "cpu");
	check_equal(v.nr, 2);
	check_equal(((uint64_t *)v.entries)[0], 1);
	check_equal(((uint64_t *)v.entries)[1], 2);
	ktape_filter_release(&v);
	check(!ktape_filter_parse(KTAPE_FILTER_CPU, "!0", &v, NULL), "cpu");
	check_equal(((uint64_t *)v.entries)[0],
		    (sysconf(_SC_NPROCESSORS_CONF) < 64 ?
			     (1ULL << sysconf(_SC_NPROCESSORS_CONF)) - 1 :
			     ~0ULL) &
			    ~1);
	ktape_filter_release(&v);
	check(!ktape_filter_parse(KTAPE_FILTER_SIGNAL, "1,64", &v, NULL), "signal");
	check_equal(v.nr, 1);
	check_equal(*(uint64_t *)v.entries, 1ULL << 63 | 1);
	ktape_filter_release(&v);
	check(!ktape_filter_parse(KTAPE_FILTER_PID, "7:children", &v, NULL), "pid");
	pid = v.entries;
	check_equal((unsigned int)pid->pid, 7);
	check_equal(pid->flags, KTAPE_PID_CHILDREN);
	ktape_filter_release(&v);
	check(!ktape_filter_parse(KTAPE_FILTER_GATE, "softirq=7us", &v, NULL),
	      "gate");
	gate = v.entries;
	check_equal(gate->gate, KTAPE_GATE_SOFTIRQ);
	check_equal(gate->ns, 7000);
	check_equal(v.size, sizeof(*gate));
	ktape_filter_release(&v);
}

static const struct {
	unsigned int kind;
	const char *text;
	uint64_t offset;
} refused[] = {
	{ KTAPE_FILTER_CPU, "", 0 },
	{ KTAPE_FILTER_CPU, " , ", 0 },
	{ KTAPE_FILTER_CPU, "0,x", 2 },
	{ KTAPE_FILTER_CPU, "3-1", 0 },
	{ KTAPE_FILTER_CPU, "8192", 0 },
	{ KTAPE_FILTER_CPU, "0-18446744073709551615", 0 },
	{ KTAPE_FILTER_IRQ, "4096", 0 },
	{ KTAPE_FILTER_IRQ, "1-", 0 },
	{ KTAPE_FILTER_SOFTIRQ, "NET", 0 },
	{ KTAPE_FILTER_SOFTIRQ, "10", 0 },
	{ KTAPE_FILTER_SIGNAL, "INT,0", 4 },
	{ KTAPE_FILTER_SIGNAL, "65", 0 },
	{ KTAPE_FILTER_SIGNAL, "SIG", 0 },
	{ KTAPE_FILTER_SYSCALL, "no_such_call", 0 },
	{ KTAPE_FILTER_SYSCALL, "512", 0 },
	{ KTAPE_FILTER_PID, "0", 0 },
	{ KTAPE_FILTER_PID, "-1", 0 },
	{ KTAPE_FILTER_PID, "1:parents", 0 },
	{ KTAPE_FILTER_PID, "1:except:", 0 },
	{ KTAPE_FILTER_PID, "2147483648", 0 },
	{ KTAPE_FILTER_CGROUP, "/a,/b\\", 3 },
	{ KTAPE_FILTER_CGROUP, "/a\\x0", 0 },
	{ KTAPE_FILTER_CGROUP, "/a\\x", 0 },
	{ KTAPE_FILTER_CGROUP, "/a\\x00b", 0 },
	{ KTAPE_FILTER_CGROUP, "/a\\xg0b", 0 },
	{ KTAPE_FILTER_UID, "no such user", 0 },
	{ KTAPE_FILTER_UID, "4294967295", 0 },
	{ KTAPE_FILTER_SEVERITY, "4", 0 },
	{ KTAPE_FILTER_SEVERITY, "XW2", 0 },
	{ KTAPE_FILTER_SEVERITY, "1,2", 2 },
	{ KTAPE_FILTER_GATE, "irq", 0 },
	{ KTAPE_FILTER_GATE, "page=1us", 0 },
	{ KTAPE_FILTER_GATE, "irq=1us,irq=2us", 8 },
	{ KTAPE_FILTER_GATE, "irq=61m", 0 },
	{ KTAPE_FILTER_GATE, "irq=fast", 0 },
	{ KTAPE_FILTER_RATE, "sched_switch", 0 },
	{ KTAPE_FILTER_RATE, "=5", 0 },
	{ KTAPE_FILTER_RATE, "none=5", 0 },
	{ KTAPE_FILTER_RATE, "mark=5, none=5", 8 },
	{ KTAPE_FILTER_RATE, "no_event=5", 0 },
	{ KTAPE_FILTER_RATE, "sched_switch=4294967296", 0 },
	{ KTAPE_FILTER_RATE, "all=5", 0 }, /* more than allowed */
	{ KTAPE_FILTER_STACK, "sched_switch,no_event", 13 },
	{ KTAPE_FILTER_STACK, "sched_switch, no_event ", 14 },
	{ KTAPE_FILTER_STACK, "mark irq", 0 },
};

static void test_filter_refused(void)
{
	struct ktape_filter_value v;
	struct ktape_error error;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		const char *text = refused[i].text;

		error = (struct ktape_error){ .offset = 99 };
		check(ktape_filter_parse(refused[i].kind, text, &v, &error) == -EBADMSG,
		      "%u: \"%s\" passes", refused[i].kind, text);
		check(error.text[0], "%s: no error message", text);
		check(error.offset == refused[i].offset, "%s: at %llu", text,
		      (unsigned long long)error.offset);
		check(!v.entries, "%s leaves entries", text);
		check(ktape_filter_parse(refused[i].kind, text, &v, NULL) == -EBADMSG,
		      "without an error");
	}
	check(ktape_filter_parse(KTAPE_FILTER_KINDS, "1", &v, NULL) == -EINVAL,
	      "no such kind");
	tap_note("%u texts", i);
}

/* As many entries as allowed, and one more. */
static void test_filter_limits(void)
{
	static const struct {
		unsigned int kind, most;
	} limits[] = {
		{ KTAPE_FILTER_PID, KTAPE_FILTER_PIDS },
		{ KTAPE_FILTER_UID, KTAPE_FILTER_UIDS },
		{ KTAPE_FILTER_CGROUP, KTAPE_FILTER_CGROUPS },
	};
	struct ktape_filter_value v;
	unsigned int i, n;
	char text[16384];

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		size_t at = 0;

		for (n = 1; n <= limits[i].most; n++)
			at += (size_t)sprintf(text + at, "%u,", n);
		check(!ktape_filter_parse(limits[i].kind, text, &v, NULL),
		      "the largest number of entries is refused");
		check_equal(v.nr, limits[i].most);
		ktape_filter_release(&v);
		sprintf(text + at, "%u", n);
		check(ktape_filter_parse(limits[i].kind, text, &v, NULL) == -EBADMSG,
		      "one entry too many is accepted");
	}
}

static void test_filter_kinds(void)
{
	unsigned int i;

	for (i = 0; i < KTAPE_FILTER_KINDS; i++) {
		const char *name = ktape_value_name(KTAPE_TYPE_FILTER, i);

		check(name, "%u has no name", i);
		check_equal((unsigned int)ktape_filter_kind(name), i);
	}
	check(ktape_filter_kind("events") == -ENOENT, "events");
}

static const struct tap_test tests[] = {
	{ "filters: text, entries and text again", test_filter_texts },
	{ "filters: system calls by name in both tables", test_filter_syscalls },
	{ "filters: entries as the module takes them", test_entries },
	{ "filters: errors name their place", test_filter_refused },
	{ "filters: the largest number of entries", test_filter_limits },
	{ "filters: names of kinds", test_filter_kinds },
};

int main(int argc, char **argv)
{
#ifdef __x86_64__
	is_x86 = true;
#endif
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
