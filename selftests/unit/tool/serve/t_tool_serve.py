#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_serve.py FOLDER: test ktape serve: files and conversions are byte-equal, nothing
outside of the folder can be read, who may ask, malformed requests by a fixed seed, many
readers, clients that are killed."""
import contextlib
import errno
import io
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../../support')
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
os.environ['ASAN_OPTIONS'] = 'exitcode=99'
SECRET = b'not for anybody'


class Server:
    """A running ktape serve."""

    def __init__(self, *words, command=ktape):
        self.errors = open('errors', 'w+b')
        self.process = subprocess.Popen([command, 'serve', *words], stdout=subprocess.PIPE,
                                        stderr=self.errors)
        self.url = self.process.stdout.readline().decode().strip()
        m = re.match(r'http://(\[.*\]|[^:]*):(\d+)/(?:([0-9a-f]{32})/)?$', self.url)
        assert m, self.url
        self.host, self.port, self.token = m[1], int(m[2]), m[3]
        self.root = f'/{m[3]}' if m[3] else ''

    def connect(self):
        s = socket.create_connection((self.host.strip('[]'), self.port), 60)
        s.settimeout(600)
        return s

    def raw(self, request, ends=True):
        """Send bytes, and nothing more if it @ends; return all that is answered."""
        with self.connect() as s:
            got = b''
            try:
                s.sendall(request)
                if ends:
                    s.shutdown(socket.SHUT_WR)
                while part := s.recv(65536):
                    got += part
            except (ConnectionResetError, BrokenPipeError):
                pass
            except OSError as e:
                # The server has closed the connection before the shutdown.
                if e.errno != errno.ENOTCONN:
                    raise
            return got

    def get(self, path, **headers):
        """Return a request."""
        headers = {'Host': f'{self.host}:{self.port}', **headers}
        lines = [f'GET {self.root}{path} HTTP/1.1'] + [f'{k}: {v}' for k, v in headers.items()]
        return ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1')

    def ask(self, path, method='GET', host=None, root=None, **headers):
        """Return status, headers and body.  root: what the path begins with."""
        root = self.root if root is None else root
        lines = [f'{method} {root}{path} HTTP/1.1',
                 f'Host: {host or self.host + ":" + str(self.port)}', 'Connection: close']
        lines += [f'{k.replace("_", "-")}: {v}' for k, v in headers.items()]
        with self.connect() as s:
            s.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1'))
            return self.answer(s)

    @staticmethod
    def answer(s):
        """Read an answer up to its end; return status, headers and body."""
        got = b''
        while part := s.recv(65536):
            got += part
        head, _, body = got.partition(b'\r\n\r\n')
        fields = dict(l.lower().split(': ', 1) for l in head.decode('latin-1').split('\r\n')[1:])
        if fields.get('transfer-encoding') == 'chunked':
            body = unchunk(body)
        return int(head.split()[1]), fields, body

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(60)
        self.errors.seek(0)
        text = self.errors.read()
        assert code == 0, (code, text)
        assert not text, text


def unchunk(body):
    """Return the contents of a chunked body, which must be complete."""
    whole = b''
    while True:
        size, _, body = body.partition(b'\r\n')
        size = int(size, 16)
        if not size:
            return whole
        whole += body[:size]
        body = body[size + 2:]


def run(*words):
    return subprocess.run([ktape, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def make_folder():
    os.mkdir('folder')
    subprocess.run([out + '/make_trace', 'session', 'folder/whole', 'folder/whole.kt'], check=True)
    subprocess.run([out + '/t_lib_linux', '--scene', 'folder/a <b> & c'], check=True)
    subprocess.run([out + '/make_trace', 'kinds', 'folder/kinds'], check=True)
    os.makedirs('folder/deep/er')
    shutil.copy('folder/whole.kt', 'folder/deep/er/one.kt')
    with open('secret', 'wb') as f:
        f.write(SECRET)
    shutil.copy('secret', 'secret.kt')
    os.symlink('../secret.kt', 'folder/link.kt')
    os.symlink('..', 'folder/up')
    shutil.copytree('folder/whole', 'folder/linked')
    os.unlink('folder/linked/cpu0')
    os.symlink('../../secret', 'folder/linked/cpu0')
    os.mkfifo('folder/fifo.kt')
    with open('folder/.hidden.kt', 'wb') as f:
        f.write(SECRET)


def contents():
    status, fields, page = server.ask('/')
    equal(status, 200)
    assert "default-src 'none'" in fields['content-security-policy'], fields
    names = re.findall(rb'<tr><td class=name>([^<]*)<td', page)
    equal(sorted(names), [b'a &#60;b&#62; &#38; c', b'deep/er/one.kt', b'kinds', b'whole',
                          b'whole.kt'])
    assert b'board' in page, 'no host of the scene'


def files():
    for name in 'whole.kt', 'deep/er/one.kt':
        with open('folder/' + name, 'rb') as f:
            equal(server.ask('/raw/' + name)[2], f.read())
    for name, there in ('whole', 'whole'), ('a%20%3Cb%3E%20%26%20c', 'a <b> & c'):
        got = tarfile.open(fileobj=io.BytesIO(server.ask('/tar/' + name)[2]))
        members = {m.name[2:]: got.extractfile(m).read() for m in got if m.isfile()}
        equal(sorted(members), sorted(os.listdir('folder/' + there)))
        for part, data in members.items():
            with open(f'folder/{there}/{part}', 'rb') as f:
                equal(data, f.read())


def conversions():
    for name in 'whole', 'whole.kt':
        path = 'folder/' + name
        for kind, form in ('pftrace', 'perfetto'), ('chrome', 'chrome'), ('csv', 'csv'):
            status, fields, body = server.ask(f'/{kind}/{name}')
            equal(status, 200)
            assert 'access-control-allow-origin' not in fields
            equal(body, run('convert', '-q', '-t', form, '-o', '-', path))
        status, fields, body = server.ask('/html/' + name)
        equal(status, 200)
        policy = [part.split() for part in fields['content-security-policy'].split(';')]
        equal(policy[0], ['sandbox', 'allow-scripts', 'allow-downloads', 'allow-modals'])
        equal(policy[1:4], [['default-src', "'none'"], ['script-src', "'unsafe-inline'"],
                            ['style-src', "'unsafe-inline'"]])
        assert not {'connect-src', 'worker-src'} & {part[0] for part in policy}, policy
        equal(body, run('convert', '-q', '-t', 'html', '-o', '-', path))
        equal(server.ask('/dump/' + name)[2], run('dump', path))
        equal(server.ask('/jsonl/' + name)[2], run('dump', '--json', path))
        equal(server.ask('/stats/' + name)[2], run('stats', path))


def pages():
    for path in ('/style.css', '/perfetto.mjs', '/hand.mjs', '/lanes.mjs', '/live.mjs',
                 '/perfetto/whole', '/live/whole'):
        equal(server.ask(path)[0], 200)
    equal(server.ask('/perfetto/none')[0], 404)
    assert b'a &#60;b&#62;' in server.ask('/perfetto/a%20%3Cb%3E%20%26%20c')[2]
    equal(server.ask('/live')[0], 404)
    equal(server.ask('/session')[0], 404)


def converter():
    """The page that converts is a file beside the command, and only if it is there."""
    equal(server.ask('/convert')[0], 404)
    assert b'href=convert' not in server.ask('/')[2]
    page = b'<!DOCTYPE html>' + bytes(range(256)) * 1000
    for place in 'inst/share/ktape/ktape.html', 'inst/bin/viewer/ktape.html':
        os.makedirs('inst/bin')
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(ktape, 'inst/bin')
        with open(place, 'wb') as f:
            f.write(page)
        s = Server('folder', command='inst/bin/ktape')
        status, fields, body = s.ask('/convert')
        equal((status, body, fields['content-type']), (200, page, 'text/html; charset=utf-8'))
        policy = fields['content-security-policy']
        assert 'sandbox' in policy and "default-src 'none'" in policy, policy
        assert 'allow-same-origin' not in policy and 'connect-src' not in policy, policy
        assert b'href=convert' in s.ask('/')[2]
        equal(s.ask('/convert', root='')[0], 403)
        equal(s.ask('/convert', host='example.com')[0], 403)
        equal(s.ask('/convert', method='POST')[0], 405)
        equal(s.ask('/convert/')[0], 404)
        os.unlink(place)
        os.mkdir(place)
        equal(s.ask('/convert')[0], 404)
        s.end()
        shutil.rmtree('inst')


def follow():
    """The trace has a pause of seconds, so its first intervals end."""
    with server.connect() as s:
        s.sendall(server.get('/follow/kinds'))
        got = b''
        while b':\n\n' not in got:
            part = s.recv(4096)
            assert part, got
            got += part
    views = [json.loads(x) for x in re.findall(rb'data: (\{.*?\})\n\n', got)]
    equal([v['number'] for v in views], list(range(1, len(views) + 1)))
    assert len(views) >= 2, got


SPELLINGS = '''
/raw/../secret /raw/../../etc/passwd /raw/%2e%2e/secret /raw/%2E%2E%2Fsecret /raw/..%2fsecret
/raw/..%5csecret /raw/..\\secret /raw/whole/../../secret /raw/whole/%2e%2e/%2e%2e/secret
/raw//etc/passwd /raw/%2fetc/passwd /raw/%2Fetc%2Fpasswd /raw/./whole.kt /raw/link.kt
/raw/up/secret.kt /raw/up/secret /raw/linked/cpu0 /tar/linked /dump/linked /stats/linked
/raw/.hidden.kt /raw/fifo.kt /raw/whole /tar/whole.kt /tar/up /tar/.. /tar/. /tar/ /raw/
/raw /../secret /%2e%2e/secret /raw/%252e%252e/secret /raw/..%00/secret /raw/whole.kt%00/../secret
/raw/%c0%ae%c0%ae/secret /raw/..;/secret /raw/whole.kt/../../secret /raw/whole.kt/
/raw/%ff%fe /raw/deep /tar/deep /raw/deep/er/../../../secret /dump/-h /dump/--help
http://127.0.0.1/raw/../secret /raw/proc/self/root/etc/passwd /nothing/whole /index.html
'''.split()


def traversal():
    for path in SPELLINGS:
        status, _, body = server.ask(path, root='')
        assert SECRET not in body and b'root:' not in body, path
        assert status in (400, 403), (path, status)
        # A NUL ends the name: what is before it is in the folder.
        if path.startswith('/'):
            status, _, body = server.ask(path)
            assert SECRET not in body and b'root:' not in body, path
            assert status in (400, 404) or path.startswith('/raw/whole.kt%00'), (path, status)


def hosts():
    for host in ('evil.example', 'evil.example:80', f'127.0.0.1.evil.example:{server.port}',
                 'localhost.evil.example', '127.0.0.1:8000.evil.example', '127.0.0.1:x',
                 '127.0.0.1:1:2', '127.1', '2130706433', '0x7f000001', '127.0.0.1@evil.example',
                 '[127.0.0.1]', '[::1', '[::1]x', '[evil.example]', '::1', '[]', ':', '1' * 200):
        equal((host, server.ask('/', host=host)[0]), (host, 403))
    # Behind a tunnel the port is another one.
    for host in '127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '[0:0:0:0:0:0:0:1]', '192.0.2.7':
        for port in '', f':{server.port}', ':1':
            equal((host, port, server.ask('/', host=host + port)[0]), (host, port, 200))
    got = server.raw(f'GET {server.root}/raw/whole.kt HTTP/1.0\r\n\r\n'.encode())
    assert got.split()[1] == b'403', got[:100]


def methods():
    for method in 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'BREW':
        assert server.ask('/', method=method)[0] in (400, 405), method
    before = sorted(os.listdir('folder'))
    server.ask('/raw/new.kt', method='PUT')
    equal(sorted(os.listdir('folder')), before)


def heads():
    """HEAD has the headers of GET, and runs no conversion: more than may run are answered."""
    for path in '/', '/style.css', '/raw/whole.kt', '/stats/whole', '/pftrace/whole', \
            '/html/whole', '/tar/whole', '/none/whole':
        got, want = server.ask(path, method='HEAD'), server.ask(path)
        ignored = ('date', 'connection')
        equal((path, got[0], [f for f in got[1].items() if f[0] not in ignored], got[2]),
              (path, want[0], [f for f in want[1].items() if f[0] not in ignored], b''))
    with many_of('/follow/whole.kt'):
        equal(server.ask('/follow/whole.kt')[0], 503)
        equal(server.ask('/follow/whole.kt', method='HEAD')[0], 200)
    no_child()


@contextlib.contextmanager
def many_of(path):
    """As many answers as may be made at a time, which nobody reads to their end."""
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            s = stack.enter_context(server.connect())
            s.sendall(server.get(path))
            s.recv(100)
        yield


def followers():
    """Who follows, for ever, keeps nobody from converting, and the other way round."""
    with many_of('/follow/whole.kt'):
        equal(server.ask('/follow/whole.kt')[0], 503)
        for kind in 'stats', 'dump', 'csv', 'html':
            equal((kind, server.ask(f'/{kind}/whole')[0]), (kind, 200))
    no_child()
    # There is nothing to show for long in 4 TB of zeros.
    shutil.copy('folder/whole.kt', 'folder/endless.kt')
    os.truncate('folder/endless.kt', 1 << 42)
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            s = stack.enter_context(server.connect())
            s.sendall(server.get('/stats/endless.kt'))
        while len(children()) < 8:
            time.sleep(0.01)
        equal(server.ask('/stats/whole')[0], 503)
        with server.connect() as s:
            s.sendall(server.get('/follow/kinds'))
            equal(s.recv(12), b'HTTP/1.1 200')
    no_child()
    os.unlink('folder/endless.kt')


def is_closed(s):
    """Has the server closed a connection?"""
    try:
        return bool(select.select([s], [], [], 0)[0]) and not s.recv(1)
    except ConnectionError:
        return True


def strangers():
    """Connections without a token keep nobody out: the oldest of them are closed.  Those
    with it are never closed for them."""
    s = Server('folder')
    head = s.get('/style.css').replace(b'GET', b'HEAD')

    def show(c):
        c.sendall(head)
        got = c.recv(65536)
        assert got.startswith(b'HTTP/1.1 200') and got.endswith(b'\r\n\r\n'), got

    def wait_for(done, *strangers):
        """Wait, while no connection is idle: those are closed after half a minute."""
        while not done():
            for c in ours:
                show(c)
            for c in strangers:
                try:
                    c.sendall(b'T')
                except ConnectionError:
                    pass
            time.sleep(0.01)

    ours = [s.connect() for _ in range(10)]
    for c in ours:
        show(c)
    for _ in range(30):
        ours.append(s.connect())
        show(ours[-1])
    others = []
    for i in range(200):
        c = s.connect()
        others.append(c)
        c.sendall(b'GET / HT')
        show(ours[i % len(ours)])
    wait_for(lambda: all(map(is_closed, others[:-16])), *others[-16:])
    equal([is_closed(c) for c in others[-16:]], [False] * 16)
    equal(s.ask('/stats/whole')[0], 200)
    wait_for(lambda: is_closed(others[-16]), *others[-15:])
    equal([is_closed(c) for c in others[-15:]], [False] * 15)
    # A wrong token is none.
    wrong = s.connect()
    wrong.sendall(head.replace(s.token.encode(), b'0' * 32))
    assert wrong.recv(65536).startswith(b'HTTP/1.1 403')
    for c in ours:
        show(c)
    for _ in range(16):
        others.append(s.connect())
    wait_for(lambda: is_closed(wrong), wrong, *others[-15:])
    for c in ours:
        show(c)
    # Other addresses of this machine are the same peer.
    with socket.create_connection((s.host, s.port), 60, ('127.7.7.7', 0)):
        wait_for(lambda: is_closed(others[-16]), *others[-15:])
    for c in ours + others + [wrong]:
        c.close()
    s.end()


def fuzz():
    rng = random.Random(20261123)
    good = [server.get(p, Connection='close')
            for p in ('/', '/raw/whole.kt', '/perfetto/whole', '/style.css')]
    for i in range(3000):
        request = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(request))
            kind = rng.randrange(5)
            if kind == 0:
                request[at] = rng.randrange(256)
            elif kind == 1:
                del request[at:at + rng.randint(1, 20)]
            elif kind == 2:
                request[at:at] = rng.randbytes(rng.randint(1, 40))
            elif kind == 3:
                request[at:at] = rng.choice([b'\r\n', b'\0', b'%', b'/../', b'\r\n\r\n', b'%2e'])
            else:
                request[at:at] = b'A' * rng.choice([100, 5000, 70000])
            if not request:
                break
        got = server.raw(bytes(request))
        assert SECRET not in got and b'root:' not in got, request
        if i % 500 == 0:
            equal(server.ask('/')[0], 200)
    equal(server.ask('/')[0], 200)


def large():
    got = server.raw(b'GET /' + b'a' * 1000000 + b' HTTP/1.1\r\n\r\n')
    assert not got or got.split()[1] in (b'413', b'414', b'431', b'403', b'400'), got[:80]
    got = server.raw(b'GET / HTTP/1.1\r\n' + b'X: y\r\n' * 100000 + b'\r\n')
    assert not got or got.split()[1][:1] == b'4', got[:80]


def slow():
    """Between two bytes of its request another client is answered."""
    for path in '/', '/raw/whole.kt', '/stats/whole':
        with server.connect() as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in server.get(path, Connection='close'):
                s.sendall(bytes([byte]))
                equal(server.ask('/style.css')[0], 200)
            got = server.answer(s)
        equal((path, got[0], got[2]), (path, 200, server.ask(path)[2]))


def many():
    want = run('dump', 'folder/whole')
    answers = []

    # Of one machine 16 connections may wait for their request: beyond that the oldest is closed.
    sending = threading.Semaphore(12)

    def ask():
        with contextlib.ExitStack() as stack:
            with sending:
                s = stack.enter_context(server.connect())
                s.sendall(server.get('/dump/whole', Connection='close'))
            return server.answer(s)

    def read():
        while True:
            status, _, body = ask()
            if status != 503:
                break
            time.sleep(0.05)
        answers.append((status, body == want))

    threads = [threading.Thread(target=read) for _ in range(24)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal(answers, [(200, True)] * 24)


def killed():
    sockets = []
    for _ in range(6):
        s = server.connect()
        s.sendall(server.get('/follow/whole.kt'))
        s.recv(100)
        sockets.append(s)
    for s in sockets:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
        s.close()
    no_child()
    equal(server.ask('/stats/whole')[0], 200)


def quiet():
    """A conversion that writes nothing does not outlive its client.  Statistics come at the
    end, and a look for packets in 4 TB of zeros has none for long."""
    shutil.copy('folder/whole.kt', 'folder/endless.kt')
    os.truncate('folder/endless.kt', 1 << 42)
    with server.connect() as s:
        s.sendall(server.get('/stats/endless.kt'))
        while not children():
            time.sleep(0.01)
    try:
        no_child()
    finally:
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        os.unlink('folder/endless.kt')
    equal(server.ask('/stats/whole')[0], 200)


def no_child():
    """The next comment shows that the clients are gone."""
    for _ in range(600):
        if not children():
            break
        time.sleep(0.1)
    assert not children(), 'conversions of clients that are gone still run'


def children():
    """Conversions are children of any of the server's threads.  Return those that run."""
    base = f'/proc/{server.process.pid}/task'
    found = []
    for task in os.listdir(base):
        try:
            with open(f'{base}/{task}/children') as f:
                found += [int(pid) for pid in f.read().split()]
        except OSError:
            pass
    return found


