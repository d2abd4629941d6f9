// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CTF 1.8 metadata, which is made once when the module is loaded: the text for
 * the ioctl, and the same text as the packet with which read() begins.  The text
 * of the events comes from uapi/ktape/events.h by way of uapi/ktape/ctf.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>
#include <linux/uuid.h>

#include <ktape/ctf.h>

#include "event/event.h"
#include "internal.h"

/* One string per event. */
static const char *const event_text[] = {
#define KTAPE_EVENT	KTAPE_CTF_EVENT
#define KTAPE_BITS	KTAPE_CTF_BITS
#define KTAPE_VARARGS	KTAPE_CTF_VARARGS
#define KTAPE_ARGS	KTAPE_CTF_ARGS
#define KTAPE_ARG	KTAPE_CTF_ARG
#define KTAPE_REST	KTAPE_CTF_REST
#define KTAPE_BLOB	KTAPE_CTF_BLOB
#define KTAPE_ARRAY	KTAPE_CTF_ARRAY
#define KTAPE_TEXT	KTAPE_CTF_TEXT
#define KTAPE_BYTES	KTAPE_CTF_BYTES
#define KTAPE_LIST	KTAPE_CTF_LIST
#define KTAPE_END(NAME) KTAPE_CTF_END(NAME),
#include <ktape/events.h>
};

#define ROOM (128UL << 10) /* bytes; kt_metadata_init() checks it */

/* The header of the packet and the text right behind it. */
static char *packet;
static size_t text_length, packet_length;

/**
 * kt_metadata_hash() - return the hash of the event table
 *
 * 64-bit FNV-1a over the CTF text of the events, so that the hash changes with
 * everything that a decoder depends on.
 *
 * Return: the hash. Context: any.
 */
u64 kt_metadata_hash(void)
{
	u64 hash = 0xcbf29ce484222325ULL;
	const char *p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event_text); i++)
		for (p = event_text[i]; *p; p++)
			hash = (hash ^ (u8)*p) * 0x100000001b3ULL;
	return hash;
}

/* Copy a host name and replace what must not be in a CTF string. */
static noinline void metadata_plain_name(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size - 1 && from[i]; i++)
		to[i] = isascii(from[i]) && (isalnum(from[i]) ||
					     strchr(".-_", from[i])) ?
				from[i] :
				'_';
	to[i] = '\0';
}

/* Print the text before the events.  Return: its length. */
static size_t metadata_head(char *to, size_t room)
{
	char node[__NEW_UTS_LEN + 1], release[__NEW_UTS_LEN + 1];
	char machine[__NEW_UTS_LEN + 1], uuid[UUID_STRING_LEN + 1];
	struct kt_moment m;
	s64 offset_s;
	s32 rest;
	u64 ns;

	metadata_plain_name(node, init_utsname()->nodename, sizeof(node));
	metadata_plain_name(release, init_utsname()->release, sizeof(release));
	metadata_plain_name(machine, init_utsname()->machine, sizeof(machine));
	snprintf(uuid, sizeof(uuid), "%pUb", kt_uuid);
	kt_clock_moment(&m);
	ns = kt_clock_to_ns(m.clock);
	/* Negative if the wall clock is behind the trace clock. */
	offset_s = div_s64_rem((s64)(m.real - ns), NSEC_PER_SEC, &rest);
	if (rest < 0) {
		rest += NSEC_PER_SEC;
		offset_s--;
	}
	return scnprintf(to, room, KTAPE_CTF_HEAD, uuid, kt_metadata_hash(),
			 kt_clock_name(), (s64)(m.mono - ns),
			 (s64)(m.boot - ns), (s64)(m.real - ns), node, release,
			 machine, kt_clock_name(), uuid, kt_clock_hz(), offset_s,
			 kt_clock_from_ns(rest), kt_clock_name(), kt_clock_name());
}

