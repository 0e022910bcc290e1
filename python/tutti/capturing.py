"""Makes a graph from a model and its inputs: torch.fx gives the nodes, one run on the inputs gives the
sizes of their values."""

import contextlib
import threading

import torch
from torch import fx

from .binary import TuttiError
from .flops import flops_of
from .graphs import Graph
from .keeping import Kept, buffer_values, difference
from .offload.moving import version_of
from .tracing import Traced, is_item_of, kind_of, looks_at_metadata, tensors_in

_lock = threading.RLock()  # torch and its modules are changed while a model is traced
_DTYPES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
           torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
           torch.bool: "bool"}


def _value(tensor):
    described = {"shape": list(tensor.shape), "bytes": tensor.numel() * tensor.element_size()}
    if tensor.dtype in _DTYPES:
        described["dtype"] = _DTYPES[tensor.dtype]
    return described


def _memory_of(tensor):
    """The address of the tensor's bytes; None if it has none."""
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr() or None


def _is_view(result, inputs):
    """True if the result is a view of the memory of the one tensor that was read."""
    made = tensors_in(result)
    if len(inputs) != 1 or not made:
        return False
    memory = _memory_of(inputs[0])
    return memory is not None and all(_memory_of(tensor) == memory for tensor in made)


class _Capture:
    """One run of a traced model, node by node."""

    def __init__(self, traced, name, time_op):
        self.traced = traced
        self.time_op = time_op
        self.content = {"format": "tutti-graph", "schema_version": 1, "name": name, "inputs": [], "ops": []}
        self.results = {}  # by node
        # By node: the structure of its result with the name of a value, or None, in place of each tensor.
        self.names = {}
        self.weights = {}  # by the tensor's id: the name of the graph's input
        self.outputs = []  # every tensor of them

    def run(self):
        last_use = {}
        for node in self.traced.graph.nodes:
            for source in node.all_input_nodes:
                last_use[source] = node
        for node in self.traced.graph.nodes:
            getattr(self, "_" + node.op)(node)
            for source in node.all_input_nodes:  # results that no later node reads are freed
                if last_use[source] is node:
                    self.results.pop(source, None)
        return self.content

    def _add_input(self, name, tensor, **more):
        # Other input names cannot clash with ops: fx gives ops names that differ from its placeholders.
        described = {"name": name, **_value(tensor), **more}
        self.content["inputs"].append(described)
        return name

    def _placeholder(self, node):
        value = self.traced.arguments[node.target]
        self.results[node] = value
        tensors = tensors_in(value)
        if isinstance(value, torch.Tensor):
            self.names[node] = self._add_input(node.name, value, residence="host")
        else:
            self.names[node] = [self._add_input(f"{node.name}.{i}", tensor, residence="host")
                                for i, tensor in enumerate(tensors)]

    def _weight_name(self, path, tensor):
        """A weight that several modules share is one input."""
        if id(tensor) not in self.weights:
            self.weights[id(tensor)] = self._add_input("weight:" + path, tensor, weight=True)
        return self.weights[id(tensor)]

    def _get_attr(self, node):
        value = self.traced.weight(node)
        self.results[node] = value
        self.names[node] = [self._weight_name(node.target, tensor) for tensor in tensors_in(value)]

    def _output(self, node):
        self.outputs = tensors_in(fx.node.map_arg(node.args[0], lambda source: self.results[source]))

    def _call_function(self, node):
        self._call(node, node.target)

    def _call_method(self, node):
        self._call(node, lambda first, *args, **kwargs: getattr(first, node.target)(*args, **kwargs))

    def _call_module(self, node):
        module = self.traced.submodule(node)
        weights = list(module.named_parameters()) + list(module.named_buffers())
        self._call(node, module, [(node.target + "." + name, tensor) for name, tensor in weights])

    def _call(self, node, function, weights=()):
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda source: self.results[source])
        inputs = tensors_in([args, kwargs])
        versions = [version_of(tensor) for tensor in inputs]
        result = function(*args, **kwargs)
        if [version_of(tensor) for tensor in inputs] != versions:
            raise TuttiError(f"node '{node.name}' changes its input in place, and a copy on another device would not "
                             "change with it; write it out of place (inplace=False)")
        self.results[node] = result
        read = self._values_read(node)
        if not tensors_in(result) and (looks_at_metadata(node) or not read):
            self.names[node] = []
        elif is_item_of(node) and isinstance(args[0], (tuple, list, dict)):
            self.names[node] = self._item_names(node, args, result)
        elif _is_view(result, inputs):
            self.names[node] = read
        else:
            self._add_op(node, function, args, kwargs, read, weights, result)

    def _item_names(self, node, args, result):
        """One of several outputs. If the result is not a plain list of tensors, all of them."""
        names = self.names[node.args[0]]
        if isinstance(names, list) and len(names) == len(args[0]) \
                and all(isinstance(part, torch.Tensor) for part in args[0]):
            return next((name for name, part in zip(names, args[0]) if part is result), names)
        return names

    def _values_read(self, node):
        """The names of all values the node reads, each once."""
        names = []
        for source in node.all_input_nodes:
            found = self.names[source]
            for name in found if isinstance(found, list) else [found]:
                if name not in names:
                    names.append(name)
        return names

    def _add_op(self, node, function, args, kwargs, read, weights, result):
        kind = kind_of(node, self.traced)
        tensors = tensors_in(result)
        operands = read + [self._weight_name(path, tensor) for path, tensor in weights]
        op = {"name": node.name, "kind": kind, "operands": list(dict.fromkeys(operands)),
              "outputs": [_value(tensor) for tensor in tensors] or [{"bytes": 0}],
              "flops": flops_of(kind, tensors_in([args, kwargs]), [tensor for _, tensor in weights], result)}
        module = self.traced.module_of.get(node, "")
        if module:
            op["attributes"] = {"module": module}
        if self.time_op is not None:
            state = torch.get_rng_state()
            op["run_time_ns"] = self.time_op(node, function, args, kwargs)
            torch.set_rng_state(state)
        self.content["ops"].append(op)
        single = len(op["outputs"]) == 1
        self.names[node] = node.name if single else [f"{node.name}:{k}" for k in range(len(tensors))]


