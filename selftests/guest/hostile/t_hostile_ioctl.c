// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the ioctls: threads share a few descriptors and make calls with random numbers,
 * sizes, values and addresses, most of them derived from the calls in hostile.corpus.
 * Each call succeeds or has an error that the headers name, the kernel writes nothing beyond
 * the caller's structure, and the module works afterwards.  The seed is printed;
 * KTAPE_SEED=N uses it again.  The order of the threads is not repeatable.
 */
#include <pthread.h>
#include <poll.h>
#include <stdatomic.h>

#include "kselftest_harness.h"

#include "kt_hostile.h"
#include "kt_session.h"

#define THREADS	  8
#define SECONDS	  6
#define CALLS_MIN 200 /* however slow the machine is */
#define WORDS	  1040
#define CALLS	  128
#define PATH	  "hostile.corpus"
#define WANT_FD	  1 /* in @want: a new descriptor */
#define WANT_NONE 2 /* no result that a line can have */
#define CANARY	  0x5a
#define BEYOND	  64 /* bytes with the canary behind a structure */

/* Commands that the fuzzer treats in a special way. */
enum {
	START = _IOC_NR(KTAPE_IOC_START),
	STOP = _IOC_NR(KTAPE_IOC_STOP),
	CREATE = _IOC_NR(KTAPE_IOC_CREATE),
	FILTER = _IOC_NR(KTAPE_IOC_FILTER),
	PROBE = _IOC_NR(KTAPE_IOC_PROBE),
	OPEN = _IOC_NR(KTAPE_IOC_OPEN),
	TRIGGER = _IOC_NR(KTAPE_IOC_TRIGGER),
};

enum target { DEVICE, SESSION, DISCARD, MARK, READONLY, TARGETS };

static const char *const names[] = { "device", "session", "discard", "mark" };

/**
 * struct call - a call of the corpus
 * @target: the descriptor on which it is made
 * @nr: number of the command, as in ktape/ioctl.h
 * @n: words of its argument
 * @want: its result: 0, a negative errno, or WANT_FD
 * @words: its argument
 * @pointers: bit n: words n and n + 1 are a pointer
 */
struct call {
	enum target target;
	unsigned int nr, n;
	int want;
	uint32_t words[WORDS];
	uint64_t pointers;
};

static struct call *calls;
static int nr_calls;
static int fds[TARGETS];

/* ---- the corpus ----------------------------------------------------------- */

/* Return what a line of the corpus wants: as in struct call, or WANT_NONE. */
static int wanted_result(const char *name)
{
	static const int error[] = {
		EINVAL, EFAULT, E2BIG,	 ENXIO,	 ENOENT,     EMSGSIZE,
		EBUSY,	ENODEV, ENODATA, ENOTTY, EOPNOTSUPP, ENOSPC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(error); i++)
		if (!strcmp(name, strerrorname_np(error[i])))
			return -error[i];
	if (!strcmp(name, "fd"))
		return WANT_FD;
	return strcmp(name, "0") ? WANT_NONE : 0;
}

/*
 * Add a word in hexadecimal, @ for a pointer, or xN: the last word is there N times.  Return:
 * false if it is malformed, or there is no room.
 */
static bool add_word(struct call *c, const char *text)
{
	unsigned int repeat;

	if (c->n + 2 > WORDS)
		return false;
	if (*text == '@') {
		c->pointers |= 1ULL << c->n;
		c->n += 2;
	} else if (sscanf(text, "x%u", &repeat) == 1) {
		if (!c->n || !repeat || c->n + repeat > WORDS)
			return false;
		for (; repeat > 1; repeat--, c->n++)
			c->words[c->n] = c->words[c->n - 1];
	} else {
		char *end;

		c->words[c->n++] = strtoul(text, &end, 16);
		return !*end;
	}
	return true;
}

/* Return: false if the line is malformed. */
static bool parse_corpus_line(char *line, struct call *c)
{
	char *save, *word = strtok_r(line, " \t\n", &save);

	memset(c, 0, sizeof(*c));
	for (c->target = 0; c->target < READONLY; c->target++)
		if (!strcmp(word, names[c->target]))
			break;
	word = strtok_r(NULL, " \t\n", &save);
	if (c->target == READONLY || !word)
		return false;
	c->nr = strtoul(word, NULL, 16);
	word = strtok_r(NULL, " \t\n", &save);
	if (!word)
		return false;
	c->want = wanted_result(word);
	if (c->want == WANT_NONE)
		return false;
	while ((word = strtok_r(NULL, " \t\n", &save)))
		if (!add_word(c, word))
			return false;
	return c->n;
}

