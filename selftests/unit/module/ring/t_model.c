// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check a small model of the ring's algorithm in every interleaving: writers
 * that nest on one CPU, whose stores become visible to other CPUs in any order
 * unless a barrier separates them (weaker than x86, like arm64), a reader, and
 * control.
 *
 * A record takes one slot; a block has 2 slots and no header; the ring has 2
 * blocks. The steps of a writer are the accesses of ring.h and ring.c to shared
 * memory. Each mutant of the algorithm must give a counterexample; some mutants
 * cannot be caught by running the code, least of all on x86.
 */
#include <stdint.h>

#include "grow.h"
#include "tap.h"

#define LEVELS	3
#define BLOCK	2
#define SLOTS	4
#define PENDING 5  /* stores that are not visible to other CPUs yet */
#define BITS	24 /* log2 of the slots in the table of visited states */

enum word { COMMIT, TAIL, SLOT, WORDS = SLOT + SLOTS };

enum mutant {
	NONE,
	COMMIT_AFTER_PRIVATE,
	NO_RECHECK,
	RECHECK_ORDER,
	PUBLISH_BY_ANYONE,
	PLAIN_RESERVE,
	NO_LAP_CHECK,
	NO_TAIL,
	TAIL_STORE,
	TAIL_AFTER_RESERVE,
	TAIL_WITHOUT_WMB,
	COMMIT_WITHOUT_RELEASE,
	REMOTE_TAIL,
	NO_SECOND_LOOK,
	SECOND_LOOK_EARLY,
	NO_CONSUMER_CHECK,
	CONSUMER_EARLY,
};

/* Next step of a context; 0: it does not run.  PRIVATE follows SHARED, in both paths. */
enum pc {
	IDLE,
	LOAD_WRITE,
	CHECK_ROOM,
	LOAD_TAIL,
	STORE_TAIL,
	RESERVE,
	STORE,
	OWNER,
	SHARED,
	PRIVATE,
	RECHECK,
	SLOW_WRITE,
	SLOW_CHECK,
	SLOW_SHARED,
	SLOW_PRIVATE,
};

/* Next step of the reader. */
enum reader_pc { R_COMMIT, R_TAIL, R_COPY, R_SECOND, R_CONSUME };

/**
 * struct frame - the registers of a writing context
 * @pc: enum pc
 * @w: position of the slot that it reserves
 * @end: position up to which it publishes
 * @tmp: a word that it has loaded
 */
struct frame {
	uint8_t pc, w, end, tmp;
};

/*
 * A state of the machine.  It has only bytes, so equal states have no padding that differs.
 * Pending stores of one epoch become visible in any order, unless they are to the same word, but
 * after all of earlier epochs: a write barrier, or a release before its store, begins an epoch.
 */
struct state {
	struct frame frame[LEVELS];
	uint8_t left[LEVELS];		/* events still to be written */
	uint8_t write, committed, tail; /* as visible on the writing CPU */
	uint8_t consumer;
	uint8_t seen[WORDS]; /* as visible to other CPUs */
	struct {
		uint8_t word, value, epoch;
	} pending[PENDING];
	uint8_t nr_pending, epoch;
	uint8_t written; /* events that reserved a slot */
	/* The reader: its next record, the commit it saw, its copy of a slot, tail after that. */
	uint8_t reader_pc, position, commit, copy, second;
	/* Control clears in two steps: it loads a position, and makes it the floor. */
	uint8_t control_pc, floor, floor_wish;
};

static struct config {
	enum mutant mutant;
	bool discard;
	uint8_t events[LEVELS];
	bool control; /* clears the ring once */
} config;

static const char *error;
static uint64_t *table, states;
static struct state *stack;
static size_t depth, room;

/* ---- stores and their visibility ------------------------------------------ */

static void store_word(struct state *s, unsigned int word, uint8_t value)
{
	s->pending[s->nr_pending].word = (uint8_t)word;
	s->pending[s->nr_pending].value = value;
	s->pending[s->nr_pending].epoch = s->epoch;
	s->nr_pending++;
}

static void store_release(struct state *s, unsigned int word, uint8_t value)
{
	s->epoch++;
	store_word(s, word, value);
}

/*
 * Return true if pending store @i may become visible before those that precede
 * it.
 */
static bool can_pass(const struct state *s, unsigned int i)
{
	unsigned int j;

	for (j = 0; j < i; j++)
		if (s->pending[j].epoch != s->pending[i].epoch ||
		    s->pending[j].word == s->pending[i].word)
			return false;
	return true;
}

