"""One second of free vibration of DualEMPS in Exudyn: python exudyn_motion.py [--convergence] MOTION.json..

The sliders are held; the first beam is released from a deflection. Bodies are rigid bodies of a plane in absolute coordinates,
beams are ANCF cables, which are cubic as the beams of the robot file and may turn and bend as far as they like; joints are
constraints. MOTION.json holds what the library starts from and the displacement that it finds."""

import json
import math
import os
import sys
import time

import numpy as np

# Exudyn prints, already when it is loaded; the answer alone goes to where it is read.
ANSWER = os.dup(1)
os.dup2(2, 1)
# Its build without checks of ranges, where the processor has one.
sys.exudynFast = True
import exudyn as exu
from exudyn.itemInterface import (
    MarkerBodyPosition,
    MarkerBodyRigid,
    NodePoint2DSlope1,
    NodeRigidBody2D,
    ObjectANCFCable2D,
    ObjectGenericODE2,
    ObjectGround,
    ObjectJointGeneric,
    ObjectJointRevolute2D,
    ObjectRigidBody2D,
    SensorBody,
    VObjectANCFCable2D,
)

from exudyn_frame import rotary

# Steps of the library at its relative tolerance of 1e-6, and steps that come to a relative error of 1e-3.
STEPS = (3063, 40000)


