/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The schema of the table "event", which depends on the event table; see schema.c. */
#ifndef _KT_FORMAT_PARQUET_SCHEMA_H
#define _KT_FORMAT_PARQUET_SCHEMA_H

#include <ktape.h>

#include "parquet/parquet.h"

#define PQ_ARG "arg_" /* before the name of a field */

/* Return the column of "event" that a field has, 0 = none. */
unsigned int pq_arg_column(const struct kt_pq_schema *s,
			   const struct ktape_field *f);

#endif /* _KT_FORMAT_PARQUET_SCHEMA_H */