static void let_pass(struct state *s, unsigned int i)
{
	s->seen[s->pending[i].word] = s->pending[i].value;
	s->nr_pending--;
	for (; i < s->nr_pending; i++)
		s->pending[i] = s->pending[i + 1];
	memset(&s->pending[s->nr_pending], 0, sizeof(s->pending[0]));
	/*
	 * Only differences between epochs matter: normalise them, so that
	 * equivalent states are equal.
	 */
	for (i = s->nr_pending; i-- > 0;)
		s->pending[i].epoch -= s->pending[0].epoch;
	s->epoch = s->nr_pending ? s->pending[s->nr_pending - 1].epoch + 1 : 0;
}

/* ---- a writing context, one step -------------------------------------------- */

/* Return the tail that is needed before slot @w may open a block: a whole ring before its end. */
static uint8_t limit_of(const struct frame *f)
{
	return f->w >= SLOTS - BLOCK ? (uint8_t)(f->w + BLOCK - SLOTS) : 0;
}

static void end_model_event(struct frame *f)
{
	memset(f, 0, sizeof(*f));
}

/* At the begin of a block: lose the event if the oldest block is still needed, else move tail. */
static void check_room(struct state *s, struct frame *f)
{
	uint8_t limit = limit_of(f);

	f->pc = RESERVE;
	if (f->w % BLOCK || !limit)
		return;
	if ((s->committed < limit && config.mutant != NO_LAP_CHECK) ||
	    (config.discard && s->consumer < limit &&
	     config.mutant != NO_CONSUMER_CHECK)) {
		end_model_event(f); /* lost */
		return;
	}
	if (config.mutant != NO_TAIL && config.mutant != TAIL_AFTER_RESERVE)
		f->pc = LOAD_TAIL;
}

/*
 * Move tail up to the limit in one step, as the loop of load and cmpxchg does.  The mutant decides
 * in one step and stores in the next.
 */
static void step_tail(struct state *s, struct frame *f)
{
	uint8_t limit = limit_of(f);

	if (f->pc == LOAD_TAIL) {
		f->tmp = s->tail;
		f->pc = STORE_TAIL;
		if (config.mutant == TAIL_STORE)
			return; /* decides now, stores later */
	}
	if (f->tmp < limit && (s->tail < limit || config.mutant == TAIL_STORE)) {
		s->tail = limit;
		store_word(s, TAIL, limit);
	}
	if (config.mutant != TAIL_WITHOUT_WMB)
		s->epoch++;
	f->tmp = 0;
	f->pc = config.mutant == TAIL_AFTER_RESERVE ? STORE : RESERVE;
}

/* Reserve by a cmpxchg of write; if a nested context has moved it, begin again. */
static void step_reserve(struct state *s, struct frame *f)
{
	if (s->write != f->w && config.mutant != PLAIN_RESERVE) {
		f->pc = LOAD_WRITE;
		f->w = 0;
		return;
	}
	s->write = f->w + 1;
	s->written++;
	f->end = f->w + 1;
	f->pc = STORE;
	if (config.mutant == TAIL_AFTER_RESERVE && f->w % BLOCK == 0 && limit_of(f))
		f->pc = LOAD_TAIL;
}

/* Store commit, then committed; the mutant swaps them. */
static void step_publish(struct state *s, struct frame *f, bool first)
{
	bool private_first = config.mutant == COMMIT_AFTER_PRIVATE;

	if (first == private_first)
		s->committed = f->end;
	else if (config.mutant == COMMIT_WITHOUT_RELEASE)
		store_word(s, COMMIT, f->end);
	else
		store_release(s, COMMIT, f->end);
}

/*
 * Behind the own record: load write, then committed, and publish up to write what nested contexts
 * have left, if there is any.  The mutant swaps the two loads.
 */
static void step_slow(struct state *s, struct frame *f)
{
	bool swap = config.mutant == RECHECK_ORDER;

	if (f->pc == SLOW_WRITE) {
		f->tmp = swap ? s->committed : s->write;
		f->pc = SLOW_CHECK;
		return;
	}
	f->end = swap ? s->write : f->tmp;
	f->pc = SLOW_SHARED;
	if ((swap ? f->tmp : s->committed) >= f->end)
		end_model_event(f);
	else
		f->tmp = 0;
}

