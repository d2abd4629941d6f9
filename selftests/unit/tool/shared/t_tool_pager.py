#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_pager.py FOLDER: test colours and the pager: the command runs on a terminal, with
pagers that keep what they read."""
import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../support')
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

CODES = re.compile(rb'\x1b\[[0-9;]*m')


def variables(**more):
    """Return an environment; None removes a variable."""
    env = {'PATH': os.environ['PATH'], 'TERM': 'xterm', 'KTAPE_PAGER': '',
           'KTAPE_PAGERSECURE': '0', 'ASAN_OPTIONS': 'exitcode=99', 'LC_ALL': 'C', **more}
    return {k: v for k, v in env.items() if v is not None}


class Terminal:
    """A command on a terminal of 24 lines."""

    def __init__(self, *words, errors=None, **env):
        self.text = b''
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
            if errors:
                os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            os.execve(ktape, ['ktape', *words], variables(**env))

    def type(self, keys):
        os.write(self.terminal, keys)

    def read(self):
        """Read on.  Return False at the end."""
        try:
            part = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.text += part
        return bool(part)

    def shows(self, text):
        """Read until the terminal has shown a text."""
        while text not in self.text:
            assert self.read(), f'{text!r} is not shown: {self.text!r:.300}'

    def end(self):
        """Read all.  Return the exit status, negative if a signal was its end."""
        while self.read():
            pass
        _, status = os.waitpid(self.process, 0)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


def on_terminal(*words, status=0, **env):
    """Return what a command shows on a terminal."""
    t = Terminal(*words, **env)
    equal((t.end(), words), (status, words))
    return t.text.replace(b'\r\n', b'\n')


def on_pipe(*words, status=0, **env):
    """Return standard output and standard error of a command."""
    done = subprocess.run([ktape, *words], env=variables(**env), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal((done.returncode, words), (status, words))
    return done.stdout, done.stderr


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)


# ---- colours --------------------------------------------------------------------------

TEXTS = [('dump', 'k'), ('stats', 'k'), ('diff', 'k', 'k'), ('verify', 'whole'), ('list',),
         ('verify', 'k', '--absent', 'exception', '--from', '0', '--to', '1', 1)]


def colours_are_added():
    for words in TEXTS:
        status = words[-1] if isinstance(words[-1], int) else 0
        words = [w for w in words if isinstance(w, str)]
        plain, _ = on_pipe(*words, status=status)
        assert b'\x1b' not in plain
        colours, _ = on_pipe(*words, '--color=always', status=status, NO_COLOR='1')
        assert CODES.search(colours), words
        equal(CODES.sub(b'', colours), plain)


def terminal_decides():
    for env, has in (({}, True), ({'NO_COLOR': ''}, True), ({'NO_COLOR': '1'}, False),
                     ({'TERM': 'dumb'}, False), ({'TERM': None}, False),
                     ({'TERM': ''}, False)):
        text = on_terminal('dump', 'k', **env)
        equal((env, bool(CODES.search(text))), (env, has))
        assert b'worker-12' in text
    assert b'\x1b' not in on_terminal('dump', 'k', '--color=never')
    assert b'\x1b' in on_terminal('dump', 'k', '--color', 'always', TERM='dumb')
    assert b'\x1b' not in on_pipe('dump', 'k', '--color=auto')[0]


def json_is_plain():
    for words in (('dump', '--json', 'k'), ('stats', '--json', 'k'),
                  ('verify', '--json', 'whole'), ('list', '--json'), ('diff', '-j', 'k', 'k')):
        equal(on_pipe(*words, '--color=always'), on_pipe(*words))


def parts_of_a_line():
    text, _ = on_pipe('dump', 'k', '--color=always')
    line = next(l for l in text.split(b'\n') if b'irq_handler_exit' in l)
    equal(line, b'[0.000000050] cpu \x1b[33m2\x1b[0m \x1b[36mworker-12\x1b[0m '
          b'\x1b[1mirq_handler_exit\x1b[0m: irq=24 (ahci) ret=0')
    assert b'\x1b[1;31mexception\x1b[0m: ' in text
    text, _ = on_pipe('verify', 'whole', '--color=always')
    assert b'\x1b[1;36mnothing is wrong\x1b[0m' in text


def names_of_threads():
    """A name may look like what follows it."""
    for i, name in enumerate(('a-12 b', '-12 ', 'x-12 exception: ', ' ', 'a\\-12 \x1b[1m', '] cpu 7 ')):
        subprocess.run([out + '/make_trace', 'emitted', f'named{i}', name], check=True)
        plain, _ = on_pipe('dump', f'named{i}')
        text, _ = on_pipe('dump', f'named{i}', '--color=always')
        equal(CODES.sub(b'', text), plain)
        shown = name.replace('\\', '\\\\').replace('\x1b', '\\x1b').encode()
        line = next(l for l in text.split(b'\n') if b'irq_handler_exit' in l)
        equal(line, b'[0.000000050] cpu \x1b[33m2\x1b[0m \x1b[36m' + shown +
              b'-12\x1b[0m \x1b[1mirq_handler_exit\x1b[0m: irq=24 (ahci) ret=0')


def messages_are_marked():
    text = on_terminal('dump', 'lossy')
    assert b'\x1b[1;35mktape: ' in text, text
    assert b'\x1b[1;31mktape:\x1b[0m nothere: ' in on_terminal('verify', 'nothere', status=2)
    t = Terminal('dump', 'lossy', errors='errors')
    equal(t.end(), 0)
    assert b'lost' in content('errors') and b'\x1b' not in content('errors')
    assert b'\x1b' not in on_pipe('dump', 'lossy', '--color=always')[1]


def wrong_colour():
    _, errors = on_pipe('dump', 'k', '--color=red', status=2)
    assert errors.startswith(b'ktape: --color: "red" is none of auto, always, never'), errors


# ---- the pager ------------------------------------------------------------------------

KEEP = 'cat >got; echo paged'


def commands_are_paged():
    for words in (('dump', 'k'), ('stats', 'k'), ('list',), ('diff', 'k', 'k')):
        plain, notes = on_pipe(*words)
        text = on_terminal(*words, '--color=never', KTAPE_PAGER=KEEP)
        # Messages before the first line of text are for the terminal.
        equal((words, text.replace(notes, b'')), (words, b'paged\n'))
        equal(content('got'), plain)


def choice_of_pager():
    assert b'paged' in on_terminal('dump', 'k', KTAPE_PAGER=None, PAGER=KEEP)
    text = on_terminal('dump', 'k', KTAPE_PAGER=KEEP, PAGER='echo wrong')
    assert b'paged' in text and b'wrong' not in text
    for env in ({'KTAPE_PAGER': '', 'PAGER': KEEP}, {'KTAPE_PAGER': 'cat', 'PAGER': KEEP},
                {'KTAPE_PAGER': None, 'PAGER': 'cat'}, {'KTAPE_PAGER': None, 'PAGER': ''},
                {'KTAPE_PAGER': None, 'PAGER': KEEP, 'TERM': 'dumb'}):
        text = on_terminal('dump', 'k', **env)
        assert b'paged' not in text and b'worker-12' in text, (env, text)


def no_pager():
    for words in (('dump', '--json', 'k'), ('stats', '--json', 'k'), ('list', '-j'),
                  ('dump', '--no-pager', 'k'), ('list', '--no-pager'),
                  ('stats', '--no-pager', 'k'), ('verify', 'whole')):
        assert b'paged' not in on_terminal(*words, KTAPE_PAGER=KEEP), words
    assert b'paged' not in on_pipe('dump', 'k', KTAPE_PAGER=KEEP)[0]


def environment_of_pager():
    show = 'cat >/dev/null; echo "<$LESS|$LESSSECURE>"'
    assert b'<FRX|>' in on_terminal('dump', 'k', KTAPE_PAGER=show)
    assert b'<S|>' in on_terminal('dump', 'k', KTAPE_PAGER=show, LESS='S')


def environment_of_others():
    """With another user's environment only less is run, and starts no commands."""
    os.makedirs('fake', exist_ok=True)
    with open('fake/less', 'w', encoding='ascii') as f:
        f.write('#!/bin/sh\ncat >/dev/null; echo "less <$LESS|$LESSSECURE>$LESSSECURE_ALLOW"\n')
    os.chmod('fake/less', 0o755)
    show = 'cat >/dev/null; echo "other <$LESS|$LESSSECURE>"'
    path = os.path.abspath('fake') + ':' + os.environ['PATH']
    me, other = str(os.geteuid()), str(os.geteuid() + 1)
    for env, secure in (({}, False), ({'SUDO_UID': me}, False), ({'SUDO_UID': other}, True),
                        ({'SUDO_UID': 'x'}, True), ({'PKEXEC_UID': other}, True),
                        ({'DOAS_USER': 'somebody'}, True), ({'KTAPE_PAGERSECURE': '1'}, True),
                        ({'KTAPE_PAGERSECURE': '0', 'SUDO_UID': other}, False)):
        if 'KTAPE_PAGERSECURE' not in env and login() not in (me, None):
            secure = True
        env = {'KTAPE_PAGERSECURE': None, 'KTAPE_PAGER': show, 'LESS': 'S', 'PATH': path,
               'LESSSECURE_ALLOW': 'shell', **env}
        want = b'less <FRX|1>\n' if secure else b'other <S|>'
        text = on_terminal('dump', 'k', **env)
        assert want in text, (env, text)
        # No pager is none in any case.
        for name in '', 'cat':
            text = on_terminal('dump', 'k', **{**env, 'KTAPE_PAGER': name})
            assert b'less <' not in text and b'worker-12' in text, (env, text)


