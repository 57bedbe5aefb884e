//! A robot ready to be asked: its file read, its model compiled, its home posture closed and its claims checked.

use crate::compile::{Compiled, Mobility, compile};
use crate::description::{BadRobot, Diagnostic, LARGEST, ReadOptions, nearest, read};
use crate::kinematics::platform::{coordinates, pose_with};
use crate::kinematics::{Posture, WorkingMode, mode_by_example};
use crate::model::Model;
use crate::program::Programs;
use crate::question::{Error, words};
use crate::robots;
use crate::spatial::{Inertia, Pose};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// What a robot was made of. Two robots of equal sources are equal, and a source makes its robot again anywhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct Source {
    /// Name of the file or shipped robot.
    pub name: String,
    /// Text of the file.
    pub text: String,
    /// Texts of the files that it names.
    pub files: BTreeMap<String, String>,
    /// Parameters that were set, as text.
    pub set: Vec<(String, String)>,
    /// The set of drives that works; the first of the file unless given.
    pub actuation: Option<String>,
}

impl Source {
    /// The source of a shipped robot.
    pub fn shipped(name: &str) -> Result<Self, Error> {
        let Some(text) = robots::text(name) else {
            let near = nearest(name, robots::names());
            let all = || robots::names().collect::<Vec<_>>().join(", ");
            let hint = near.map_or_else(|| format!("there are {}", all()), |n| format!("did you mean `{n}`?"));
            return Err(Error::Question(format!("no shipped robot is called `{name}`; {hint}")));
        };
        Ok(Self { name: name.to_owned(), text: text.to_owned(), ..Self::default() })
    }

    /// The source in a file. Files that it names are read from its folder and those below when the robot is made.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let cannot = |why: String| Error::Question(format!("cannot read {}: {why}", path.display()));
        let length = std::fs::metadata(path).map_err(|e| cannot(e.to_string()))?;
        if !length.is_file() || length.len() > LARGEST as u64 {
            return Err(cannot(format!("a robot file is a plain file of at most {LARGEST} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|e| cannot(e.to_string()))?;
        let mut source = Self { name: path.display().to_string(), text, ..Self::default() };
        let folder = path.parent().unwrap_or(Path::new("."));
        let files = RefCell::new(BTreeMap::new());
        let beside = |name: &str| -> Result<String, String> {
            let plain = Path::new(name).components().all(|c| matches!(c, std::path::Component::Normal(_)));
            if !plain {
                return Err("a file that a robot names stands in its folder or below".to_owned());
            }
            let beside = folder.join(name);
            if !std::fs::symlink_metadata(&beside).map_err(|e| e.to_string())?.is_file() {
                return Err("it is no plain file".to_owned());
            }
            let text = std::fs::read_to_string(beside).map_err(|e| e.to_string())?;
            files.borrow_mut().insert(name.to_owned(), text.clone());
            Ok(text)
        };
        // Faults are told when the robot is made; here only the files that it names are wanted.
        let _ = read(&source.text, &ReadOptions { files: &beside, ..ReadOptions::default() });
        source.files = files.into_inner();
        Ok(source)
    }

    /// Set a parameter of the file: a number in SI units or a quantity such as `420 mm`.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Choose the set of drives that works.
    pub fn actuated(mut self, actuation: &str) -> Self {
        self.actuation = Some(actuation.to_owned());
        self
    }

    /// Make the robot.
    pub fn robot(self) -> Result<Robot, Error> {
        let shipped = robots::text(&self.name).is_some();
        let extended = robots::ExtendedFiles::default();
        let files = |own: &str| match self.files.get(own) {
            Some(text) => Ok(text.clone()),
            None if shipped => robots::file(&self.name, own),
            None => extended.get(own).ok_or_else(|| format!("there is no file `{own}`")),
        };
        let stem = Path::new(&self.name).file_stem().map_or(self.name.clone(), |s| s.to_string_lossy().into_owned());
        let options = ReadOptions { set: self.set.clone(), files: &files, name: stem };
        Ok(Robot::from_toml(&self.name, &self.text, &options, self.actuation.as_deref())?)
    }
}

/// A compiled robot. It never changes; what is asked of it is answered by its methods, one per command of the program.
///
/// ```
/// let robot = gough::Robot::shipped("five-bar")?;
/// let pose = robot.pose("x = 0.05, y = 25 cm")?;
/// let efforts = robot.idm(&pose).acceleration(&[0.0, 9.81]).answer()?.efforts;
/// assert_eq!(efforts.len(), 2);
/// # Ok::<(), gough::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Robot {
    model: Model<f64>,
    home: Posture,
    mobility: Mobility,
    remarks: Vec<Diagnostic>,
    source: Source,
    payload: Option<Inertia<f64>>,
    programs: Programs,
}

impl PartialEq for Robot {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.payload == other.payload
    }
}

impl Hash for Robot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}

