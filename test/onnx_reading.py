#!/usr/bin/python3
"""Reads ONNX models with Python's onnx and holds what tutti says of them to it.

  test/onnx_reading.py TUTTI MODEL.onnx [NAME=SIZE...] [-- MODEL.onnx ...]

Counts nodes that are not folded, and their operands; compares every shape that onnx infers too. Exit code 77: there is no Python onnx here.
"""

import json
import subprocess
import sys

try:
    import onnx
    import onnx.shape_inference
except ImportError:
    print("skipped: python3-onnx is not installed")
    sys.exit(77)


def reading(path):
    """Ops and edges, folding what depends on constants and shapes alone."""
    graph = onnx.load(path).graph
    constant = {tensor.name for tensor in graph.initializer}
    waiting = list(graph.node)
    known = constant | {value.name for value in graph.input}
    ops = edges = 0
    while waiting:
        later = []
        for node in waiting:
            if any(name and name not in known for name in node.input):
                later.append(node)
                continue
            known.update(node.output)
            reads = [name for name in node.input if name]
            folds = (node.op_type in ("Constant", "Shape", "Size") or
                     reads and all(name in constant for name in reads))
            if folds and not node.op_type.startswith("Random"):
                constant.update(node.output)
            else:
                ops += 1
                edges += len(reads)
        if len(later) == len(waiting):
            raise SystemExit(f"{path}: nodes that nothing feeds")
        waiting = later
    return ops, edges


def shapes_by_python(path, dims):
    """By value, where all sizes are known."""
    model = onnx.load(path)
    graph = model.graph
    del graph.value_info[:]
    for value in graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.dim_value:
                dim.dim_value = dims.get(dim.dim_param or f"{value.name}:{axis}", 1)
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {}
    for value in [*inferred.value_info, *inferred.output]:
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            shapes[value.name] = [d.dim_value for d in tensor.shape.dim]
    return shapes


def shapes_by_tutti(tutti, path, flags):
    graph = json.loads(subprocess.run([tutti, "graph", "convert", path, *flags], check=True,
                                      capture_output=True, text=True).stdout)
    return {value.get("name", op["name"]): value.get("shape", []) for op in graph["ops"]
            for value in op["outputs"]}


def main():
    tutti, *rest = sys.argv[1:]
    faults = 0
    for part in " ".join(rest).split(" -- "):
        path, *dims = part.split()
        flags = [word for dim in dims for word in ("--dim", dim)]
        said = json.loads(subprocess.run([tutti, "graph", "info", path, "--json", *flags],
                                         check=True, capture_output=True, text=True).stdout)
        expected = reading(path)
        found = (said["ops"], said["edges"])
        faults += found != expected
        ours = shapes_by_tutti(tutti, path, flags)
        theirs = shapes_by_python(path, {k: int(v) for k, v in (d.split("=") for d in dims)})
        both = ours.keys() & theirs.keys()
        wrong = [name for name in sorted(both) if ours[name] != theirs[name]]
        faults += len(wrong)
        print(f"{path}: ops and edges {found}, by Python {expected}; "
              f"shapes alike {len(both) - len(wrong)}, unlike {wrong}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
