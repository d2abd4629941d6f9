// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * RKH trace, the trace of a framework for state machines (rkh.c draws it): the configuration of a
 * stream.  It is read from and written to the record FWK_TCFG, taken from options, and packed into
 * the arguments of a user event.
 */
#include "util/parse.h"

#include "internal.h"

#define BODY	  13U /* bytes of the record after its id, without checksum */
#define TCFG_WIDE 0x50cU /* its id in 2 or 4 bytes: group << 8 | number */

/* The default configuration, assumed for a stream without a configuration record. */
static const struct kt_rkh_config usual = {
	.flags = KT_RKH_ALL,
	.version = 0x3400,
	.hz = 1000,
	.id = 1,
	.sig = 1,
	.ts = 4,
	.ptr = 4,
	.ntimer = 2,
	.nblock = 1,
	.nelem = 1,
	.esize = 2,
	.bsize = 1,
	.pools = 4,
};

/* Check whether a field may have @n bytes. */
static bool is_config_width(unsigned int n, unsigned int max)
{
	return (n == 1 || n == 2 || n == 4 || n == 8) && n <= max;
}

static bool is_valid_config(const struct kt_rkh_config *c)
{
	return is_config_width(c->id, 4) && is_config_width(c->sig, 4) &&
	       is_config_width(c->ts, 4) && is_config_width(c->ptr, 8) &&
	       is_config_width(c->ntimer, 4) && is_config_width(c->nblock, 4) &&
	       is_config_width(c->nelem, 4) && is_config_width(c->esize, 4) &&
	       is_config_width(c->bsize, 4);
}

/*
 * Read the configuration record.  It has neither sequence number nor time stamp, and a
 * checksum only if its own flags say so.  @c->id is given; all other members are set.
 * Return: false if the frame is no configuration record; @c is unchanged then.
 */
bool kt_rkh_get_config(struct kt_rkh_config *c, const uint8_t *data, size_t len)
{
	uint32_t id = c->id == 1 ? KT_RKH_TCFG : TCFG_WIDE;
	struct kt_rkh_config n = { .id = c->id };
	const uint8_t *p = data + c->id;

	if (len < c->id + BODY || len > c->id + BODY + 1U)
		return false;
	for (unsigned int i = 0; i < c->id; i++, id >>= 8) {
		if (data[i] != (id & 0xff))
			return false;
	}
	n.version = (uint16_t)(p[0] | p[1] << 8);
	n.flags = kt_get32(p + 2);
	n.sig = p[6] >> 4;
	n.ts = p[6] & 15;
	n.ptr = p[7] >> 4;
	n.ntimer = p[7] & 15;
	n.nblock = p[8] >> 4;
	n.nelem = p[8] & 15;
	n.esize = p[9];
	n.bsize = p[10] >> 4;
	n.pools = p[10] & 15;
	n.hz = (uint16_t)(p[11] | p[12] << 8);
	if (!is_valid_config(&n) ||
	    (len > c->id + BODY) != !!(n.flags & KT_RKH_CHECK))
		return false;
	if (n.flags & KT_RKH_CHECK && !kt_rkh_checked(data, len))
		return false;
	*c = n;
	return true;
}

/*
 * Write the content of a configuration record to @to, which has room for
 * KT_RKH_CONFIG_FRAME bytes.
 * Return: number of bytes.
 */
size_t kt_rkh_put_config(const struct kt_rkh_config *c, uint8_t *to)
{
	uint32_t id = c->id == 1 ? KT_RKH_TCFG : TCFG_WIDE;
	uint8_t *p = to, sum = 0;

	for (unsigned int i = 0; i < c->id; i++, id >>= 8)
		*p++ = (uint8_t)id;
	*p++ = (uint8_t)c->version;
	*p++ = (uint8_t)(c->version >> 8);
	kt_set32(p, c->flags);
	p += 4;
	*p++ = (uint8_t)(c->sig << 4 | c->ts);
	*p++ = (uint8_t)(c->ptr << 4 | c->ntimer);
	*p++ = (uint8_t)(c->nblock << 4 | c->nelem);
	*p++ = c->esize;
	*p++ = (uint8_t)(c->bsize << 4 | c->pools);
	*p++ = (uint8_t)c->hz;
	*p++ = (uint8_t)(c->hz >> 8);
	if (c->flags & KT_RKH_CHECK) {
		for (const uint8_t *b = to; b < p; b++)
			sum = (uint8_t)(sum + *b);
		*p++ = (uint8_t)-sum;
	}
	return (size_t)(p - to);
}

