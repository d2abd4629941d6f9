// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape serve: requests.
 *
 * The server answers a request if
 *
 *	- its Host is "localhost" or a numeric address.  A web site can make its own name
 *	  resolve to this machine (DNS rebinding); the check refuses its pages,
 *	- its path begins with the token (unless --no-token), because other users of the
 *	  machine can also connect.  A cookie would not protect: browsers send it to all
 *	  ports of an address, and so to servers of other users,
 *	- it is GET or HEAD.  No request changes anything.
 *
 * Only pages of ui.perfetto.dev can read an answer from another origin, and only on port 9001:
 * that page fetches traces from this port.  There, two of its requests are answered without the
 * token: OPTIONS and /status, whose answers tell nothing of the traces.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/serve/mhd.h"
#include "tool/serve/serve.h"

#define CONNECTION_SIZE (32U << 10) /* bytes for a request */
#define IDLE_S		30U /* seconds without a byte that end a connection */
#define PART		(64U << 10) /* bytes of an answer that are read at once */
/* Bytes of the header before the suffix of a file's name. */
#define NAME_END      120
#define PERFETTO_PORT 9001
#define PERFETTO      "https://ui.perfetto.dev"
#define TRACE	      "/proc/self/fd/3" /* the trace: descriptor 3 of a conversion */
#define INTERVAL      "-t500ms"		/* of live pages */
#define THREADS	      "-k40" /* number of threads that live pages show */

struct serve_http {
	struct MHD_Daemon *daemon;
};

/**
 * struct request - a request that is answered
 * @s: the server
 * @c: its connection
 * @only_headers: it is HEAD
 */
struct request {
	const struct serve *s;
	struct MHD_Connection *c;
	bool only_headers;
};

/* An answer that a conversion writes: the conversion, and the client's connection. */
struct converted {
	struct serve_child *child;
	struct MHD_Connection *c;
};

/**
 * struct conversion - an answer that a command makes of a trace
 * @kind: first part of the path
 * @type: media type of the answer
 * @suffix: a browser saves the answer as a file with this suffix; NULL: it shows the answer
 * @events: the answer is a stream of events (text/event-stream), which begins at once
 * @words: arguments of ktape, or of tar
 */
static const struct conversion {
	const char *kind;
	const char *type;
	const char *suffix;
	bool events;
	const char *words[SERVE_WORDS];
} conversions[] = {
	{ "pftrace",
	  "application/octet-stream",
	  ".pftrace",
	  false,
	  { "convert", "-q", "-tperfetto", "-o-", TRACE } },
	{ "chrome",
	  "application/json",
	  ".json",
	  false,
	  { "convert", "-q", "-tchrome", "-o-", TRACE } },
	{ "csv", "text/csv", ".csv", false, { "convert", "-q", "-tcsv", "-o-", TRACE } },
	{ "html", "text/html", NULL, false, { "convert", "-q", "-thtml", "-o-", TRACE } },
	{ "jsonl", "application/x-ndjson", ".jsonl", false, { "dump", "--json", TRACE } },
	{ "dump", "text/plain", NULL, false, { "dump", TRACE } },
	{ "stats", "text/plain", NULL, false, { "stats", TRACE } },
	{ "follow",
	  "text/event-stream",
	  NULL,
	  true,
	  { "top", "-j", INTERVAL, THREADS, "-f", "-i", TRACE } },
	{ "tar", "application/x-tar", ".tar", false, { "tar", "-C", TRACE, "-cf", "-", "." } },
};

static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/*
 * The viewer has its script inside.  It runs as a page of no origin: it reads no other.
 * Printing is a modal dialogue.
 */
static const char viewer_policy[] =
	"sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/*
 * The page that converts has its scripts and the command as WebAssembly inside.  It runs
 * as a page of no origin, too, but the pages that it opens do not: ui.perfetto.dev would
 * not work.
 */
static const char converter_policy[] =
	"sandbox allow-scripts allow-downloads allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox; default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* ---- connections ------------------------------------------------------------------------ */

