"""Shared by the tests of `ridge serve`: a server that is started and ended, requests, event streams. Waits on conditions."""
import http.client
import json
import re
import signal
import socket
import subprocess
import threading
import time

from _e2e import BIN

LONG_S = 60  # no answer within this is a failure, not a measurement


class Server:
    """`with Server('-np', 8) as s:` ends it with SIGTERM and keeps its exit code in .code."""

    def __init__(self, model, *args):
        command = [BIN, 'serve', '-m', model, '--port', '0', *map(str, args)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = []
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()
        line = self.process.stdout.readline()
        if 'listening on' not in line:
            self.process.wait(LONG_S)
            raise RuntimeError('no server: %s %s' % (line, ''.join(self.errors)))
        self.port = int(line.rsplit(':', 1)[1])
        self.code = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, sig=signal.SIGTERM):
        if self.code is None:
            self.process.send_signal(sig)
            try:
                self.code = self.process.wait(LONG_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.code = 'TIMEOUT'
        return self.code

    def request(self, method, path, body=None, headers=None):
        """(status, headers, text) of one request on a connection of its own."""
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=LONG_S)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            c.request(method, path, body, headers or {})
            r = c.getresponse()
            return r.status, dict(r.getheaders()), r.read().decode('utf-8')
        finally:
            c.close()

    def get(self, path, **headers):
        return self.request('GET', path, None, headers)

    def post(self, path, body, **headers):
        status, _, text = self.request('POST', path, body, headers)
        return status, json.loads(text)

    def open(self, path, body):
        """A socket on which the request has been sent."""
        s = socket.create_connection(('127.0.0.1', self.port), timeout=LONG_S)
        data = json.dumps(body).encode()
        s.sendall(b'POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % (path.encode(), len(data)) + data)
        return s

    def raw(self, data):
        """What comes back for these bytes until the server closes, as it must; the status of each answer in it."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=LONG_S) as s:
            try:
                s.sendall(data)
            except OSError:
                pass  # refused before everything was sent
            got = b''
            try:
                while True:
                    more = s.recv(65536)
                    if not more:
                        break
                    got += more
            except ConnectionResetError:
                pass
        return got, [int(status) for status in re.findall(rb'HTTP/1\.1 (\d{3}) ', got)]

    def events(self, path, body):
        """The data of each event of a stream, '[DONE]' as it stands."""
        status, headers, text = self.request('POST', path, dict(body, stream=True))
        if status != 200 or not headers.get('Content-Type', '').startswith('text/event-stream'):
            raise RuntimeError('%s: %s %s' % (path, status, text[:300]))
        return [block[6:] if block[6:] == '[DONE]' else json.loads(block[6:])
                for block in text.split('\n\n') if block.startswith('data: ')]

    def metric(self, name):
        for line in self.get('/metrics')[2].splitlines():
            if line.startswith(name + ' '):
                return float(line.rsplit(' ', 1)[1])
        return None

    def wait_for(self, condition):
        """Until it holds; False when it does not come to."""
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.005)
        return False
