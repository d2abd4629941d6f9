// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is not shown of a perf.data is counted, and reported at the end.
 *
 * Where code and data of programs are mapped, and the end of threads, is no content of a trace
 * as ktape has it.  Each perf.data has such records: only ktape verify reports them, so that what
 * is missing does not drown among them.
 *
 * A count is zeroed when it is reported, because it may be the reason why reading fails
 * (check_any()), or one of more than a message has room for (list_passed()).
 */
#include "internal.h"

#define LIST_ROOM  128U /* characters of a list, which is a part of a message */
#define LIST_ENTRY 40U	/* of an entry of it: a number and a name */

/*
 * By type of records, PERF_RECORD_* in linux/perf_event.h and perf's own from 64 on: the name in
 * perf, and whether they are content of a trace.  Types without a name here only say how to read
 * others, or come with every file: they are counted, but never listed.
 */
static const struct {
	const char *name;
	bool is_content;
} kinds[RECORD_PERF_LAST + 1] = {
	[RECORD_MMAP] = { "MMAP", false },
	[4] = { "EXIT", false },
	[5] = { "THROTTLE", true },
	[6] = { "UNTHROTTLE", true },
	[8] = { "READ", true },
	[10] = { "MMAP2", false },
	[RECORD_AUX] = { "AUX", true },
	[12] = { "ITRACE_START", true },
	[16] = { "NAMESPACES", false },
	[17] = { "KSYMBOL", false },
	[18] = { "BPF_EVENT", false },
	[20] = { "TEXT_POKE", true },
	[21] = { "AUX_OUTPUT_HW_ID", true },
	[22] = { "CALLCHAIN_DEFERRED", true },
	[RECORD_AUXTRACE] = { "AUXTRACE", true },
	[72] = { "AUXTRACE_ERROR", true },
	[RECORD_STAT] = { "STAT", true },
	[77] = { "STAT_ROUND", true },
	[85] = { "SCHEDSTAT_CPU", true },
	[86] = { "SCHEDSTAT_DOMAIN", true },
};

/* Count a record that is not read, by its type; types that ktape does not know count together. */
void pd_pass(struct perf *f, uint32_t type)
{
	if (type <= RECORD_PERF_LAST)
		f->passed[type]++;
	f->unread += type > RECORD_PERF_LAST ||
		     (type > RECORD_KERNEL_LAST && type < RECORD_ATTR);
}

/* Add "N NAME" to a list, if it has room, and reset the count. */
static void add_perf_count(char *text, uint64_t *count, const char *name)
{
	size_t len = strlen(text);

	if (!*count || len + LIST_ENTRY > LIST_ROOM)
		return;
	snprintf(text + len, LIST_ROOM - len, "%s%llu %s", len ? ", " : "",
		 (unsigned long long)*count, name);
	*count = 0;
}

/* List the records that were passed over, as many kinds as a list has room for. */
static void list_passed(struct perf *f, bool content, char text[LIST_ROOM])
{
	*text = '\0';
	for (size_t i = 0; i < KT_ARRAY_SIZE(kinds); i++) {
		if (kinds[i].name && kinds[i].is_content == content)
			add_perf_count(text, &f->passed[i], kinds[i].name);
	}
	if (content)
		add_perf_count(text, &f->unread, "of unknown types");
}

static void report_perf_count(struct kt_import *s, uint64_t *count, const char *what)
{
	if (*count)
		kt_import_note(s, "%llu %s were left out",
			       (unsigned long long)*count, what);
	*count = 0;
}

/* If there is content and none of it is an event, say why.  Return: 0 or -EBADMSG. */
static int check_any(struct kt_import *s)
{
	struct perf *f = s->state;
	char content[LIST_ROOM];
	uint64_t timeless = f->timeless, left_out = f->left_out;

	if (f->events)
		return 0;
	if (timeless) {
		f->timeless = 0;
		return kt_import_fail(
			s, f->data,
			"no event can be read, because %llu samples and context switches have no time: record with perf record --timestamp, and without --no-timestamp",
			(unsigned long long)timeless);
	}
	if (left_out) {
		f->left_out = 0;
		return kt_import_fail(
			s, f->data,
			"no event can be read, because %llu samples are of events that are not in the file",
			(unsigned long long)left_out);
	}
	list_passed(f, true, content);
	return !*content ?
		       0 :
		       kt_import_fail(s, f->data,
				      "no event can be read: record with perf record -e, not perf stat; the file has only %s",
				      content);
}

/**
 * pd_report_counts() - report at the end what was left out
 * @s: the trace
 *
 * Return: 0, or -EBADMSG if that is all that the file has.
 */
int pd_report_counts(struct kt_import *s)
{
	struct perf *f = s->state;
	int err = check_any(s);
	char list[LIST_ROOM], paths[64];

	report_perf_count(s, &f->left_out,
			  "samples of events that are not in the file");
	report_perf_count(
		s, &f->timeless,
		"samples and records of switches without a time (perf record --timestamp keeps it)");
	snprintf(paths, sizeof(paths),
		 "paths of cgroups, beyond %u MiB of them,", PD_PATHS_MAX >> 20);
	report_perf_count(s, &f->pathless, paths);
	if (f->cpuless)
		kt_import_note(s, "%llu events or losses have no CPU: they are shown on CPU 0 (perf record --sample-cpu keeps it)",
			       (unsigned long long)f->cpuless);
	f->cpuless = 0;
	for (list_passed(f, true, list); *list; list_passed(f, true, list))
		kt_import_note(s, "left out (perf script -D shows it): %s", list);
	/* Only ktape verify prints these. */
	for (list_passed(f, false, list); *list; list_passed(f, false, list))
		kt_import_beside(s, "records of mappings and of ends of threads, which ktape never shows: %s",
				 list);
	if (f->order.late)
		kt_import_note(s, "%llu records came after later ones were delivered: they are out of order",
			       (unsigned long long)f->order.late);
	f->order.late = 0;
	return err;
}
