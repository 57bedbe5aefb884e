//! A robot, and what it answers in arrays.

use crate::answers::{
    Array2, Found, Line, Loads, Out2, Parameter, Parts, Place, Standing, States, actuators_named, few, part, put,
    result, rows, write,
};
use crate::errors::{Refused, raised};
use crate::poses::Poses;
use crate::rows::{Answers, Kept, Rows, answer};
use crate::threads::waited;
use gough::analysis::named_end_of_reach;
use gough::description::Dimension;
use gough::dynamics::{Dynamics, direct_dynamics};
use gough::elastodynamics::motion::is_flexible;
use gough::elastodynamics::{Actuators, Vibration};
use gough::kinematics::motion::{Motion, move_from};
use gough::kinematics::scene::segments;
use gough::kinematics::{Positions, SolveError, WorkingMode, inverse, inverse_in};
use gough::model::{CoordId, Id as _};
use gough::{Error, ModelKind, Pose, Source};
use numpy::PyArray1;
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// States that one core takes at a time, where one takes a microsecond: a multiple of the blocks of a program.
const MANY: usize = 256;
/// States that one core takes at a time, where one takes longer.
const FEW: usize = 4;

/// A robot, and memory for what it is asked.
#[pyclass(frozen, subclass, module = "gough._native", name = "Robot")]
pub struct PyRobot {
    robot: Arc<gough::Robot>,
    poses: Arc<Poses>,
    /// Rigid, and a pose gives every joint.
    plain: bool,
    dynamics: Kept<Dynamics>,
    motions: Kept<(Positions<f64>, Motion<f64>)>,
    vibrations: Mutex<HashMap<u8, Arc<Kept<Vibration>>>>,
}

impl PyRobot {
    fn new(py: Python<'_>, source: Source) -> PyResult<Self> {
        let robot = py.detach(|| source.robot()).map_err(|e| raised(py, &e))?;
        let poses = Poses::new(robot.model());
        let plain = robot.model().topology().plan.given.is_empty() && !is_flexible(robot.model());
        Ok(Self {
            plain,
            robot: Arc::new(robot),
            poses: Arc::new(poses),
            dynamics: Kept::default(),
            motions: Kept::default(),
            vibrations: Mutex::default(),
        })
    }

    fn mode_of(&self, py: Python<'_>, mode: Option<&str>) -> PyResult<WorkingMode> {
        let named = |name| self.robot.mode_named(name).map_err(|e| raised(py, &e));
        mode.map_or_else(|| Ok(self.robot.mode().clone()), named)
    }

    fn pose_of(&self, row: &[f64]) -> Result<Pose<f64>, Error> {
        self.poses.pose(row).map_err(Error::Question)
    }

    /// The refusal as commands tell it.
    fn told(&self, mode: &WorkingMode, pose: &Pose<f64>, why: SolveError) -> Error {
        Error::Solve(named_end_of_reach(self.robot.model(), mode, pose, self.robot.home().pose(), why))
    }

    /// Answer every state of a range by itself.
    fn each(
        &self,
        mode: &WorkingMode,
        x: Rows<'_>,
        range: Range<usize>,
        mut one: impl FnMut(usize, usize, &Pose<f64>) -> Result<(), SolveError>,
    ) -> Vec<(usize, Error)> {
        let first = range.start;
        let mut refused = Vec::new();
        for i in range {
            let done = self
                .pose_of(x.row(i))
                .and_then(|pose| one(i, i - first, &pose).map_err(|why| self.told(mode, &pose, why)));
            refused.extend(done.err().map(|why| (i, why)));
        }
        refused
    }

    /// Memory that knows a good order of the drives: that of home.
    fn memory_of_dynamics(&self) -> Dynamics {
        let (model, n) = (self.robot.model(), self.robot.components().len());
        let mut dynamics = Dynamics::new(model);
        let rest = vec![0.0; n];
        let _ = dynamics.inverse_leg_by_leg(model, self.robot.home(), &rest, &rest, None);
        dynamics.remember();
        dynamics
    }

