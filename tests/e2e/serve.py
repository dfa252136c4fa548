"""`ridge serve` answers: the whole text is the streamed text is what `ridge run` writes; alone or eight at once; one terminal event;
a client that leaves frees its place; books close; SIGTERM drains."""
import concurrent.futures
import json
import os
import signal

from _e2e import FAST, SOURCE, Check, ridge, stories
from _server import Server

check = Check()
PROMPTS = ['Once upon a time', 'The little dog', 'One day, a girl named', 'Tom and his mom', 'It was raining and', 'A big red ball',
           'The sun was', 'Lily liked to']
N = 24
GREEDY = {'temperature': 0, 'max_tokens': N}


def run_text(prompt):
    ran = ridge('run', '-m', stories(), '-p', prompt, '-n', N, '--temp', 0, '--no-display-prompt', '--no-perf')
    check.that(ran.code == 0, ran)
    return ran.out[:-1]


def streamed(server, prompt, **more):
    """(text, finish reasons) of a completion's stream, whose form is checked."""
    events = server.events('/v1/completions', dict(GREEDY, prompt=prompt, stream_options={'include_usage': True}, **more))
    check.that(events[-1] == '[DONE]' and events.count('[DONE]') == 1, 'one [DONE], at the end')
    check.that(events[-2]['choices'] == [] and events[-2]['usage']['completion_tokens'] > 0, 'usage stands before [DONE]: %s' % events[-2])
    choices = [e['choices'][0] for e in events[:-2]]
    reasons = [c['finish_reason'] for c in choices if c['finish_reason']]
    check.that(len(reasons) == 1 and choices[-1]['finish_reason'], 'one terminal event, the last: %s' % reasons)
    check.that(len({e['id'] for e in events[:-1]}) == 1, 'one id')
    return ''.join(c['text'] for c in choices), reasons


def check_texts(server):
    expected = {p: run_text(p) for p in PROMPTS[:2 if FAST else None]}
    for prompt, text in expected.items():
        status, doc = server.post('/v1/completions', dict(GREEDY, prompt=prompt))
        check.that(status == 200 and doc['choices'][0]['text'] == text, 'whole text of %r: %s, expected %r' % (prompt, doc, text))
        check.that(doc['usage']['total_tokens'] == doc['usage']['prompt_tokens'] + N and doc['timings']['predicted_n'] == N, doc)
        check.that(streamed(server, prompt)[0] == text, 'streamed text of %r' % prompt)
        status, doc = server.post('/completion', {'prompt': prompt, 'n_predict': N, 'temperature': 0, 'seed': 7})
        check.that(doc['content'] == text and doc['stop_type'] == 'limit' and doc['generation_settings']['seed'] == 7, doc)
        native = server.events('/completion', {'prompt': prompt, 'n_predict': N, 'temperature': 0})
        check.that(''.join(e['content'] for e in native) == text and [e['stop'] for e in native].count(True) == 1, native)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(1 if FAST else 3):
            for (prompt, text), (got, _) in zip(expected.items(), pool.map(lambda p: streamed(server, p), expected)):
                check.that(got == text, 'eight at once: %r, alone %r' % (got, text))


