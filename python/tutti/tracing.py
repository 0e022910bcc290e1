"""torch.fx graphs of models, and the role of their nodes in a plan.

A node is
  an op        it computes, and the plan places it;
  a view       it shows another value's memory in another form (reshape, one of several outputs): it
               costs nothing and is created again wherever it is read;
  metadata     it reads a value's shape, dtype or device, and needs no copy of the value;
  or an input, a weight, the output.
"""

import contextlib
import dis
import enum
import inspect
import operator
import warnings

import torch
from torch import fx
from torch.nn.utils.rnn import PackedSequence

from .binary import TuttiError

# They take no tensors, so torch does not report calls of them to fx.
_FACTORIES = ("arange", "empty", "eye", "full", "linspace", "ones", "rand", "randn", "zeros")
_FIXED = (type(None), bool, str, enum.Enum)  # arguments that choose a branch: a graph is for their value
OMITTED = "(omitted)"  # the default of such an argument in a graph
_METADATA_ATTRIBUTES = {"shape", "dtype", "device", "ndim", "requires_grad", "is_cuda", "layout"}
_METADATA_METHODS = {"size", "dim", "numel", "stride", "ndimension", "nelement", "element_size",
                     "is_contiguous", "is_floating_point", "get_device"}


class _Unpacks:
    """Can be unpacked, as in a, b = x.chunk(2): torch 1.13 looks for the instruction in the wrong
    place from Python 3.11 on."""

    def __iter__(self):
        frame = inspect.currentframe().f_back
        for instruction in dis.get_instructions(frame.f_code):
            if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
                return (self[i] for i in range(instruction.argval))
        return self.tracer.iter(self)


class _Attribute(_Unpacks, fx.proxy.Attribute):
    pass


class _Proxy(_Unpacks, fx.Proxy):
    def __getattr__(self, name):
        return _Attribute(self, name)


class _Tracer(fx.Tracer):
    """Records the module of each node: not all versions of torch do."""

    def __init__(self):
        super().__init__()
        self.modules = []
        self.module_of = {}

    def call_module(self, module, forward, args, kwargs):
        self.modules.append(self.path_of_module(module))
        try:
            return super().call_module(module, forward, args, kwargs)
        finally:
            self.modules.pop()

    def create_arg(self, value):
        return value if isinstance(value, enum.Enum) else super().create_arg(value)

    def proxy(self, node):
        return _Proxy(node, self)

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        self.module_of[node] = self.modules[-1] if self.modules else ""
        return node


@contextlib.contextmanager
def _traced_factories(tracer):
    """Within this context, torch.arange(x.shape[0]) becomes a node."""
    def traced(original):
        def factory(*args, **kwargs):
            if any(isinstance(arg, fx.Proxy) for arg in [*args, *kwargs.values()]):
                return tracer.create_proxy("call_function", original, args, kwargs)
            return original(*args, **kwargs)
        return factory

    originals = {name: getattr(torch, name) for name in _FACTORIES}
    try:
        for name, original in originals.items():
            setattr(torch, name, traced(original))
        yield
    finally:
        for name, original in originals.items():
            setattr(torch, name, original)


def bind(model, inputs):
    """The arguments of the model's forward: inputs are a tensor, a tuple in order, or a dict by name."""
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    signature = inspect.signature(model.forward)
    try:
        if isinstance(inputs, dict):
            return signature.bind(**inputs)
        return signature.bind(*inputs)
    except TypeError as error:
        raise TuttiError(f"the inputs do not fit {type(model).__name__}.forward: {error}") from None