/* Read the corpus.  Return: 0, the number of the first malformed line, or -1: it has none. */
static int read_corpus(void)
{
	const char *folder = getenv("KTAPE_TESTS");
	char path[256], line[512];
	int nr = 0, wrong = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "/tests", PATH);
	f = fopen(path, "r");
	if (!f)
		return -1;
	calls = calloc(CALLS, sizeof(*calls));
	while (calls && !wrong && fgets(line, sizeof(line), f)) {
		nr++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (nr_calls == CALLS ||
		    !parse_corpus_line(line, &calls[nr_calls++]))
			wrong = nr;
	}
	fclose(f);
	return calls ? wrong : -1;
}

/* Return the code of a command: those of the list are _IOWR, all others _IOW. */
static unsigned long ioctl_code(unsigned int nr)
{
	static const unsigned char both[] = {
		0, 1, 2, 7, 9, 10, 12, 13, 14, 15, 18, 19, 20, 24, 25, 28,
	};

	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		if (both[i] == nr)
			return _IOWR(KTAPE_IOC_MAGIC, nr, __u32);
	return _IOW(KTAPE_IOC_MAGIC, nr, __u32);
}

static void store_pointer(uint32_t *word, const void *p)
{
	uint64_t value = (uintptr_t)p;

	memcpy(word, &value, sizeof(value));
}

/* ---- targets -------------------------------------------------------------- */

static bool open_targets(void)
{
	fds[DEVICE] = kt_open(O_RDWR | O_NONBLOCK);
	fds[READONLY] = kt_open(O_RDONLY | O_NONBLOCK);
	fds[SESSION] = kt_create(fds[DEVICE], KTAPE_MODE_OVERWRITE, 65536, 4096);
	fds[DISCARD] = kt_create(fds[DEVICE], KTAPE_MODE_DISCARD, 65536, 4096);
	fds[MARK] = open("/dev/ktape_mark", O_RDWR | O_CLOEXEC);
	if (fds[MARK] < 0)
		fds[MARK] = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < TARGETS; i++) {
		if (fds[i] < 0)
			return false;
		if (i != MARK)
			fcntl(fds[i], F_SETFL, O_NONBLOCK);
	}
	return true;
}

/* Destroy what outlives its descriptors. */
static void close_targets(void)
{
	struct ktape_session_info all[8];
	int nr = kt_list_sessions(fds[DEVICE], all);

	for (int i = 0; i < nr; i++) {
		struct ktape_session_ref ref = { .size = sizeof(ref),
						 .id = all[i].id };

		if (all[i].id)
			kt_ioctl(fds[DEVICE], KTAPE_IOC_DESTROY, &ref);
	}
	for (int i = 0; i < TARGETS; i++)
		close(fds[i]);
}

TEST(corpus)
{
	static char zeros[KT_PAGE];

	ASSERT_EQ(0, read_corpus());
	ASSERT_TRUE(open_targets());
	for (int i = 0; i < nr_calls; i++) {
		struct call *c = &calls[i];
		int ret;

		for (unsigned int k = 0; k < 64; k++)
			if (c->pointers >> k & 1)
				store_pointer(&c->words[k], zeros);
		memset(zeros, 0, sizeof(zeros));
		ret = kt_ioctl(fds[c->target], ioctl_code(c->nr), c->words);
		EXPECT_TRUE(c->want == WANT_FD ? ret > 2 : ret == c->want)
		{
			TH_LOG("call %d: %s %#x: %d, wanted %d", i + 1,
			       names[c->target], c->nr, ret, c->want);
		}
		if (c->want == WANT_FD && ret > 2)
			close(ret);
	}
	TH_LOG("%d calls", nr_calls);
	EXPECT_LT(50, nr_calls);
	close_targets();
}

/* ---- fuzz ------------------------------------------------------------------ */

static atomic_bool ends;
static atomic_long made, passed, beyond, strange;
static atomic_int strange_error, strange_nr;
static uint64_t first_seed;

