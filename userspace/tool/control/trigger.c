// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape trigger: add, list and remove triggers of a session, and run a command when
 * one fires.  The module evaluates triggers; condition.c parses their conditions.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/control/condition.h"
#include "tool/control/control.h"
#include "tool/session/session.h"
#include "tool/shared/event_list.h"
#include "tool/shared/limit.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

struct trigger_options {
	uint64_t nth;
	uint64_t limit;
	uint64_t longer;
	uint64_t quiet;
	uint64_t mark;
	bool start;
	bool stop;
	bool snapshot;
	uint64_t before;
	uint64_t after;
	const char *profile;
	const char *target;
	bool json;
	const char *device;
};

#define CHECK_MS \
	500 /* between checks whether session and trigger still exist */
#define OPTION(name, letter, kind, member, arg, help)                         \
	{                                                                     \
		name, letter, kind, offsetof(struct trigger_options, member), \
			arg, help                                             \
	}

static const struct kt_option options[] = {
	OPTION("nth", 'n', KT_OPT_NUMBER, nth, "N", "fire at every Nth such event"),
	OPTION("limit", 'l', KT_OPT_NUMBER, limit, "N",
	       "fire at most N times per start (default 1); 0: any"),
	OPTION("longer", 0, KT_OPT_TIME, longer, "TIME",
	       "EVENT is a span: fire when one took at least this long"),
	OPTION("quiet", 0, KT_OPT_TIME, quiet, "TIME",
	       "fire when there was no such event for this long"),
	OPTION("mark", 'm', KT_OPT_NUMBER, mark, "ID", "action: record a mark"),
	OPTION("start", 0, KT_OPT_FLAG, start, NULL, "action: start a session"),
	OPTION("stop", 0, KT_OPT_FLAG, stop, NULL, "action: stop a session"),
	OPTION("profile", 'p', KT_OPT_TEXT, profile, "EVENTS",
	       "action: give a session this profile"),
	OPTION("target", 't', KT_OPT_TEXT, target, "SESSION",
	       "session to start, stop or profile (default: NAME)"),
	OPTION("snapshot", 's', KT_OPT_FLAG, snapshot, NULL,
	       "action: stop NAME; its rings keep their records"),
	OPTION("before", 0, KT_OPT_TIME, before, "TIME",
	       "snapshot: report whether the rings reach back so far"),
	OPTION("after", 0, KT_OPT_TIME, after, "TIME",
	       "snapshot: continue for this long before stopping"),
	OPTION("json", 'j', KT_OPT_FLAG, json, NULL, "list: as a JSON array"),
	OPTION("device", 0, KT_OPT_TEXT, device, "PATH",
	       "instead of " KTAPE_DEVICE_PATH),
	{ .name = NULL },
};

static const struct {
	uint32_t bit;
	const char *name;
} actions[] = {
	{ KTAPE_TRIGGER_MARK, "mark" },
	{ KTAPE_TRIGGER_START, "start" },
	{ KTAPE_TRIGGER_STOP, "stop" },
	{ KTAPE_TRIGGER_SNAPSHOT, "snapshot" },
	{ KTAPE_TRIGGER_PROFILE, "profile" },
	{ KTAPE_TRIGGER_NOTIFY, "notify" },
};

/*
 * Explain an error of the module.  A gate is a filter that lets a pair of events, such as the entry
 * and the exit of an interrupt, pass only if it took long enough.
 */
static int report_trigger_refused(int err)
{
	static const struct {
		int error;
		const char *text;
	} meanings[] = {
		{ EINVAL, "the module does not support this trigger" },
		{ ENOENT, "no such trigger or session" },
		{ ENOSPC,
		  "the session already has 16 triggers: remove one (ktape trigger NAME del ID)" },
		{ EBUSY,
		  "the session has a gate for this pair, which hides its events: remove one of them" },
		{ ENOTTY, "the loaded module does not support triggers" },
		{ ENODEV, "the session was destroyed" },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(meanings); i++) {
		if (meanings[i].error == -err)
			return fail("trigger: %s", meanings[i].text);
	}
	return fail("trigger: %s", strerror(-err));
}

/*
 * Find the session that the actions of a trigger are about: without @name the session that has the
 * trigger.  Return: 0 or the exit code.
 */
