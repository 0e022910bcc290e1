#!/usr/bin/python3
"""Writes test/corpus/onnx: small ONNX models, good and bad. Needs Debian's python3-onnx."""

import os

from onnx import ModelProto, TensorProto, helper

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "onnx")


def floats(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def weights(name, *dims):
    count = 1
    for dim in dims:
        count *= dim
    return helper.make_tensor(name, TensorProto.FLOAT, dims, bytes(4 * count), raw=True)


def whole(name, *numbers):
    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)


def model(nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(nodes, "small", inputs, outputs, initializers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 7
    return made


# x [batch, 3, 8, 8] -> convolution -> relu -> shape computed at run time -> product with w
def network(**changes):
    strides = changes.get("strides", [2, 2])
    nodes = [
        helper.make_node("Conv", ["x", "k", "b"], ["c"], "conv", kernel_shape=[3, 3],
                         pads=[1, 1, 1, 1], strides=strides, group=changes.get("group", 1)),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Shape", ["x"], ["s"], "shape"),
        helper.make_node("Gather", ["s", "zero"], ["n"], "first", axis=0),
        helper.make_node("Concat", ["n", "rest"], ["t"], "target", axis=0),
        helper.make_node("Reshape", ["r", "t"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "w", ""], ["g"], "gemm", transB=1),
        helper.make_node("Softmax", ["g"], ["y"], ""),
    ]
    if changes.get("shuffled"):
        nodes.reverse()
    initializers = [weights("k", 4, changes.get("channels", 3), 3, 3), weights("b", 4),
                    weights("w", 5, 64), whole("zero", 0), whole("rest", -1)]
    return model(nodes, [floats("x", changes.get("batch", "batch"), 3, 8, 8)],
                 [floats("y", "batch", 5)], initializers)


def attention(length):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["q"], "query"),
        helper.make_node("Transpose", ["q"], ["t"], "turn", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "t"], ["p"], "scores"),
        helper.make_node("Dropout", ["p"], ["d", "mask"], "drop"),
    ]
    return model(nodes, [floats("x", "batch", length, 16)], [floats("d", "batch", length, length)],
                 [weights("w", 16, 16)])


def branch():
    inner = helper.make_graph([helper.make_node("Neg", ["x"], ["o"])], "inner", [],
                              [floats("o", 4)])
    node = helper.make_node("If", ["flag"], ["y"], "choose", then_branch=inner, else_branch=inner)
    flag = helper.make_tensor_value_info("flag", TensorProto.BOOL, [])
    return model([node], [floats("x", 4), flag], [floats("y", 4)])


def truth(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.BOOL, dims)


def number(name):
    return helper.make_tensor_value_info(name, TensorProto.INT64, [])


def scalar(name, value, kind=TensorProto.INT64):
    return helper.make_tensor(name, kind, [], [value])


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs, outputs, name, **attributes)


def graph(nodes, inputs, outputs, initializers=()):
    return helper.make_graph(nodes, "inner", inputs, outputs, initializers)


# h = h * w + x in each round, w outside and x made behind the loop in the file; h of all rounds is
# stacked.
def loop(trips=3, rounds_are_an_input=False, extra=()):
    body = graph([node("MatMul", ["h", "w"], ["hw"], "product"), node("Add", ["hw", "x"], ["n"], "sum"),
                  node("Identity", ["go"], ["on"], "on"), *extra],
                 [number("i"), truth("go"), floats("h", 8, 8)],
                 [truth("on"), floats("n", 8, 8), floats("n", 8, 8)])
    nodes = [node("Loop", ["trips", "yes", "h0"], ["last", "all"], "again", body=body),
             node("Relu", ["raw"], ["x"], "late"), node("Neg", ["last"], ["y"], "end")]
    inputs = [floats("h0", 8, 8), floats("raw", 8, 8)]
    initializers = [weights("w", 8, 8), scalar("yes", 1, TensorProto.BOOL)]
    if rounds_are_an_input:
        inputs.append(number("trips"))
    else:
        initializers.append(scalar("trips", trips))
    return model(nodes, inputs, [floats("y", 8, 8), floats("all", trips, 8, 8)], initializers)


# A running sum of 5 rows, with the weights inside the body.
def scan():
    body = graph([node("MatMul", ["row", "k"], ["p"], "product"), node("Add", ["sum", "p"], ["next"], "add"),
                  node("Tanh", ["next"], ["out"], "tanh")],
                 [floats("sum", 1, 4), floats("row", 1, 4)], [floats("next", 1, 4), floats("out", 1, 4)],
                 [weights("k", 4, 4)])
    nodes = [node("Scan", ["start", "rows"], ["end", "outs"], "over", body=body, num_scan_inputs=1)]
    return model(nodes, [floats("start", 1, 4), floats("rows", 5, 1, 4)],
                 [floats("end", 1, 4), floats("outs", 5, 1, 4)])


