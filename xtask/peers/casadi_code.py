"""Inverse dynamics of a parallel robot in CasADi, as C, beside the C that the library writes: python casadi_code.py ROBOT.json..

The model is the textbook's, from the exported description alone: leg by leg, closed inverse geometry with cosines and sines in
place of angles, rates and accelerations of the joints by the inverse Jacobian of the leg, Newton-Euler in the frames of the bodies,
reduction to the platform and one elimination. It starts from the motion of the platform, as the library does. Both C functions
are compiled by the same compiler with the same flags and called by the same loop, each in a file of its own."""

import itertools
import json
import os
import subprocess
import sys

import casadi as ca
import numpy as np

FLAGS = ["-std=c99", "-O3", "-march=native"]
Z = ca.DM([0, 0, 1])

HARNESS = """#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
void call(const double *x, double *y);
static int smaller(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}
static double x[STATES][INPUTS], y[OUTPUTS], turns[1000000];
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
int main(int count, char **words) {
    FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
    if (!file || fread(x, sizeof x, 1, file) != 1) return 1;
    for (int s = 0; s < STATES; s++) {
        call(x[s], y);
        for (int k = 0; k < OUTPUTS; k++) printf("%.17g ", y[k]);
        printf("\\n");
    }
    int n = 0;
    const double start = now();
    while ((now() - start < 3e8 || n < 5) && n < 1000000) {
        const double began = now();
        for (int s = 0; s < STATES; s++) call(x[s], y);
        turns[n++] = (now() - began) / STATES;
    }
    qsort(turns, (size_t)n, sizeof *turns, smaller);
    printf("%.6f %.6f\\n", turns[0], turns[n / 2]);
    return 0;
}
"""


def turned(c, s):
    """Rotation about z."""
    zero, one = ca.SX(0), ca.SX(1)
    return ca.vertcat(ca.horzcat(c, -s, zero), ca.horzcat(s, c, zero), ca.horzcat(zero, zero, one))


def inverse(J):
    """Of a small matrix, by cofactors."""
    if J.shape[0] == 2:
        det = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
        return ca.vertcat(ca.horzcat(J[1, 1], -J[0, 1]), ca.horzcat(-J[1, 0], J[0, 0])) / det
    a, b, c = J[:, 0], J[:, 1], J[:, 2]
    rows = ca.horzcat(ca.cross(b, c), ca.cross(c, a), ca.cross(a, b)).T
    return rows / ca.dot(a, rows[0, :].T)


def solved(A, b):
    """Elimination in the order that is there: shorter than what CasADi writes out, a decomposition by rotations."""
    n = A.shape[0]
    A, b = ca.SX(A), ca.SX(b)
    for k in range(n):
        for i in range(k + 1, n):
            share = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= share * A[k, j]
            b[i] -= share * b[k]
    x = ca.SX.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - sum((A[i, j] * x[j] for j in range(i + 1, n)), ca.SX(0))) / A[i, i]
    return x


