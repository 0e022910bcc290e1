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
    good = {
        "good_network": network(), "good_shuffled": network(shuffled=True),
        "good_fixed_batch": network(batch=2), "good_branch": branch(),
        "good_custom": simple("Fused", domain="com.example"), "good_same_name": same_name,
        "good_wrong_channels": network(channels=2), "good_unknown_op": simple("NoSuchOp"),
        "good_no_stride": network(strides=[0, 0]), "good_no_group": network(group=-1),
        "good_nothing_made": simple("Relu", outputs=("",)),
        "good_too_many_operands": simple("Relu", inputs=("x", "x", "x")),
    }
    bad = {
        "bad_open_dimension": attention("seq"), "bad_cycle": simple("Relu", inputs=("y",)),
        "bad_unknown_value": simple("Relu", inputs=("nowhere",)), "bad_made_twice": twice,
        "bad_huge": huge, "bad_no_graph": no_graph, "bad_deep": nested(60),
        "bad_huge_input": simple("Relu", dims=(1 << 40, 1 << 40)),
    }
    others = {
        "negative_dimension": negative, "open_axes": simple("Squeeze", axes=[99]),
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
