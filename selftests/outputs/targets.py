# SPDX-License-Identifier: GPL-2.0-only
"""Outputs that are formats of real-time kernels, read back: their events stand for ours.

The tests in unit/lib/format compare the readers of these with the encoders of their targets."""
import copy

from events import number, read
from form import Form
from lines import Got
from mapped import Mapped
from tables import table

# Our events and fields, and those that they are when read back.
TBAND = '''
sched_switch	sched_switch	prev_tid next_tid prev_state
sched_wakeup	sched_wakeup	tid
sched_wakeup_new	sched_wakeup	tid
sched_pi_setprio	sched_pi_setprio	tid new_prio
process_fork	process_fork	parent_tid child_tid
process_exit	process_exit	tid
irq_handler_entry	isr_enter	irq=id
irq_handler_exit	isr_exit	irq=id
softirq_entry	isr_enter	vec=id
softirq_exit	isr_exit	vec=id
isr_enter	isr_enter	id
isr_exit	isr_exit	id
mark	mark	task id message
mark_begin	mark_begin	task id message
mark_end	mark_end	task id
mark_value	mark_value	task id value
'''
TRACEX = '''
sched_switch	sched_switch	prev_tid next_tid prev_state
sched_wakeup	thread_resume	tid
sched_wakeup_new	thread_resume	tid
sched_pi_setprio	thread_priority_change	tid old_prio new_prio
process_fork	thread_create	parent_tid child_tid
process_exit	thread_terminate	tid
irq_handler_entry	isr_enter	irq=id
irq_handler_exit	isr_exit	irq=id
softirq_entry	isr_enter	vec=id
softirq_exit	isr_exit	vec=id
isr_enter	isr_enter	id
isr_exit	isr_exit	id
mark	user_event	id
mark_begin	user_event	id
mark_end	user_event	id
mark_value	user_event	id value
'''
GAPS_UNKNOWN = 'gaps of an unknown number of events'
IRQ_SOFT = 0x1000000
RT_PRIO_MAX = 98
BUFFER_MAX = 2048
# What a thread's state is read back as: a target's threads are ready, wait or are suspended.
LEAVING = {'S': 'S', 'D': 'S', 'I': 'S', 'T': 'T', 't': 'T', 'P': 'T', 'X': 'X', 'Z': 'X'}