def damaged():
    with open('folder/whole.kt', 'rb') as f:
        data = bytearray(f.read())
    data[-5000] ^= 255
    with open('folder/damaged.kt', 'wb') as f:
        f.write(data)
    # A client that ends its side is taken as gone.
    got = server.raw(server.get('/pftrace/damaged.kt', Connection='close'), ends=False)
    assert got.split()[1] == b'200', got[:100]
    assert len(got) > 1000, got
    assert not got.endswith(b'\r\n0\r\n\r\n'), 'a failed conversion looks complete'
    os.unlink('folder/damaged.kt')


def no_trace():
    with open('folder/none.trx', 'wb') as f:
        f.write(bytes(range(256)))
    for kind in 'html', 'pftrace', 'csv', 'chrome', 'dump', 'stats':
        for name in 'none.trx', 'whole/cpu0':
            status, fields, body = server.ask(f'/{kind}/{name}')
            equal((name, status, fields['content-type']), (name, 415, 'text/plain; charset=utf-8'))
            assert b'ktape dump says what is wrong' in body, body
            assert 'content-disposition' not in fields, fields
    os.unlink('folder/none.trx')


def ending():
    """A client that follows does not keep the server from ending."""
    s = server.connect()
    s.sendall(server.get('/follow/whole.kt'))
    s.recv(100)
    server.end(signal.SIGINT)
    s.close()


