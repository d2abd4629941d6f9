// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run nested writers at every instruction. A record is written in a scene (in
 * the middle of a block, opening a block, ...) and stopped before each of its
 * instructions in turn; there a burst of records is written from a higher
 * context, as from an interrupt. Readers check the ring at the stop, after each
 * nested record, and during single steps after the stop.
 *
 * The live reader misses nothing: unpublished records cannot be overwritten,
 * and it has read all published ones. So in every mode each record is either
 * read or counted as lost.
 */
#include "lcg.h"
#include "reader.h"
#include "step.h"
#include "tap.h"

#define BLOCK_SIZE 512UL
#define BLOCKS	   4
#define SIZE	   (BLOCK_SIZE * BLOCKS)
#define ROOM	   4096
#define WINDOW	   1024 /* number of remembered times */
#define JUMP	   ((1ULL << 32) + 7)
#define FLUSH	   100 /* instead of a shape */

/* Ticks by which the clock goes back at an interrupt; see KT_SHIM_BY_CALL. */
#ifndef STEP_BACK
#define STEP_BACK 0
#endif
#define SLACK (STEP_BACK * 8) /* ticks by which times may be wrong then */

enum burst { ONE, DEEP, FEW, FILL, FILL_LOSE, LAP, LATE, BURSTS };

static const char *const burst_names[BURSTS] = {
	"one record",
	"one record that is interrupted",
	"three records",
	"a block of records",
	"a block of records and a loss",
	"a ring of records",
	"records after 2^32 ticks",
};

struct scene {
	/*
	 * FLUSH, or the record: 0 to 3 inlined with so many arguments, 4 to 7
	 * called with so many, RIG_BLOB + n with n and a blob.
	 */
	unsigned int shape;
	unsigned int mode;
	unsigned int room; /* room left in the block before it */
	bool fresh;	   /* in an empty ring */
	bool late;	   /* 2^32 ticks after the last */
	bool back;	   /* the clock steps back by 2^32 ticks before it */
	bool stopped;	   /* while recording is stopped */
	unsigned int free; /* discard: blocks that may still be opened */
	u64 wrap;	   /* position of the block that the record opens */
};

static struct {
	struct rig rig;
	struct reader live; /* reads each record once, as soon as it is published */
	struct reader walk; /* reads all that the ring holds, again and again */
	const struct scene *scene;
	unsigned int level;
	enum burst burst;
	uintptr_t deep; /* instruction at which the nested burst is stopped */
	unsigned int second,
		third; /* steps after the first burst at which others come */
	unsigned int odds, left; /* random bursts */
	uint64_t random;
	u64 stopped; /* position of the ring when recording was stopped */
	u64 counted; /* events before the scene */
	u64 before[RIG_CONTEXTS][WINDOW], after[RIG_CONTEXTS][WINDOW];
	unsigned long injected, nested_deep, runs;
} w;

/*
 * The time of each record must be one that the clock showed while it was
 * written.
 */
static void check_record_time(struct reader *rd, const u32 *rec, u64 time)
{
	unsigned int context = rec[1] >> 26 & 3;
	u32 seq = rd->next[context] - 1;

	if (!rd->known[context] || rd->error[0])
		return;
	if (time + SLACK < w.before[context][seq % WINDOW] ||
	    time - SLACK > w.after[context][seq % WINDOW])
		snprintf(rd->error, sizeof(rd->error),
			 "context %u number %u: time %#llx is not of [%#llx, %#llx]",
			 context, seq, time, w.before[context][seq % WINDOW],
			 w.after[context][seq % WINDOW]);
}

static void emit_at_level(unsigned int shape)
{
	u32 seq = w.rig.seq[w.level] % WINDOW;

	w.before[w.level][seq] = kt_shim_time;
	w.after[w.level][seq] = ~0ULL;
	rig_emit(&w.rig, w.level, shape);
	w.after[w.level][seq] = kt_shim_time;
}

