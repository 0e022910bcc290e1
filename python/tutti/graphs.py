"""A captured graph: the content of a graph file, and the torch.fx graph that it was made from."""

import json
from pathlib import Path


class Graph:
    """content: the graph file as a dict (docs/formats/graph.md); machine: the machine that was
    measured, or None; devices: the torch devices of its devices; traced: the torch.fx graph, whose nodes have
    the names of the ops."""

    def __init__(self, content, traced, machine=None, devices=None):
        self.content = content
        self.traced = traced
        self.machine = machine
        self.devices = devices

    def save(self, path):
        Path(path).write_text(json.dumps(self.content, indent=1) + "\n", encoding="utf-8")

    def op_names(self):
        return [op["name"] for op in self.content["ops"]]