class Traced:
    """A model as a torch.fx graph. Arguments that were not given are fixed to their defaults, and flags such as None and
    True to what was given. kept: Kept(model), by which it is left as it was."""

    def __init__(self, model, inputs, kept):
        self.model = model
        bound = bind(model, inputs)
        self.parameters = inspect.signature(model.forward).parameters
        for name, value in bound.arguments.items():  # those of inference mode count no changes
            if any(tensor.is_inference() for tensor in tensors_in(value)):
                bound.arguments[name] = map_tensors(value, torch.clone)
        self.arguments = bound.arguments
        self.call = (bound.args, bound.kwargs)  # the same, as the model takes them
        self.fixed = {name: value for name, value in self.arguments.items() if isinstance(value, _FIXED)}
        tracer = _Tracer()
        try:
            self._trace(tracer)
            self.root = tracer.root
            self.module_of = tracer.module_of
            made = {node.target: self._at(node.target) for node in self.graph.nodes if node.op == "get_attr"}
        finally:
            kept.put_back()
        # Tensors that forward makes of nothing but numbers: fx gives them to the model, which does not keep them.
        self.constants = {target: value for target, value in made.items() if self._at(target) is not value}

    def _trace(self, tracer):
        name = type(self.model).__name__
        several = [key for key, parameter in self.parameters.items()
                   if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY)]
        if any(key in self.arguments and self.parameters[key].kind != inspect.Parameter.KEYWORD_ONLY for key in several):
            raise TuttiError(_sentence_of_signature(name, several))
        fixed = {key: parameter.default for key, parameter in self.parameters.items()
                 if key not in self.arguments and parameter.default is not inspect.Parameter.empty}
        try:
            with _traced_factories(tracer), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Was not able to add assertion")
                self.graph = tracer.trace(self.model, concrete_args={**fixed, **self.fixed} or None)
        except Exception as error:  # anything that the model's own code raises when it gets a proxy
            first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            if several and isinstance(error, TypeError) and "code()" in first_line:
                raise TuttiError(_sentence_of_signature(name, several)) from error
            remedy = "control flow that depends on values has to be taken out, or put into a leaf module"
            if isinstance(error, NotImplementedError) and "argument of type" in first_line:
                remedy = "values and outputs may be tensors, numbers, tuples, lists and dicts"
            raise TuttiError(f"torch.fx cannot capture {name}: {first_line}; {remedy}") from error
        self._forget_fixed_arguments()

    def _forget_fixed_arguments(self):
        """fx keeps them as arguments, and checks in each run that they have not changed. Those that were given stay
        arguments, which the graph does not read."""
        def erase(node):
            for user in list(node.users):
                erase(user)
            self.graph.erase_node(node)
        given = {f"{name}_1": name for name in self.fixed}
        for node in list(self.graph.nodes):
            if node.op != "placeholder" or node.target in self.arguments:
                continue
            if node.target in given:
                for user in list(node.users):
                    erase(user)
                node.target = given[node.target]
                node.args = (OMITTED,) if node.args else ()
            else:
                erase(node)

    def _at(self, target):
        value = self.root
        for part in target.split("."):
            value = getattr(value, part, None)
        return value

    def weight(self, node):
        """The tensor of a get_attr node."""
        return self.constants[node.target] if node.target in self.constants else self._at(node.target)

    def submodule(self, node):
        """The module of a call_module node."""
        return self.root.get_submodule(node.target)


def _sentence_of_signature(name, several):
    return (f"torch.fx cannot capture {name}, whose forward takes keyword-only or variable arguments ({', '.join(several)}); "
            "capture a module that calls it, and whose forward names its arguments one by one")


def looks_at_metadata(node):
    """True if the node itself reads the shape or other metadata of a value."""
    if node.op == "call_function" and node.target is getattr:
        return node.args[1] in _METADATA_ATTRIBUTES
    return node.op == "call_method" and node.target in _METADATA_METHODS and len(node.args) <= 2


def metadata_nodes(graph, is_op):
    """Nodes that need no copy of any value: those that read metadata, and those that are computed from
    them only."""
    found = set()
    for node in graph.nodes:
        if node.op not in ("call_function", "call_method") or is_op(node):
            continue
        inputs = node.all_input_nodes
        if looks_at_metadata(node) or all(source in found for source in inputs):
            found.add(node)
    return found


def kind_of(node, traced):
    """The key of cost tables: "torch.linear" for a Linear and for functional.linear."""
    if node.op == "call_module":
        name = type(traced.submodule(node)).__name__
        snake = "".join("_" + c.lower() if c.isupper() and i and not name[i - 1].isupper() else c.lower()
                        for i, c in enumerate(name))
        return "torch." + snake
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "op")
    return "torch." + name.strip("_")


def is_item_of(node):
    """True for value[i], and value.name, as the outputs of topk are read."""
    return node.op == "call_function" and node.target in (operator.getitem, getattr)


def tensors_in(value):
    """Every tensor of a nested structure, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in tensors_in(part)]
    if isinstance(value, dict):
        return [tensor for part in value.values() for tensor in tensors_in(part)]
    return []


def map_tensors(value, change):
    """The structure with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple):
        parts = [map_tensors(part, change) for part in value]
        if isinstance(value, PackedSequence):
            parts[1] = value.batch_sizes  # torch wants them in host memory
        if type(value) is tuple:
            return tuple(parts)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, list):
        return [map_tensors(part, change) for part in value]
    if isinstance(value, dict):
        return {key: map_tensors(part, change) for key, part in value.items()}
    return value
