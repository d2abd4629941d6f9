// SPDX-License-Identifier: GPL-2.0-only
/* The table of subcommands. */
#include <stddef.h>

#include "tool/commands.h"
#include "tool/completion/completion.h"
#include "tool/control/control.h"
#include "tool/convert/convert.h"
#include "tool/dump/dump.h"
#include "tool/record/record.h"
#include "tool/serial/serial.h"
#include "tool/serve/serve.h"
#include "tool/ship/ship.h"
#include "tool/stats/stats.h"
#include "tool/top/top.h"
#include "tool/verify/verify.h"

#ifndef KT_MICROHTTPD
#define KT_MICROHTTPD 0
#endif

/* In the order in which ktape help lists them. */
const struct kt_command *const kt_commands[] = {
	&command_try,	     &command_record,  &command_dump,
	&command_list,	     &command_profile, &command_status,
	&command_doctor,     &command_start,   &command_stop,
	&command_clear,	     &command_destroy, &command_mark,
	&command_probe,	     &command_convert, &command_stats,
	&command_bundle,     &command_ship,    &command_diff,
	&command_top,	     &command_verify,  &command_recover,
	&command_snapshot,   &command_trigger, &command_send,
	&command_receive,
#if KT_MICROHTTPD
	&command_serve,
#endif
	&command_completion, &command_version, NULL,
};
