#!/usr/bin/python3
"""Trains the built-in model and writes it as GGUF.

usage: train.py [--steps N] [--tune-steps N] [--settle-steps N] [--start FILE] [--seed N] [--threads N] [--out DIR] [--ridge PROGRAM]
  --out DIR        builtin.gguf (Q8_0, what ships), builtin-f32.gguf, weights.pt, log.jsonl    default: build/builtin_model
  --start FILE     weights.pt of an earlier run instead of the first phase
  --ridge PROGRAM  compares the ids of all training text with `ridge tokenize` before training

Needs Debian's python3-torch, libopenblas0-pthread, python3-regex. Owns: batches, the optimiser, the evaluation on held-out
questions. Every draw comes from --seed; floating point differs between machines, so a second run gives a model that passes the
same evaluation, not the same bytes."""
import argparse
import json
import math
import pathlib
import subprocess
import time

import torch
from torch.nn import functional as F

import gguf_file
from bpe import SPECIAL, Bpe, learn_merges
from check_data import lang_of
from dialogues import Dialogues, prompt_ids, render
from network import Network, Shape

HERE = pathlib.Path(__file__).resolve().parent
NOTE = {
    'general.description': 'Answers questions about LLM inference and about Ridge, in English and Chinese; it knows nothing else.',
    'ridge.training.data': 'tools/builtin_model/data (text written for the Ridge project)',
    'ridge.training.script': 'tools/builtin_model/train.py',
}
BATCH_TOKENS = 2048  # padded; on two cores a step of this size is no slower a token than a larger one, and there are more of them
POOL = 40            # batches drawn at once and sorted by length, so that little is padding
WARMUP = 60
# Several times faster than f32 where the CPU multiplies bf16; elsewhere slower.
FAST_BF16 = 'avx512_bf16' in pathlib.Path('/proc/cpuinfo').read_text()
# First whole conversations are learned, then which question leads to which answer: many questions, with words left out. That alone
# makes it forget what belongs to "why?", so at last both are mixed.
PHASES = {'learn': {'peak': 3e-3, 'lossy': 0.15, 'short': 0.0, 'dropout': 0.05},
          'tune': {'peak': 1.5e-3, 'lossy': 0.6, 'short': 0.85, 'dropout': 0.12},
          'settle': {'peak': 1e-3, 'lossy': 0.4, 'short': 0.4, 'dropout': 0.08}}


def batches(dialogues, bpe, rng):
    """Endless (ids, targets, weights), each [rows, length] with at most about BATCH_TOKENS entries."""
    while True:
        rows, n_tokens = [], 0
        while n_tokens < POOL * BATCH_TOKENS:
            rows.append(render(bpe, *dialogues.draw()))
            n_tokens += len(rows[-1][0])
        rows.sort(key=lambda row: len(row[0]))
        groups, group = [], []
        for row in rows:
            if group and (len(group) + 1) * len(row[0]) > BATCH_TOKENS:
                groups.append(group)
                group = []
            group.append(row)
        groups.append(group)
        rng.shuffle(groups)
        for group in groups:
            longest = max(len(ids) for ids, _ in group)
            ids = torch.zeros(len(group), longest, dtype=torch.long)
            weights = torch.zeros(len(group), longest)
            for i, (row, weight) in enumerate(group):
                ids[i, :len(row)] = torch.tensor(row)
                weights[i, :len(row)] = torch.tensor(weight)
            yield ids[:, :-1], ids[:, 1:], weights[:, 1:]


def rate(peak, step, n_steps):
    if step < WARMUP:
        return peak * (step + 1) / WARMUP
    x = (step - WARMUP) / max(1, n_steps - WARMUP)
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * x)))


def loss_of(network, ids, targets, weights, dropout):
    chosen = weights > 0
    with torch.autocast('cpu', dtype=torch.bfloat16, enabled=FAST_BF16):
        logits = network.logits(network.hidden(ids, dropout)[chosen])
    losses = F.cross_entropy(logits.float(), targets[chosen], reduction='none')
    w = weights[chosen]
    answers = losses[w >= 1].mean()
    return (losses * w).sum() / w.sum(), answers


@torch.no_grad()
def answers(network, bpe, prompts, n_max=160):
    """The greedy continuation of each prompt, up to the end token. Prompts of one length are computed together."""
    network.eval()
    end, out = bpe.id['<|im_end|>'], {}
    for length in sorted({len(p) for p in prompts}):
        index = [i for i, p in enumerate(prompts) if len(p) == length]
        ids = torch.tensor([prompts[i] for i in index])
        alive = list(range(len(index)))
        for _ in range(n_max):
            with torch.autocast('cpu', dtype=torch.bfloat16, enabled=FAST_BF16):
                nxt = network.logits(network.hidden(ids)[:, -1]).argmax(-1)
            ids = torch.cat((ids, nxt[:, None]), 1)
            if bool((ids[:, length:] == end).any(1).all()):
                break
        for row in alive:
            tail = ids[row, length:].tolist()
            out[index[row]] = bpe.decode(tail[:tail.index(end)] if end in tail else tail)
    network.train()
    return [out[i] for i in range(len(prompts))]