static void poll_readers(void)
{
	reader_poll(&w.live);
	if (w.live.error[0])
		return;
	reader_walk(&w.walk);
}

static void emit_nested(unsigned int records)
{
	unsigned int i;

	w.level++;
	for (i = 0; i < records; i++) {
		kt_shim_time++;
		emit_at_level(1 + i % 3);
		if (records < 8 || i % 8 == 0)
			poll_readers();
		else
			reader_poll(&w.live);
	}
	w.level--;
}

static void nested_one(void *arg)
{
	(void)arg;
	emit_nested(1);
}

/* Interrupt the nested record from the highest context. */
static void nested_deeper(void *arg)
{
	(void)arg;
	w.nested_deep++;
	w.level++;
	emit_nested(1);
	w.level--;
}

static void inject(void *arg)
{
	struct step step = { .at = w.deep, .stopped = nested_deeper };

	(void)arg;
	w.injected++;
	kt_shim_time += STEP_BACK ? -STEP_BACK : 1;
	poll_readers();
	switch (w.burst) {
	case ONE:
		emit_nested(1);
		break;
	case DEEP:
		step_run(nested_one, NULL, &step);
		break;
	case FEW:
		emit_nested(3);
		break;
	case FILL:
		emit_nested(24);
		break;
	case FILL_LOSE:
		emit_nested(24);
		rig_emit_too_big(&w.rig, w.level + 1);
		break;
	case LAP:
		emit_nested(110);
		break;
	default:
		kt_shim_time += JUMP;
		emit_nested(2);
	}
	poll_readers();
}

/* Called before each single step: let time pass, and inject again or read. */
static void after_step(void *arg, unsigned int number)
{
	kt_shim_time++;
	if (w.odds && w.left && lcg_next(&w.random) % w.odds == 0) {
		w.left--;
		w.burst = lcg_next(&w.random) % 4 ? ONE : FEW;
		inject(arg);
	} else if (number == w.second || number == w.third) {
		inject(arg);
	} else {
		reader_poll(&w.live);
		if (number % 4 == 0)
			poll_readers();
	}
}

static void operation(void *arg)
{
	(void)arg;
	if (w.scene->shape == FLUSH)
		kt_ring_flush(&w.rig.ring);
	else
		emit_at_level(w.scene->shape);
}

/* In discard mode the consumer follows the live reader. */
static void consume_live(void)
{
	w.rig.page->consumer = w.live.position & ~(BLOCK_SIZE - 1);
}

/* Write at least one record, until this much room is left in the block. */
static void write_until(unsigned int room)
{
	do {
		unsigned long left = rig_room(&w.rig) - room;

		kt_shim_time++;
		emit_at_level(left > 24 && left < BLOCK_SIZE ? 3 : 0);
		reader_poll(&w.live);
		consume_live();
	} while (rig_room(&w.rig) != room);
}

/* Bring the ring to the start of the scene. */
static void prepare_scene(const struct scene *scene)
{
	unsigned int i, blocks = BLOCKS + 2 + !!scene->wrap;

	w.scene = scene;
	kt_shim_time = 0x1000 + (scene->back ? 2 * JUMP : 0);
	rig_again(&w.rig, scene->mode,
		  scene->wrap ? (unsigned long)(scene->wrap - 2 * SIZE) : 0);
	w.counted = 0;
	for (i = 0; i < KTAPE_CLASSES && scene->wrap; i++) {
		*kt_word(&w.rig.page->emitted[i]) = 0x20000000UL - 200 - i;
		w.counted += w.rig.page->emitted[i];
	}
	reader_start(&w.live, &w.rig);
	reader_start(&w.walk, &w.rig);
	/*
	 * While the clock is behind the latest time, records do not have the
	 * clock's times.
	 */
	w.live.on_record = scene->back ? NULL : check_record_time;
	for (i = 0; i < blocks && !scene->fresh; i++)
		write_until(16);
	if (!scene->fresh)
		write_until(scene->room);
	if (scene->mode == KTAPE_MODE_DISCARD && !scene->fresh)
		w.rig.page->consumer = ((w.rig.ring.write - 1) & ~(BLOCK_SIZE - 1)) +
				       BLOCK_SIZE * (scene->free + 1) - SIZE;
	if (scene->stopped) {
		w.rig.page->flags = KTAPE_RING_FLAG_STOPPED;
		kt_ring_halt(&w.rig.ring);
		w.stopped = w.rig.ring.write;
	}
	if (scene->late)
		kt_shim_time += JUMP;
	if (scene->back)
		kt_shim_time -= JUMP;
	w.second = w.third = w.odds = w.left = 0;
	w.runs++;
}