class Leg:
    def __init__(self, robot, bodies, tip, at):
        self.bodies = [robot["bodies"][b] for b in bodies]
        self.coordinates = [b["coordinate"] for b in self.bodies]
        self.kind = "".join(b["joint"] for b in self.bodies)
        self.R = [np.array(b["frame"]["R"]) for b in self.bodies]
        self.p = [np.array(b["frame"]["p"]) for b in self.bodies]
        self.tip, self.at = np.array(tip), None if at is None else np.array(at)
        active = [c for c in self.coordinates if c in robot["active"]]
        self.active, self.drive = self.coordinates.index(active[0]), robot["active"].index(active[0])
        self.gravity = ca.DM(robot["gravity"])
        self.signs = None

    # -- inverse geometry: each joint as (cosine, sine) or a length --

    def joints(self, tip, signs):
        """`tip`: where it is, in the world."""
        v = ca.mtimes(self.R[0].T, tip - self.p[0])
        if self.kind == "RR":
            one = self.crank(v, self.p[1], float(np.linalg.norm(self.tip)), signs[0])
            rest = ca.mtimes(self.R[1].T, ca.mtimes(turned(*one).T, v) - self.p[1])
            return [one, self.towards(rest, self.tip)]
        if self.kind == "PRR":
            v = v - self.p[1]
            slide = v[2] + signs[0] * ca.sqrt(float(self.tip @ self.tip) - v[0] ** 2 - v[1] ** 2)
            rest = ca.mtimes(self.R[1].T, v - Z * slide)
            return [slide, *self.universal(rest, self.R[2], self.tip, signs[1])]
        if self.kind == "RRR":
            one = self.crank(v, self.p[1], float(np.linalg.norm(self.tip)), signs[0])
            rest = ca.mtimes(self.R[1].T, ca.mtimes(turned(*one).T, v) - self.p[1])
            return [one, *self.universal(rest, self.R[2], self.tip, signs[1])]
        if self.kind == "RRP":
            length = ca.sqrt(ca.sumsqr(v))
            return [*self.universal(v, self.R[1], self.R[2][:, 2] * length, signs[0]), length - float(self.tip[2])]
        sys.exit(f"CasADi: no inverse geometry for a leg {self.kind}")

    def crank(self, v, e, rod, sign):
        """Rz e is `rod` away from v."""
        want = (ca.sumsqr(v) + float(e @ e) - rod * rod) / 2 - v[2] * float(e[2])
        a, b = v[0] * e[0] + v[1] * e[1], v[1] * e[0] - v[0] * e[1]
        square = a * a + b * b
        root = sign * ca.sqrt(square - want * want)
        return (a * want - b * root) / square, (b * want + a * root) / square

    def towards(self, v, r):
        """Rz r = v, both in the plane; r may be a number of times a length."""
        square = v[0] * v[0] + v[1] * v[1]
        return (v[0] * r[0] + v[1] * r[1]) / square, (v[1] * r[0] - v[0] * r[1]) / square

    def universal(self, v, R, r, sign):
        """Rz(1) R Rz(2) r = v, where r is normal to the second axis, and that to the first."""
        axis = R[:, 2]
        side = np.array([-axis[1], axis[0]])
        reach = sign * ca.sqrt(v[0] * v[0] + v[1] * v[1])
        one = (v[0] * side[0] + v[1] * side[1]) / reach, (v[1] * side[0] - v[0] * side[1]) / reach
        across = ca.vertcat(reach * side[0], reach * side[1], v[2])
        return one, self.towards(ca.mtimes(R.T, across), r)

    def choose(self, tips, wanted):
        """The signs that give the joints of the states."""
        x = ca.SX.sym("x", 3)
        for signs in itertools.product((1, -1), repeat=2):
            found = [ca.atan2(q[1], q[0]) if isinstance(q, tuple) else q for q in self.joints(x, signs)]
            run = ca.Function("f", [x], [ca.vertcat(*found)])
            off = max(self.off(np.array(run(t)).ravel(), q[self.coordinates]) for t, q in zip(tips, wanted))
            if off < 1e-6:
                self.signs = signs
                return
        sys.exit("CasADi: no way to close a leg")

    def off(self, found, wanted):
        apart = found - wanted
        turns = np.array([k == "R" for k in self.kind])
        apart[turns] = np.arctan2(np.sin(apart[turns]), np.cos(apart[turns]))
        return np.inf if np.isnan(apart).any() else np.abs(apart).max()

    # -- dynamics --

    def forward(self, steps, qd, qdd, start):
        """Angular velocity, angular acceleration and acceleration of each body's origin, in its own axes."""
        w, alpha, a = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX(start)
        for (E, r), kind, v, u in zip(steps, self.kind, qd, qdd):
            a = ca.mtimes(E, a + ca.cross(alpha, r) + ca.cross(w, ca.cross(w, r)))
            w, alpha = ca.mtimes(E, w), ca.mtimes(E, alpha)
            if kind == "R":
                w, alpha = w + Z * v, alpha + Z * u + ca.cross(w, Z * v)
            else:
                a = a + Z * u + 2 * ca.cross(w, Z * v)
            yield w, alpha, a

    def reduced(self, tip, v, a):
        """Force on the platform per unit of effort, and that of the leg's own motion; J^-T."""
        n = len(self.bodies)
        q = self.joints(tip, self.signs)
        steps, frames, R, p = [], [], ca.SX(ca.DM.eye(3)), ca.SX.zeros(3)
        for one, own, at, kind in zip(q, self.R, self.p, self.kind):
            r = ca.SX(at) if kind == "R" else at + own[:, 2] * one
            turn = ca.mtimes(own, turned(*one)) if kind == "R" else ca.SX(own)
            steps.append((turn.T, r))
            p, R = p + ca.mtimes(R, r), ca.mtimes(R, turn)
            frames.append((R, p))
        reach = p + ca.mtimes(R, self.tip)
        J = ca.horzcat(*[F[:, 2] if kind == "P" else ca.cross(F[:, 2], reach - o) for (F, o), kind in zip(frames, self.kind)])[:n, :]
        J_inv = inverse(J)
        qd = ca.vertsplit(ca.mtimes(J_inv, v[:n]))
        w, alpha, own = list(self.forward(steps, qd, [ca.SX(0)] * n, [0, 0, 0]))[-1]
        bias = ca.mtimes(R, own + ca.cross(alpha, self.tip) + ca.cross(w, ca.cross(w, self.tip)))
        qdd = ca.vertsplit(ca.mtimes(J_inv, a[:n] - bias[:n]))
        tau, f, m = [None] * n, ca.SX.zeros(3), ca.SX.zeros(3)
        motion = list(self.forward(steps, qd, qdd, -self.gravity))
        for j in reversed(range(n)):
            w, alpha, a_o = motion[j]
            inertia = self.bodies[j]["inertia"]
            ms, I = ca.DM(inertia["first_moment"]), ca.DM(inertia["inertia"])
            f = f + inertia["mass"] * a_o + ca.cross(alpha, ms) + ca.cross(w, ca.cross(w, ms))
            m = m + ca.mtimes(I, alpha) + ca.cross(w, ca.mtimes(I, w)) + ca.cross(ms, a_o)
            tau[j] = (m if self.kind[j] == "R" else f)[2] + self.bodies[j]["rotor"] * qdd[j]
            E, r = steps[j]
            f, m = ca.mtimes(E.T, f), ca.mtimes(E.T, m)
            m = m + ca.cross(r, f)
        return J_inv[self.active, :].T, ca.mtimes(J_inv.T, ca.vertcat(*tau))


