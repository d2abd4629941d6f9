/* SPDX-License-Identifier: GPL-2.0-only */
/* Registration of sinks: other modules that want to see records. */
#ifndef _KT_SINK_H
#define _KT_SINK_H

int kt_sink_init(void (*on_change)(void));
void kt_sink_exit(void);

#endif /* _KT_SINK_H */