# The else branch does more; both use the names of the other, and of the graph around them.
def branches(condition=None):
    small = graph([node("Neg", ["x"], ["o"], "act")], [], [floats("o", 8, 8)])
    large = graph([node("MatMul", ["x", "x"], ["x2"], "act"), node("Neg", ["x2"], ["o"], "out")], [],
                  [floats("o", 8, 8)])
    inputs = [floats("x", 8, 8)]
    initializers = []
    if condition is None:
        inputs.append(truth("flag"))
    else:
        initializers.append(scalar("flag", condition, TensorProto.BOOL))
    return model([node("If", ["flag"], ["o"], "choose", then_branch=small, else_branch=large),
                  node("Relu", ["o"], ["y"], "act")], inputs, [floats("y", 8, 8)], initializers)


# A loop of two rounds in a branch of a loop of two rounds.
def nested_loops(outer=2, inner=2):
    innermost = graph([node("Exp", ["b"], ["c"], "exp"), node("Identity", ["g2"], ["o2"])],
                      [number("j"), truth("g2"), floats("b", 4)], [truth("o2"), floats("c", 4)])
    then = graph([node("Loop", ["inner", "yes", "a"], ["r"], "deep", body=innermost)], [], [floats("r", 4)])
    other = graph([], [], [floats("a", 4)])
    body = graph([node("If", ["flag"], ["s"], "maybe", then_branch=then, else_branch=other),
                  node("Identity", ["g1"], ["o1"])],
                 [number("i"), truth("g1"), floats("a", 4)], [truth("o1"), floats("s", 4)])
    return model([node("Loop", ["outer", "yes", "x"], ["y"], "wide", body=body)],
                 [floats("x", 4), truth("flag")], [floats("y", 4)],
                 [scalar("outer", outer), scalar("inner", inner), scalar("yes", 1, TensorProto.BOOL)])


# Bodies that hand on what they are given, and one that makes no round.
def empty_bodies():
    nothing = graph([], [], [floats("x", 4)])
    body = graph([], [number("i"), truth("go"), floats("h", 4)], [truth("go"), floats("h", 4)])
    stacked = graph([node("Abs", ["h"], ["n"])], [number("i"), truth("go"), floats("h", 4)],
                    [truth("go"), floats("n", 4), floats("n", 4)])
    return model([node("If", ["flag"], ["a"], "choose", then_branch=nothing, else_branch=nothing),
                  node("Loop", ["five", "", "a"], ["b"], "idle", body=body),
                  node("Loop", ["none", "", "b"], ["c", "all"], "never", body=stacked),
                  node("Neg", ["c"], ["y"], "end"), node("Neg", ["all"], ["z"], "rest")],
                 [floats("x", 4), truth("flag")], [floats("y", 4), floats("z", 0, 4)],
                 [scalar("five", 5), scalar("none", 0)])


# As ONNX Runtime's tools write it: weights outside of the body, the past of one layer.
def search(op="GreedySearch", encoder=False):
    decoder = graph([node("Gather", ["table", "ids"], ["x"], "embed"), node("Concat", ["past", "x"], ["present"], "cache", axis=1),
                     node("MatMul", ["x", "head"], ["logits"], "head")],
                    [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "seq"]),
                     floats("past", "batch", "past_len", 8)],
                    [floats("logits", "batch", "seq", 16), floats("present", "batch", "all_len", 8)])
    bodies = {"decoder": decoder}
    if encoder:
        bodies["encoder"] = graph([node("Gather", ["table", "tokens"], ["e"], "embed")],
                                  [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "seq"])],
                                  [floats("e", "batch", "seq", 8)])
    made = node(op, ["prompt", "longest"], ["sequences"], "search", domain="com.microsoft", **bodies)
    prompt = helper.make_tensor_value_info("prompt", TensorProto.INT64, ["batch", 4])
    sequences = helper.make_tensor_value_info("sequences", TensorProto.INT64, ["batch", 20])
    return model([made], [prompt], [sequences],
                 [weights("table", 16, 8), weights("head", 8, 16), scalar("longest", 20)])


# A Constant that stands several times, as in models that were put together from parts.
def constants(*values):
    nodes = [node("Constant", [], ["c"], f"constant{i}", value=helper.make_tensor("", TensorProto.FLOAT, [4], [v] * 4))
             for i, v in enumerate(values)]
    return model([*nodes, node("Add", ["x", "c"], ["y"], "add")], [floats("x", 4)], [floats("y", 4)])