/* A connection begins or ends; its socket is open in both cases. */
static void take_connection(void *arg, struct MHD_Connection *c, void **peer,
			    enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *fd, *from;

	(void)arg;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		serve_peer_leave(*peer);
		return;
	}
	fd = mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	from = mhd.get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	*peer = fd && from ? serve_peer_enter(fd->connect_fd, from->client_addr) :
			     NULL;
}

/* Note that a connection has shown the token, or that none is asked for. */
static void show_token(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	serve_peer_note_token(info ? info->socket_context : NULL);
}

/* ---- answers ---------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
	mhd.add_response_header(r, name, value);
}

/*
 * Queue an answer with the headers that all have, and release it.  @r may be NULL for want of
 * memory: MHD_NO closes the connection.
 */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned int status,
			      struct MHD_Response *r, const char *type)
{
	enum MHD_Result ret;
	char whole[80];

	if (!r)
		return MHD_NO;
	snprintf(whole, sizeof(whole), "%s%s", type,
		 strncmp(type, "text/", 5) ? "" : "; charset=utf-8");
	add_header(r, "Content-Type", whole);
	add_header(r, "X-Content-Type-Options", "nosniff");
	add_header(r, "Cache-Control", "no-store");
	add_header(r, "Referrer-Policy", "no-referrer");
	if (!mhd.get_response_header(r, "Content-Security-Policy"))
		add_header(r, "Content-Security-Policy", policy);
	ret = mhd.queue_response(c, status, r);
	mhd.destroy_response(r);
	return ret;
}

static enum MHD_Result answer_text(struct MHD_Connection *c,
				   unsigned int status, const char *text)
{
	return answer(c, status,
		      mhd.create_response_from_buffer(strlen(text), (void *)text,
						      MHD_RESPMEM_MUST_COPY),
		      "text/plain");
}

static enum MHD_Result answer_errno(struct MHD_Connection *c, int err)
{
	if (err == -EBUSY)
		return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "too many conversions run: try again later\n");
	if (err == -ENOENT || err == -ELOOP || err == -ENOTDIR || err == -EACCES)
		return answer_text(c, MHD_HTTP_NOT_FOUND,
				   "there is no such trace\n");
	if (err == -EBADMSG)
		return answer_text(
			c, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
			"this is no trace, or it is damaged from its beginning: ktape dump says what is wrong with it\n");
	return answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR,
			   "the trace cannot be opened\n");
}

static enum MHD_Result answer_page(struct MHD_Connection *c, int err,
				   char *text, size_t len)
{
	if (err)
		return answer_errno(c, err);
	return answer(c, MHD_HTTP_OK,
		      mhd.create_response_from_buffer(len, text,
						      MHD_RESPMEM_MUST_FREE),
		      "text/html");
}

/* A request for the headers has no body, and needs no conversion. */
static ssize_t read_nothing(void *arg, uint64_t at, char *to, size_t size)
{
	(void)arg;
	(void)at;
	(void)to;
	(void)size;
	return MHD_CONTENT_READER_END_OF_STREAM;
}