    /// Efforts of one state of plain numbers; nothing where it needs a longer look.
    fn efforts_of_one<'py>(
        &self,
        py: Python<'py>,
        x: &[f64],
        xd: &[f64],
        xdd: &[f64],
    ) -> Option<Bound<'py, PyArray1<f64>>> {
        if !self.plain || !x.iter().chain(xd).chain(xdd).all(|x| x.is_finite()) {
            return None;
        }
        let (model, pose) = (self.robot.model(), self.poses.pose(x).ok()?);
        let make = || Ok::<_, Error>(self.memory_of_dynamics());
        let found = self.dynamics.with(make, |dynamics| {
            dynamics.forget();
            let efforts = dynamics.inverse(model, &pose, self.robot.mode(), xd, xdd, None).ok()?;
            Some(PyArray1::from_slice(py, efforts))
        });
        found.ok().flatten()
    }

    fn vibrations(&self, actuators: Actuators) -> Arc<Kept<Vibration>> {
        crate::threads::locked(&self.vibrations).entry(actuators as u8).or_default().clone()
    }
}

#[pymethods]
impl PyRobot {
    #[new]
    fn made(
        py: Python<'_>,
        name: String,
        text: String,
        files: BTreeMap<String, String>,
        set: Vec<(String, String)>,
        actuation: Option<String>,
    ) -> PyResult<Self> {
        Self::new(py, Source { name, text, files, set, actuation })
    }

    #[getter]
    fn _source(&self) -> Parts {
        let Source { name, text, files, set, actuation } = self.robot.source().clone();
        (name, text, files, set, actuation)
    }

    #[getter]
    fn _name(&self) -> &str {
        &self.robot.model().topology().name
    }

