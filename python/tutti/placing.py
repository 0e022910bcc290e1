"""Makes a model that runs as planned: a torch.fx graph in which every op runs on its device."""

import heapq
import inspect

import torch
from torch import fx

from .binary import TuttiError
from .capturing import capture
from .keeping import copy_of
from .plans import Plan
from .tracing import OMITTED, map_tensors, metadata_nodes


def move(value, device):
    """The value on that device; the value itself if it is already there."""
    return map_tensors(value, lambda tensor: tensor.to(device))


class Fixed(torch.nn.Module):
    """An argument whose value chose what was captured: another one is refused."""

    def __init__(self, name, value, default):
        super().__init__()
        self.name, self.value, self.default = name, value, default

    def forward(self, given):
        if given is not self.value:
            given = self.default if isinstance(given, str) and given == OMITTED else given
            if type(given) is not type(self.value) or given != self.value:
                raise TuttiError(f"argument '{self.name}' is not {self.value!r}, which the model was captured with; capture it "
                                 "again with what you give")


class _Placer:
    """Builds the new graph. A value is moved at most once to each device; a weight is there from the
    start; a view is created again where it is read."""

    def __init__(self, traced, placement, priority, devices):
        self.traced = traced
        self.placement = placement
        self.priority = priority
        self.devices = devices
        self.metadata = metadata_nodes(traced.graph, lambda node: node.name in placement)
        self.root = torch.nn.Module()
        self.graph = fx.Graph()
        self.made = {}  # by node and device: the node of the new graph
        self.moved_weights = {}  # by a weight's id and device
        self.names = {}  # by a part of the model and device: its name in the new module
        self.taken = set()  # these names

    def run(self, output_device):
        for node in self._order():
            if node.op == "placeholder":
                self.made[node, None] = self.graph.placeholder(
                    node.target, default_value=node.args[0] if node.args else inspect.Signature.empty)
                if node.target in self.traced.fixed:
                    self._fix(node.target, self.made[node, None])
            elif node.op == "output":
                self._output(node, output_device)
            elif node.name in self.placement:
                self._op(node)
        module = fx.GraphModule(self.root, self.graph, type(self.traced.model).__name__ + "Placed")
        module.train(self.traced.model.training)
        return module

    def _fix(self, name, given):
        key = self._name_on(name, "(argument)")
        self.root.add_module(key, Fixed(name, self.traced.fixed[name], self.traced.parameters[name].default))
        self.graph.call_module(key, (given,))

    def _order(self):
        """Inputs first; then every node after what it reads, the smallest priority first, so that work
        that a device can start early is issued early."""
        nodes = list(self.traced.graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        waiting = {node: len(node.all_input_nodes) for node in nodes}

        def key(node):
            if node.op == "placeholder":
                return (0, 0, place[node])
            if node.op == "output":
                return (2, 0, place[node])
            if node.name not in self.placement:  # costs nothing
                return (0, 1, place[node])
            return (1, self.priority.get(node.name, 0), place[node])

        ready = [(key(node), node) for node in nodes if not waiting[node]]
        heapq.heapify(ready)
        while ready:
            _, node = heapq.heappop(ready)
            yield node
            for user in node.users:
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready, (key(user), user))

    def _on(self, node, device):
        """The node's value in the new graph, on that device."""
        if node in self.metadata:
            device = None
        if (node, device) not in self.made:
            self.made[node, device] = self._make(node, device)
        return self.made[node, device]

    def _make(self, node, device):
        if node.op == "get_attr":
            return self._weight(node, device)
        if node.op == "placeholder" or node.name in self.placement:
            home = self.placement.get(node.name)
            return self._moved(self.made[node, home], device)
        # A view or metadata: created on that device from what it reads.
        return self._copy(node, device, lambda source: self._on(source, self._source_device(source, device)))

    def _source_device(self, source, device):
        """Metadata is the same on every device: it is read where the value already is."""
        if device is not None:
            return device
        while source.name not in self.placement and source.op not in ("placeholder", "get_attr"):
            if source in self.metadata or not source.all_input_nodes:
                return None
            source = source.all_input_nodes[0]
        if source.op == "get_attr":
            return next(iter(self.devices))
        return self.placement.get(source.name)

    def _moved(self, made, device):
        return self.graph.call_function(move, (made, self.devices[device]))

    def _op(self, node):
        device = self.placement[node.name]
        made = self._copy(node, device, lambda source: self._on(source, device))
        reads_tensors = any(source not in self.metadata for source in node.all_input_nodes)
        names_a_device = "device" in node.kwargs or node.target in ("to", "cuda", "cpu")
        if names_a_device and "device" in node.kwargs:
            made.kwargs = {**made.kwargs, "device": torch.device(self.devices[device])}
        if names_a_device or not reads_tensors:  # the model itself chooses the device of its result
            made = self._moved(made, device)
        self.made[node, device] = made

    def _copy(self, node, device, arg):
        if node.op == "call_module":
            args, kwargs = fx.node.map_arg((node.args, node.kwargs), arg)
            return self.graph.call_module(self._module(node, device), args, kwargs)
        return self.graph.node_copy(node, arg)

    def _weight_tensor(self, tensor, device):
        key = (id(tensor), device)
        if key not in self.moved_weights:
            target = torch.device(self.devices[device])
            moved = tensor.detach().to(target)
            if moved.device == tensor.device:  # nothing to move: shared with the model
                moved = tensor
            elif isinstance(tensor, torch.nn.Parameter):
                moved = torch.nn.Parameter(moved, requires_grad=tensor.requires_grad)
            self.moved_weights[key] = moved
        return self.moved_weights[key]

    def _name_on(self, path, device):
        """A name in the new module for that part of the model on that device."""
        if (path, device) not in self.names:
            plain = made = "".join(c if c.isalnum() else "_" for c in f"{path}__on__{device}")
            count = 1
            while made in self.taken:  # a.b and a_b look alike
                count += 1
                made = f"{plain}_{count}"
            self.taken.add(made)
            self.names[path, device] = made
        return self.names[path, device]

    def _weight(self, node, device):
        value = map_tensors(self.traced.weight(node), lambda tensor: self._weight_tensor(tensor, device))
        name = self._name_on(node.target, device)
        if isinstance(value, torch.nn.Parameter) or not isinstance(value, torch.Tensor):
            setattr(self.root, name, value)
        else:
            self.root.register_buffer(name, value)
        return self.graph.get_attr(name)

    def _module(self, node, device):
        name = self._name_on(node.target, device)
        if not hasattr(self.root, name):
            module = self.traced.submodule(node)
            tensors = list(module.parameters()) + list(module.buffers())
            memo = {id(tensor): self._weight_tensor(tensor, device) for tensor in tensors}
            self.root.add_module(name, copy_of(module, memo))
        return name

    def _output(self, node, output_device):
        def result(source):
            home = self._source_device(source, None)
            made = self._on(source, home)
            if output_device is None or source in self.metadata:
                return made
            return self.graph.call_function(move, (made, output_device))
        self.graph.output(fx.node.map_arg(node.args[0], result))


