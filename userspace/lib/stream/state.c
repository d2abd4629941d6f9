// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Track the session state that control records report, and write it again.
 *
 * A piece of a rotating log begins with these records, because the records that
 * announced the state are in an earlier piece, which may be deleted by then.
 */
#include "stream/state.h"

#define PHASE(dat20, shift) ((dat20) >> (shift)&3)
#define KIND_BITS	    5

static void learn_session(struct kt_state *s, const struct ktape_event *e)
{
	if (e->nargs < 2)
		return;
	s->session = PHASE(e->dat20, 0) == KTAPE_PHASE_ON;
	s->number = ktape_event_arg(e, 0);
	s->mode = ktape_event_arg(e, 1);
}

/* An on-marker has the profile; an off-marker what stays of it, nothing at a stop. */
static void learn_profile(struct kt_state *s, const struct ktape_event *e)
{
	const bool on = PHASE(e->dat20, 0) == KTAPE_PHASE_ON;
	uint64_t left = 0;

	if (e->nargs < 1 || e->blob_size < sizeof(s->mask))
		return;
	s->generation = ktape_event_arg(e, 0);
	for (unsigned int i = 0; i < KTAPE_MASK_WORDS; i++) {
		uint64_t mask = kt_get64((const uint8_t *)e->blob + i * 8);

		s->mask[i] = on ? mask : s->mask[i] & mask;
		left |= s->mask[i];
	}
	s->profile = on || (s->profile && left);
}

static void learn_filter(struct kt_state *s, const struct ktape_event *e)
{
	uint32_t kind = e->dat20 & (KT_FILTER_KINDS - 1);

	if (e->nargs < 2)
		return;
	if (PHASE(e->dat20, KIND_BITS) != KTAPE_PHASE_ON) {
		s->filters &= ~(1U << kind);
		return;
	}
	s->filters |= 1U << kind;
	s->filter[kind][0] = ktape_event_arg(e, 0);
	s->filter[kind][1] = ktape_event_arg(e, 1);
}

/* Update the state from the records of a control ring's packet. */
void kt_state_learn(struct kt_state *state, const uint8_t *packet, size_t len)
{
	struct ktape_packet p;
	struct ktape_event e;

	if (kt_packet_begin(&p, packet, len, NULL, NULL))
		return;
	while (ktape_packet_next(&p, &e, NULL) > 0) {
		if (e.opcode == KTAPE_EV_SESSION)
			learn_session(state, &e);
		else if (e.opcode == KTAPE_EV_PROFILE)
			learn_profile(state, &e);
		else if (e.opcode == KTAPE_EV_FILTER)
			learn_filter(state, &e);
	}
}

/*
 * Compare the states of a session on two CPUs, which have the same number and mode.  Filters that
 * are off are not compared.
 */
bool kt_state_equal(const struct kt_state *a, const struct kt_state *b)
{
	if (a->session != b->session || a->profile != b->profile ||
	    a->filters != b->filters || a->generation != b->generation ||
	    memcmp(a->mask, b->mask, sizeof(a->mask)))
		return false;
	for (unsigned int i = 0; i < KT_FILTER_KINDS; i++) {
		if (a->filters >> i & 1 &&
		    memcmp(a->filter[i], b->filter[i], sizeof(a->filter[i])))
			return false;
	}
	return true;
}

static int write_profile(const struct kt_state *s, struct ktape_builder *b,
			 uint64_t ts)
{
	uint8_t mask[sizeof(s->mask)];
	const struct ktape_record record = {
		.ts = ts,
		.args = &s->generation,
		.nargs = 1,
		.opcode = KTAPE_EV_PROFILE,
		.dat20 = KTAPE_PHASE_ON,
		.blob = mask,
		.blob_size = sizeof(mask),
	};

	for (unsigned int i = 0; i < KTAPE_MASK_WORDS; i++)
		kt_set64(mask + i * 8, s->mask[i]);
	return ktape_build_add(b, &record);
}

/*
 * Write the records that announce the state, at time @ts.
 * Return: as ktape_build_add().
 */
int kt_state_write(const struct kt_state *state, struct ktape_builder *b, uint64_t ts)
{
	const uint32_t session[] = { state->number, state->mode };
	struct ktape_record record = {
		.ts = ts,
		.args = session,
		.nargs = 2,
		.opcode = KTAPE_EV_SESSION,
		.dat20 = KTAPE_PHASE_ON,
	};
	int err = 0;

	if (state->session)
		err = ktape_build_add(b, &record);
	if (!err && state->profile)
		err = write_profile(state, b, ts);
	record.opcode = KTAPE_EV_FILTER;
	for (unsigned int i = 0; i < KT_FILTER_KINDS && !err; i++) {
		if (!(state->filters >> i & 1))
			continue;
		record.args = state->filter[i];
		record.dat20 = i | KTAPE_PHASE_ON << KIND_BITS;
		err = ktape_build_add(b, &record);
	}
	return err;
}
