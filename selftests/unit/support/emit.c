// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer of the ring's tests: inlined and called reserve paths for each
 * number of arguments. Compiled with the module's flags, so that tests
 * interrupt and single-step the instructions that the kernel runs.
 */
#include "rig.h"

static noinline void put0(struct rig *rig, u32 code, u32 class)
{
	kt_ring_put(&rig->ring, code, class, 0, 0, 0, 0);
}

static noinline void put1(struct rig *rig, u32 code, u32 class, u32 a0)
{
	kt_ring_put(&rig->ring, code, class, 1, a0, 0, 0);
}

static noinline void put2(struct rig *rig, u32 code, u32 class, u32 a0, u32 a1)
{
	kt_ring_put(&rig->ring, code, class, 2, a0, a1, 0);
}

static noinline void put3(struct rig *rig, u32 code, u32 class, u32 a0, u32 a1,
			  u32 a2)
{
	kt_ring_put(&rig->ring, code, class, 3, a0, a1, a2);
}

/* Write a record of a shape that kt_ring_put() does not write. */
static noinline void write_any(struct rig *rig, unsigned int context, u32 seq,
			       unsigned int shape)
{
	u32 tag = context << 18 | (rig_hash(context, seq, shape) & 0x3ffff);
	u32 blob[16], args[KTAPE_NARGS_MAX], i;
	struct kt_record rec = {
		.class = rig_class(context),
		.nargs = shape & 7,
		.args = args,
	};

	args[0] = seq;
	for (i = 1; i < rec.nargs; i++)
		args[i] = rig_hash(context, seq, i);
	if (shape >= RIG_BLOB) {
		for (i = 0; i < 16; i++)
			blob[i] = rig_hash(context, seq, 100 + i);
		rec.blob = blob;
		rec.size = rig_blob_size(context, seq);
	}
	rec.code = KT_CODE(RIG_OPCODE + shape, tag, shape >= RIG_BLOB, rec.nargs);
	kt_ring_write(&rig->ring, &rec);
}

/**
 * rig_emit() - write the next record of a context
 * @rig: the rig
 * @context: 0 to 3; a context has at most one writer
 * @shape: see RIG_SHAPES; RIG_BLOB itself is not one
 */
void rig_emit(struct rig *rig, unsigned int context, unsigned int shape)
{
	u32 class = rig_class(context);
	u32 seq = rig->seq[context];
	u32 tag = context << 18 | (rig_hash(context, seq, shape) & 0x3ffff);
	u32 code = KT_CODE(RIG_OPCODE + shape, tag, 0, shape);

	/*
	 * A nested writer has another context, so no other writer changes this
	 * counter.
	 */
	WRITE_ONCE(rig->seq[context], seq + 1);
	kt_count(&rig->page->emitted[class]);
	switch (shape) {
	case 0:
		tag = context << 18 | (seq & 0x3ffff);
		put0(rig, KT_CODE(RIG_OPCODE, tag, 0, 0), class);
		return;
	case 1:
		put1(rig, code, class, seq);
		return;
	case 2:
		put2(rig, code, class, seq, rig_hash(context, seq, 1));
		return;
	case 3:
		put3(rig, code, class, seq, rig_hash(context, seq, 1),
		     rig_hash(context, seq, 2));
		return;
	default:
		write_any(rig, context, seq, shape);
	}
}

/**
 * rig_emit_too_big() - write a record that no block has room for
 * @rig: the rig
 * @context: 0 to 3
 */
void rig_emit_too_big(struct rig *rig, unsigned int context)
{
	struct kt_record rec = {
		.code = KT_CODE(RIG_OPCODE + RIG_BLOB, 0, 1, 0),
		.class = rig_class(context),
		.size = (u32)rig->block_size,
		.blob = "",
	};

	kt_local_inc(&rig->too_big);
	kt_count(&rig->page->emitted[rec.class]);
	kt_ring_write(&rig->ring, &rec);
}
