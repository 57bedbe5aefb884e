"""Natural frequencies of a frame (see docs/src/reference/peers.md for its keys) in OpenSees: python opensees.py FRAME.json..

Joints are `equalDOF` constraints between nodes at one place, so their axes must be x, y or z of the world."""

import json
import math
import sys
import time

import openseespy.opensees as ops

LARGE, SMALL = 1e12, 1e-20
HELD, FREE = 1, 0


def released(free):
    """Freedoms (1 to 6) that a joint leaves."""
    if free is None:
        return []
    if free == "all":
        return [4, 5, 6]
    along = [k for k in range(3) if abs(abs(free[k]) - 1.0) < 1e-12]
    if len(along) != 1:
        sys.exit("OpenSees: a joint axis is not x, y or z of the world")
    return [4 + along[0]]


def root(parent, node):
    while parent[node] != node:
        node = parent[node]
    return node


def build(frame):
    ops.wipe()
    ops.model("basic", "-ndm", 3, "-ndf", 6)
    for n, node in enumerate(frame["nodes"]):
        ops.node(n, *node["at"])
        if node["mass"] or "inertia" in node:
            moments = node.get("inertia", [[0.0] * 3] * 3)
            if any(abs(moments[i][j]) > 1e-14 for i in range(3) for j in range(3) if i != j):
                sys.exit("OpenSees: the inertia of a node has products of inertia")
            ops.mass(n, *[node["mass"]] * 3, *[moments[k][k] for k in range(3)])
    for beam in frame["beams"]:
        element(beam, frame["planar"])
    ties(frame)
    for spring in frame["springs"]:
        turn(spring)


def element(beam, planar):
    """A beam; where rotary inertia counts, OpenSees has it in its Timoshenko element, made stiff in shear.

    OpenSees takes the torsion constant for the polar moment of the mass: a second element without stiffness brings the rest."""
    E, G, A, Iy, Iz, J = (beam[k] for k in ("E", "G", "A", "Iy", "Iz", "J"))
    if beam["shear"]:
        sys.exit("OpenSees: shear is not compared, the shear factor is a choice of each program")
    transform = 1 + len(ops.getEleTags() or [])
    ops.geomTransf("Linear", transform, *beam["z"])
    mass = ("-mass", beam["rho"] * A, "-cMass")
    if beam["rotary_inertia"]:
        ops.element("ElasticTimoshenkoBeam", transform, *beam["nodes"], E, G, A, J, Iy, Iz, LARGE * A, LARGE * A, transform, *mass)
    else:
        ops.element("elasticBeamColumn", transform, *beam["nodes"], A, E, G, J, Iy, Iz, transform, *mass)
    if planar or beam["Ip"] == J:
        return
    light = 1e-12
    polar = beam["rho"] * (beam["Ip"] - J) / light
    ops.geomTransf("Linear", transform + 1, *beam["z"])
    ops.element(
        "elasticBeamColumn", transform + 1, *beam["nodes"], 1.0, SMALL, SMALL, polar, SMALL, SMALL, transform + 1, "-mass", light, "-cMass"
    )


def ties(frame):
    """Supports, and joints. A node can follow one node only: of all nodes at one place, those that are held together follow the first."""
    supports = {}
    chained = []
    for tie in frame["ties"]:
        kept = [d for d in range(1, 7) if d not in released(tie["free"])]
        a, b = tie["nodes"]
        if a is None or b is None:
            node = b if a is None else a
            supports.setdefault(node, set()).update(kept)
        else:
            chained.append((a, b, tuple(kept)))
    if frame["planar"]:
        for n in range(len(frame["nodes"])):
            supports.setdefault(n, set()).update([3, 4, 5])
    # Freedom by freedom: the smallest node of each group leads.
    leader = {d: list(range(len(frame["nodes"]))) for d in range(1, 7)}
    for a, b, kept in chained:
        for d in kept:
            one, other = sorted((root(leader[d], a), root(leader[d], b)))
            leader[d][other] = one
    held = {(root(leader[d], n), d) for n, freedoms in supports.items() for d in freedoms}
    for n in range(len(frame["nodes"])):
        lead = [root(leader[d], n) for d in range(1, 7)]
        fixed = [HELD if (lead[d - 1], d) in held else FREE for d in range(1, 7)]
        if any(fixed):
            ops.fix(n, *fixed)
        for first in sorted(set(lead) - {n}):
            follows = [d for d in range(1, 7) if lead[d - 1] == first and not fixed[d - 1]]
            if follows:
                ops.equalDOF(first, n, *follows)


def turn(spring):
    """A rotational spring between two nodes, or a node and the ground."""
    a, b = spring["nodes"]
    tag = 1 + max(ops.getEleTags())
    if a is None or b is None:
        node = b if a is None else a
        ground = 1 + max(ops.getNodeTags())
        ops.node(ground, *ops.nodeCoord(node))
        ops.fix(ground, *[HELD] * 6)
        a, b = ground, node
    ops.uniaxialMaterial("Elastic", tag, spring["stiffness"])
    ops.element("zeroLength", tag, a, b, "-mat", tag, "-dir", *released(spring["axis"]))


def frequencies(solver, count):
    return [math.sqrt(max(x, 0.0)) / (2.0 * math.pi) for x in ops.eigen(solver, count)]


def settings():
    ops.constraints("Transformation")
    ops.numberer("RCM")
    ops.system("BandGeneral")
    ops.algorithm("Linear")
    ops.integrator("LoadControl", 1.0)
    ops.analysis("Static")


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
    build(frame)
    settings()
    ops.analyze(1)
    freedoms = ops.systemSize()
    ways = [("lowest 5 frequencies", "ARPACK", "-genBandArpack", 5), ("lowest 5 frequencies", "LAPACK", "-fullGenLapack", 5)]
    for task, name, solver, count in ways + [("all frequencies", "LAPACK", "-fullGenLapack", freedoms)]:

        def work():
            build(frame)
            settings()
            return frequencies(solver, count)

        found, best, median = timed(work, 20)
        yield {
            "robot": frame["robot"],
            "task": task,
            "by": f"OpenSees, {name}, from the model",
            "best_ns": best,
            "median_ns": median,
            "frequencies_hz": sorted(found),
        }


if __name__ == "__main__":
    print(json.dumps([row for path in sys.argv[1:] for row in rows(path)]))
