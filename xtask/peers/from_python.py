"""Inverse dynamics called from Python: the package of the library, and Pinocchio's with numpy by hand: python from_python.py ROBOT.json

By hand means what a user of Pinocchio writes: `rnea` of the cut tree with the platform as a free body, Jacobians of all joints, the
closures' rows from them in a few array operations, one solve with the passive columns."""

import json
import statistics
import sys
import time

import numpy as np
import pinocchio as pin

import gough

MANY = 100_000
LASTS = 0.3


def frame(x):
    return pin.SE3(np.array(x["R"]), np.array(x["p"]))


def inertia(x):
    """From the dynamic parameters, which may be grouped: no body has them alone."""
    I = x["inertia"]
    moments = [I[0][0], I[0][1], I[1][1], I[0][2], I[1][2], I[2][2]]
    return pin.Inertia.FromDynamicParameters(np.array([x["mass"], *x["first_moment"], *moments]))


class ByHand:
    """The cut tree, the platform a free body."""

    def __init__(self, robot):
        self.model = model = pin.Model()
        model.gravity.linear = np.array(robot["gravity"])
        self.platform = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
        model.appendBodyToJoint(self.platform, inertia(robot["platform"]), pin.SE3.Identity())
        joints, armature = [], {}
        for body in robot["bodies"]:
            kind = pin.JointModelRZ() if body["joint"] == "R" else pin.JointModelPZ()
            parent = 0 if isinstance(body["parent"], str) else joints[body["parent"]]
            joints.append(model.addJoint(parent, kind, frame(body["frame"]), body["name"]))
            model.appendBodyToJoint(joints[-1], inertia(body["inertia"]), pin.SE3.Identity())
            armature[model.joints[joints[-1]].idx_v] = body["rotor"]
        for place, rotor in armature.items():
            model.armature[place] = rotor
        self.data = model.createData()
        places = {body["coordinate"]: model.joints[j].idx_v for body, j in zip(robot["bodies"], joints)}
        self.places = [places[c] for c in range(len(places))]
        self.active = np.array([places[c] for c in robot["active"]])
        self.passive = np.array([k for k in range(model.nv) if k not in self.active])
        self.ends, self.signs = [], np.zeros((len(robot["closures"]), 1, model.nv))
        for c, closure in enumerate(robot["closures"]):
            for side, sign in ((closure["a"], 1.0), (closure["b"], -1.0)):
                joint = self.platform if isinstance(side["on"], str) else joints[side["on"]]
                if sign > 0:
                    self.ends.append((joint, np.array(side["frame"]["p"])))
                while joint > 0:
                    own = model.joints[joint]
                    self.signs[c, 0, own.idx_v : own.idx_v + own.nv] = sign
                    joint = model.parents[joint]

    def state(self, s):
        """What Pinocchio is given: positions, rates and accelerations of the tree, those of a free body in its own axes."""
        R = np.array(s["platform"]["R"])
        q, v, a = np.zeros(self.model.nq), np.zeros(self.model.nv), np.zeros(self.model.nv)
        q[:3], q[3:7] = s["platform"]["p"], pin.Quaternion(R).coeffs()
        V, A = np.array(s["twist"]), np.array(s["acceleration"])
        v[:3], v[3:6] = R.T @ V[:3], R.T @ V[3:]
        a[:3], a[3:6] = R.T @ (A[:3] - np.cross(V[3:], V[:3])), R.T @ A[3:]
        for c, place in enumerate(self.places):
            q[place + 1], v[place], a[place] = s["q"][c], s["qd"][c], s["qdd"][c]
        return q, v, a

    def efforts(self, q, v, a):
        """Tree: tau = S efforts + J^T lambda."""
        tau = pin.rnea(self.model, self.data, q, v, a)
        J = pin.computeJointJacobians(self.model, self.data, q)
        p = np.array([self.data.oMi[joint].act(at) for joint, at in self.ends])
        v, w = J[:3], J[3:]
        x, y, z = p.T[:, :, None]
        moved = np.stack([v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z, v[2] + w[0] * y - w[1] * x], axis=1)
        rows = (self.signs * moved).reshape(-1, self.model.nv)
        forces = np.linalg.solve(rows[:, self.passive].T, tau[self.passive])
        return tau[self.active] - rows[:, self.active].T @ forces


def measured(call, inputs, states=1):
    """Nanoseconds of processor time per state: best and median of all turns through the inputs."""
    turns, begun = [], time.perf_counter()
    while time.perf_counter() - begun < LASTS or len(turns) < 5:
        turn = time.process_time_ns()
        for one in inputs:
            call(*one)
        turns.append((time.process_time_ns() - turn) / (len(inputs) * states))
    return {"best_ns": min(turns), "median_ns": statistics.median(turns)}


def main(path):
    with open(path) as file:
        robot = json.load(file)
    wanted = np.array([s["efforts"] for s in robot["states"]])
    apart = lambda found: float((np.abs(found - wanted).max(axis=-1) / np.abs(wanted).max(axis=-1)).max())
    r = gough.robot(robot["robot"])

    def pose(s):
        x, y, z, w = pin.Quaternion(np.array(s["platform"]["R"])).coeffs()
        return [*s["platform"]["p"], w, x, y, z]

    x = np.array([pose(s) for s in robot["states"]])
    xd, xdd = (np.array([s[key] for s in robot["states"]]) for key in ("twist", "acceleration"))
    rows = []

    def row(by, error, times):
        rows.append({"robot": robot["robot"], "task": "idm from Python", "by": by, "error": error, **times})

    single = [tuple(np.array(part) for part in state) for state in zip(x, xd, xdd)]
    row("gough", apart(np.array([r.efforts(*state) for state in single])), measured(r.efforts, single))
    many = [np.tile(array, (-(-MANY // len(x)), 1))[:MANY] for array in (x, xd, xdd)]
    batch = lambda x, xd, xdd: r.idm(x, xd, xdd, threads=1).efforts
    row("gough, 100000 states in one call", apart(batch(*many)[: len(x)]), measured(batch, [many], MANY))
    hand = ByHand(robot)
    given = [hand.state(s) for s in robot["states"]]
    found = np.array([hand.efforts(*state) for state in given])
    row("Pinocchio, by hand", apart(found), measured(hand.efforts, given))
    print(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1])
