/* SPDX-License-Identifier: GPL-2.0-only */
/* Pass descriptors through a socket. */
#ifndef _KT_PASS_H
#define _KT_PASS_H

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define KT_PASS_MOST 8 /* descriptors in one message */

/* Send up to KT_PASS_MOST descriptors, with flags of sendmsg().  Return: 0 or -errno. */
static inline int kt_send_fds(int socket, const int *fds, int n, int flags)
{
	char control[CMSG_SPACE(sizeof(int) * KT_PASS_MOST)] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = CMSG_SPACE(sizeof(int) * n) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	return sendmsg(socket, &msg, flags) == 1 ? 0 : -errno;
}

static inline int kt_send_fd(int socket, int fd)
{
	return kt_send_fds(socket, &fd, 1, 0);
}

/*
 * Receive with room for @room descriptors, up to KT_PASS_MOST, and flags of recvmsg().  The
 * kernel closes those without room.  Return: their number, 0 = none came.
 */
static inline int kt_receive_fds(int socket, int *fds, int room, int flags)
{
	char control[CMSG_SPACE(sizeof(int) * KT_PASS_MOST)], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen =
				      room ? CMSG_SPACE(sizeof(int) * room) : 0 };
	struct cmsghdr *c;
	int n;

	if (recvmsg(socket, &msg, flags) != 1)
		return 0;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	return n;
}

/* Return: the descriptor, or -1. */
static inline int kt_receive_fd(int socket)
{
	int fd;

	return kt_receive_fds(socket, &fd, 1, 0) == 1 ? fd : -1;
}

#endif /* _KT_PASS_H */
