"""Models for the tests of dispatch: the shapes of models that people have, written small. Imported only if torch is
installed."""

import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Chain(nn.Module):
    """Layers in a list, a module before and one after them, and a weight of the model itself."""

    def __init__(self, width=32, layers=6):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.rand(width))
        self.layers = nn.ModuleList([Block(width) for _ in range(layers)])
        self.last = nn.Linear(width, width)

    def forward(self, x):
        x = self.first(x) * self.scale
        for layer in self.layers:
            x = layer(x)
        return self.last(x)


class Cache:
    """Keys and values of all layers in one object, as generate passes it from call to call."""

    def __init__(self):
        self.keys, self.values = [], []

    def update(self, layer, key, value):
        if layer == len(self.keys):
            self.keys.append(key)
            self.values.append(value)
        else:
            self.keys[layer] = torch.cat([self.keys[layer], key], 1)
            self.values[layer] = torch.cat([self.values[layer], value], 1)
        return self.keys[layer], self.values[layer]

    def length(self):
        return self.keys[0].shape[1] if self.keys else 0


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    cache: object = None


class Attention(nn.Module):
    def __init__(self, width, number):
        super().__init__()
        self.number = number
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, cache=None, mask=None, over=None):
        query = self.query(x)
        key, value = self.key(x if over is None else over), self.value(x if over is None else over)
        if cache is not None:
            key, value = cache.update(self.number, key, value)
        scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores + mask
        return self.out(torch.softmax(scores, -1) @ value)


class DecoderLayer(nn.Module):
    def __init__(self, width, number, feed_forward=None):
        super().__init__()
        self.attention = Attention(width, number)
        self.norm = nn.LayerNorm(width)
        self.feed_forward = feed_forward or Block(width)

    def forward(self, x, cache=None, mask=None, positions=None):
        x = x + self.attention(self.norm(x) + positions[0], cache=cache, mask=mask)
        return (self.feed_forward(x),)


