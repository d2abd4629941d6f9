/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers of other formats' events that more than one folder needs.
 *
 * An event of another format that has no native counterpart is kept as a user event
 * (ktape/formats.h).  Such an event can be in any native trace, so the library has to
 * know these numbers even if the format itself is not built in (FORMATS=).  How a
 * format lays out its bytes does not belong here: that is its own folder's.
 */
#ifndef _KT_FOREIGN_H
#define _KT_FOREIGN_H

#include <stdbool.h>

/* ---- Tonbandgeraet -------------------------------------------------------- */

#define KT_TBAND_IDS   128U
#define KT_TBAND_FRTOS 84U /* the first id of FreeRTOS */

/* Event ids, as in Tonbandgeraet's specification. */
enum kt_tband_id {
	KT_TBAND_CORE_ID = 0,
	KT_TBAND_DROPPED = 1,
	KT_TBAND_RESOLUTION = 2,
	KT_TBAND_ISR_NAME = 3,
	KT_TBAND_ISR_ENTER = 4,
	KT_TBAND_ISR_EXIT = 5,
	KT_TBAND_EVTMARKER_NAME = 6,
	KT_TBAND_EVTMARKER = 7,
	KT_TBAND_EVTMARKER_BEGIN = 8,
	KT_TBAND_EVTMARKER_END = 9,
	KT_TBAND_VALMARKER_NAME = 10,
	KT_TBAND_VALMARKER = 11,
	KT_TBAND_SWITCHED_IN = 84,
	KT_TBAND_TO_READY = 85,
	KT_TBAND_RESUMED = 86,
	KT_TBAND_RESUMED_FROM_ISR = 87,
	KT_TBAND_SUSPENDED = 88,
	KT_TBAND_DELAY = 89,
	KT_TBAND_DELAY_UNTIL = 90,
	KT_TBAND_PRIO_SET = 91,
	KT_TBAND_PRIO_INHERIT = 92,
	KT_TBAND_PRIO_DISINHERIT = 93,
	KT_TBAND_TASK_CREATED = 94,
	KT_TBAND_TASK_NAME = 95,
	KT_TBAND_TASK_IS_IDLE = 96,
	KT_TBAND_TASK_IS_TIMER = 97,
	KT_TBAND_TASK_DELETED = 98,
	KT_TBAND_QUEUE_CREATED = 99,
	KT_TBAND_QUEUE_NAME = 100,
	KT_TBAND_QUEUE_KIND = 101,
	KT_TBAND_QUEUE_SEND = 102,
	KT_TBAND_QUEUE_SEND_FROM_ISR = 103,
	KT_TBAND_QUEUE_OVERWRITE = 104,
	KT_TBAND_QUEUE_OVERWRITE_FROM_ISR = 105,
	KT_TBAND_QUEUE_RECEIVE = 106,
	KT_TBAND_QUEUE_RECEIVE_FROM_ISR = 107,
	KT_TBAND_QUEUE_RESET = 108,
	KT_TBAND_BLOCK_PEEK = 109,
	KT_TBAND_BLOCK_SEND = 110,
	KT_TBAND_BLOCK_RECEIVE = 111,
	KT_TBAND_QUEUE_CUR_LENGTH = 112,
	KT_TBAND_TASK_EVTMARKER_NAME = 122,
	KT_TBAND_TASK_EVTMARKER = 123,
	KT_TBAND_TASK_EVTMARKER_BEGIN = 124,
	KT_TBAND_TASK_EVTMARKER_END = 125,
	KT_TBAND_TASK_VALMARKER_NAME = 126,
	KT_TBAND_TASK_VALMARKER = 127
};

/* The kinds of queue_kind that are mutexes. */
enum kt_tband_queue_kind {
	KT_TBAND_KIND_MUTEX = 3,
	KT_TBAND_KIND_RECURSIVE = 4
};

/*
 * Return true for events of Tonbandgeraet that carry no time, because they describe
 * the trace or an object: names, kinds, the time resolution.
 */
static inline bool kt_tband_is_metadata(unsigned int id)
{
	switch (id) {
	case KT_TBAND_RESOLUTION:
	case KT_TBAND_ISR_NAME:
	case KT_TBAND_EVTMARKER_NAME:
	case KT_TBAND_VALMARKER_NAME:
	case KT_TBAND_TASK_NAME:
	case KT_TBAND_TASK_IS_IDLE:
	case KT_TBAND_TASK_IS_TIMER:
	case KT_TBAND_QUEUE_NAME:
	case KT_TBAND_QUEUE_KIND:
	case KT_TBAND_TASK_EVTMARKER_NAME:
	case KT_TBAND_TASK_VALMARKER_NAME:
		return true;
	default:
		return false;
	}
}

/* ---- RKH ------------------------------------------------------------------ */

#define KT_RKH_TCFG 0xacU      /* TE_ID of FWK_TCFG, the configuration record */
#define KT_RKH_TIME (1U << 16) /* flag of FWK_TCFG: frames have time stamps */

/*
 * The user event that stands for FWK_TCFG has KT_RKH_CONFIG_WORDS words of configuration
 * and one more word: 0 if the stream had the record, else KT_RKH_ASSUMED | sequence
 * number of the first event.
 */
#define KT_RKH_CONFIG_WORDS 4
#define KT_RKH_ASSUMED	    (1U << 8)

#endif /* _KT_FOREIGN_H */
