// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recover a trace from memory that survived a reset: find the superblocks, validate
 * them, and read the metadata and the table of rings.  ring.c recovers each ring,
 * names.c the names.  The layout of the memory is in ktape/persist.h.
 *
 * The memory may contain anything.  Every number is checked before it is used, and
 * memory use is bounded by the limits in this file, not by sizes in the input.
 */
#include "util/crc32c.h"
#include "stream/metadata.h"
#include "recover/internal.h"

#define PAGE	  4096U	       /* smallest page size of any kernel */
#define PAGE_MAX  (256U << 10) /* largest */
#define CHUNK	  (1U << 20)   /* bytes that a search reads at once */
#define RINGS_MAX (KT_CPUS_MAX * KTAPE_RINGS_PER_CPU)
#define NAMES_MAX (1U << 20)
#define RING_MAX  (1ULL << 31) /* bytes of the blocks of a ring */

/* Bytes of a superblock that its checksum covers. */
#define HEAD_SIZE offsetof(struct ktape_persist, state)

/* ---- superblocks ------------------------------------------------------ */

static void to_host(struct ktape_persist *p)
{
	p->magic = le64toh(p->magic);
	p->version = le32toh(p->version);
	p->crc32c = le32toh(p->crc32c);
	p->table_hash = le64toh(p->table_hash);
	p->size = le64toh(p->size);
	p->here = le64toh(p->here);
	p->page_size = le32toh(p->page_size);
	p->clock = le32toh(p->clock);
	p->clock_hz = le64toh(p->clock_hz);
	p->start_clock = le64toh(p->start_clock);
	p->start_mono_ns = le64toh(p->start_mono_ns);
	p->start_boot_ns = le64toh(p->start_boot_ns);
	p->start_real_ns = le64toh(p->start_real_ns);
	p->rings = le64toh(p->rings);
	p->metadata = le64toh(p->metadata);
	p->metadata_size = le64toh(p->metadata_size);
	p->registry = le64toh(p->registry);
	p->nr_rings = le32toh(p->nr_rings);
	p->registry_entries = le32toh(p->registry_entries);
	p->rings_crc32c = le32toh(p->rings_crc32c);
	p->metadata_crc32c = le32toh(p->metadata_crc32c);
	p->pos_bits = le32toh(p->pos_bits);
	p->sequence = le32toh(p->sequence);
	p->state = le32toh(p->state);
}

static bool crc_is_right(const uint8_t *page)
{
	const size_t at = offsetof(struct ktape_persist, crc32c);
	static const uint8_t none[4];
	uint32_t crc;

	crc = kt_crc32c(0, page, at);
	crc = kt_crc32c(crc, none, sizeof(none));
	crc = kt_crc32c(crc, page + at + sizeof(none),
			HEAD_SIZE - at - sizeof(none));
	return crc == kt_get32(page + at);
}

static bool is_inside(const struct ktape_persist *p, uint64_t offset, uint64_t bytes)
{
	return offset >= p->page_size && offset % 8 == 0 && offset < p->size &&
	       bytes <= p->size - offset;
}

/* Validate a superblock.  Return: NULL, or a description of the error. */
static const char *check_super(const struct ktape_persist *p)
{
	uint32_t page = p->page_size;

	if (p->version != KTAPE_PERSIST_VERSION)
		return "an unknown version";
	if (page < PAGE || page > PAGE_MAX || page & (page - 1))
		return "an invalid page size";
	if (p->size % page || p->size / page < 4 || p->size > 1ULL << 48)
		return "an invalid region size";
	if (p->here && p->here != p->size - page)
		return "an invalid offset of its own";
	if (p->pos_bits != 32 && p->pos_bits != 64)
		return "an invalid width of positions";
	if (!p->nr_rings || p->nr_rings > RINGS_MAX ||
	    !is_inside(p, p->rings, p->nr_rings * sizeof(struct ktape_persist_ring)))
		return "an invalid offset or size of the table of rings";
	if (p->metadata_size > KT_METADATA_MAX ||
	    !is_inside(p, p->metadata, p->metadata_size))
		return "an invalid offset or size of the metadata";
	if (p->registry_entries > NAMES_MAX ||
	    !is_inside(p, p->registry,
		       p->registry_entries * sizeof(struct ktape_object_entry)))
		return "an invalid offset or size of the table of names";
	return NULL;
}