def check_fields(server):
    def post(**fields):
        return server.post('/v1/completions', dict(GREEDY, prompt='Once upon a time', **fields))[1]

    whole = post()['choices'][0]['text']
    stop = whole.split()[4]
    stopped = post(stop=[stop])['choices'][0]
    check.that(stopped['text'] == whole[:whole.index(stop)] and stopped['finish_reason'] == 'stop', stopped)
    check.that(streamed(server, 'Once upon a time', stop=stop) == (whole[:whole.index(stop)], ['stop']), 'the stop never shows')
    check.that(post(echo=True)['choices'][0]['text'] == 'Once upon a time' + whole, 'echo')
    several = post(n=3, seed=5, temperature=1.0, max_tokens=12)
    again = post(n=3, seed=5, temperature=1.0, max_tokens=12)
    texts = [c['text'] for c in several['choices']]
    check.that(texts == [c['text'] for c in again['choices']] and len(set(texts)) > 1, 'seeded choices: %s' % texts)
    check.that(several['usage']['completion_tokens'] <= 36 and [c['index'] for c in several['choices']] == [0, 1, 2], several['usage'])
    both = server.post('/v1/completions', dict(GREEDY, prompt=['Once upon a time', 'The little dog']))[1]
    check.that([c['text'] for c in both['choices']] == [whole, run_text('The little dog')], both)
    ids = json.loads(server.request('POST', '/tokenize', {'content': 'Once upon a time', 'add_special': True})[2])['tokens']
    by_ids = server.post('/v1/completions', dict(GREEDY, prompt=ids))[1]
    check.that(by_ids['choices'][0]['text'] == whole, 'a prompt as ids')
    check.that(server.post('/detokenize', {'tokens': ids[1:]})[1]['content'].strip() == 'Once upon a time', 'round trip')
    logprobs = post(logprobs=3, max_tokens=4)['choices'][0]['logprobs']
    check.that(len(logprobs['tokens']) == 4 and all(len(t) == 3 for t in logprobs['top_logprobs']) and
               all(p <= 0 and p == max(t.values()) for p, t in zip(logprobs['token_logprobs'], logprobs['top_logprobs'])), logprobs)
    banned = server.post('/v1/completions', dict(GREEDY, prompt='Once upon a time', max_tokens=1, logprobs=1))[1]
    first = json.loads(server.request('POST', '/tokenize', {'content': banned['choices'][0]['text'], 'with_pieces': True})[2])
    bias = {str(t['id']): -100 for t in first['tokens']}
    check.that(post(logit_bias=bias)['choices'][0]['text'] != whole, 'a bias of -100 bans')
    timed = server.events('/v1/completions', dict(GREEDY, prompt='Once', timings_per_token=True))
    check.that(all('timings' in e for e in timed[:-1]), 'timings with each chunk')


def check_accounts(server):
    status, doc = server.post('/v1/completions', dict(GREEDY, prompt='Once upon a time', accounts=True))
    time = doc['accounts']['time']
    total = sum(s['ms'] for s in time['stages'])
    check.that(abs(total + time['residual_ms'] - time['elapsed_ms']) < 1e-6, 'the stages and the residual are the elapsed time: %s' % time)
    names = [s['name'] for s in time['stages']]
    check.that({'parse', 'tokenise', 'queue', 'prefill', 'decode', 'sample'} <= set(names) and len(set(names)) == len(names), names)
    status, _, kept = server.get('/v1/accounts/' + doc['id'])
    check.that(status == 200 and json.loads(kept)['accounts']['n_output'] == N, kept)
    check.that(server.get('/v1/accounts/none')[0] == 404, 'an unknown id')
    check.that('accounts' not in server.post('/v1/completions', dict(GREEDY, prompt='Once'))[1], 'only on request')


def check_constraints(server, messages):
    """Each way to say what an answer must look like, whole and streamed."""
    schema = {'type': 'object', 'properties': {'metric': {'enum': ['TTFT', 'TPOT']}, 'ms': {'type': 'integer', 'minimum': 1, 'maximum': 99}},
              'required': ['metric', 'ms'], 'additionalProperties': False}
    for extra in ({'response_format': {'type': 'json_schema', 'json_schema': {'name': 'x', 'schema': schema}}},
                  {'response_format': {'type': 'json_object', 'schema': schema}}, {'json_schema': schema}, {'guided_json': json.dumps(schema)}):
        body = {'messages': messages, 'max_tokens': 60, 'temperature': 0, **extra}
        whole = server.post('/v1/chat/completions', body)[1]['choices'][0]
        value = json.loads(whole['message']['content'])
        check.that(value['metric'] in ('TTFT', 'TPOT') and 1 <= value['ms'] <= 99 and len(value) == 2 and whole['finish_reason'] == 'stop', whole)
        events = server.events('/v1/chat/completions', body)
        check.that(''.join(e['choices'][0]['delta'].get('content') or '' for e in events[:-1]) == whole['message']['content'], 'streamed')
    for extra in ({'grammar': 'root ::= "yes" | "no"'}, {'guided_choice': ['yes', 'no']}, {'guided_regex': 'yes|no'}, {'guided_grammar': 'root ::= "yes" | "no"'}):
        text = server.post('/v1/completions', {'prompt': 'Is it?', 'max_tokens': 9, **extra})[1]['choices'][0]['text']
        check.that(text in ('yes', 'no'), '%s: %r' % (extra, text))


