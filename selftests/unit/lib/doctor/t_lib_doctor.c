// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what ktape_doctor_run() says of a device, which the test simulates, and of
 * io_uring that seccomp forbids; and that a file that cannot be read has no text. Findings
 * about files are in t_tool_doctor*.sh.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape.h>

#include "doctor/internal.h"
#include "tap.h"

/* ---- the simulated device ------------------------------------------------ */

/* The library's own definition is private to userspace/lib/device/device.c. */
struct ktape_device {
	struct ktape_features features;
};

static struct ktape_device device;
static int open_read, open_write; /* results of opening it */

int ktape_device_open(const char *path, bool writable, struct ktape_device **d)
{
	(void)path;
	*d = &device;
	return writable ? open_write : open_read;
}

void ktape_device_close(struct ktape_device *d)
{
	(void)d;
}

const struct ktape_features *ktape_device_features(const struct ktape_device *d)
{
	return &d->features;
}

static void set_device(int read, int write)
{
	open_read = read;
	open_write = write;
	device.features.table_hash = ktape_table_hash();
	device.features.clock = KTAPE_CLOCK_CYCLES;
}

/* ---- findings ------------------------------------------------------------- */

static struct ktape_doctor *doctor;

static bool run_doctor(const char *root, unsigned int flags)
{
	struct ktape_doctor_options o = { .root = root, .flags = flags };

	ktape_doctor_free(doctor);
	doctor = NULL;
	return !ktape_doctor_run(&o, &doctor);
}

/* Find the finding of a check that has @what in its text. */
static const struct ktape_diagnosis *find_diagnosis(const char *id, const char *what)
{
	const struct ktape_diagnosis *f;

	for (unsigned int i = 0; (f = ktape_doctor_finding(doctor, i)); i++) {
		if (!strcmp(f->id, id) && strstr(f->what, what))
			return f;
	}
	return NULL;
}

/*
 * Return true if a check has found @what with this severity and, unless all is well, has a reason
 * and a next step.
 */
static bool found(const char *id, unsigned int severity, const char *what)
{
	const struct ktape_diagnosis *f = find_diagnosis(id, what);

	return f && f->severity == severity &&
	       (severity == KTAPE_DOCTOR_OK || (*f->why && *f->next));
}

/* A folder with nothing but the device: no file of the machine can be read. */
static char root[] = "/tmp/t_lib_doctor.XXXXXX";

static void test_opens(void)
{
	set_device(0, 0);
	check(run_doctor(root, 0), "it ran");
	check(found("loaded", KTAPE_DOCTOR_OK, "loaded"), "the module");
	check(found("version", KTAPE_DOCTOR_OK, "same table"), "the table");
	check(found("clock", KTAPE_DOCTOR_OK, "counter"), "the clock");
	check(!ktape_doctor_problem(doctor), "%s",
	      ktape_doctor_problem(doctor)->what);
	check(!find_diagnosis("module", "") && !find_diagnosis("signature", "") &&
		      !find_diagnosis("log", ""),
	      "the file of a loaded module does not matter");
}

static void test_doctor_event_table(void)
{
	set_device(0, 0);
	device.features.table_hash ^= 1;
	check(run_doctor(root, 0), "it ran");
	check(found("version", KTAPE_DOCTOR_WARNING, "different tables of events"),
	      "no warning");
}

static void test_doctor_clock(void)
{
	set_device(0, 0);
	device.features.clock = KTAPE_CLOCK_MONO;
	check(run_doctor(root, 0), "it ran");
	check(found("clock", KTAPE_DOCTOR_WARNING, "does not trust"), "no warning");
}

static void test_doctor_names(void)
{
	static const unsigned int reasons[] = { KTAPE_NO_ROOM_LIMIT,
						KTAPE_NO_ROOM_MEMORY,
						KTAPE_NO_ROOM_LATE };
	const char *text = "no room for 7 names since it was loaded";

	set_device(0, 0);
	check(run_doctor(root, 0) && !find_diagnosis("names", ""),
	      "a module whose registry is fixed");
	device.features.features |= KTAPE_FEATURE_GROWS;
	device.features.no_room[KTAPE_NO_ROOM_REFUSED] = 7;
	check(run_doctor(root, 0) &&
		      found("names", KTAPE_DOCTOR_OK, "all names had room"),
	      "names that users may not give");
	for (unsigned int i = 0; i < ARRAY_SIZE(reasons); i++) {
		device.features.no_room[reasons[i]] = 7;
		check(run_doctor(root, 0) &&
			      found("names", KTAPE_DOCTOR_WARNING, text),
		      "reason %u", reasons[i]);
		device.features.no_room[reasons[i]] = 0;
	}
	device.features.no_room[KTAPE_NO_ROOM_REFUSED] = 0;
	device.features.features = 0;
}

