// SPDX-License-Identifier: GPL-2.0-only
/* Kernel modules that come, go and are used. */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/string.h>
#include <trace/events/module.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

static __always_inline u32 name_bytes(const struct module *mod)
{
	return strnlen(mod->name, sizeof(mod->name));
}

static void notrace probe_module_load(void *data, struct module *mod)
{
	const u32 args[] = { (u32)mod->taints };

	kt_probe_enter();
	KT_EVENT_LONG(MODULE_LOAD, 0, args, mod->name, name_bytes(mod));
	kt_probe_leave();
}

static void notrace probe_module_free(void *data, struct module *mod)
{
	static const u32 none[] = {};

	kt_probe_enter();
	KT_EVENT_LONG(MODULE_FREE, 0, none, mod->name, name_bytes(mod));
	kt_probe_leave();
}

#ifdef CONFIG_MODULE_UNLOAD
#define USE_EVENT(NAME, mod, ip)					\
do {									\
	kt_probe_enter();						\
	if (KT_WANTED(NAME)) {						\
		const u32 __args[] = { kt_token_func(ip),		\
				       atomic_read(&(mod)->refcnt) };	\
									\
		KT_EVENT_LONG(NAME, 0, __args, (mod)->name,		\
			      name_bytes(mod));				\
	}								\
	kt_probe_leave();						\
} while (0)

static void notrace probe_module_get(void *data, struct module *mod,
				     unsigned long ip)
{
	USE_EVENT(MODULE_GET, mod, ip);
}

static void notrace probe_module_put(void *data, struct module *mod,
				     unsigned long ip)
{
	USE_EVENT(MODULE_PUT, mod, ip);
}
#endif

struct kt_probe kt_probes_module[] = {
	KT_PROBE(module_load, MODULE_LOAD, probe_module_load,
		    struct module *),
	KT_PROBE(module_free, MODULE_FREE, probe_module_free,
		    struct module *),
#ifdef CONFIG_MODULE_UNLOAD
	KT_PROBE(module_get, MODULE_GET, probe_module_get, struct module *,
		    unsigned long),
	KT_PROBE(module_put, MODULE_PUT, probe_module_put, struct module *,
		    unsigned long),
#else
	KT_PROBE_NONE(module_get, MODULE_GET),
	KT_PROBE_NONE(module_put, MODULE_PUT),
#endif
	{}
};
