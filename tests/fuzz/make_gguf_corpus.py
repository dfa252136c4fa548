#!/usr/bin/env python3
"""Writes the seed corpus of gguf_fuzz: small GGUF files, right and wrong, each below 8 KiB.
usage: make_gguf_corpus.py OUTDIR"""
import os
import struct
import sys


def u32(x):
    return struct.pack('<I', x)


def u64(x):
    return struct.pack('<Q', x)


def text(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return u64(len(raw)) + raw


def header(n_tensors, n_keys, version=3):
    return b'GGUF' + u32(version) + u64(n_tensors) + u64(n_keys)


def key(name, type_id, raw):
    return text(name) + u32(type_id) + raw


def array(name, type_id, n, raw):
    return key(name, 9, u32(type_id) + u64(n) + raw)


def tensor(name, dims, type_id=0, offset=0):
    return text(name) + u32(len(dims)) + b''.join(u64(d) for d in dims) + u32(type_id) + u64(offset)


def pad(raw, to=32):
    return raw + b'\0' * (-len(raw) % to)


SCALARS = [('u8', 0, b'\xff'), ('i8', 1, b'\xff'), ('u16', 2, b'\1\2'), ('i16', 3, b'\1\xff'), ('u32', 4, u32(7)),
           ('i32', 5, u32(0xffffffff)), ('f32', 6, struct.pack('<f', 1.5)), ('bool', 7, b'\1'), ('string', 8, text('llama')),
           ('u64', 10, u64(2**63)), ('i64', 11, u64(2**64 - 1)), ('f64', 12, struct.pack('<d', -0.5))]
BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 12: (256, 144), 14: (256, 210), 27: (1, 8), 30: (1, 2), 39: (32, 17)}


def packed_model(types, alignment=None, version=3):
    keys = [key('general.architecture', 8, text('llama')), array('tokenizer.ggml.tokens', 8, 3, text('a') + text('') + text('bc'))]
    a = 32
    if alignment:
        keys.append(key('general.alignment', 4, u32(alignment)))
        a = alignment
    infos, data = b'', b''
    for i, t in enumerate(types):
        elems, size = BLOCKS[t]
        infos += tensor('blk.%d.w' % i, [elems, 2], t, len(data))
        data += pad(bytes(range(256))[:200] * 4, 1)[:size * 2]
        data = pad(data, a)
    return pad(header(len(types), len(keys), version) + b''.join(keys) + infos, a) + data


def corpus():
    scalars = b''.join(key(*s) for s in SCALARS)
    arrays = b''.join(array('a.' + n, t, 2, raw * 2) for n, t, raw in SCALARS)
    one = header(1, 0) + tensor('t', [8])
    yield 'empty', b''
    yield 'magic', b'GGUF'
    yield 'header', header(0, 0)
    yield 'version_1', header(0, 0, 1)
    yield 'version_2', packed_model([0], version=2)
    yield 'big_endian', b'GGUF' + struct.pack('>IQQ', 3, 0, 0)
    yield 'scalars', header(0, len(SCALARS)) + scalars
    yield 'arrays', header(0, len(SCALARS)) + arrays
    yield 'empty_arrays', header(0, 13) + b''.join(array('e%d' % t, t, 0, b'') for t in range(13))
    yield 'nested_array', header(0, 1) + array('a', 9, 1, u32(4) + u64(1) + u32(1))
    yield 'many_strings', header(0, 1) + array('a', 8, 300, b''.join(text('t%d' % i) for i in range(300)))
    yield 'model_formats', packed_model(sorted(BLOCKS))
    yield 'model_align_8', packed_model([0, 8, 1], 8)
    yield 'model_align_1', packed_model([0, 8, 1], 1)
    yield 'model_align_256', packed_model([2, 39], 256)
    yield 'model_cut', packed_model([0, 1])[:-5]
    yield 'model_unpadded', pad(header(1, 0) + tensor('t', [3])) + b'\1' * 12
    yield 'model_trailing', packed_model([0]) + b'more'
    yield 'four_dims', pad(header(1, 0) + tensor('t', [2, 2, 2, 2])) + b'\1' * 64
    yield 'gap_and_order', pad(header(2, 0) + tensor('t', [8], 0, 96) + tensor('u', [8])) + b'\1' * 128
    yield 'overlap', pad(header(2, 0) + tensor('t', [16]) + tensor('u', [8], 0, 32)) + b'\0' * 128
    yield 'dup_key', header(0, 2) + key('a', 4, u32(1)) + key('a', 4, u32(2))
    yield 'dup_tensor', pad(header(2, 0) + tensor('t', [8]) + tensor('t', [8], 0, 32)) + b'\0' * 64
    yield 'bad_type', pad(header(1, 0) + tensor('t', [32], 31)) + b'\0' * 128
    yield 'bad_offset', pad(header(1, 0) + tensor('t', [8], 0, 2**63)) + b'\0' * 64
    yield 'zero_dim', pad(header(1, 0) + tensor('t', [4, 0])) + b'\0' * 64
    yield 'split_shard', pad(header(1, 3) + key('split.no', 2, b'\0\0') + key('split.count', 2, b'\2\0') +
                             key('split.tensors.count', 5, u32(2)) + tensor('t', [8])) + b'\1' * 32
    yield 'string_2e63', header(0, 1) + key('a', 8, u64(2**63))
    yield 'array_2e63', header(0, 1) + array('a', 0, 2**63, b'')
    yield 'counts_2e63', header(2**63, 2**62)
    yield 'one_tensor', pad(one) + b'\0' * 32
    yield 'unicode', header(0, 2) + key('\u952e', 8, text('\u503c')) + key('s', 8, text(b'\xff\0\xfe'))


if __name__ == '__main__':
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name, raw in corpus():
        assert len(raw) < 8192, name
        with open(os.path.join(out, name), 'wb') as f:
            f.write(raw)