def add_periods(got, late, period):
    """Times of 32 bits begin anew: add the periods that were over at the begin."""
    for g in got:
        g.ts += (late + period // 2) // period * period


class Target(Mapped):
    """The stream of a real-time kernel."""
    own, options, tells_extra = 0, (), True

    def read(self):
        return [Got(e.ts, e.name, e.json, cpu=e.cpu, tid=e.tid, comm=e.comm)
                for e in read(self.ktape, [self.path], *self.options)[0] if e.ring != 'registry']

    def holds(self, event):
        return super().holds(event) and event.name != 'context'

    def lost_beside(self):
        number_of = sum(e.name == 'context' for e in self.want)
        return {('context', 'prio'): number_of} if number_of else {}

    def name_of(self, event):
        if event.user:
            return event.name if event.json['id'] >> 24 == self.own else '-'
        return self.rows[event.name][0] if event.name in self.rows else '-'

    def check_place(self, event, got, unknown=None):
        got = copy.copy(got)
        if event.tid is None:
            got.tid = None
        got.comm = event.comm		# names are written when they are known, not before
        return super().check_place(event, got)

    def fields(self, event, got, row):
        mine, theirs = self.content(event), {}
        if event.user:
            return dict(event.json), dict(got.fields), []
        if 'message' in mine and not mine['message']:
            mine.pop('message')
        mine.pop('size', None)
        for key, name in row[1].items():
            if name in got.fields:
                theirs[key] = got.fields[name]
        self.decode(event, got, theirs)
        return mine, theirs, []

    def same_value(self, key, value, theirs, event):
        if key == 'prev_state':
            return theirs == LEAVING.get(value, value) or theirs in ('R', 'R+', 'X')
        if key.endswith('_tid') and number(value) == 0 and theirs == -1:
            return True		# there may be no idle threads
        if key == 'vec':
            return number(theirs) == IRQ_SOFT + number(value)
        if key == 'message':
            return len(value) == len(theirs) and all(b in (a, '?') for a, b in zip(value, theirs))
        return super().same_value(key, value, theirs, event)


class Tband(Target):
    more_fields = ('messages of values and of ends',)
    rows, own, beside = table(TBAND), 0xf1, (GAPS_UNKNOWN, 'bytes of text that are not UTF-8', 'names of objects that Tonbandgeraet does not have',)

    def holds(self, event):
        # The output has these of its own.
        return super().holds(event) and not (event.user and 0xf1000000 <= event.json['id'] <= 0xf1000002)

    def name_of(self, event):
        if event.name == 'sched_pi_setprio':
            return 'task_priority_' + ('inherit' if event.own['donor_tid'] else 'disinherit')
        return super().name_of(event)

    def decode(self, event, got, theirs):
        if event.name == 'sched_pi_setprio':
            tid, prio = (number(a) for a in got.fields['args'])
            theirs['tid'] = tid
            if event.own['new_prio'] <= RT_PRIO_MAX:
                theirs['new_prio'] = RT_PRIO_MAX - prio
        if event.name == 'process_fork' and event.tid != event.own['parent_tid']:
            theirs.pop('parent_tid')

    def may_have(self, got):
        """A switch comes before the event of a thread that no switch has announced."""
        return got.name == 'sched_switch' or got.name in ('core_id', 'ts_resolution_ns', 'dropped_evt_cnt',
                                                          'curtask_delay', 'task_suspended', 'task_is_idle_task')


class Tracex(Target):
    more_fields = ('words beyond four, and texts',)
    rows, own, beside = table(TRACEX), 0xf3, ('gaps where events were lost', 'names of objects that ThreadX does not have', 'ends of names')
    options = ('-I', 'hz=10000000')
    resolution = 100

    def decode(self, event, got, theirs):
        words = [number(a) for a in got.fields.get('args', [])]
        if event.name.startswith('sched_w') or event.name == 'process_exit':
            theirs['tid'] = words[0]
        if event.name.startswith('mark'):
            theirs['id'] = words[0]
        if event.name == 'mark_value':
            theirs['value'] = (words[2] << 32 | words[1]) - (words[2] >> 31 << 64)
        if event.name == 'sched_pi_setprio':
            theirs['tid'], theirs['new_prio'], theirs['old_prio'] = words[:3]
        if event.name == 'process_fork':
            theirs['child_tid'], theirs['parent_tid'] = words[0], event.own['parent_tid']
            if event.tid != event.own['parent_tid']:
                theirs.pop('parent_tid')
        if event.name == 'sched_switch':
            theirs['prev_prio' if event.own['prev_tid'] > 0 else 'next_prio'] = got.prio

    def read(self):
        """Times count from the oldest event, whose time the header has in 32 bits."""
        got = super().read()
        first = min((e.ts for e in self.want if self.holds(e)), default=0) - self.delta
        begin = number(got[0].fields['args'][2]) * self.resolution
        for g in got:
            g.ts += begin
        add_periods(got, first - begin, self.resolution << 32)
        for i, g in enumerate(got):
            # The event of ThreadX is before or behind the switch that is derived from it.
            beside = [b for b in got[max(i - 1, 0):i + 2] if b.name in (
                'thread_relinquish', 'thread_suspend', 'running') and (b.ts, b.cpu) == (g.ts, g.cpu)]
            g.prio = number(beside[0].fields['args'][5]) & 0x3ff if beside else None
        return got

    def name_of(self, event):
        """Users' events have four words."""
        is_own = event.user and event.json['id'] >> 24 == self.own
        return 'user_event' if event.name == 'user_event' or event.user and not is_own else super().name_of(event)

    def check(self, event, got):
        if self.name_of(event) != 'user_event' or event.name.startswith('mark'):
            wrong, lost = super().check(event, got)
            return wrong, ['words' if k == 'message' else k for k in lost]
        words = [event.json['id'], *map(number, event.json.get('args', []))]
        if event.user and event.json['id'] >> 24 in (0xf2, 0xf4):
            words = []		# their fields are behind a text
        same_words = words[:4] == list(map(number, got.fields['args']))[:len(words[:4])]
        return self.check_place(event, got) + ([] if same_words else [f'{words} are {got.fields["args"]}']), \
            ['words'] * bool(event.json.get('args', [])[3:] or event.json.get('typed')) + [k for k, _ in event.extra if not event.user]

    def check_place(self, event, got, unknown=None):
        """ThreadX has no idle threads."""
        got = copy.copy(got)
        if not event.tid:
            got.tid = event.tid
        return super().check_place(event, got)

    def may_have(self, got):
        """Events of ThreadX that have one of ours beside them, and such that only it has."""
        return got.fields.get('id', 0) >> 24 == self.own or got.name in ('user_event', 'sched_switch')


class Rkh(Form):
    """A stream of RKH has whole events; those that came from RKH are written again."""
    resolution = 20000
    more_fields = (f'ends of buffers beyond {BUFFER_MAX} bytes',)
    beside = ('names of objects that RKH does not have', 'upper bits of thread ids beyond 24 bits')

    def read(self):
        got = read(self.ktape, [self.path])[0]
        first = min((e.ts for e in self.want if self.holds(e)), default=0) - self.delta
        begin = min((e.ts for e in got if self.holds(e)), default=0)
        add_periods(got, first - begin, self.resolution << 32)
        return [Got(e.ts, self.name_of(e), e.json, cpu=e.cpu, tid=e.tid, comm=e.comm)
                for e in got if self.holds(e)]

    def check_place(self, event, got, unknown=None):
        got = copy.copy(got)
        if event.tid and event.tid >> 24:
            got.tid = event.tid	# it has 24 bits, which is told
        return super().check_place(event, got)

    def times(self, event):
        return [t for ts in super().times(event) for t in (ts, ts + self.resolution)]

    def check(self, event, got):
        extra = dict(event.extra) if not event.user else {}
        got = copy.copy(got)
        got.comm = event.comm
        # The names of events from 16 on are left out.
        got.fields = {k: v for k, v in got.fields.items() if k not in (*event.shown, 'id_name')}
        own = {k: v for k, v in event.json.items() if k != 'id_name'} if event.user else event.own
        wrong, lost = self.check_place(event, got), list(extra)
        if event.user and own != got.fields and len(str(got.fields.get('typed'))) > BUFFER_MAX // 2 and \
                own['typed'][:len(got.fields['typed']) - 1] == got.fields['typed'][:-1]:
            lost.append('end')
            own = got.fields
        wrong += [f'{k}: {own.get(k)!r} is {got.fields.get(k)!r}' for k in {**own, **got.fields}
                  if own.get(k) != got.fields.get(k) and not k.endswith('_name')]
        return wrong, lost