def legs_of(robot):
    chains = {}
    for b, body in enumerate(robot["bodies"]):
        on = body["parent"]
        chains[b] = [*([] if isinstance(on, str) else chains[on]), b]
    legs = []
    for closure in robot["closures"]:
        sides = [closure["a"], closure["b"]]
        for side, other in (sides, sides[::-1]):
            if not isinstance(side["on"], str):
                at = other["frame"]["p"] if other["on"] == "platform" else None
                legs.append(Leg(robot, chains[side["on"]], side["frame"]["p"], at))
    return legs


def model(robot, width):
    """Efforts from the inputs of the library's function."""
    x = ca.SX.sym("x", width)
    legs, body = legs_of(robot), robot["platform"]
    n = len(robot["active"])
    states = robot["states"]
    if n == 6:
        p, R = x[:3], ca.reshape(x[3:12], 3, 3).T
        v, w, a, alpha = x[12:15], x[15:18], x[18:21], x[21:24]
    else:
        pad = ca.SX.zeros(3 - n)
        p, v, a = (ca.vertcat(part, pad) for part in ca.vertsplit(x, n))
        R, w, alpha = ca.SX(ca.DM(states[0]["platform"]["R"])), ca.SX.zeros(3), ca.SX.zeros(3)
    A, b = ca.SX.zeros(n, n), ca.SX.zeros(n)
    if body is not None:
        # Newton-Euler of the platform, in its axes where it turns.
        ms, I, own = ca.DM(body["first_moment"]), ca.DM(body["inertia"]), ca.mtimes(R.T, a - legs[0].gravity)
        w_own, alpha_own = ca.mtimes(R.T, w), ca.mtimes(R.T, alpha)
        f = body["mass"] * own + ca.cross(alpha_own, ms) + ca.cross(w_own, ca.cross(w_own, ms))
        m = ca.mtimes(I, alpha_own) + ca.cross(w_own, ca.mtimes(I, w_own)) + ca.cross(ms, own)
        b = ca.vertcat(ca.mtimes(R, f), ca.mtimes(R, m))[:n]
    for leg in legs:
        r = ca.mtimes(R, leg.at) if leg.at is not None else ca.SX.zeros(3)
        tips = []
        for s in states:
            at = np.zeros(3) if leg.at is None else np.array(s["platform"]["R"]) @ leg.at
            tips.append(np.array(s["platform"]["p"]) + at)
        leg.choose(tips, [np.array(s["q"]) for s in states])
        tip_v, tip_a = v + ca.cross(w, r), a + ca.cross(alpha, r) + ca.cross(w, ca.cross(w, r))
        per_effort, need = leg.reduced(p + r, tip_v, tip_a)
        if n == 6:
            per_effort, need = ca.vertcat(per_effort, ca.cross(r, per_effort)), ca.vertcat(need, ca.cross(r, need))
        A[:, leg.drive] = per_effort
        b = b + need
    return x, solved(A, b)


