"""Commands of the program whose answers are documents. Written by `tools/commands.py`; do not edit."""

from __future__ import annotations

from . import _native
from ._documents import Document, one
from ._words import Value, options


class Commands(_native.Robot):
    """One method per command, with its options by name; every answer is the document of `--json`."""

    def check(
        self,
    ) -> Document:
        """Check a robot file and say what the model compiler found in it.

        The answer is the document of `gough check --json`.
        """
        given: dict[str, object] = {}
        return one(self, "check", options(self, given))

    def singularities(
        self,
        *,
        pose: Value = None,
        joints: Value = None,
        refine: bool = False,
        region: Value = None,
        accuracy: Value = None,
        budget: Value = None,
        plot: Value = None,
        mode: Value = None,
    ) -> Document:
        """Which singularities a posture has or is near to, and their curves over a region.

        The answer is the document of `gough singularities --json`.

        Args:
            pose: Platform pose; with --region, the coordinates that stay fixed
            joints: Joints that the pose of a redundant robot leaves open: q1s=0.05
            refine: Find the nearest singular pose of every kind
            region: Trace the singular curves over two coordinates: x=-0.3:0.3,y=0:0.5 or x=-0.3:0.3:201,..
            accuracy: To how many metres or radians curves are traced [default: 1e-6]
            budget: How long --refine (1.9 s) or --region (60 s) may search; the answer says what was not looked at
            plot: Draw the curves over the reachable workspace: FILE.svg or FILE.png
            mode: Working mode, such as --mode=+-+; by default that of the file
        """
        given: dict[str, object] = {
            "pose": pose,
            "joints": joints,
            "refine": refine,
            "region": region,
            "accuracy": accuracy,
            "budget": budget,
            "plot": plot,
            "mode": mode,
        }
        return one(self, "singularities", options(self, given))

    def plan(
        self,
        *,
        from_: Value = None,
        to: Value = None,
        time: Value = None,
        law: Value = None,
        via: Value = None,
        space: Value = None,
        fastest: bool = False,
        cross: bool = False,
        at: Value = None,
        at_time: Value = None,
        at_twist: Value = None,
        at_acceleration: Value = None,
        to_mode: Value = None,
        optimise: Value = None,
        seed: Value = None,
        step: Value = None,
        csv: Value = None,
        plot: Value = None,
        show: Value = None,
        mode: Value = None,
    ) -> Document:
        """A motion from pose to pose: by a law, as fast as the drives allow, or through singularities.

        The answer is the document of `gough plan --json`.

        Args:
            from_: Where it starts; home unless given
            to: Where it ends
            time: How long it takes
            law: Law of motion from rest to rest; with --via, poly5 passes the poses and the others rest at them
                [default: poly5] [possible values: poly3, poly5, poly7, bang-bang, trapezoid, s-curve]
            via: A pose on the way and its time: --via x=0.1,y=0.3@0.5; several in the order of time
            space: Where the way is straight [default: platform] [possible values: platform, joints]
            fastest: In the shortest time within the efforts and speeds of the drives
            cross: Through Type 2 singularities, with efforts that stay finite
            at: Where to cross, once per singularity in the order of time; moved onto it
            at_time: When to cross, once per singularity
            at_twist: Twist at the crossing, once per singularity: x=0.2,y=-0.5
            at_acceleration: Accelerations at the crossing that are to stay, once per singularity; the others meet the
                criterion
            to_mode: End in another working mode: through the LPJTS singularity of the leg in which the modes differ
            optimise: Move crossing points, times, twists and accelerations that are not given, within the limits of the
                file [possible values: peak, energy, time]
            seed: Seed of the search [default: 1]
            step: Rows of --csv every so many seconds; a thousandth of the time unless given
            csv: Write motion and efforts; `idm --trajectory` and `simulate` read such files
            plot: Draw the plan, .svg or .png
            show: What the picture shows [default: efforts] [possible values: efforts, motion, path]
            mode: Working mode, such as --mode=+-+; by default that of the file
        """
        given: dict[str, object] = {
            "from_": from_,
            "to": to,
            "time": time,
            "law": law,
            "via": via,
            "space": space,
            "fastest": fastest,
            "cross": cross,
            "at": at,
            "at_time": at_time,
            "at_twist": at_twist,
            "at_acceleration": at_acceleration,
            "to_mode": to_mode,
            "optimise": optimise,
            "seed": seed,
            "step": step,
            "csv": csv,
            "plot": plot,
            "show": show,
            "mode": mode,
        }
        return one(self, "plan", options(self, given))

    def simulate(
        self,
        *,
        from_: Value = None,
        twist: Value = None,
        time: Value = None,
        efforts: Value = None,
        controller: Value = None,
        trajectory: Value = None,
        feed_forward: bool = False,
        to: Value = None,
        duration: Value = None,
        law: Value = None,
        gains: Value = None,
        gravity: bool = False,
        perturb: Value = None,
        period: Value = None,
        noise: Value = None,
        payload: Value = None,
        hidden_payload: bool = False,
        wrench: Value = None,
        friction: bool = False,
        unlimited: bool = False,
        through_type2: bool = False,
        tolerance: Value = None,
        rigid: bool = False,
        deflected: bool = False,
        held: bool = False,
        playback: Value = None,
        elastic: Value = None,
        wrench_time: Value = None,
        numerical_damping: bool = False,
        settled_within: Value = None,
        step: Value = None,
        every: Value = None,
        point: Value = None,
        mode: Value = None,
        csv: Value = None,
        plot: Value = None,
        show: Value = None,
    ) -> Document:
        """Motion over time under efforts or a controller.

        The answer is the document of `gough simulate --json`.

        Args:
            from_: Where it starts; home unless given
            twist: Platform twist at the start: x=0.3,wz=1; what is left out is zero
            time: How long, in seconds
            efforts: Efforts of the drives: a CSV file with columns t, tau_11, .., or constant ones, q11=1.5,q21=0
            controller: A controller along --trajectory, to --to, or at the start [possible values: joint-pd,
                platform-pd, computed-torque]
            trajectory: Trajectory file (CSV) to follow
            feed_forward: Add to the efforts of the trajectory file (tau_11, ..), so that computed torque works through
                a Type 2 singularity
            to: Go to this pose by a law, that of fifth degree unless --law is given
            duration: How long that takes; the whole time unless given
            law: Law of motion to that pose [default: poly5] [possible values: poly3, poly5, poly7, bang-bang,
                trapezoid, s-curve]
            gains: Gains: kp=400,kd=40, or one per drive or component, kp=400:300,kd=40; computed-torque has these
                unless given
            gravity: joint-pd: add what holds the robot against gravity
            perturb: The controller's model has masses and inertias off by up to this share, and a seed: 0.1 or 0.1,7
            period: The controller works every so many seconds; all the time unless given
            noise: Normal noise of what the controller measures, position=1e-5,rate=1e-3 (needs --period); of what --csv
                records, effort=0.05 (or 1% of each drive's own) and step=1e-5 (of the encoders), which then has times,
                joints and efforts only; and a seed: seed=7
            payload: What the platform carries, in its own frame: mass=2.5,com=0:0:0.05,ixx=.. (inertia at the centre of
                mass); the controller knows of it
            hidden_payload: The controller does not know of the payload
            wrench: Wrench from outside on the platform, at its origin, in world axes: fx=10,fz=-5,mz=0.2
            friction: [=<WIDTH>] Friction of the joints, its sign smoothed over this rate (1e-3 rad/s or m/s unless
                given)
            unlimited: Let drives give more than their largest effort
            through_type2: Go on through Type 2 singularities
            tolerance: Error of a step, relative to the size of the robot, a radian, and these per second: 1e-9 unless
                given; of flexible robots relative to how far each coordinate has been, 1e-6
            rigid: Take flexible bodies, springs and transmissions as rigid
            deflected: Flexible robots: start from the static deflection under gravity
            held: Flexible robots: drives hold their joints where they start
            playback: Flexible robots: drives move as those of the rigid robot along this trajectory file (CSV), and
                tell what that takes
            elastic: Flexible robots: elastic coordinates at the start, in the order of `check`, such as 0:0.002:0
            wrench_time: Flexible robots: when --wrench acts, FROM:UNTIL in seconds; all the time unless given
            numerical_damping: Flexible robots: let motions that steps do not resolve die out (Radau in place of Gauss)
            settled_within: Flexible robots: the share of its way within which the tool is called settled, 0.02 unless
                given
            step: Steps of this length in place of adaptive ones: Runge-Kutta of fourth order; of flexible robots Gauss
                of sixth, or Radau of fifth
            every: Record an instant every so many seconds; a five-hundredth of the time unless given
            point: Record position, velocity and acceleration of a point: BODY, BODY=x:y:z in its frame, BEAM=s along a
                beam, BODY=NAME of a modal body; of flexible robots also how far it is off the rigid robot. Again for
                more points
            mode: Working mode, such as --mode=+-+; by default that of the file
            csv: Write the motion; `--trajectory` and `--efforts` read such files
            plot: Draw the motion, .svg or .png
            show: What the picture shows [default: platform] [possible values: platform, orientation, quaternion,
                joints, rates, efforts, energy, error, elastic, points, point-velocities, point-accelerations,
                deflections]
        """
        given: dict[str, object] = {
            "from_": from_,
            "twist": twist,
            "time": time,
            "efforts": efforts,
            "controller": controller,
            "trajectory": trajectory,
            "feed_forward": feed_forward,
            "to": to,
            "duration": duration,
            "law": law,
            "gains": gains,
            "gravity": gravity,
            "perturb": perturb,
            "period": period,
            "noise": noise,
            "payload": payload,
            "hidden_payload": hidden_payload,
            "wrench": wrench,
            "friction": friction,
            "unlimited": unlimited,
            "through_type2": through_type2,
            "tolerance": tolerance,
            "rigid": rigid,
            "deflected": deflected,
            "held": held,
            "playback": playback,
            "elastic": elastic,
            "wrench_time": wrench_time,
            "numerical_damping": numerical_damping,
            "settled_within": settled_within,
            "step": step,
            "every": every,
            "point": point,
            "mode": mode,
            "csv": csv,
            "plot": plot,
            "show": show,
        }
        return one(self, "simulate", options(self, given))

    def dynamic_parameters(
        self,
        *,
        without_friction: bool = False,
        seed: Value = None,
        regressor: bool = False,
        pose: Value = None,
        twist: Value = None,
        acceleration: Value = None,
        friction_width: Value = None,
        mode: Value = None,
    ) -> Document:
        """Dynamic parameters that efforts depend on, in which groups; the regressor of a motion.

        The answer is the document of `gough parameters --json`.

        Args:
            without_friction: Leave friction out: masses, first moments, inertias and rotors only
            seed: Seed of the random states; the groups do not depend on it [default: 1]
            regressor: Print the regressor of a motion instead: efforts of the drives for a unit of each parameter
            pose: Platform pose of the regressor: x=0.05,y=0.25
            twist: Platform twist; what is left out is zero
            acceleration: Platform acceleration; what is left out is zero
            friction_width: Smooth the direction of friction over this rate, rad/s or m/s
            mode: Working mode of the regressor; by default that of the file
        """
        given: dict[str, object] = {
            "without_friction": without_friction,
            "seed": seed,
            "regressor": regressor,
            "pose": pose,
            "twist": twist,
            "acceleration": acceleration,
            "friction_width": friction_width,
            "mode": mode,
        }
        return one(self, "parameters", options(self, given))

    def identify(
        self,
        *,
        excite: bool = False,
        region: Value = None,
        speed: Value = None,
        acceleration: Value = None,
        effort: Value = None,
        distance: Value = None,
        period: Value = None,
        harmonics: Value = None,
        trials: Value = None,
        seed: Value = None,
        csv: Value = None,
        time: Value = None,
        data: Value = None,
        validate: Value = None,
        gains: Value = None,
        cutoff: Value = None,
        friction_width: Value = None,
        overlay: Value = None,
        plot: Value = None,
        mode: Value = None,
    ) -> Document:
        """Values of the dynamic parameters from records of positions and efforts; motions that show them well.

        The answer is the document of `gough identify --json`.

        Args:
            excite: Seek a periodic motion that shows the parameters well, instead of using records
            region: Where the platform may be: x=-0.1:0.1,y=0.2:0.3; a fifth of the robot around home unless given
            speed: Largest speeds of drives, rad/s or m/s: q11=5,q21=5; those of the file unless given
            acceleration: Largest accelerations of drives: q11=50,q21=50
            effort: Largest efforts of drives: q11=10,q21=10; those of the file unless given
            distance: Distance from Type 2 singularities: smallest singular value of the rows of the inverse Jacobian,
                each of length one; half of that at home unless given, and 0.1 at most
            period: Period of the motion; 4 s unless given, or half a second per harmonic where that is more
            harmonics: Harmonics of the series; 16 for robots with one or two freedoms and 8 for others unless given
            trials: Motions that are tried: a hundred at random, and the steps from the best of them, fewer with more
                than 40 parameters [default: 1500]
            seed: The same seed gives the same motion [default: 1]
            csv: Write the motion as a trajectory, in 500 steps a period
            time: How long the motion goes on in --csv, period after period; one period unless given
            data: Records (CSV): t, active joints q11, .. or platform x, .., efforts tau_11, ..
            validate: Records that only check the estimates; the last fifth of every record unless given
            gains: Efforts per ampere of drives whose currents i_11, .. are in the records: q11=0.52,q21=0.52
            cutoff: Frequency, in Hz, above which positions are filtered; told by their spectra unless given, 20 at most
            friction_width: The direction of friction is smoothed over this rate, rad/s or m/s, as in the robot or its
                simulation
            overlay: Write an overlay of the robot file with the identified parameters, every body one that can exist
            plot: Draw measured and predicted efforts, and what is left, .svg or .png
            mode: Working mode, such as --mode=+-+; by default that of the file
        """
        given: dict[str, object] = {
            "excite": excite,
            "region": region,
            "speed": speed,
            "acceleration": acceleration,
            "effort": effort,
            "distance": distance,
            "period": period,
            "harmonics": harmonics,
            "trials": trials,
            "seed": seed,
            "csv": csv,
            "time": time,
            "data": data,
            "validate": validate,
            "gains": gains,
            "cutoff": cutoff,
            "friction_width": friction_width,
            "overlay": overlay,
            "plot": plot,
            "mode": mode,
        }
        return one(self, "identify", options(self, given))

    def response(
        self,
        *,
        pose: Value = None,
        mode: Value = None,
        input: Value = None,
        output: Value = None,
        input_at: Value = None,
        output_at: Value = None,
        kind: Value = None,
        range: Value = None,
        points: Value = None,
        deflected: bool = False,
        csv: Value = None,
        plot: Value = None,
    ) -> Document:
        """Frequency response and compliance of the platform of a flexible robot.

        The answer is the document of `gough response --json`.

        Args:
            pose: Platform pose, all its coordinates; the home pose unless given
            mode: Working mode, such as --mode=+-+; by default that of the file
            input: The force, world axes: fx, fy, fz, mx, my, mz
            output: The motion that is asked for: x, y, z, rx, ry, rz
            input_at: Where the force acts: BODY, BODY=x:y:z in its frame, BEAM=s along a beam, BODY=NAME of a modal
                body; the platform unless given
            output_at: Where the motion is looked at, written likewise; the platform unless given
            kind: What is compared with the force [default: receptance] [possible values: receptance, mobility,
                accelerance]
            range: Frequencies in Hz, FROM:TO [default: 1:200]
            points: How many frequencies [default: 2000]
            deflected: Around the static deflection under gravity, in place of the undeformed posture
            csv: Write frequency, real and imaginary part, magnitude and phase
            plot: Draw the magnitude over frequency, .svg or .png
        """
        given: dict[str, object] = {
            "pose": pose,
            "mode": mode,
            "input": input,
            "output": output,
            "input_at": input_at,
            "output_at": output_at,
            "kind": kind,
            "range": range,
            "points": points,
            "deflected": deflected,
            "csv": csv,
            "plot": plot,
        }
        return one(self, "response", options(self, given))