static void step_context(struct state *s, struct frame *f)
{
	switch (f->pc) {
	case LOAD_WRITE:
		f->w = s->write;
		f->pc = CHECK_ROOM;
		break;
	case CHECK_ROOM:
		check_room(s, f);
		break;
	case LOAD_TAIL:
	case STORE_TAIL:
		step_tail(s, f);
		break;
	case RESERVE:
		step_reserve(s, f);
		break;
	case STORE:
		store_word(s, SLOT + f->w % SLOTS, f->w + 1);
		f->pc = OWNER;
		break;
	case OWNER:
		if (s->committed != f->w && config.mutant != PUBLISH_BY_ANYONE)
			end_model_event(f);
		else
			f->pc = SHARED;
		break;
	case SHARED:
	case SLOW_SHARED:
		step_publish(s, f, true);
		f->pc++;
		break;
	case PRIVATE:
	case SLOW_PRIVATE:
		step_publish(s, f, false);
		f->pc = f->pc == PRIVATE ? RECHECK : SLOW_WRITE;
		break;
	case RECHECK:
		f->pc = SLOW_WRITE;
		if (s->write == f->end || config.mutant == NO_RECHECK)
			end_model_event(f);
		break;
	default:
		step_slow(s, f);
	}
}

/* ---- the reader and control, one step ---------------------------------------- */

static uint8_t oldest_in_model(const struct state *s)
{
	return s->seen[TAIL] > s->floor ? s->seen[TAIL] : s->floor;
}

static void accept_copy(struct state *s)
{
	s->reader_pc = R_COMMIT;
	if (s->position < s->second && config.mutant != NO_SECOND_LOOK) {
		if (config.discard && s->second > s->floor)
			error = "overwritten before it was consumed";
		s->position = s->second;
	} else if (s->copy != s->position + 1) {
		error = "a record was read that is not there";
	} else {
		s->position++;
		if (config.discard)
			s->reader_pc = R_CONSUME;
	}
	s->copy = s->second = 0;
}

static void step_reader(struct state *s)
{
	switch (s->reader_pc) {
	case R_COMMIT:
		if (s->seen[COMMIT] < s->commit)
			error = "commit went back";
		s->commit = s->seen[COMMIT];
		s->reader_pc = R_TAIL;
		break;
	case R_TAIL:
		if (s->position < oldest_in_model(s))
			s->position = oldest_in_model(s);
		s->reader_pc = s->position < s->commit ? R_COPY : R_COMMIT;
		if (s->reader_pc == R_COPY && config.mutant == SECOND_LOOK_EARLY)
			s->second = oldest_in_model(s);
		if (s->reader_pc == R_COPY && config.mutant == CONSUMER_EARLY)
			s->consumer = (s->position + 1) / BLOCK * BLOCK;
		break;
	case R_COPY:
		s->copy = s->seen[SLOT + s->position % SLOTS];
		s->reader_pc = R_SECOND;
		if (config.mutant == SECOND_LOOK_EARLY)
			accept_copy(s);
		break;
	case R_SECOND:
		s->second = oldest_in_model(s);
		accept_copy(s);
		break;
	default:
		s->consumer = s->position / BLOCK * BLOCK;
		s->reader_pc = R_COMMIT;
	}
}

/* Clear the ring once: move floor, in the mutant tail, up to commit. */
static void step_control(struct state *s)
{
	if (s->control_pc++ == 0) {
		s->floor_wish = s->seen[COMMIT] / BLOCK * BLOCK;
		return;
	}
	if (config.mutant == REMOTE_TAIL)
		s->tail = s->seen[TAIL] = s->floor_wish;
	else
		s->floor = s->floor_wish;
	s->floor_wish = 0;
}

/* ---- search -------------------------------------------------------------------- */