def login():
    """Return the user who has logged in, None if that is not known."""
    try:
        text = content('/proc/self/loginuid').decode()
    except OSError:
        return None
    return None if text in ('', '4294967295') else text


def messages_are_paged():
    equal(on_terminal('dump', 'lossy', KTAPE_PAGER=KEEP), b'paged\n')
    lines = CODES.sub(b'', content('got')).split(b'\n')
    assert b'events lost between' in lines[-2] and b'] cpu ' in lines[-3], lines[-4:]
    t = Terminal('dump', 'lossy', errors='errors', KTAPE_PAGER=KEEP)
    equal(t.end(), 0)
    assert b'lost between' in content('errors') and b'lost between' not in content('got')


def user_quits():
    for words in (('dump', 'long'), ('list', '--fields'), ('stats', 'k')):
        for pager in ('head -n 1', 'true', 'exec <&-'):
            t = Terminal(*words, errors='errors', KTAPE_PAGER=pager)
            equal((words, pager, t.end()), (words, pager, 0))
            equal([l for l in content('errors').splitlines() if b' lost ' not in l], [])


def status_is_kept():
    on_terminal('dump', 'damaged', status=1, KTAPE_PAGER=KEEP)
    on_terminal('dump', 'damaged', status=1, KTAPE_PAGER='cat; exit 5')


