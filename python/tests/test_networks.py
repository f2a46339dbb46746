"""Neural networks from ONNX: each operator against onnxruntime, and networks on scikit-learn's digits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import tacit
from tacit import _infer, nn
from tests.support import same

RNG = np.random.default_rng(5)
STEP = 2.0**-16


def weights(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def floats(values: Any) -> Any:
    return np.array(values, dtype=np.float32)


def integers(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def network(nodes: list[Any], constants: dict[str, Any], *shapes: tuple[Any, ...], opset: int = 17) -> Any:
    """A model that reads x (and y) and gives the last node's first output."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip("xy", shapes, strict=False)
    ]
    kind = TensorProto.INT64 if nodes[-1].op_type == "ArgMax" else TensorProto.FLOAT
    output = helper.make_tensor_value_info(nodes[-1].output[0], kind, None)
    arrays = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", inputs, [output], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def node(kind: str, inputs: str = "x", output: str = "z", **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(","), [output], **attributes)


def read(proto: Any, path: Path, **options: Any) -> tacit.onnx.Model:
    file = path / "model.onnx"
    file.write_bytes(proto.SerializeToString())
    return tacit.onnx.load(file, **options)


def answers(
    model: tacit.onnx.Model, inputs: dict[str, Any], protocol: str = "replicated", **options: Any
) -> Any:
    plan = model.plan(len(inputs["x"]), **options)
    owned = {} if options.get("weights") == "public" else {"owner": model.parameters()}
    owned = {name: value for name, value in owned.items() if value}
    with tacit.local(protocol) as run:
        return model.decode(run(plan, client=inputs, **owned))


def expected(proto: Any, inputs: dict[str, Any]) -> Any:
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


IMAGE = (2, 4, 7, 6)

