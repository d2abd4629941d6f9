// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wakes the readers that wait in read() and poll().
 *
 * A writer may hold the scheduler's locks, so it only queues an irq_work.  That wakes
 * a few readers at once, so that no other thread has to run before the usual recorder is
 * woken.  The others are left to a work item, so what runs in hard interrupt has a limit,
 * however many descriptors wait.
 *
 * The work item walks the queue of waiters in batches and releases its lock in
 * between.  An entry of its own, the bookmark, keeps its place meanwhile.
 */
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "internal.h"

#define WAKE_AT_ONCE 4	/* waiters that the irq_work wakes */
#define WAKE_BATCH   64 /* waiters for each hold of the queue's lock */

/* The function of a bookmark: it stands for no waiter. */
static int wake_nobody(wait_queue_entry_t *entry, unsigned int mode, int flags,
		       void *key)
{
	return 0;
}

/*
 * Wake up to @max waiters, from @at on.  Called with the lock of the queue.
 * Return: the entry of the first waiter that was not reached; NULL: there is none.
 */
static wait_queue_entry_t *wake_some(wait_queue_head_t *head,
				     wait_queue_entry_t *at, unsigned int max)
{
	wait_queue_entry_t *next;

	/* A waiter may remove its entry when it is called. */
	list_for_each_entry_safe_from(at, next, &head->head, entry) {
		if (at->func == wake_nobody)
			continue;
		if (!max--)
			return at;
		at->func(at, TASK_NORMAL, 0, NULL);
	}
	return NULL;
}

static wait_queue_entry_t *wake_first(wait_queue_head_t *head)
{
	return list_first_entry(&head->head, wait_queue_entry_t, entry);
}

static void owner_wake(struct irq_work *work)
{
	struct kt_owner *owner = container_of(work, struct kt_owner, wake);
	wait_queue_head_t *head = &owner->wait;
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&head->lock, flags);
	more = wake_some(head, wake_first(head), WAKE_AT_ONCE);
	spin_unlock_irqrestore(&head->lock, flags);
	if (more)
		queue_work(kt_any_cpu_wq, &owner->wake_rest);
}

/**
 * kt_owner_wake() - Wake all readers of a session
 * @owner: part of the session
 *
 * A reader that enters the queue behind this walk is not woken.  It enters with the lock
 * that this call has held before, so it sees the change for which readers are woken.
 *
 * Context: process context, may sleep.
 */
void kt_owner_wake(struct kt_owner *owner)
{
	wait_queue_head_t *head = &owner->wait;
	wait_queue_entry_t bookmark = { .func = wake_nobody };
	wait_queue_entry_t *at;

	spin_lock_irq(&head->lock);
	at = wake_some(head, wake_first(head), WAKE_BATCH);
	while (at) {
		list_add_tail(&bookmark.entry, &at->entry);
		spin_unlock_irq(&head->lock);
		cond_resched();
		spin_lock_irq(&head->lock);
		at = list_next_entry(&bookmark, entry);
		list_del(&bookmark.entry);
		at = wake_some(head, at, WAKE_BATCH);
	}
	spin_unlock_irq(&head->lock);
}

static void owner_wake_rest(struct work_struct *work)
{
	kt_owner_wake(container_of(work, struct kt_owner, wake_rest));
}

/**
 * kt_owner_init() - Prepare a session's owner structure
 * @owner: zeroed; the caller prepares @filled
 *
 * Context: process context.
 */
void kt_owner_init(struct kt_owner *owner)
{
	atomic_set(&owner->waiting, 0);
	init_waitqueue_head(&owner->wait);
	init_irq_work(&owner->wake, owner_wake);
	INIT_WORK(&owner->wake_rest, owner_wake_rest);
}

/**
 * kt_owner_exit() - Wait until no reader is being woken
 * @owner: no writer is left in its rings
 *
 * Context: process context without any lock of a session, may sleep.
 */
void kt_owner_exit(struct kt_owner *owner)
{
	/* In this order: the irq_work queues the work item. */
	irq_work_sync(&owner->wake);
	cancel_work_sync(&owner->wake_rest);
}
