// SPDX-License-Identifier: GPL-2.0-only
/* ktape serve: load libmicrohttpd. */
#include <dlfcn.h>

#include "util/bits.h"

#include "tool/serve/mhd.h"
#include "tool/serve/serve.h"

/* The makefile knows the name that a linked program would have. */
#ifndef KT_MICROHTTPD_SO
#define KT_MICROHTTPD_SO "libmicrohttpd.so.12"
#endif

struct serve_mhd mhd;

/**
 * serve_mhd_load() - load the library
 *
 * It stays loaded.
 *
 * Return: NULL, or why there is no library, in a sentence.
 */
const char *serve_mhd_load(void)
{
	/* ISO C has no conversion between pointers to objects and to functions. */
#define FIND(name) { "MHD_" #name, (void **)(void *)&mhd.name },
	static const struct {
		const char *name;
		void **to;
	} functions[] = { SERVE_MHD(FIND) };
	void *library = dlopen(KT_MICROHTTPD_SO, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return dlerror();
	for (size_t i = 0; i < KT_ARRAY_SIZE(functions); i++) {
		*functions[i].to = dlsym(library, functions[i].name);
		if (!*functions[i].to)
			return dlerror();
	}
	return NULL;
}
