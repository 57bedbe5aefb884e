"""Geometry of a robot in arrays: joints from poses, poses from motors, rates and accelerations."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy.typing as npt

from . import _words
from ._arrays import Answer, FloatArray, fitting, leading, numbers, one_state, rows, states
from ._asked import Asked, OnRefusal, PoseLike, checked_threads
from ._documents import Document, one
from ._errors import BadQuestion
from ._results import Modes, Result
from ._words import Value


class Geometry(Asked):
    """What a robot answers about its geometry."""

    @overload
    def inverse_geometry(
        self,
        x: PoseLike,
        *,
        mode: Literal["all"],
        out: FloatArray | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
    ) -> Modes: ...

    @overload
    def inverse_geometry(
        self,
        x: PoseLike,
        *,
        mode: str | None = None,
        out: FloatArray | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
    ) -> Result: ...

    def inverse_geometry(
        self,
        x: PoseLike,
        *,
        mode: str | None = None,
        out: FloatArray | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
    ) -> Result | Modes:
        """Joints for poses of the platform: `active` of shape (..., a) and `passive` of shape (..., p), rad or m.

        Args:
            x: poses, shape (..., n).
            mode: working mode; that of the file unless given. `"all"` gives every one: arrays get an axis more, before the last,
                and `working_modes` has their names.
            out: array of shape (..., a) that `active` is written to.
            threads: most cores that are used; all unless given.
            on_refusal: `"mask"` or `"raise"`.

        Refused: poses out of reach (:class:`gough.OutOfReach`), joints out of range, legs at a limit.

        >>> import gough
        >>> r = gough.robot("five-bar")
        >>> s = r.inverse_geometry([[0.05, 0.25], [3.0, 0.0]])
        >>> s.ok.tolist(), s.active.shape
        ([True, False], (2, 2))
        >>> r.inverse_geometry([0.05, 0.25], mode="all").working_modes.tolist()
        ['+-', '++', '-+', '--']
        """
        X = self._x(x)
        lead = leading(x=X)
        a, p = len(self.active_joints), len(self.passive_joints)
        count = states(lead, a + p)
        question = {"method": "inverse_geometry", "x": X, "mode": mode}
        if mode == "all":
            if out is not None:
                raise BadQuestion("out goes with one working mode; name it, or leave out away")
            found = self._working_modes(rows(X, lead, count), checked_threads(threads))
            return self._modes_of(question, lead, found, on_refusal, ("active", "passive"))
        active, passive = Answer(lead, a, out, [X]), Answer(lead, p)
        refused = self._inverse_geometry(
            rows(X, lead, count), mode, checked_threads(threads), count, [active.rows, passive.rows]
        )
        arrays = {"active": active.done(), "passive": passive.done()}
        words = lambda: self._state_words(X, mode=mode)
        return self._result(Result, question, lead, arrays, refused, on_refusal, ("kinematics", words))

    def forward_geometry(
        self,
        q: npt.ArrayLike,
        *,
        mode: str | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
    ) -> Modes:
        """Every place where the platform can be for given motors: `x` of shape (..., k, n), `passive` of shape (..., k, p).

        `count` has how many there are of each state, `working_modes` their working modes, and `complete` whether it is known that
        there are no others.

        >>> import gough
        >>> r = gough.robot("3-rpr")
        >>> s = r.inverse_geometry(r.home)
        >>> bool(r.forward_geometry(s.active).count >= 2)
        True
        """
        Q = numbers("q", q)
        fitting("q", Q, [len(self.active_joints)], [f"q{name}" for name in self.active_joints])
        lead = leading(q=Q)
        count = states(lead, len(self.coordinates))
        found = self._forward_geometry(rows(Q, lead, count), mode, checked_threads(threads))
        question = {"method": "forward_geometry", "q": Q, "mode": mode}
        return self._modes_of(question, lead, found, on_refusal, ("x", "passive"))

    def kinematics(
        self,
        x: PoseLike,
        xd: npt.ArrayLike | None = None,
        xdd: npt.ArrayLike | None = None,
        *,
        mode: str | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
    ) -> Result:
        """Positions, rates and accelerations of all joints for motions of the platform, at rest unless given.

        `active`, `active_qd`, `active_qdd` have shape (..., a); `passive`, `passive_qd`, `passive_qdd` have shape (..., p).

        >>> import gough
        >>> r = gough.robot("five-bar")
        >>> k = r.kinematics([0.05, 0.25], [1.0, 0.0])
        >>> k.active_qd.round(3).tolist()
        [-4.723, -4.513]
        """
        X, XD, XDD = self._x(x), self._motion("xd", xd), self._motion("xdd", xdd)
        lead = leading(x=X, xd=XD, xdd=XDD)
        names = ["active", "active_qd", "active_qdd", "passive", "passive_qd", "passive_qdd"]
        a, p = len(self.active_joints), len(self.passive_joints)
        count = states(lead, 3 * (a + p))
        made = {name: Answer(lead, a if name.startswith("active") else p) for name in names}
        given = (rows(X, lead, count), rows(XD, lead, count), rows(XDD, lead, count))
        refused = self._kinematics(given, mode, checked_threads(threads), count, [answer.rows for answer in made.values()])
        question = {"method": "kinematics", "x": X, "xd": XD, "xdd": XDD, "mode": mode}
        arrays = {name: answer.done() for name, answer in made.items()}
        words = lambda: self._state_words(X, mode=mode, twist=XD, acceleration=XDD)
        return self._result(Result, question, lead, arrays, refused, on_refusal, ("kinematics", words))

    def matrices(
        self, x: PoseLike, xd: npt.ArrayLike | None = None, *, mode: str | None = None, joints: Value = None
    ) -> Document:
        """The matrices of first order at one pose, and of second order where a twist is given: `gough kinematics --matrices`."""
        given: dict[str, Any] = {"twist": xd, "mode": mode, "joints": joints, "matrices": True}
        X = one_state("x", self._x(x))
        return one(self, "kinematics", [*self._state_words(X), *_words.options(self, given)])

    def loci(
        self,
        region: Value,
        *,
        pose: Value = None,
        accuracy: Value = None,
        budget: Value = None,
        plot: Value = None,
        mode: Value = None,
    ) -> Document:
        """Singular curves over two coordinates: `gough singularities --region`.

        `region` is text, `"x=-0.3:0.3,y=0:0.5"`, or `{"x": (-0.3, 0.3), "y": (0.0, 0.5, 201)}`.
        """
        given = {"region": region, "pose": pose, "accuracy": accuracy, "budget": budget, "plot": plot, "mode": mode}
        return one(self, "singularities", _words.options(self, given))