/*
 * Validate a page that begins with the magic number, and copy its superblock to @super.
 * Return: false if it is not valid; why is told to the caller's hook.
 */
static bool is_super(const uint8_t *page, uint64_t offset,
		     const struct ktape_recover_hooks *hooks,
		     struct ktape_persist *super)
{
	const char *wrong = "a wrong checksum";
	struct ktape_error e = { .offset = offset };

	memcpy(super, page, sizeof(*super));
	to_host(super);
	if (crc_is_right(page))
		wrong = check_super(super);
	if (!wrong && super->here > offset)
		wrong = "a region that begins before the input";
	if (!wrong)
		return true;
	if (hooks && hooks->tell) {
		snprintf(e.text, sizeof(e.text), "a superblock has %s", wrong);
		hooks->tell(hooks->arg, &e);
	}
	return false;
}

/* A search for regions. */
struct scan {
	const struct ktape_recover_hooks *hooks;
	struct ktape_recover_place *places;
	unsigned int room;
	unsigned int nr;
};

/* Keep a region, unless it was found before: each region has two superblocks. */
static void keep_region(struct scan *s, uint64_t offset,
			const struct ktape_persist *super)
{
	uint64_t base = offset - super->here;
	struct ktape_error e = { .offset = base };

	for (unsigned int i = 0; i < s->nr; i++) {
		if (s->places[i].offset == base &&
		    !memcmp(s->places[i].super.uuid, super->uuid, 16))
			return;
	}
	if (s->nr < s->room) {
		s->places[s->nr].offset = base;
		s->places[s->nr++].super = *super;
	} else if (s->hooks && s->hooks->tell) {
		snprintf(e.text, sizeof(e.text),
			 "a further region was found here and is ignored");
		s->hooks->tell(s->hooks->arg, &e);
	}
}

static int scan_chunk(struct scan *s, const uint8_t *chunk, uint64_t offset,
		      uint64_t len)
{
	struct ktape_persist super;

	for (uint64_t at = 0; at + sizeof(super) <= len; at += PAGE) {
		if (kt_get64(chunk + at) == KTAPE_PERSIST_MAGIC &&
		    is_super(chunk + at, offset + at, s->hooks, &super))
			keep_region(s, offset + at, &super);
	}
	if (s->hooks && s->hooks->progress)
		return s->hooks->progress(s->hooks->arg, offset + len, 0);
	return 0;
}

int ktape_recover_scan(const struct ktape_recover_input *input,
		       const struct ktape_recover_hooks *hooks,
		       struct ktape_recover_place *places, unsigned int nr)
{
	struct scan s = { .hooks = hooks, .places = places, .room = nr };
	uint8_t *chunk = malloc(kt_min(CHUNK, input->size + 1));
	uint64_t offset = 0;
	int64_t got = 0;
	int ret = 0;

	if (!chunk)
		return -ENOMEM;
	while (!ret && offset < input->size) {
		got = input->read(input->arg, offset, chunk,
				  kt_min(CHUNK, input->size - offset));
		if (got <= 0)
			break;
		ret = scan_chunk(&s, chunk, offset, (uint64_t)got);
		/* A short read ends the input, perhaps not at the end of a page. */
		offset += kt_align((uint64_t)got, PAGE);
	}
	free(chunk);
	if (got < 0)
		return (int)got;
	return ret ? ret : (int)s.nr;
}

/* ---- metadata --------------------------------------------------------- */