static void set_idle(struct MHD_Connection *c, unsigned int seconds)
{
	mhd.set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/*
 * A conversion may take long before it writes anything.  The time that it takes is not the
 * client's: a timeout that is set again begins again.
 */
static ssize_t read_part(void *arg, uint64_t at, char *to, size_t size)
{
	const struct converted *a = arg;
	ssize_t n;

	(void)at;
	set_idle(a->c, 0);
	n = serve_child_read(a->child, to, size);
	set_idle(a->c, IDLE_S);
	return n > 0 ? n :
	       n     ? MHD_CONTENT_READER_END_WITH_ERROR :
		       MHD_CONTENT_READER_END_OF_STREAM;
}

static void end_answer(void *arg)
{
	struct converted *a = arg;

	serve_child_end(a->child);
	free(a);
}

/*
 * Name the file that a browser saves.  Characters that have a meaning in headers are left out, and
 * what is too long is cut before the suffix.
 */
static void add_file_name(struct MHD_Response *r, const char *name, const char *suffix)
{
	const char *base = strrchr(name, '/');
	char text[NAME_END + 40] = "attachment; filename=\"";
	size_t len = strlen(text);

	for (base = base ? base + 1 : name; *base && len < NAME_END; base++) {
		if (*base >= ' ' && *base < 127 && !strchr("\"\\%;", *base))
			text[len++] = *base;
	}
	snprintf(text + len, sizeof(text) - len, "%s\"", suffix);
	add_header(r, "Content-Disposition", text);
}

/* Return the socket of a connection, or -1. */
static int client_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/*
 * Start a conversion, and unless it is a stream of events wait until it has begun its output.
 * Return: 0 or negative errno.
 */
static int start_child(const struct request *q, const struct conversion *v,
		       int trace, struct serve_child **child)
{
	int err = serve_child_start(v->words, trace, client_of(q->c), v->events,
				    child);

	/* An answer that has begun cannot say any more that the trace is none. */
	if (err || v->events)
		return err;
	err = serve_child_wait_begun(*child);
	if (err)
		serve_child_end(*child);
	return err;
}

/*
 * Make the answer that a conversion writes.  @r: set to it; NULL if there is no memory for it.
 * Return: 0 or negative errno.
 */
static int make_answer(const struct request *q, const struct conversion *v,
		       int trace, struct MHD_Response **r)
{
	struct converted *a;
	int err;

	if (q->only_headers) {
		*r = mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, PART,
						       read_nothing, NULL, NULL);
		return 0;
	}
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->c = q->c;
	set_idle(q->c, 0);
	err = start_child(q, v, trace, &a->child);
	set_idle(q->c, IDLE_S);
	if (err) {
		free(a);
		return err;
	}
	*r = mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, PART,
					       read_part, a, end_answer);
	if (!*r)
		end_answer(a);
	return 0;
}

static enum MHD_Result answer_child(const struct request *q,
				    const struct conversion *v,
				    const char *name, int trace)
{
	struct MHD_Response *r;
	int err = make_answer(q, v, trace, &r);

	if (trace >= 0)
		close(trace);
	/* The client may have gone meanwhile. */
	if (err == -ECONNRESET)
		return MHD_NO;
	if (err)
		return answer_errno(q->c, err);
	if (!r)
		return MHD_NO;
	if (v->suffix)
		add_file_name(r, name, v->suffix);
	if (!strcmp(v->kind, "html"))
		add_header(r, "Content-Security-Policy", viewer_policy);
	if (q->s->port == PERFETTO_PORT && !strcmp(v->kind, "pftrace"))
		add_header(r, "Access-Control-Allow-Origin", PERFETTO);
	return answer(q->c, MHD_HTTP_OK, r, v->type);
}

/* Make an answer of a file, which closes @fd. */
static struct MHD_Response *response_of(int fd)
{
	struct MHD_Response *r = NULL;
	struct stat st;

	if (!fstat(fd, &st))
		r = mhd.create_response_from_fd64((uint64_t)st.st_size, fd);
	if (!r)
		close(fd);
	return r;
}

static enum MHD_Result answer_file(struct MHD_Connection *c, const char *name, int fd)
{
	struct MHD_Response *r = response_of(fd);

	if (!r)
		return answer_errno(c, -EIO);
	add_file_name(r, name, "");
	return answer(c, MHD_HTTP_OK, r, "application/octet-stream");
}

static enum MHD_Result answer_converter(struct MHD_Connection *c)
{
	int fd = serve_page_converter();
	struct MHD_Response *r = fd < 0 ? NULL : response_of(fd);

	if (!r)
		return answer_text(
			c, MHD_HTTP_NOT_FOUND,
			"the page that converts is not installed (make viewer, then make install)\n");
	add_header(r, "Content-Security-Policy", converter_policy);
	return answer(c, MHD_HTTP_OK, r, "text/html");
}

/* ---- what a request asks for ----------------------------------------------------------- */

static enum MHD_Result convert_trace(const struct request *q, const char *kind,
				     const char *name, int fd, bool is_dir)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(conversions); i++) {
		if (!strcmp(conversions[i].kind, kind) &&
		    (is_dir || strcmp(kind, "tar")))
			return answer_child(q, &conversions[i], name, fd);
	}
	if (!strcmp(kind, "raw") && !is_dir)
		return answer_file(q->c, name, fd);
	close(fd);
	return answer_text(q->c, MHD_HTTP_NOT_FOUND, "there is no such page\n");
}

