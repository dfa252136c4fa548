"""Writes the trained network as GGUF version 3: F32, F16 or Q8_0 matrices, F32 norms. Refuses: reading."""
import struct

import numpy as np

ALIGNMENT = 32
F32, F16, Q8_0 = 0, 1, 8  # ggml's type numbers
FILE_TYPE = {F32: 0, F16: 1, Q8_0: 7}
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def text(s):
    raw = s.encode('utf-8')
    return struct.pack('<Q', len(raw)) + raw


def value(v):
    """A metadata value with its type: bool, int (u32), float (f32), str, list of str or of int (i32)."""
    if isinstance(v, bool):
        return struct.pack('<I?', 7, v)
    if isinstance(v, int):
        return struct.pack('<II', 4, v)
    if isinstance(v, float):
        return struct.pack('<If', 6, v)
    if isinstance(v, str):
        return struct.pack('<I', 8) + text(v)
    if isinstance(v[0], str):
        return struct.pack('<IIQ', 9, 8, len(v)) + b''.join(text(s) for s in v)
    return struct.pack('<IIQ', 9, 5, len(v)) + struct.pack(f'<{len(v)}i', *v)


def q8_0(array):
    """Blocks of 32: an f16 scale (the largest magnitude over 127), then 32 signed bytes."""
    blocks = array.astype(np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(1, keepdims=True) / np.float32(127)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    x = blocks * inverse
    quants = (np.sign(x) * np.floor(np.abs(x) + np.float32(0.5))).astype(np.int8)  # halves away from zero, as the format's reference
    return np.concatenate((scale.astype(np.float16).view(np.int8).reshape(-1, 2), quants), 1).tobytes()


def encoded(array, dtype):
    if dtype == Q8_0:
        return q8_0(array)
    return array.astype(np.float16 if dtype == F16 else np.float32).tobytes()


def metadata(shape, bpe, dtype, note):
    n = len(bpe.tokens)
    control = {bpe.id[t] for t in ('<|endoftext|>', '<|im_start|>', '<|im_end|>')}
    return {
        'general.architecture': 'qwen3', 'general.type': 'model', 'general.name': 'Ridge built-in', 'general.author': 'Ridge',
        'general.license': 'apache-2.0', 'general.languages': ['en', 'zh'], **note, 'general.file_type': FILE_TYPE[dtype],
        'general.quantization_version': 2, 'qwen3.context_length': shape.n_ctx, 'qwen3.embedding_length': shape.n_embd,
        'qwen3.block_count': shape.n_layer, 'qwen3.feed_forward_length': shape.n_ff, 'qwen3.attention.head_count': shape.n_head,
        'qwen3.attention.head_count_kv': shape.n_head_kv, 'qwen3.attention.key_length': shape.d_head,
        'qwen3.attention.value_length': shape.d_head, 'qwen3.attention.layer_norm_rms_epsilon': shape.norm_eps,
        'qwen3.rope.freq_base': shape.rope_base, 'qwen3.vocab_size': n, 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'qwen2',
        'tokenizer.ggml.tokens': bpe.tokens, 'tokenizer.ggml.token_type': [3 if i in control else 1 for i in range(n)],
        'tokenizer.ggml.merges': [f'{a} {b}' for a, b in bpe.merges], 'tokenizer.ggml.eos_token_id': bpe.id['<|im_end|>'],
        'tokenizer.ggml.padding_token_id': bpe.id['<|endoftext|>'], 'tokenizer.ggml.add_bos_token': False,
        'tokenizer.chat_template': TEMPLATE,
    }


def write(path, shape, bpe, tensors, dtype, note):
    """tensors: name -> numpy array; matrices become dtype."""
    pairs = metadata(shape, bpe, dtype, note)
    infos, blobs, offset = [], [], 0
    for name, array in tensors.items():
        kind = dtype if array.ndim == 2 else F32
        blob = encoded(array, kind)
        infos.append(text(name) + struct.pack(f'<I{array.ndim}QIQ', array.ndim, *reversed(array.shape), kind, offset))
        blobs.append(blob + b'\0' * (-len(blob) % ALIGNMENT))
        offset += len(blobs[-1])
    head = struct.pack('<4sIQQ', b'GGUF', 3, len(tensors), len(pairs))
    head += b''.join(text(k) + value(v) for k, v in pairs.items()) + b''.join(infos)
    head += b'\0' * (-len(head) % ALIGNMENT)
    with open(path, 'wb') as f:
        f.write(head)
        f.writelines(blobs)
