/* SPDX-License-Identifier: GPL-2.0-only */
/* What all subcommands share: exit codes, messages, the device, their table entries. */
#ifndef _KT_TOOL_H
#define _KT_TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <ktape.h>

#ifndef KTAPE_VERSION
#define KTAPE_VERSION "unknown"
#endif

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2
};

#ifndef KT_MICROHTTPD
#define KT_MICROHTTPD 0
#endif

struct kt_command;

/* Print a message, which reports a failure or is a remark, and end the line. */
typedef void message_printer(bool failed, const char *text);

void set_message_printer(message_printer *printer);
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int misuse(const struct kt_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int redirect_messages(const char *logfile);
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note_loss(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#define LOSS_TEXT	128

/**
 * struct losses - events that are missing in what is read
 * @count: how many, as far as it is known
 * @gaps: in how many places
 * @unknown: there is a place where the number is not known
 * @overwritten: events that were overwritten before the trace begins; these are not lost
 * @late: in how many rings
 * @late_unknown: for one of these the number is not known
 */
struct losses {
	uint64_t count;
	uint64_t gaps;
	bool unknown;
	uint64_t overwritten;
	uint64_t late;
	bool late_unknown;
};

/* Names of enum ktape_lost. */
extern const char *const lost_reasons[];

/* Names of enum ktape_missed. */
extern const char *const missed_reasons[];

/**
 * struct missed_hits - hits of probes that did not reach the tracer
 * @told: end of the last interval, by opcode and enum ktape_missed
 * @count: number of hits
 * @unknown: there are some whose number is not known
 */
struct missed_hits {
	uint64_t told[KTAPE_OPCODES][KTAPE_MISSED_REASONS];
	uint64_t count;
	bool unknown;
};

void missed_add(struct missed_hits *m, const struct ktape_event *e);
void losses_add(struct losses *l, const struct ktape_notice *n);
const char *losses_text(char to[LOSS_TEXT], const struct losses *l,
			const char *verb);
void note_overwritten(const char *path, const struct losses *l);
void report_left_out(const char *path, const char *what, uint64_t count);
void report_names_left_out(const char *path,
			   const struct ktape_registry *names);
void report_missed(const char *format, const struct ktape_sink *sink, bool all);
bool may_control(const char *path);
void explain_device(const char *path, int err);
int open_device(const char *path, bool writable, struct ktape_device **device);
int parse_events(const struct kt_command *command, const char *list,
		 uint64_t mask[KTAPE_MASK_WORDS]);
int unknown_event(const struct kt_command *command, const char *bad);
int wrong_time(const struct kt_command *command, const char *option,
	       const char *text, int err);
int profile_failed(struct ktape_device *device, const uint64_t *mask, int err);
void report_no_log(struct ktape_device *device, const char *list,
		   const uint64_t mask[KTAPE_MASK_WORDS]);
void report_unavailable(struct ktape_device *device, const char *list,
			const uint64_t mask[KTAPE_MASK_WORDS]);
void raise_files_limit(void);
void restore_files_limit(void);
void put_json_text(const char *text);
void write_json_text(FILE *f, const char *text);
void put_shown(FILE *f, const char *text);
void put_human(char *to, size_t size, uint64_t bytes);
int finish_stdout(void);

extern const struct kt_command command_bundle;
extern const struct kt_command command_clear;
extern const struct kt_command command_completion;
extern const struct kt_command command_convert;
extern const struct kt_command command_destroy;
extern const struct kt_command command_diff;
extern const struct kt_command command_doctor;
extern const struct kt_command command_dump;
extern const struct kt_command command_list;
extern const struct kt_command command_mark;
extern const struct kt_command command_probe;
extern const struct kt_command command_profile;
extern const struct kt_command command_receive;
extern const struct kt_command command_record;
extern const struct kt_command command_recover;
extern const struct kt_command command_send;
extern const struct kt_command command_serve;
extern const struct kt_command command_ship;
extern const struct kt_command command_snapshot;
extern const struct kt_command command_start;
extern const struct kt_command command_stats;
extern const struct kt_command command_status;
extern const struct kt_command command_stop;
extern const struct kt_command command_top;
extern const struct kt_command command_trigger;
extern const struct kt_command command_try;
extern const struct kt_command command_verify;

/* The entry of the table of subcommands, which only some builds have. */
#if KT_MICROHTTPD
#define COMMAND_SERVE	&command_serve,
#else
#define COMMAND_SERVE
#endif

#endif /* _KT_TOOL_H */
