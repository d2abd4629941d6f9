/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape serve: traces for a browser.
 *
 * In the order in which to read them:
 *	mhd.c		libmicrohttpd, loaded when it is needed
 *	peers.c		limit of connections without the token
 *	child.c		conversions: the command itself, run with its output to a pipe
 *	folder.c	files of the folder, and no others
 *	page.c		pages
 *	http.c		requests: which are allowed, and what answers them
 *	serve.c		command line, begin and end
 *
 * Built only with libmicrohttpd.
 */
#ifndef _KT_TOOL_SERVE_H
#define _KT_TOOL_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <ktape.h>

#include "tool/shared/opt.h"

#define SERVE_TOKEN 32U /* digits of a token */
/*
 * Most conversions at a time that end by themselves, and as many that follow a trace as it
 * grows.
 */
#define SERVE_CHILDREN	  8U
#define SERVE_CONNECTIONS 64U	/* most connections at a time */
#define SERVE_SOCKETS	  96U	/* with those that are being closed */
#define SERVE_TRACES	  1000U /* most traces of the index */
#define SERVE_WORDS	  8U	/* most words of a conversion's command */

/**
 * struct serve - a server
 * @root: the folder
 * @only: the one trace in it that is served, or NULL
 * @address: address as text
 * @port: port
 * @token: what the paths of requests have to begin with; "" = nothing
 * @session: a session is served, too
 * @device: path of the device, or NULL
 * @session_name: name or number of the session, or NULL
 */
struct serve {
	int root;
	const char *only;
	const char *address;
	uint16_t port;
	char token[SERVE_TOKEN + 1];
	bool session;
	const char *device;
	const char *session_name;
};

/* folder.c */

/**
 * struct serve_trace - a file or directory that may be a trace
 * @name: path below the folder
 * @size: bytes of all its files
 * @when: time of its last change
 * @is_dir: it is a directory
 */
struct serve_trace {
	char *name;
	uint64_t size;
	time_t when;
	bool is_dir;
};

int serve_open(const struct serve *s, const char *name, bool *is_dir);

/**
 * struct serve_list - the traces of the folder
 * @traces: the traces
 * @nr: entries of @traces
 * @left: entries of folders that may still be read
 */
struct serve_list {
	struct serve_trace *traces;
	size_t nr;
	unsigned int left;
};

int serve_list(const struct serve *s, struct serve_list *l);
void serve_list_free(struct serve_list *l);
int serve_info(const struct serve *s, const char *name, struct ktape_info *info);

/* child.c */
struct serve_child;

/*
 * A conversion reads descriptor @trace and ends when @client, a socket, is gone.  @events: its
 * output becomes text/event-stream.
 */
int serve_child_start(const char *const words[SERVE_WORDS], int trace,
		      int client, bool events, struct serve_child **child);
int serve_child_wait_begun(struct serve_child *c);
ssize_t serve_child_read(struct serve_child *c, char *to, size_t size);
void serve_child_end(struct serve_child *c);
void serve_child_end_all(void);

/* mhd.c */
const char *serve_mhd_load(void);

/* peers.c */
struct serve_peer;
struct sockaddr;

struct serve_peer *serve_peer_enter(int fd, const struct sockaddr *from);
/* A connection is a stranger until it has sent the token. */
void serve_peer_note_token(struct serve_peer *p);
void serve_peer_leave(struct serve_peer *p);

/* page.c */
int serve_page_index(const struct serve *s, char **text, size_t *len);
int serve_page_trace(const struct serve *s, const char *kind, const char *name,
		     char **text, size_t *len);
const char *serve_page_file(const char *name, const char **type);
/* Returns a descriptor of the page that converts in a browser. */
int serve_page_converter(void);

/* http.c */
struct serve_http;

int serve_http_start(struct serve *s, struct serve_http **http);
void serve_http_stop(struct serve_http *http);

extern const struct kt_command command_serve;

#endif /* _KT_TOOL_SERVE_H */
