/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CRC32C (Castagnoli), the checksum of packets and of the metadata.  @crc is that of the bytes
 * before, 0 at the beginning.  Both functions return the same.
 */
#ifndef _KT_CRC32C_H
#define _KT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t kt_crc32c(uint32_t crc, const void *data, size_t len);
uint32_t kt_crc32c_by_tables(uint32_t crc, const void *data, size_t len);

#endif /* _KT_CRC32C_H */
