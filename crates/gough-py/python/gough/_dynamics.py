"""Dynamics of a robot in arrays: efforts, accelerations, natural frequencies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _words
from ._arrays import MANY, Answer, FloatArray, fitting, leading, numbers, of_many, rows, states
from ._asked import DDM_KEYS, IDM_KEYS, OnRefusal, PoseLike, checked_threads, given_of, word_of
from ._documents import Document, one
from ._errors import BadQuestion
from ._geometry import Geometry
from ._results import Accelerations, Efforts, Frequencies
from ._words import Value

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Dynamics(Geometry):
    """What a robot answers about efforts and vibration."""

    def _efforts_slowly(
        self, x: npt.ArrayLike, xd: npt.ArrayLike | None = None, xdd: npt.ArrayLike | None = None
    ) -> FloatArray:
        """What `efforts` does where it is not one state of plain numbers."""
        return self.idm(x, xd, xdd, on_refusal="raise").efforts

    def idm(
        self,
        x: PoseLike,
        xd: npt.ArrayLike | None = None,
        xdd: npt.ArrayLike | None = None,
        *,
        mode: str | None = None,
        payload: Value = None,
        wrench: Value = None,
        load: Value = None,
        friction_width: float | None = None,
        share: str | None = None,
        joints: Value = None,
        joint_rates: Value = None,
        joint_accelerations: Value = None,
        reactions: bool = False,
        derivatives: bool = False,
        rigid: bool = False,
        deflected: bool = False,
        out: FloatArray | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
        executor: Executor | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> Efforts:
        """Efforts of the drives for motions of the platform, at rest unless given: `efforts` of shape (..., a), N*m or N.

        Computed when they are first asked for: `efforts_with_friction` (..., a); `kinetic_energy`, `kinetic_energy_rotors`,
        `potential_energy`, `condition` (...); `ground_wrench` (..., 6), of the ground on the robot at the world origin; joints
        `active`, `active_qd`, `active_qdd` (..., a), `passive`, .. (..., p).

        Args:
            x: poses, shape (..., n).
            xd: twists of the platform in its own components, shape (..., m).
            xdd: accelerations, shape (..., m).
            mode: working mode; that of the file unless given.
            payload: what the platform carries: `{"mass": 2.5, "com": (0, 0, 0.05)}`, or as text.
            wrench: wrench from outside on the platform, at its origin, in world axes: six numbers, `{"fx": 10}`, or as text.
            load: wrenches on bodies: `"BODY:fx=10,mz=0.2"`, or a list of such.
            friction_width: smooths the direction of friction over this rate.
            share: how redundant drives share: `"shortest"`, `"weights=1:2:1:1"`, `"limits"`, `"limits=-5:5"`.
            joints, joint_rates, joint_accelerations: joints that the pose of a redundant robot leaves open: `{"q1s": 0.05}`.
            reactions: forces in all joints too, as `reactions`.
            derivatives: derivatives by state and named parameters too, as `derivatives`.
            rigid: takes flexible bodies as rigid.
            deflected: starts from the static deflection of a flexible robot.
            out: array of shape (..., a) that `efforts` is written to.
            threads: most cores that are used; all unless given.
            on_refusal: `"mask"` or `"raise"`.
            executor: computes pieces with this `concurrent.futures` executor.
            folder: keeps pieces there as they come; a second call goes on from them.

        Refused: poses out of reach, singular postures (:class:`gough.Singular`).

        >>> import gough
        >>> r = gough.robot("five-bar")
        >>> t = r.idm([0.05, 0.25], xdd=[[0.0, 9.81], [1.0, 0.0], [0.0, 0.0]])
        >>> t.efforts.shape, t.efforts_with_friction.shape, t["tau_11"].shape
        ((3, 2), (3, 2), (3,))
        """
        X, XD, XDD = self._x(x), self._motion("xd", xd), self._motion("xdd", xdd)
        lead = leading(x=X, xd=XD, xdd=XDD)
        a = len(self.active_joints)
        count = states(lead, a)
        options: dict[str, Any] = {
            "load": load,
            "share": share,
            "joints": joints,
            "joint_rates": joint_rates,
            "joint_accelerations": joint_accelerations,
            "reactions": reactions,
            "derivatives": derivatives,
            "deflected": deflected,
        }
        loads = {"payload": payload, "wrench": wrench, "friction_width": friction_width}
        question = {"method": "idm", "x": X, "xd": XD, "xdd": XDD, "mode": mode, **given_of(options | loads)}
        if executor is not None or folder is not None:
            asked = given_of(options | loads | {"mode": mode, "rigid": rigid, "threads": threads})
            from ._pieces import Pieces

            pieces = Pieces(self, "idm", {"x": X, "xd": XD, "xdd": XDD}, asked, lead, count)
            return self._spread(Efforts, question, pieces, (executor, folder), on_refusal, out)
        if any(options.values()) or (self._is_flexible and not rigid):
            words = {"mode": mode, "rigid": rigid} | options | loads
            return self._by_documents(Efforts, "idm", question, lead, count, (X, XD, XDD), words, on_refusal, threads, out)
        given = (rows(X, lead, count), rows(XD, lead, count), rows(XDD, lead, count))
        told = (word_of(self, "payload", payload), word_of(self, "wrench", wrench), friction_width)
        state_words = lambda: [
            *self._state_words(X, mode=mode, twist=XD, acceleration=XDD, rigid=rigid),
            *_words.options(self, loads),
        ]
        later = lambda: self._all_of_idm(given, mode, told, threads, lead, count)[0]
        if self._leaves_open or told != (None, None, None):
            arrays, refused = self._all_of_idm(given, mode, told, threads, lead, count)
            if out is not None:
                own = Answer(lead, a, out, [X, XD, XDD])
                own.whole[...] = arrays["efforts"]
                arrays["efforts"] = own.whole
        else:
            answer = Answer(lead, a, out, [X, XD, XDD])
            many = of_many.get() or count >= MANY
            refused = self._efforts(given, mode, checked_threads(threads), (count, many), [answer.rows])
            arrays = {"efforts": answer.done()}
        result = self._result(Efforts, question, lead, arrays, refused, on_refusal, ("idm", state_words), IDM_KEYS)
        result._later = later
        return result

    def ddm(
        self,
        x: PoseLike,
        xd: npt.ArrayLike | None = None,
        efforts: npt.ArrayLike | None = None,
        *,
        mode: str | None = None,
        payload: Value = None,
        wrench: Value = None,
        load: Value = None,
        friction: bool = False,
        friction_width: float | None = None,
        joints: Value = None,
        joint_rates: Value = None,
        matrices: bool = False,
        derivatives: bool = False,
        rigid: bool = False,
        deflected: bool = False,
        out: FloatArray | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
        executor: Executor | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> Accelerations:
        """Accelerations under efforts of the drives: `acceleration` of shape (..., m), `active_qdd` (..., a), `passive_qdd` (..., p).

        Args:
            x: poses, shape (..., n).
            xd: twists of the platform, shape (..., m); at rest unless given.
            efforts: efforts of the drives, shape (..., a); none unless given.
            matrices: inertia matrices and biases too, in `documents`.
            friction, friction_width: friction of all joints, sharp or smooth over a rate.
            out: array of shape (..., m) that `acceleration` is written to.

        Other arguments are those of :meth:`idm`.

        >>> import gough
        >>> r = gough.robot("gough-stewart")
        >>> still = r.idm(r.home)
        >>> bool(abs(r.ddm(r.home, efforts=still.efforts).acceleration).max() < 1e-9)
        True
        """
        X, XD = self._x(x), self._motion("xd", xd)
        a = len(self.active_joints)
        tau = numbers("efforts", np.zeros(a) if efforts is None else efforts)
        fitting("efforts", tau, [a], [f"q{name}" for name in self.active_joints])
        lead = leading(x=X, xd=XD, efforts=tau)
        m, p = len(self.components), len(self.passive_joints)
        count = states(lead, m + a + p)
        options: dict[str, Any] = {
            "payload": payload,
            "wrench": wrench,
            "load": load,
            "friction": friction,
            "friction_width": friction_width,
            "joints": joints,
            "joint_rates": joint_rates,
            "matrices": matrices,
            "derivatives": derivatives,
            "deflected": deflected,
        }
        question = {"method": "ddm", "x": X, "xd": XD, "efforts": tau, "mode": mode, **given_of(options)}
        if executor is not None or folder is not None:
            asked = given_of(options | {"mode": mode, "rigid": rigid, "threads": threads})
            from ._pieces import Pieces

            pieces = Pieces(self, "ddm", {"x": X, "xd": XD, "efforts": tau}, asked, lead, count)
            return self._spread(Accelerations, question, pieces, (executor, folder), on_refusal, out)
        if any(options.values()) or (self._is_flexible and not rigid):
            words = {"mode": mode, "rigid": rigid} | options
            return self._by_documents(
                Accelerations, "ddm", question, lead, count, (X, XD, tau), words, on_refusal, threads, out
            )
        given = (rows(X, lead, count), rows(XD, lead, count), rows(tau, lead, count))
        made = {"acceleration": Answer(lead, m, out, [X, XD, tau])}
        made |= {"active_qdd": Answer(lead, a), "passive_qdd": Answer(lead, p)}
        refused = self._ddm(given, mode, checked_threads(threads), count, [answer.rows for answer in made.values()])
        arrays = {name: answer.done() for name, answer in made.items()}
        state_words = lambda: self._state_words(X, mode=mode, twist=XD, efforts=tau, rigid=rigid)
        return self._result(Accelerations, question, lead, arrays, refused, on_refusal, ("ddm", state_words), DDM_KEYS)

    def trajectory(
        self,
        file: str | os.PathLike[str],
        *,
        step: Value = None,
        csv: Value = None,
        plot: Value = None,
        mode: Value = None,
        payload: Value = None,
        wrench: Value = None,
        rigid: bool = False,
    ) -> Document:
        """Efforts along a motion, and where limits are passed: `gough idm --trajectory`."""
        given: dict[str, Any] = {"trajectory": file, "step": step, "csv": csv, "plot": plot, "mode": mode}
        given |= {"payload": payload, "wrench": wrench, "rigid": rigid}
        return one(self, "idm", _words.options(self, given))

    def frequencies(
        self,
        x: PoseLike | None = None,
        *,
        count: int | Literal["all"] = 10,
        mode: str | None = None,
        actuators: Literal["elastic", "locked", "free"] = "elastic",
        energy: bool = False,
        shapes: bool = False,
        sensitivity: bool = False,
        method: Value = None,
        rods: Value = None,
        virtual: Value = None,
        compare: Value = None,
        wrench: Value = None,
        reduce: int | None = None,
        out: FloatArray | None = None,
        threads: int | None = None,
        on_refusal: OnRefusal = "mask",
        executor: Executor | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> Frequencies:
        """Natural frequencies, from the lowest: `hz` of shape (..., count), and `omega2`, the squares of the angular ones.

        Args:
            x: poses, shape (..., n); home unless given.
            count: how many, or `"all"`.
            actuators: what the drives do while the robot vibrates.
            energy: shares of the energies too, as `energy`.
            shapes: shapes of the modes too, as `shapes`.
            sensitivity: derivatives by named parameters too, as `sensitivity`.
            method, rods, virtual, compare, wrench: the Cartesian method, as on the command line.
            reduce: reduces every leg to so many of its modes.

        Other arguments are those of :meth:`idm`.

        >>> import gough
        >>> r = gough.robot("navaro")
        >>> r.frequencies([0.0, 0.0, -1.0471975511965976], count=3).hz.round(2).tolist()[:2]
        [45.71, 45.71]
        """
        X = self._x(self.home if x is None else x)
        lead = leading(x=X)
        own: dict[str, Any] = {"method": method, "rods": rods, "virtual": virtual, "compare": compare}
        own |= {"wrench": wrench, "reduce": reduce}
        wishes = {"energy": energy, "modes": shapes, "sensitivity": sensitivity}
        if isinstance(count, bool) or (count != "all" and not (isinstance(count, int | np.integer) and count > 0)):
            raise BadQuestion(f"count is {count!r}; give a number above zero, or 'all'")
        plain = not any(own.values())
        n = self._number_of(actuators, count) if plain else 0
        states_count = states(lead, max(n, 1))
        question = {"method": "frequencies", "x": X, "count": count, "mode": mode, "actuators": actuators}
        question |= given_of(own | wishes)
        if executor is not None or folder is not None:
            asked = {"count": count, "mode": mode, "actuators": actuators, "threads": threads} | own
            asked |= {"energy": energy, "shapes": shapes, "sensitivity": sensitivity}
            from ._pieces import Pieces

            pieces = Pieces(self, "frequencies", {"x": X}, given_of(asked), lead, states_count)
            return self._spread(Frequencies, question, pieces, (executor, folder), on_refusal, out)
        if any(wishes.values()) or not plain:
            words = own | {"mode": mode, "count": str(count), "actuators": actuators}
            words |= {"modes": shapes, "sensitivity": sensitivity}
            return self._by_documents(
                Frequencies, "frequencies", question, lead, states_count, (X,), words, on_refusal, threads, out
            )
        hz, squares = Answer(lead, n, out, [X]), Answer(lead, n)
        refused = self._frequencies(
            rows(X, lead, states_count), mode, actuators, checked_threads(threads), states_count, [hz.rows, squares.rows]
        )
        arrays = {"hz": hz.done(), "omega2": squares.done()}
        state_words = lambda: self._state_words(X, mode=mode, actuators=actuators)
        return self._result(Frequencies, question, lead, arrays, refused, on_refusal, ("frequencies", state_words))

    def _number_of(self, actuators: str, count: int | str) -> int:
        known = self.__dict__.setdefault("_numbers", {})
        if actuators not in known:
            known[actuators] = self._modes(actuators)
        most: int = known[actuators]
        return most if isinstance(count, str) else min(int(count), most)
