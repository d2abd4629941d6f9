// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the tables go.
 *
 *	FILE							one file, of events
 *	DIR/TABLE/v=1/date=YYYY-MM-DD/host=HOST/CAPTURE-N.parquet	a folder
 *
 * The date is that of the rows, in UTC: rows are sorted by time before they are written, and
 * divided at midnight.  A trace whose clock is not related to UTC has NO_DATE there.  A file
 * that has reached its size is followed by one with the next N.  Until the end of the
 * conversion all files are in one temporary folder in DIR; then they are renamed, those of
 * the table capture last.  So a reader never sees a part of a file, and a trace that has its
 * row in capture has all its files.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/file.h"
#include "util/temp.h"

#include "internal.h"
#include "place.h"

#define NS_PER_DAY 86400000000000LL
#define NO_DATE	   "__HIVE_DEFAULT_PARTITION__" /* what readers take for a null */
#define MODE_DIR   0777
#define MODE_FILE  0666
#define PATH_ROOM  640U

/**
 * struct file - a file of a table
 * @table: enum pq_table
 * @day: day of its rows, since the epoch
 * @nr: N in its name
 * @temp: number of its temporary name
 * @fd: descriptor; -1: it is complete
 * @file: the writer's part; NULL: it is complete
 */
struct file {
	unsigned int table;
	int64_t day;
	unsigned int nr;
	unsigned int temp;
	int fd;
	struct kt_pq_file *file;
};

/**
 * struct pq_place - the files
 * @single: writer of the only file; NULL: it has no bytes yet, or there is a folder
 * @folder: descriptor of DIR, -1: one file
 * @inner: descriptor of the temporary folder, -1: there is none (any more)
 * @temp: its name
 * @size: bytes from which a file is followed by the next one
 * @capture: CAPTURE, also the text of the column trace_id
 * @files: all files
 * @nr: number of @files
 */
struct pq_place {
	struct kt_pq_file *single;
	int folder;
	int inner;
	char temp[KT_TEMP_NAME];
	uint64_t size;
	char capture[PQ_CAPTURE_MAX];
	struct file *files;
	size_t nr;
};

static int write_single(void *arg, const void *data, size_t len)
{
	return kt_sink_put(arg, data, len);
}

static int write_table_file(void *arg, const void *data, size_t len)
{
	return kt_write_all((int)(intptr_t)arg, data, len);
}

static int open_table_folder(struct pq *pq, const char *path)
{
	struct pq_place *p = pq->place;

	if (mkdir(path, MODE_DIR) && errno != EEXIST)
		return -errno;
	p->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->folder < 0)
		return -errno;
	p->inner = kt_temp_folder(p->folder, p->temp);
	return p->inner < 0 ? p->inner : 0;
}

/**
 * pq_place_open() - Open the single file, or the folder
 * @pq: the tables
 * @folder: DIR; NULL = a single file, that of the sink
 * @size: bytes from which a file is followed by the next one
 * @capture: CAPTURE; NULL = from UUID and first event
 *
 * Return: 0 or negative errno.
 */
int pq_place_open(struct pq *pq, const char *folder, uint64_t size,
		  const char *capture)
{
	struct pq_place *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	pq->place = p;
	p->folder = -1;
	p->inner = -1;
	p->size = size;
	if (capture)
		snprintf(p->capture, sizeof(p->capture), "%s", capture);
	return folder ? open_table_folder(pq, folder) : kt_sink_open_file(pq->s);
}

/*
 * Make the name of the trace: the first 8 bytes of the recording's UUID and the time of the
 * first event, which is that of the trace clock if the trace has no date.
 */
static void name_capture(struct pq *pq, char *text, size_t size)
{
	const int64_t ns = ktape_epoch_ns(pq->s->info, pq->begin);
	const time_t seconds = (time_t)(ns / 1000000000);
	size_t len = 0;
	struct tm tm;

	for (unsigned int i = 0; i < 8; i++)
		len += (size_t)snprintf(text + len, size - len, "%02x",
					pq->s->info->uuid[i]);
	if (!kt_is_dated(pq->s->info, pq->begin)) {
		snprintf(text + len, size - len, "-%llu.%09llu",
			 (unsigned long long)ns / 1000000000,
			 (unsigned long long)ns % 1000000000);
		return;
	}
	if (!gmtime_r(&seconds, &tm) || tm.tm_year < 0 || tm.tm_year > 8099)
		memset(&tm, 0, sizeof(tm));
	snprintf(text + len, size - len, "-%04u%02u%02uT%02u%02u%02u.%09uZ",
		 (unsigned int)tm.tm_year + 1900, (unsigned int)tm.tm_mon + 1,
		 (unsigned int)tm.tm_mday, (unsigned int)tm.tm_hour,
		 (unsigned int)tm.tm_min, (unsigned int)tm.tm_sec,
		 (unsigned int)(ns < 0 ? 0 : ns % 1000000000));
}

