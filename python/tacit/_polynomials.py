"""Polynomials: by powers, whose products with public coefficients are rounded once, or by Horner's rule."""

from __future__ import annotations

from typing import Any

from tacit._functions import stack
from tacit._tensor import Tensor, matmul
from tacit._values import is_float


def polyval(p: Any, x: Any) -> Any:
    """A polynomial with its highest coefficient first, as written-out sums of powers where these are nearer.

    Horner's rule multiplies what is off by a rounding with `x` again and again, so that it is for numbers
    near 0, and for what has exact products.
    """
    import numpy as np

    if isinstance(x, Tensor) and not isinstance(p, Tensor):
        known = np.asarray(p)
        if known.ndim == 1 and len(known) > 2 and known.dtype.kind in "if" and _are_nearer(known, x):
            return _by_powers(known, x)
    total = p[0]
    for coefficient in p[1:]:
        total = total * x + coefficient
    return total


def _are_nearer(known: Any, x: Tensor) -> bool:
    """Whether powers have room, and are off by less with these coefficients than Horner's rule is."""
    if x.dtype.kind not in ("int", "fixed") or (x.dtype.kind == "int" and not is_float(known)):
        return False
    degree = len(known) - 1
    most = max(map(abs, x.range))
    unit = x.dtype.unit if x.dtype.kind == "fixed" else 1 << 16
    if most**degree * unit**2 >= 2.0**62 or sum(abs(known) * most ** float(degree)) * unit >= 2.0**62:
        return False
    # In half steps: a product of each power but the first, and a sum, or a rounding in each place.
    powers = [(power - 1) * max(most, 1.0) ** (power - 2) for power in range(2, degree + 1)]
    written = 1 + sum(abs(one) * off for one, off in zip(known[-3::-1], powers, strict=True))
    horner = sum(2 * most**power for power in range(degree))
    return bool(written < horner)


def _by_powers(known: Any, x: Tensor) -> Tensor:
    powers = [x]
    for _ in known[2:]:
        powers.append(powers[-1] * x)
    made: Tensor = matmul(stack(powers, axis=-1), known[-2::-1]) + known[-1].item()
    return made
