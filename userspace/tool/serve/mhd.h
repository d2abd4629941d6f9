/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libmicrohttpd, loaded when ktape serve begins: with its own libraries (GnuTLS) it costs
 * more than most commands take to run.  mhd.c has the functions by their names.
 */
#ifndef _KT_TOOL_SERVE_MHD_H
#define _KT_TOOL_SERVE_MHD_H

#include <microhttpd.h>

/* What is used of it. */
#define SERVE_MHD(X)                     \
	X(add_response_header)           \
	X(create_response_from_buffer)   \
	X(create_response_from_callback) \
	X(create_response_from_fd64)     \
	X(destroy_response)              \
	X(get_connection_info)           \
	X(get_daemon_info)               \
	X(get_response_header)           \
	X(lookup_connection_value)       \
	X(queue_response)                \
	X(set_connection_option)         \
	X(start_daemon)                  \
	X(stop_daemon)

#define SERVE_MHD_MEMBER(name) __typeof__(&MHD_##name) name;
/**
 * struct serve_mhd - functions of libmicrohttpd, without MHD_
 */
struct serve_mhd {
	SERVE_MHD(SERVE_MHD_MEMBER)
};

/* Filled by serve_mhd_load() (serve.h), to be called first. */
extern struct serve_mhd mhd;

#endif /* _KT_TOOL_SERVE_MHD_H */
