/* SPDX-License-Identifier: GPL-2.0-only */
/* The argument of any command of /dev/ktape but PERSIST_READ: all begin with their size. */
#ifndef _KT_ARGUMENT_H
#define _KT_ARGUMENT_H

#include <ktape/cost.h>
#include <ktape/filter.h>
#include <ktape/persist.h>
#include <ktape/session.h>
#include <ktape/trigger.h>

union kt_argument {
	__u32 size;
	struct ktape_features features;
	struct ktape_layout layout;
	struct ktape_profile profile;
	struct ktape_command command;
	struct ktape_stats stats;
	struct ktape_consumer consumer;
	struct ktape_event_info event_info;
	struct ktape_metadata metadata;
	struct ktape_watermark watermark;
	struct ktape_create create;
	struct ktape_session_list sessions;
	struct ktape_session_ref ref;
	struct ktape_policy policy;
	struct ktape_reader_info reader;
	struct ktape_filter filter;
	struct ktape_probe probe;
	struct ktape_cost cost;
	struct ktape_persist_info persist_info;
	struct ktape_trigger trigger;
};

#endif /* _KT_ARGUMENT_H */