# An op with a body that is not read: it stays one op.
def sequence_map():
    body = graph([node("MatMul", ["e", "w"], ["o"])], [floats("e", 4, 4)], [floats("o", 4, 4)])
    return model([node("SequenceMap", ["x"], ["y"], "map", body=body)], [floats("x", 4, 4)], [floats("y", 4, 4)],
                 [weights("w", 4, 4)])


def simple(op, outputs=("y",), inputs=("x",), domain="", dims=(4,), **attributes):
    node = helper.make_node(op, list(inputs), list(outputs), "only", domain=domain, **attributes)
    return model([node], [floats("x", *dims)], [floats("y", *dims)])


def nested(depth):
    body = helper.make_graph([], "inner", [], [])
    for _ in range(depth):
        node = helper.make_node("If", ["x"], ["o"], then_branch=body)
        body = helper.make_graph([node], "inner", [], [])
    return helper.make_model(body)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    twice = simple("Relu")
    twice.graph.node.append(helper.make_node("Abs", ["x"], ["y"], "other"))
    same_name = simple("Relu")
    same_name.graph.node.append(helper.make_node("Abs", ["x"], ["z"], "only"))
    negative = network()
    negative.graph.initializer[0].dims[0] = -4
    huge = network()
    huge.graph.initializer[0].dims[0] = 1 << 62
    no_graph = ModelProto()
    no_graph.ir_version = 7
    no_graph.producer_name = "nobody"
    text = simple("Relu").SerializeToString()
    wrong_loop = loop()
    del wrong_loop.graph.node[0].attribute[0].g.input[2:]
    no_result = loop()
    no_result.graph.node[0].attribute[0].g.output[1].name = "nowhere"
    good = {
        "good_network": network(), "good_shuffled": network(shuffled=True),
        "good_fixed_batch": network(batch=2), "good_branch": branch(),
        "good_custom": simple("Fused", domain="com.example"), "good_same_name": same_name,
        "good_wrong_channels": network(channels=2), "good_unknown_op": simple("NoSuchOp"),
        "good_no_stride": network(strides=[0, 0]), "good_no_group": network(group=-1),
        "good_nothing_made": simple("Relu", outputs=("",)),
        "good_too_many_operands": simple("Relu", inputs=("x", "x", "x")),
        "good_loop": loop(), "good_open_loop": loop(rounds_are_an_input=True), "good_scan": scan(),
        "good_branches": branches(), "good_known_branch": branches(condition=1),
        "good_nested_loops": nested_loops(), "good_empty_bodies": empty_bodies(),
        "good_greedy_search": search(), "good_beam_search": search("BeamSearch", encoder=True),
        "good_same_constants": constants(1, 1, 1), "good_sequence_map": sequence_map(),
    }
    bad = {
        "bad_open_dimension": attention("seq"), "bad_cycle": simple("Relu", inputs=("y",)),
        "bad_unknown_value": simple("Relu", inputs=("nowhere",)), "bad_made_twice": twice,
        "bad_huge": huge, "bad_no_graph": no_graph, "bad_deep": nested(60),
        "bad_huge_input": simple("Relu", dims=(1 << 40, 1 << 40)),
        "bad_other_constants": constants(1, 1, 2), "bad_loop_body": wrong_loop,
        "bad_body_result": no_result, "bad_many_rounds": nested_loops(outer=1 << 20, inner=1 << 20),
        "bad_dimension": simple("Relu", dims=(4, -7)), "bad_tensor_dimension": negative,
    }
    others = {
        "open_axes": simple("Squeeze", axes=[99]),
        "slice_axes": simple("Slice", starts=[-9], ends=[99], axes=[7]),
        "perm": simple("Transpose", perm=[5]), "split": simple("Split", split=[9, -9]),
        "pads": simple("Pad", pads=[-(1 << 62)] * 2), "einsum": simple("Einsum", equation="ij->i"),
        "depth": simple("DepthToSpace", dims=(1, 4, 2, 2), blocksize=3),
    }
    for name, made in {**good, **bad, **others}.items():
        with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
            file.write(made.SerializeToString())
    for name, data in {"bad_truncated.onnx": text[:-3], "bad_empty": b"",
                       "bad_not_utf8.onnx": text.replace(b"Relu", b"\xff\xfelu"),
                       "bad_graph_name.onnx": text.replace(b"small", b"sm\xedll")}.items():
        with open(os.path.join(FOLDER, name), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main()
