# SPDX-License-Identifier: GPL-2.0-only
"""Which event and field of another format stands for which one of ours, from
ktape-formats(7), the kernel's formats of ftrace's events, LTTng's instrumentation and
Perfetto's protos; and what a format cannot hold.

A field is OURS, or OURS=THEIRS.  What a row does not name has no place there."""

STATES = {'R': 0, 'S': 1, 'D': 2, 'T': 4, 't': 8, 'X': 16, 'Z': 32, 'P': 64, 'I': 128, 'R+': 256}
FTRACE = '''
sched_switch	sched_switch	prev_tid=prev_pid prev_prio prev_state next_tid=next_pid next_prio
sched_waking	sched_waking	tid=pid prio target_cpu
sched_wakeup	sched_wakeup	tid=pid prio target_cpu
sched_wakeup_new	sched_wakeup_new	tid=pid prio target_cpu
sched_migrate_task	sched_migrate_task	tid=pid prio orig_cpu dest_cpu
sched_pi_setprio	sched_pi_setprio	tid=pid old_prio=oldprio new_prio=newprio
sched_process_wait	sched_process_wait	tid=pid
sched_stat_runtime	sched_stat_runtime	tid=pid runtime
process_fork	sched_process_fork	parent_tid=pid child_tid=child_pid
process_exec	sched_process_exec	tid=pid old_tid=old_pid
process_exit	sched_process_exit	tid=pid prio
process_free	sched_process_free	tid=pid
process_rename	task_rename	tid=pid
irq_handler_entry	irq_handler_entry	irq
irq_handler_exit	irq_handler_exit	irq ret
softirq_raise	softirq_raise	vec
softirq_entry	softirq_entry	vec
softirq_exit	softirq_exit	vec
tasklet_entry	tasklet_entry	tasklet function
tasklet_exit	tasklet_exit	tasklet function
ipi_entry	ipi_entry	reason
ipi_exit	ipi_exit	reason
ipi_raise	ipi_raise	cpus=target_mask reason
local_timer_entry	local_timer_entry	vector
local_timer_exit	local_timer_exit	vector
sys_enter	sys_enter	nr=NR
sys_enter_wide	sys_enter	nr=NR args
sys_exit	sys_exit	nr=NR ret
sys_exit_wide	sys_exit	nr=NR ret
signal_generate	signal_generate	sig errno code tid=pid group=grp result=res
signal_deliver	signal_deliver	sig code handler=sa_handler flags=sa_flags
timer_init	timer_init	timer
timer_start	timer_start	timer function expires_in=timeout flags
timer_expire_entry	timer_expire_entry	timer function late
timer_expire_exit	timer_expire_exit	timer
timer_cancel	timer_cancel	timer
hrtimer_init	hrtimer_init	timer=hrtimer clock=clockid mode
hrtimer_start	hrtimer_start	timer=hrtimer expires=softexpires mode
hrtimer_expire_entry	hrtimer_expire_entry	timer=hrtimer function late_ns=late
hrtimer_expire_exit	hrtimer_expire_exit	timer=hrtimer
hrtimer_cancel	hrtimer_cancel	timer=hrtimer
workqueue_queue_work	workqueue_queue_work	work function req_cpu
workqueue_activate_work	workqueue_activate_work	work
workqueue_execute_start	workqueue_execute_start	work function
workqueue_execute_end	workqueue_execute_end	work function
block_rq_insert	block_rq_insert	dev op bytes sector
block_rq_issue	block_rq_issue	dev op bytes sector
block_rq_complete	block_rq_complete	dev op bytes sector status
net_dev_queue	net_dev_queue	dev skb=skbaddr len
net_dev_xmit	net_dev_xmit	dev skb=skbaddr len rc
netif_receive_skb	netif_receive_skb	dev skb=skbaddr len
netif_rx	netif_rx	dev skb=skbaddr len
cpu_idle	cpu_idle	state cpu=cpu_id
cpu_frequency	cpu_frequency	khz=state cpu=cpu_id
'''
LTTNG = '''
sched_switch	sched_switch	prev_tid prev_prio prev_state next_tid next_prio
sched_waking	sched_waking	tid prio target_cpu
sched_wakeup	sched_wakeup	tid prio target_cpu
sched_wakeup_new	sched_wakeup_new	tid prio target_cpu
sched_migrate_task	sched_migrate_task	tid prio orig_cpu dest_cpu
sched_pi_setprio	sched_pi_setprio	tid old_prio=oldprio new_prio=newprio
sched_process_wait	sched_process_wait	tid
sched_stat_runtime	sched_stat_runtime	tid runtime
process_fork	sched_process_fork	parent_tid child_tid child_tgid=child_pid
process_exec	sched_process_exec	tid old_tid
process_exit	sched_process_exit	tid prio
process_free	sched_process_free	tid
irq_handler_entry	irq_handler_entry	irq
irq_handler_exit	irq_handler_exit	irq ret
softirq_raise	irq_softirq_raise	vec
softirq_entry	irq_softirq_entry	vec
softirq_exit	irq_softirq_exit	vec
local_timer_entry	x86_irq_vectors_local_timer_entry	vector
local_timer_exit	x86_irq_vectors_local_timer_exit	vector
signal_generate	signal_generate	sig errno code tid=pid group result
signal_deliver	signal_deliver	sig code handler=sa_handler flags=sa_flags
timer_init	timer_init	timer
timer_start	timer_start	timer function expires_in=timeout
timer_expire_entry	timer_expire_entry	timer function late
timer_expire_exit	timer_expire_exit	timer
timer_cancel	timer_cancel	timer
hrtimer_init	timer_hrtimer_init	timer=hrtimer clock=clockid mode
hrtimer_start	timer_hrtimer_start	timer=hrtimer expires=softexpires mode
hrtimer_expire_entry	timer_hrtimer_expire_entry	timer=hrtimer function late_ns=late
hrtimer_expire_exit	timer_hrtimer_expire_exit	timer=hrtimer
hrtimer_cancel	timer_hrtimer_cancel	timer=hrtimer
workqueue_queue_work	workqueue_queue_work	work function req_cpu
workqueue_activate_work	workqueue_activate_work	work
workqueue_execute_start	workqueue_execute_start	work function
workqueue_execute_end	workqueue_execute_end	work function
block_rq_insert	block_rq_insert	dev sector bytes op=rwbs
block_rq_issue	block_rq_issue	dev sector bytes op=rwbs
block_rq_complete	block_rq_complete	dev sector bytes=nr_sector status=error op=rwbs
net_dev_queue	net_dev_queue	skb=skbaddr len dev=name
net_dev_xmit	net_dev_xmit	skb=skbaddr len rc dev=name
netif_receive_skb	net_if_receive_skb	skb=skbaddr len dev=name
netif_rx	net_if_rx	skb=skbaddr len dev=name
cpu_idle	power_cpu_idle	state cpu=cpu_id
cpu_frequency	power_cpu_frequency	khz=state cpu=cpu_id
'''
# Numbers of FtraceEvent's member and of the members of that message.
PERFETTO = '''
sched_switch	4	prev_tid=2 prev_prio=3 prev_state=4 next_tid=6 next_prio=7
sched_waking	20	tid=2 prio=3 target_cpu=5
sched_wakeup	17	tid=2 prio=3 target_cpu=5
sched_wakeup_new	114	tid=2 prio=3 target_cpu=5
sched_migrate_task	491	tid=2 prio=3 orig_cpu=4 dest_cpu=5
sched_blocked	18	tid=1 caller=2 io=3
sched_process_wait	242	tid=2
process_fork	235	child_tid=1 thread=3
process_exec	237	tid=2 old_tid=3
process_exit	238	tid=2 tgid=3 prio=4
process_rename	236	tid=1
process_free	240	tid=2
irq_handler_entry	36	irq=1
irq_handler_exit	37	irq=1 ret=2
softirq_entry	24	vec=1
softirq_exit	25	vec=1
softirq_raise	26	vec=1
ipi_entry	21	reason=1
ipi_exit	22	reason=1
ipi_raise	23	cpus=1 reason=2
local_timer_entry	559	vector=1
local_timer_exit	560	vector=1
sys_enter	329	nr=1
sys_enter_wide	329	nr=1 args=2
sys_exit	330	nr=1 ret=2
sys_exit_wide	330	nr=1 ret=2
hrtimer_start	551	timer=1 expires=3 mode=5
hrtimer_cancel	552	timer=1
hrtimer_expire_entry	553	timer=1 function=3
hrtimer_expire_exit	554	timer=1
timer_start	555	timer=1 function=2
timer_cancel	556	timer=1
cpu_idle	13	state=1 cpu=2
cpu_frequency	11	khz=1 cpu=2
workqueue_activate_work	56	work=1
workqueue_execute_end	57	work=1 function=2
workqueue_execute_start	58	work=1 function=2
workqueue_queue_work	59	work=1 function=2
'''
# Class, event, and fields of a line of traceprinter; ours=theirs, with an empty name in order.
QNX = '''
sched_switch	THREAD	prev_tid next_tid prev_state
sched_wakeup	THREAD	tid
sched_wakeup_new	THREAD	tid
context	THREAD	tid
process_fork	THREAD	child_tgid=pid child_tid=tid
process_exec	PROCESS	tid=pid
process_rename	PROCESS	tgid=pid tid
process_exit	THREAD	tgid=pid tid
irq_handler_entry	INT_HANDLER_ENTR	irq
irq_handler_exit	INT_HANDLER_EXIT	irq ret
local_timer_entry	INT_ENTR	vector
local_timer_exit	INT_EXIT	vector
sys_enter	KER_CALL	nr
sys_enter_wide	KER_CALL	nr
sys_exit	KER_EXIT	nr ret
sys_exit_wide	KER_EXIT	nr ret
signal_generate	COMM	sig code tid
'''


def table(text):
    """Return {our event: (theirs, {our field: theirs})}."""
    rows = {}
    for line in text.strip().splitlines():
        ours, theirs, fields = line.split('\t')
        rows[ours] = theirs, {f.partition('=')[0]: f.partition('=')[2] or f for f in fields.split()}
    return rows
