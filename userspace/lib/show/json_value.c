// SPDX-License-Identifier: LGPL-2.1-or-later
/* Put the value of a field as JSON. */
#include "show/line.h"

/*
 * Numbers of 64 bits are strings, whatever their value: JavaScript, jq and others read a
 * number as a double, which keeps 53 bits of it.
 */
static char *put_json_wide(char *p, uint64_t value)
{
	p = kt_put_char(p, '"');
	p = kt_put_u64(p, value);
	return kt_put_char(p, '"');
}

static char *put_wide_signed(char *p, int64_t value)
{
	p = kt_put_char(p, '"');
	p = kt_put_s64(p, value);
	return kt_put_char(p, '"');
}

static char *put_quoted_hex(char *p, uint64_t value)
{
	p = kt_put_char(p, '"');
	p = kt_put_hex(p, value);
	return kt_put_char(p, '"');
}

/* Put "SYMBOL+OFFSET", or the address token if the symbol is not known. */
static char *put_json_symbol(char *p, const struct kt_line *l, uint64_t value)
{
	struct kt_name name = kt_name_of(l, KTAPE_TYPE_FUNC, value);

	if (!name.text)
		return put_quoted_hex(p, value);
	p = kt_show_name(p, l, &name);
	if (!name.offset)
		return p;
	p[-1] = '+'; /* instead of the closing quote */
	return kt_put_char(kt_put_hex(p, name.offset), '"');
}

/* Put MAJOR:MINOR; a device number has the minor in its lower 20 bits. */
static char *put_json_device(char *p, uint64_t value)
{
	p = kt_put_char(p, '"');
	p = kt_put_u64(p, value >> 20);
	p = kt_put_char(p, ':');
	p = kt_put_u64(p, value & 0xfffff);
	return kt_put_char(p, '"');
}

/* Put a value of a type of the event table; a time of 0 is none. */
char *kt_json_value(char *p, const struct kt_line *l, unsigned int type,
		    uint64_t value)
{
	const char *name;

	switch (type) {
	case KTAPE_TYPE_U32:
	case KTAPE_TYPE_CPU:
	case KTAPE_TYPE_PRIO:
	case KTAPE_TYPE_IRQ:
	case KTAPE_TYPE_SYSCALL:
	case KTAPE_TYPE_MARKER:
	case KTAPE_TYPE_VALUEID:
	case KTAPE_TYPE_ISRID:
	case KTAPE_TYPE_NETDEV:
		return kt_put_u64(p, value);
	case KTAPE_TYPE_PTR:
	case KTAPE_TYPE_X32:
	case KTAPE_TYPE_X64:
		return put_quoted_hex(p, value);
	case KTAPE_TYPE_TICKS:
		return put_wide_signed(p, value ? ktape_epoch_ns(l->info, value) :
						  0);
	case KTAPE_TYPE_U64:
	case KTAPE_TYPE_NS:
		return put_json_wide(p, value);
	case KTAPE_TYPE_S64:
		return put_wide_signed(p, (int64_t)value);
	case KTAPE_TYPE_FUNC:
		return put_json_symbol(p, l, value);
	case KTAPE_TYPE_DEV:
		return put_json_device(p, value);
	case KTAPE_TYPE_S32:
	case KTAPE_TYPE_TID:
		return kt_put_s64(p, (int64_t)value);
	case KTAPE_TYPE_BOOL:
		return kt_put_str(p, value ? "true" : "false");
	default:
		name = ktape_value_name(type, value);
		if (!name)
			return kt_put_u64(p, value);
		p = kt_put_char(p, '"');
		p = kt_put_str(p, name);
		return kt_put_char(p, '"');
	}
}