def check_chat():
    """The built-in model talks: OpenAI's shape and Anthropic's give the same text, whole and streamed."""
    model = os.path.join(SOURCE, 'models', 'builtin.gguf')
    if not os.path.exists(model):
        return
    messages = [{'role': 'user', 'content': 'What is TTFT?'}]
    text = ridge('run', '-m', model, '--chat', 'What is TTFT?', '--temp', 0, '--no-perf', '-n', 100).out.strip()
    with Server(model, '-np', 2) as server:
        body = {'messages': messages, 'temperature': 0, 'max_tokens': 100}
        whole = server.post('/v1/chat/completions', body)[1]
        check.that(whole['choices'][0]['message']['content'].strip() == text and whole['choices'][0]['finish_reason'] == 'stop', whole)
        events = server.events('/v1/chat/completions', body)
        check.that(''.join(e['choices'][0]['delta'].get('content', '') for e in events[:-1]).strip() == text, events[:2])
        check.that(events[0]['choices'][0]['delta']['role'] == 'assistant' and events[-1] == '[DONE]', events[0])
        said = server.post('/v1/messages', body)[1]
        check.that(said['content'][0]['text'].strip() == text and said['stop_reason'] == 'end_turn', said)
        check.that(server.post('/v1/messages/count_tokens', {'messages': messages})[1]['input_tokens'] == said['usage']['input_tokens'], said)
        status, _, stream = server.request('POST', '/v1/messages', dict(body, stream=True))
        parts = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith('data: ')]
        check.that([p['type'] for p in parts if p['type'] != 'content_block_delta'] ==
                   ['message_start', 'content_block_start', 'content_block_stop', 'message_delta', 'message_stop'], stream[:300])
        check.that(''.join(p['delta']['text'] for p in parts if p['type'] == 'content_block_delta').strip() == text, 'streamed')
        check.that(server.post('/v1/messages', {'messages': messages})[1]['error']['type'] == 'invalid_request_error', 'max_tokens is required')
        prompt = server.post('/apply-template', {'messages': messages})[1]['prompt']
        check.that('What is TTFT?' in prompt, prompt)
        check_constraints(server, messages)


def check_leaving(server):
    """The place of a client that leaves is free again, queued or running; its neighbours do not notice."""
    endless = {'prompt': 'Once upon a time', 'stream': True, 'ignore_eos': True, 'max_tokens': 480}
    whole = server.post('/v1/completions', dict(GREEDY, prompt='The little dog'))[1]['choices'][0]['text']
    for round_ in range(3 if FAST else 10):
        left = [server.open('/v1/completions', dict(endless, stream=i % 2 == 0)) for i in range(12)]
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            neighbour = pool.submit(streamed, server, 'The little dog')
            left[0].recv(10)
            for s in left:
                s.close()
            check.that(neighbour.result()[0] == whole, 'the neighbour of clients that leave')
        idle = server.wait_for(lambda: server.metric('ridge:num_requests_running') == 0 and server.metric('ridge:num_requests_waiting') == 0)
        if not check.that(idle, 'requests of clients that left still run (round %d)' % round_):
            return
    free = [line for line in server.get('/metrics')[2].splitlines() if line.startswith('ridge:kv_blocks{state="held"}')]
    check.that(free == ['ridge:kv_blocks{state="held"} 0'], free)


def check_drain():
    """SIGTERM: not ready, new work refused; what runs gets its terminal event; exit code 0."""
    for drain, ended in ((30, 'length'), (0, None)):
        with Server(stories(), '-np', 2, '--drain', drain) as server:
            running = server.open('/completion', {'prompt': 'Once', 'stream': True, 'ignore_eos': True, 'n_predict': 480})
            got = running.recv(1000)
            server.process.send_signal(signal.SIGTERM)
            while b'0\r\n\r\n' not in got[-7:]:
                more = running.recv(65536)
                if not more:
                    break
                got += more
            check.that(server.end(signal.SIGTERM) == 0, 'exit code %s' % server.code)
            n_final = got.count(b'"stop":true') + got.count(b'data: {"error"')
            check.that(n_final == 1, 'one terminal event at shutdown, drain %d: %s' % (drain, got[-400:]))


with Server(stories(), '-np', 8, '-c', 4096, '--metrics') as server:
    for path in ('/health', '/v1/health', '/ready', '/v1/models', '/props', '/slots', '/metrics'):
        check.that(server.get(path)[0] == 200, path)
    check_texts(server)
    check_fields(server)
    check_accounts(server)
    check_leaving(server)
check.that(server.code == 0, 'exit code %s %s' % (server.code, server.errors))
check_drain()
check_chat()
check.finish()