def check_token(s):
    assert s.token and len(s.token) == 32, s.url
    other = ('0' if s.token[0] != '0' else '1') + s.token[1:]
    for root in '', '/', '/' + 'a' * 32, '/' + s.token[:-1], '/' + s.token + 'a', '/' + other, \
            '//' + s.token, '/x/' + s.token, '/' + s.token.upper() + '/':
        for path in '/', '/raw/whole.kt', '/style.css', '/?token=' + s.token, '/' + s.token:
            if root or not path.endswith('/' + s.token):
                equal((root, path, s.ask(path, root=root)[0]), (root, path, 403))
    equal(s.ask('/', root='', Cookie=f'ktape-{s.port}={s.token}; ktape={s.token}')[0], 403)
    status, fields, body = s.ask('/')
    equal((status, 'set-cookie' in fields, fields['referrer-policy']), (200, False, 'no-referrer'))
    assert f"<base href='/{s.token}/'>".encode() in body
    # A page on another port gets nothing that was not printed: all links stay below the token.
    for link in re.findall(rb"(?:href|src)=['\"]?([^'\"> ]+)", body.replace(b'<base ', b'<x ')):
        if link != f'/{s.token}/'.encode():
            assert not link.startswith(b'/') and b'//' not in link, link
    equal(s.ask('/', host='evil.example')[0], 403)


