#!/usr/bin/env python3
"""A transformer's decoder, captured, measured, planned and run on the planned devices.

    python3 examples/03_pytorch/transformer.py --devices cpu,cuda:0 --json result.json

Prints the measured time of one pass under the plan beside all on each single device, and fails if the
outputs are not those of the model.
"""

import argparse
import copy
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import tutti  # noqa: E402: from this checkout

try:
    import torch
except ImportError:
    print("transformer.py needs torch: apt-get install python3-torch, or pip install torch", file=sys.stderr)
    sys.exit(77)
from torch import nn  # noqa: E402

from tutti.measuring import seconds_of  # noqa: E402

TOLERANCE = 1e-4


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.value = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x, mask):
        batch, length, hidden = x.shape

        def split(y):  # a head at a time
            return y.view(batch, length, self.heads, hidden // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = query @ key.transpose(-2, -1) / (hidden // self.heads) ** 0.5 + mask
        mixed = torch.softmax(scores, -1) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, length, hidden))


class Block(nn.Module):
    """Attention and a gated feed-forward layer, each behind a norm and beside a residual."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.norm_attention = nn.LayerNorm(hidden)
        self.attention = Attention(hidden, heads)
        self.norm_feed = nn.LayerNorm(hidden)
        self.gate = nn.Linear(hidden, 4 * hidden, bias=False)
        self.up = nn.Linear(hidden, 4 * hidden, bias=False)
        self.down = nn.Linear(4 * hidden, hidden, bias=False)

    def forward(self, x, mask):
        x = x + self.attention(self.norm_attention(x), mask)
        y = self.norm_feed(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, vocabulary, hidden, heads, blocks):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, vocabulary, bias=False)

    def forward(self, tokens, mask):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def name_of(device, taken):
    """cuda:0 is gpu0; a second cpu is cpu1."""
    name = device.replace("cuda:", "gpu").replace("cuda", "gpu0")
    return name if name not in taken else f"{name}{len(taken)}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = "cpu,cuda:0" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--devices", default=default, help="torch devices, with commas between (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=1000)
    parser.add_argument("--policy", default="auto")
    parser.add_argument("--evaluations", type=int, default=2000, help="simulated runs the planner may spend")
    parser.add_argument("--least-gain", type=float, default=0.05,
                        help="share that several devices must gain over the best one (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--quiet", action="store_true", help="print nothing that differs from run to run")
    return parser.parse_args()


def alone(model, inputs, device):
    """The model on one device: inputs from the CPU, outputs back to it, as the plan has them."""
    here = copy.deepcopy(model).to(device)
    return lambda: here(*(tensor.to(device) for tensor in inputs)).to("cpu")


def main():
    arguments = parse()
    torch.manual_seed(1)
    model = Decoder(arguments.vocabulary, arguments.hidden, arguments.heads, arguments.blocks).eval()
    tokens = torch.randint(arguments.vocabulary, (arguments.batch, arguments.sequence))
    mask = torch.full((arguments.sequence, arguments.sequence), float("-inf")).triu(1)
    inputs = (tokens, mask)
    devices = {}
    for device in arguments.devices.split(","):
        devices[name_of(device, devices)] = device

    graph = tutti.measure(model, inputs, devices, name="decoder", repeats=arguments.repeats)
    searches = arguments.policy == "auto"
    plan = tutti.plan(graph, policy=arguments.policy, evaluations=arguments.evaluations if searches else None,
                      least_gain=arguments.least_gain if searches else -1e9)
    placed = tutti.apply(model, plan, devices, output_device="cpu")

    with torch.no_grad():
        error = (placed(*inputs) - model(*inputs)).abs().max().item()
        times = {"plan": seconds_of(lambda: placed(*inputs), devices.values(), arguments.repeats)}
        for device in dict.fromkeys(devices.values()):
            times[f"all on {device}"] = seconds_of(alone(model, inputs, device), [device], arguments.repeats)

    ops = {name: sum(placed_on == name for placed_on in plan.placement.values()) for name in devices}
    good = error <= TOLERANCE
    print(f"decoder: {len(plan.placement)} ops, devices {', '.join(devices)}")
    print(f"outputs are those of the model to {TOLERANCE:g}: {'yes' if good else 'NO'}")
    if not arguments.quiet:
        print(f"plan of {plan.policy}: " + ", ".join(f"{count} ops on {name}" for name, count in ops.items()))
        print(f"  simulated {plan.summary['makespan_ns'] / 1e6:.3f} ms; largest difference in outputs {error:.2g}")
        for what, seconds in times.items():
            print(f"  {what:<16} {seconds * 1e3:9.3f} ms measured")
    if arguments.json:
        figures = {"schema_version": 1, "torch": torch.__version__, "devices": devices,
                   "sizes": {key: getattr(arguments, key)
                             for key in ("batch", "sequence", "hidden", "heads", "blocks", "vocabulary")},
                   "ops": len(plan.placement), "policy": plan.policy, "ops_by_device": ops,
                   "simulated_ns": plan.summary["makespan_ns"], "lower_bound_ns": plan.summary["lower_bound_ns"],
                   "single_device_simulated_ns": plan.summary["single_device_ns"],
                   "measured_s": times, "largest_error": error}
        Path(arguments.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except tutti.TuttiError as failure:
        print(f"transformer.py: {failure}", file=sys.stderr)
        sys.exit(failure.exit_code or 2)