# -- C --


def program(folder, name, sources, sizes):
    """The loop around a function that `sources` define as `call`; made again when a text has changed."""
    states, inputs, outputs = sizes
    folder = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    texts = {**sources, "loop.c": HARNESS}
    made = os.path.join(folder, "loop")
    defines = [f"-DSTATES={states}", f"-DINPUTS={inputs}", f"-DOUTPUTS={outputs}"]
    changed = not os.path.exists(made)
    for file, text in {**texts, "flags": " ".join(FLAGS + defines)}.items():
        path = os.path.join(folder, file)
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            changed = True
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
    if changed:
        objects = []
        for file in (f for f in texts if f.endswith(".c")):
            objects.append(os.path.join(folder, f"{file}.o"))
            subprocess.run(["gcc", *FLAGS, *defines, "-c", os.path.join(folder, file), "-o", objects[-1]], check=True)
        subprocess.run(["gcc", *objects, "-o", made, "-lm"], check=True)
    return made


def measured(path, states, folder):
    data = os.path.join(folder, "states.bin")
    np.array(states).tofile(data)
    lines = subprocess.run([path, data], check=True, capture_output=True, text=True).stdout.splitlines()
    numbers = [np.array([float(w) for w in line.split()]) for line in lines]
    return np.array(numbers[:-1]), numbers[-1]


def theirs(folder, x, outputs):
    f = ca.Function("theirs", [x], outputs)
    here = os.getcwd()
    os.chdir(folder)
    f.generate("theirs_model.c")
    os.chdir(here)
    text = open(os.path.join(folder, "theirs_model.c"), encoding="utf-8").read()
    ends, at = [], 0
    for out in outputs:
        ends.append(f"y + {at}")
        at += out.nnz()
    wrapper = f"""int theirs(const double **arg, double **res, long long *iw, double *w, int mem);
void call(const double *x, double *y) {{
    static long long iw[{f.sz_iw() + 1}];
    static double w[{f.sz_w() + 1}];
    const double *arg[{f.sz_arg() + 1}] = {{x}};
    double *res[{f.sz_res() + 1}] = {{{", ".join(ends)}}};
    theirs(arg, res, iw, w, 0);
}}
"""
    return {"theirs_model.c": text, "theirs_call.c": wrapper}