/* Make the metadata from this library's event table, if the hash is the same. */
static int make_recovered_metadata(struct kt_recovery *rec, char **text,
				   size_t *len, struct ktape_error *error)
{
	const struct ktape_persist *p = &rec->super;
	struct ktape_info *info = &rec->result->info;
	int64_t ns;

	if (p->table_hash != ktape_table_hash())
		return kt_error(
			error, rec->base + p->metadata,
			"the metadata is damaged, and the trace was recorded with another event table");
	memset(info, 0, sizeof(*info));
	memcpy(info->uuid, p->uuid, sizeof(info->uuid));
	info->freq = p->clock_hz;
	if (!info->freq || info->freq > UINT64_MAX / 1000000000)
		return kt_error(error, rec->base,
				"the clock frequency in the superblock is not valid");
	snprintf(info->clock, sizeof(info->clock), "%s",
		 p->clock == KTAPE_CLOCK_CYCLES ? "cycles" : "mono");
	snprintf(info->hostname, sizeof(info->hostname), "recovered");
	ns = (int64_t)ktape_ticks_to_ns(info, p->start_clock);
	info->mono_offset_ns = (int64_t)(p->start_mono_ns - (uint64_t)ns);
	info->boot_offset_ns = (int64_t)(p->start_boot_ns - (uint64_t)ns);
	info->real_offset_ns = (int64_t)(p->start_real_ns - (uint64_t)ns);
	info->offset_s = info->real_offset_ns / 1000000000;
	kt_recover_report(
		rec, p->metadata,
		"the metadata is damaged and was made from this library's event table");
	rec->result->metadata_made = true;
	return ktape_metadata_format(info, text, len);
}

static bool metadata_is_right(const struct kt_recovery *rec, const char *text)
{
	const struct ktape_persist *p = &rec->super;
	struct ktape_info *info = &rec->result->info;

	return kt_crc32c(0, text, p->metadata_size) == p->metadata_crc32c &&
	       !ktape_metadata_parse(text, p->metadata_size, info, NULL) &&
	       !memcmp(info->uuid, p->uuid, sizeof(info->uuid));
}

/* Add the list of CPUs whose rings are recovered to the metadata. */
static int add_cpus(const struct kt_recovery *rec, char **text, size_t *len)
{
	uint64_t cpus[KTAPE_CPU_WORDS] = { 0 };
	int err;

	for (unsigned int i = 0; i < rec->super.nr_rings; i++) {
		const struct ktape_persist_ring *d = &rec->table[i];

		if (d->nr_blocks)
			cpus[d->cpu / 64] |= 1ULL << (d->cpu % 64);
	}
	err = ktape_metadata_cpus(text, len, cpus);
	/* Metadata of other versions may have no env block of this form. */
	return err == -EBADMSG ? 0 : err;
}

/* Read or make the metadata, and begin the output. */
static int begin_output(struct kt_recovery *rec, struct ktape_error *error)
{
	size_t len = rec->super.metadata_size;
	char *text = malloc(len ? len : 1);
	int err;

	if (!text)
		return -ENOMEM;
	err = kt_recover_read(rec, rec->super.metadata, text, len);
	if (err == -EBADMSG || (!err && !metadata_is_right(rec, text))) {
		free(text);
		text = NULL;
		err = make_recovered_metadata(rec, &text, &len, error);
		if (!err)
			err = ktape_metadata_parse(text, len,
						   &rec->result->info, error);
	}
	if (!err)
		err = add_cpus(rec, &text, &len);
	if (!err)
		err = rec->out->begin(rec->out->arg, text, len);
	free(text);
	return err;
}

/* ---- rings ------------------------------------------------------------ */

static void ring_to_host(struct ktape_persist_ring *d)
{
	d->cpu = le32toh(d->cpu);
	d->kind = le32toh(d->kind);
	d->page = le64toh(d->page);
	d->checks = le64toh(d->checks);
	d->blocks = le64toh(d->blocks);
	d->block_size = le32toh(d->block_size);
	d->nr_blocks = le32toh(d->nr_blocks);
}

static bool is_power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

