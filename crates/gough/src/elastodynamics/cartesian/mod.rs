//! Natural frequencies from Jacobians: inertia of the rigid motion and stiffness of drives, joints and links, both at the
//! platform, and one 6 × 6 eigenproblem (Hoevenaars, Krut & Herder, Mech. Mach. Theory 148 (2020) 103775, whose equation numbers
//! are cited here).
//!
//! The closure rows of a leg are solved for its joints, as in [`crate::kinematics::matrices`]; parts that bend add columns of
//! their own. What remains after the free joints are gone are the equations `q_e + R t + E e = 0` between joints that give
//! way, deformations `e` and the platform twist `t`: with the compliances of both, `K_F = Σ Rᵀ C⁻¹ R`. Modes that parts have of
//! their own are not seen.
//!
//! ```
//! use gough::elastodynamics::cartesian::{Cartesian, Choices};
//!
//! let robot = gough::Robot::shipped("heli4").expect("shipped");
//! let mut c = Cartesian::new(robot.model(), robot.home(), Choices::of(robot.model()))?;
//! c.take_posture(robot.home())?;
//! assert!((c.rigid()?.hz[0] - 23.5022).abs() < 1e-4);
//! # Ok::<(), gough::elastodynamics::ElasticError>(())
//! ```

mod driver;
mod four;
pub mod kernel;
mod loaded;
pub mod numbers;
pub mod plan;
mod report;
mod sensitivity;

pub use driver::{Cartesian, PartShare, PlatformModes, RodBending};
pub use four::{FourPlatforms, three_eigenvalues};
pub use kernel::{CartesianData, assemble_cartesian};
pub use numbers::CartesianModel;
pub use plan::{CartesianPlan, Choices};
pub use report::{CartesianReport, ModePair, compare};
