/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Types of the registry's named objects, and the meaning of id, param1 and param2
 * in struct ktape_object_entry.  Included by ktape/abi.h.
 */
#ifndef _KTAPE_OBJECTS_H
#define _KTAPE_OBJECTS_H

/**
 * enum ktape_object - types of registry entries
 * @KTAPE_OBJ_FREE: the entry is not in use
 * @KTAPE_OBJ_THREAD: id tid; param1 tgid; param2 priority | policy << 8 |
 *	kernel thread << 16; name as in /proc/PID/comm
 * @KTAPE_OBJ_IRQ: id Linux interrupt number; name that of its first handler
 * @KTAPE_OBJ_SOFTIRQ: id vector; name as in /proc/softirqs
 * @KTAPE_OBJ_FUNCTION: id token (KTAPE_TYPE FUNC); param1 offset in the function;
 *	param2 length of the function; name its symbol
 * @KTAPE_OBJ_MARKER: id of a marker; param1 selects which markers of that id have
 *	this name.  A tid: the marker of that thread.  KTAPE_OWNER_ANY: markers of
 *	threads that have no name of their own for it.  0: the global marker, and,
 *	unless param2 is KTAPE_NAME_GLOBAL, also markers of threads that have no
 *	other name.  The module takes names with param1 = param2 = 0 only; traces that
 *	were converted have the others
 * @KTAPE_OBJ_VALUE: id of a value; param1 and param2 as for a marker
 * @KTAPE_OBJ_ISR: id of an interrupt routine; param1 CPU + 1, or 0 for all CPUs
 * @KTAPE_OBJ_EXCEPTION: id major code of exceptions
 * @KTAPE_OBJ_USER_EVENT: id of a user event; param1 formats of its arguments,
 *	4 bits each, the first in the lowest (uapi/README.md); param2 number of
 *	arguments
 * @KTAPE_OBJ_BLOCK_DEVICE: id major << 20 | minor; name of the disk
 * @KTAPE_OBJ_NET_DEVICE: id interface index, for a device of the initial net name
 *	space; else a number with KTAPE_NETDEV_OTHER; param1 inode number of the
 *	name space; param2 interface index in it; name of the device
 * @KTAPE_OBJ_CGROUP: cgroup of version 2; id and param1 low and high half of its
 *	cgroup id; param2 low half of its parent's id, 0 = it is the root; name the
 *	end of its path
 * @KTAPE_OBJ_PROBE: id opcode; param1 1 = return probe; name of the function
 * @KTAPE_OBJ_SYSCALL: id system call number; param1 AUDIT_ARCH_* of its table.  The
 *	module enters none, because a reader can look number and table up
 * @KTAPE_OBJ_TASK_CGROUP: id tid; param1 and param2 low and high half of the id of
 *	the thread's cgroup (version 2), 0 = not known; name the end of its path.  The
 *	module enters threads whose cgroup changes or is not that of their maker, a
 *	recorder those that it finds at its beginning.  It is of the thread that has
 *	the tid if it was born with that thread or later
 * @KTAPE_OBJ_NO_ROOM: id enum ktape_no_room; param1 and param2 low and high half of
 *	the number of names that had no room for this reason since the module was
 *	loaded
 * @KTAPE_OBJ_USER: from here on objects of programs: KTAPE_OBJ_USER + a type of
 *	enum ktape_user_object
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
	KTAPE_OBJ_TASK_CGROUP = 15,
	KTAPE_OBJ_NO_ROOM = 16,
	KTAPE_OBJ_USER = 64
};

#define KTAPE_NO_ROOM_REASONS 8

/**
 * enum ktape_no_room - why a name is not in the registry, or not in a copy of it
 * @KTAPE_NO_ROOM_LIMIT: the registry was as large as it may get
 * @KTAPE_NO_ROOM_MEMORY: the kernel had no memory for it to grow
 * @KTAPE_NO_ROOM_LATE: names came faster than it grew; threads that still exist get
 *	theirs later
 * @KTAPE_NO_ROOM_REFUSED: users without rights may not give more names
 * @KTAPE_NO_ROOM_REGION: the copy in persistent memory has fewer entries than the
 *	registry; not a sum, but the number at the last copy
 */
enum ktape_no_room {
	KTAPE_NO_ROOM_LIMIT = 1,
	KTAPE_NO_ROOM_MEMORY = 2,
	KTAPE_NO_ROOM_LATE = 3,
	KTAPE_NO_ROOM_REFUSED = 4,
	KTAPE_NO_ROOM_REGION = 5
};

/**
 * enum ktape_user_object - types of programs' objects, numbered as in ThreadX
 * @KTAPE_USER_THREAD: param1 start of the stack, param2 its size
 * @KTAPE_USER_TIMER: param1 initial ticks, param2 ticks to reload
 * @KTAPE_USER_QUEUE: param1 size of the queue, param2 size of a message
 * @KTAPE_USER_SEMAPHORE: param1 initial count
 * @KTAPE_USER_MUTEX: param1 1 = with priority inheritance
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
 * @KTAPE_USER_RKH_OBJECT: object of RKH without a type of its own; the id of all
 *	RKH types is an address, and they have no parameters
 * @KTAPE_USER_RKH_SIGNAL: id of a signal
 * @KTAPE_USER_RKH_STATE: state or pseudostate
 * @KTAPE_USER_RKH_ACTOR: actor, the sender of signals
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

/* Bit in the id of a network device outside the initial net name space. */
#define KTAPE_NETDEV_OTHER (1U << 31)

/* In param1 of a marker or a value: all threads without a name of their own. */
#define KTAPE_OWNER_ANY 0xffffffffU

/* In param2 of a marker or a value whose param1 is 0: only the global one. */
#define KTAPE_NAME_GLOBAL 1U

#endif /* _KTAPE_OBJECTS_H */
