#!/usr/bin/env python3
"""A transformer's decoder, captured, measured, planned and run on the planned devices.

    python3 examples/03_pytorch/transformer.py --devices cpu,cuda:0 --json result.json

Plans for all devices together, runs that plan and each device alone in turns, and keeps the fastest: if one
device wins, the plan is that device. Prints the measured times, compared with those of the unplanned model
in torch on each device, and fails if the outputs are not those of the model.
"""

import argparse
import copy
import json
import statistics
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

from tutti.measuring import seconds_in_turn  # noqa: E402

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
    """Attention and a gated feed-forward layer, each after a norm and with a residual connection."""

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
    parser.add_argument("--policy", default="auto", help="plans of other policies than auto are used without comparison")
    parser.add_argument("--evaluations", type=int, default=2000, help="simulated runs the planner may spend")
    parser.add_argument("--least-gain", type=float, default=0.05,
                        help="share that several devices must gain over the best one (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--quiet", action="store_true", help="print nothing that differs from run to run")
    return parser.parse_args()


def alone(model, inputs, device):
    """The model on one device: inputs from the CPU, outputs back to it, as in the plan."""
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
    if arguments.policy == "auto":
        plan = tutti.plan(graph, evaluations=arguments.evaluations, least_gain=arguments.least_gain, measure=True,
                          output_device="cpu", repeats=arguments.repeats)
    else:
        plan = tutti.plan(graph, policy=arguments.policy, least_gain=-1e9)
    placed = tutti.apply(model, plan, devices, output_device="cpu")

    with torch.no_grad():
        error = (placed(*inputs) - model(*inputs)).abs().max().item()
        works = {"the plan": lambda: placed(*inputs)}
        for device in dict.fromkeys(devices.values()):
            works[f"torch on {device}"] = alone(model, inputs, device)
        times = dict(zip(works, seconds_in_turn(list(works.values()), set(devices.values()), arguments.repeats)))

    good = error <= TOLERANCE
    print(f"decoder: {len(plan.placement)} ops, devices {', '.join(devices)}")
    print(f"outputs are those of the model to {TOLERANCE:g}: {'yes' if good else 'NO'}")
    if not arguments.quiet:
        show(plan, devices, times, error)
    if arguments.json:
        sizes = {key: getattr(arguments, key) for key in ("batch", "sequence", "hidden", "heads", "blocks", "vocabulary")}
        figures = {"schema_version": 2, "torch": torch.__version__, "devices": devices, "sizes": sizes,
                   "ops": len(plan.placement), "policy": plan.policy, "one_device": plan.one_device(),
                   "ops_by_device": ops_by_device(plan, devices), "simulated_ns": plan.summary["makespan_ns"],
                   "lower_bound_ns": plan.summary["lower_bound_ns"],
                   "single_device_simulated_ns": plan.summary["single_device_ns"],
                   "compared": plan.measured, "measured_s": {what: spread(taken) for what, taken in times.items()},
                   "repeats": arguments.repeats, "largest_error": error, "tolerance": TOLERANCE}
        Path(arguments.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0 if good else 1


def spread(times):
    return {"median": statistics.median(times), "least": min(times), "most": max(times)}


def ops_by_device(plan, devices):
    placed = list(plan.placement.values())
    return {name: placed.count(name) for name in devices}


def show(plan, devices, times, error):
    """Prints what was compared, what was chosen, and the resulting times."""
    if plan.measured:
        print(f"measured in turn, {plan.measured['repeats']} times each:")
        for row in plan.measured["candidates"]:
            if "error" in row:
                print(f"  {row['name']:<16} cannot run: {row['error']}")
                continue
            where = ", ".join(f"{count} on {name}" for name, count in row["ops_by_device"].items() if count)
            print(f"  {row['name']:<16} {row['median_s'] * 1e3:9.3f} ms ({row['least_s'] * 1e3:.3f} to "
                  f"{row['most_s'] * 1e3:.3f}), simulated {row['simulated_ns'] / 1e6:.3f} ms; ops: {where}")
    if plan.one_device() is not None and len(devices) > 1:
        print(f"one device wins: the plan is that one device, {plan.one_device()}")
    else:
        print(f"the plan is that of {plan.policy}: " +
              ", ".join(f"{count} ops on {name}" for name, count in ops_by_device(plan, devices).items()))
    for what, taken in times.items():
        figures = spread(taken)
        print(f"  {what:<16} {figures['median'] * 1e3:9.3f} ms ({figures['least'] * 1e3:.3f} to {figures['most'] * 1e3:.3f})")
    print(f"  largest difference in outputs {error:.2g}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except tutti.TuttiError as failure:
        print(f"transformer.py: {failure}", file=sys.stderr)
        sys.exit(failure.exit_code or 2)