/* Return what is violated after the operation, or NULL. */
static const char *ring_step_check(void)
{
	const struct kt_ring *r = &w.rig.ring;
	const struct ktape_ring_page *page = w.rig.page;

	poll_readers();
	if (w.live.error[0])
		return w.live.error;
	if (w.walk.error[0])
		return w.walk.error;
	if (r->committed != r->write || *kt_word(&w.rig.page->commit) != r->write)
		return "a record was never published";
	if (w.live.skipped || w.live.rejected)
		return "records were overwritten before they could be read";
	if (w.live.records + rig_lost(&w.rig) != rig_written(&w.rig))
		return "records are neither read nor counted as lost";
	if (kt_ring_emitted(page) != w.counted + rig_written(&w.rig))
		return "records are not all counted";
	if (w.scene->mode == KTAPE_MODE_DISCARD && page->consumer < page->tail)
		return "blocks were overwritten before they were consumed";
	if (w.scene->stopped && r->write != w.stopped)
		return "a record was written while recording was stopped";
	if (w.live.position != kt_ring_commit(r))
		return "the reader did not come to the end";
	if (r->parked == ALIGN(r->write, BLOCK_SIZE) && r->desc->end == r->parked)
		return "what follows a loss may go into the same block";
	if (w.rig.opened < w.rig.opening)
		return "an opened block was not reported";
	if (w.rig.opening && ((w.rig.reported - 1) ^ (r->write - 1)) / w.rig.block_size)
		return "an opened block was reported before it was published";
	if (!rig_guards_hold(&w.rig))
		return "a write went outside the blocks";
	return NULL;
}

/* Find the instructions of a scene's operation, each once. Return: their number. */
static size_t boundaries(const struct scene *scene, uintptr_t *where)
{
	size_t number, i, j, unique = 0;

	prepare_scene(scene);
	number = step_trace(operation, NULL, where, ROOM);
	for (i = 0; i < number; i++) {
		for (j = 0; j < unique && where[j] != where[i]; j++)
			;
		if (j == unique)
			where[unique++] = where[i];
	}
	return unique;
}

static bool run_one(struct step *step, const char *what, size_t i, size_t of)
{
	const char *why;

	step_run(operation, NULL, step);
	why = ring_step_check();
	if (why)
		tap_fail("%s, then at instruction %zu of %zu %s (%u, %u): %s", what,
			 i, of, burst_names[w.burst], w.second, w.third, why);
	return !why;
}

/* Run each burst at each instruction. */
static bool sweep_bursts(const struct scene *scene)
{
	static uintptr_t where[ROOM];
	size_t number = boundaries(scene, where), i;

	for (w.burst = ONE; w.burst < BURSTS; w.burst++) {
		if (w.burst == DEEP)
			continue;
		for (i = 0; i < number; i++) {
			struct step step = {
				.at = where[i],
				.stopped = inject,
				/* Steps are slow: many only near the end, where it publishes. */
				.after = number - i < 60 ? 50 : 4,
				.each = after_step,
			};

			prepare_scene(scene);
			if (!run_one(&step, "sweep", i, number))
				return false;
		}
	}
	return true;
}

/*
 * At each instruction write a record that is itself interrupted at each of its
 * instructions.
 */
