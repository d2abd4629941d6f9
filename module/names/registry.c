// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry: a table of names, because records only have numbers (thread 1234,
 * marker 7).  This file finds and changes entries by their keys.
 *
 * Readers map the table, which grows.  Entries are written in task context
 * under the lock of their hash chain and read without a lock: seq is odd while an
 * entry changes, as uapi/ktape/abi.h describes.  Each change is also recorded, in the
 * ring that a session has for names (KT_RING_NAMES), so a saved trace has one copy of the
 * table, the checkpoint, and the changes since.
 *
 * The entry of an object that no longer exists ("dead") keeps its name until its slot
 * is needed: events that were recorded before may refer to it.  Names that programs
 * and modules give ("given") may take half of what the table may have; one more evicts
 * the oldest.
 *
 * The number of hash chains is chosen at load, for the most entries that the table may
 * have: a full one has four in each chain at most, on average.  So nothing is hashed again
 * when it grows.
 *
 * Each fork and exit changes the registry.  CPUs contend for the lock of slot.c,
 * which is held for a few instructions, and rarely for the lock of a chain.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "event/event.h"
#include "internal.h"
#include "names.h"

#define NONE  KT_SLOT_NONE
#define LOCKS 64U
#define CHAIN_LENGTH \
	4U /* entries in each chain of a full table, at most on average */

/* Protects the chains with its number modulo LOCKS, and the entries in them. */
struct kt_chain_lock {
	raw_spinlock_t lock;
} ____cacheline_aligned_in_smp;

static struct {
	atomic_t era; /* grows when a session begins to miss changes */
	u32 *chain;   /* by hash of the key: first slot, or NONE */
	u32 chain_bits;
	struct kt_chain_lock locks[LOCKS];
} reg;

/* Return the binary logarithm of the number of hash chains. */
static u32 registry_chain_bits(unsigned int entries)
{
	u32 chains = max(entries, kt_registry_max() / CHAIN_LENGTH);

	return ilog2(roundup_pow_of_two(chains));
}

/**
 * kt_chains_bytes() - Return the memory that the hash chains take
 * @entries: number of entries at first
 *
 * Context: any.
 * Return: bytes.
 */
size_t kt_chains_bytes(unsigned int entries)
{
	return sizeof(*reg.chain) << registry_chain_bits(entries);
}

/**
 * kt_chains_init() - Allocate the hash chains, without an entry
 * @entries: number of entries at first
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int kt_chains_init(unsigned int entries)
{
	unsigned int i;

	for (i = 0; i < LOCKS; i++)
		raw_spin_lock_init(&reg.locks[i].lock);
	reg.chain_bits = registry_chain_bits(entries);
	reg.chain = kvmalloc(kt_chains_bytes(entries), GFP_KERNEL);
	if (!reg.chain)
		return -ENOMEM;
	memset32(reg.chain, NONE, 1U << reg.chain_bits);
	return 0;
}

/**
 * kt_chains_exit() - Free the hash chains
 *
 * Context: module unload.
 */
void kt_chains_exit(void)
{
	kvfree(reg.chain);
	memset(&reg, 0, sizeof(reg));
}

/*
 * Does param1 identify objects of this type, besides the id?  An interrupt
 * routine's is its CPU, a cgroup's the upper half of its number, a system call's
 * its table.
 */
static bool param1_is_key(u32 type)
{
	return type == KTAPE_OBJ_ISR || type == KTAPE_OBJ_CGROUP ||
	       type == KTAPE_OBJ_SYSCALL;
}

static struct kt_key object_key(u32 type, u32 id, u32 param1)
{
	return (struct kt_key){ type, id, param1_is_key(type) ? param1 : 0 };
}

/* Return true if a program or module gave the name, false if it was found in the kernel. */
static bool key_is_given(struct kt_key k)
{
	switch (k.type) {
	case KTAPE_OBJ_MARKER:
	case KTAPE_OBJ_VALUE:
	case KTAPE_OBJ_ISR:
	case KTAPE_OBJ_USER_EVENT:
		return true;
	case KTAPE_OBJ_EXCEPTION:
		return k.id < KTAPE_MAJOR_KERNEL;
	default:
		return k.type >= KTAPE_OBJ_USER;
	}
}

static u32 registry_chain_number(struct kt_key k)
{
	return hash_32(k.id ^ k.type << 24 ^ k.param1 << 12, reg.chain_bits);
}

static u32 *registry_chain(struct kt_key k)
{
	return &reg.chain[registry_chain_number(k)];
}

/**
 * kt_entry_lock() - Return the lock that protects the entry of a key
 * @k: the key, whether it has an entry or not
 *
 * Context: any.  Take the lock with interrupts off.
 * Return: the lock of the key's hash chain.
 */