/* Pack the configuration into arguments of the user event that stands for its record. */
void kt_rkh_pack(const struct kt_rkh_config *c, uint32_t words[KT_RKH_CONFIG_WORDS])
{
	words[0] = c->flags;
	words[1] = (uint32_t)c->hz << 16 | c->version;
	words[2] = (uint32_t)c->sig << 28 | (uint32_t)c->ts << 24 |
		   (uint32_t)c->ptr << 20 | (uint32_t)c->ntimer << 16 |
		   (uint32_t)c->nblock << 12 | (uint32_t)c->nelem << 8 |
		   (uint32_t)c->bsize << 4 | c->pools;
	words[3] = (uint32_t)c->id << 8 | c->esize;
}

/*
 * Unpack the arguments of that user event.
 * Return: false if a width is impossible; @c is unchanged then.
 */
bool kt_rkh_unpack(struct kt_rkh_config *c,
		   const uint32_t words[KT_RKH_CONFIG_WORDS])
{
	const struct kt_rkh_config n = {
		.flags = words[0],
		.hz = (uint16_t)(words[1] >> 16),
		.version = (uint16_t)words[1],
		.sig = words[2] >> 28 & 15,
		.ts = words[2] >> 24 & 15,
		.ptr = words[2] >> 20 & 15,
		.ntimer = words[2] >> 16 & 15,
		.nblock = words[2] >> 12 & 15,
		.nelem = words[2] >> 8 & 15,
		.bsize = words[2] >> 4 & 15,
		.pools = words[2] & 15,
		.id = (uint8_t)(words[3] >> 8),
		.esize = (uint8_t)words[3],
	};

	if (!is_valid_config(&n))
		return false;
	*c = n;
	return true;
}

static const struct {
	const char *key;
	size_t offset;
} widths[] = {
	{ "id-width", offsetof(struct kt_rkh_config, id) },
	{ "sig-width", offsetof(struct kt_rkh_config, sig) },
	{ "time-width", offsetof(struct kt_rkh_config, ts) },
	{ "ptr-width", offsetof(struct kt_rkh_config, ptr) },
	{ "ntimer-width", offsetof(struct kt_rkh_config, ntimer) },
	{ "nblock-width", offsetof(struct kt_rkh_config, nblock) },
	{ "nelem-width", offsetof(struct kt_rkh_config, nelem) },
	{ "esize-width", offsetof(struct kt_rkh_config, esize) },
	{ "bsize-width", offsetof(struct kt_rkh_config, bsize) },
};

static const struct {
	const char *key;
	uint32_t flag;
} switches[] = {
	{ "seq", KT_RKH_SEQ },	       { "time", KT_RKH_TIME },
	{ "check", KT_RKH_CHECK },     { "sender", KT_RKH_SENDER },
	{ "que-low", KT_RKH_QUE_LOW }, { "mp-low", KT_RKH_MP_LOW },
};

/*
 * Set @c to the default configuration, changed by the user's options.
 * Return: NULL, or the key of an option with a bad value.
 */
const char *kt_rkh_options(struct kt_rkh_config *c,
			   const struct kt_codec_options *options)
{
	const char *text;
	uint64_t v;

	*c = usual;
	for (size_t i = 0; i < KT_ARRAY_SIZE(widths); i++) {
		text = kt_codec_option(options, widths[i].key);
		if (!text)
			continue;
		if (kt_parse_u64(text, &v) || v > 8)
			return widths[i].key;
		*((uint8_t *)c + widths[i].offset) = (uint8_t)v;
		if (!is_valid_config(c))
			return widths[i].key;
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(switches); i++) {
		text = kt_codec_option(options, switches[i].key);
		if (!text)
			continue;
		if (kt_parse_u64(text, &v) || v > 1)
			return switches[i].key;
		c->flags = v ? c->flags | switches[i].flag :
			       c->flags & ~switches[i].flag;
	}
	text = kt_codec_option(options, "tick-hz");
	if (text && (kt_parse_u64(text, &v) || !v || v > UINT16_MAX))
		return "tick-hz";
	if (text)
		c->hz = (uint16_t)v;
	return NULL;
}