def _compare(traced, outputs, buffers, buffer_names):
    """Runs the model itself, and raises TuttiError if it does something else than the graph did: there is code that
    torch.fx does not see."""
    args, kwargs = traced.call
    wanted = tensors_in(traced.model(*args, **kwargs))
    found = None if len(wanted) == len(outputs) else f"there are {len(outputs)} outputs, not {len(wanted)}"
    for i, (one, other) in enumerate(zip(wanted, outputs)):
        different = difference(one, other)
        if different is not None:
            found = found or f"output {i} {different}"
    after = buffer_values(traced.model)
    for name in buffer_names:
        one, other = after.get(name), buffers.get(name)
        if one is not other and (one is None or other is None or difference(one, other) is not None):
            found = found or f"the model changes its buffer '{name}'"
    if found is not None:
        raise TuttiError(f"the graph of {type(traced.model).__name__} does not do what the model does: {found}; take out what "
                         "torch.fx does not see: hooks of the model itself, autocast, random numbers made without a tensor, "
                         "isinstance of a tensor, changes of the module's own buffers")


def capture_with(model, inputs, name=None, time_op=None):
    """As capture; time_op(node, function, args, kwargs) returns the time of an op by kind of device."""
    with _lock, contextlib.ExitStack() as modes:
        if torch.is_inference_mode_enabled():  # where torch counts no changes
            modes.enter_context(torch.inference_mode(False))
            modes.enter_context(torch.no_grad())
        return _captured(model, inputs, name, time_op)


def _captured(model, inputs, name, time_op):
    kept = Kept(model)
    traced = Traced(model, inputs, kept)
    state = torch.get_rng_state()
    try:
        with torch.no_grad():
            run = _Capture(traced, name or type(model).__name__, time_op)
            content, buffers = run.run(), buffer_values(model)
            kept.put_back()
            torch.set_rng_state(state)
            _compare(traced, run.outputs, buffers, kept.buffer_names)
    finally:
        kept.put_back()
    if not content["ops"]:
        raise TuttiError(f"{type(model).__name__} computes nothing that could be placed")
    return Graph(content, traced)


def capture(model, inputs, name=None):
    """The graph of one run of the model on these inputs (a tensor, a tuple in order, a dict by name).

    Ops have the names of the torch.fx nodes. They have flops and bytes but no times: the planner
    computes those from the machine's rates. Weights are inputs that stay in memory.
    """
    return capture_with(model, inputs, name)