raw_spinlock_t *kt_entry_lock(struct kt_key k)
{
	return &reg.locks[registry_chain_number(k) % LOCKS].lock;
}

static bool entry_has_key(const struct ktape_object_entry *e, struct kt_key k)
{
	return e->id == k.id && e->type == k.type &&
	       (!param1_is_key(k.type) || e->param1 == k.param1);
}

/**
 * kt_entry_find() - Find the living entry of a key
 * @k: the key
 *
 * Context: with kt_entry_lock().
 * Return: the slot, or KT_SLOT_NONE.
 */
u32 kt_entry_find(struct kt_key k)
{
	u32 slot = *registry_chain(k);

	while (slot != NONE && !entry_has_key(kt_slot_entry(slot), k))
		slot = *kt_slot_next(slot);
	return slot;
}

/**
 * kt_entry_at() - Return an entry by its slot
 * @slot: slot of the entry
 *
 * Context: with kt_entry_lock().
 * Return: the entry.
 */
const struct ktape_object_entry *kt_entry_at(u32 slot)
{
	return kt_slot_entry(slot);
}

static void entry_unchain(u32 slot)
{
	const struct ktape_object_entry *e = kt_slot_entry(slot);
	u32 *link = registry_chain(object_key(e->type, e->id, e->param1));

	while (*link != slot)
		link = kt_slot_next(*link);
	*link = *kt_slot_next(slot);
}

static void entry_begin_write(struct ktape_object_entry *e)
{
	WRITE_ONCE(e->seq, e->seq + 1);
	/* Pairs with the read barriers of readers: seq is odd before the rest. */
	smp_wmb();
}

static void entry_end_write(struct ktape_object_entry *e)
{
	/* Pairs with the read barriers of readers: seq is even after the rest. */
	smp_wmb();
	WRITE_ONCE(e->seq, e->seq + 1);
}

/*
 * Record an entry in one session; with KT_SESSIONS in all that want it.
 * Return: false: this CPU does not record names for the session.
 */
static bool entry_record(const struct ktape_object_entry *e, unsigned int session)
{
	const u32 args[] = {
		e->id,
		e->param1,
		e->param2,
		(u32)e->born,
		(u32)(e->born >> 32),
		(u32)e->died,
		(u32)(e->died >> 32),
	};
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_REGISTRY, e->type | (u32)(e->died != 0) << 8,
				1, ARRAY_SIZE(args)),
		.class = KTAPE_CLASS_CONTROL,
		.nargs = ARRAY_SIZE(args),
		.size = strnlen(e->name, sizeof(e->name)),
		.args = args,
		.blob = e->name,
	};

	if (session < KT_SESSIONS)
		return kt_event_record_in(session, KT_RING_NAMES, &rec);
	kt_event_record(KT_RING_NAMES, &rec);
	return true;
}

/* Record the change of an entry, and note its era. */
static void entry_announce(u32 slot)
{
	entry_record(kt_slot_entry(slot), KT_SESSIONS);
	/*
	 * Pairs with kt_registry_begin_era(): if the want bit of a session was clear
	 * above, the era loaded below is at least the one that this session
	 * passes to kt_registry_record_since() later.
	 */
	smp_rmb();
	WRITE_ONCE(*kt_slot_era(slot), atomic_read(&reg.era));
}

static void entry_set_name(struct ktape_object_entry *e, const char *name)
{
	memset(e->name, 0, sizeof(e->name));
	memcpy(e->name, name, strnlen(name, sizeof(e->name) - 1));
}

/*
 * Find the entry of a key or create it, and begin to write it.
 * Return: its slot, for entry_end_write(); NONE if the table has no room.
 */
static u32 entry_open(struct kt_key k, u64 born)
{
	struct ktape_object_entry *e;
	u32 slot = kt_entry_find(k);

	if (slot != NONE) {
		entry_begin_write(kt_slot_entry(slot));
		return slot;
	}
	slot = kt_slot_take();
	if (slot == NONE)
		return NONE;
	e = kt_slot_entry(slot);
	entry_begin_write(e);
	e->type = k.type;
	e->id = k.id;
	e->born = born;
	e->died = 0;
	*kt_slot_next(slot) = *registry_chain(k);
	*registry_chain(k) = slot;
	return slot;
}

/* Return true if the entry of a key exists with these parameters and name. */
static bool entry_is_same(struct kt_key k, u32 param1, u32 param2, const char *name)
{
	const struct ktape_object_entry *e;
	u32 slot = kt_entry_find(k);

	if (slot == NONE)
		return false;
	e = kt_slot_entry(slot);
	return e->param1 == param1 && e->param2 == param2 &&
	       !strncmp(e->name, name, sizeof(e->name) - 1);
}