static void test_doctor_refused_device(void)
{
	set_device(-EBUSY, -EBUSY);
	check(run_doctor(root, 0), "it ran");
	check(found("device", KTAPE_DOCTOR_PROBLEM,
		    "cannot be opened: Device or resource busy"),
	      "another error");
	set_device(0, -EACCES);
	check(run_doctor(root, 0), "it ran");
	check(found("device", KTAPE_DOCTOR_PROBLEM, "may read"),
	      "a device that can only be read");
	set_device(-ENOTTY, -ENOTTY);
	check(run_doctor(root, 0), "it ran");
	check(found("device", KTAPE_DOCTOR_PROBLEM, "is not a ktape device"),
	      "another device");
	set_device(-ENODEV, -ENODEV);
	check(run_doctor(root, 0), "it ran");
	check(found("device", KTAPE_DOCTOR_PROBLEM, "belongs to no module"),
	      "a device that was left behind");
	set_device(0, 0);
	check(run_doctor(root, 0), "it ran");
	check(found("device", KTAPE_DOCTOR_OK, "can be opened"), "a device");
}

/* With OPEN only what opening needs is checked. */
static void test_flags(void)
{
	set_device(-ENOENT, -ENOENT);
	check(run_doctor(root, KTAPE_DOCTOR_OPEN), "it ran");
	check(ktape_doctor_problem(doctor), "no problem");
	check(!find_diagnosis("memory", "") && !find_diagnosis("output", "") &&
		      !find_diagnosis("io_uring", ""),
	      "other checks were run");
	check(run_doctor(root, 0), "it ran");
	check(find_diagnosis("memory", "") && find_diagnosis("output", "") &&
		      find_diagnosis("io_uring", ""),
	      "checks were left out");
}

/* ---- io_uring ------------------------------------------------------------- */

/* Make io_uring_setup() fail with @err, as container runtimes do. */
static int forbid_uring(int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Run the checks on this machine with io_uring forbidden.  Return: 0 = as expected. */
static int run_forbidden(int err, const char *what)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		const struct ktape_diagnosis *f;

		if (forbid_uring(err))
			_exit(9);
		if (!run_doctor(NULL, 0))
			_exit(2);
		f = find_diagnosis("io_uring", what);
		_exit(f && f->severity == KTAPE_DOCTOR_NOTE && *f->why ? 0 : 3);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 4;
	return WEXITSTATUS(status);
}

static void test_seccomp(void)
{
	int status;

	set_device(0, 0);
	status = run_forbidden(EPERM, "does not work");
	if (status == 9) {
		tap_skip("no seccomp here");
		return;
	}
	check(!status, "EPERM: %d", status);
	status = run_forbidden(ENOSYS, "the kernel does not have it");
	check(!status, "ENOSYS: %d", status);
	status = run_forbidden(ENOMEM, "Cannot allocate memory");
	check(!status, "ENOMEM: %d", status);
}

/* A file that opens, but whose first read fails (with EIO), is not taken for an empty one. */
static void test_unreadable(void)
{
	const struct ktape_doctor machine = { .root = "" };
	char *text = kt_doctor_text(&machine, "/proc/self/mem");

	check(!text, "a text of a file that cannot be read");
	free(text);
	text = kt_doctor_text(&machine, "/dev/null");
	check(text && !*text, "no text of an empty file");
	free(text);
}

static const struct tap_test tests[] = {
	{ "a device that opens leaves nothing to do", test_opens },
	{ "another table of events is a warning", test_doctor_event_table },
	{ "a clock that the kernel does not trust is a warning", test_doctor_clock },
	{ "names without room", test_doctor_names },
	{ "what opening the device returns is told", test_doctor_refused_device },
	{ "checks for opening only", test_flags },
	{ "io_uring that seccomp forbids", test_seccomp },
	{ "a file that cannot be read has no text", test_unreadable },
};

int main(int argc, char **argv)
{
	char dir[64], file[64];
	int status;

	if (!mkdtemp(root))
		return 2;
	snprintf(dir, sizeof(dir), "%s/dev", root);
	snprintf(file, sizeof(file), "%s/dev/ktape", root);
	if (mkdir(dir, 0777) || symlink("/dev/null", file))
		return 2;
	status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	ktape_doctor_free(doctor);
	unlink(file);
	rmdir(dir);
	rmdir(root);
	return status;
}
