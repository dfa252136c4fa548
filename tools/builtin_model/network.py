"""The network of the built-in model in PyTorch: the qwen3 architecture (grouped-query attention with q and k norms, RoPE, SwiGLU,
tied head), small. Tensor names and shapes are those of the GGUF that it becomes."""
import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Shape:
    """Every width is a multiple of 256, so that each weight format of GGUF fits."""
    n_vocab: int = 3072
    n_ctx: int = 512
    n_embd: int = 256
    n_layer: int = 4
    n_head: int = 4
    n_head_kv: int = 2
    d_head: int = 64
    n_ff: int = 512
    rope_base: float = 10000.0
    norm_eps: float = 1e-6


class RmsNorm(nn.Module):
    def __init__(self, n, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(n)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotated(x, cos, sin):
    """RoPE over halves (NEOX order); x [batch, head, position, d]."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Layer(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.attn_norm, self.ffn_norm = RmsNorm(s.n_embd, s.norm_eps), RmsNorm(s.n_embd, s.norm_eps)
        self.attn_q = nn.Linear(s.n_embd, s.n_head * s.d_head, bias=False)
        self.attn_k = nn.Linear(s.n_embd, s.n_head_kv * s.d_head, bias=False)
        self.attn_v = nn.Linear(s.n_embd, s.n_head_kv * s.d_head, bias=False)
        self.attn_output = nn.Linear(s.n_head * s.d_head, s.n_embd, bias=False)
        self.attn_q_norm, self.attn_k_norm = RmsNorm(s.d_head, s.norm_eps), RmsNorm(s.d_head, s.norm_eps)
        self.ffn_gate = nn.Linear(s.n_embd, s.n_ff, bias=False)
        self.ffn_up = nn.Linear(s.n_embd, s.n_ff, bias=False)
        self.ffn_down = nn.Linear(s.n_ff, s.n_embd, bias=False)

    def attention(self, x, cos, sin, mask):
        s, (n_batch, n, _) = self.s, x.shape
        q = self.attn_q_norm(self.attn_q(x).view(n_batch, n, s.n_head, s.d_head)).transpose(1, 2)
        k = self.attn_k_norm(self.attn_k(x).view(n_batch, n, s.n_head_kv, s.d_head)).transpose(1, 2)
        v = self.attn_v(x).view(n_batch, n, s.n_head_kv, s.d_head).transpose(1, 2)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        group = s.n_head // s.n_head_kv
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(s.d_head) + mask
        return self.attn_output((scores.softmax(-1) @ v).transpose(1, 2).reshape(n_batch, n, -1))

    def forward(self, x, cos, sin, mask):
        x = x + self.attention(self.attn_norm(x), cos, sin, mask)
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Network(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = s = shape
        self.token_embd = nn.Embedding(s.n_vocab, s.n_embd)
        self.blk = nn.ModuleList(Layer(s) for _ in range(s.n_layer))
        self.output_norm = RmsNorm(s.n_embd, s.norm_eps)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                small = name.endswith(('attn_output.weight', 'ffn_down.weight'))
                nn.init.normal_(parameter, std=0.02 if 'embd' in name else (s.n_embd ** -0.5) / (math.sqrt(2 * s.n_layer) if small else 1))
        angle = torch.arange(s.n_ctx).float()[:, None] / s.rope_base ** (torch.arange(0, s.d_head, 2).float() / s.d_head)
        self.register_buffer('cos', angle.cos(), persistent=False)
        self.register_buffer('sin', angle.sin(), persistent=False)
        self.register_buffer('mask', torch.full((s.n_ctx, s.n_ctx), float('-inf')).triu(1), persistent=False)

    def hidden(self, ids, dropout=0.0):
        """ids [batch, position] -> [batch, position, n_embd] after the last norm."""
        n = ids.shape[1]
        x = F.dropout(self.token_embd(ids), dropout, self.training)
        for layer in self.blk:
            x = layer(x, self.cos[:n], self.sin[:n], self.mask[:n, :n])
        return self.output_norm(x)

    def logits(self, hidden):
        return hidden @ self.token_embd.weight.T
