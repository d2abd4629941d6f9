// SPDX-License-Identifier: LGPL-2.1-or-later
/* A value of a field as text. */
#include "show/line.h"

/* Put the name of a thread. */
char *kt_text_thread(char *p, const struct kt_line *l, int32_t tid)
{
	const struct ktape_object_info *t;

	if (!tid)
		return kt_put_mem(p, "swapper", 7);
	t = ktape_registry_thread(l->registry, tid, l->event->ts);
	if (t && t->plain)
		return kt_put_object(p, t);
	if (t)
		return kt_put_escaped(p, t->name, t->name_len);
	return kt_put_char(p, '?');
}

/* Put a moment as the time of an event is put; 0 is none. */
static KT_NOINLINE char *put_moment(char *p, const struct kt_line *l, uint64_t ticks)
{
	int64_t v = ktape_mono_ns(l->info, ticks);
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	if (!ticks)
		return kt_put_char(p, '0');
	if (v < 0)
		p = kt_put_char(p, '-');
	if (l->info->counts)
		return kt_put_u64(p, size);
	p = kt_put_char(kt_put_u64(p, size / NS_PER_S), '.');
	return kt_put_nano(p, (uint32_t)(size % NS_PER_S));
}

/* Put NUMBER (NAME). */
static KT_NOINLINE char *put_text_named(char *p, const struct kt_line *l,
					unsigned int type, uint64_t value)
{
	struct kt_name name = kt_name_of(l, type, value);

	if (type == KTAPE_TYPE_DEV) {
		/* MAJOR:MINOR, as in a dev_t of the kernel. */
		p = kt_put_u64(p, value >> 20);
		p = kt_put_char(p, ':');
		p = kt_put_u64(p, value & 0xfffff);
	} else {
		p = kt_put_u64(p, value);
	}
	if (!name.text)
		return p;
	p = kt_put_mem(p, " (", 2);
	return kt_put_char(kt_show_name(p, l, &name), ')');
}

/* Put SYMBOL+OFFSET, or the address token if the symbol is not known. */
static KT_NOINLINE char *put_text_symbol(char *p, const struct kt_line *l,
					 uint64_t value)
{
	struct kt_name name = kt_name_of(l, KTAPE_TYPE_FUNC, value);

	if (!name.text)
		return kt_put_hex(p, value);
	p = kt_show_name(p, l, &name);
	if (!name.offset)
		return p;
	return kt_put_hex(kt_put_char(p, '+'), name.offset);
}

static KT_NOINLINE char *put_text_thread(char *p, const struct kt_line *l,
					 int32_t tid)
{
	p = kt_put_mem(kt_put_s64(p, tid), " (", 2);
	return kt_put_char(kt_text_thread(p, l, tid), ')');
}

static KT_NOINLINE char *put_value_name(char *p, unsigned int type, uint64_t value)
{
	const char *name = ktape_value_name(type, value);

	return name ? kt_put_str(p, name) : kt_put_u64(p, value);
}

/* Put a value.  Only the frequent types are inline, to keep the stack frame small. */
char *kt_text_value(char *p, const struct kt_line *l, unsigned int type,
		    uint64_t value)
{
	switch (type) {
	case KTAPE_TYPE_U32:
	case KTAPE_TYPE_BOOL:
	case KTAPE_TYPE_CPU:
	case KTAPE_TYPE_PRIO:
		return kt_put_u64(p, value);
	case KTAPE_TYPE_PTR:
	case KTAPE_TYPE_X32:
	case KTAPE_TYPE_X64:
		return kt_put_hex(p, value);
	case KTAPE_TYPE_S32:
	case KTAPE_TYPE_S64:
		return kt_put_s64(p, (int64_t)value);
	case KTAPE_TYPE_TID:
		return put_text_thread(p, l, (int32_t)value);
	case KTAPE_TYPE_TICKS:
		return put_moment(p, l, value);
	case KTAPE_TYPE_FUNC:
		return put_text_symbol(p, l, value);
	case KTAPE_TYPE_SYSCALL:
	case KTAPE_TYPE_IRQ:
	case KTAPE_TYPE_MARKER:
	case KTAPE_TYPE_VALUEID:
	case KTAPE_TYPE_ISRID:
	case KTAPE_TYPE_DEV:
	case KTAPE_TYPE_NETDEV:
		return put_text_named(p, l, type, value);
	default:
		return put_value_name(p, type, value);
	}
}