def evaluate(network, bpe, dialogues, n=None):
    """(share right, misses) on held-out questions: right when the answer holds the concept's key phrase."""
    held = dialogues.heldout[:n] if n else dialogues.heldout
    texts = answers(network, bpe, [prompt_ids(bpe, [], question) for _, question in held])
    misses = []
    for (ident, question), text in zip(held, texts):
        if dialogues.by_id[ident].key[lang_of(question)].casefold() not in text.casefold():
            misses.append((ident, question, text))
    return 1 - len(misses) / len(held), misses


def check_tokeniser(program, model, bpe, texts):
    lines = '\n'.join(json.dumps(t, ensure_ascii=False) for t in texts) + '\n'
    ran = subprocess.run([program, 'tokenize', '-m', str(model), '--jsonl'], input=lines, capture_output=True, text=True, check=True)
    theirs = [json.loads(line)['ids'] for line in ran.stdout.splitlines()]
    wrong = [t for t, ids in zip(texts, theirs) if ids != bpe.encode(t)]
    if len(theirs) != len(texts) or wrong:
        raise ValueError(f'{len(wrong)} of {len(texts)} texts are tokenised differently by {program}; first: {wrong[:1]}')
    print(f'tokeniser: {len(texts)} texts, the same ids as {program}', flush=True)


def write_files(out, network, bpe):
    tensors = {name: p.detach().numpy() for name, p in network.named_parameters()}
    gguf_file.write(out / 'builtin.gguf', network.shape, bpe, tensors, gguf_file.Q8_0, NOTE)
    gguf_file.write(out / 'builtin-f32.gguf', network.shape, bpe, tensors, gguf_file.F32, NOTE)


def train(phase, n_steps, dialogues, bpe, network, log):
    settings = PHASES[phase]
    dialogues.lossy_share, dialogues.short_share = settings['lossy'], settings['short']
    matrices = [p for p in network.parameters() if p.dim() == 2]
    vectors = [p for p in network.parameters() if p.dim() != 2]
    optimiser = torch.optim.AdamW([{'params': matrices, 'weight_decay': 0.05}, {'params': vectors, 'weight_decay': 0.0}],
                                  lr=settings['peak'], betas=(0.9, 0.98), eps=1e-9)
    started, n_tokens, mean = time.monotonic(), 0, None
    source = batches(dialogues, bpe, dialogues.rng)
    for step in range(n_steps):
        ids, targets, weights = next(source)
        for group in optimiser.param_groups:
            group['lr'] = rate(settings['peak'], step, n_steps)
        loss, on_answers = loss_of(network, ids, targets, weights, settings['dropout'])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        n_tokens += ids.numel()
        mean = on_answers.item() if mean is None else 0.98 * mean + 0.02 * on_answers.item()
        if step % 50 == 49 or step + 1 == n_steps:
            row = {'phase': phase, 'step': step + 1, 'loss_answers': round(mean, 4), 'tokens': n_tokens, 'elapsed_s': round(time.monotonic() - started, 1)}
            if (step + 1) % 400 == 0 and step + 1 < n_steps:
                row['heldout_100'] = round(evaluate(network, bpe, dialogues, 100)[0], 3)
            log.write(json.dumps(row) + '\n')
            log.flush()
            print(row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--steps', type=int, default=1400)
    parser.add_argument('--tune-steps', type=int, default=2600)
    parser.add_argument('--settle-steps', type=int, default=500)
    parser.add_argument('--start', type=pathlib.Path)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--out', type=pathlib.Path, default=HERE.parent.parent / 'build' / 'builtin_model')
    parser.add_argument('--ridge')
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    dialogues = Dialogues(HERE / 'data', args.seed)
    shape = Shape()
    earlier = torch.load(args.start) if args.start else None
    bpe = Bpe(earlier['merges'] if earlier else learn_merges(dialogues.texts(), shape.n_vocab - 256 - len(SPECIAL)))
    network = Network(shape)
    print(f'{sum(p.numel() for p in network.parameters()):,} parameters, {shape.n_vocab} tokens, seed {args.seed}', flush=True)
    if args.ridge:
        write_files(args.out, network, bpe)
        check_tokeniser(args.ridge, args.out / 'builtin.gguf', bpe, sorted({text for text, _ in dialogues.texts()}))
    with open(args.out / 'log.jsonl', 'w', encoding='utf-8') as log:
        if earlier:
            network.load_state_dict(earlier['state'])
        else:
            train('learn', args.steps, dialogues, bpe, network, log)
        train('tune', args.tune_steps, dialogues, bpe, network, log)
        train('settle', args.settle_steps, dialogues, bpe, network, log)
        write_files(args.out, network, bpe)
        torch.save({'merges': bpe.merges, 'state': network.state_dict()}, args.out / 'weights.pt')
        share, misses = evaluate(network, bpe, dialogues)
        log.write(json.dumps({'heldout': round(share, 4), 'questions': len(dialogues.heldout)}) + '\n')
    for ident, question, text in misses:
        print(f'missed {ident}: {question}\n    {text}')
    print(f'held-out questions: {share:.1%} of {len(dialogues.heldout)} right')
    print(f'wrote {args.out}/builtin.gguf, {(args.out / "builtin.gguf").stat().st_size:,} bytes')


if __name__ == '__main__':
    main()