    #[getter]
    fn _coordinates(&self) -> Vec<&'static str> {
        self.robot.coordinates()
    }

    #[getter]
    fn _components(&self) -> Vec<&'static str> {
        self.robot.components()
    }

    /// Names of joints, active and passive, and whether they slide.
    #[getter]
    fn _joints(&self) -> [Vec<(String, bool)>; 2] {
        let t = self.robot.model().topology();
        let list =
            |joints: &[CoordId]| joints.iter().map(|c| (t.coords[*c].name.clone(), t.coords[*c].slides)).collect();
        [list(&t.active), list(&t.passive)]
    }

    #[getter]
    fn _home(&self) -> Vec<f64> {
        self.poses.coordinates(self.robot.home().pose())
    }

    #[getter]
    fn _mode(&self) -> String {
        self.robot.mode().name(self.robot.model().topology())
    }

    #[getter]
    fn _is_flexible(&self) -> bool {
        is_flexible(self.robot.model())
    }

    /// Whether a pose leaves joints open.
    #[getter]
    fn _leaves_open(&self) -> bool {
        !self.robot.model().topology().plan.given.is_empty()
    }

    #[getter]
    fn _parameters(&self) -> Vec<Parameter> {
        let model = self.robot.model();
        let unit = |d: Dimension| if let Dimension::Known(powers) = d { Some(powers) } else { None };
        let values = model.numbers().parameters.iter();
        model.parameters().iter().zip(values).map(|(p, v)| (p.name.clone(), *v, unit(p.dimension))).collect()
    }

    /// The home posture as lines: two ends, and the number of the leg, none for the platform.
    #[getter]
    fn _segments(&self) -> Vec<Line> {
        let one =
            |s: gough::kinematics::scene::Segment| (s.from.into(), s.to.into(), s.leg.map(gough::model::Id::index));
        segments(self.robot.model(), self.robot.home().closed()).into_iter().map(one).collect()
    }

    /// Position and matrix of a pose in words.
    fn _pose(&self, py: Python<'_>, words: &str) -> PyResult<Vec<f64>> {
        let pose = self.robot.pose(words).map_err(|e| raised(py, &e))?;
        let R = (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(|at| pose.R.0[at]);
        Ok(pose.p.iter().copied().chain(R).collect())
    }

    /// The platform's own coordinates of poses.
    fn _coordinates_of<'py>(&self, py: Python<'py>, rows: Array2<'py>) -> PyResult<Vec<Vec<f64>>> {
        let rows = rows.as_array();
        let one = |row: numpy::ndarray::ArrayView1<'_, f64>| {
            let pose = self.pose_of(&row.to_vec()).map_err(|e| raised(py, &e))?;
            Ok(self.poses.coordinates(&pose))
        };
        rows.rows().into_iter().map(one).collect()
    }

    /// What the program says about this robot to each of these lists of words: status, output, messages.
    fn _ask(
        &self,
        py: Python<'_>,
        questions: Vec<Vec<String>>,
        threads: Option<usize>,
    ) -> PyResult<Vec<(u8, String, String)>> {
        let robot = self.robot.clone();
        waited(py, threads, move |stop| {
            let one = |_: usize, words: &Vec<String>| {
                let said = gough_cli::ask(Some(&robot), words, stop);
                (said.status, said.out, said.err)
            };
            match questions.as_slice() {
                [alone] => vec![one(0, alone)],
                many => gough::batch::each(many, one, |_| !stop.load(Ordering::Relaxed)),
            }
        })
    }

    /// Joints at poses: active, passive.
    fn _inverse_geometry(
        &self,
        py: Python<'_>,
        x: Array2<'_>,
        mode: Option<&str>,
        threads: Option<usize>,
        count: usize,
        mut out: Out2<'_>,
    ) -> PyResult<Vec<Refused>> {
        let (model, mode, x) = (self.robot.model(), self.mode_of(py, mode)?, Rows::new(&x, count)?);
        let t = model.topology();
        let make = || Ok((Positions::new(model), Motion::new(model)));
        let out = Answers::new(&mut out, count)?;
        answer(py, (count, MANY, threads), out, (&self.motions, make), |(pos, _), range, out| {
            let [active, passive] = out else { return Vec::new() };
            self.each(&mode, x, range, |_, k, pose| {
                inverse_in(model, pose, &mode, pos)?;
                put(model, pos, &t.active, part(active, k, t.active.len()));
                put(model, pos, &t.passive, part(passive, k, t.passive.len()));
                Ok(())
            })
        })
    }

    /// Every working mode at poses: for each, its postures, and whether there are no others.
    fn _working_modes(&self, py: Python<'_>, x: Array2<'_>, threads: Option<usize>) -> PyResult<Vec<Found<Standing>>> {
        let rows: Vec<Vec<f64>> = x.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        let (robot, poses) = (self.robot.clone(), self.poses.clone());
        waited(py, threads, move |stop| {
            let one = |i: usize, row: &Vec<f64>| {
                let pose = poses.pose(row).map_err(Error::Question);
                let found = pose.and_then(|pose| robot.kinematics(&pose).all_modes());
                let standing =
                    |p: gough::question::PostureAnswer| (p.active.q, p.passive.q, p.residual, p.working_mode);
                result(i, found.map(|f| (f.working_modes.into_iter().map(standing).collect(), f.complete)))
            };
            gough::batch::each(&rows, one, |_| !stop.load(Ordering::Relaxed))
        })
    }

    /// Rates and accelerations of joints: active q, qd, qdd, passive q, qd, qdd.
    #[allow(clippy::too_many_arguments)]
    fn _kinematics(
        &self,
        py: Python<'_>,
        states: States<'_>,
        mode: Option<&str>,
        threads: Option<usize>,
        count: usize,
        mut out: Out2<'_>,
    ) -> PyResult<Vec<Refused>> {
        let (model, mode) = (self.robot.model(), self.mode_of(py, mode)?);
        let [x, xd, xdd] = rows(&states, count)?;
        let t = model.topology();
        let make = || Ok((Positions::new(model), Motion::new(model)));
        let out = Answers::new(&mut out, count)?;
        answer(py, (count, MANY, threads), out, (&self.motions, make), |(pos, motion), range, out| {
            self.each(&mode, x, range, |i, k, pose| {
                inverse_in(model, pose, &mode, pos)?;
                move_from(model, xd.row(i), xdd.row(i), pos, motion)?;
                if !motion.rates.iter().chain(motion.accels.iter()).all(|(_, x)| x.is_finite()) {
                    return Err(SolveError::not_finite());
                }
                for (joints, out) in [&t.active, &t.passive].into_iter().zip(out.chunks_mut(3)) {
                    let [q, qd, qdd] = out else { continue };
                    let n = joints.len();
                    put(model, pos, joints, part(q, k, n));
                    part(qd, k, n).iter_mut().zip(joints).for_each(|(x, c)| *x = motion.rates[*c]);
                    part(qdd, k, n).iter_mut().zip(joints).for_each(|(x, c)| *x = motion.accels[*c]);
                }
                Ok(())
            })
        })
    }

    /// Every place of the platform for motors, and whether there are no others.
    fn _forward_geometry(
        &self,
        py: Python<'_>,
        q: Array2<'_>,
        mode: Option<&str>,
        threads: Option<usize>,
    ) -> PyResult<Vec<Found<Place>>> {
        let rows: Vec<Vec<f64>> = q.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        let mode = mode.map(|m| self.mode_of(py, Some(m))).transpose()?;
        let (robot, poses) = (self.robot.clone(), self.poses.clone());
        waited(py, threads, move |stop| {
            let one = |i: usize, q: &Vec<f64>| {
                let found = match &mode {
                    Some(mode) => robot.forward_geometry_in(q, mode),
                    None => robot.forward_geometry(q),
                };
                let place = |a: gough::question::Assembly| {
                    let row: Vec<f64> = a.pose.p.into_iter().chain(a.pose.R.into_iter().flatten()).collect();
                    let at = poses.pose(&row).map_or(Vec::new(), |pose| poses.coordinates(&pose));
                    (at, a.passive.q, a.residual, a.working_mode)
                };
                result(i, found.map(|f| (f.assemblies.into_iter().map(place).collect(), f.complete)))
            };
            gough::batch::each(&rows, one, |_| !stop.load(Ordering::Relaxed))
        })
    }

    /// Efforts of the drives alone, as an array of shape (..., a): the shortest way for a loop. Refusals are raised.
    ///
    /// Poses, twists and accelerations are those of `idm`, at rest unless given.
    #[pyo3(signature = (x, xd=None, xdd=None))]
    fn efforts<'py>(
        slf: &Bound<'py, Self>,
        x: &Bound<'py, PyAny>,
        xd: Option<&Bound<'py, PyAny>>,
        xdd: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let (Some(v), Some(a)) = (xd, xdd)
            && let (Some(x), Some(v), Some(a)) = (few::<12>(x), few::<6>(v), few::<6>(a))
            && let Some(found) = slf.get().efforts_of_one(slf.py(), x.numbers(), v.numbers(), a.numbers())
        {
            return Ok(found.into_any());
        }
        slf.call_method1(intern!(slf.py(), "_efforts_slowly"), (x, xd, xdd))
    }

    /// Efforts of the drives: by a program over blocks where there are many states and the robot has one.
    #[allow(clippy::too_many_arguments)]
    fn _efforts(
        &self,
        py: Python<'_>,
        states: States<'_>,
        mode: Option<&str>,
        threads: Option<usize>,
        size: (usize, bool),
        mut out: Out2<'_>,
    ) -> PyResult<Vec<Refused>> {
        let ((count, many), model, mode) = (size, self.robot.model(), self.mode_of(py, mode)?);
        let [x, xd, xdd] = rows(&states, count)?;
        let drives = model.topology().active.len();
        let program = py.detach(|| {
            let wanted = many && drives > 0;
            wanted.then(|| self.robot.program_by_matrix(ModelKind::Idm, &mode, false).ok()).flatten()
        });
        let make = || Ok(self.memory_of_dynamics());
        let out = Answers::new(&mut out, count)?;
        answer(py, (count, MANY, threads), out, (&self.dynamics, make), |dynamics, range, out| {
            let first = range.start;
            let mut refused = Vec::new();
            let Some(program) = &program else {
                dynamics.forget();
                for i in range {
                    match self.pose_of(x.row(i)) {
                        Ok(pose) => match dynamics.inverse(model, &pose, &mode, xd.row(i), xdd.row(i), None) {
                            Ok(found) => part(out[0], i - first, drives).copy_from_slice(found),
                            Err(why) => refused.push((i, self.told(&mode, &pose, why))),
                        },
                        Err(why) => refused.push((i, why)),
                    }
                }
                return refused;
            };
            let mut numbers = Vec::with_capacity(range.len() * (12 + xd.row(first).len() + xdd.row(first).len()));
            let mut wrong = Vec::new();
            for i in range {
                let pose = self.pose_of(x.row(i)).unwrap_or_else(|why| {
                    wrong.push((i, why));
                    *self.robot.home().pose()
                });
                numbers.extend(pose.p.iter());
                (0..3).for_each(|r| numbers.extend((0..3).map(|c| pose.R.0[(r, c)])));
                numbers.extend(xd.row(i).iter().chain(xdd.row(i)));
            }
            for (k, why) in program.answer(&numbers, out[0]) {
                let pose = self.pose_of(x.row(first + k));
                refused.push((first + k, pose.map_or_else(|e| e, |pose| self.told(&mode, &pose, why))));
            }
            refused.retain(|(i, _)| wrong.iter().all(|(w, _)| w != i));
            refused.append(&mut wrong);
            refused.sort_by_key(|(i, _)| *i);
            refused
        })
    }

    /// Everything that belongs to efforts: efforts, with friction, energies and condition, ground wrench, active q, qd, qdd,
    /// passive q, qd, qdd.
    #[allow(clippy::too_many_arguments)]
    fn _idm(
        &self,
        py: Python<'_>,
        states: States<'_>,
        mode: Option<&str>,
        loads: (Option<String>, Option<String>, Option<f64>),
        threads: Option<usize>,
        count: usize,
        mut out: Out2<'_>,
    ) -> PyResult<Vec<Refused>> {
        let mode = self.mode_of(py, mode)?;
        let [x, xd, xdd] = rows(&states, count)?;
        let loads = Loads::read(loads.0.as_deref(), loads.1.as_deref(), loads.2).map_err(|e| raised(py, &e))?;
        let loaded = loads.payload.map(|p| (*self.robot).clone().carrying(p));
        let robot = loaded.as_ref().unwrap_or(&self.robot);
        let out = Answers::new(&mut out, count)?;
        answer(py, (count, FEW, threads), out, (&Kept::default(), || Ok(())), |(), range, out| {
            let first = range.start;
            let mut refused = Vec::new();
            for i in range {
                let found = self.pose_of(x.row(i)).and_then(|pose| {
                    let mut question = robot.idm(&pose).mode(&mode).twist(xd.row(i)).acceleration(xdd.row(i)).rigid();
                    question = if let Some(w) = loads.wrench { question.wrench(w) } else { question };
                    question = if let Some(sign) = loads.friction { question.friction(sign) } else { question };
                    question.answer()
                });
                match found {
                    Ok(found) => write(&found, i - first, out),
                    Err(why) => refused.push((i, why)),
                }
            }
            refused
        })
    }

    /// Accelerations under efforts: platform, active joints, passive joints.
    #[allow(clippy::too_many_arguments)]
    fn _ddm(
        &self,
        py: Python<'_>,
        states: States<'_>,
        mode: Option<&str>,
        threads: Option<usize>,
        count: usize,
        mut out: Out2<'_>,
    ) -> PyResult<Vec<Refused>> {
        let (model, mode) = (self.robot.model(), self.mode_of(py, mode)?);
        let [x, xd, tau] = rows(&states, count)?;
        let (t, open) = (model.topology(), !model.topology().plan.given.is_empty());
        let make = || Ok(self.memory_of_dynamics());
        let out = Answers::new(&mut out, count)?;
        answer(py, (count, MANY, threads), out, (&self.dynamics, make), |dynamics, range, out| {
            let [acceleration, active, passive] = out else { return Vec::new() };
            let n = self.robot.components().len();
            let mut joints = |k: usize, accels: &dyn Fn(CoordId) -> f64| {
                for (list, out) in [(&t.active, &mut *active), (&t.passive, &mut *passive)] {
                    part(out, k, list.len()).iter_mut().zip(list).for_each(|(x, c)| *x = accels(*c));
                }
            };
            self.each(&mode, x, range, |i, k, pose| {
                if open {
                    let posture = inverse(model, pose, &mode)?;
                    let (found, motion) = direct_dynamics(model, &posture, xd.row(i), tau.row(i))?;
                    part(acceleration, k, n).copy_from_slice(&found);
                    joints(k, &|c| motion.accels[c]);
                    return Ok(());
                }
                part(acceleration, k, n).copy_from_slice(dynamics.direct(
                    model,
                    pose,
                    &mode,
                    xd.row(i),
                    tau.row(i),
                    None,
                )?);
                let accels = dynamics.joint_accelerations();
                if !accels.iter().all(|x| x.is_finite()) {
                    return Err(SolveError::not_finite());
                }
                joints(k, &|c| accels[c.index()]);
                Ok(())
            })
        })
    }

    /// Natural frequencies: Hz, and squares of the angular frequencies, as many as the arrays have columns.
    #[allow(clippy::too_many_arguments)]
    fn _frequencies(
        &self,
        py: Python<'_>,
        x: Array2<'_>,
        mode: Option<&str>,
        actuators: &str,
        threads: Option<usize>,
        count: usize,
        mut out: Out2<'_>,
    ) -> PyResult<Vec<Refused>> {
        let (model, mode, x) = (self.robot.model(), self.mode_of(py, mode)?, Rows::new(&x, count)?);
        let actuators = actuators_named(actuators).map_err(|e| raised(py, &e))?;
        let kept = self.vibrations(actuators);
        let make = || Ok(Vibration::new(model, self.robot.home(), actuators)?);
        let width = out.first().map_or(0, |array| array.as_array().dim().1);
        let out = Answers::new(&mut out, count)?;
        answer(py, (count, FEW, threads), out, (&kept, make), |v, range, out| {
            let [hz, squares] = out else { return Vec::new() };
            let first = range.start;
            let mut refused = Vec::new();
            for i in range {
                let found = self.pose_of(x.row(i)).and_then(|pose| {
                    v.take(&pose, &mode)?;
                    // A few at the lowest end are searched for, many are found together.
                    Ok(if 3 * width < v.modes() { v.lowest(width)? } else { v.all()? })
                });
                match found {
                    Ok(found) => {
                        for (k, f) in found.iter().take(width).enumerate() {
                            (part(hz, i - first, width)[k], part(squares, i - first, width)[k]) = (f.hz, f.omega2);
                        }
                    }
                    Err(why) => refused.push((i, why)),
                }
            }
            refused
        })
    }

    /// How many natural frequencies there are.
    fn _modes(&self, py: Python<'_>, actuators: &str) -> PyResult<usize> {
        let actuators = actuators_named(actuators).map_err(|e| raised(py, &e))?;
        let make = || Ok::<_, Error>(Vibration::new(self.robot.model(), self.robot.home(), actuators)?);
        self.vibrations(actuators).with(make, |v| v.modes()).map_err(|e| raised(py, &e))
    }
}
