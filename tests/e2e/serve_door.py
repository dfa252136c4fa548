"""The door of `ridge serve`: what is refused, with which status, and that the server goes on. Each limit at it and one past it."""
import json
import socket

from _e2e import Check, ridge, stories
from _server import Server

check = Check()
KEY = {'Authorization': 'Bearer secret-1'}
OK = json.dumps({'prompt': 'Once', 'max_tokens': 1})


def refused(server, status, method, path, body, word, headers=KEY):
    got, _, text = server.request(method, path, body, headers)
    check.that(got == status, '%s %s %.80r: %s instead of %s: %s' % (method, path, body, got, status, text[:200]))
    if got == status and status != 204:
        error = json.loads(text)['error']
        check.that(error['code'] == status and word in error['message'], '%s must name %r: %s' % (path, word, error))


def check_fields(server):
    def bad(word, **fields):
        refused(server, 400, 'POST', '/v1/completions', dict({'prompt': 'Once', 'max_tokens': 1}, **fields), word)

    for value in ('', [], [[]], [''], None, 5, {}, [1.5], [-1], [10**6], [2**40], True):
        status = server.request('POST', '/v1/completions', {'prompt': value, 'max_tokens': 1}, KEY)[0]
        # An empty text still has the token that begins every text.
        check.that(status == (200 if value in ('', ['']) else 400), 'prompt %r: %s' % (value, status))
    for name in ('temperature', 'top_p', 'repeat_penalty', 'max_tokens', 'n', 'seed', 'logprobs', 'n_probs', 'min_p', 'top_k'):
        for value in ('x', [], {}, 10**300, -10**300):
            bad("'%s'" % name, **{name: value})
    bad("'temperature'", temperature=999999), bad("'top_p'", top_p=-1), bad("'repeat_penalty'", repeat_penalty=0)
    bad("'n'", n=0), bad("'n'", n=9), bad("'n'", n=10**6), bad("'best_of'", best_of=1000000), bad("'max_tokens'", max_tokens=-2)
    bad("'stop'", stop=['a'] * 17), bad('stop', stop='a' * 257), bad("'stop'", stop=[5]), bad("'stream'", stream='yes')
    bad("'logit_bias'", logit_bias={'x': 1}), bad("'logit_bias'", logit_bias={str(i): 0 for i in range(1025)}), bad('bias', logit_bias={'99999': 1})
    for name, value in (('tools', [{}]), ('response_format', {'type': 'xml'}), ('grammar', 5), ('json_schema', 7), ('guided_choice', 5)):
        bad("'%s'" % name, **{name: value})
        check.that(server.request('POST', '/v1/completions', {'prompt': 'Once', 'max_tokens': 1, name: None}, KEY)[0] == 200, 'null %s' % name)
    bad('grammar', grammar='root ::= nothing'), bad('uniqueItems', json_schema={'type': 'array', 'uniqueItems': True})
    bad('second', grammar='root ::= "a"', guided_regex='a')
    for messages in (None, [], 5, [5], [{}], [{'role': 'user'}], [{'role': 'robot', 'content': 'x'}], [{'role': 'tool', 'content': 'x'}],
                     [{'role': 'user', 'content': [{'type': 'image_url'}]}], [{'role': 'user', 'content': 5}]):
        refused(server, 400, 'POST', '/v1/chat/completions', {'messages': messages}, "'messages")
    long = server.request('POST', '/v1/completions', {'prompt': [5] * 600}, KEY)
    error = json.loads(long[2])['error']
    check.that(long[0] == 400 and error['type'] == 'exceed_context_size_error' and error['n_prompt_tokens'] == 600 and error['n_ctx'] == 512, long)


