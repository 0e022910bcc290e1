"""Small models that the tests share. Imported only if torch is installed."""

import torch
from torch import nn


class Mlp(nn.Module):
    """Two layers and the ops between them."""

    def __init__(self, width=8):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Everything(nn.Module):
    """Cases that are hard to capture: sizes, views, unpacking, several outputs, weights without a module, a
    module that is used twice, a factory, arguments with defaults, outputs in a dict."""

    def __init__(self, width=8):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.5)
        self.mix = nn.Parameter(torch.randn(width, width))
        self.register_buffer("shift", torch.ones(width))

    def forward(self, x, mask=None, scale=3):
        rows, width = x.shape
        y = self.linear(x) * scale
        if mask is not None:
            y = y + mask
        left, right = y.chunk(2, -1)
        joined = left.reshape(rows, -1) + right
        mixed = self.norm(self.drop(x)) @ self.mix.t() + self.shift
        places = torch.arange(rows, device=x.device).float()
        best, index = torch.topk(mixed, 2)
        return joined, mixed.sum(), {"places": places * 2, "best": best, "index": index}, self.linear(mixed)


class InPlace(nn.Module):
    def forward(self, x):
        y = x + 1
        y.add_(1)
        return y * 2


class Branches(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1
