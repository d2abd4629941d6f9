// SPDX-License-Identifier: GPL-2.0-only
/* ktape serve: show the traces of a folder in a browser. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "tool/serve/serve.h"
#include "tool/shared/browser.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"

struct serve_options {
	const char *address;
	uint64_t port;
	bool open;
	bool no_token;
	const char *session;
	const char *device;
	bool live;
};

#define OPT(member) offsetof(struct serve_options, member)
#define LOOPBACK    "127.0.0.1"

static const struct kt_option options[] = {
	{ "port", 'p', KT_OPT_NUMBER, OPT(port), "PORT",
	  "port (default: 0, any free one; 9001 is that of Perfetto)" },
	{ "address", 'a', KT_OPT_TEXT, OPT(address), "ADDRESS",
	  "address of this machine (default: " LOOPBACK ")" },
	{ "no-token", 0, KT_OPT_FLAG, OPT(no_token), NULL,
	  "let all users of this machine read the traces" },
	{ "open", 'o', KT_OPT_FLAG, OPT(open), NULL, "open the page with xdg-open" },
	{ "live", 'l', KT_OPT_FLAG, OPT(live), NULL,
	  "also show a session of this machine, live" },
	{ "session", 'S', KT_OPT_TEXT, OPT(session), "NAME",
	  "with --live: session, by name or number (default: session 0)" },
	{ "device", 0, KT_OPT_TEXT, OPT(device), "PATH",
	  "with --live: instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

/* Open the folder, or that of a trace.  @only: set to the name of the trace. */
static int open_root(struct serve *s, const char *operand, char **only)
{
	char *path = realpath(operand, NULL), *copy = NULL;
	struct stat st, metadata;
	bool trace;

	if (!path || stat(path, &st))
		return fail("%s: %s", operand, strerror(errno));
	s->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A file, or a folder with metadata, is a trace: serve its folder, but only this name. */
	trace = s->root < 0 || !fstatat(s->root, "metadata", &metadata, 0);
	if (trace) {
		if (s->root >= 0)
			close(s->root);
		copy = strdup(path);
		*only = copy ? strdup(basename(copy)) : NULL;
		s->only = *only;
		errno = ENOMEM;
		/* Without the name the whole folder would be served. */
		s->root = s->only ? open(dirname(path),
					 O_RDONLY | O_DIRECTORY | O_CLOEXEC) :
				    -1;
	}
	free(copy);
	free(path);
	return s->root < 0 ? fail("%s: %s", operand, strerror(errno)) : 0;
}

static int make_token(struct serve *s)
{
	unsigned char bytes[SERVE_TOKEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fail("random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static bool is_loopback(const char *address)
{
	return !strcmp(address, "::1") || !strncmp(address, "127.", 4);
}

static int check_serve_options(const struct serve_options *o)
{
	struct in6_addr any;

	if (o->port > UINT16_MAX)
		return misuse(&command_serve, "--port: at most %u", UINT16_MAX);
	if (inet_pton(AF_INET, o->address, &any) != 1 &&
	    inet_pton(AF_INET6, o->address, &any) != 1)
		return misuse(&command_serve,
			      "--address: \"%s\" is not an address in numbers",
			      o->address);
	if (o->no_token && !is_loopback(o->address))
		return misuse(&command_serve,
			      "--no-token: other machines need the token");
	if (!o->live && (o->session || o->device))
		return misuse(&command_serve, "--session and --device need --live");
	return 0;
}

/* Serve until a signal comes.  Return: the exit code. */
static int run_server(struct serve *s, bool open)
{
	struct serve_http *http;
	struct pollfd p = { .events = POLLIN };
	char url[128], opened[BROWSER_PATH] = "";
	const char *missing = serve_mhd_load();
	int err;

	if (missing)
		return fail("libmicrohttpd cannot be loaded: %s", missing);

	p.fd = signals_pipe();
	if (p.fd < 0)
		return fail("pipe: %s", strerror(-p.fd));
	signals_catch();
	err = serve_http_start(s, &http);
	if (err)
		return fail("%s, port %u: %s", s->address, s->port, strerror(-err));
	snprintf(url, sizeof(url),
		 strchr(s->address, ':') ? "http://[%s]:%u/%s%s" : "http://%s:%u/%s%s",
		 s->address, s->port, s->token, *s->token ? "/" : "");
	puts(url);
	err = finish_stdout();
	if (!err && open && !browser_open_url(url, opened))
		*opened = '\0';
	while (!err && poll(&p, 1, -1) < 0 && errno == EINTR && !signals_came())
		;
	serve_http_stop(http);
	if (*opened)
		unlink(opened);
	return err;
}

static int cmd_serve(int argc, char **argv)
{
	struct serve_options o = { .address = LOOPBACK };
	struct serve s = { .root = -1 };
	char *only = NULL;
	int first, ret;

	ret = kt_options(&command_serve, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first > 1)
		return misuse(&command_serve,
			      "too many operands: give one trace or folder");
	ret = check_serve_options(&o);
	if (ret)
		return ret;
	s.address = o.address;
	s.port = (uint16_t)o.port;
	s.session = o.live;
	s.device = o.device;
	s.session_name = o.session;
	if (!o.no_token)
		ret = make_token(&s);
	if (!ret)
		ret = open_root(&s, first < argc ? argv[first] : ".", &only);
	if (!ret)
		ret = run_server(&s, o.open);
	if (s.root >= 0)
		close(s.root);
	free(only);
	return ret;
}

const struct kt_command command_serve = {
	.name = "serve",
	.operands = "[DIR|FILE]",
	.help = "show traces in a browser",
	.more = "It prints its address, and ends with Ctrl-C.\n",
	.options = options,
	.run = KT_RUN(cmd_serve),
};