def missing_pager():
    text = on_terminal('dump', 'k', KTAPE_PAGER='no-such-pager')
    assert b'pager "no-such-pager": No such file' in text and b'worker-12' in text
    # Without less nothing is said.
    os.makedirs('empty', exist_ok=True)
    equal(on_terminal('dump', 'k', KTAPE_PAGER=None, PATH=os.path.abspath('empty'),
                      TERM='xterm'), on_terminal('dump', 'k'))


def interrupt():
    """Ctrl-C ends the text, not the pager, and ktape waits for it."""
    with open('waits.py', 'w', encoding='ascii') as f:
        # Ready once a part of the text has come: ktape may be slow to begin.
        f.write('import select, signal, sys\n'
                'signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n'
                'select.select([0], [], [])\n'
                'open("ready", "w").close()\n'
                'signal.sigwait([signal.SIGINT])\n'
                'n = len(sys.stdin.buffer.read())\n'
                'open("ended", "w").write(str(n))\n')
    t = Terminal('dump', 'long', KTAPE_PAGER=f'exec {sys.executable} waits.py')
    wait_for('ready')
    t.type(b'\x03')
    equal(t.end(), -signal.SIGINT)
    # The pipe holds less than the text: the pager got a part.
    assert 0 < int(content('ended')) < len(on_pipe('dump', 'long')[0]), content('ended')


def real_less():
    if not shutil.which('less'):
        return
    t = Terminal('dump', 'long', KTAPE_PAGER=None)
    t.shows(b'\x1b[33m2\x1b[0m')
    t.type(b'q')
    equal(t.end(), 0)
    # What fits on the screen needs no key.
    assert b'worker-12' in on_terminal('dump', 'k', KTAPE_PAGER=None)


def main():
    print('TAP version 13')
    work = tempfile.mkdtemp(prefix='ktape-pager.')
    os.chdir(work)
    make = out + '/make_trace'
    subprocess.run([make, 'emitted', 'k'], check=True)
    subprocess.run([make, 'session', 'whole', 'whole.pipe'], check=True)
    subprocess.run([make, 'folder', 'long', '200'], check=True)
    subprocess.run([out + '/t_lib_linux', '--lossy', 'lossy'], check=True)
    shutil.copytree('k', 'damaged')
    wrong = content('k/registry').replace(b'worker', b'Worker')
    with open('damaged/registry', 'wb') as f:
        f.write(wrong)
    result('colours add nothing but colours', colours_are_added)
    result('the terminal and its variables decide on colours', terminal_decides)
    result('JSON has no colours', json_is_plain)
    result('CPU, thread, event and verdict are marked', parts_of_a_line)
    result('threads whose names look like numbers and events', names_of_threads)
    result('messages about losses and errors are marked on a terminal', messages_are_marked)
    result('--color takes three words', wrong_colour)
    result('the text of dump, stats, list and diff goes to the pager', commands_are_paged)
    result('KTAPE_PAGER, then PAGER; cat and an empty one are none', choice_of_pager)
    result('no pager for JSON, pipes, --no-pager', no_pager)
    result("less gets its options, the user's come first", environment_of_pager)
    result("another user's environment: only less, and without commands", environment_of_others)
    result('messages follow the text', messages_are_paged)
    result('quitting the pager is no error', user_quits)
    result('the exit status is that of the command', status_is_kept)
    result('a pager that is missing', missing_pager)
    result('Ctrl-C ends the text and not the pager', interrupt)
    result('less' if shutil.which('less') else 'less # SKIP less is not installed', real_less)
    shutil.rmtree(work)
    end()


main()
