// SPDX-License-Identifier: GPL-2.0-only
/*
 * Views of a registry: threads look up names and make lines at the same time, each with
 * a view, and get what one thread gets; a view learns what was added.
 */
#include <pthread.h>
#include <string.h>

#include "lib_lines.h"
#include "tap.h"

#define THREADS 4U
#define IDS	300U /* more than what caches keep */
#define TURNS	20U
#define LINE	9000U

static struct lines l;
static char wanted[IDS][256];

struct looker {
	pthread_t thread;
	struct ktape_registry *view;
	unsigned int wrong;
};

/* The line of a switch from thread @id, at a time at which it has the name. */
static size_t switch_line(const struct ktape_registry *names, uint32_t id, char *text)
{
	const uint32_t args[] = { id, (id + 1) % IDS };
	const struct ktape_event e = {
		.ts = 1000 + id,
		.opcode = KTAPE_EV_SCHED_SWITCH,
		.nargs = 2,
		.args = args,
		.tid = (int32_t)id,
		.size = 16,
		.known = true,
	};

	return ktape_format_text(&l.feed.info, names, &e, text);
}

static void add_thread_name(uint32_t id, const char *name)
{
	const struct object o = { 10, KTAPE_OBJ_THREAD, id, 1, 0, 10, 0, name };

	lines_object(&l, &o);
}

static void *look_up_names(void *arg)
{
	struct looker *k = arg;
	char text[LINE];

	for (unsigned int turn = 0; turn < TURNS; turn++) {
		for (uint32_t id = 0; id < IDS; id++) {
			size_t len = switch_line(k->view, id, text);

			k->wrong += strlen(wanted[id]) != len ||
				    memcmp(wanted[id], text, len) != 0;
		}
	}
	return NULL;
}

/* Each looker without a view gets one, and an earlier view gets the names that were added since. */
static void look_together(struct looker lookers[THREADS])
{
	char text[LINE];

	for (uint32_t id = 0; id < IDS; id++) {
		size_t len = switch_line(l.feed.registry, id, text);

		snprintf(wanted[id], sizeof(wanted[id]), "%.*s", (int)len, text);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		check_equal(ktape_registry_view(l.feed.registry, &lookers[i].view),
			    0);
		if (pthread_create(&lookers[i].thread, NULL, look_up_names,
				   &lookers[i]))
			abort();
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(lookers[i].thread, NULL);
		check_equal(lookers[i].wrong, 0);
	}
}

static void test_views(void)
{
	struct looker lookers[THREADS] = { { .wrong = 0 } };
	char name[16];

	for (uint32_t id = 1; id < IDS; id += 2) {
		snprintf(name, sizeof(name), "t%u", id);
		add_thread_name(id, name);
	}
	look_together(lookers);
	check(strstr(wanted[7], "t7") && strstr(wanted[8], "?"), "%s%s",
	      wanted[7], wanted[8]);
	/* A hash table that grows moves to another place. */
	for (uint32_t id = IDS; id < 20 * IDS; id++)
		add_thread_name(id, "other");
	add_thread_name(8, "late");
	look_together(lookers);
	check(strstr(wanted[8], "late"), "%s", wanted[8]);
	for (unsigned int i = 0; i < THREADS; i++)
		ktape_registry_free(lookers[i].view);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "views in threads", test_views },
	};
	int ret;

	lines_start(&l);
	ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	lines_end(&l);
	return ret;
}