/* Answer KIND/NAME. */
static enum MHD_Result get_trace(const struct request *q, const char *path)
{
	const char *name = strchr(path, '/');
	char kind[16] = "", *text = NULL;
	size_t len = 0;
	bool is_dir;
	int fd, err;

	if (!name || (size_t)(name - path) >= sizeof(kind))
		return answer_text(q->c, MHD_HTTP_NOT_FOUND,
				   "there is no such page\n");
	memcpy(kind, path, (size_t)(name - path));
	fd = serve_open(q->s, ++name, &is_dir);
	if (fd < 0)
		return answer_errno(q->c, fd);
	if (strcmp(kind, "perfetto") && strcmp(kind, "live"))
		return convert_trace(q, kind, name, fd, is_dir);
	close(fd);
	err = serve_page_trace(q->s, kind, name, &text, &len);
	return answer_page(q->c, err, text, len);
}

static enum MHD_Result get_session(const struct request *q)
{
	const struct serve *s = q->s;
	struct conversion v = {
		.kind = "session",
		.type = "text/event-stream",
		.events = true,
		.words = { "top", "-j", INTERVAL, THREADS, "--device",
			   s->device ? s->device : KTAPE_DEVICE_PATH,
			   /* NULL ends the arguments. */
			   s->session_name ? "-S" : NULL, s->session_name },
	};

	return answer_child(q, &v, "", -1);
}

/* Answer a path, which begins behind the slash. */
static enum MHD_Result get(const struct request *q, const char *path)
{
	const char *type, *file = serve_page_file(path, &type);
	char *text = NULL;
	size_t len = 0;
	int err;

	if (file)
		return answer(
			q->c, MHD_HTTP_OK,
			mhd.create_response_from_buffer(strlen(file), (void *)file,
							MHD_RESPMEM_PERSISTENT),
			type);
	if (!*path) {
		err = serve_page_index(q->s, &text, &len);
		return answer_page(q->c, err, text, len);
	}
	if (!strcmp(path, "convert"))
		return answer_converter(q->c);
	if (q->s->session && !strcmp(path, "session"))
		return get_session(q);
	if (q->s->session && !strcmp(path, "live")) {
		err = serve_page_trace(q->s, "live", "session", &text, &len);
		return answer_page(q->c, err, text, len);
	}
	return get_trace(q, path);
}

/* ---- which requests are allowed --------------------------------------------------------- */

/* Is Host "localhost" or an address in numbers, with or without a port? */
static bool is_our_host(const char *host)
{
	char name[INET6_ADDRSTRLEN + 1];
	struct in6_addr address;
	const char *end;
	bool six;

	if (!host)
		return false;
	six = *host == '[';
	host += six;
	end = six ? strchr(host, ']') : strchrnul(host, ':');
	if (!end || (size_t)(end - host) >= sizeof(name))
		return false;
	memcpy(name, host, (size_t)(end - host));
	name[end - host] = '\0';
	end += six;
	if (*end &&
	    (*end != ':' || strspn(end + 1, "0123456789") != strlen(end + 1)))
		return false;
	if (six)
		return inet_pton(AF_INET6, name, &address) == 1;
	return !strcasecmp(name, "localhost") ||
	       inet_pton(AF_INET, name, &address) == 1;
}

/*
 * Return the part of a path behind "/TOKEN/", or NULL if it does not begin so.  The comparison
 * takes the same time however much of a token is right, so it cannot be guessed by parts.  A
 * server without a token (ktape serve --no-token) answers each path.
 */
static const char *skip_token(const struct serve *s, const char *path)
{
	const size_t len = strlen(s->token);
	unsigned int other = 0;

	if (*path++ != '/')
		return NULL;
	if (!len)
		return path;
	if (strnlen(path, len) != len)
		return NULL;
	for (size_t i = 0; i < len; i++)
		other |= (unsigned char)(path[i] ^ s->token[i]);
	return other || path[len] != '/' ? NULL : path + len + 1;
}

