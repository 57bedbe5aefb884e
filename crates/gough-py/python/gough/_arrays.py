"""Arrays of callers: what is accepted, how leading axes broadcast, where answers are written."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextvars import ContextVar
from functools import cache

import numpy as np
import numpy.typing as npt

from ._errors import BadQuestion

FloatArray = npt.NDArray[np.float64]
Shape = tuple[int, ...]

MANY = 2048
"""As many states are worth a program, which takes a moment to compile."""
_FEW = 16
"""As many numbers are looked at faster one by one."""
of_many: ContextVar[bool] = ContextVar("gough_of_many", default=False)
"""Whether a question is a piece of one about many states, and so takes the road of those."""


def numbers(name: str, value: object) -> FloatArray:
    """Finite numbers of any kind as float64; what they are not is refused by name."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; fill it, or take the states that are not masked")
    try:
        array = np.asarray(value)
    except ValueError as why:
        raise BadQuestion(f"{name} is no array: {why}") from None
    if array.dtype.kind not in "fiu" and array.size:
        raise TypeError(f"{name} has {_words(array)}; give real numbers, in SI units")
    array = array.astype(np.float64, copy=False)
    if array.size <= _FEW and array.ndim == 1:
        finite = all(map(math.isfinite, array.tolist()))
    else:
        finite = bool(np.isfinite(array).all())
    if not finite:
        if array.ndim == 0:
            raise BadQuestion(f"{name} is {array}; give a finite number")
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadQuestion(f"{name} has {array[place]} at index {place}; all numbers must be finite")
    return array


def one_state(name: str, array: FloatArray) -> FloatArray:
    """One state alone: what has no place for many must not answer the first of them."""
    if array.ndim != 1:
        raise BadQuestion(f"{name} has shape {array.shape}; this takes one state, of shape ({array.shape[-1]},): ask for each")
    return array


def _words(array: npt.NDArray[np.generic]) -> str:
    kinds = {"c": "complex numbers", "O": "objects", "U": "strings", "S": "bytes", "b": "truth values"}
    return kinds.get(array.dtype.kind, f"elements of type {array.dtype}")


def fitting(name: str, array: FloatArray, widths: Sequence[int], names: Sequence[str]) -> None:
    """The last axis must have one of these lengths."""
    if array.ndim == 0 or array.shape[-1] not in widths:
        fits = " or ".join(f"({n},) or (..., {n})" for n in widths)
        raise BadQuestion(f"{name} has shape {array.shape}; shapes that fit: {fits}, for {', '.join(names)}")


def leading(**arrays: FloatArray) -> Shape:
    """The leading axes that all arrays broadcast to."""
    if all(array.ndim == 1 for array in arrays.values()):
        return ()
    leads = {array.shape[:-1] for array in arrays.values()} - {()}
    if len(leads) <= 1:
        return leads.pop() if leads else ()
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise BadQuestion(
            f"the leading axes of {shapes} do not broadcast; give each one state, or as many as the others"
        ) from None


@cache
def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        return 1 << 34


def states(lead: Shape, width: int) -> int:
    """How many states there are, where their answers of so many numbers fit into memory."""
    count = math.prod(lead)
    if count * max(width, 1) * 8 > _memory() // 2:
        size = count * max(width, 1) * 8 / 2**30
        raise BadQuestion(
            f"the arrays broadcast to {lead}, {count} states, whose answers take {size:.1f} GiB; ask in parts"
        )
    return count


def rows(array: FloatArray, lead: Shape, count: int) -> FloatArray:
    """One row per state, or one row for all of them."""
    width = array.shape[-1]
    if array.ndim == 1 and array.flags.c_contiguous:
        return array.reshape(1, width)
    own = array.shape[:-1]
    if own != lead:
        if math.prod(own) == 1:
            return np.ascontiguousarray(array.reshape(1, width))
        array = np.broadcast_to(array, (*lead, width))
    return np.ascontiguousarray(array.reshape(count, width))


class Answer:
    """An array for an answer: that of the caller, or a new one."""

    def __init__(
        self, lead: Shape, width: int, given: object = None, inputs: Sequence[FloatArray] = ()
    ) -> None:
        self.whole: FloatArray
        shape = (*lead, width)
        if given is None:
            self.whole = np.empty(shape)
        else:
            self.whole = _own(given, shape, inputs)
        count = math.prod(lead)
        plain = self.whole.flags.c_contiguous
        self._apart = not plain
        self.rows = self.whole.reshape(count, width) if plain else np.empty((count, width))

    def done(self) -> FloatArray:
        """The array, once it is written."""
        if self._apart:
            self.whole[...] = self.rows.reshape(self.whole.shape)
        return self.whole


def _own(given: object, shape: Shape, inputs: Sequence[FloatArray]) -> FloatArray:
    if not isinstance(given, np.ndarray) or given.dtype != np.float64:
        kind = f"an array of {given.dtype}" if isinstance(given, np.ndarray) else type(given).__name__
        raise TypeError(f"out is {kind}; give an array of float64 of shape {shape}")
    if given.shape != shape:
        raise BadQuestion(f"out has shape {given.shape}; the answer has {shape}")
    if not given.flags.writeable:
        raise BadQuestion("out is read-only; give an array that can be written to")
    if any(np.may_share_memory(given, array) for array in inputs):
        raise BadQuestion("out shares memory with what is asked; give it memory of its own")
    own: FloatArray = given
    return own
