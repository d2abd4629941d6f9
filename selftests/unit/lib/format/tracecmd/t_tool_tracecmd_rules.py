#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_tracecmd_rules.py FOLDER: the comparer of selftests/tracecmd takes a number in the base that
the print format says and an element of an array in the size of its type, and no other one."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here + '/../../../support', here + '/../../../../tracecmd']
import report  # noqa: E402  pylint: disable=wrong-import-position
import rules  # noqa: E402  pylint: disable=wrong-import-position
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

FORMAT = r'''print fmt: "a=%d (%s, %%) b=0x%08lx c=%*d %o \"q\", d=%p", REC->a, __get_str(s, ","), (unsigned long)REC->b, 4, ((int)(REC->c)), REC->mode, REC->d'''


def field(conversion, kind='int', size=4, signed=True, array=False):
    return report.Field(kind, 'f', array, size, signed, report.element_size(kind, None, size), conversion)


def bases():
    equal(report.conversions(FORMAT),
          [('a', 'd'), (None, 's'), ('b', 'x'), ('c', 'd'), ('mode', 'o'), ('d', 'p')])
    for text, conversion, number in (('10', 'd', 10), ('10', 'x', 16), ('10', 'o', 8), ('0x10', '', 16), ('010', '', 10),
                                     ('010', 'o', 8), ('ff', 'x', 255), ('(nil)', 'p', 0), ('-3', 'd', -3)):
        equal(rules.numbers(text, field(conversion)), {number})
    equal(rules.numbers('ff', field('d')), set())


def order():
    """Each field is looked for from behind the one before it on; behind the last there is none."""
    def letters(line, names):
        fields = [field('', array=name == 'array')._replace(name=name) for name in names.split()]
        return ' '.join(f.conversion or '-' for f in report.shown_as(line, fields))
    line = 'print fmt: "%x %d %o%s", REC->a, REC->b, REC->c, REC->b'
    equal(letters(line, 'a b c'), 'x d o')
    equal(letters(line, 'b a c'), 'd x o')
    equal(letters(line, 'c b a'), 'o s -')
    equal(letters(line.replace('%s"', '%s)"'), 'c b a'), 'o s x')
    equal(letters(line, 'none a array b'), '- x - d')


def elements():
    for kind, size in (('u32[4]', 16), ('__data_loc u32[]', 4), ('__data_loc unsigned int[]', 4)):
        element = field('', kind, size, False)
        equal(element.element, 4)
        text = 'ARRAY[01, 00, 00, 00, ff, ff, ff, ff]'
        equal(rules.is_array_equal(text, [1, 4294967295], element), True)
        equal(rules.is_array_equal(text, [1, -1], element), False)
        equal(rules.is_array_equal(text, [18446744069414584321], element), False)
    equal(rules.is_array_equal('ARRAY[ff, ff]', [-1], field('', '__data_loc short[]', 4)), True)
    equal(report.element_size('__data_loc char[]', None, 4), 1)
    equal(report.element_size('unsigned long', '[6]', 48), 8)


result('a number is in the base of its print format', bases)
result('a conversion is looked for in the order of trace-cmd', order)
result('an element has the size and the sign of its type', elements)
end()