def check_json(server):
    for body in ('', '{', '[]', '5', 'null', '{"prompt": "a"', '{"prompt": nan}', '{"prompt": 1e999}', '\ufeff{', '{"prompt": "\\ud800"}', "{'prompt': 1}"):
        refused(server, 400, 'POST', '/v1/completions', body.encode('utf-8', 'surrogatepass'), 'body')
    refused(server, 400, 'POST', '/v1/completions', b'{"prompt": "\xff"}', 'body')
    for depth, status in ((64, 200), (65, 400), (100000, 400)):
        nested = '{"prompt": "Once", "max_tokens": 1, "x": %s}' % ('[' * (depth - 1) + ']' * (depth - 1))
        check.that(server.request('POST', '/v1/completions', nested, KEY)[0] == status, 'depth %d must give %d' % (depth, status))


def check_http(server):
    body = OK.encode()
    head = b'POST /v1/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret-1\r\n'
    plain = head + b'Content-Length: %d\r\n\r\n' % len(body) + body
    last = plain.replace(b'Host: x', b'Host: x\r\nConnection: close')
    hidden = b'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    chunked = b'%x\r\n' % len(body) + body + b'\r\n0\r\n\r\n'
    check.that(server.raw(last)[1] == [200], 'a plain request')
    check.that(server.raw(plain + hidden)[1] == [200, 200], 'two requests on a connection')
    check.that(server.raw(head + b'Transfer-Encoding: chunked\r\n\r\n' + chunked + hidden)[1] == [200, 200], 'chunked')
    for name, data in {
            'both framings': head + b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n' + chunked + hidden,
            'both, length 0': head + b'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n' + chunked + hidden,
            'chunked not last': head + b'Transfer-Encoding: chunked, gzip\r\n\r\n' + chunked + hidden,
            'gzip, chunked': head + b'Transfer-Encoding: gzip, chunked\r\n\r\n' + chunked + hidden,
            'two lengths': head + b'Content-Length: 5\r\nContent-Length: 6\r\n\r\n' + body + hidden,
            'length +5': head + b'Content-Length: +5\r\n\r\n' + body + hidden,
            'length -1': head + b'Content-Length: -1\r\n\r\n' + body + hidden,
            'space before colon': head + b'Content-Length : 5\r\n\r\n' + body + hidden,
            'bare LF': plain.replace(b'\r\n', b'\n') + hidden,
            'bad chunk size': head + b'Transfer-Encoding: chunked\r\n\r\nzz\r\n' + hidden,
            'no host': b'GET /health HTTP/1.1\r\n\r\n' + hidden,
            'two hosts': b'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n' + hidden,
            'HTTP/2': b'GET /health HTTP/2.0\r\nHost: a\r\n\r\n' + hidden,
            'absolute target': b'GET http://x/health HTTP/1.1\r\nHost: a\r\n\r\n' + hidden,
            'noise': bytes(range(256)) * 4,
            'a TLS hello': b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(200)}.items():
        check.that(server.raw(data)[1] in ([400], []), '%s: %s' % (name, server.raw(data)))
    many = b''.join(b'X-%d: y\r\n' % i for i in range(200))
    check.that(server.raw(b'GET /health HTTP/1.1\r\nHost: x\r\n' + many + b'\r\n')[1] == [431], '200 fields')
    check.that(server.raw(b'GET /health HTTP/1.1\r\nHost: x\r\nX: ' + b'y' * 40000 + b'\r\n\r\n')[1] == [431], 'a long field')
    check.that(server.raw(b'GET /health?' + b'y' * 9000 + b' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')[1] == [414], 'a long target')
    check.that(server.raw(head + b'Content-Length: 4194305\r\n\r\n' + b' ' * 100)[1] == [413], 'a body one byte too long')
    check.that(server.raw(head + b'Transfer-Encoding: chunked\r\n\r\n' + b'100000\r\n' + b' ' * 0x100000 + b'\r\n' * 1 +
                          b'400000\r\n' + b' ' * 0x400000)[1] == [413], 'endless chunks')
    full = body + b' ' * (4194304 - len(body))
    check.that(server.raw(head + b'Connection: close\r\nContent-Length: 4194304\r\n\r\n' + full)[1] == [200], 'a body of just 4 MiB')
    check.that(server.raw(head + b'Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc')[1] == [415], 'a compressed body')


