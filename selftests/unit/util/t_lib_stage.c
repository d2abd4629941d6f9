// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test outputs that replace earlier ones while any one call fails, and what
 * another process sees in the folder between two calls.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib_trace.h"
#include "util/stage.h"

static char dir[400];

/* ---- replacements of C library functions that fail ------------------------ */

static struct {
	unsigned int renames; /* so far */
	unsigned int syncs;
	unsigned int syncs_before; /* in front of the first rename */
	unsigned int fail_rename;  /* number of the call that fails; 0: none */
	unsigned int fail_sync;
	bool look;
	unsigned int mixed; /* moments with a partial trace */
} calls;

static bool staged_has_text(const char *name, const char *text)
{
	char path[500], got[16] = "";
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return !text;
	n = read(fd, got, sizeof(got) - 1);
	close(fd);
	return n >= 0 && text && !strcmp(got, text);
}

static bool is_old(void)
{
	return staged_has_text("metadata", "old") &&
	       staged_has_text("cpu0", "old") &&
	       staged_has_text("cpu1", "old") && staged_has_text("cpu2", NULL);
}

static bool is_new_trace(void)
{
	return staged_has_text("metadata", "new") &&
	       staged_has_text("cpu0", "new") &&
	       staged_has_text("cpu1", NULL) && staged_has_text("cpu2", "new");
}

int renameat(int from, const char *name, int to, const char *other)
{
	int ret;

	if (!calls.renames++)
		calls.syncs_before = calls.syncs;
	if (calls.renames == calls.fail_rename) {
		errno = EPERM;
		return -1;
	}
	ret = (int)syscall(SYS_renameat2, from, name, to, other, 0);
	/* A folder with metadata is a trace, which must be complete. */
	if (calls.look && !staged_has_text("metadata", NULL) && !is_old() &&
	    !is_new_trace())
		calls.mixed++;
	return ret;
}

int fsync(int fd)
{
	if (++calls.syncs == calls.fail_sync) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

/* ---- folders ------------------------------------------------------------------- */

static bool is_ours(const char *name)
{
	return !strcmp(name, "metadata") || !strncmp(name, "cpu", 3);
}

static void put_text(int folder, const char *name, const char *text)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0666);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static unsigned int count_temporary(void)
{
	char command[500];
	unsigned int n = 0;
	FILE *f;

	snprintf(command, sizeof(command), "ls -A %s | grep -c '^.ktape-'", dir);
	f = popen(command, "r");
	if (!f || fscanf(f, "%u", &n) != 1)
		abort();
	pclose(f);
	return n;
}

static void stage_new(struct kt_stage *s, bool earlier)
{
	int folder;

	trace_remove(dir);
	if (mkdir(dir, 0777))
		abort();
	folder = open(dir, O_RDONLY | O_DIRECTORY);
	if (folder < 0)
		abort();
	if (earlier) {
		put_text(folder, "cpu1", "old");
		put_text(folder, "metadata", "old");
		put_text(folder, "cpu0", "old");
	}
	put_text(folder, "other", "theirs");
	if (kt_stage_folder(s, folder, is_ours))
		abort();
	put_text(s->inner, "metadata", "new");
	put_text(s->inner, "cpu0", "new");
	put_text(s->inner, "cpu2", "new");
	memset(&calls, 0, sizeof(calls));
}

/* Let every rename fail in turn, or every fsync. @earlier: there is an output to replace. */
static void fail_each(bool earlier, bool rename)
{
	unsigned int nr = 1;
	struct kt_stage s;
	int err;

	for (;; nr++) {
		stage_new(&s, earlier);
		calls.look = earlier;
		*(rename ? &calls.fail_rename : &calls.fail_sync) = nr;
		err = kt_stage_commit(&s);
		check(!calls.mixed, "call %u: a partial trace is visible", nr);
		if (!err)
			break;
		if (earlier)
			check(is_old(), "call %u: the old output is gone", nr);
		else
			check(staged_has_text("cpu0", NULL) &&
				      staged_has_text("metadata", NULL),
			      "call %u: a partial output is there", nr);
		check_equal(count_temporary(), 1);
		kt_stage_drop(&s);
		check_equal(count_temporary(), 0);
	}
	check(is_new_trace() && staged_has_text("other", "theirs"),
	      "the old output was not replaced");
	check_equal(count_temporary(), 0);
	/*
	 * @nr is one more than there are calls.  Renames: three into place, and three of old files
	 * out of the way if there are any.  Syncs, only if there are old files: three new files,
	 * the temporary folder, the final folder.
	 */
	if (rename)
		check_equal(nr, earlier ? 7 : 4);
	else
		check_equal(nr, earlier ? 6 : 1);
}

static void test_renames(void)
{
	fail_each(true, true);
}

static void test_syncs(void)
{
	fail_each(true, false);
	check(calls.syncs_before >= 4, "%u files of 3 and their folder",
	      calls.syncs_before);
}

static void test_nothing_earlier(void)
{
	fail_each(false, true);
	fail_each(false, false);
}

static void test_keep(void)
{
	char name[sizeof(dir)];
	struct kt_stage s;

	stage_new(&s, true);
	snprintf(name, sizeof(name), "%s/cpu2", s.temp);
	kt_stage_keep(&s);
	check(is_old() && staged_has_text(name, "new"),
	      "the old or the kept output is missing");
	kt_temp_sweep(); /* what the handler of SIGINT and SIGTERM calls */
	check(staged_has_text(name, "new"), "a signal removes a kept output");
}

/* Ours are removed, also beside a file of a process of another container with the same pid. */
static void test_sweep(void)
{
	char theirs[KT_TEMP_NAME + 8], ours[KT_TEMP_NAME];
	struct kt_stage s;
	pid_t child;
	int folder;

	trace_remove(dir);
	if (mkdir(dir, 0777))
		abort();
	folder = open(dir, O_RDONLY | O_DIRECTORY);
	snprintf(theirs, sizeof(theirs), KT_TEMP_PREFIX "%ld-0", (long)getpid());
	put_text(folder, theirs, "theirs");
	check(!kt_stage_folder(&s, folder, is_ours), "stage");
	put_text(s.inner, "cpu0", "new");
	memcpy(ours, s.temp, sizeof(ours));
	child = fork();
	if (!child) {
		kt_temp_sweep();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	check(!faccessat(folder, ours, F_OK, 0),
	      "a child has removed the parent's file");
	kt_temp_sweep();
	check(faccessat(folder, ours, F_OK, 0) && errno == ENOENT,
	      "our own file was not removed");
	check(staged_has_text(theirs, "theirs"),
	      "another process's file was removed");
	kt_stage_drop(&s);
}

static const struct tap_test tests[] = {
	{ "a rename that fails", test_renames },
	{ "an fsync that fails", test_syncs },
	{ "no earlier output", test_nothing_earlier },
	{ "an output kept under its temporary name", test_keep },
	{ "a signal removes our temporary files only", test_sweep },
};

int main(int argc, char **argv)
{
	const char *folder = trace_folder();
	int status;

	snprintf(dir, sizeof(dir), "%s/trace", folder);
	status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(folder);
	return status;
}
