/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Types of named objects, and what the two parameters of each hold.  Included
 * by ktape/abi.h; the entries themselves are struct ktape_object_entry there.
 */
#ifndef _KTAPE_OBJECTS_H
#define _KTAPE_OBJECTS_H

/**
 * enum ktape_object - types of registry entries
 * @KTAPE_OBJ_FREE: no entry
 * @KTAPE_OBJ_THREAD: id tid; param1 tgid; param2 priority | policy << 8 |
 *	kernel thread << 16; name as in /proc/PID/comm
 * @KTAPE_OBJ_IRQ: id Linux interrupt number; name of its first handler
 * @KTAPE_OBJ_SOFTIRQ: id vector; name as in /proc/softirqs
 * @KTAPE_OBJ_FUNCTION: id token (KTAPE_TYPE FUNC); param1 offset in the function;
 *	param2 length of the function; name its symbol
 * @KTAPE_OBJ_MARKER: id of a marker; param1 the thread whose own it is,
 *	KTAPE_OWNER_ANY: of threads' own where the thread has no name for it, or
 *	0: of the global one, and of threads' own that have no other name unless
 *	param2 is KTAPE_NAME_GLOBAL
 * @KTAPE_OBJ_VALUE: id of a value; param1 and param2 as of a marker
 * @KTAPE_OBJ_ISR: id of an interrupt routine; param1 CPU + 1, or 0: all CPUs
 * @KTAPE_OBJ_EXCEPTION: id major code of exceptions
 * @KTAPE_OBJ_USER_EVENT: id of a user event; param1 formats of its arguments,
 *	4 bits each, the first in the lowest (uapi/README.md); param2 how many
 * @KTAPE_OBJ_BLOCK_DEVICE: id major << 20 | minor; name of the disk
 * @KTAPE_OBJ_NET_DEVICE: id index in the initial net name space; of another one's
 *	device a number with KTAPE_NETDEV_OTHER; param1 inode number of its name
 *	space; param2 index there; name of the device
 * @KTAPE_OBJ_CGROUP: of version 2: id low half, param1 high half of its number;
 *	param2 low half of its parent's number, 0: it is the root; name the end of
 *	its path
 * @KTAPE_OBJ_PROBE: id opcode; param1 1: at the return; name of the function
 * @KTAPE_OBJ_SYSCALL: id number; param1 AUDIT_ARCH_* of its table.  The module
 *	makes none of them: number and table tell the call to whoever has the list
 * @KTAPE_OBJ_USER: from here on objects of the user: KTAPE_OBJ_USER + the type
 *	of ThreadX (enum ktape_user_object)
 */
enum ktape_object {
	KTAPE_OBJ_FREE = 0,
	KTAPE_OBJ_THREAD = 1,
	KTAPE_OBJ_IRQ = 2,
	KTAPE_OBJ_SOFTIRQ = 3,
	KTAPE_OBJ_FUNCTION = 4,
	KTAPE_OBJ_MARKER = 5,
	KTAPE_OBJ_VALUE = 6,
	KTAPE_OBJ_ISR = 7,
	KTAPE_OBJ_EXCEPTION = 8,
	KTAPE_OBJ_USER_EVENT = 9,
	KTAPE_OBJ_BLOCK_DEVICE = 10,
	KTAPE_OBJ_NET_DEVICE = 11,
	KTAPE_OBJ_CGROUP = 12,
	KTAPE_OBJ_PROBE = 13,
	KTAPE_OBJ_SYSCALL = 14,
	KTAPE_OBJ_USER = 64
};

/**
 * enum ktape_user_object - types of objects of the user, as ThreadX has them
 * @KTAPE_USER_THREAD: param1 start of the stack, param2 its size
 * @KTAPE_USER_TIMER: param1 initial ticks, param2 ticks to reload
 * @KTAPE_USER_QUEUE: param1 size of the queue, param2 size of a message
 * @KTAPE_USER_SEMAPHORE: param1 initial count
 * @KTAPE_USER_MUTEX: param1 1: with priority inheritance
 * @KTAPE_USER_EVENT_FLAGS: no parameters
 * @KTAPE_USER_BLOCK_POOL: param1 number of blocks, param2 bytes of one
 * @KTAPE_USER_BYTE_POOL: param1 bytes of the pool
 * @KTAPE_USER_MEDIA: param1 FAT cache, param2 sector cache
 * @KTAPE_USER_FILE: no parameters
 * @KTAPE_USER_IP: param1 start of the stack, param2 its size
 * @KTAPE_USER_PACKET_POOL: param1 bytes of a packet, param2 number of packets
 * @KTAPE_USER_TCP_SOCKET: param1 IP address, param2 size of the window
 * @KTAPE_USER_UDP_SOCKET: param1 IP address, param2 maximum of the queue
 * @KTAPE_USER_USB: first of eight USB types: host stack device, interface,
 *	endpoint, class, then the same of the device side; no parameters
 * @KTAPE_USER_RKH_OBJECT: object of RKH without a type of its own; of this and
 *	of the following the id is an address, and there are no parameters
 * @KTAPE_USER_RKH_SIGNAL: id of a signal
 * @KTAPE_USER_RKH_STATE: state or pseudostate
 * @KTAPE_USER_RKH_ACTOR: actor: who sends
 */
enum ktape_user_object {
	KTAPE_USER_THREAD = 1,
	KTAPE_USER_TIMER = 2,
	KTAPE_USER_QUEUE = 3,
	KTAPE_USER_SEMAPHORE = 4,
	KTAPE_USER_MUTEX = 5,
	KTAPE_USER_EVENT_FLAGS = 6,
	KTAPE_USER_BLOCK_POOL = 7,
	KTAPE_USER_BYTE_POOL = 8,
	KTAPE_USER_MEDIA = 9,
	KTAPE_USER_FILE = 10,
	KTAPE_USER_IP = 11,
	KTAPE_USER_PACKET_POOL = 12,
	KTAPE_USER_TCP_SOCKET = 13,
	KTAPE_USER_UDP_SOCKET = 14,
	KTAPE_USER_USB = 21,
	KTAPE_USER_RKH_OBJECT = 32,
	KTAPE_USER_RKH_SIGNAL = 33,
	KTAPE_USER_RKH_STATE = 34,
	KTAPE_USER_RKH_ACTOR = 35
};

/* Bit in the number of a network device that is not of the initial name space. */
#define KTAPE_NETDEV_OTHER	(1U << 31)

/* In param1 of a marker or a value: of whatever thread. */
#define KTAPE_OWNER_ANY		0xffffffffU

/* In param2 of a marker or a value whose param1 is 0: of the global one alone. */
#define KTAPE_NAME_GLOBAL	1U

#endif /* _KTAPE_OBJECTS_H */
