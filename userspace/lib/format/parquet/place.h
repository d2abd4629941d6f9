/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of names and sizes of files; see place.c. */
#ifndef _KT_FORMAT_PARQUET_PLACE_H
#define _KT_FORMAT_PARQUET_PLACE_H

#define PQ_CAPTURE_MAX 128U /* bytes of the name of a trace, with its NUL */
#define PQ_SIZE	       128U /* MiB of a file, unless the user names another size */
#define PQ_SIZE_MAX    65536U /* MiB */

#endif /* _KT_FORMAT_PARQUET_PLACE_H */