static bool sweep_deep(const struct scene *scene)
{
	static const struct scene plain = { .shape = 1, .room = 200 };
	static uintptr_t where[ROOM], deep[ROOM];
	size_t number = boundaries(scene, where);
	size_t deeper = boundaries(&plain, deep), i, j;

	w.burst = DEEP;
	for (i = 0; i < number; i++) {
		for (j = 0; j < deeper; j++) {
			struct step step = {
				.at = where[i],
				.stopped = inject,
			};

			prepare_scene(scene);
			w.deep = deep[j];
			if (!run_one(&step, "sweep of two levels", i, number))
				return false;
		}
	}
	return true;
}

/* Write one record at two and at three instructions. */
static bool sweep_pairs(const struct scene *scene)
{
	static uintptr_t where[ROOM];
	size_t number = boundaries(scene, where), i, j;

	w.burst = ONE;
	for (i = 0; i < number; i++) {
		for (j = 1; j < number - i + 30 && j < 70; j++) {
			struct step step = {
				.at = where[i],
				.stopped = inject,
				.after = j + 12,
				.each = after_step,
			};

			prepare_scene(scene);
			w.second = j;
			w.third = j + 1 + (i + j) % 11;
			if (!run_one(&step, "pairs", i, number))
				return false;
		}
	}
	return true;
}

/* Random bursts, up to 6 in one record. */
static bool sweep_random(const struct scene *scene, unsigned int runs)
{
	unsigned int i;

	for (i = 0; i < runs; i++) {
		struct step step = { .after = 100000, .each = after_step };

		w.random = i * 7919 + 17;
		prepare_scene(scene);
		w.odds = 3 + i % 12;
		w.left = 6;
		if (!run_one(&step, "random", i, runs))
			return false;
	}
	return true;
}

/*
 * @injected: count before the test; before the first call, if there are
 * several.
 */
static void tell_injected(unsigned long injected)
{
	static unsigned int test;
	static unsigned long first;

	if (test != tap_number + 1)
		first = injected;
	test = tap_number + 1;
	tap_note("%lu injected", w.injected - first);
}

static void play_ring_scene(const struct scene *scene)
{
	unsigned long injected = w.injected;

	if (sweep_bursts(scene) && sweep_deep(scene))
		tell_injected(injected);
}

/* The inlined path, with each number of arguments. */
static void test_put(void)
{
	struct scene scene = { .room = 200 };
	unsigned long injected = w.injected;

	for (scene.shape = 0; scene.shape < 4; scene.shape++)
		if (!sweep_bursts(&scene) || !sweep_deep(&scene))
			return;
	tell_injected(injected);
}

static void test_step_pairs(void)
{
	static const struct scene scene = { .shape = 1, .room = 200 };
	unsigned long injected = w.injected;

	if (sweep_pairs(&scene) && sweep_random(&scene, 400))
		tell_injected(injected);
}

static void test_open(void)
{
	static const struct scene scene = { .shape = 2, .room = 8 };
	unsigned long injected = w.injected;

	play_ring_scene(&scene);
	if (!tap_why[0] && sweep_random(&scene, 20))
		tell_injected(injected);
}

/*
 * Positions reach 2^29, where a 32-bit kernel changes their upper word
 * (ring/wide.h), and 2^32; counts reach 2^29.
 */
static void test_step_wrap(void)
{
	struct scene scene = { .shape = 1, .room = 8 };
	unsigned long injected = w.injected;
	unsigned int i;

	for (i = 29; i <= 32; i += 3) {
		scene.wrap = 1ULL << i;
		play_ring_scene(&scene);
		if (tap_why[0])
			return;
	}
	tell_injected(injected);
}

static void test_exact(void)
{
	static const struct scene full = { .shape = 1, .room = 0 };
	static const struct scene filling = { .shape = 2, .room = 16 };

	play_ring_scene(&full);
	if (!tap_why[0])
		play_ring_scene(&filling);
}

static void test_first(void)
{
	static const struct scene scene = { .shape = 3, .fresh = true };

	play_ring_scene(&scene);
}