/**
 * pq_place_begin() - Set what all rows have, when the first event is known
 * @pq: the tables
 *
 * It is the name of the trace, the distance to UTC and, in a single file, the host.
 *
 * Return: 0 or negative errno.
 */
int pq_place_begin(struct pq *pq)
{
	struct pq_place *p = pq->place;
	const struct ktape_info *info = pq->s->info;
	int64_t name, host;

	if (!*p->capture)
		name_capture(pq, p->capture, sizeof(p->capture));
	name = pq_name(pq, p->capture, strlen(p->capture));
	host = pq_name(pq, info->hostname, strlen(info->hostname));
	if (name < 0 || host < 0)
		return pq->s->error;
	for (unsigned int i = 0; i < PQ_TABLES; i++) {
		pq->rows[i].same[0] = (uint32_t)name; /* trace_id, the first column */
		pq->rows[i].dated = kt_is_dated(info, pq->begin);
		pq->rows[i].utc = ktape_epoch_ns(info, pq->begin) -
				  pq_time(pq, pq->begin);
	}
	if (pq->single)
		pq->rows[PQ_EVENT].same[pq_single(pq, PQ_SINGLE_HOST)] =
			(uint32_t)host;
	return 0;
}

/* ---- files --------------------------------------------------------------------------- */

static int end_file(struct pq *pq, struct kt_pq_file *f, unsigned int table)
{
	const struct kt_pq_note notes[] = {
		{ "ktape.version", KTAPE_VERSION },
		{ "ktape.schema", PQ_VERSION },
		{ "ktape.table", pq->schemas[table].name },
		{ "ktape.trace_id", pq->place->capture },
		{ "ktape.host", pq->s->info->hostname },
	};

	return kt_pq_file_end(f, pq->workspace, notes, KT_ARRAY_SIZE(notes));
}

static int close_file(struct pq *pq, struct file *f)
{
	int err = end_file(pq, f->file, f->table);

	/* After a crash of the machine no file may have its final name without its content. */
	if (!err && fdatasync(f->fd))
		err = -errno;
	if (close(f->fd) && !err)
		err = -errno;
	f->fd = -1;
	kt_pq_file_free(f->file);
	f->file = NULL;
	return err;
}

static int make_table_file(struct pq *pq, unsigned int table, int64_t day,
			   struct file *f)
{
	struct kt_pq_output output = { .write = write_table_file };
	char name[16];
	int err;

	*f = (struct file){
		.table = table,
		.day = day,
		.temp = (unsigned int)pq->place->nr,
	};
	for (size_t i = 0; i < pq->place->nr; i++)
		f->nr += pq->place->files[i].table == table;
	snprintf(name, sizeof(name), "%u", f->temp);
	f->fd = openat(pq->place->inner, name,
		       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_FILE);
	if (f->fd < 0)
		return -errno;
	output.arg = (void *)(intptr_t)f->fd;
	err = kt_pq_file_new(&pq->schemas[table], &output, &f->file);
	if (err) {
		close(f->fd);
		unlinkat(pq->place->inner, name, 0);
	}
	return err;
}

/*
 * Find the open file of a table for a day, made if needed; then files of much earlier days are
 * completed.  Return: 0 or negative errno.
 */
static int find_file(struct pq *pq, unsigned int table, int64_t day,
		     struct file **file)
{
	struct pq_place *p = pq->place;
	struct file *more;
	int err;