static int find_target(struct ktape_device *device, const char *name, uint32_t *target)
{
	struct ktape_device *other;
	struct ktape_layout layout;
	int err;

	*target = KTAPE_TRIGGER_SELF;
	if (!name)
		return 0;
	err = ktape_device_attach(device, name, false, &other);
	if (!err) {
		err = session_layout(other, &layout);
		/* It may have ended meanwhile. */
		if (!err && layout.session == KTAPE_SESSION_BY_NAME)
			err = -ENOENT;
		*target = layout.session;
		ktape_device_close(other);
	}
	if (err == -ENOENT || err == -EINVAL)
		return fail("there is no session \"%s\" (ktape status lists them)",
			    name);
	return err ? fail("session %s: %s", name, strerror(-err)) : 0;
}

/* Return true if an event is a span, whose duration the module measures. */
static bool has_duration(unsigned int opcode)
{
	static const uint8_t spans[] = {
		KTAPE_EV_SYS_SPAN,     KTAPE_EV_IRQ_SPAN,
		KTAPE_EV_SOFTIRQ_SPAN, KTAPE_EV_TIMER_SPAN,
		KTAPE_EV_HRTIMER_SPAN, KTAPE_EV_WORK_SPAN,
	};

	return memchr(spans, (int)opcode, sizeof(spans));
}

static int read_condition(const struct trigger_options *o, char *text,
			  struct ktape_trigger *t)
{
	char why[CONDITION_WHY];

	if (o->longer != NOT_GIVEN && o->quiet != NOT_GIVEN)
		return misuse(&command_trigger,
			      "--longer and --quiet exclude each other");
	if (trigger_parse(text, t, why))
		return misuse(&command_trigger, "%s", why);
	t->nth = (uint32_t)o->nth;
	t->limit = (uint32_t)o->limit;
	if (o->longer != NOT_GIVEN && !has_duration(t->opcode))
		return misuse(&command_trigger,
			      "%s has no duration: --longer is of sys_span, irq_span, softirq_span, timer_span, hrtimer_span or work_span",
			      ktape_event_desc(t->opcode)->name);
	if (o->longer != NOT_GIVEN) {
		t->when = KTAPE_TRIGGER_LONGER;
		t->duration_ns = o->longer;
	} else if (o->quiet != NOT_GIVEN) {
		t->when = KTAPE_TRIGGER_QUIET;
		t->duration_ns = o->quiet;
	}
	return 0;
}

/* Make a trigger of the options and the condition.  Return: 0 or the exit code. */
static int read_trigger_options(struct ktape_device *device,
				const struct trigger_options *o, char *text,
				struct ktape_trigger *t)
{
	uint64_t mask[KTAPE_MASK_WORDS];
	int ret = read_condition(o, text, t);

	if (ret)
		return ret;
	if (o->mark != NOT_GIVEN) {
		t->actions |= KTAPE_TRIGGER_MARK;
		t->mark = (uint32_t)o->mark;
	}
	t->actions |= (o->start ? KTAPE_TRIGGER_START : 0) |
		      (o->stop ? KTAPE_TRIGGER_STOP : 0) |
		      (o->snapshot ? KTAPE_TRIGGER_SNAPSHOT : 0) |
		      (o->profile ? KTAPE_TRIGGER_PROFILE : 0);
	if (!o->snapshot && (o->before || o->after))
		return misuse(&command_trigger,
			      "--before and --after need --snapshot");
	t->before_ns = o->before;
	t->after_ns = o->after;
	if (o->profile) {
		ret = parse_event_list(&command_trigger, o->profile, mask);
		if (ret)
			return ret;
		memcpy(t->mask, mask, sizeof(t->mask));
	}
	if (!o->start && !o->stop && !o->profile)
		return o->target ?
			       misuse(&command_trigger,
				      "--target needs --start, --stop or --profile") :
			       0;
	return find_target(device, o->target, &t->target);
}

