"""Natural frequencies, in its plane, of a frame in the xy plane (see docs/src/reference/peers.md for its keys) in Exudyn:
python exudyn_frame.py FRAME.json..

Beams are ANCF cables: cubic in bending, as Bernoulli beams, but cubic along the axis too, so that frequencies agree to what the
mesh leaves. They have no rotary inertia: where it counts, a mass matrix beside the cable brings it."""

import json
import math
import os
import sys
import time

import numpy as np

import exudyn as exu
from exudyn.itemInterface import (
    CoordinateVectorConstraint,
    MarkerNodeCoordinates,
    NodePoint2DSlope1,
    NodePointGround,
    ObjectANCFCable2D,
    ObjectGenericODE2,
    VObjectANCFCable2D,
)


def directions(frame):
    """Unit vector of the beam at each node: nodes of one beam lie on one line."""
    along = [None] * len(frame["nodes"])
    for beam in frame["beams"]:
        a, b = (np.array(frame["nodes"][n]["at"][:2]) for n in beam["nodes"])
        for n in beam["nodes"]:
            along[n] = (b - a) / np.linalg.norm(b - a)
    return along


def build(mbs, frame):
    """A node of Exudyn per node of the frame: x, y and the derivative of both along the beam."""
    along = directions(frame)
    nodes = []
    for node, d in zip(frame["nodes"], along):
        if d is None:
            sys.exit("Exudyn: a node without a beam")
        nodes.append(mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=[*node["at"][:2], *d])))
        if node["mass"]:
            mbs.AddObject(ObjectGenericODE2(nodeNumbers=[nodes[-1]], massMatrix=np.diag([node["mass"], node["mass"], 0.0, 0.0])))
    for beam in frame["beams"]:
        length = math.dist(*(frame["nodes"][n]["at"] for n in beam["nodes"]))
        mbs.AddObject(
            ObjectANCFCable2D(
                nodeNumbers=[nodes[n] for n in beam["nodes"]],
                length=length,
                massPerLength=beam["rho"] * beam["A"],
                bendingStiffness=beam["E"] * beam["Iz"],
                axialStiffness=beam["E"] * beam["A"],
                useReducedOrderIntegration=0,
                visualization=VObjectANCFCable2D(show=False),
            )
        )
        if beam["rotary_inertia"]:
            matrix = beam["rho"] * beam["Iz"] * rotary(length, along[beam["nodes"][0]])
            mbs.AddObject(ObjectGenericODE2(nodeNumbers=[nodes[n] for n in beam["nodes"]], massMatrix=matrix))
    for spring in frame["springs"]:
        hold(mbs, spring, nodes, along)
    ground = mbs.AddNode(NodePointGround(referenceCoordinates=[0.0, 0.0, 0.0]))
    for tie in frame["ties"]:
        constrain(mbs, tie, nodes, along, ground)
    mbs.Assemble()


def hold(mbs, spring, nodes, along):
    """A spring about z between the beams at two nodes, or one and the ground: the angle of a beam is its slope across it."""
    if not frame_axis(spring["axis"]):
        sys.exit("Exudyn: the axis of a spring is not normal to the plane")
    ends = [n for n in spring["nodes"] if n is not None]
    angle = np.concatenate([sign * np.array([0.0, 0.0, -along[n][1], along[n][0]]) for sign, n in zip((1, -1), ends)])
    stiffness = spring["stiffness"] * np.outer(angle, angle)
    mbs.AddObject(
        ObjectGenericODE2(nodeNumbers=[nodes[n] for n in ends], massMatrix=0.0 * stiffness, stiffnessMatrix=stiffness)
    )


def rotary(l, d):
    """Integral of the squared angle of a cubic beam along d, on x, y and slopes of both ends."""
    across = np.kron(np.eye(4), [[-d[1], d[0]]])
    squared = np.array(
        [
            [6 / (5 * l), 1 / 10, -6 / (5 * l), 1 / 10],
            [1 / 10, 2 * l / 15, -1 / 10, -l / 30],
            [-6 / (5 * l), -1 / 10, 6 / (5 * l), -1 / 10],
            [1 / 10, -l / 30, -1 / 10, 2 * l / 15],
        ]
    )
    return across.T @ squared @ across


def rows_of(direction, turns):
    """What a tie compares, on the coordinates of one side: x, y and, where it cannot turn, the angle of the beam."""
    rows = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    if not turns:
        rows.append([0.0, 0.0, -direction[1], direction[0]])
    return np.array(rows)


def constrain(mbs, tie, nodes, along, ground):
    turns = tie["free"] is not None
    sides = sorted(tie["nodes"], key=lambda n: n is None)
    first, other = sides
    if frame_axis(tie["free"]) is False:
        sys.exit("Exudyn: a joint axis is not normal to the plane")
    rows = rows_of(along[first], turns)
    one = mbs.AddMarker(MarkerNodeCoordinates(nodeNumber=nodes[first]))
    if other is None:
        two = mbs.AddMarker(MarkerNodeCoordinates(nodeNumber=ground))
        back = np.zeros((0, 0))
    else:
        two = mbs.AddMarker(MarkerNodeCoordinates(nodeNumber=nodes[other]))
        back = rows_of(along[other], turns)
    mbs.AddObject(
        CoordinateVectorConstraint(
            markerNumbers=[one, two],
            scalingMarker0=rows,
            scalingMarker1=back,
            offset=[0.0] * len(rows),
        )
    )


def frame_axis(free):
    """Whether a joint turns about z; True where it does not turn at all."""
    return free is None or free == "all" or abs(abs(free[2]) - 1.0) < 1e-12


def frequencies(frame):
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    build(mbs, frame)
    squares, _ = exu.solver.ComputeODE2Eigenvalues(mbs)
    return sorted(math.sqrt(abs(x)) / (2.0 * math.pi) for x in squares), mbs


def timed(work, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = work()
        times.append((time.perf_counter() - start) * 1e9)
    times.sort()
    return found, times[0], times[len(times) // 2]


def rows(path):
    with open(path, encoding="utf-8") as file:
        frame = json.load(file)
    if len({node["at"][2] for node in frame["nodes"]}) > 1:
        sys.exit("Exudyn: only frames in a plane")
    (found, _), best, median = timed(lambda: frequencies(frame), 10)
    yield {
        "robot": frame["robot"],
        "task": "lowest 5 frequencies",
        "by": "Exudyn, ANCF cables, from the model",
        "best_ns": best,
        "median_ns": median,
        "frequencies_hz": found[:5],
        "in_plane": True,
    }


if __name__ == "__main__":
    # Exudyn prints while it works; the answer alone goes to where it is read.
    answer = os.dup(1)
    os.dup2(2, 1)
    result = json.dumps([row for path in sys.argv[1:] for row in rows(path)])
    os.write(answer, (result + "\n").encode())