# A name, nodes, constants, shapes, and how many steps of 2**-16 the result may be off.
OPERATORS: list[tuple[str, list[Any], dict[str, Any], list[tuple[int, ...]], float]] = [
    ("conv", [node("Conv", "x,w,b", pads=[1, 0, 2, 1], strides=[2, 1])],
     {"w": weights(5, 4, 3, 2), "b": weights(5)}, [IMAGE], 60),
    ("conv groups", [node("Conv", "x,w", group=2, dilations=[2, 1])],
     {"w": weights(6, 2, 2, 3)}, [IMAGE], 40),
    ("conv depthwise", [node("Conv", "x,w", group=4, auto_pad="SAME_UPPER", strides=[2, 2])],
     {"w": weights(4, 1, 3, 3)}, [IMAGE], 40),
    ("conv 1d", [node("Conv", "x,w")], {"w": weights(3, 4, 3)}, [(2, 4, 9)], 40),
    ("gemm", [node("Gemm", "x,w,b", alpha=0.5, beta=2.0, transB=1)],
     {"w": weights(3, 6), "b": weights(1, 3)}, [(4, 6)], 30),
    ("matmul", [node("MatMul", "x,w")], {"w": weights(6, 3)}, [(2, 4, 6)], 30),
    ("matmul left", [node("MatMul", "w,x")], {"w": weights(3, 4)}, [(2, 4, 6)], 30),
    ("matmul values", [node("MatMul", "x,y")], {}, [(2, 4, 6), (2, 6, 3)], 60),
    ("add", [node("Add", "x,y")], {}, [(3, 4), (3, 4)], 2),
    ("add twice", [node("Add", "x,x")], {}, [(3, 4)], 2),
    ("sub constant", [node("Sub", "w,x")], {"w": weights(4)}, [(3, 4)], 2),
    ("mul", [node("Mul", "x,y")], {}, [(3, 4), (3, 4)], 8),
    ("mul constant", [node("Mul", "x,w")], {"w": weights(4)}, [(3, 4)], 8),
    ("div", [node("Div", "x,w")], {"w": floats([[255.0]])}, [(3, 4)], 2),
    ("relu", [node("Relu")], {}, [(3, 4)], 1),
    ("leaky relu", [node("LeakyRelu", alpha=0.2)], {}, [(3, 4)], 2),
    ("clip", [node("Clip", "x,low,high")], {"low": np.float32(-0.5), "high": np.float32(1.0)}, [(3, 4)], 1),
    ("max pool", [node("MaxPool", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])], {}, [IMAGE], 1),
    ("max pool dilated", [node("MaxPool", kernel_shape=[2, 2], dilations=[2, 1])], {}, [IMAGE], 1),
    ("average pool", [node("AveragePool", kernel_shape=[2, 2], strides=[2, 2])], {}, [IMAGE], 2),
    ("average pool edges", [node("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1])], {}, [IMAGE], 2),
    ("average pool padded",
     [node("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)], {}, [IMAGE], 2),
    ("global average pool", [node("GlobalAveragePool")], {}, [IMAGE], 2),
    ("reduce mean", [node("ReduceMean", axes=[-1], keepdims=0)], {}, [IMAGE], 2),
    ("batch norm", [node("BatchNormalization", "x,s,b,m,v")],
     {"s": weights(4), "b": weights(4), "m": weights(4), "v": np.abs(weights(4)) + 0.5}, [IMAGE], 30),
    ("folded batch norm", [node("Conv", "x,w", "c"), node("BatchNormalization", "c,s,b,m,v")],
     {"w": weights(3, 4, 2, 2), "s": weights(3), "b": weights(3), "m": weights(3),
      "v": np.abs(weights(3)) + 0.5}, [IMAGE], 40),
    ("concat", [node("Concat", "x,y", axis=1)], {}, [(3, 4), (3, 2)], 1),
    ("flatten", [node("Flatten")], {}, [IMAGE], 1),
    ("reshape", [node("Reshape", "x,s")], {"s": integers(0, -1, 3)}, [IMAGE], 1),
    ("transpose", [node("Transpose", perm=[0, 2, 3, 1])], {}, [IMAGE], 1),
    ("squeeze", [node("Unsqueeze", "x,a", "u"), node("Squeeze", "u,c")],
     {"a": integers(1, -1), "c": integers(1)}, [(3, 4)], 1),
    ("pad", [node("Pad", "x,p,v")], {"p": integers(0, 1, 0, 2), "v": np.float32(0.5)}, [(3, 4)], 1),
    ("slice", [node("Slice", "x,s,e,a,t")],
     {"s": integers(5, 0), "e": integers(-10, 5), "a": integers(2, 3), "t": integers(-2, 2)}, [IMAGE], 1),
    ("constant", [helper.make_node("Constant", [], ["c"], value_floats=[1.0, 2.0]), node("Add", "x,c")], {},
     [(3, 2)], 1),
    ("identity", [node("Identity", "x", "i"), node("Dropout", "i")], {}, [(3, 2)], 1),
    ("argmax", [node("ArgMax", axis=1, keepdims=0)], {}, [(3, 5)], 0),
    ("softmax", [node("Softmax", axis=1)], {}, [(3, 5)], 2),
    ("moved constants", [node("Transpose", "w", "t", perm=[1, 0]), node("Concat", "t,t", "j", axis=1),
                         node("MatMul", "x,j")], {"w": weights(3, 4)}, [(2, 4)], 30),
]  # fmt: skip


@pytest.mark.parametrize("opset", [13, 17, 21])
@pytest.mark.parametrize("case", OPERATORS, ids=[case[0] for case in OPERATORS])
def test_each_operator_is_onnxruntimes(case: Any, opset: int, tmp_path: Path) -> None:
    name, nodes, constants, shapes, steps = case
    if name == "reduce mean" and opset >= 18:
        # Axes became an input.
        nodes, constants = [node("ReduceMean", "x,a", keepdims=0)], {"a": integers(-1)}
    proto = network(nodes, constants, *shapes, opset=opset)
    inputs = {name: weights(*shape) for name, shape in zip("xy", shapes, strict=False)}
    right = expected(proto, inputs)
    model = read(proto, tmp_path)
    got = answers(model, inputs)
    if opset == 17 and model.parameters():
        # Factors are the same, but products by secret ones below 1/2 are rounded twice.
        assert np.abs(answers(model, inputs, weights="public") - got).max() <= STEP
    assert got.shape == right.shape
    assert np.abs(got - right).max() <= steps * STEP


def test_magnitudes_of_a_normalisation_join_the_next_convolution(tmp_path: Path) -> None:
    nodes = [
        node("Concat", "x,x", "j", axis=1),
        node("BatchNormalization", "j,s,o,m,v", "n"),
        node("Relu", "n", "r"),
        node("Conv", "r,w"),
    ]
    constants = {"o": weights(8), "m": weights(8), "v": np.abs(weights(8)) + 0.5, "w": weights(5, 8, 2, 2)}
    constants["s"] = floats(np.tile([0.7, -1.2], 4))
    proto, x = network(nodes, constants, IMAGE), weights(*IMAGE)
    model = read(proto, tmp_path)
    given = model.parameters()
    # Signs are bits: an owner can't give another number.
    assert (given["negative1"] == (constants["s"] < 0)).all()
    plan = model.plan(len(x))
    assert [one.dtype for one in plan.inputs if one.name == "negative1"] == [tacit.bool_]
    with tacit.local() as run, pytest.raises(tacit.InputError, match="negative1"):
        run(plan, client=x, owner={**given, "negative1": 2 * given["negative1"]})
    for one in [model, model.calibrate(x)]:
        for options in [{}, {"weights": "public"}]:
            got = answers(one, {"x": x}, **options)
            assert np.abs(got - expected(proto, {"x": x})).max() <= 60 * STEP
    first = answers(model, {"x": x})
    same(answers(model, {"x": x}, "replicated-malicious"), first)
    with tacit.local() as run:
        run(model.keep(), owner=given)
        same(model.decode(run(model.plan(len(x), weights="kept"), client=x)), first)
    # A summand over a tiny factor would take too many bits.
    constants["s"][3] = 1e-6
    model = read(network(nodes, constants, IMAGE), tmp_path)
    assert "negative1" not in model.parameters()
    assert (
        np.abs(answers(model, {"x": x}) - expected(network(nodes, constants, IMAGE), {"x": x})).max() < 0.01
    )


POOLED = (None, 4, 6, 6)

# Nodes up to the mean's values "m", those after it, weights "w", and of how many elements each mean is.
MEANS: list[tuple[str, list[Any], list[Any], Any, int]] = [
    ("global", [node("GlobalAveragePool", "x", "m")],
     [node("Flatten", "m", "f"), node("Gemm", "f,w", transB=1)], weights(3, 4), 36),
    ("windows", [node("AveragePool", "x", "m", kernel_shape=[3, 2], strides=[3, 2])],
     [node("Relu", "m", "r"), node("Conv", "r,w")], weights(5, 4, 2, 2), 6),
    ("padded windows",
     [node("AveragePool", "x", "m", kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1)],
     [node("Conv", "m,w", group=2)], weights(4, 2, 3, 3), 9),
    ("axes", [node("ReduceMean", "x", "m", axes=[2, -1], keepdims=0)],
     [node("MatMul", "m,w")], weights(4, 3), 36),
    ("edges", [node("AveragePool", "x", "m", kernel_shape=[3, 3], pads=[1] * 4)],
     [node("Conv", "m,w")], weights(5, 4, 2, 2), 1),
    ("read twice", [node("GlobalAveragePool", "x", "m")],
     [node("Conv", "m,w", "c"), node("Add", "c,m")], weights(4, 4, 1, 1), 1),
    ("tiny weights", [node("GlobalAveragePool", "x", "m")],
     [node("Conv", "m,w")], weights(4, 4, 1, 1) / 2**14, 1),
    ("rows", [node("ReduceMean", "x", "m", axes=[0, 2])], [node("Conv", "m,w")], weights(4, 4, 1, 1), 1),
]  # fmt: skip


@pytest.mark.parametrize("case", MEANS, ids=[case[0] for case in MEANS])
def test_the_count_of_a_mean_joins_the_weights_after_it(case: Any, tmp_path: Path) -> None:
    _, before, after, known, count = case
    proto, x = network([*before, *after], {"w": known}, POOLED), weights(3, *POOLED[1:])
    model = read(proto, tmp_path)
    ((name, given),) = model.parameters().items()
    assert name.startswith("averaging" if count > 1 else "weights")
    turned = known.T if after[-1].op_type == "Gemm" else known
    np.testing.assert_allclose(given, turned.astype(float) / count)
    right = expected(proto, {"x": x})
    for one in [model, model.calibrate(x)]:
        got = answers(one, {"x": x}, "replicated-malicious")
        assert np.abs(got - right).max() <= 40 * STEP
        same(answers(one, {"x": x}, weights="public"), got)


def test_a_mean_that_joins_weights_takes_no_message(tmp_path: Path) -> None:
    nodes = [node("GlobalAveragePool", "x", "m"), node("Flatten", "m", "f"), node("Gemm", "f,w")]
    for count, sends in [(3, False), (2, True)]:
        plan = read(network(nodes[:count], {"w": weights(4, 3)}, POOLED), tmp_path).plan(2)
        assert ("layer:1 " in str(plan.cost(protocol="replicated"))) == sends


def test_tiny_weights_may_be_public(tmp_path: Path) -> None:
    nodes = [node("Gemm", "x,w,b", "h"), node("MatMul", "h,v")]
    constants = {"w": weights(6, 4), "b": weights(4), "v": weights(4, 3)}
    constants["w"][2], constants["b"][1], constants["v"][0] = 1e-9, 1e-12, 1e-7
    proto, x = network(nodes, constants, (2, 6)), weights(2, 6)
    model = read(proto, tmp_path)
    got = answers(model, {"x": x}, weights="public")
    same(got, answers(model, {"x": x}))
    assert np.abs(got - expected(proto, {"x": x})).max() <= 60 * STEP


def convolutional() -> Any:
    """A small network with groups, dilation, residual, pools and a normalisation."""
    nodes = [
        node("Conv", "x,w0,b0", "c0", pads=[1, 1, 1, 1]),
        node("BatchNormalization", "c0,s,o,m,v", "n0"),
        node("Relu", "n0", "r0"),
        node("Conv", "r0,w1", "c1", pads=[2, 2, 2, 2], dilations=[2, 2], group=2),
        node("Add", "c1,r0", "a"),
        node("MaxPool", "a", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Relu", "p", "r1"),
        node("GlobalAveragePool", "r1", "g"),
        node("Flatten", "g", "f"),
        node("Gemm", "f,w2,b2"),
    ]
    constants = {
        "w0": weights(4, 1, 3, 3), "b0": weights(4), "w1": weights(4, 2, 3, 3), "w2": weights(4, 3),
        "b2": weights(3), "s": weights(4), "o": weights(4), "m": weights(4), "v": np.abs(weights(4)) + 0.5,
    }  # fmt: skip
    return network(nodes, constants, (None, 1, 4, 4))


def test_every_protocol_computes_the_same(tmp_path: Path) -> None:
    proto, x = convolutional(), weights(2, 1, 4, 4) / 4
    model = read(proto, tmp_path, fraction=8)
    first = answers(model, {"x": x}, bound=2.0)
    assert np.abs(first - expected(proto, {"x": x})).max() < 0.1
    for protocol in ["astra", "astra roles=210", "astra-malicious", "replicated-malicious"]:
        same(answers(model, {"x": x}, protocol, bound=2.0), first)
    with tacit.local(debug=True) as run:
        plan = model.plan(2, bound=2.0)
        same(model.decode(run(plan, client=x, owner=model.parameters())), first)


def test_weights_that_stay_and_public_ones_give_the_same(tmp_path: Path) -> None:
    model, x = read(convolutional(), tmp_path), weights(2, 1, 4, 4) / 4
    first = answers(model, {"x": x})
    with tacit.local() as run:
        plan = model.plan(2, weights="kept", kept_as="mine")
        run(model.keep(kept_as="mine", readers=[plan]), owner=model.parameters())
        assert "mine.weights0@1" in run.kept
        same(model.decode(run(plan, client=x)), first)
        same(model.decode(run(plan, client=x)), first)
    same(answers(model, {"x": x}, weights="public"), first)


def test_ranges_from_calibration_change_no_result(tmp_path: Path) -> None:
    model, x = read(convolutional(), tmp_path), weights(8, 1, 4, 4) / 4
    narrow = model.calibrate(x)
    plan = narrow.plan(8)
    assert plan.assumptions
    assert not model.plan(8).assumptions
    with tacit.local(debug=True) as run:
        got = narrow.decode(run(plan, client=x, owner=narrow.parameters()))
    same(got, answers(model, {"x": x}))


@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "astra-malicious"])
def test_an_input_beyond_what_was_calibrated_ends_the_run(tmp_path: Path, protocol: str) -> None:
    model, x = read(convolutional(), tmp_path, fraction=8), weights(2, 1, 4, 4) / 4
    narrow = model.calibrate(x, margin=1)
    plan = narrow.plan(2)
    with tacit.local(protocol=protocol) as run:
        same(narrow.decode(run(plan, client=x, owner=narrow.parameters())), answers(model, {"x": x}))
        with pytest.raises(tacit.RunError, match="calibrating with samples like these"):
            run(plan, client=8 * x, owner=narrow.parameters())


def test_a_layer_that_samples_leave_at_zero_has_a_range(tmp_path: Path) -> None:
    model, x = read(convolutional(), tmp_path, fraction=8), 0 * weights(2, 1, 4, 4)
    narrow = model.calibrate(x, margin=1)
    with tacit.local() as run:
        got = narrow.decode(run(narrow.plan(2), client=x, owner=narrow.parameters()))
    same(got, answers(model, {"x": x}))


def test_all_that_is_not_supported_is_named_at_once(tmp_path: Path) -> None:
    nodes = [
        node("Sigmoid", "x", "a"),
        node("MaxPool", "a", "b", kernel_shape=[2, 2], ceil_mode=1),
        node("Add", "b,nothing", "c"),
        node("BatchNormalization", "c,s,o,o,v"),
    ]
    zero = {"s": floats([1, 0]), "o": floats([0, 0]), "v": floats([1, 1])}
    with pytest.raises(tacit.InputError) as error:
        read(network(nodes, zero, (1, 2, 4, 4)), tmp_path)
    for words in [
        "Sigmoid (node 0): this operator is not supported: train with Relu, or write",
        "ceil_mode", "reads 'nothing'", "channel 1 by 0",
    ]:  # fmt: skip
        assert words in str(error.value)


def damaged() -> list[tuple[str, Any]]:
    def changed(change: Any) -> Any:
        proto = network([node("Add", "x,w")], {"w": weights(4)}, (3, 4))
        change(proto)
        return proto

    def outside(proto: Any) -> None:
        proto.graph.initializer[0].data_location = TensorProto.EXTERNAL

    def opset(proto: Any) -> None:
        proto.opset_import[0].version = 22

    def constant(array: Any) -> Any:
        tensor = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(array))
        return network([tensor, node("Add", "x,c")], {}, (3, 4))

    return [
        ("opset 22", changed(opset)),
        ("holds 16 bytes", changed(lambda proto: proto.graph.initializer[0].dims.append(1 << 40))),
        ("another file", changed(outside)),
        ("of type 11", network([node("Add", "x,w")], {"w": np.zeros(4)}, (3, 4))),
        ("NaN", network([node("Add", "x,w")], {"w": floats([np.nan])}, (3, 4))),
        ("of type 11", constant(np.zeros(4))),
        ("NaN", constant(floats([np.nan]))),
        ("of other kinds", network([node("Conv", "x,w", pads=1.5)], {"w": weights(2, 4, 3, 3)}, IMAGE)),
        ("needs a length", network([node("Relu")], {}, (3, None))),
    ]


@pytest.mark.parametrize(("words", "proto"), damaged())
def test_damaged_files_are_refused_in_words(words: str, proto: Any, tmp_path: Path) -> None:
    with pytest.raises(tacit.InputError, match=words):
        read(proto, tmp_path)


def test_what_is_no_network_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    for data in [b"", b"no network", network([node("Relu")], {}, (3,)).SerializeToString()[:-9]]:
        file.write_bytes(data)
        with pytest.raises(tacit.InputError, match="no ONNX file"):
            tacit.onnx.load(file)


def test_padding_from_a_file_allocates_nothing_out_of_bounds(tmp_path: Path) -> None:
    model = read(network([node("Pad", "x,p")], {"p": integers(0, 1 << 50, 0, 0)}, (3, 4)), tmp_path)
    with pytest.raises(tacit.ProgramError, match="more than is taken"):
        model.plan(3)


def test_layers_say_what_does_not_fit() -> None:
    def refused(words: str, function: Any) -> None:
        with pytest.raises(tacit.ProgramError, match=words):
            tacit.function(function).trace(tacit.secret("alice", shape=(1, 2, 4, 4), range=(-1, 1)))

    refused("no convolution", lambda x: nn.conv(x, np.ones((3, 3, 2, 2))))
    refused("larger than the image", lambda x: nn.conv(x, np.ones((3, 2, 5, 2))))
    refused("padding=", lambda x: nn.max_pool(x, 2, padding=[1]))
    refused("one for each of 2", lambda x: nn.max_pool(x, [2]))


def digits() -> tuple[Any, Any, Any, Any]:
    images, labels = load_digits(return_X_y=True)
    return images[:1437] / 16, labels[:1437], images[1437:] / 16, labels[1437:]


def agrees(given: Any, float_ones: Any, labels: Any) -> None:
    """As many right as in floats, but for one row."""
    assert abs(int((given == labels).sum()) - int((float_ones == labels).sum())) <= 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_multilayer_perceptron_reads_digits_as_in_floats(tmp_path: Path) -> None:
    train, known, asked, labels = digits()
    estimator = MLPClassifier((24,), max_iter=15, random_state=0).fit(train, known)
    constants = {}
    for place, pair in enumerate(zip(estimator.coefs_, estimator.intercepts_, strict=True)):
        constants[f"w{place}"], constants[f"b{place}"] = (value.astype(np.float32) for value in pair)
    nodes = [
        node("Gemm", "x,w0,b0", "h"), node("Relu", "h", "r"), node("Gemm", "r,w1,b1", "s"),
        node("ArgMax", "s", "c", axis=1, keepdims=0),
    ]  # fmt: skip
    model = read(network(nodes, constants, (None, 64)), tmp_path)
    agrees(answers(model, {"x": asked}), estimator.predict(asked), labels)


def test_the_command_asks_saves_and_prices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto, x = convolutional(), weights(2, 1, 4, 4) / 4
    read(proto, tmp_path)
    file, saved, asked, told = (str(tmp_path / name) for name in ("model.onnx", "a.plan", "x.npy", "y.npy"))
    np.save(asked, x)
    assert _infer.main([file, "--save", saved, "--rows", "2", "--bound", "2", "--cost", "lan"]) == 0
    priced = capsys.readouterr().out
    assert "replicated" in priced
    assert all(f"layer:{place}" in priced for place in (1, 3, 5))
    assert tacit.Plan.load(saved).inputs[0].name == "x"
    assert _infer.main([file, "--input", f"x={asked}", "--bound", "2", "--output", told]) == 0
    assert np.abs(np.load(told) - expected(proto, {"x": x})).max() < 0.01
    assert Path(told).stat().st_mode & 0o777 == 0o600
    capsys.readouterr()
    assert _infer.main([file, "--input", asked, "--weights", "public", "--calibrate", asked, "--json"]) == 0
    assert np.shape(json.loads(capsys.readouterr().out)["output"]) == (2, 3)
    assert _infer.main([file, "--cost", "lan", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["protocols"]
    for wrong in [[], ["--input", f"y={asked}"], ["--input", file], ["--rows", "many"], ["--bound", "1e30"]]:
        assert _infer.main([file, *wrong]) == 2
        assert capsys.readouterr().err.startswith("error: ")


def test_the_command_keeps_weights_for_those_who_ask_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto, x = convolutional(), weights(2, 1, 4, 4) / 4
    read(proto, tmp_path)
    file, reader, asked, told, state = (
        str(tmp_path / name) for name in ("model.onnx", "a.plan", "x.npy", "y.npy", "state")
    )
    np.save(asked, x)
    ask = [file, "--weights", "kept", "--kept-as", "mine", "--bound", "2"]
    assert _infer.main([*ask, "--rows", "2", "--save", reader]) == 0
    assert _infer.main([file, "--keep", "--kept-as", "mine", "--reader", reader, "--state", state]) == 0
    assert "mine.weights0@1" in capsys.readouterr().err
    assert _infer.main([*ask, "--state", state, "--input", asked, "--output", told]) == 0
    assert np.abs(np.load(told) - expected(proto, {"x": x})).max() < 0.01
    # Another plan may not read them.
    np.save(asked, x[:1])
    capsys.readouterr()
    assert _infer.main([*ask, "--state", state, "--input", asked]) == 2
    assert "may be read by other programs only" in capsys.readouterr().err
    for wrong in [["--reader", reader], ["--keep", "--input", asked], ["--keep"]]:
        assert _infer.main([file, *wrong]) == 2
        assert capsys.readouterr().err.startswith("error: ")