def differentiated(folder, x, efforts, whole):
    """C of efforts, and of their Jacobian row by row; what is common is computed once."""
    outputs = [efforts, ca.jacobian(efforts, x)] if whole else [efforts]
    outputs = [ca.densify(o.T) if k else ca.densify(o) for k, o in enumerate(ca.cse(outputs))]
    return theirs(folder, x, outputs)


def ours(code):
    function, folder = code["function"], code["folder"]
    words, texts = [], {}
    for name, sizes in (("x", code["inputs"]), ("y", code["outputs"])):
        at = 0
        for size in sizes:
            words.append(f"{name} + {at}")
            at += size
    for file in (f"{function}.h", f"{function}.c"):
        texts[file] = open(os.path.join(folder, file), encoding="utf-8").read()
    texts["ours_call.c"] = (
        f'#include "{function}.h"\nvoid call(const double *x, double *y) {{\n    {function}({", ".join(words)});\n}}\n'
    )
    return texts


def same_formulas(code, x):
    """The library's formulas, written by it in Python, on symbols."""
    function = code["function"]
    with open(os.path.join(code["folder"], f"{function}.py"), encoding="utf-8") as file:
        text = file.read().replace("np.float64", "object")
    names = {}
    exec(compile(text, function, "exec"), names)
    # NumPy asks an object for its own square root.
    symbols = np.array(ca.vertsplit(x), dtype=object)
    at, groups = 0, []
    for size in code["inputs"]:
        groups.append(symbols[at : at + size])
        at += size
    names["np"] = Traced()
    return ca.vertcat(*names[function](*groups))


class Traced:
    """What the generated functions ask of NumPy."""

    float64 = object
    asarray = staticmethod(lambda x, dtype=None: x)
    sqrt = staticmethod(ca.sqrt)
    empty = staticmethod(lambda shape, dtype=None: np.empty(shape, dtype=object))
    broadcast_shapes = staticmethod(lambda *shapes: ())


def tangents(row):
    """Directions in which a pose with its twist and acceleration can change."""
    R, columns = row[3:12].reshape(3, 3), []
    for k in range(24):
        unit = np.zeros(24)
        if 3 <= k < 6:
            unit[3:12] = np.cross(np.eye(3)[k - 3], R, axisb=0, axisc=0).ravel()
        elif 6 <= k < 12:
            continue
        else:
            unit[k] = 1.0
        columns.append(unit)
    return np.array(columns).T


def rows(path):
    with open(path, encoding="utf-8") as file:
        robot = json.load(file)
    wanted = np.array([s["efforts"] for s in robot["states"]])
    n = wanted.shape[1]
    for code in robot["code"]:
        states = np.array(code["rows"])
        sizes = (len(states), states.shape[1], sum(code["outputs"]))
        whole = len(code["outputs"]) > 1
        texts = {"gough, emitted C": ours(code)}
        x, efforts = model(robot, states.shape[1])
        texts["CasADi, emitted C"] = differentiated(code["folder"], x, efforts, whole)
        if whole:
            texts["CasADi, of gough's formulas"] = differentiated(code["folder"], x, same_formulas(code, x), whole)
        answers = {}
        for k, (by, own) in enumerate(texts.items()):
            answers[by] = measured(program(code["folder"], f"loop{k}", own, sizes), states, code["folder"])
        for by, (found, times) in answers.items():
            error = (np.abs(found[:, :n] - wanted).max(axis=1) / np.abs(wanted).max(axis=1)).max()
            if whole:
                # Off the rotations the two may differ.
                other = answers["gough, emitted C"][0]
                for one, two, row in zip(found, other, states):
                    T = tangents(row)
                    D, E = one[n:].reshape(n, -1) @ T, two[n:].reshape(n, -1) @ T
                    error = max(error, np.abs(D - E).max() / np.abs(E).max())
            yield {
                "robot": robot["robot"],
                "task": code["task"],
                "by": by,
                "best_ns": times[0],
                "median_ns": times[1],
                "error": error if np.isfinite(error) else 1e300,
            }


if __name__ == "__main__":
    print(json.dumps([row for path in sys.argv[1:] for row in rows(path)]))