class Robot:
    """Parts are placed where they are at the start; a beam is straight before."""

    def __init__(self, motion):
        self.motion = motion
        self.system = exu.SystemContainer()
        self.mbs = self.system.AddSystem()
        self.ground = self.mbs.AddObject(ObjectGround())

    def body(self, at, angle, data):
        """A rigid body by the place of its frame; its node is at its centre of mass."""
        c = data["first_moment"] / data["mass"]
        x, y = at[0] + c * math.cos(angle), at[1] + c * math.sin(angle)
        inertia = data["inertia"] - data["first_moment"] * c
        node = self.mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[x, y, angle]))
        number = self.mbs.AddObject(ObjectRigidBody2D(mass=data["mass"], inertia=inertia, nodeNumber=node))
        return number, c

    def beam(self, data, start, angle, tip, turn):
        """A beam from `start` along `angle`, of which the far end is at `tip` and turned by `turn`; strain at its ends is zero."""
        length, d = data["length"], (math.cos(angle), math.sin(angle))
        far = (start[0] + length * d[0], start[1] + length * d[1])
        end = (math.cos(angle + turn), math.sin(angle + turn))
        nodes = [
            self.mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=[*start, *d])),
            self.mbs.AddNode(
                NodePoint2DSlope1(
                    referenceCoordinates=[*far, *d],
                    initialCoordinates=[tip[0] - far[0], tip[1] - far[1], end[0] - d[0], end[1] - d[1]],
                )
            ),
        ]
        number = self.mbs.AddObject(
            ObjectANCFCable2D(
                nodeNumbers=nodes,
                length=length,
                massPerLength=data["rho"] * data["A"],
                bendingStiffness=data["E"] * data["Iz"],
                axialStiffness=data["E"] * data["A"],
                useReducedOrderIntegration=1,
                visualization=VObjectANCFCable2D(show=False),
            )
        )
        matrix = data["rho"] * data["Iz"] * rotary(length, d)
        self.mbs.AddObject(ObjectGenericODE2(nodeNumbers=nodes, massMatrix=matrix))
        return number

    def weld(self, one, at_one, two, at_two):
        marks = [self.mbs.AddMarker(MarkerBodyRigid(bodyNumber=b, localPosition=[x, 0, 0])) for b, x in ((one, at_one), (two, at_two))]
        self.mbs.AddObject(ObjectJointGeneric(markerNumbers=marks, constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def pin(self, one, at_one, two, at_two):
        places = ((one, at_one), (two, at_two))
        marks = [self.mbs.AddMarker(MarkerBodyPosition(bodyNumber=b, localPosition=[*x, 0])) for b, x in places]
        self.mbs.AddObject(ObjectJointRevolute2D(markerNumbers=marks))

    def build(self):
        m = self.motion
        parts, beams, base = m["bodies"], m["beams"], m["base"]
        root, past, on = m["root"], m["elbow"], m["hand"]
        uy, turn = m["deflection"]
        long, short = beams["13"]["length"], beams["16"]["length"]
        # A cubic of this deflection is shorter along its chord.
        a, b = 3 * uy / long**2 - turn / long, turn / long**2 - 2 * uy / long**3
        ux = -0.5 * (4 * a * a * long**3 / 3 + 3 * a * b * long**4 + 9 * b * b * long**5 / 5)
        reach = np.array([root + long + ux + past * math.cos(turn), uy + past * math.sin(turn)])
        one, two = float(np.hypot(*reach)), root + beams["23"]["length"] + past
        bend = math.acos((one**2 + base**2 - two**2) / (2 * one * base))
        q1 = bend - math.atan2(reach[1], reach[0])
        elbow = np.array([one * math.cos(bend), one * math.sin(bend)])
        q2 = math.atan2(elbow[1], elbow[0] - base)
        along = lambda q, r: np.array([r * math.cos(q), r * math.sin(q)])
        # First leg.
        body12, c12 = self.body((0, 0), q1, parts["12"])
        start = along(q1, root)
        tip = start + along(q1, long + ux) + along(q1 + math.pi / 2, uy)
        beam13 = self.beam(beams["13"], start, q1, tip, turn)
        q = q1 + turn
        body14, c14 = self.body(tip, q, parts["14"])
        start16 = tip + along(q, past + on)
        end16 = start16 + along(q, short)
        beam16 = self.beam(beams["16"], start16, q, end16, 0.0)
        body17, c17 = self.body(end16, q, parts["17"])
        # Second leg.
        body22, c22 = self.body((base, 0), q2, parts["22"])
        start = np.array([base, 0]) + along(q2, root)
        end = start + along(q2, beams["23"]["length"])
        beam23 = self.beam(beams["23"], start, q2, end, 0.0)
        body24, c24 = self.body(end, q2, parts["24"])
        self.pin(self.ground, (0, 0), body12, (-c12, 0))
        self.pin(self.ground, (base, 0), body22, (-c22, 0))
        self.pin(body14, (past - c14, 0), body24, (past - c24, 0))
        self.weld(body12, root - c12, beam13, 0)
        self.weld(beam13, long, body14, -c14)
        self.weld(body14, past + on - c14, beam16, 0)
        self.weld(beam16, short, body17, -c17)
        self.weld(body22, root - c22, beam23, 0)
        self.weld(beam23, beams["23"]["length"], body24, -c24)
        self.sensor = self.mbs.AddSensor(
            SensorBody(bodyNumber=body17, localPosition=[m["point"] - c17, 0, 0], storeInternal=True, outputVariableType=exu.OutputVariableType.Position)
        )
        self.mbs.Assemble()
        return self


def simulated(motion, steps):
    """Times, x and y of the tool point, and how long the solver took."""
    robot = Robot(motion).build()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = motion["time"]
    settings.timeIntegration.verboseMode = 0
    settings.show.statistics = False
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = motion["time"] / motion["samples"]
    settings.timeIntegration.newton.useModifiedNewton = True
    # Without numerical damping: that of the library has none either.
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    start = time.perf_counter()
    robot.mbs.SolveDynamic(settings)
    lasted = time.perf_counter() - start
    return np.array(robot.mbs.GetSensorStoredData(robot.sensor))[:, :3], lasted


def lines(positions, every, lowest):
    """Frequencies of a motion in Hz: peaks of its spectrum above a share of the largest, `lowest` of them."""
    y = np.array(positions) - np.mean(positions)
    n = 1 << 20
    size, at = np.abs(np.fft.rfft(y * np.hanning(len(y)), n)), np.fft.rfftfreq(n, every)
    peak = (size[1:-1] > size[:-2]) & (size[1:-1] > size[2:]) & (size[1:-1] > 0.03 * size.max())
    return at[1:-1][peak][:lowest]


def read(path):
    with open(path, encoding="utf-8") as file:
        motion = json.load(file)
    motion["beams"] = {b["name"]: b for b in motion["beams"]}
    if set(motion["beams"]) != {"13", "16", "23"}:
        sys.exit("Exudyn: this script knows DualEMPS alone")
    return motion


def rows(path):
    motion = read(path)
    every = motion["time"] / motion["samples"]
    wanted = lines([y for _, y in motion["positions"]], every, 3)
    for steps in STEPS:
        times = []
        for _ in range(2):
            found, lasted = simulated(motion, steps)
            times.append(lasted * 1e9)
        own = lines(found[:, 2], every, 3)
        error = float(np.abs(own / wanted - 1).max()) if len(own) == len(wanted) else 1e300
        yield {
            "robot": motion["robot"],
            "task": "1 s of vibration",
            "by": f"Exudyn, {steps} steps",
            "best_ns": min(times),
            "median_ns": max(times),
            "error": error,
        }


def convergence(path):
    """How far the tool point is from that of the smallest steps, root of mean squares, as a share of how far it moves."""
    motion = read(path)
    exact, _ = simulated(motion, 320000)
    size = np.sqrt(((exact[:, 1:] - exact[:, 1:].mean(axis=0)) ** 2).sum(axis=1).mean())
    for steps in (*STEPS, 160000):
        found, lasted = simulated(motion, steps)
        yield {"steps": steps, "seconds": lasted, "off": np.sqrt(((found - exact)[:, 1:] ** 2).sum(axis=1).mean()) / size}


if __name__ == "__main__":
    paths = [word for word in sys.argv[1:] if word != "--convergence"]
    work = rows if len(paths) == len(sys.argv) - 1 else convergence
    result = json.dumps([row for path in paths for row in work(path)])
    os.write(ANSWER, (result + "\n").encode())
