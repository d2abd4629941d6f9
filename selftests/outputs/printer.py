# SPDX-License-Identifier: GPL-2.0-only
"""The output "traceprinter": lines in the form of QNX Neutrino's traceprinter, from
ktape-formats(7).  An event is one line or several of its time and CPU."""
import re

import lines
from events import TABLE, number
from form import Form, check_fields
from tables import QNX, table

STATES = {'R': 'THREADY', 'R+': 'THREADY', 'S': 'THCONDVAR', 'D': 'THWAITPAGE', 'I': 'THINTR', 'T': 'THSTOPPED',
          't': 'THSTOPPED', 'P': 'THSTOPPED', 'X': 'THDEAD', 'Z': 'THDEAD'}
NAMING = ('PROCCREATE_NAME', 'PROCTHREAD_NAME')
OTHER = re.compile(r'EVENT:(\d+), STR:"(.*)"', re.S)


class Printer(Form):
    """Fields that a line of QNX has no place for are told; all other events have all fields."""
    rows = table(QNX)

    def read(self):
        self.numbers = {}
        self.processes = {}
        for event in self.want:
            if event.name == 'registry' and event.json.get('type') == 'thread':
                self.processes.setdefault(event.json['id'], set()).add(number(event.json['param1']))
        freq = self.header('TRACE_CYCLES_PER_SEC')
        got = []
        for g in lines.traceprinter(self.path):
            g.ts = g.ts * 10**9 // freq
            g.group, g.name = g.name, None
            got.append(g)
        return got

    def header(self, key):
        for line in lines.text_lines(self.path):
            found = re.fullmatch(rf' *{key}:: (\d+)', line)
            if found:
                return int(found[1])
        raise ValueError(f'no {key}')

    def name_of(self, event):
        return None

    def may_have(self, got):
        """A name of a thread is an entry of the registry."""
        return got.group == 'PROCESS' and got.comm in NAMING or super().may_have(got)

    def find(self, event, pool):
        """Take the lines of an event.  Return: what is wrong and what is missing, or None."""
        for ts in self.times(event):
            there = pool.get(ts, [])
            taken, wrong, lost = self.take(event, there)
            if taken is None:
                continue
            for g in taken:
                there.remove(g)
            return wrong, lost
        return None

    def take(self, event, there):
        there = [g for g in there if g.cpu == event.cpu]
        if event.name not in self.rows or event.user or 'dat20' in event.json:
            return self.take_other(event, there)
        taken = []
        for group, name, fields in self.lines_of(event):
            line = next((g for g in there if g not in taken and g.group == group and g.comm == name and
                         re.fullmatch(fields, g.rest, re.S)), None)
            if line is None:
                return None, [], []
            taken.append(line)
        return taken, [], self.lost(event)

    def take_other(self, event, there):
        """A line USREVENT with the event's name and its fields."""
        best = None
        for g in there:
            found = OTHER.fullmatch(g.rest) if g.group == 'USREVENT' else None
            name = 'user_event' if event.user else event.name
            if not found or not (found[2] + ' ').startswith(name + ' '):
                continue
            wrong = check_fields(event, found[2][len(name):])
            if self.numbers.setdefault(int(found[1]), name) != name:
                wrong.append(f'EVENT:{found[1]} is {name} and {self.numbers[int(found[1])]}')
            if best is None or len(wrong) < len(best[1]):
                best = [g], wrong, []
        return best or (None, [], [])

    def lost(self, event):
        """Own fields that say something and are not in the row, and all of another tracer."""
        types, (_, held) = TABLE[event.name], self.rows[event.name]
        own = {k: v for k, v in event.own.items() if v is not False and v is not None and
               not (types.get(k) == 'TID' and number(v) < 0)}
        if own.get('full') == own.get('nr'):
            own.pop('full', None)
        return [k for k in own if k not in held] + [k for k, _ in event.extra]

    def process(self, tid):
        """A pattern for the process of a thread; without one it is the thread."""
        tid = max(number(tid), 0)
        return '(' + '|'.join(str(p) for p in sorted({tid, *self.processes.get(tid, ())})) + ')'

    def thread(self, state, tid):
        return 'THREAD', state, f'pid:{self.process(tid)} tid:{max(number(tid), 0)}'

    def call(self, event):
        name = event.shown.get('nr_name')
        return (re.escape(str(name).upper()) if name else r'\S+') + f'/{event.own["nr"]}'

    def lines_of(self, event):
        """Class, event and a pattern for the fields of each line."""
        f, name = event.own, event.name
        if name == 'sched_switch':
            return [self.thread(STATES[f['prev_state']], f['prev_tid']), self.thread('THRUNNING', f['next_tid'])]
        if name in ('sched_wakeup', 'sched_wakeup_new'):
            return [self.thread('THREADY', f['tid'])]
        if name == 'context':
            return [self.thread('THRUNNING', f['tid'])]
        if name == 'process_fork':
            ids = f['child_tgid'], f['child_tid']
            first = [('PROCESS', 'PROCCREATE', f'ppid:{self.process(f["parent_tid"])} pid:{ids[0]}')]
            return (first if ids[0] == ids[1] else []) + [('THREAD', 'THCREATE', f'pid:{ids[0]} tid:{ids[1]}')]
        if name == 'process_exit':
            last = [('PROCESS', 'PROCDESTROY', f'pid:{f["tid"]}')]
            return [('THREAD', 'THDESTROY', f'pid:{f["tgid"]} tid:{f["tid"]}')] + (last if f['tid'] == f['tgid'] else [])
        comm = re.escape(str(event.shown.get('tid_name', '')))
        if name == 'process_exec':
            return [('PROCESS', 'PROCCREATE_NAME', f'ppid:0 pid:{self.process(f["tid"])} name:{comm or ".*"}')]
        if name == 'process_rename':
            return [('PROCESS', 'PROCTHREAD_NAME', f'pid:{f["tgid"]} tid:{f["tid"]} name:{comm or ".*"}')]
        if name.startswith('irq_handler'):
            behind = re.escape(str(event.shown.get('irq_name', ''))) + '.*' if name.endswith('entry') else \
                'handled' if f['ret'] else 'unhandled'
            return [('INT_HANDLER_' + ('ENTR' if name.endswith('entry') else 'EXIT'), None,
                     rf'0x{f["irq"]:08x} \({f["irq"]}\) {behind}')]
        if name.startswith('local_timer'):
            return [('INT_ENTR' if name.endswith('entry') else 'INT_EXIT', None,
                     rf'0x{f["vector"]:08x} \({f["vector"]}\) timer')]
        if name.startswith('sys_enter'):
            return [('KER_CALL', None, self.call(event))]
        if name.startswith('sys_exit'):
            return [('KER_EXIT', None, f'{self.call(event)} ret_val:{f["ret"]}')]
        return [('COMM', 'SIGNAL', f'si_signo:{number(f["sig"])} si_code:{f["code"]} '
                                   f'pid:{self.process(f["tid"])} tid:{f["tid"]}')]