/* Enter the checksum of the complete, NUL-terminated text into the text. */
static void metadata_seal(char *text, size_t length)
{
	char crc[KTAPE_CTF_CRC_DIGITS + 1];
	char *at = strstr(text, KTAPE_CTF_CRC);

	if (WARN_ON(!at))
		return;
	snprintf(crc, sizeof(crc), "%08x",
		 ~kt_crc32c(~0U, (const void *)text, length));
	memcpy(at + strlen(KTAPE_CTF_CRC), crc, KTAPE_CTF_CRC_DIGITS);
}

/**
 * kt_metadata_init() - make text and packet
 *
 * Also draws the UUID of this load.
 *
 * Context: module load, after kt_clock_init().
 * Return: 0; -ENOMEM: no memory, or (a bug) the text is longer than ROOM.
 */
int kt_metadata_init(void)
{
	struct ktape_metadata_packet *head;
	size_t n = sizeof(*head), room;
	unsigned int i;

	generate_random_uuid(kt_uuid);
	packet = kvzalloc(ROOM, GFP_KERNEL);
	if (!packet) {
		pr_err("no memory for the metadata: %lu bytes\n", ROOM);
		return -ENOMEM;
	}
	/* The packet is padded at its end. */
	room = ROOM - KTAPE_RECORD_ALIGN;
	n += metadata_head(packet + n, room - n);
	for (i = 0; i < ARRAY_SIZE(event_text); i++)
		n += scnprintf(packet + n, room - n, "%s", event_text[i]);
	for (i = 0; i < KTAPE_TIME_EXTEND; i++)
		if (!kt_event_opcode_exists(i))
			n += scnprintf(packet + n, room - n, KTAPE_CTF_UNKNOWN,
				       i, i);
	/* scnprintf() keeps a byte for the NUL: if n reaches it, the text was cut. */
	if (WARN_ON(n + 1 >= room)) {
		kt_metadata_exit();
		return -ENOMEM;
	}
	text_length = n - sizeof(*head);
	metadata_seal(packet + sizeof(*head), text_length);
	packet_length = ALIGN(n, KTAPE_RECORD_ALIGN);
	head = (struct ktape_metadata_packet *)packet;
	head->magic = KTAPE_METADATA_MAGIC;
	memcpy(head->uuid, kt_uuid, sizeof(head->uuid));
	head->content_bits = n * 8;
	head->packet_bits = packet_length * 8;
	head->major = 1;
	head->minor = 8;
	return 0;
}

/**
 * kt_metadata_exit() - free text and packet
 *
 * Context: module unload.
 */
void kt_metadata_exit(void)
{
	kvfree(packet);
	packet = NULL;
}

/**
 * kt_metadata_text() - return the metadata as text
 * @length: out: bytes of the text, without a NUL
 *
 * Context: any.
 * Return: the text.
 */
const char *kt_metadata_text(size_t *length)
{
	*length = text_length;
	return packet + sizeof(struct ktape_metadata_packet);
}

/**
 * kt_metadata_packet() - return the metadata as a CTF metadata packet
 * @length: out: bytes of the packet
 *
 * Context: any.
 * Return: the packet.
 */
const void *kt_metadata_packet(size_t *length)
{
	*length = packet_length;
	return packet;
}

/**
 * kt_ioctl_metadata() - copy the CTF metadata out
 * @file: the descriptor
 * @arg: struct ktape_metadata; its length is filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; -EMSGSIZE: the room is too small, and the length is filled; -EFAULT.
 */
long kt_ioctl_metadata(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_metadata *m = &arg->metadata;
	u64 room = m->length;
	size_t length;
	const char *text = kt_metadata_text(&length);

	if (m->flags)
		return -EINVAL;
	m->length = length;
	if (room < length)
		return -EMSGSIZE;
	if (copy_to_user(u64_to_user_ptr(m->text), text, length))
		return -EFAULT;
	return 0;
}