	for (size_t i = p->nr; i--;) {
		if (p->files[i].file && p->files[i].table == table &&
		    p->files[i].day == day) {
			*file = &p->files[i];
			return 0;
		}
	}
	/* Rows come by time, nearly: close files of two and more days before, to have few open. */
	for (size_t i = 0; i < p->nr; i++) {
		if (!p->files[i].file || p->files[i].table != table ||
		    p->files[i].day > day - 2)
			continue;
		err = close_file(pq, &p->files[i]);
		if (err)
			return err;
	}
	more = realloc(p->files, (p->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->files = more;
	err = make_table_file(pq, table, day, &more[p->nr]);
	if (err)
		return err;
	*file = &more[p->nr++];
	return 0;
}

/* ---- rows ---------------------------------------------------------------------------- */

static int64_t floor_day(int64_t ns)
{
	return ns / NS_PER_DAY - (ns % NS_PER_DAY < 0);
}

/* Return the day on which the trace begins, or 0. */
static int64_t first_day(const struct pq *pq)
{
	if (!kt_is_dated(pq->s->info, pq->begin))
		return 0;
	return floor_day(ktape_epoch_ns(pq->s->info, pq->begin));
}

/* Return the day of a row of a part. */
static int64_t day_of(const struct kt_pq_part *part, uint32_t i)
{
	const struct kt_pq_rows *r = part->rows;
	uint32_t row = part->order ? part->order[i] : i;

	return floor_day(
		(int64_t)((uint64_t)r->cells[PQ_TS].v[row] + (uint64_t)r->utc));
}

static int put_table_part(struct pq *pq, unsigned int table,
			  const struct kt_pq_part *part, int64_t day)
{
	struct file *f;
	uint64_t before;
	int err = find_file(pq, table, day, &f);

	if (err)
		return err;
	before = kt_pq_file_size(f->file);
	err = kt_pq_put_group(pq->workspace, f->file, part);
	/* The sink reports to the user how much was written. */
	pq->s->offset += kt_pq_file_size(f->file) - before;
	if (!err && kt_pq_file_size(f->file) >= pq->place->size)
		err = close_file(pq, f);
	return err;
}

/* Write rows, each to the file of its day. */
static int put_days(struct pq *pq, unsigned int table, struct kt_pq_part *part)
{
	const uint32_t nr = part->to;
	int64_t day;
	int err = 0;

	if (pq->schemas[table].time < 0 || !part->rows->dated)
		return put_table_part(pq, table, part, first_day(pq));
	part->to = 0;
	while (!err && part->to < nr) {
		part->from = part->to;
		day = day_of(part, part->from);
		part->to = nr;
		if (day_of(part, nr - 1) != day) {
			/* It ends, because the last row is of another day. */
			part->to = part->from + 1;
			while (day_of(part, part->to) == day)
				part->to++;
		}
		err = put_table_part(pq, table, part, day);
	}
	return err;
}

static int put_single(struct pq *pq, const struct kt_pq_part *part)
{
	const struct kt_pq_output output = { write_single, pq->s };
	int err = 0;

	if (!pq->place->single)
		err = kt_pq_file_new(&pq->schemas[PQ_EVENT], &output,
				     &pq->place->single);
	if (err || part->from == part->to)
		return err;
	return kt_pq_put_group(pq->workspace, pq->place->single, part);
}

/**
 * pq_flush() - Write the rows of a table as a row group, or one for each day
 * @pq: the tables
 * @table: enum pq_table
 *
 * The rows are gone then, also after an error.
 *
 * Return: 0 or negative errno.
 */
int pq_flush(struct pq *pq, unsigned int table)
{
	struct kt_pq_rows *rows = &pq->rows[table];
	struct kt_pq_part part;
	int err = rows->error ? rows->error : pq->s->error;

	if (err || !rows->nr) {
		kt_pq_rows_clear(rows);
		return err;
	}
	err = kt_pq_sort(pq->workspace, rows, &part);
	if (!err)
		err = pq->single ? put_single(pq, &part) :
				   put_days(pq, table, &part);
	kt_pq_rows_clear(rows);
	return err;
}

/* ---- names ---------------------------------------------------------------------------- */

/* Put a host name into a path: other bytes than letters, digits, "-._" as %XX. */
static void escape_host(const char *host, char *to, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t len = 0;

	if (!*host)
		host = "unknown";
	for (; *host && len + 4 < size; host++) {
		/* A first dot is escaped, too: by itself such a name is hidden, "." or "..". */
		if (strchr(plain, *host) && (len || *host != '.'))
			to[len++] = *host;
		else
			len += (size_t)snprintf(to + len, size - len, "%%%02X",
						(unsigned char)*host);
	}
	to[len] = '\0';
}

/* Make the folders of a path in DIR. */
static int make_table_folders(int folder, char *path)
{
	for (char *slash = strchr(path, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		int err;

		*slash = '\0';
		err = mkdirat(folder, path, MODE_DIR) && errno != EEXIST ? -errno :
									   0;
		*slash = '/';
		if (err)
			return err;
	}
	return 0;
}

static int name_table_file(struct pq *pq, const struct file *f)
{
	const time_t seconds = (time_t)(f->day * (NS_PER_DAY / 1000000000));
	char path[PATH_ROOM], date[64], host[3 * sizeof(pq->s->info->hostname)],
		name[16];
	struct tm tm;
	int err;

	if (!gmtime_r(&seconds, &tm))
		return -ERANGE;
	snprintf(date, sizeof(date), "%04u-%02u-%02u",
		 (unsigned int)tm.tm_year + 1900, (unsigned int)tm.tm_mon + 1,
		 (unsigned int)tm.tm_mday);
	escape_host(pq->s->info->hostname, host, sizeof(host));
	snprintf(name, sizeof(name), "%u", f->temp);
	snprintf(path, sizeof(path),
		 "%s/v=" PQ_VERSION "/date=%s/host=%s/%s-%u.parquet",
		 pq->schemas[f->table].name,
		 kt_is_dated(pq->s->info, pq->begin) ? date : NO_DATE, host,
		 pq->place->capture, f->nr);
	err = make_table_folders(pq->place->folder, path);
	if (!err && renameat(pq->place->inner, name, pq->place->folder, path))
		err = -errno;
	return err;
}

/* Give the complete files their names: those of capture last. */
static int name_files(struct pq *pq)
{
	struct pq_place *p = pq->place;
	int err = 0;

	for (size_t i = 0; i < p->nr && !err; i++) {
		if (p->files[i].table != PQ_CAPTURE)
			err = name_table_file(pq, &p->files[i]);
	}
	for (size_t i = 0; i < p->nr && !err; i++) {
		if (p->files[i].table == PQ_CAPTURE)
			err = name_table_file(pq, &p->files[i]);
	}
	return err;
}

static int end_single(struct pq *pq)
{
	const struct kt_pq_part none = { .rows = &pq->rows[PQ_EVENT] };
	int err = pq_flush(pq, PQ_EVENT);

	/* Without events there was no row group: make the file all the same. */
	if (!err)
		err = put_single(pq, &none);
	return err ? err : end_file(pq, pq->place->single, PQ_EVENT);
}

/* A table without rows has a file as well: engines refuse a table without files. */
static int put_empty(struct pq *pq, unsigned int table)
{
	struct file *f;

	for (size_t i = 0; i < pq->place->nr; i++) {
		if (pq->place->files[i].table == table)
			return 0;
	}
	return find_file(pq, table, first_day(pq), &f);
}

/**
 * pq_place_end() - Write what is left, and give all files their names
 * @pq: the tables
 *
 * A single file is the output of the sink, which gives it its name.
 *
 * Return: 0 or negative errno.
 */
int pq_place_end(struct pq *pq)
{
	struct pq_place *p = pq->place;
	int err = 0;

	if (pq->single)
		return end_single(pq);
	for (unsigned int i = 0; i < PQ_TABLES && !err; i++) {
		err = pq_flush(pq, i);
		if (!err)
			err = put_empty(pq, i);
	}
	for (size_t i = 0; i < p->nr && !err; i++) {
		if (p->files[i].file)
			err = close_file(pq, &p->files[i]);
	}
	return err ? err : name_files(pq);
}

/**
 * pq_place_is_staged() - Check whether the files have temporary names
 * @pq: the tables
 *
 * Return: true if they have.
 */
bool pq_place_is_staged(const struct pq *pq)
{
	return pq->place && pq->place->inner >= 0;
}

/**
 * pq_place_move() - Let the tables go to another folder
 * @pq: tables whose files have temporary names
 * @folder: descriptor of the folder, owned by @pq after success
 *
 * After an error the files are where they were.
 *
 * Return: 0 or negative errno.
 */
int pq_place_move(struct pq *pq, int folder)
{
	struct pq_place *p = pq->place;
	char temp[KT_TEMP_NAME], name[16];
	int inner = kt_temp_folder(folder, temp), err = 0;

	if (inner < 0)
		return inner;
	for (size_t i = 0; i < p->nr && !err; i++) {
		snprintf(name, sizeof(name), "%u", p->files[i].temp);
		if (renameat(p->inner, name, inner, name))
			err = -errno;
	}
	if (err) {
		for (size_t i = 0; i < p->nr; i++) {
			snprintf(name, sizeof(name), "%u", p->files[i].temp);
			renameat(inner, name, p->inner, name);
		}
		unlinkat(folder, temp, AT_REMOVEDIR);
		kt_temp_forget(folder, temp);
		close(inner);
		return err;
	}
	unlinkat(p->folder, p->temp, AT_REMOVEDIR);
	kt_temp_forget(p->folder, p->temp);
	close(p->inner);
	close(p->folder);
	p->folder = folder;
	p->inner = inner;
	memcpy(p->temp, temp, sizeof(temp));
	return 0;
}

/**
 * pq_place_close() - Remove what has no final name, and close everything
 * @pq: the tables
 */
void pq_place_close(struct pq *pq)
{
	struct pq_place *p = pq->place;
	char name[16];

	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		if (p->files[i].file)
			close(p->files[i].fd);
		kt_pq_file_free(p->files[i].file);
		snprintf(name, sizeof(name), "%u", p->files[i].temp);
		unlinkat(p->inner, name, 0);
	}
	kt_pq_file_free(p->single);
	if (p->inner >= 0) {
		kt_temp_forget(p->folder, p->temp);
		unlinkat(p->folder, p->temp, AT_REMOVEDIR);
		close(p->inner);
	}
	if (p->folder >= 0)
		close(p->folder);
	free(p->files);
	free(p);
	pq->place = NULL;
}