def tokens():
    s = Server('-a', '0.0.0.0', 'folder')
    s.host = '127.0.0.1'
    check_token(s)
    # Other machines call it by the address that they see.
    equal(s.ask('/', host=f'192.0.2.1:{s.port}')[0], 200)
    s.end()
    s = Server('folder')
    check_token(s)
    s.end()


def six():
    """An address of IPv6 in any notation."""
    try:
        socket.create_server(('::1', 0), family=socket.AF_INET6).close()
    except OSError:
        return                  # this machine has no IPv6
    for address in '::1', '0:0::0:1', '::':
        s = Server('-a', address, 'folder')
        s.host = '[::1]'
        equal(s.ask('/')[0], 200)
        s.end()


def no_token():
    s = Server('--no-token', 'folder')
    equal((s.token, s.ask('/')[0], s.ask('/stats/whole')[0]), (None, 200, 200))
    assert b"<base href='/'>" in s.ask('/')[2]
    s.end()
    done = subprocess.run([ktape, 'serve', '--no-token', '-a', '0.0.0.0', 'folder'], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal((done.returncode, b'other machines need the token' in done.stderr), (2, True))


def browser():
    """xdg-open gets a file that only the user can read, not the token."""
    os.mkdir('bin')
    os.mkdir('tmp')
    with open('bin/xdg-open', 'w') as f:
        f.write('#!/bin/sh\nstat -c %a "$1" >mode && cp "$1" copied && echo "$1" >opened.new\n'
                'mv opened.new opened\n')
    os.chmod('bin/xdg-open', 0o755)
    os.environ.update(PATH=os.path.abspath('bin') + ':' + os.environ['PATH'],
                      TMPDIR=os.path.abspath('tmp'))
    s = Server('--open', 'folder')
    while not os.path.exists('opened'):
        time.sleep(0.01)
    with open('opened') as f:
        path = f.read().strip()
    with open('copied') as f, open('mode') as m:
        equal((f'content="0;url={s.url}"' in f.read(), m.read()), (True, '600\n'))
    assert path.startswith(os.path.abspath('tmp')) and s.token not in path
    s.end()
    equal(os.listdir('tmp'), [])


def one_trace():
    s = Server('folder/whole.kt')
    page = s.ask('/')[2]
    equal(re.findall(rb'<tr><td class=name>([^<]*)<td', page), [b'whole.kt'])
    equal(re.findall(rb'<p class=help>(\d+ \w+)', page), [b'1 trace'])
    equal(s.ask('/raw/whole.kt')[0], 200)
    for path in '/tar/whole', '/raw/deep/er/one.kt':
        equal(s.ask(path)[0], 404)
    s.end()
    s = Server('folder/whole')
    equal(s.ask('/tar/whole')[0], 200)
    equal(s.ask('/raw/whole.kt')[0], 404)
    s.end()
    # A hidden one, because the user has named it.
    os.mkdir('hidden')
    shutil.copy('folder/whole.kt', 'hidden/.one.kt')
    shutil.copytree('folder/whole', 'hidden/.one')
    for name, kind in ('.one.kt', 'raw'), ('.one', 'tar'):
        s = Server('hidden/' + name)
        equal(re.findall(rb'<tr><td class=name>([^<]*)<td', s.ask('/')[2]), [name.encode()])
        for kind in kind, 'stats':
            equal((name, kind, s.ask(f'/{kind}/{name}')[0]), (name, kind, 200))
        equal(s.ask('/raw/./.one.kt')[0], 404)
        s.end()
    s = Server('hidden')
    equal((s.ask('/raw/.one.kt')[0], b'.one' in s.ask('/')[2]), (404, False))
    s.end()


def large_folder():
    """A directory with too many files is no trace, and ends the list of a folder."""
    os.makedirs('many/full')
    shutil.copy('folder/whole.kt', 'many/one.kt')
    for name in ['metadata', *map(str, range(100000))]:
        os.mknod('many/full/' + name)
    s = Server('many')
    page = s.ask('/')[2]
    assert b'and maybe more' in page and b'<td class=name>full' not in page, page
    equal(s.ask('/tar/full')[0], 404)
    os.unlink('many/full/99999')
    os.unlink('many/full/99998')
    os.unlink('many/full/99997')
    equal(s.ask('/tar/full', method='HEAD')[0], 200)
    s.end()
    shutil.rmtree('many')


def perfetto_port():
    fetched_from('--no-token')
    fetched_from()


def fetched_from(*words):
    try:
        s = Server('-p', '9001', *words, 'folder')
    except AssertionError:
        with open('errors') as f:
            assert 'in use' in f.read()
        return                  # somebody else's
    status, fields, _ = s.ask('/pftrace/whole', Origin='https://ui.perfetto.dev')
    equal((status, fields['access-control-allow-origin']), (200, 'https://ui.perfetto.dev'))
    equal(s.ask('/status', method='POST', root='')[0], 404)
    status, fields, _ = s.ask('/pftrace/whole', method='OPTIONS')
    equal((status, fields['access-control-allow-private-network']), (204, 'true'))
    assert 'access-control-allow-origin' not in s.ask('/raw/whole.kt')[1]
    s.end()


def loaded():
    """The server's library, and what that needs, cost other commands nothing."""
    linked = subprocess.run([ktape], stdout=subprocess.PIPE, check=True,
                            env={**os.environ, 'LD_TRACE_LOADED_OBJECTS': '1'}).stdout
    assert b'libc.so' in linked and b'microhttpd' not in linked and b'gnutls' not in linked, linked
    s = Server('folder')
    with open(f'/proc/{s.process.pid}/maps') as f:
        name = re.search(r'/(libmicrohttpd\.so\.\d+)', f.read())[1]
    s.end()
    os.mkdir('broken')
    with open('broken/' + name, 'wb') as f:
        f.write(b'no library')
    there = {**os.environ, 'LD_LIBRARY_PATH': os.path.abspath('broken')}
    done = subprocess.run([ktape, 'serve', 'folder'], env=there, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    equal((done.returncode, done.stdout), (1, b''))
    assert b'libmicrohttpd cannot be loaded: ' in done.stderr and name.encode() in done.stderr
    equal(subprocess.run([ktape, 'stats', 'folder/whole'], env=there, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout,
          run('stats', 'folder/whole'))


def usage():
    for words, code in (['-p', '65536'], 2), (['-a', 'localhost'], 2), (['-S', '1'], 2), \
            (['none'], 1), (['a', 'b'], 2):
        equal(subprocess.run([ktape, 'serve', *words], stderr=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, check=False).returncode, code)


print('TAP version 13')
if b'serve' not in run('help'):
    print('1..0 # SKIP built without libmicrohttpd')
    sys.exit(0)
work = tempfile.mkdtemp(prefix='ktape-serve.')
os.chdir(work)
try:
    make_folder()
    server = Server('folder')
    result('the index has the traces, and names are escaped', contents)
    result('files are byte-equal', files)
    result('conversions are byte-equal to those of the command', conversions)
    result('pages', pages)
    result('the page that converts', converter)
    result('a trace is followed', follow)
    result('nothing outside of the folder can be read', traversal)
    result('other hosts are refused', hosts)
    result('nothing can be changed', methods)
    result('HEAD runs no conversion', heads)
    result('who follows and who converts do not block each other', followers)
    result('connections without a token keep nobody out', strangers)
    result('3000 malformed requests', fuzz)
    result('requests that are too large', large)
    result('a client that sends a byte at a time', slow)
    result('24 readers at once', many)
    result('clients that are killed', killed)
    result('a conversion that writes nothing ends with its client', quiet)
    result('a conversion that fails is cut off', damaged)
    result('what is no trace is answered with an error, not with an empty page', no_trace)
    result('it ends while a client follows', ending)
    result('each request needs the token, on each address', tokens)
    result('addresses of IPv6 in any notation', six)
    result('--no-token is for this machine only', no_token)
    result('--open hands over a private file, and removes it', browser)
    result('one trace, and no other', one_trace)
    result('a directory of more files than a trace can have', large_folder)
    result('the port of Perfetto', perfetto_port)
    result('only this command loads its library', loaded)
    result('wrong options are refused', usage)
finally:
    shutil.rmtree(work)
end()