static bool ring_is_valid(const struct ktape_persist *p,
			  const struct ktape_persist_ring *d)
{
	uint64_t size = (uint64_t)d->block_size * d->nr_blocks;

	return d->cpu < KT_CPUS_MAX && d->kind < KTAPE_RINGS_PER_CPU &&
	       is_power_of_two(d->block_size) && d->block_size >= PAGE &&
	       d->block_size <= KT_PACKET_MAX &&
	       is_power_of_two(d->nr_blocks) && size <= RING_MAX &&
	       is_inside(p, d->page, sizeof(struct ktape_ring_page)) &&
	       is_inside(p, d->checks,
			 d->nr_blocks * sizeof(struct ktape_persist_check)) &&
	       is_inside(p, d->blocks, size);
}

/*
 * Leave out invalid rings by setting their number of blocks to 0.  A ring is also left
 * out if all rings together would have more blocks than the region has memory: a
 * forged table could otherwise point to the same blocks again and again.
 */
static int check_recovered_rings(struct kt_recovery *rec)
{
	const struct ktape_persist *p = &rec->super;
	uint8_t *seen = calloc(RINGS_MAX, 1);

	if (!seen)
		return -ENOMEM;
	for (unsigned int i = 0; i < p->nr_rings; i++) {
		struct ktape_persist_ring *d = &rec->table[i];
		uint64_t bytes = (uint64_t)d->block_size * d->nr_blocks;

		if (ring_is_valid(p, d) && bytes <= p->size - rec->all &&
		    !seen[d->cpu * KTAPE_RINGS_PER_CPU + d->kind]++) {
			rec->all += bytes;
			continue;
		}
		kt_recover_report(rec, p->rings + i * sizeof(*d),
				  "entry %u of the table of rings is not valid and is left out",
				  i);
		d->nr_blocks = 0;
	}
	free(seen);
	return 0;
}

static int read_table(struct kt_recovery *rec, struct ktape_error *error)
{
	const struct ktape_persist *p = &rec->super;
	size_t bytes = p->nr_rings * sizeof(*rec->table);
	int err;

	rec->table = calloc(p->nr_rings, sizeof(*rec->table));
	if (!rec->table)
		return -ENOMEM;
	err = kt_recover_read(rec, p->rings, rec->table, bytes);
	if (err && err != -EBADMSG)
		return err;
	if (err || kt_crc32c(0, rec->table, bytes) != p->rings_crc32c)
		return kt_error(error, rec->base + p->rings,
				"the table of rings is damaged");
	for (unsigned int i = 0; i < p->nr_rings; i++)
		ring_to_host(&rec->table[i]);
	return check_recovered_rings(rec);
}

static int recover_rings(struct kt_recovery *rec)
{
	const struct ktape_persist *p = &rec->super;
	struct ktape_recovered *result = rec->result;
	int err = 0;

	result->rings = calloc(p->nr_rings, sizeof(*result->rings));
	if (!result->rings)
		return -ENOMEM;
	for (unsigned int i = 0; i < p->nr_rings && err >= 0; i++) {
		if (!rec->table[i].nr_blocks)
			continue;
		err = kt_recover_ring(rec, &rec->table[i],
				      &result->rings[result->nr_rings]);
		result->nr_rings += err > 0;
	}
	return err < 0 ? err : 0;
}

int ktape_recover(const struct ktape_recover_input *input,
		  const struct ktape_recover_place *place,
		  const struct ktape_recover_output *output,
		  const struct ktape_recover_hooks *hooks,
		  struct ktape_recovered *result, struct ktape_error *error)
{
	struct kt_recovery rec = {
		.in = input,
		.out = output,
		.base = place->offset,
		.super = place->super,
		.result = result,
		.last_ts = place->super.start_clock,
	};
	int err;

	memset(result, 0, sizeof(*result));
	if (hooks)
		rec.hooks = *hooks;
	if (check_super(&rec.super))
		return kt_error(error, rec.base, "there is no valid superblock");
	/* Check the rings first: beginning the output may replace an earlier trace. */
	err = read_table(&rec, error);
	if (!err)
		err = begin_output(&rec, error);
	if (!err)
		err = recover_rings(&rec);
	if (!err)
		err = kt_recover_names(&rec);
	free(rec.table);
	return err;
}

void ktape_recovered_release(struct ktape_recovered *result)
{
	free(result->rings);
	result->rings = NULL;
	result->nr_rings = 0;
}
