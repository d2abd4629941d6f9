/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the library share and do not show. */
#ifndef _KT_INTERNAL_H
#define _KT_INTERNAL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/bits.h"

#include <ktape.h>

/* Bounds for foreign bytes. */
#define KT_CPUS_MAX	8192U
#define KT_PACKET_MAX	KTAPE_BLOCK_MAX
#define KT_METADATA_MAX	(16U << 20)
#define KT_UUID_TEXT	37

/* crc32c.c */
uint32_t kt_crc32c(uint32_t crc, const void *data, size_t len);

/* metadata.c */
void kt_uuid_text(const uint8_t *uuid, char text[KT_UUID_TEXT]);
size_t kt_event_place(unsigned int opcode);
const char *kt_event_text(size_t place, unsigned int *opcode, size_t *len);
#define KT_FNV_BEGIN	0xcbf29ce484222325ULL
uint64_t kt_fnv(uint64_t hash, const char *text, size_t len);

/* metadata_add.c */
int kt_metadata_remark(char **text, size_t *len, const char *remark);

/* metadata_check.c */
bool kt_metadata_is_sealed(const char *text, size_t len);
void kt_metadata_seal(char *text, size_t len);
void kt_metadata_unseal(char *text, size_t *len, bool damaged);

/* metadata_parse.c */
int kt_metadata_unpack(const uint8_t *data, size_t len, char **text,
		       size_t *text_len, struct ktape_error *error);
uint64_t kt_metadata_place(const uint8_t *data, size_t len, uint64_t offset);

/* packet.c */
#define KT_HEAD32(data, member) \
	kt_get32((const uint8_t *)(data) + offsetof(struct ktape_block, member))
#define KT_HEAD64(data, member) \
	kt_get64((const uint8_t *)(data) + offsetof(struct ktape_block, member))
#define KT_HEAD_SET32(data, member, value) \
	kt_set32((uint8_t *)(data) + offsetof(struct ktape_block, member), value)
#define KT_HEAD_SET64(data, member, value) \
	kt_set64((uint8_t *)(data) + offsetof(struct ktape_block, member), value)

#define KT_BAD_CHECKSUM	"checksum is wrong"

int kt_error(struct ktape_error *error, uint64_t offset, const char *format,
	     ...) __attribute__((format(printf, 3, 4)));
uint64_t kt_packet_size(const uint8_t *head, struct ktape_error *error);
int kt_packet_begin(struct ktape_packet *packet, const void *data, size_t len,
		    const uint8_t *uuid, struct ktape_error *error);
uint64_t kt_records_count(const uint8_t *data, uint64_t from, uint64_t to);
uint32_t kt_packet_crc(const void *first, size_t first_len, const void *rest,
		       size_t rest_len);

/* device.c */
int kt_device_ioctl(const struct ktape_device *device, unsigned long command,
		    void *arg);
int kt_device_adopt(int fd, struct ktape_device **device);

/* names_syscall.c */
bool kt_syscall_has_status(const char *machine, unsigned int abi,
			   unsigned int nr);

#endif /* _KT_INTERNAL_H */