static int add_trigger(struct ktape_device *device,
		       const struct trigger_options *o, int argc, char **argv)
{
	struct ktape_trigger t = { .id = 0 };
	int ret;

	if (argc != 1)
		return misuse(&command_trigger, "add needs exactly one CONDITION");
	ret = read_trigger_options(device, o, argv[0], &t);
	if (ret)
		return ret;
	ret = ktape_device_trigger(device, KTAPE_TRIGGER_ADD, &t);
	if (ret)
		return report_trigger_refused(ret);
	printf("%u\n", t.id);
	return finish_stdout();
}

static int remove_triggers(struct ktape_device *device,
			   const struct trigger_options *o, int argc, char **argv)
{
	int code = EXIT_OK, ret;

	(void)o;
	if (!argc)
		return misuse(&command_trigger,
			      "del needs at least one trigger ID (ktape trigger NAME list shows them)");
	for (int i = 0; i < argc; i++) {
		struct ktape_trigger t = { .id = 0 };
		uint64_t id;

		if (kt_parse_u64(argv[i], &id) || id >= KTAPE_TRIGGERS)
			return misuse(&command_trigger,
				      "\"%s\" is not a trigger ID", argv[i]);
		t.id = (uint32_t)id;
		ret = ktape_device_trigger(device, KTAPE_TRIGGER_REMOVE, &t);
		if (ret)
			code = report_trigger_refused(ret);
	}
	return code;
}

static void print_when(FILE *out, const struct ktape_trigger *t)
{
	trigger_show(out, t);
	if (t->when == KTAPE_TRIGGER_LONGER)
		fprintf(out, " longer %.9g s", (double)t->duration_ns / 1e9);
	if (t->when == KTAPE_TRIGGER_QUIET)
		fprintf(out, " quiet %.9g s", (double)t->duration_ns / 1e9);
	if (t->nth > 1)
		fprintf(out, " every %u", t->nth);
}

static void print_triggers_text(const struct ktape_trigger *t)
{
	printf("%2u  ", t->id);
	print_when(stdout, t);
	fputs(" ->", stdout);
	for (size_t i = 0; i < KT_ARRAY_SIZE(actions); i++) {
		if (t->actions & actions[i].bit)
			printf(" %s", actions[i].name);
	}
	printf("; %u matches, fired %u", t->matches, t->fired);
	if (t->limit)
		printf(" of %u", t->limit);
	if (t->missed)
		printf(", %u pairs not followed", t->missed);
	if (t->flags & KTAPE_TRIGGER_DONE)
		printf("; snapshot holds %.9g s before it%s",
		       (double)t->held_ns / 1e9,
		       t->flags & KTAPE_TRIGGER_SHORT ? ", less than asked" : "");
	putchar('\n');
}

static void print_triggers_json(const struct ktape_trigger *t)
{
	static const char *const whens[] = { "event", "longer", "quiet" };
	char condition[512] = "";
	FILE *f = fmemopen(condition, sizeof(condition), "w");
	const char *comma = "";

	if (f) {
		trigger_show(f, t);
		fclose(f);
	}
	printf("{\"id\":%u,\"condition\":", t->id);
	put_json_text(condition);
	printf(",\"when\":\"%s\",\"duration_ns\":%llu,\"nth\":%u,\"limit\":%u,\"actions\":[",
	       t->when < KT_ARRAY_SIZE(whens) ? whens[t->when] : "unknown",
	       (unsigned long long)t->duration_ns, t->nth, t->limit);
	for (size_t i = 0; i < KT_ARRAY_SIZE(actions); i++) {
		if (!(t->actions & actions[i].bit))
			continue;
		printf("%s\"%s\"", comma, actions[i].name);
		comma = ",";
	}
	printf("],\"matches\":%u,\"fired\":%u,\"missed\":%u,\"last\":\"%llu\",\"done\":%s,\"short\":%s,\"held_ns\":%llu}",
	       t->matches, t->fired, t->missed, (unsigned long long)t->last,
	       t->flags & KTAPE_TRIGGER_DONE ? "true" : "false",
	       t->flags & KTAPE_TRIGGER_SHORT ? "true" : "false",
	       (unsigned long long)t->held_ns);
}