class Decoder(nn.Module):
    """A language model with a cache; the output layer reads the embedding's weight if `tied`."""

    def __init__(self, width=32, layers=5, words=50, tied=False, feed_forward=None):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList([DecoderLayer(width, i, feed_forward() if feed_forward else None)
                                     for i in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        if tied:
            self.head.weight = self.embed.weight
        self.register_buffer("table", torch.randn(64, width))

    def forward(self, ids, cache=None):
        past = 0 if cache is None else cache.length()
        length = ids.shape[1]
        x = self.embed(ids)
        positions = (self.table[past:past + length],)
        here = torch.arange(past, past + length, device=x.device)[:, None]
        mask = torch.where(torch.arange(past + length, device=x.device)[None] > here, -1e9, 0.0)
        for layer in self.layers:
            x, = layer(x, cache=cache, mask=mask, positions=positions)
        return Output(self.head(self.norm(x)), cache)


def generate(model, ids, count):
    """Greedy: a prefill, then token by token with the cache. Returns the tokens and the logits of every call."""
    cache, made, logits = Cache(), ids, []
    with torch.no_grad():
        for i in range(count):
            out = model(made if i == 0 else made[:, -1:], cache=cache)
            logits.append(out.logits)
            made = torch.cat([made, out.logits[:, -1:].argmax(-1)], 1)
    return made, logits


class Experts(nn.Module):
    """The two best of several experts for each token, by a router."""

    def __init__(self, width=32, count=4):
        super().__init__()
        self.router = nn.Linear(width, count)
        self.experts = nn.ModuleList([Block(width) for _ in range(count)])

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights, chosen = torch.topk(torch.softmax(self.router(flat), -1), 2)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows, place = torch.where(chosen == i)
            if len(rows):
                out.index_add_(0, rows, expert(flat[rows]) * weights[rows, place][:, None])
        return out.reshape(x.shape)


class EncoderDecoder(nn.Module):
    def __init__(self, width=32, layers=3):
        super().__init__()
        self.encoder = nn.ModuleList([Block(width) for _ in range(layers)])
        self.decoder = nn.ModuleList([Attention(width, i) for i in range(layers)])
        self.last = nn.Linear(width, width)

    def forward(self, source, target, scale=None):
        for layer in self.encoder:
            source = layer(source)
        states = {"encoded": source, "length": source.shape[1]}
        for layer in self.decoder:
            target = target + layer(target, over=states["encoded"])
        return {"out": self.last(target) * (1 if scale is None else scale), "encoded": (source,)}


class TiedByHand(nn.Module):
    """Reads the embedding's weight while the embedding is not running."""

    def __init__(self, width=32, words=40):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList([Block(width) for _ in range(4)])

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return F.linear(x, self.embed.weight)


class Shared(nn.Module):
    """One layer that is called again and again, between others."""

    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.ModuleList([Block(width) for _ in range(3)])
        self.common = Block(width)

    def forward(self, x):
        for layer in self.layers:
            x = self.common(layer(x))
        return self.common(x)


class TwoParents(nn.Module):
    """One module below several parents: in every layer, and in the model `before` or after them."""

    class Layer(nn.Module):
        def __init__(self, width, common):
            super().__init__()
            self.linear = nn.Linear(width, width)
            self.common = common

        def forward(self, x):
            return x + self.common(self.linear(x))

    def __init__(self, width=32, before=False, after=False):
        super().__init__()
        common = Block(width)
        self.first = common if before else nn.Linear(width, width)
        self.layers = nn.ModuleList([self.Layer(width, common) for _ in range(3)])
        self.last = common if after else nn.Linear(width, width)

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return self.last(x)


class Conv(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.stages = nn.Sequential(*[nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels),
                                                    nn.ReLU(inplace=True)) for _ in range(4)])
        self.fc = nn.Linear(channels, 10)

    def forward(self, x):
        return self.fc(self.stages(self.stem(x)).mean((2, 3)))


class AddsInPlace(nn.Module):
    """Changes its input, and returns it."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x, seen):
        x.add_(self.linear(x).tanh())
        seen.append(x.sum())
        return x


class InPlace(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.ModuleList([AddsInPlace(width) for _ in range(4)])

    def forward(self, x):
        x, seen = x + 1, []
        for layer in self.layers:
            layer(x, seen)  # what it returns is not used
        return x, torch.stack(seen)


class Counts(nn.Module):
    """Changes a buffer in place and replaces another."""

    def __init__(self, width=32):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, x):
        self.calls += 1
        x = self.linear(x)
        self.mean = 0.5 * self.mean + x.mean(0)
        return x + self.mean


class Stateful(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(*[Counts(width) for _ in range(4)])

    def forward(self, x):
        return self.layers(x)


class Recurrent(nn.Module):
    """A module of torch that holds its weights in a list as well."""

    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.ModuleList([nn.LSTM(width, width, batch_first=True) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x, _ = layer(x)
        return x


class PackedExperts(nn.Module):
    """The experts of a router in two tensors, taken one by one."""

    def __init__(self, width=32, count=4):
        super().__init__()
        self.router = nn.Linear(width, count)
        self.up = nn.Parameter(torch.randn(count, 2 * width, width) / width)
        self.down = nn.Parameter(torch.randn(count, width, 2 * width) / width)

    def forward(self, x):
        if self.whole:
            return self.grouped(x)
        flat = x.reshape(-1, x.shape[-1])
        weights, chosen = torch.topk(torch.softmax(self.router(flat), -1), 2)
        out = torch.zeros_like(flat)
        for expert in torch.unique(chosen):
            rows, place = torch.where(chosen == expert)
            inner = F.silu(F.linear(flat[rows], self.up[expert]))
            made = F.linear(inner, self.down[expert]) * weights[rows, place][:, None]
            out.index_add_(0, rows, made)
        return out.reshape(x.shape)

    whole = False

    def grouped(self, x):
        """The same, as one product of all experts."""
        flat = x.reshape(-1, x.shape[-1])
        weights, chosen = torch.topk(torch.softmax(self.router(flat), -1), 2)
        share = torch.zeros(len(flat), len(self.up), device=x.device).scatter(1, chosen, weights)
        inner = F.silu(torch.einsum("rw,eiw->eri", flat, self.up))
        return torch.einsum("eri,ewi,re->rw", inner, self.down, share).reshape(x.shape)


class GroupedExperts(PackedExperts):
    whole = True
