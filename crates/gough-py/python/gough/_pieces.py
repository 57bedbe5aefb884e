"""Many states in pieces: on executors, and in a folder that a second call goes on from."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._arrays import MANY, FloatArray, Shape, of_many, rows
from ._errors import BadQuestion, Error

if TYPE_CHECKING:
    from ._asked import Asked
    from ._robot import Robot

SIZE = 4096
"""States in a piece."""
_TRIES = 3

_Refused = tuple[int, str, str, str]
Answered = tuple[dict[str, FloatArray], list[_Refused], list[dict[str, Any] | None]]


@dataclass(frozen=True)
class Pieces:
    """A question about many states."""

    robot: Asked
    method: str
    inputs: dict[str, FloatArray]
    options: dict[str, Any]
    lead: Shape
    count: int

    def digest(self) -> str:
        """A name of the question: equal questions have equal names."""
        said = hashlib.sha256()
        told = [_native.version, _native.lanes, self.method, repr(self.robot._key()), repr(sorted(self.options.items()))]
        told.append(repr((self.lead, SIZE)))
        said.update("\0".join(told).encode())
        for name, array in self.inputs.items():
            said.update(name.encode() + repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return said.hexdigest()[:24]

    def cut(self) -> Iterator[tuple[int, dict[str, FloatArray]]]:
        """First state and inputs of every piece."""
        flat = {name: rows(array, self.lead, self.count) for name, array in self.inputs.items()}
        for first in range(0, self.count, SIZE):
            last = min(first + SIZE, self.count)
            yield first, {name: _cut(array, first, last, self.count) for name, array in flat.items()}


def _cut(array: FloatArray, first: int, last: int, count: int) -> FloatArray:
    own = array[first:last] if len(array) == count else array
    return np.ascontiguousarray(np.broadcast_to(own, (last - first, array.shape[-1])))


def answered(
    robot: Asked, method: str, inputs: Mapping[str, FloatArray], options: Mapping[str, Any], many: bool = False
) -> Answered:
    """A piece, wherever it is computed."""
    before = of_many.set(many)
    try:
        found = getattr(robot, method)(**inputs, **options)
    finally:
        of_many.reset(before)
    refused = [(one.index[0], one.kind, one.message, one._facts) for one in found.refused]
    return dict(found._arrays), refused, found.documents


def _kept(file: Path) -> Any:
    """A piece that a folder has; `None` where it has none, or half of one."""
    try:
        with file.open("rb") as opened:
            return pickle.load(opened)
    except (OSError, EOFError, pickle.UnpicklingError, ValueError):
        return None


def _keep(file: Path, found: Any) -> None:
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as opened:
            pickle.dump(found, opened, protocol=4)
        part.replace(file)
    except OSError as why:
        part.unlink(missing_ok=True)
        raise Error(f"a piece cannot be kept in {file.parent}: {why}; what is there is kept, make room and ask again") from why


def _place(folder: str | os.PathLike[str], method: str, digest: str, question: dict[str, Any]) -> Path:
    place = Path(folder, f"{method}-{digest}")
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / "question.json").write_text(json.dumps(question))
    except OSError as why:
        raise Error(f"pieces cannot be kept in {folder}: {why}; name a folder that can be written to") from why
    return place


def spread(pieces: Pieces, executor: Executor | None, folder: str | os.PathLike[str] | None) -> Answered:
    """Answer in pieces; those that the folder has are not computed again."""
    question = {"robot": pieces.robot.name, "method": pieces.method, "states": pieces.count, "of": SIZE}
    place = None if folder is None else _place(folder, pieces.method, pieces.digest(), question)
    asked = {first: (pieces.robot, pieces.method, inputs, pieces.options, pieces.count >= MANY) for first, inputs in pieces.cut()}
    return _joined(pieces, gathered(answered, asked, executor, place))


def gathered(
    function: Callable[..., Any], asked: Mapping[int, tuple[Any, ...]], executor: Executor | None, place: Path | None
) -> dict[int, Any]:
    """All pieces; those that the folder has are not computed again."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor is {executor!r}; give a concurrent.futures executor, client.get_executor() of Dask, or gough.ray_executor()")
    kept = {} if place is None else {first: _kept(place / f"{first:012}.piece") for first in asked}
    found = {first: piece for first, piece in kept.items() if piece is not None}
    todo = {first: arguments for first, arguments in asked.items() if first not in found}
    for first, answer in _computed(function, todo, executor):
        if place is not None:
            _keep(place / f"{first:012}.piece", answer)
        found[first] = answer
    return found


def _computed(
    function: Callable[..., Any], todo: Mapping[int, tuple[Any, ...]], executor: Executor | None
) -> Iterator[tuple[int, Any]]:
    """Pieces as they come; one whose worker died is given to another."""
    if executor is None:
        for first, arguments in todo.items():
            yield first, function(*arguments)
        return
    tries = dict.fromkeys(todo, 0)

    def submit(first: int) -> Future[Any]:
        tries[first] += 1
        return executor.submit(function, *todo[first])

    waiting: dict[Future[Any], int] = {}
    try:
        for first in todo:
            waiting[submit(first)] = first
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                first = waiting.pop(future)
                why = future.exception()
                if why is None:
                    yield first, future.result()
                elif isinstance(why, Error) or tries[first] >= _TRIES or isinstance(why, BrokenExecutor):
                    raise _lost(why) from why
                else:
                    waiting[submit(first)] = first
    except (BrokenExecutor, RuntimeError) as why:
        raise _lost(why) from why
    finally:
        for future in waiting:
            future.cancel()