def _check(placement, graph, devices):
    """Checks that every op of the model is placed, that no other is, and that each device has a torch device."""
    ops = graph.op_names()
    for name in placement:
        if name not in ops:
            raise TuttiError(f"the plan places op '{name}', which the model has not; it was made for another model")
    for name in ops:
        if name not in placement:
            raise TuttiError(f"the plan does not place op '{name}' of the model; it was made for another model")
    for name in sorted(set(placement.values()) - set(devices)):
        raise TuttiError(f"the plan uses device '{name}', and devices says nothing of it; say which torch device it "
                         f"is, as in devices={{'{name}': 'cuda:0'}}")


def apply(model, plan, devices=None, inputs=None, output_device=None):
    """The model as a module whose ops run where the plan says. It takes the same arguments as the model.

    plan: the result of tutti.plan or tutti.read_plan, or a dict from ops to devices. One that was not made
      from a graph captured in this process needs the `inputs` of capture.
    devices: the torch devices of the plan's devices, such as {"cpu": "cpu", "gpu0": "cuda:0"}; by default
      the names themselves.
    output_device: where outputs are wanted; by default they stay where they were computed.

    The model itself does not change. Weights that are not moved are shared with it; others are copied
    once, now.
    """
    if not isinstance(plan, Plan):
        plan = Plan(placement=dict(plan), priority={})
    if devices is None:
        devices = {name: name for name in plan.placement.values()}
    if plan.graph is not None and plan.graph.traced.model is model:
        graph = plan.graph
    elif inputs is not None:
        graph = capture(model, inputs)
    else:
        raise TuttiError("the plan was not made from a graph of this model that was captured here; give apply the "
                         "inputs that it was captured with")
    _check(plan.placement, graph, devices)
    return _Placer(graph.traced, plan.placement, plan.priority, devices).run(output_device)