static void test_step_late(void)
{
	static const struct scene scene = {
		.shape = 1,
		.room = 200,
		.late = true,
	};
	static const struct scene opening = {
		.shape = 1,
		.room = 24,
		.late = true,
	};

	play_ring_scene(&scene);
	if (!tap_why[0])
		play_ring_scene(&opening);
}

/*
 * Times in the ring must not go back, whichever writer interrupts the one that
 * notices the step.
 */
static void test_step_clock_back(void)
{
	static const struct scene scene = {
		.shape = 1,
		.room = 200,
		.back = true,
	};
	static const struct scene opening = {
		.shape = 1,
		.room = 8,
		.back = true,
	};

	play_ring_scene(&scene);
	if (!tap_why[0])
		play_ring_scene(&opening);
}

static void test_called(void)
{
	static const struct scene scene = {
		.shape = RIG_BLOB + 3,
		.room = 200,
	};
	static const struct scene opening = { .shape = 7, .room = 32 };

	play_ring_scene(&scene);
	if (!tap_why[0])
		play_ring_scene(&opening);
}

static void test_step_discard(void)
{
	static const struct scene room = {
		.shape = 2,
		.room = 8,
		.mode = KTAPE_MODE_DISCARD,
		.free = 2,
	};
	static const struct scene last = {
		.shape = 2,
		.room = 8,
		.mode = KTAPE_MODE_DISCARD,
		.free = 1,
	};
	static const struct scene full = {
		.shape = 2,
		.room = 8,
		.mode = KTAPE_MODE_DISCARD,
	};
	/*
	 * The record takes the slow path, and a writer that interrupts it finds
	 * no room.
	 */
	static const struct scene fits = {
		.shape = 4,
		.room = 40,
		.mode = KTAPE_MODE_DISCARD,
	};
	/*
	 * The record fits where the interrupting record does not, which parks
	 * the block.
	 */
	static const struct scene parked = {
		.shape = 0,
		.room = 8,
		.mode = KTAPE_MODE_DISCARD,
	};

	play_ring_scene(&room);
	if (!tap_why[0])
		play_ring_scene(&last);
	if (!tap_why[0])
		play_ring_scene(&full);
	if (!tap_why[0])
		play_ring_scene(&fits);
	if (!tap_why[0])
		play_ring_scene(&parked);
}

static void test_step_flush(void)
{
	static const struct scene scene = {
		.shape = FLUSH,
		.room = 200,
		.mode = KTAPE_MODE_DISCARD,
		.free = 2,
	};

	play_ring_scene(&scene);
}

static void test_step_stopped(void)
{
	static const struct scene scene = {
		.shape = 1,
		.room = 200,
		.stopped = true,
	};

	play_ring_scene(&scene);
}

static void test_step_sum(void)
{
	tap_note("%lu injected, %lu on two levels, %lu runs, %lu stops",
		 w.injected, w.nested_deep, w.runs, step_count);
}

static const struct tap_test tests[] = {
	{ "put: inlined, in the middle of a block", test_put },
	{ "pairs: bursts at two and more places of one record", test_step_pairs },
	{ "open: the record opens a block", test_open },
	{ "exact: the block is full to the last byte", test_exact },
	{ "first: the first record of a ring", test_first },
	{ "wrap: positions and counts change their upper word", test_step_wrap },
	{ "late: 2^32 ticks after the last record", test_step_late },
	{ "back: the clock stepped back by 2^32 ticks", test_step_clock_back },
	{ "called: records that are not inlined, with and without a blob",
	  test_called },
	{ "discard: with room, with the last block, without", test_step_discard },
	{ "flush: closing a block before it is full", test_step_flush },
	{ "stopped: writers after halt", test_step_stopped },
	{ "sum", test_step_sum },
};

int main(int argc, char **argv)
{
	if (!step_init()) {
		printf("TAP version 13\n1..0 # SKIP no single steps here\n");
		return 0;
	}
	rig_make(&w.rig, BLOCK_SIZE, BLOCKS, KTAPE_MODE_OVERWRITE, 0);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
