/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Typed arguments of user events, one after the other. */
#ifndef _KT_TYPED_H
#define _KT_TYPED_H

#include "internal.h"

enum kt_typed_kind {
	KT_TYPED_NUMBER,
	KT_TYPED_STRING,
	KT_TYPED_BYTES
};

/**
 * struct kt_typed - one typed argument
 * @kind: what of the rest is used
 * @format: KTAPE_FORMAT_*
 * @width: to show it in
 * @value: a number, not extended
 * @data: a string without its NUL, or bytes
 * @len: how many
 */
struct kt_typed {
	enum kt_typed_kind kind;
	unsigned int format;
	unsigned int width;
	uint64_t value;
	const uint8_t *data;
	size_t len;
};

void kt_typed_next(const uint8_t **at, const uint8_t *end, struct kt_typed *t);
uint64_t kt_typed_extend(unsigned int format, uint64_t value);

#endif /* _KT_TYPED_H */