/* Is this an error that the headers name, or one of the VFS's? */
static bool is_known_error(int ret)
{
	static const int error[] = {
		EINVAL, EFAULT,	 E2BIG,	 ENXIO,	     ENOENT, EMSGSIZE, EBUSY,
		ENODEV, ENODATA, ENOTTY, EOPNOTSUPP, ENOSPC, EPERM,    EEXIST,
		EMFILE, ENOMEM,	 EINTR,	 EAGAIN,     ESRCH,  EBADF,
	};

	for (size_t i = 0; i < ARRAY_SIZE(error); i++)
		if (ret == -error[i])
			return true;
	return false;
}

/*
 * Keep rings small or impossible, so that memory and time are not spent on them, and
 * calls that wait for all CPUs rare.
 */
static bool is_wanted(uint64_t *seed, unsigned int nr, const uint32_t *w)
{
	uint64_t size[2];

	memcpy(size, w + 2, sizeof(size));
	if (nr == CREATE)
		for (int i = 0; i < 2; i++)
			if (size[i] > 1 << 20 && size[i] <= 1ULL << 32)
				return false;
	/* The default size, and large blocks, which make large rings. */
	if (nr == CREATE && (!size[0] || w[6] > 65536))
		return false;
	if (nr == START || nr == STOP || nr == FILTER || nr == PROBE || nr == TRIGGER)
		return !lcg_below(seed, 8);
	return true;
}

static void mutate(uint64_t *seed, struct call *c, const struct kt_traps *t)
{
	unsigned int n = lcg_below(seed, 4);

	for (unsigned int k = 0; k < 64; k++)
		if (c->pointers >> k & 1)
			store_pointer(&c->words[k],
				      kt_address(seed, t, lcg_below(seed, 8192)));
	for (unsigned int i = 0; i < n; i++) {
		unsigned int at = lcg_below(seed, c->n < 40 ? c->n : 40);
		uint64_t value = kt_extreme(seed);

		switch (lcg_below(seed, 4)) {
		case 0:
			c->words[at] ^= 1U << lcg_below(seed, 32);
			break;
		case 1:
			memcpy(&c->words[at], &value, sizeof(value));
			break;
		case 2:
			store_pointer(&c->words[at], kt_address(seed, t, 4096));
			break;
		default:
			c->words[at] = value;
		}
	}
}

/*
 * The kernel may write at pointers, but only into @t: not into the memory of other
 * threads.  In all structures pointers are at these words; CREATE has sizes there.
 */
static void keep_to_own(struct call *c, const struct kt_traps *t)
{
	for (int at = 2; at <= 6; at += 2) {
		uint64_t value;

		memcpy(&value, &c->words[at], sizeof(value));
		if (value < 65536 || value >> (KT_X86 ? 47 : 48) ||
		    (value >= (uintptr_t)t->open &&
		     value < (uintptr_t)t->open + 5 * KT_PAGE))
			continue;
		/* No address of a program. */
		value |= 1ULL << 63;
		memcpy(&c->words[at], &value, sizeof(value));
	}
}

/* Read, seek and poll with random lengths and addresses, too. */
static void other_call(uint64_t *seed, int fd, const struct kt_traps *t)
{
	size_t size = lcg_below(seed, 2) ? kt_extreme(seed) :
					   lcg_below(seed, 20000);
	struct pollfd p = { .fd = fd, .events = lcg_next(seed) };
	char *at = kt_address(seed, t, size);

	switch (lcg_below(seed, 4)) {
	case 0:
		lseek(fd, kt_extreme(seed), lcg_below(seed, 6));
		break;
	case 1:
		poll(&p, 1, 0);
		break;
	case 2:
		if (write(fd, at, size) < 0)
			break;
		break;
	default:
		if (read(fd, at, size) < 0)
			break;
	}
}