static const char *value_of_header(struct MHD_Connection *c, const char *name)
{
	return mhd.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Answer the question of a browser whether ui.perfetto.dev may fetch a trace. */
static enum MHD_Result answer_preflight(struct MHD_Connection *c)
{
	struct MHD_Response *r = mhd.create_response_from_buffer(
		0, (void *)"", MHD_RESPMEM_PERSISTENT);

	if (!r)
		return MHD_NO;
	add_header(r, "Access-Control-Allow-Origin", PERFETTO);
	add_header(r, "Access-Control-Allow-Methods", "GET");
	add_header(r, "Access-Control-Allow-Private-Network", "true");
	return answer(c, MHD_HTTP_NO_CONTENT, r, "text/plain");
}

/* Answer a request, or refuse it. */
static enum MHD_Result check_request(const struct serve *s,
				     struct MHD_Connection *c, const char *url,
				     const char *method)
{
	struct request q = { .s = s, .c = c };
	const char *path;

	if (!is_our_host(value_of_header(c, "Host")))
		return answer_text(
			c, MHD_HTTP_FORBIDDEN,
			"the host must be an address in numbers, or localhost\n");
	if (s->port == PERFETTO_PORT && !strcmp(method, "OPTIONS"))
		return answer_preflight(c);
	/* The Perfetto UI asks whether a trace processor runs here, which is faster than its own. */
	if (s->port == PERFETTO_PORT && !strcmp(url, "/status"))
		return answer_text(c, MHD_HTTP_NOT_FOUND, "");
	q.only_headers = !strcmp(method, "HEAD");
	if (strcmp(method, "GET") && !q.only_headers)
		return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "only GET and HEAD\n");
	path = skip_token(s, url);
	if (!path)
		return answer_text(c, MHD_HTTP_FORBIDDEN,
				   "use the whole address that ktape serve printed\n");
	show_token(c);
	return get(&q, path);
}

static enum MHD_Result take_request(void *arg, struct MHD_Connection *c,
				    const char *url, const char *method,
				    const char *version, const char *data,
				    size_t *size, void **state)
{
	static char seen; /* only its address is used */

	(void)version;
	(void)data;
	(void)size;
	/*
	 * The first call has the headers only.  An answer in it refuses the body of the request: GET
	 * and HEAD have none, and are answered in the second call.
	 */
	if (!*state && (!strcmp(method, "GET") || !strcmp(method, "HEAD"))) {
		*state = &seen;
		return MHD_YES;
	}
	return check_request(arg, c, url, method);
}

/**
 * serve_http_start() - listen, and answer requests from now on
 * @s: the server; must stay valid; its port is set if it was 0
 * @http: set to what serve_http_stop() ends
 *
 * Return: 0 or negative errno.
 */
int serve_http_start(struct serve *s, struct serve_http **http)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
				    .sin6_port = htons(s->port) };
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_port = htons(s->port) };
	struct serve_http *h = calloc(1, sizeof(*h));
	unsigned int flags = MHD_USE_THREAD_PER_CONNECTION |
			     MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			     MHD_USE_ITC;
	const union MHD_DaemonInfo *info;
	const void *address = &four;
	sigset_t all, before;

	if (!h)
		return -ENOMEM;
	if (inet_pton(AF_INET, s->address, &four.sin_addr) != 1) {
		if (inet_pton(AF_INET6, s->address, &six.sin6_addr) != 1) {
			free(h);
			return -EINVAL;
		}
		address = &six;
		flags |= MHD_USE_IPv6;
	}
	/* Signals are for the thread that waits for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	errno = 0;
	h->daemon = mhd.start_daemon(
		flags, s->port, NULL, NULL, take_request, s,
		MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT,
		SERVE_SOCKETS, MHD_OPTION_NOTIFY_CONNECTION, take_connection,
		NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_SIZE,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!h->daemon) {
		free(h);
		return errno ? -errno : -EIO;
	}
	info = mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
	if (info)
		s->port = info->port;
	*http = h;
	return 0;
}

/**
 * serve_http_stop() - end all requests
 * @http: from serve_http_start(), or NULL
 */
void serve_http_stop(struct serve_http *http)
{
	if (!http)
		return;
	serve_child_end_all();
	mhd.stop_daemon(http->daemon);
	free(http);
}
