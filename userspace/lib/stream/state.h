/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The session state that the control records of a ring report.  A recorder tracks it, and begins
 * each piece of a rotating log with it.
 */
#ifndef _KT_STATE_H
#define _KT_STATE_H

#include "stream/packet.h"

#define KT_FILTER_KINDS 32U /* kinds that a filter record can name */

/**
 * struct kt_state - the state of a session on one CPU
 * @session: the session is started
 * @number: number of the session
 * @mode: enum ktape_mode
 * @profile: a profile is in force
 * @generation: generation of the profile
 * @mask: events of the profile, bit n is opcode n
 * @filters: filters in force, bit n is kind n
 * @filter: by kind: [0] the generation with the filter, [1] its number of entries
 */
struct kt_state {
	bool session;
	uint32_t number;
	uint32_t mode;
	bool profile;
	uint32_t generation;
	uint64_t mask[KTAPE_MASK_WORDS];
	uint32_t filters;
	uint32_t filter[KT_FILTER_KINDS][2];
};

/*
 * kt_state_learn() takes the records of a packet of a control ring, kt_state_write() adds those
 * that announce the state, and returns as ktape_build_add().  kt_state_equal() compares two CPUs.
 */
void kt_state_learn(struct kt_state *state, const uint8_t *packet, size_t len);
bool kt_state_equal(const struct kt_state *a, const struct kt_state *b);
int kt_state_write(const struct kt_state *state, struct ktape_builder *b,
		   uint64_t ts);

#endif /* _KT_STATE_H */