/* Make a random call; its argument is in @plain, between canaries, or in memory that faults. */
static void make_random_ioctl(uint64_t *seed, const struct kt_traps *t, char *plain)
{
	struct call c = calls[lcg_below(seed, nr_calls)];
	int fd = fds[lcg_below(seed, 8) ? c.target : lcg_below(seed, TARGETS)];
	unsigned long cmd;
	size_t bytes;
	char *at;
	int ret;

	mutate(seed, &c, t);
	if (!is_wanted(seed, c.nr, c.words))
		return;
	cmd = ioctl_code(c.nr);
	/* At times another number, direction or size; never a file's own ioctl. */
	if (!lcg_below(seed, 16))
		cmd ^= 1UL << (lcg_below(seed, 2) ? lcg_below(seed, 8) :
						    16 + lcg_below(seed, 16));
	if (_IOC_NR(cmd) == CREATE && c.nr != CREATE)
		return;
	if (_IOC_NR(cmd) != CREATE)
		keep_to_own(&c, t);
	bytes = c.n * 4;
	at = lcg_below(seed, 3) ? plain : kt_address(seed, t, bytes);
	/* Fill as much of it as can be written: open to its end. */
	if (at >= t->open && at < t->closed)
		memcpy(at, c.words,
		       (size_t)(t->closed - at) < bytes ? (size_t)(t->closed - at) :
							  bytes);
	else if (at == plain)
		memcpy(plain, c.words, bytes);
	ret = kt_ioctl(fd, cmd, at);
	atomic_fetch_add(&made, 1);
	atomic_fetch_add(&passed, ret >= 0);
	if (ret < 0 && !is_known_error(ret)) {
		atomic_store(&strange_error, ret);
		atomic_store(&strange_nr, c.nr);
		atomic_fetch_add(&strange, 1);
	}
	/* The kernel fills no more than the caller's structure. */
	if (at == plain && c.words[0] <= bytes)
		for (size_t i = bytes; i < bytes + BEYOND; i++)
			if (plain[i] != CANARY && !atomic_fetch_add(&beyond, 1))
				printf("# command %#lx, size %u of %zu, byte %zu: %02x, result %d\n",
				       cmd, c.words[0], bytes, i,
				       (unsigned char)plain[i], ret);
	/* With a greater size the kernel has filled more. */
	if (at == plain)
		memset(plain, CANARY, WORDS * 4 + BEYOND);
	if (ret > 2 && (_IOC_NR(cmd) == CREATE || _IOC_NR(cmd) == OPEN))
		close(ret);
}

static void *fuzz_main(void *arg)
{
	uint64_t seed = first_seed + (uintptr_t)arg * 0x9e3779b97f4a7c15ULL;
	char *plain = malloc(WORDS * 4 + BEYOND);
	struct kt_traps t;

	/* Not @arg: that of the first thread is NULL. */
	if (!plain || kt_traps_make(&t))
		return &first_seed;
	memset(plain, CANARY, WORDS * 4 + BEYOND);
	while (!atomic_load(&ends)) {
		make_random_ioctl(&seed, &t, plain);
		if (!lcg_below(&seed, 16))
			other_call(&seed, fds[lcg_below(&seed, TARGETS)], &t);
	}
	kt_traps_free(&t);
	free(plain);
	return NULL;
}

FIXTURE(fuzz)
{
	pthread_t thread[THREADS];
};

FIXTURE_SETUP(fuzz)
{
	ASSERT_EQ(0, read_corpus());
	ASSERT_TRUE(open_targets());
}

FIXTURE_TEARDOWN(fuzz)
{
	close_targets();
}

TEST_F_TIMEOUT(fuzz, ioctls, 3600)
{
	time_t least = SECONDS * kt_hostile_factor(), since = time(NULL),
	       now = since;
	struct ktape_stats st;
	int fd;

	first_seed = kt_seed();
	TH_LOG("KTAPE_SEED=%#llx, %ld s", (unsigned long long)first_seed, least);
	for (uintptr_t i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&self->thread[i], NULL, fuzz_main,
					    (void *)i));
	for (; now < since + least ||
	       (atomic_load(&made) < CALLS_MIN && now < since + 60);
	     now = time(NULL))
		usleep(20000);
	atomic_store(&ends, true);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(self->thread[i], &failed);
		EXPECT_EQ(NULL, failed);
	}
	TH_LOG("%ld calls, %ld of them succeeded", made, passed);
	EXPECT_LE(CALLS_MIN, made);
	EXPECT_LT(0, passed);
	EXPECT_EQ(0, beyond);
	EXPECT_EQ(0, strange)
	{
		TH_LOG("command %d: error %d", strange_nr, strange_error);
	}
	/* The module still works. */
	fd = kt_create(fds[READONLY], 0, 65536, 4096);
	EXPECT_EQ(-EPERM, fd);
	close_targets();
	ASSERT_TRUE(open_targets());
	EXPECT_EQ(0, kt_control(fds[SESSION], KTAPE_IOC_START));
	EXPECT_EQ(0, kt_control(fds[SESSION], KTAPE_IOC_STOP));
	EXPECT_EQ(0, kt_stats(fds[SESSION], 0, KTAPE_RING_EVENT, &st));
}

TEST_HARNESS_MAIN