impl Robot {
    /// A robot that comes with the library, by name.
    pub fn shipped(name: &str) -> Result<Self, Error> {
        Source::shipped(name)?.robot()
    }

    /// The robot in a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Source::read(path)?.robot()
    }

    /// The robot in a text that names no files. `name` is how the text is called in messages.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        Source { name: name.to_owned(), text: text.to_owned(), ..Source::default() }.robot()
    }

    /// Read and compile a robot file. `name` is how the file is called in messages.
    #[doc(hidden)]
    pub fn from_toml(
        name: &str,
        text: &str,
        options: &ReadOptions<'_>,
        actuation: Option<&str>,
    ) -> Result<Self, BadRobot> {
        let bad = |faults| BadRobot { name: name.to_owned(), text: text.to_owned(), faults };
        let named = RefCell::new(BTreeMap::new());
        let files = |own: &str| {
            let found = (options.files)(own)?;
            named.borrow_mut().insert(own.to_owned(), found.clone());
            Ok(found)
        };
        let watched = ReadOptions { set: options.set.clone(), files: &files, name: options.name.clone() };
        let (description, mut remarks) = read(text, &watched).map_err(bad)?;
        let Compiled { model, home, mobility, remarks: found } = compile(description, actuation).map_err(bad)?;
        remarks.extend(found);
        let source = Source {
            name: name.to_owned(),
            text: text.to_owned(),
            files: named.into_inner(),
            set: options.set.clone(),
            actuation: actuation.map(str::to_owned),
        };
        Ok(Self { model, home, mobility, remarks, source, payload: None, programs: Programs::default() })
    }

    /// The model.
    #[doc(hidden)]
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// Models of this robot that were compiled already.
    pub(crate) fn programs(&self) -> &Programs {
        &self.programs
    }

    /// What the robot was made of.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The robot with a payload on its platform, in the platform's frame; beside what it carries already.
    pub fn carrying(mut self, payload: Inertia<f64>) -> Self {
        let all = self.payload.map_or(payload, |before| before + payload);
        self.model = self.model.carrying(all);
        self.programs = Programs::default();
        self.payload = Some(all);
        self
    }

    /// What the platform carries.
    pub fn payload(&self) -> Option<&Inertia<f64>> {
        self.payload.as_ref()
    }

    /// The home posture, in the working mode of the file.
    pub fn home(&self) -> &Posture {
        &self.home
    }

    /// The working mode of the file, or the one nearest to its `near` joints, or the first that reaches the home pose.
    pub fn mode(&self) -> &WorkingMode {
        self.home.mode()
    }

    /// A working mode by its name, such as `+-`, or by an example: joints of a posture in it, such as `q11=0.3, q21=1.2`.
    pub fn mode_named(&self, name: &str) -> Result<WorkingMode, Error> {
        if name.contains('=') {
            let joints = words::joints(&self.model, name).map_err(Error::Question)?;
            return Ok(mode_by_example(&self.model, &joints)?);
        }
        Ok(WorkingMode::parse(self.model.topology(), &[name.to_owned()])?)
    }

    /// Names of the coordinates that say where the platform is.
    pub fn coordinates(&self) -> Vec<&'static str> {
        words::coordinate_names(&self.model)
    }

    /// Names of the components of twists and accelerations of the platform.
    #[doc(hidden)]
    pub fn components(&self) -> Vec<&'static str> {
        words::component_names(&self.model)
    }

    /// Names of the driven joints.
    pub fn active_joints(&self) -> Vec<&str> {
        self.model.topology().active_names()
    }

    /// Names of the other joints.
    pub fn passive_joints(&self) -> Vec<&str> {
        self.model.topology().passive_names()
    }

    /// A pose in words: `x=0.05, phi=30 deg`, or with a quaternion `qw=.., qx=..`; what is left out is as at home.
    pub fn pose(&self, words: &str) -> Result<Pose<f64>, Error> {
        words::pose(&self.model, words).map_err(Error::Question)
    }

    /// The pose with these coordinates, in the order of [`Robot::coordinates`].
    pub fn pose_at(&self, values: &[f64]) -> Result<Pose<f64>, Error> {
        let platform = &self.model.topology().platform;
        if values.len() != platform.independent.len() || values.iter().any(|x| !x.is_finite()) {
            let (n, names) = (platform.independent.len(), self.coordinates().join(", "));
            return Err(Error::Question(format!("a pose has {n} finite numbers ({names})")));
        }
        let given: Vec<_> = platform.independent.iter().copied().zip(values.iter().copied()).collect();
        Ok(pose_with(&self.model, self.home.pose(), &given))
    }

    /// The coordinates of a pose, in the order of [`Robot::coordinates`].
    pub fn coordinates_of(&self, pose: &Pose<f64>) -> Vec<f64> {
        let all = coordinates(&self.model, pose);
        self.model.topology().platform.independent.iter().map(|c| all[c.index()]).collect()
    }

    /// Degrees of freedom by rank.
    pub fn mobility(&self) -> &Mobility {
        &self.mobility
    }

    /// What is worth knowing and no fault.
    #[doc(hidden)]
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// Name of the file or shipped robot.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::by_both_roads;
    use crate::model::ModelPlan;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Both roads to a model come to the same end; whether there is a model.
    fn agree(text: &str, set: &[(String, String)], files: &dyn Fn(&str) -> Result<String, String>) -> Option<bool> {
        let (description, _) = read(text, &ReadOptions { set: set.to_vec(), files, ..ReadOptions::default() }).ok()?;
        let ([short, long], _) = by_both_roads(description)?;
        let told = |c: &Compiled| {
            let (t, home) = (c.model.topology(), c.home.positions());
            // Pivots of all closures are for platforms some of whose coordinates follow.
            assert!(!t.platform.dependent.is_empty() || !t.plan.solve_platform);
            let pivots = if t.plan.solve_platform { t.plan.pivots.clone() } else { ModelPlan::default().pivots };
            let plan = ModelPlan { pivots, ..t.plan.clone() };
            let counts = (&t.active, &t.passive, &t.platform.independent, &t.platform.dependent);
            format!("{plan:?} {counts:?} {home:?} {:?} {:?} {:?}", c.home.mode(), c.mobility, c.remarks)
        };
        match (&short, &long) {
            (Ok(short), Ok(long)) => assert_eq!(told(short), told(long), "{set:?}"),
            (Err(short), Err(long)) => assert_eq!(format!("{short:?}"), format!("{long:?}"), "{set:?}"),
            _ => panic!("{set:?}: one road ends well and the other does not"),
        }
        Some(short.is_ok())
    }

    #[test]
    fn robots_that_nobody_looks_around_in_are_planned_as_others() {
        let mut random = Pcg64Mcg::seed_from_u64(11);
        let (mut models, mut faults, mut settled) = (0, 0, 0);
        for name in crate::robots::names() {
            let text = crate::robots::text(name).expect("shipped");
            let files = |own: &str| {
                crate::robots::text(own).map_or_else(|| crate::robots::file(name, own), |t| Ok(t.to_owned()))
            };
            let own = crate::Robot::shipped(name).expect("good");
            let parameters: Vec<(&str, f64)> = own
                .model()
                .parameters()
                .iter()
                .map(|p| p.name.as_str())
                .zip(own.model().numbers().parameters.clone())
                .collect();
            let mut end = |set: &[(String, String)]| match agree(text, set, &files) {
                Some(true) => models += 1,
                Some(false) => faults += 1,
                None => {}
            };
            let said = |(name, value): (&str, f64)| (name.to_owned(), format!("{value:e}"));
            // Every number a little other, one alone, none at all, the other way round, and as large as its neighbour.
            for _ in 0..4 {
                let all: Vec<_> =
                    parameters.iter().map(|p| said((p.0, p.1 * random.random_range(0.8..1.25)))).collect();
                end(&all);
            }
            for (k, (name, value)) in parameters.iter().enumerate() {
                let next = parameters[(k + 1) % parameters.len()].1;
                let others = [0.0, -value, next, value * random.random_range(0.5..2.0)];
                for other in [others[k % 4], others[(k + 1) % 4]] {
                    end(&[said((name, other))]);
                }
            }
            settled +=
                usize::from(by_both_roads(own.model().description().clone()).is_some_and(|(_, settled)| settled));
        }
        assert!(models > 100 && faults > 10 && settled > 8, "{models} models, {faults} faults, {settled} short roads");
    }

    #[test]
    fn axes_that_become_parallel_break_a_plan_by_both_roads() {
        let edits = [
            ("orthoglide", r#"mdh = { alpha = "-pi/2" }, friction = { coulomb = "fs2" }"#, "mdh = {}"),
            ("gough-stewart", r#"mdh = { alpha = "pi/2" }, range = [0, "pi"]"#, "mdh = {}"),
            ("delta", "axis2 = [0, 0, 1]", "axis2 = [0, 1, 1e-9]"),
            ("tripteron", r#"alpha = "alpha""#, "alpha = 0"),
        ];
        let files = |own: &str| Err(format!("no file {own}"));
        for (name, from, to) in edits {
            let text = crate::robots::text(name).expect("shipped");
            assert!(text.contains(from), "{name}");
            assert_ne!(agree(&text.replace(from, to), &[], &files), Some(true), "{name}");
        }
    }
}
