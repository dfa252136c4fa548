"""Shared by the end-to-end tests: where the program and the reference data are, and how the program is run.
RIDGE_BIN names the program (set by ctest); RIDGE_GOLDEN the reference data, else ../shared/golden beside the checkout."""
import json
import os
import resource
import subprocess
import sys
import time

sys.dont_write_bytecode = True
SOURCE = os.environ.get('RIDGE_SOURCE') or os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
BIN = os.environ.get('RIDGE_BIN') or os.path.join(SOURCE, 'build', 'ridge')
GOLDEN = os.environ.get('RIDGE_GOLDEN') or os.path.join(SOURCE, '..', 'shared', 'golden')
SANITIZED = bool(os.environ.get('RIDGE_SANITIZE'))
FAST = os.environ.get('RIDGE_FAST') == '1'
SKIPPED = 77  # the exit code that ctest reads as skipped


def skip(reason):
    print('skipped: ' + reason)
    sys.exit(SKIPPED)


def golden(*parts):
    """A path of the reference data; the test is skipped where it is absent."""
    path = os.path.join(GOLDEN, *parts)
    if not os.path.exists(path):
        skip('no reference data at %s: set RIDGE_GOLDEN to the folder that holds it' % path)
    return path


def stories():
    return golden('..', 'models', 'stories260K.gguf')


class Ran:
    """What one run of the program did."""

    def __init__(self, args, code, out, err, seconds):
        self.args, self.code, self.out, self.err, self.seconds = args, code, out, err, seconds

    def __str__(self):
        return 'ridge %s: exit %s after %.2f s\n  stdout: %s\n  stderr: %s' % (
            ' '.join(map(str, self.args)), self.code, self.seconds, self.out[:400], self.err[:400])


def ridge(*args, stdin=b'', limit_bytes=None, timeout_s=60):
    """Runs the program. limit_bytes bounds its address space (not under a sanitizer, which reserves terabytes)."""

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limit_bytes and not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))

    if isinstance(stdin, str):
        stdin = stdin.encode()
    start = time.monotonic()
    try:
        done = subprocess.run([BIN, *map(str, args)], input=stdin, capture_output=True, timeout=timeout_s, preexec_fn=limits)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        code, out, err = 'TIMEOUT', late.stdout or b'', late.stderr or b''
    return Ran(args, code, out.decode('utf-8', 'replace'), err.decode('utf-8', 'replace'), time.monotonic() - start)


def died(ran):
    """Ended by a signal, directly or under a shell's or sanitizer's convention, or not at all."""
    return ran.code == 'TIMEOUT' or ran.code < 0 or ran.code >= 128 or 'Sanitizer' in ran.err


def error_lines(ran):
    return [line for line in ran.err.splitlines() if 'error:' in line]


class Check:
    """Collects what does not hold, so that one run shows all of it."""

    def __init__(self):
        self.failures, self.n = [], 0

    def that(self, holds, text):
        self.n += 1
        if not holds:
            self.failures.append(str(text))
        return holds

    def refusal(self, code, ran, *parts):
        """This exit code, with exactly one 'error:' line that contains each of the parts."""
        lines = error_lines(ran)
        self.that(ran.code == code, 'must be refused with exit code %d\n%s' % (code, ran))
        if self.that(len(lines) == 1, 'must print one error: line\n%s' % ran):
            for part in parts:
                self.that(part.lower() in lines[0].lower(), "the error must name '%s'\n%s" % (part, ran))

    def finish(self):
        for failure in self.failures[:40]:
            print('FAILED: ' + failure)
        print('%d checks, %d failed' % (self.n, len(self.failures)))
        sys.exit(1 if self.failures else 0)


def read_json(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)
