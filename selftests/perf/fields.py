# SPDX-License-Identifier: GPL-2.0-only
"""Where ktape has the fields of tracepoints: under their own names, or as the tables here say."""
import signal

# By event of ktape: field of the kernel -> field of ktape, or a reason why it is another value.
THREAD = {'pid': 'tid', 'comm': 'tid_name'}
SWITCH = {'prev_pid': 'prev_tid', 'prev_comm': 'prev_tid_name',
          'next_pid': 'next_tid', 'next_comm': 'next_tid_name', 'prev_state': 'state:prev_state'}
FORK = {'parent_pid': 'parent_tid', 'parent_comm': 'parent_tid_name',
        'child_pid': 'child_tid', 'child_comm': 'child_tid_name'}
MEMORY = {'ptr': 'token:ptr', 'call_site': 'token:caller', 'bytes_req': 'bytes',
          'gfp_flags': 'gfp'}
PLACES = {
    'sched_switch': SWITCH,
    'sched_waking': THREAD, 'sched_wakeup': THREAD, 'sched_wakeup_new': THREAD,
    'sched_migrate_task': THREAD, 'sched_stat_runtime': THREAD,
    'process_exit': THREAD, 'process_free': THREAD,
    'sched_process_wait': {'pid': 'tid'},
    'process_fork': FORK,
    'process_exec': {'pid': 'tid', 'old_pid': 'old_tid'},
    'process_rename': {'pid': 'tid', 'newcomm': 'tid_name'},
    'signal_generate': THREAD,
    'signal_deliver': {'sa_flags': 'flags', 'sa_handler': 'token:handler'},
    'irq_handler_entry': {'name': 'irq_name'},
    'kmalloc': MEMORY, 'kfree': MEMORY, 'kmem_cache_alloc': MEMORY, 'kmem_cache_free': MEMORY,
    'mm_page_alloc': {'pfn': 'token:page', 'gfp_flags': 'gfp'},
    'mm_page_free': {'pfn': 'token:page'},
    'hrtimer_init': {'hrtimer': 'token:timer', 'clockid': 'clock'},
    'hrtimer_start': {'hrtimer': 'token:timer', 'softexpires': 'expires'},
    'hrtimer_expire_entry': {'hrtimer': 'token:timer'},
    'hrtimer_expire_exit': {'hrtimer': 'token:timer'},
    'hrtimer_cancel': {'hrtimer': 'token:timer'},
    'timer_init': {'timer': 'token:timer'},
    'timer_start': {'timer': 'token:timer'},
    'timer_expire_entry': {'timer': 'token:timer'},
    'timer_expire_exit': {'timer': 'token:timer'},
    'timer_cancel': {'timer': 'token:timer'},
    'workqueue_queue_work': {'work': 'token:work'},
    'workqueue_activate_work': {'work': 'token:work'},
    'workqueue_execute_start': {'work': 'token:work'},
    'workqueue_execute_end': {'work': 'token:work'},
    'tasklet_entry': {'tasklet': 'token:tasklet', 'func': 'token:function'},
    'tasklet_exit': {'tasklet': 'token:tasklet', 'func': 'token:function'},
    'sys_enter': {'id': 'nr', '__syscall_nr': 'nr'},
    'sys_enter_wide': {'id': 'nr', '__syscall_nr': 'nr'},
    'sys_exit': {'id': 'nr', '__syscall_nr': 'nr'},
}
# The same for functions: an address is a token and the name of the function.
for name in ('hrtimer_expire_entry', 'timer_start', 'timer_expire_entry', 'workqueue_queue_work',
             'workqueue_execute_start', 'workqueue_execute_end'):
    PLACES[name]['function'] = 'token:function'

# The kernel's name of an event -> ktape's, where they differ.
NAMES = {
    'sched_process_fork': 'process_fork', 'sched_process_exec': 'process_exec',
    'sched_process_exit': 'process_exit', 'sched_process_free': 'process_free',
    'task_rename': 'process_rename',
}

STATES = {0: 'R', 1: 'S', 2: 'D', 4: 'T', 8: 't', 16: 'X', 32: 'Z', 64: 'P', 128: 'I',
          256: 'R+'}

SOFTIRQS = ('HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER',
            'RCU')
WORDS = {
    'vec': lambda v: SOFTIRQS[v],
    'sig': lambda v: signal.Signals(v).name,
}
