#!/usr/bin/env python3
"""Measures models that are larger than the GPU memory they may use: tutti.dispatch against accelerate, the cores alone,
streaming alone, "first n layers on the GPU, rest on the cores", and fixed interleavings. Needs a CUDA device and
transformers; accelerate for its row.

    bench/offload.py --layers 16 --caps 0.25,0.4,0.6 --json result.json
    bench/offload.py --model experts --caps 0.4 --skew 1.0

Every row gets the same cap for weights and buffers. Times are medians with the 10th and 90th percentile: of passes for
a prefill, of tokens for a decode by generate(). Logits are compared with those of the plain model under teacher forcing.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

FIXED = ("s", "sc", "ssc", "scc", "csscs", "c")
SLOW_S = 0.4  # longer passes are repeated less often


def stop(sentence):
    print(f"bench/offload.py: {sentence}", file=sys.stderr)
    sys.exit(77)


def needed():
    try:
        import torch
    except ImportError:
        stop("skipped: it needs torch")
    if not torch.cuda.is_available():
        stop("skipped: torch finds no CUDA device; run it on a machine with one")
    try:
        import transformers
    except ImportError:
        stop("skipped: it needs transformers; pip install transformers")
    return torch, transformers


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("llama", "experts"), default="llama")
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--inner", type=int, default=None, help="width of the feed-forward part")
    parser.add_argument("--experts", type=int, default=8)
    parser.add_argument("--skew", type=float, default=0.0, help="Zipf exponent of the router; 0 is uniform")
    parser.add_argument("--caps", default="0.25,0.4,0.6", help="shares of the weights, separated by commas")
    parser.add_argument("--prefill", default="512,2048", help="lengths")
    parser.add_argument("--batches", default="1,8", help="of the decode")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--passes", type=int, default=9)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rows", default="plain,accelerate,cores,streaming,first,fixed,dispatch")
    parser.add_argument("--json", help="where to write the result")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class Bench:
    def __init__(self, given):
        self.torch, self.transformers = needed()
        self.given = given
        self.torch.set_num_threads(given.threads)
        self.result = {"schema_version": 1, "options": vars(given), "torch": self.torch.__version__,
                       "transformers": self.transformers.__version__, "gpu": self.torch.cuda.get_device_name(0), "rows": []}

    def config(self):
        given = self.given
        common = {"hidden_size": given.hidden, "num_hidden_layers": given.layers, "num_attention_heads": given.hidden // 128,
                  "num_key_value_heads": given.hidden // 128, "vocab_size": 32000}
        if given.model == "llama":
            return self.transformers.LlamaConfig(intermediate_size=given.inner or 11008, **common)
        return self.transformers.MixtralConfig(intermediate_size=given.inner or 14336, num_local_experts=given.experts,
                                               num_experts_per_tok=2, **common)

    def model(self):
        """The same weights each time: made on the GPU, which is faster, and taken to the host."""
        torch = self.torch
        torch.manual_seed(self.given.seed)
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.bfloat16)
        try:
            with torch.device("cuda"):
                model = self.transformers.AutoModelForCausalLM.from_config(self.config()).eval()
        finally:
            torch.set_default_dtype(before)
        if hasattr(model, "set_experts_implementation"):
            model.set_experts_implementation("eager")  # takes experts one by one; the same for all rows
        self._skew(model)
        model = model.cpu()
        self.clear()
        return model

    def _skew(self, model):
        """A bias of the router towards some experts: rows of its weight are scaled."""
        if self.given.model != "experts" or not self.given.skew:
            return
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2 and parameter.shape[0] == self.given.experts:
                scale = self.torch.arange(1, self.given.experts + 1, device=parameter.device) ** -self.given.skew
                parameter.data.mul_((scale * self.given.experts / scale.sum()).to(parameter.dtype)[:, None])

    def clear(self):
        gc.collect()
        self.torch.cuda.empty_cache()
        self.torch.cuda.reset_peak_memory_stats()

    # -- what is measured ----------------------------------------------------------------------------------------------

    def cells(self):
        torch = self.torch
        generator = torch.Generator().manual_seed(self.given.seed)
        for length in (int(part) for part in self.given.prefill.split(",") if part):
            yield f"prefill {length}", torch.randint(0, 31000, (1, length), generator=generator), 0
        for batch in (int(part) for part in self.given.batches.split(",") if part):
            yield f"decode batch {batch}", torch.randint(0, 31000, (batch, 32), generator=generator), self.given.tokens

    def seconds(self, work):
        self.torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        self.torch.cuda.synchronize()
        return time.perf_counter() - begin

    def prefill(self, model, ids):
        def work():
            model(input_ids=ids, use_cache=False)
        self.seconds(work)
        first = self.seconds(work)
        count = 3 if first > SLOW_S else self.given.passes
        return [first] + [self.seconds(work) for _ in range(count - 1)]

    def decode(self, model, ids, tokens):
        """Seconds per token, of the tokens of three generations, without their prefill."""
        stamps = []

        class Clock(self.transformers.LogitsProcessor):
            def __call__(clock, _, scores):
                self.torch.cuda.synchronize()
                stamps.append(time.perf_counter())
                return scores

        def generate(count):
            stamps.clear()
            model.generate(ids, max_new_tokens=count, min_new_tokens=count, do_sample=False, pad_token_id=0,
                           logits_processor=self.transformers.LogitsProcessorList([Clock()]))
            return [after - before for before, after in zip(stamps, stamps[1:])]
        warm = generate(4)
        slow = statistics.median(warm) > SLOW_S
        return [seconds for _ in range(1 if slow else 3) for seconds in generate(17 if slow else tokens + 1)]

    def logits(self, model, ids):
        """A prefill and, with the cache, 8 tokens that are given: teacher forcing."""
        given = self.torch.randint(0, 31000, (ids.shape[0], 8), generator=self.torch.Generator().manual_seed(2))
        made, cache = [], None
        for part in [ids[:, :32]] + [given[:, i:i + 1] for i in range(8)]:
            out = model(input_ids=part.to(ids.device), past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            made.append(out.logits[:, -1].float().cpu())
        return self.torch.cat(made, 1)

    def measure(self, row, cap, model, cell_names=None, device="cpu"):
        for name, ids, tokens in self.cells():
            if cell_names is not None and name not in cell_names:
                continue
            ids = ids.to(device)
            try:
                with self.torch.no_grad():
                    self.torch.cuda.reset_peak_memory_stats()
                    times = self.decode(model, ids, tokens) if tokens else self.prefill(model, ids)
                    logits = self.logits(model, ids)
            except (RuntimeError, ValueError) as error:
                self.add({"row": row, "cap": cap, "cell": name, "error": str(error).splitlines()[0]})
                continue
            if row == "plain":
                self.references[name] = logits
            reference = self.references.get(name)
            times = sorted(times)
            self.add({"row": row, "cap": cap, "cell": name, "median_s": statistics.median(times),
                      "low_s": times[len(times) // 10], "high_s": times[(9 * len(times)) // 10], "count": len(times),
                      "peak_bytes": self.torch.cuda.max_memory_allocated(),
                      "relative_l2": None if reference is None else
                      float((logits - reference).norm() / reference.norm())})

    def add(self, row):
        self.result["rows"].append(row)
        shown = f"{row['median_s'] * 1e3:9.2f} ms" if "median_s" in row else row["error"]
        print(f"{row['cap'] or '':>5} {row['cell']:16} {row['row']:14} {shown}", flush=True)
        if self.given.json:
            Path(self.given.json).write_text(json.dumps(self.result, indent=1) + "\n", encoding="utf-8")

    # -- rows ----------------------------------------------------------------------------------------------------------

    def run(self):
        rows = self.given.rows.split(",")
        if "dispatch" not in rows and {"streaming", "first", "fixed"} & set(rows):
            stop("rows streaming, first and fixed use the units of row dispatch; add it to --rows")
        self.references = {}
        model = self.model()
        total = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
        self.result["weight_bytes"] = total
        if "plain" in rows:
            model.to("cuda")
            self.measure("plain", None, model, device="cuda")
            model.to("cpu")
        if "cores" in rows:
            self.measure("cores", None, model)
        for share in (float(part) for part in self.given.caps.split(",")):
            cap = int(share * total)
            for row in ("dispatch", "streaming", "first", "fixed"):
                if row in rows:
                    self.clear()
                    getattr(self, row)(model, share, cap)
            if "accelerate" in rows:
                self.clear()
                self.accelerate(share, cap)

    def passes(self, model):
        """As the cells: every length and batch has its plan."""
        for _, ids, tokens in self.cells():
            if tokens:
                model.generate(ids, max_new_tokens=4, min_new_tokens=4, do_sample=False, pad_token_id=0)
            else:
                model(input_ids=ids, use_cache=False)

    def dispatch(self, model, share, cap):
        import tutti
        tutti.dispatch(model, {0: cap, "cpu": "1TiB"}, passes=self.passes)
        self.plan = model.tutti_plan
        predicted = {mode.name: self.plan.pass_s.get(mode.name) for mode in self.plan.modes}
        self.result.setdefault("predicted_s", {})[str(share)] = predicted
        self.measure("dispatch", share, model)
        tutti.undispatch(model)

    def by_plan(self, row, model, share, cap, where, kept_first):
        """A plan with the units of the dispatched one: kept ones from the first or the last on, `where` for the rest."""
        import tutti
        from tutti.offload.modes import Placement
        from tutti.offload.plan import DispatchPlan
        from tutti.offload.problem import plan_content
        mode = max(self.plan.modes, key=lambda mode: len(mode.ops))
        graph = self.plan.graphs[mode.name]
        sizes = {entry["name"]: entry["bytes"] for entry in graph["inputs"] if entry.get("weight")}
        weights = {op["name"]: [name for name in op["operands"] if name in sizes] for op in graph["ops"]}
        units = [op.unit for op in mode.ops]
        largest = max(sum(sizes[name] for name in weights[op.name]) for op in mode.ops)
        room = cap - (0 if where is None else 2 * largest) - (1 << 20)
        kept = set()
        for unit in units if kept_first else reversed(units):
            need = sum(sizes[name] for name in weights[unit])
            if need > room:
                break
            room -= need
            kept.add(unit)
        rest = [unit for unit in units if unit not in kept]
        devices = {unit: ["gpu0"] for unit in kept}
        for i, unit in enumerate(rest):
            devices[unit] = ["cpu" if where is None or where[i % len(where)] == "c" else "gpu0"]
        held = {name for unit in kept for name in weights[unit]}
        contents = {}
        for each in self.plan.modes:
            placement = Placement(each.name, devices, [], {"gpu0": held}, {} if where is None else {"gpu0": 2 * largest})
            contents[each.name] = plan_content(each, placement, "bench", row, {}, None)
        plan = DispatchPlan(self.plan.modes, contents, self.plan.graphs, glue=self.plan.glue)
        try:
            tutti.dispatch(model, {0: cap, "cpu": "1TiB"}, plan=plan)
        except tutti.TuttiError as error:
            self.add({"row": row, "cap": share, "cell": "all", "error": str(error)})
            return
        self.measure(row, share, model)
        tutti.undispatch(model)

    def streaming(self, model, share, cap):
        self.by_plan("streaming", model, share, cap, "s", kept_first=False)

    def first(self, model, share, cap):
        self.by_plan("first", model, share, cap, None, kept_first=True)

    def fixed(self, model, share, cap):
        for pattern in FIXED:
            self.by_plan(f"fixed {pattern}", model, share, cap, pattern, kept_first=False)

    def accelerate(self, share, cap):
        try:
            from accelerate import dispatch_model, infer_auto_device_map
        except ImportError:
            self.add({"row": "accelerate", "cap": share, "cell": "all", "error": "accelerate is not installed"})
            return
        model = self.model()
        layer = type(next(module for name, module in model.named_modules() if name.endswith("layers.0"))).__name__
        placed = infer_auto_device_map(model, max_memory={0: cap, "cpu": "1TiB"}, no_split_module_classes=[layer])
        self.measure("accelerate", share, dispatch_model(model, device_map=placed, main_device=0), device="cuda")


if __name__ == "__main__":
    Bench(options()).run()
