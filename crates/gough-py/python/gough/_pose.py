"""Poses of the platform in other words than its coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import FloatArray, numbers
from ._errors import BadQuestion

if TYPE_CHECKING:
    from ._native import Robot


class Pose:
    """A pose of the platform, or many: by a matrix, by position and rotation, or by coordinates with names.

    `Pose(matrix=T)` takes homogeneous matrices of shape (..., 4, 4). `Pose(position=p, rotation=R)` takes positions of shape
    (..., 3) and a `scipy.spatial.transform.Rotation`, or matrices of shape (..., 3, 3). `Pose(x=0.1, phi="30 deg")` takes
    numbers in SI units or quantities as text; coordinates that are left out are those of home.

    >>> import gough
    >>> r = gough.robot("navaro")
    >>> r.inverse_geometry(gough.Pose(x=0.0, y="0 mm", phi="-60 deg")).active.shape
    (3,)
    """

    __slots__ = ("_rows", "_words")

    def __init__(
        self, *, matrix: object = None, position: object = None, rotation: object = None, **coordinates: object
    ) -> None:
        self._words: str | None = None
        self._rows: FloatArray | None = None
        if matrix is not None:
            if position is not None or rotation is not None or coordinates:
                raise BadQuestion("a pose is a matrix, or position and rotation, or coordinates; give one of them")
            self._rows = _of_matrix(numbers("matrix", matrix))
        elif position is not None or rotation is not None:
            if position is None or rotation is None or coordinates:
                raise BadQuestion("position and rotation go together, and alone")
            self._rows = _of_position(numbers("position", position), rotation)
        else:
            if not coordinates:
                raise BadQuestion("a pose without anything; give matrix, position and rotation, or coordinates")
            self._words = ", ".join(f"{name}={_told(name, value)}" for name, value in coordinates.items())

    def _of(self, robot: Robot) -> FloatArray:
        if self._rows is not None:
            return self._rows
        return np.asarray(robot._pose(self._words or ""))

    def __repr__(self) -> str:
        return f"Pose({self._words})" if self._words is not None else f"Pose of shape {self._shape()}"

    def _shape(self) -> tuple[int, ...]:
        return () if self._rows is None else self._rows.shape[:-1]


def _told(name: str, value: object) -> str:
    return value if isinstance(value, str) else repr(float(numbers(name, value)))


def _of_matrix(T: FloatArray) -> FloatArray:
    if T.ndim < 2 or T.shape[-2:] != (4, 4):
        raise BadQuestion(f"matrix has shape {T.shape}; shapes that fit: (4, 4) or (..., 4, 4)")
    if not np.allclose(T[..., 3, :], [0.0, 0.0, 0.0, 1.0]):
        raise BadQuestion("the last row of the matrix is not 0, 0, 0, 1")
    return _checked(T[..., :3, 3], T[..., :3, :3])


def _of_position(p: FloatArray, rotation: Any) -> FloatArray:
    R = numbers("rotation", rotation.as_matrix() if hasattr(rotation, "as_matrix") else rotation)
    if p.ndim == 0 or p.shape[-1] != 3:
        raise BadQuestion(f"position has shape {p.shape}; shapes that fit: (3,) or (..., 3)")
    if R.ndim < 2 or R.shape[-2:] != (3, 3):
        raise BadQuestion(f"rotation has shape {R.shape}; shapes that fit: (3, 3) or (..., 3, 3)")
    return _checked(p, R)


def _checked(p: FloatArray, R: FloatArray) -> FloatArray:
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    if off > 1e-6 or (np.linalg.det(R) < 0.0).any():
        raise BadQuestion(f"the rotation is no rotation: R R^T misses the identity by {off:.1e}")
    lead = np.broadcast_shapes(p.shape[:-1], R.shape[:-2])
    flat = np.broadcast_to(R, (*lead, 3, 3)).reshape(*lead, 9)
    return np.concatenate([np.broadcast_to(p, (*lead, 3)), flat], axis=-1)
