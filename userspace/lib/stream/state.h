/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the control records of a ring have said is in force. */
#ifndef _KT_STATE_H
#define _KT_STATE_H

#include "stream/packet.h"

#define KT_FILTER_KINDS	32U	/* that a filter record can name */

/**
 * struct kt_state - the state of a session on one CPU
 * @session: it is started
 * @number: of the session
 * @mode: enum ktape_mode
 * @profile: @mask is in force
 * @generation: of the profile
 * @mask: the profile
 * @filters: kinds in force, bit n is kind n
 * @filter: generation and entries of each
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

void kt_state_learn(struct kt_state *state, const uint8_t *packet, size_t len);
bool kt_state_equal(const struct kt_state *a, const struct kt_state *b);
int kt_state_write(const struct kt_state *state, struct ktape_builder *b,
		   uint64_t ts);

#endif /* _KT_STATE_H */