static uint64_t hash_of(const struct state *s)
{
	const unsigned char *byte = (const unsigned char *)s;
	uint64_t hash = 0xcbf29ce484222325ULL, word;
	size_t i;

	for (i = 0; i < sizeof(*s); i += 8) {
		word = 0;
		memcpy(&word, byte + i, sizeof(*s) - i < 8 ? sizeof(*s) - i : 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return hash | 1; /* 0 is an empty slot of the table */
}

/* Add a state by its 64-bit hash; push a new state on the stack. */
static void visit(const struct state *s)
{
	uint64_t hash = hash_of(s), mask = (1ULL << BITS) - 1;
	uint64_t at = (hash >> 7) & mask;

	for (; table[at]; at = (at + 1) & mask)
		if (table[at] == hash)
			return;
	if (states > mask / 8 * 7) {
		error = "the table of states is full";
		return;
	}
	table[at] = hash;
	states++;
	GROW(stack, depth, room);
	stack[depth++] = *s;
}

/* Check a state in which no context runs, no event is left and every store is visible. */
static void check_rest(const struct state *s)
{
	if (s->committed != s->write || s->seen[COMMIT] != s->write)
		error = "a record was never published";
	if (s->written != s->write)
		error = "two records got one place";
}

/* Continue the running context, or start a context above it. */
static bool expand_cpu(const struct state *s)
{
	struct state next;
	int top = LEVELS - 1, level;
	bool moved = false;

	while (top >= 0 && s->frame[top].pc == IDLE)
		top--;
	if (s->nr_pending == PENDING)
		return true; /* wait until a store is visible */
	if (top >= 0) {
		next = *s;
		step_context(&next, &next.frame[top]);
		visit(&next);
		moved = true;
	}
	for (level = top + 1; level < LEVELS; level++) {
		if (!s->left[level])
			continue;
		next = *s;
		next.left[level]--;
		next.frame[level].pc = LOAD_WRITE;
		visit(&next);
		moved = true;
	}
	return moved;
}

static void expand(const struct state *s)
{
	struct state next;
	unsigned int i;
	bool busy = expand_cpu(s);

	for (i = 0; i < s->nr_pending; i++) {
		if (!can_pass(s, i))
			continue;
		next = *s;
		let_pass(&next, i);
		visit(&next);
	}
	if (!busy && !s->nr_pending)
		check_rest(s);
	next = *s;
	step_reader(&next);
	visit(&next);
	if (config.control && s->control_pc < 2) {
		next = *s;
		step_control(&next);
		visit(&next);
	}
}

/* Search all states. Return: the first violation, or NULL. */
static const char *search(const struct config *c)
{
	struct state s;

	config = *c;
	error = NULL;
	states = depth = 0;
	memset(table, 0, sizeof(*table) << BITS);
	memset(&s, 0, sizeof(s));
	memcpy(s.left, c->events, sizeof(s.left));
	visit(&s);
	while (depth && !error) {
		s = stack[--depth];
		expand(&s);
	}
	return error;
}

/* ---- tests ------------------------------------------------------------------------ */

#define RUN(name, mutant, discard, control, ...)                  \
	{                                                         \
		name,                                             \
		{                                                 \
			mutant, discard, { __VA_ARGS__ }, control \
		}                                                 \
	}

static const struct run {
	const char *name;
	struct config config;
} runs[] = {
	RUN("overwrite, 5 + 2 events", NONE, false, false, 5, 2),
	RUN("overwrite, 3 + 2 + 1 events", NONE, false, false, 3, 2, 1),
	RUN("overwrite, 1 + 5 events", NONE, false, false, 1, 5),
	RUN("overwrite and clear, 6 events", NONE, false, true, 6),
	RUN("discard, 5 + 2 events", NONE, true, false, 5, 2),
	RUN("discard, 2 + 2 + 1 events", NONE, true, false, 2, 2, 1),
	RUN("commit-after-private", COMMIT_AFTER_PRIVATE, false, false, 1, 2),
	RUN("no-recheck", NO_RECHECK, false, false, 1, 1),
	RUN("recheck-order", RECHECK_ORDER, false, false, 1, 3),
	RUN("publish-by-anyone", PUBLISH_BY_ANYONE, false, false, 1, 1),
	RUN("plain-reserve", PLAIN_RESERVE, false, false, 1, 1),
	RUN("no-lap-check", NO_LAP_CHECK, false, false, 1, 6),
	RUN("no-tail", NO_TAIL, false, false, 6),
	RUN("tail-store", TAIL_STORE, false, false, 5, 5),
	RUN("tail-after-reserve", TAIL_AFTER_RESERVE, false, false, 5, 2),
	RUN("no write barrier after tail", TAIL_WITHOUT_WMB, false, false, 6),
	RUN("commit without release", COMMIT_WITHOUT_RELEASE, false, false, 2),
	RUN("tail stored by another CPU", REMOTE_TAIL, false, true, 7),
	RUN("reader without second look", NO_SECOND_LOOK, false, false, 6),
	RUN("second look before the copy", SECOND_LOOK_EARLY, false, false, 6),
	RUN("no-consumer-check", NO_CONSUMER_CHECK, true, false, 6),
	RUN("consumer moves before the copy", CONSUMER_EARLY, true, false, 6),
};

/* Return 1 if a run did not end as expected. */
static int model_check(unsigned int number, const struct run *run)
{
	const char *what = search(&run->config);
	bool mutant = run->config.mutant != NONE, ok = !what != mutant;

	printf("%sok %u - %s%s: %llu states, %s\n", ok ? "" : "not ", number,
	       mutant ? "mutant " : "", run->name, (unsigned long long)states,
	       what ? what : "nothing wrong");
	return !ok;
}

int main(void)
{
	unsigned int i, failed = 0;

	table = malloc(sizeof(*table) << BITS);
	if (!table)
		return 2;
	tap_plan(ARRAY_SIZE(runs));
	for (i = 0; i < ARRAY_SIZE(runs); i++)
		failed += model_check(i + 1, &runs[i]);
	return failed > 0;
}
