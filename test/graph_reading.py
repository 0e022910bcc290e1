#!/usr/bin/python3
"""Counts the ops and edges of foreign graphs in a few lines of Python each, and holds tutti to it.

  test/graph_reading.py TUTTI FILE...

Reads HLO text, PipeDream profiles, and the JSON of dnn-partitioning and of Estee. What a graph has
beside the file's own edges: an op that has weights reads them, which is one edge more.
"""

import json
import re
import subprocess
import sys


def pipedream(text):
    lines = text.splitlines()
    nodes = [line for line in lines if line and not line.startswith("\t")]
    weights = sum(float(re.search(r"parameter_size=([\d.]+)", line)[1]) > 0 for line in nodes)
    return len(nodes), len([line for line in lines if line.startswith("\t")]) + weights


def dnn_partitioning(graph):
    weights = sum(node["size"] > 0 for node in graph["nodes"])
    return len(graph["nodes"]), len(graph["edges"]) + weights


def estee(tasks):
    return len(tasks), sum(len(task["inputs"]) for task in tasks)


def leaves(kind):
    """How many arrays a type holds: "(f32[2], (s32[]))" has two."""
    return len(re.findall(r"\w+\[[^]]*\]", re.sub(r"\{[^{}]*\}", "", re.sub(r"/\*.*?\*/", "", kind))))


def closing(text, start):
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "({[") - (text[at] in ")}]")
        if depth == 0:
            return at
    raise ValueError(text)


def hlo(text):
    entry = re.search(r"^ENTRY .*?^}", text, re.M | re.S)[0]
    arrays, ops, edges = {}, 0, 0
    for line in entry.splitlines()[1:]:
        match = re.match(r"\s+(?:ROOT )?%?([\w.-]+) = (.*)", line)
        if not match:
            continue
        name, rest = match.groups()
        end = closing(rest, 0) + 1 if rest[0] == "(" else rest.index(" ")
        arrays[name] = leaves(rest[:end])
        call = rest[end:].strip()
        opcode, begin = call[:call.index("(")], call.index("(")
        if opcode in ("parameter", "constant", "tuple", "get-tuple-element"):
            continue
        ops += 1
        operands = call[begin + 1:closing(call, begin)]
        control = re.search(r"control-predecessors=\{([^}]*)\}", call)
        words = re.findall(r"[\w.-]+", re.sub(r"\w+\[[^]]*\](\{[^}]*\})?|/\*.*?\*/", "", operands))
        edges += sum(arrays[word] for word in words if word in arrays)
        if control:
            edges += len(re.findall(r"[\w.-]+", control[1]))
    return ops, edges


def reading(path):
    with open(path) as file:
        text = file.read()
    if text.startswith("HloModule"):
        return hlo(text)
    if not text.lstrip().startswith(("{", "[")):
        return pipedream(text)
    document = json.loads(text)
    return estee(document) if isinstance(document, list) else dnn_partitioning(document)


def main():
    tutti, *paths = sys.argv[1:]
    faults = 0
    for path in paths:
        whole = ["--no-fuse"] if path.endswith(".hlo") else []  # Python counts instructions
        said = json.loads(subprocess.run([tutti, "graph", "info", path, "--json", *whole],
                                         check=True, capture_output=True, text=True).stdout)
        found, expected = (said["ops"], said["edges"]), reading(path)
        faults += found != expected
        print(f"{path}: ops and edges {found}, by Python {expected}"
              f"{'' if found == expected else ' UNLIKE'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
