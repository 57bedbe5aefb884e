"""Robots, and what they are asked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import numpy as np
import numpy.typing as npt

from . import _native, _words
from ._arrays import MANY, Answer, FloatArray, fitting, leading, numbers, of_many, rows, states
from ._asked import DDM_KEYS, IDM_KEYS, Asked, OnRefusal, PoseLike, checked_threads, given_of, word_of
from ._card import card
from ._documents import Document, ask, one
from ._errors import BadQuestion, Error
from ._map import Map
from ._parameters import Parameters
from ._results import Accelerations, Efforts, Frequencies, Modes, Result
from ._words import Value

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Robot(Asked):
    """A robot, ready to be asked. Made by :func:`gough.robot`, :func:`gough.load` or :func:`gough.from_text`; it never changes.

    There is one method per command of the program, under the same name. Poses `x` have the platform's own coordinates along
    their last axis, in the order of `coordinates`; leading axes are states and broadcast as in numpy. A spatial platform takes
    seven numbers too: position and quaternion, scalar first. Twists `xd` and accelerations `xdd` have the platform's own
    `components`. All numbers are in SI units and radians.

    One state that has no answer raises :class:`gough.NoAnswer`; of many states the others are answered, `ok` is a mask and
    `refused` says why. `on_refusal="raise"` raises there too. `threads` limits how many cores are used.
    """

    # What the robot is

    @cached_property
    def home(self) -> FloatArray:
        """The home pose, in the platform's coordinates: shape (n,)."""
        home = np.asarray(self._home)
        home.flags.writeable = False
        return home

    @cached_property
    def mode(self) -> str:
        """The working mode of the file."""
        return self._mode

    @cached_property
    def parameters(self) -> Parameters:
        """Named parameters, and, called, the command of that name.

        >>> import gough
        >>> round(gough.robot("five-bar").parameters["d12"].value, 4)
        0.213
        """
        return Parameters(self._parameters, self.dynamic_parameters)

    @property
    def text(self) -> str:
        """The text of its file."""
        return self._source[1]

    def with_parameters(self, **values: float | str) -> Robot:
        """The robot with other values of named parameters: numbers in SI units, or quantities such as `"220 mm"`.

        >>> import gough
        >>> r = gough.robot("five-bar").with_parameters(d13="19 cm")
        >>> r.parameters["d13"].value
        0.19
        """
        name, text, files, given, actuation = self._source
        for unknown in values.keys() - self.parameters.keys():
            self.parameters[unknown]  # tells the nearest
        kept = [(own, value) for own, value in given if own not in values]
        return type(self)(name, text, files, [*kept, *settings(values)], actuation)

    def _key(self) -> tuple[Any, ...]:
        name, text, files, given, actuation = self._source
        return name, text, tuple(sorted(files.items())), tuple(given), actuation

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (_native.version, *self._source)

    def __repr__(self) -> str:
        legs = f"{len(self.active_joints)} drives ({', '.join(self.active_joints)})"
        return f"<gough.Robot {self.name}: platform {', '.join(self.coordinates)}; {legs}; working mode {self.mode}>"

    def _repr_html_(self) -> str:
        return card(self)

    def ask(self, command: str, **options: Value) -> Document:
        """Any command of the program with its options, `-` written as `_`: the document of `--json`.

        >>> import gough
        >>> gough.robot("five-bar").ask("kinematics", pose={"x": 0.05, "y": 0.25})["working_mode"]
        '+-'
        """
        return one(self, command, _words.options(self, options))

    def view(self) -> NoReturn:
        """The viewer."""
        raise Error("the viewer has no page in this version; `r` in a notebook shows a drawing, and maps have plot()")

    # Geometry

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
        """The matrices of first order at a pose, and of second order where a twist is given: `gough kinematics --matrices`."""
        given: dict[str, Any] = {"twist": xd, "mode": mode, "joints": joints, "matrices": True}
        return one(self, "kinematics", [*self._state_words(self._x(x)), *_words.options(self, given)])

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

    # Dynamics

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

    # Vibration

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

    def map(
        self,
        quantity: str,
        *,
        mode: Value = None,
        stiffness: float | None = None,
        wrench: Value = None,
        actuators: Value = None,
        method: Value = None,
        rods: Value = None,
        virtual: Value = None,
        follow: bool = False,
        by_order: bool = False,
        plot: Value = None,
        scale: Value = None,
        csv: Value = None,
        threads: int | None = None,
        executor: Executor | None = None,
        folder: str | os.PathLike[str] | None = None,
        **coordinates: float | str | tuple[float | str, float | str] | tuple[float | str, float | str, int],
    ) -> Map:
        """A quantity over a region of the workspace, by its name in `gough map --quantity`.

        Coordinates are spanned, `x=(-0.2, 0.2, 101)`, or fixed, `phi="-60 deg"`; those left out are those of home. With
        `executor` or `folder` the map is computed in rows, its last coordinate one value after the other: the same numbers to
        the last bit, frequencies to 1e-10. Areas (`aspect`, `reachable`) and modes that are followed belong together and are not.

        >>> import gough
        >>> r = gough.robot("five-bar")
        >>> m = r.map("conditioning", x=(-0.1, 0.1, 11), y=(0.2, 0.3, 6))
        >>> m.values.shape, list(m.axes)
        ((11, 6), ['x', 'y'])
        """
        region = {name: span for name, span in coordinates.items() if isinstance(span, tuple | list)}
        fixed = {name: value for name, value in coordinates.items() if name not in region}
        if not region:
            raise BadQuestion("a map needs a span: x=(-0.2, 0.2, 101)")
        if executor is not None or folder is not None:
            if len(region) < 2 or quantity in ("aspect", "reachable") or follow or plot or csv:
                raise BadQuestion(
                    "executor and folder take rows of a map over two or three coordinates, without areas, follow, plot and csv"
                )
            own = {"mode": mode, "stiffness": stiffness, "wrench": wrench, "actuators": actuators, "method": method}
            own |= {"rods": rods, "virtual": virtual, "threads": threads}
            counted = {"by_order": True} if re.fullmatch("f[0-9]+", quantity) and method != "cartesian" else {}
            from ._pieces import spread_map

            whole = spread_map(self, (quantity, region, fixed, given_of(own) | counted), executor, folder)
            return Map(Document("map", whole), {"method": "map", "quantity": quantity, **coordinates, **given_of(own)})
        given: dict[str, Any] = {"quantity": quantity, "region": region, "pose": fixed or None, "mode": mode}
        given |= {"stiffness": stiffness, "wrench": wrench, "actuators": actuators, "method": method, "rods": rods}
        given |= {"virtual": virtual, "follow": follow, "by_order": by_order, "plot": plot, "scale": scale, "csv": csv}
        (found,) = ask(self, "map", [_words.options(self, given)], checked_threads(threads))
        if isinstance(found, Error):
            raise found
        return Map(found, {"method": "map", **given_of(given)})

    # Code

    def codegen(
        self,
        model: str,
        lang: str = "c",
        *,
        output: str | os.PathLike[str] | None = None,
        count: bool = False,
        symbolic: Value = None,
        derivatives: Value = None,
        friction: bool = False,
        parameters: Value = None,
        solve: Value = None,
        coordinates: Value = None,
        actuators: Value = None,
        margins: bool = False,
        mode: Value = None,
    ) -> Document:
        """Source code of a model: the document of `gough codegen --json`, and with `texts` the files by name.

        `output` is a folder that the files are written to; without it they are in the answer only.

        >>> import gough
        >>> code = gough.robot("five-bar").codegen("idm", "python")
        >>> any(name.endswith(".py") for name in code["texts"])
        True
        """
        given: dict[str, Any] = {"model": model, "lang": lang, "count": count, "symbolic": symbolic}
        given |= {"derivatives": derivatives, "friction": friction, "parameters": parameters, "solve": solve}
        given |= {"coordinates": coordinates, "actuators": actuators, "margins": margins, "mode": mode}
        import tempfile

        with tempfile.TemporaryDirectory(prefix="gough-") as temporary:
            folder = Path(output) if output is not None else Path(temporary, "code")
            found = one(self, "codegen", [*_words.options(self, given), f"--output={folder}"])
            names = [Path(name) for name in _file_names(found)]
            paths = [path if path.is_absolute() else folder / path.name for path in names]
            texts = {path.name: path.read_text() for path in paths if path.is_file()}
        return Document("codegen", {**found.to_dict(), "texts": texts})


def _file_names(document: Document) -> list[str]:
    files = document.get("files", [])
    return [file["name"] if isinstance(file, dict) else str(file) for file in files]


def settings(values: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Parameters that are set, as text."""
    pairs = (values or {}).items()
    return [(name, value if isinstance(value, str) else _words.number(value, name)) for name, value in pairs]


def _remade(
    version: str, name: str, text: str, files: dict[str, str], given: list[tuple[str, str]], actuation: str | None
) -> Robot:
    """A robot that was pickled."""
    if version != _native.version:
        raise Error(
            f"the robot {name} was pickled by gough {version}, and this is {_native.version}; make it again from its file"
        )
    return Robot(name, text, files, given, actuation)