/**
 * kt_entry_set() - Enter an object, or its new name and parameters
 * @k: its key
 * @born: trace clock at its birth, for a new entry
 * @param1: first parameter, by type
 * @param2: second parameter, by type
 * @name: its name
 *
 * If nothing changes, nothing is recorded.  If the table has no room, the name is
 * counted as one without room.
 *
 * Context: with kt_entry_lock().
 */
void kt_entry_set(struct kt_key k, u64 born, u32 param1, u32 param2, const char *name)
{
	const bool is_new = kt_entry_find(k) == NONE;
	struct ktape_object_entry *e;
	u32 slot;

	if (entry_is_same(k, param1, param2, name))
		return;
	slot = entry_open(k, born);
	if (slot == NONE)
		return;
	e = kt_slot_entry(slot);
	e->param1 = param1;
	e->param2 = param2;
	entry_set_name(e, name);
	entry_end_write(e);
	if (is_new && key_is_given(k))
		kt_slot_given(slot);
	entry_announce(slot);
}

static struct kt_key entry_key(u32 slot)
{
	const struct ktape_object_entry *e = kt_slot_entry(slot);

	return object_key(e->type, e->id, e->param1);
}

/**
 * kt_entry_set_param2() - Change the second parameter of an entry
 * @slot: slot of a living entry
 * @param2: the parameter
 *
 * Context: with kt_entry_lock().
 */
void kt_entry_set_param2(u32 slot, u32 param2)
{
	struct ktape_object_entry *e = kt_slot_entry(slot);

	entry_begin_write(e);
	e->param2 = param2;
	entry_end_write(e);
	entry_announce(slot);
}

/**
 * kt_entry_bury() - Mark an entry as dead
 * @slot: slot of a living entry
 * @died: trace clock when its object ceased to exist
 *
 * The entry stays readable until its slot is needed.
 *
 * Context: with kt_entry_lock().
 */
void kt_entry_bury(u32 slot, u64 died)
{
	struct ktape_object_entry *e = kt_slot_entry(slot);

	entry_unchain(slot);
	entry_begin_write(e);
	e->died = max(died, e->born);
	entry_end_write(e);
	entry_announce(slot);
	/* From here on another object may take the slot. */
	kt_slot_release(slot, key_is_given(entry_key(slot)));
}

static void registry_bury(struct kt_key k)
{
	raw_spinlock_t *lock = kt_entry_lock(k);
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = kt_entry_find(k);
	if (slot != NONE)
		kt_entry_bury(slot, kt_clock());
	raw_spin_unlock_irqrestore(lock, flags);
}

/*
 * Evict the oldest given name if programs and modules fill their share.  The share
 * is not exact: two callers may both see room for one name and add two.
 */
static void registry_make_room(void)
{
	u32 slot = kt_slot_oldest_given(kt_registry_max() / 2);
	struct ktape_object_entry e;
	struct kt_key k;

	/* No lock is held: another object may take the slot meanwhile. */
	if (slot == NONE || !kt_registry_copy(slot, &e))
		return;
	k = object_key(e.type, e.id, e.param1);
	/* That object's name may be one that was found, which is not evicted. */
	if (key_is_given(k))
		registry_bury(k);
}

/**
 * kt_registry_set() - Enter an object, or its new name and parameters
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter, by type
 * @param2: second parameter, by type
 * @name: its name, cut to what an entry has room for
 *
 * A new name that a program or module gives evicts the oldest such name, if they fill their
 * share.
 *
 * Context: task context.
 */
