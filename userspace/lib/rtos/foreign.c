// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recognise user events that stand for metadata or assumptions of other formats. */
#include <ktape/formats.h>

#include "stream/packet.h"
#include "rtos/foreign.h"

bool ktape_event_is_metadata(const struct ktape_event *event)
{
	uint32_t id = event->nargs ? ktape_event_arg(event, 0) : 0;

	return event->known && event->opcode == KTAPE_EV_USER_EVENT &&
	       (id & KTAPE_FORMAT_ID_MASK) == KTAPE_FORMAT_ID_TBAND &&
	       kt_tband_is_metadata(id & ~KTAPE_FORMAT_ID_MASK);
}

bool ktape_event_is_assumed(const struct ktape_event *event)
{
	return event->known && event->opcode == KTAPE_EV_USER_EVENT &&
	       event->nargs > 1 + KT_RKH_CONFIG_WORDS &&
	       ktape_event_arg(event, 0) == (KTAPE_FORMAT_ID_RKH | KT_RKH_TCFG) &&
	       ktape_event_arg(event, 1 + KT_RKH_CONFIG_WORDS) & KT_RKH_ASSUMED;
}
