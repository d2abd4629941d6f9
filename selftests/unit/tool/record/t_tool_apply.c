// SPDX-License-Identifier: GPL-2.0-only
/* Test setting filters on a simulated device that refuses some of them. */
#include <errno.h>

#include "tool/session/filters.h"
#include "tool/shared/message.h"

#include "tap.h"

/* Filters of the device, by kind; NULL: off. */
static char *in_force[KTAPE_FILTER_KINDS];
static int refuse[KTAPE_FILTER_KINDS]; /* error that SET returns */
static char reported[300];

/* ---- the device, and the command's messages -------------------------------- */

int ktape_device_filter_get(struct ktape_device *device, unsigned int kind,
			    struct ktape_filter_value *value)
{
	(void)device;
	if (ktape_filter_parse(kind, in_force[kind] ? in_force[kind] : "off",
			       value, NULL))
		abort();
	return 0;
}

int ktape_device_filter_set(struct ktape_device *device,
			    const struct ktape_filter_value *value)
{
	if (!value->active)
		return ktape_device_filter_off(device, value->kind);
	if (refuse[value->kind])
		return refuse[value->kind];
	free(in_force[value->kind]);
	return ktape_filter_format(value, &in_force[value->kind]);
}

int ktape_device_filter_off(struct ktape_device *device, unsigned int kind)
{
	(void)device;
	free(in_force[kind]);
	in_force[kind] = NULL;
	return 0;
}

static void append_message(const char *format, va_list args)
{
	size_t len = strlen(reported);

	vsnprintf(reported + len, sizeof(reported) - len, format, args);
	strncat(reported, "\n", sizeof(reported) - strlen(reported) - 1);
}

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_message(format, args);
	va_end(args);
	return EXIT_FAILED;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_message(format, args);
	va_end(args);
}

const char *kind_name(unsigned int kind)
{
	return ktape_value_name(KTAPE_TYPE_FILTER, kind);
}

/* ---- tests -------------------------------------------------------------------- */

static void reset_filters(void)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		free(in_force[i]);
		in_force[i] = NULL;
		refuse[i] = 0;
	}
	reported[0] = '\0';
}

/* Set the filters in @text like "ktape profile --load" does. */
static int change_filters(const char *text)
{
	struct ktape_config before = { .given = 0 }, config;
	int ret;

	if (ktape_config_parse(text, strlen(text), &config, NULL))
		abort();
	ret = filters_get(NULL, &before);
	if (!ret)
		ret = filters_apply(NULL, &config, true);
	if (ret)
		filters_put_back(NULL, &before);
	ktape_config_release(&before);
	ktape_config_release(&config);
	return ret;
}

#define check_force(kind, want)                                      \
	check(in_force[kind] && !strcmp(in_force[kind], want), "%s", \
	      in_force[kind] ? in_force[kind] : "off")

static void test_put_back(void)
{
	reset_filters();
	check(!change_filters("cpu = 0\nirq = 7\npid = 1:children\n"), "%s",
	      reported);
	check_force(KTAPE_FILTER_PID, "1:children");
	check(!reported[0], "%s", reported);
	/* The last kind; the kinds before it are in force by then. */
	refuse[KTAPE_FILTER_STACK] = -EINVAL;
	check(change_filters("irq = 9\nuid = 5\nstack = mark\n") == EXIT_FAILED,
	      "passes");
	check_force(KTAPE_FILTER_CPU, "0");
	check_force(KTAPE_FILTER_IRQ, "7");
	check_force(KTAPE_FILTER_PID, "1:children");
	check(!in_force[KTAPE_FILTER_UID], "uid");
	check(!strcmp(reported,
		      "stack: the module refuses this value\n"
		      "all filters were restored to what they were before\n"),
	      "%s", reported);
	/* The old filter is refused when it is restored. */
	reset_filters();
	check(!change_filters("cpu = 0\nirq = 7\n"), "%s", reported);
	refuse[KTAPE_FILTER_STACK] = refuse[KTAPE_FILTER_IRQ] = -ENOMEM;
	check(change_filters("stack = mark\n") == EXIT_FAILED, "passes");
	check_force(KTAPE_FILTER_CPU, "0");
	check(strstr(reported,
		     "irq: cannot restore the filter that was active before: Cannot allocate memory"),
	      "%s", reported);
	check(!strstr(reported, "restored to"), "%s", reported);
	reset_filters();
}

static void test_which(void)
{
	reset_filters();
	refuse[KTAPE_FILTER_PID] = -ESRCH;
	check(change_filters("pid = 1,2147483647:threads,2147483646\n"), "passes");
	check(strstr(reported, "no such thread: 2147483647\n"), "%s", reported);
	reset_filters();
	refuse[KTAPE_FILTER_CGROUP] = -EBADF;
	check(change_filters("cgroup = /no/such\n"), "passes");
	check(strstr(reported, "cgroup: /no/such: no such cgroup\n"), "%s",
	      reported);
	reset_filters();
	refuse[KTAPE_FILTER_CGROUP] = -EBADF;
	check(change_filters("cgroup = /proc/self\n"), "passes");
	check(strstr(reported,
		     "cgroup: /proc/self: not a directory of cgroup version 2"),
	      "%s", reported);
	check(ktape_cgroup_check("id:18446744073709551615") == -ENOENT, "id");
	reset_filters();
}

/* Threads without a number cannot be set again. */
static void test_unknown(void)
{
	struct ktape_filter_pid pids[] = { { 5, 1 }, { 0, 2 }, { 7, 0 } };
	struct ktape_filter_value v = {
		.kind = KTAPE_FILTER_PID, .nr = 3, .size = sizeof(pids),
		.entries = pids, .active = true,
	}, got;

	reset_filters();
	check(!ktape_filter_format(&v, &in_force[v.kind]), "format");
	check(!strcmp(in_force[v.kind], "5:threads,0:children,7"), "%s",
	      in_force[v.kind]);
	filter_drop_unknown(&v);
	check_equal(v.nr, 2);
	check_equal(v.size, 2 * sizeof(*pids));
	check_equal((unsigned int)pids[1].pid, 7);
	check(strstr(reported, "pid: 1 threads were left out"), "%s", reported);
	free(in_force[v.kind]);
	in_force[v.kind] = strdup("5");
	reported[0] = '\0';
	check(!filter_get(NULL, v.kind, &got), "get");
	check(got.nr == 1 && !reported[0], "%s", reported);
	ktape_filter_release(&got);
	reset_filters();
}

static const struct tap_test tests[] = {
	{ "filters: a failed change restores the old filters", test_put_back },
	{ "filters: the message names the thread or cgroup", test_which },
	{ "filters: threads without a number", test_unknown },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