void kt_registry_set(u32 type, u32 id, u32 param1, u32 param2, const char *name)
{
	struct kt_key k = object_key(type, id, param1);
	raw_spinlock_t *lock = kt_entry_lock(k);
	unsigned long flags;

	if (key_is_given(k) && !kt_registry_has(type, id, param1))
		registry_make_room();
	raw_spin_lock_irqsave(lock, flags);
	kt_entry_set(k, kt_clock(), param1, param2, name);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_replace() - Enter an object, bury the one that had its number before
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter, by type
 * @param2: second parameter, by type
 * @name: its name, empty if no object has the number any more
 * @since: trace clock when a probe found the name
 *
 * If the number has an entry with another name or other parameters, that entry's
 * object ceased to exist by @since.
 *
 * Context: task context.
 */
void kt_registry_replace(u32 type, u32 id, u32 param1, u32 param2,
			 const char *name, u64 since)
{
	struct kt_key k = object_key(type, id, param1);
	raw_spinlock_t *lock = kt_entry_lock(k);
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = kt_entry_find(k);
	if (slot != NONE && !entry_is_same(k, param1, param2, name))
		kt_entry_bury(slot, since);
	if (*name)
		kt_entry_set(k, since, param1, param2, name);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_gone() - Mark the entry of an object that ceased to exist as dead
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter; ignored unless it identifies objects of this type
 *
 * Context: task context.
 */
void kt_registry_gone(u32 type, u32 id, u32 param1)
{
	registry_bury(object_key(type, id, param1));
}

/**
 * kt_registry_name() - Look up the name of an object that has a living entry
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter; ignored unless it identifies objects of this type
 * @name: gets the name, ending in NUL, of at most KTAPE_NAME_SIZE bytes; or NULL
 *
 * Context: task context.
 * Return: whether there is such an entry.
 */
bool kt_registry_name(u32 type, u32 id, u32 param1, char *name)
{
	struct kt_key k = object_key(type, id, param1);
	raw_spinlock_t *lock = kt_entry_lock(k);
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = kt_entry_find(k);
	if (slot != NONE && name)
		strscpy(name, kt_entry_at(slot)->name, KTAPE_NAME_SIZE);
	raw_spin_unlock_irqrestore(lock, flags);
	return slot != NONE;
}

/**
 * kt_registry_begin_era() - Begin a new era, because a session begins to miss changes
 *
 * It is created or stops, or a CPU has no rings for it.  Each change of an entry notes its
 * era, so kt_registry_record_since() can find the changes that the session did not record.
 *
 * Context: any; at a stop before the session's want bits are cleared.
 * Return: the era, for kt_registry_record_since().
 */
u32 kt_registry_begin_era(void)
{
	/* Fully ordered: before the want bits.  Pairs with entry_announce(). */
	return atomic_inc_return(&reg.era);
}

/*
 * Record an entry in one session as it is now, living or dead.  Skip a dead entry
 * whose key has a living entry again: kt_registry_record_since() records that one.
 * Return: as entry_record().
 */
static bool entry_record_again(u32 slot, unsigned int session)
{
	struct ktape_object_entry e;
	raw_spinlock_t *lock;
	unsigned long flags;
	bool done = true;
	struct kt_key k;
	u32 living;

	if (!kt_registry_copy(slot, &e))
		return true;
	k = object_key(e.type, e.id, e.param1);
	lock = kt_entry_lock(k);
	raw_spin_lock_irqsave(lock, flags);
	living = kt_entry_find(k);
	/* The lock keeps a living entry; a dead one may change, so use the copy. */
	if (living == slot)
		done = entry_record(kt_slot_entry(slot), session);
	else if (living == NONE && e.died)
		done = entry_record(&e, session);
	raw_spin_unlock_irqrestore(lock, flags);
	return done;
}

/**
 * kt_registry_record_since() - Record in a session what changed while it was stopped
 * @session: number of the session, which records again
 * @since: what kt_registry_begin_era() returned when the session began to miss changes
 * @slot: in: first slot to check; out: the next one
 * @has_room: called before each record; returns true if it may be written now
 * @arg: argument of @has_room
 *
 * Context: process context, may sleep; the caller keeps the session alive.
 * Return: true; false if @has_room returned false, or if this CPU does not record names
 * for the session: go on at *@slot later.
 */
bool kt_registry_record_since(unsigned int session, u32 since, u32 *slot,
			      bool (*has_room)(void *arg), void *arg)
{
	for (; *slot < kt_registry_used(); ++*slot) {
		cond_resched();
		if ((s32)(READ_ONCE(*kt_slot_era(*slot)) - since) < 0)
			continue;
		if (!has_room(arg) || !entry_record_again(*slot, session))
			return false;
	}
	return true;
}

/**
 * kt_registry_copy() - Take a consistent copy of one entry
 * @slot: slot of the entry, below kt_registry_used()
 * @to: receives the copy
 *
 * Context: task context.
 * Return: false if the slot was never used, else true.
 */
bool kt_registry_copy(unsigned int slot, struct ktape_object_entry *to)
{
	const struct ktape_object_entry *e = kt_slot_entry(slot);
	u32 seq;

	/* Writers have interrupts off and are quick, so this loop ends. */
	do {
		seq = READ_ONCE(e->seq);
		/* Pairs with the barrier in entry_end_write(): seq comes first. */
		smp_rmb();
		/* data_race(): the copy counts only if seq stays the same. */
		data_race(memcpy(to, e, sizeof(*to)));
		/* Pairs with the barrier in entry_begin_write(): seq comes last. */
		smp_rmb();
	} while (seq & 1 || READ_ONCE(e->seq) != seq);
	return to->type != KTAPE_OBJ_FREE;
}
