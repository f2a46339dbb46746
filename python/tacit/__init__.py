"""Compute on joint data while every party keeps its own secret.

A program is a Python function of secret tensors:

    import numpy as np, tacit

    @tacit.function
    def richer(a, b):
        return tacit.reveal((a > b).sum(), to="all")

    a = tacit.secret("alice", shape=(1000,), dtype=tacit.fixed(16), range=(0, 1e6))
    b = tacit.secret("bob", shape=(1000,), dtype=tacit.fixed(16), range=(0, 1e6))
    plan = richer.trace(a, b)
    print(plan.cost(net="wan"))
    with tacit.local() as run:
        print(run(plan, a=np.random.rand(1000) * 1e6, b=np.random.rand(1000) * 1e6))

`circuit` reads a Boolean circuit, and `tacit.crypto` has AES and its like; `bits` says what a bit is called.
`tacit.learn` makes private predictions of scikit-learn's linear models, `tacit.onnx` of neural networks,
whose layers are in `tacit.nn`.

`secret` declares an input, `public` a value that all parties give, `function` and `trace` make a plan,
`Plan.cost` says what it will take, `local` runs it with all parties in this process, `connect` as one party
or client of a deployment. `offline` makes ahead of time what runs need, for protocols in two phases.
"""

from tacit import circuits, crypto, learn, nn, onnx, tables
from tacit._branch import cond, switch
from tacit._circuit import Circuit, bits, bytes_of, circuit
from tacit._columnwise import (
    clip,
    divide,
    exp,
    log,
    maximum,
    minimum,
    normal_cdf,
    reciprocal,
    relu,
    rsqrt,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from tacit._elementary import softmax
from tacit._functions import (
    argmax,
    argmin,
    concatenate,
    dot,
    shuffle,
    sigmoid3,
    stack,
    windows,
)
from tacit._handles import Kept, PublicInput, Revealed, Secret
from tacit._keep import keep, kept
from tacit._matching import isin, searchsorted
from tacit._native import version as _version
from tacit._offline import Prepared, offline, stock
from tacit._order import argsort, median, quantile, sort, sort_by, top_k
from tacit._plan import Input, Output, Plan
from tacit._repeat import assume, repeat
from tacit._run import Report, Runner, connect, init, local
from tacit._selection import Selection
from tacit._statistics import corrcoef, cov, std, var
from tacit._tensor import Tensor, matmul
from tacit._trace import Function, function, public, reveal, secret
from tacit.dtypes import DType, bool_, fixed, int8, int16, int32, int64, modular, ring
from tacit.errors import (
    CircuitError,
    ConnectError,
    InputError,
    MismatchError,
    PlanError,
    ProgramError,
    ProgramTypeError,
    RunError,
    SecretError,
    StoreError,
    TacitError,
)
from tacit.tables.schema import SecretTable, table
from tacit.tables.sql import sql
from tacit.tables.table import Table

__version__ = _version()

__all__ = [
    "Circuit",
    "CircuitError",
    "ConnectError",
    "DType",
    "Function",
    "Input",
    "InputError",
    "Kept",
    "MismatchError",
    "Output",
    "Plan",
    "PlanError",
    "Prepared",
    "ProgramError",
    "ProgramTypeError",
    "PublicInput",
    "Report",
    "Revealed",
    "RunError",
    "Runner",
    "Secret",
    "SecretError",
    "SecretTable",
    "Selection",
    "StoreError",
    "Table",
    "TacitError",
    "Tensor",
    "argmax",
    "argmin",
    "argsort",
    "assume",
    "bits",
    "bool_",
    "bytes_of",
    "circuit",
    "circuits",
    "clip",
    "concatenate",
    "cond",
    "connect",
    "corrcoef",
    "cov",
    "crypto",
    "divide",
    "dot",
    "exp",
    "fixed",
    "function",
    "init",
    "int8",
    "int16",
    "int32",
    "int64",
    "isin",
    "keep",
    "kept",
    "learn",
    "local",
    "log",
    "matmul",
    "maximum",
    "median",
    "minimum",
    "modular",
    "nn",
    "normal_cdf",
    "offline",
    "onnx",
    "public",
    "quantile",
    "reciprocal",
    "relu",
    "repeat",
    "reveal",
    "ring",
    "rsqrt",
    "searchsorted",
    "secret",
    "shuffle",
    "sigmoid",
    "sigmoid3",
    "softmax",
    "sort",
    "sort_by",
    "sql",
    "sqrt",
    "stack",
    "std",
    "stock",
    "switch",
    "table",
    "tables",
    "tanh",
    "top_k",
    "var",
    "where",
    "windows",
]
