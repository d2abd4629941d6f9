// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape serve: limit the connections of clients that have not sent the token.
 *
 * Any program that reaches the port can connect, and only a whole request contains the token.
 * Until a connection has sent it, the connection is a stranger.  The server accepts every new
 * connection, because it may be one with the token: beyond a limit, it closes the oldest
 * stranger that has no whole request waiting to be read.  If all have one, it closes the oldest,
 * but only beyond the limit of all peers.  It never closes a connection that has sent the token in
 * favour of a stranger.
 *
 *	STRANGERS_PEER	from one peer: an address of IPv4, a network /64 of IPv6, this machine
 *	STRANGERS	from all peers; the rest of SERVE_CONNECTIONS is for those with the token
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "util/bits.h"

#include "tool/serve/serve.h"

#define STRANGERS_PEER 16U
#define STRANGERS      32U
#define REQUEST_SEEN \
	4096U /* bytes of a request in which its end is looked for */
/* Connections that are being closed have a place, too. */
#define PLACES SERVE_SOCKETS

/**
 * struct serve_peer - a connection
 * @fd: its socket
 * @used: there is a connection
 * @shown: it has shown the token
 * @ended: it is being closed
 * @number: how many connections came before it
 * @address: address of the peer, as IPv6
 */
struct serve_peer {
	int fd;
	bool used;
	bool shown;
	bool ended;
	uint64_t number;
	struct in6_addr address;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct serve_peer places[PLACES]; /* @lock */
static uint64_t came;			 /* connections so far; @lock */

/*
 * Set what names a peer: what one user of another machine can choose freely is left out, which is
 * the low half of an address of IPv6.  All of 127.0.0.0/8 is this machine.
 */
static void name_peer(struct in6_addr *to, const struct sockaddr *from)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in *four = (const void *)from;
	const struct sockaddr_in6 *six = (const void *)from;

	memset(to, 0, sizeof(*to));
	if (from->sa_family == AF_INET) {
		memcpy(to->s6_addr, mapped, sizeof(mapped));
		memcpy(to->s6_addr + 12, &four->sin_addr, 4);
	} else if (from->sa_family == AF_INET6) {
		*to = six->sin6_addr;
	}
	if (!IN6_IS_ADDR_V4MAPPED(to))
		memset(to->s6_addr + 8, 0, 8);
	else if (to->s6_addr[12] == IN_LOOPBACKNET)
		memset(to->s6_addr + 13, 0, 3);
}

static bool is_stranger(const struct serve_peer *p)
{
	return p->used && !p->ended && !p->shown;
}

static bool is_stranger_of(const struct serve_peer *p, const struct serve_peer *of)
{
	return is_stranger(p) &&
	       (!of || IN6_ARE_ADDR_EQUAL(&p->address, &of->address));
}

/* Return how many strangers there are, of one peer if @of is not NULL. */
static unsigned int count_strangers(const struct serve_peer *of)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < PLACES; i++)
		nr += is_stranger_of(&places[i], of);
	return nr;
}

/*
 * Has the client sent a whole request that the connection's thread has not read yet?  On a
 * busy machine that takes a while, and the request may contain the token.
 */
static bool has_request_waiting(const struct serve_peer *p)
{
	char head[REQUEST_SEEN];
	ssize_t len = recv(p->fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);

	return len > 0 && memmem(head, len, "\r\n\r\n", 4);
}

/* Return the oldest stranger, or NULL; if @idle, only of those without a whole request. */
static struct serve_peer *oldest_stranger(const struct serve_peer *of, bool idle)
{
	struct serve_peer *oldest = NULL;

	for (size_t i = 0; i < PLACES; i++) {
		struct serve_peer *p = &places[i];

		if (is_stranger_of(p, of) &&
		    (!oldest || p->number < oldest->number) &&
		    !(idle && has_request_waiting(p)))
			oldest = p;
	}
	return oldest;
}

static unsigned int count_peers(void)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < PLACES; i++)
		nr += places[i].used && !places[i].ended;
	return nr;
}

/* Its thread sees the end, and closes it. */
static void end_peer(struct serve_peer *p)
{
	p->ended = true;
	shutdown(p->fd, SHUT_RDWR);
}

static void make_room_for_peer(const struct serve_peer *newest)
{
	struct serve_peer *oldest;

	if (count_strangers(newest) > STRANGERS_PEER) {
		oldest = oldest_stranger(newest, true);
		if (oldest)
			end_peer(oldest);
	}
	if (count_strangers(NULL) > STRANGERS || count_peers() > SERVE_CONNECTIONS) {
		oldest = oldest_stranger(NULL, true) ?:
				 oldest_stranger(NULL, false);
		if (oldest)
			end_peer(oldest);
	}
}

/**
 * serve_peer_enter() - note a new connection, a stranger's, and close the oldest beyond
 * what may be
 * @fd: its socket, open until serve_peer_leave()
 * @from: address of the client
 *
 * Return: the connection; NULL: there is no place, and it has been ended.
 */
struct serve_peer *serve_peer_enter(int fd, const struct sockaddr *from)
{
	struct serve_peer *p = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PLACES && !p; i++)
		p = places[i].used ? NULL : &places[i];
	if (p) {
		*p = (struct serve_peer){ .fd = fd, .used = true, .number = came++ };
		name_peer(&p->address, from);
		make_room_for_peer(p);
	} else {
		shutdown(fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&lock);
	return p;
}

/**
 * serve_peer_note_token() - note that a connection has sent the token
 * @p: the connection, or NULL
 */
void serve_peer_note_token(struct serve_peer *p)
{
	pthread_mutex_lock(&lock);
	if (p)
		p->shown = true;
	pthread_mutex_unlock(&lock);
}

/**
 * serve_peer_leave() - note that a connection ends; its socket is still open
 * @p: the connection, or NULL
 */
void serve_peer_leave(struct serve_peer *p)
{
	pthread_mutex_lock(&lock);
	if (p)
		p->used = false;
	pthread_mutex_unlock(&lock);
}
