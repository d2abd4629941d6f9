/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second process, which looks at the memory of the test from outside, and has a mapping at
 * which the test looks.  It ends with the test.
 */
#ifndef _KT_PEER_H
#define _KT_PEER_H

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "kt.h"

#define KT_LOOK_BYTES 4096

/**
 * struct kt_peer - the second process
 * @pid: its process id
 * @to: socket to it
 */
struct kt_peer {
	pid_t pid;
	int to;
};

/**
 * struct kt_look - what a process saw of a page of another one
 * @vm_read: process_vm_readv() read it
 * @mem_read: /proc/PID/mem read it
 * @wrote: one of them wrote to it
 * @by_vm: the bytes
 * @by_mem: likewise
 */
struct kt_look {
	bool vm_read, mem_read, wrote;
	char by_vm[KT_LOOK_BYTES], by_mem[KT_LOOK_BYTES];
};

/**
 * struct kt_peer_ask - what the test asks of it
 * @look: address in the test, NULL: make a mapping instead, in place of the last one
 * @off: its offset in the file
 * @size: its bytes
 */
struct kt_peer_ask {
	void *look;
	uint64_t off;
	size_t size;
};

/* Look at the page @p of process @pid, and try to write there. */
static inline void kt_look_at(pid_t pid, void *p, struct kt_look *l)
{
	struct iovec to = { l->by_vm, KT_LOOK_BYTES }, from = { p, KT_LOOK_BYTES };
	char path[40], x = 'x';
	struct iovec one = { &x, 1 };
	int mem;

	l->vm_read = process_vm_readv(pid, &to, 1, &from, 1, 0) == KT_LOOK_BYTES;
	l->wrote = process_vm_writev(pid, &one, 1, &from, 1, 0) > 0;
	l->mem_read = false;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		return;
	l->mem_read = pread(mem, l->by_mem, KT_LOOK_BYTES, (uintptr_t)p) ==
		      KT_LOOK_BYTES;
	l->wrote |= pwrite(mem, &x, 1, (uintptr_t)p) > 0;
	close(mem);
}

static inline void kt_peer_run(int to, int fd, pid_t test)
{
	static struct kt_look look;
	struct kt_peer_ask ask;
	void *p = MAP_FAILED;
	size_t size = 0;

	while (recv(to, &ask, sizeof(ask), 0) == sizeof(ask)) {
		if (ask.look) {
			kt_look_at(test, ask.look, &look);
			send(to, &look, sizeof(look), 0);
			continue;
		}
		if (p != MAP_FAILED)
			munmap(p, size);
		size = ask.size;
		p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)ask.off);
		send(to, &p, sizeof(p), 0);
	}
	_exit(0);
}

/* Start it; it can map @fd.  Return: 0 or -errno. */
static inline int kt_peer_start(struct kt_peer *peer, int fd)
{
	pid_t test = getpid();
	int s[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s))
		return -errno;
	peer->pid = fork();
	if (peer->pid < 0)
		return -errno;
	if (!peer->pid) {
		close(s[0]);
		kt_peer_run(s[1], fd, test);
	}
	close(s[1]);
	peer->to = s[0];
	return 0;
}

/* Let it look at the page @p of this process.  Return: false if it does not answer. */
static inline bool kt_peer_look(struct kt_peer *peer, void *p, struct kt_look *l)
{
	struct kt_peer_ask ask = { .look = p };

	return send(peer->to, &ask, sizeof(ask), 0) == sizeof(ask) &&
	       recv(peer->to, l, sizeof(*l), 0) == sizeof(*l);
}

/* Let it make a mapping.  Return: the address in its memory; NULL: it has none, or has ended. */
static inline void *kt_peer_map(struct kt_peer *peer, uint64_t off, size_t size)
{
	struct kt_peer_ask ask = { .off = off, .size = size };
	void *p;

	if (send(peer->to, &ask, sizeof(ask), 0) != sizeof(ask) ||
	    recv(peer->to, &p, sizeof(p), 0) != sizeof(p) || p == MAP_FAILED)
		return NULL;
	return p;
}

/* End it, with its mapping.  Return: its status as by wait(), 0 = all is well, or -1. */
static inline int kt_peer_end(struct kt_peer *peer)
{
	int status;

	close(peer->to);
	return waitpid(peer->pid, &status, 0) == peer->pid ? status : -1;
}

#endif /* _KT_PEER_H */
