"""Maps: a quantity over a region of the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ._arrays import FloatArray
from ._documents import Document
from ._results import html_table, needs, text_table

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes


class Map:
    """A quantity over one to three coordinates of the platform; where there is no answer, values are NaN and `ok` is false."""

    def __init__(self, document: Document, question: Mapping[str, Any]) -> None:
        self.document = document
        self.question = question
        self.robot: str = document["robot"]
        self.quantity: str = document["quantity"]
        self.unit: str = document["unit"]
        self.complete: bool = document["complete"]
        self.refused: list[dict[str, Any]] = document["refused"]
        """How many nodes have no answer, by kind."""
        self.axes: dict[str, FloatArray] = {axis["name"]: np.asarray(axis["values"]) for axis in document["axes"]}
        """Values of every coordinate that is spanned, in the order of the axes of `values`."""
        self.values: FloatArray = np.asarray(document["values"], dtype=np.float64)
        """The quantity, one axis per coordinate."""
        self.ok: npt.NDArray[np.bool_] = np.isfinite(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes along every axis."""
        return self.values.shape

    def to_xarray(self) -> xarray.DataArray:
        """A labelled array."""
        xr = needs("xarray", "to_xarray")
        attributes = {"units": self.unit, "robot": self.robot, "working_mode": self.document["working_mode"]}
        array: xarray.DataArray = xr.DataArray(
            self.values, coords=self.axes, dims=list(self.axes), name=self.quantity, attrs=attributes
        )
        return array

    def to_pandas(self) -> pandas.DataFrame:
        """A table: one row per node."""
        pd = needs("pandas", "to_pandas")
        grid = np.meshgrid(*self.axes.values(), indexing="ij")
        columns = {name: values.reshape(-1) for name, values in zip(self.axes, grid)}
        table: pandas.DataFrame = pd.DataFrame({**columns, self.quantity: self.values.reshape(-1)})
        return table

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it with matplotlib: a curve over one coordinate, colours over two."""
        plt = needs("matplotlib.pyplot", "plot")
        if len(self.axes) > 2:
            raise ValueError("a map over three coordinates is not drawn; take a slice, or to_xarray()")
        if ax is None:
            ax = cast("Axes", plt.subplots()[1])
        label = f"{self.quantity} [{self.unit}]" if self.unit else self.quantity
        (first, x), *others = self.axes.items()
        ax.set_xlabel(_axis(first))
        if not others:
            ax.plot(x, self.values)
            ax.set_ylabel(label)
        else:
            ((second, y),) = others
            mesh = ax.pcolormesh(x, y, np.where(self.ok.T, self.values.T, np.nan), shading="nearest")
            ax.figure.colorbar(mesh, ax=ax, label=label)
            ax.set_ylabel(_axis(second))
            if {first, second} <= {"x", "y", "z"}:
                ax.set_aspect("equal")
        ax.set_title(f"{self.robot}, working mode {self.document['working_mode']}")
        return ax

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        seen = self.values[self.ok]
        low, high = (f"{seen.min():.6g}", f"{seen.max():.6g}") if seen.size else ("", "")
        lines = [[name, f"{v[0]:.6g}", f"{v[-1]:.6g}", str(len(v))] for name, v in self.axes.items()]
        lines.append([self.quantity, low, high, str(self.values.size)])
        missing = self.values.size - seen.size
        no = f", {missing} nodes without an answer" if missing else ""
        return f"map of {self.robot}, {self.quantity} in {self.unit or '1'}{no}", ["", "from", "to", "count"], lines

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def _axis(name: str) -> str:
    return f"{name} [m]" if name in ("x", "y", "z") else f"{name} [rad]"