def check_keys(server):
    for path in ('/v1/models', '/props', '/slots', '/metrics', '/v1/accounts/x', '/nowhere', '//v1/models', '/v1/models/', '/V1/models'):
        for headers in ({}, {'Authorization': 'Bearer secret'}, {'Authorization': 'Bearer secret-11'}, {'Authorization': 'secret-1'},
                        {'Authorization': 'Bearer '}, {'X-Api-Key': 'wrong'}, {'Authorization': 'Basic secret-1'}):
            refused(server, 401, 'GET', path, None, 'key', headers)
    for path in ('/v1/completions', '/v1/chat/completions', '/completion', '/tokenize', '/detokenize', '/apply-template'):
        refused(server, 401, 'POST', path, OK, 'key', {})
    for path in ('/health', '/v1/health', '/ready'):
        check.that(server.get(path)[0] == 200, '%s is public' % path)
    for headers in (KEY, {'authorization': 'bearer secret-2'}, {'X-Api-Key': 'secret-2'}):
        check.that(server.request('GET', '/v1/models', None, headers)[0] == 200, 'key %s' % headers)
    refused(server, 404, 'GET', '/nowhere', None, '/nowhere')
    refused(server, 405, 'GET', '/v1/completions', None, 'POST')
    refused(server, 405, 'DELETE', '/health', None, 'GET')
    refused(server, 501, 'POST', '/v1/embeddings', '{}', 'not supported')


def check_queue():
    """One runs, two wait, the fourth is refused; and is served later."""
    with Server(stories(), '-np', 1, '--max-queue', 2, '--metrics') as server:
        held = [server.open('/v1/completions', {'prompt': 'Once', 'max_tokens': 500, 'ignore_eos': True, 'stream': True, 'n': 3})]
        first = held[0].recv(9000)
        status, headers, text = server.request('POST', '/v1/completions', OK)
        # On a quick machine the three may have ended meanwhile: then there is nothing to refuse.
        if server.metric('ridge:num_requests_running') and status != 200:
            check.that(status == 429 and int(headers['Retry-After']) >= 1 and json.loads(text)['error']['type'] == 'rate_limit_error', (status, text, first))
        check.that(server.post('/v1/completions', {'prompt': 'Once', 'max_tokens': 1, 'n': 4})[0] == 429, 'four at once never fit')
        for s in held:
            s.close()
        check.that(server.wait_for(lambda: server.request('POST', '/v1/completions', OK)[0] == 200), 'served after the queue is free')


def check_slow(server):
    """A head that never ends is given up; others are served meanwhile."""
    slow = [socket.create_connection(('127.0.0.1', server.port), timeout=60) for _ in range(20)]
    for s in slow:
        s.sendall(b'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    check.that(server.get('/health')[0] == 200, 'served beside slow clients')
    ended = 0
    for s in slow:
        try:
            while True:
                s.sendall(b'y')  # a byte now and then does not keep it open
                s.settimeout(0.2)
                try:
                    if not s.recv(1):
                        break
                except socket.timeout:
                    pass
        except OSError:
            pass
        ended += 1
    check.that(ended == 20, 'slow clients are let go')


with Server(stories(), '-np', 2, '--api-key', 'secret-1,secret-2', '--metrics', '--header-deadline', 1) as server:
    check_keys(server)
    check_fields(server)
    check_json(server)
    check_http(server)
    check_slow(server)
    check.that(server.request('POST', '/v1/completions', OK, KEY)[0] == 200, 'it still answers')
check.that(server.code == 0, 'exit code %s %s' % (server.code, server.errors))
check_queue()
check.refusal(2, ridge('serve', '-m', stories(), '--host', '0.0.0.0', '--port', 0), '--api-key')
check.refusal(2, ridge('serve', '-m', stories(), '--host', 'no such host', '--port', 0, '--no-auth'), '--host')
check.finish()