static int list_triggers(struct ktape_device *device,
			 const struct trigger_options *o, int argc, char **argv)
{
	struct ktape_trigger t[KTAPE_TRIGGERS];
	const char *comma = "";
	unsigned int nr = 0;
	int ret;

	(void)argv;
	if (argc)
		return misuse(&command_trigger, "list takes no operands");
	for (unsigned int i = 0; i < KTAPE_TRIGGERS; i++) {
		t[nr] = (struct ktape_trigger){ .id = i };
		ret = ktape_device_trigger(device, KTAPE_TRIGGER_GET, &t[nr]);
		if (!ret)
			nr++;
		else if (ret != -ENOENT)
			return report_trigger_refused(ret);
	}
	if (o->json)
		putchar('[');
	for (unsigned int i = 0; i < nr; i++, comma = ",") {
		if (o->json) {
			printf("%s\n", comma);
			print_triggers_json(&t[i]);
		} else {
			print_triggers_text(&t[i]);
		}
	}
	if (o->json)
		puts("\n]");
	return finish_stdout();
}

/* ---- run a command -------------------------------------------------------- */

/*
 * Start a command with usual SIGPIPE and SIGXFSZ, and with the file limit that ktape had at
 * start.  Return: 0 or a positive errno.
 */
static int spawn_command(pid_t *pid, char **argv)
{
	posix_spawnattr_t attr;
	sigset_t plain;
	int err;

	sigemptyset(&plain);
	sigaddset(&plain, SIGPIPE);
	sigaddset(&plain, SIGXFSZ);
	err = posix_spawnattr_init(&attr);
	if (err)
		return err;
	posix_spawnattr_setsigdefault(&attr, &plain);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	restore_files_limit();
	err = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
	raise_files_limit();
	posix_spawnattr_destroy(&attr);
	return err;
}

/* Run the command with the trigger in its environment.  Return: 0 or the exit code. */
static int run_trigger_command(const struct ktape_trigger *t, char **argv)
{
	char number[24];
	pid_t pid;
	int err, status;

	snprintf(number, sizeof(number), "%u", t->fired);
	setenv("KTAPE_TRIGGER_FIRED", number, 1);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)t->last);
	setenv("KTAPE_TRIGGER_TICKS", number, 1);
	err = spawn_command(&pid, argv);
	if (err)
		return fail("%s: %s", argv[0], strerror(err));
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return fail("%s: %s", argv[0], strerror(errno));
		/* After a signal to ktape, end the command instead of waiting for it. */
		if (signals_came())
			kill(pid, SIGTERM);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		note("%s: exited with an error or was killed", argv[0]);
	return 0;
}

/*
 * Wait until the trigger fires.  Poll for a destroyed session or a removed trigger
 * every CHECK_MS, because the eventfd does not report them.  @now: set to the trigger's counts.
 * Return: 1: fired, 0: a signal came, or negative errno.
 */
static int wait_for_firing(struct ktape_device *device, int wake,
			   const struct ktape_trigger *t, struct ktape_trigger *now)
{
	struct pollfd p[] = {
		{ .fd = t->eventfd, .events = POLLIN },
		{ .fd = wake, .events = POLLIN },
	};
	uint64_t n;
	bool fired;
	int ret;

	for (;;) {
		ret = poll(p, KT_ARRAY_SIZE(p), CHECK_MS);
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (signals_came())
			return 0;
		ret = session_is_gone(device);
		if (ret)
			return ret < 0 ? ret : -ENODEV;
		/* Non-blocking: poll() may have timed out without a firing. */
		fired = read(t->eventfd, &n, sizeof(n)) == sizeof(n);
		if (!fired && errno != EAGAIN && errno != EINTR)
			return -errno;
		/* After the read: @now has to count the firing that was read. */
		*now = (struct ktape_trigger){ .id = t->id };
		ret = ktape_device_trigger(device, KTAPE_TRIGGER_GET, now);
		if (ret)
			return ret;
		if (fired)
			return 1;
	}
}

/*
 * Run the command whenever the trigger fires, until it has fired --limit times or a signal comes.
 * Firings while the command runs cause one more run, because reading the eventfd clears its count.
 * Return: 0 or the exit code; that of the command does not matter.
 */
static int wait_and_run(struct ktape_device *device, int wake,
			struct ktape_trigger *t, char **argv)
{
	struct ktape_trigger now;
	int ret;

