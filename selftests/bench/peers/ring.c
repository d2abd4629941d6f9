// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record events with BPF while a command runs: attach the programs of ring.bpf.o, copy
 * the ring buffer to a file, a hundred times a second.
 *
 *   ring [-n] [-m MIB] OBJECT EVENTS FILE COMMAND...
 *	EVENTS: names, separated by commas; -n: nobody reads the ring; -m: its size,
 *	default 8. Prints "ring events=N lost=N".
 *   ring -d FILE		print the records of a file
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "ring.h"

/* Level-triggered epoll would never sleep: its own system calls are events, too. */
#define PAUSE_US 10000

#define EVENT_NAME(name) #name,
static const char *const names[] = { EVENTS(EVENT_NAME) };

static unsigned long recorded;
static volatile sig_atomic_t ended;

static void end_recording(int unused)
{
	(void)unused;
	ended = 1;
}

static int dump(const char *path)
{
	FILE *f = fopen(path, "r");
	struct record r;

	if (!f)
		err(1, "%s", path);
	while (fread(&r, sizeof(r), 1, f) == 1)
		printf("%llu.%09llu %u %s %llu %llu\n", r.ns / 1000000000,
		       r.ns % 1000000000, r.pid,
		       r.event < EVENT_COUNT ? names[r.event] : "?", r.words[0],
		       r.words[1]);
	fclose(f);
	return 0;
}

static int save_record(void *file, void *record, size_t size)
{
	recorded++;
	return fwrite(record, size, 1, file) == 1 ? 0 : -EIO;
}

static bool event_is_in_list(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

static struct bpf_object *load_bpf_object(const char *path, const char *events,
					  unsigned int mib)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	struct bpf_map *map;

	if (!object)
		err(1, "%s", path);
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(
			program,
			event_is_in_list(events, bpf_program__name(program)));
	map = bpf_object__find_map_by_name(object, "ring");
	if (bpf_map__set_max_entries(map, mib << 20))
		err(1, "size of the ring");
	if (bpf_object__load(object))
		err(1, "load %s", path);
	bpf_object__for_each_program(program, object)
		if (bpf_program__autoload(program) && !bpf_program__attach(program))
			err(1, "attach %s", bpf_program__name(program));
	return object;
}

/* Read the programs' variable lost, the only one in their .bss. */
static unsigned long long bpf_lost_records(struct bpf_object *object)
{
	int fd = bpf_object__find_map_fd_by_name(object, ".bss");
	unsigned int zero = 0;
	unsigned long long count;

	if (bpf_map_lookup_elem(fd, &zero, &count))
		err(1, "lost records");
	return count;
}

/*
 * With @read, copy records until the command has ended.  Then copy what the ring still has, or,
 * without @read, what it has of the whole run.
 */
static void follow(struct bpf_object *object, FILE *file, pid_t command, bool read)
{
	struct ring_buffer *reader;
	int n;

	reader = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"),
				  save_record, file, NULL);
	if (!reader)
		err(1, "read the ring");
	while (read && !ended) {
		usleep(PAUSE_US);
		n = ring_buffer__consume(reader);
		if (n < 0)
			errx(1, "read the ring: %s", strerror(-n));
	}
	waitpid(command, NULL, 0);
	n = ring_buffer__consume(reader);
	if (n < 0)
		errx(1, "read the ring: %s", strerror(-n));
	ring_buffer__free(reader);
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	unsigned int mib = 8;
	bool read = true;
	FILE *file;
	pid_t pid;
	int opt;

	while ((opt = getopt(argc, argv, "+nm:d:")) != -1) {
		switch (opt) {
		case 'd':
			return dump(optarg);
		case 'm':
			mib = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'n':
			read = false;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind < 4)
		errx(2, "usage: ring [-n] [-m MIB] OBJECT EVENTS FILE COMMAND...");
	argv += optind;
	file = fopen(argv[2], "w");
	if (!file)
		err(1, "%s", argv[2]);
	signal(SIGCHLD, end_recording);
	object = load_bpf_object(argv[0], argv[1], mib);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		execvp(argv[3], argv + 3);
		err(127, "%s", argv[3]);
	}
	follow(object, file, pid, read);
	if (fclose(file))
		err(1, "%s", argv[2]);
	printf("ring events=%lu lost=%llu\n", recorded, bpf_lost_records(object));
	bpf_object__close(object);
	return 0;
}