def _lost(why: BaseException) -> BaseException:
    if isinstance(why, Error):
        return why
    return Error(
        f"the executor lost a piece: {type(why).__name__}: {why}; ask again with a new executor, and with folder= to go on "
        "from the pieces that are done"
    )


def _joined(pieces: Pieces, found: Mapping[int, Answered]) -> Answered:
    arrays: dict[str, FloatArray] = {}
    refused: list[_Refused] = []
    documents: list[dict[str, Any] | None] = []
    if not found:  # no states: the shapes of an answer about none
        inputs = {name: array[:0] for name, array in _empty(pieces).items()}
        empty = answered(pieces.robot, pieces.method, inputs, pieces.options, pieces.count >= MANY)
        return {name: array.reshape(*pieces.lead, *array.shape[1:]) for name, array in empty[0].items()}, [], []
    order = sorted(found)
    for name in found[order[0]][0]:
        whole = np.concatenate([found[first][0][name] for first in order])
        arrays[name] = whole.reshape(*pieces.lead, *whole.shape[1:])
    for first in order:
        refused += [(first + place, *rest) for place, *rest in found[first][1]]  # type: ignore[misc]
        documents += found[first][2]
    return arrays, refused, documents


def _empty(pieces: Pieces) -> dict[str, FloatArray]:
    return {name: np.zeros((0, array.shape[-1])) for name, array in pieces.inputs.items()}


def map_row(
    robot: Robot, quantity: str, spans: Mapping[str, Any], fixed: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """One row of a map, wherever it is computed."""
    own = {name: value for name, value in options.items() if name != "by_order"}
    one_axis = len(spans) == 1 and options.get("by_order") is not None
    found = robot.map(quantity, **spans, **fixed, **own, by_order=one_axis)
    return found.document.to_dict()


def spread_map(
    robot: Robot,
    asked: tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]],
    executor: Executor | None,
    folder: str | os.PathLike[str] | None,
) -> dict[str, Any]:
    """A map in rows: its last coordinate takes one value after the other."""
    quantity, spans, fixed, options = asked
    *others, last = spans
    (low, high, count) = _span(last, spans[last])
    s = np.arange(count) / (count - 1)
    values = low * (1.0 - s) + high * s
    said = hashlib.sha256(repr((_native.version, _native.lanes, robot._key(), asked)).encode()).hexdigest()[:24]
    question = {"robot": robot.name, "method": "map", "quantity": quantity, "rows": count}
    place = None if folder is None else _place(folder, "map", said, question)
    inner = {name: spans[name] for name in others}
    rows_of = {k: (robot, quantity, inner, {**fixed, last: float(y)}, options) for k, y in enumerate(values)}
    found = gathered(map_row, rows_of, executor, place)
    documents = [found[k] for k in range(count)]
    whole = dict(documents[0])
    whole["axes"] = [*documents[0]["axes"], {"name": last, "values": values.tolist()}]
    lists = np.stack([np.asarray(d["values"], dtype=np.float64) for d in documents], axis=-1)
    whole["values"] = np.where(np.isfinite(lists), lists, np.nan).tolist()
    whole["complete"] = all(d["complete"] for d in documents)
    counts: dict[str, int] = {}
    for refused in (one for d in documents for one in d["refused"]):
        counts[refused["kind"]] = counts.get(refused["kind"], 0) + refused["count"]
    whole["refused"] = [{"kind": kind, "count": n} for kind, n in counts.items()]
    for note in ("lowest", "uncertain", "followed"):
        whole.pop(note, None)
    return whole


def _span(name: str, span: Any) -> tuple[float, float, int]:
    if len(span) != 3 or any(isinstance(part, str) for part in span):
        raise BadQuestion(f"{name}: with an executor a span is three numbers, from, to and count; not {span!r}")
    low, high, count = float(span[0]), float(span[1]), int(span[2])
    if count < 2 or not high > low:
        raise BadQuestion(f"the span of {name} needs two different ends and two values or more")
    return low, high, count


def ray_executor(**options: Any) -> Executor:
    """An executor on Ray, which is started where it is not; `options` are those of `ray.remote`."""
    from ._results import needs

    ray = needs("ray", "ray_executor")
    if not ray.is_initialized():
        ray.init()
    return _RayExecutor(ray, options)


class _RayExecutor(Executor):
    def __init__(self, ray: Any, options: dict[str, Any]) -> None:
        self._ray = ray
        run = lambda function, *args, **kwargs: function(*args, **kwargs)
        self._run = ray.remote(**options)(run) if options else ray.remote(run)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function on Ray."""
        future: Future[Any] = self._run.remote(fn, *args, **kwargs).future()
        return future