	do {
		ret = wait_for_firing(device, wake, t, &now);
		if (ret <= 0)
			return ret ? report_trigger_refused(ret) : EXIT_OK;
		ret = run_trigger_command(&now, argv);
		if (ret)
			return ret;
	} while (!signals_came() && (!t->limit || now.fired < t->limit));
	return EXIT_OK;
}

static int run_on_trigger(struct ktape_device *device,
			  const struct trigger_options *o, int argc, char **argv)
{
	struct ktape_trigger t = { .id = 0 }, gone = { .id = 0 };
	int ret, wake;

	if (argc < 2)
		return misuse(&command_trigger,
			      "run needs a CONDITION and a COMMAND: run CONDITION -- COMMAND");
	ret = read_trigger_options(device, o, argv[0], &t);
	if (ret)
		return ret;
	wake = signals_pipe();
	if (wake < 0)
		return fail("pipe: %s", strerror(-wake));
	signals_catch();
	t.actions |= KTAPE_TRIGGER_NOTIFY;
	t.eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t.eventfd < 0)
		return fail("eventfd: %s", strerror(errno));
	ret = ktape_device_trigger(device, KTAPE_TRIGGER_ADD, &t);
	if (ret) {
		close(t.eventfd);
		return report_trigger_refused(ret);
	}
	ret = wait_and_run(device, wake, &t, argv + 1);
	gone.id = t.id;
	ktape_device_trigger(device, KTAPE_TRIGGER_REMOVE, &gone);
	close(t.eventfd);
	return ret;
}

/* Return true if an option defines a trigger (for add and run). */
static bool has_trigger_options(const struct trigger_options *o)
{
	return o->nth || o->limit != 1 || o->longer != NOT_GIVEN ||
	       o->quiet != NOT_GIVEN || o->mark != NOT_GIVEN || o->start ||
	       o->stop || o->snapshot || o->before || o->after || o->profile ||
	       o->target;
}

/*
 * What follows NAME.  @makes: it defines a trigger, and takes the options for that; @lists: it
 * takes --json; @writes: it needs the session open for control.
 */
static const struct {
	const char *name;
	bool makes;
	bool lists;
	bool writes;
	int (*act)(struct ktape_device *device, const struct trigger_options *o,
		   int argc, char **argv);
} verbs[] = {
	{ "add", true, false, true, add_trigger },
	{ "list", false, true, false, list_triggers },
	{ "del", false, false, true, remove_triggers },
	{ "run", true, false, true, run_on_trigger },
};

static int cmd_trigger(int argc, char **argv)
{
	struct trigger_options o = { .limit = 1,
				     .longer = NOT_GIVEN,
				     .quiet = NOT_GIVEN,
				     .mark = NOT_GIVEN };
	struct ktape_device *device;
	int first, ret;

	ret = kt_options(&command_trigger, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (o.nth > INT32_MAX || o.limit > INT32_MAX ||
	    (o.mark != NOT_GIVEN && o.mark > UINT32_MAX))
		return misuse(&command_trigger,
			      "--nth, --limit or --mark is too large");
	for (size_t i = 0; first + 1 < argc && i < KT_ARRAY_SIZE(verbs); i++) {
		if (strcmp(argv[first + 1], verbs[i].name))
			continue;
		if (!verbs[i].makes && has_trigger_options(&o))
			return misuse(&command_trigger,
				      "%s takes no options that define a trigger",
				      verbs[i].name);
		if (!verbs[i].lists && o.json)
			return misuse(&command_trigger, "--json needs list");
		if (open_named(o.device, argv[first], verbs[i].writes, &device))
			return EXIT_FAILED;
		ret = verbs[i].act(device, &o, argc - first - 2, argv + first + 2);
		ktape_device_close(device);
		return ret;
	}
	return misuse(&command_trigger,
		      "give a session NAME and one of add, list, del, run");
}

const struct kt_command command_trigger = {
	.name = "trigger",
	.operands = "NAME add CONDITION | list | del ID... | run CONDITION -- COMMAND...",
	.help = "act when an event occurs, or does not occur",
	.more = "A CONDITION is EVENT[:FIELD=VALUE[,...]]; other operators: != < <= > >= &.\n"
		"add prints the ID of the trigger; run runs the command each time it fires.\n",
	.options = options,
	.run = KT_RUN(cmd_trigger),
};
