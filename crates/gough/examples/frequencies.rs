//! Natural frequencies of NaVARo along a line, and what a longer link does to the lowest.

use gough::elastodynamics::{Actuators, ElasticError, Vibration};
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Pose, vec3};

fn main() -> Result<(), ElasticError> {
    let robot = gough::Robot::shipped("navaro").expect("shipped");
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked)?;
    println!("{} degrees of freedom", v.modes());
    for k in 0..=4 {
        let x = 0.05 * f64::from(k);
        let pose = Pose { R: from_rpy(0.0, 0.0, -std::f64::consts::FRAC_PI_3), p: vec3(x, 0.0, 0.0) };
        v.take(&pose, robot.mode())?;
        let hz: Vec<String> = v.lowest(5)?.iter().map(|f| format!("{:8.3}", f.hz)).collect();
        println!("x = {x:.2} m  {} Hz", hz.join(" "));
    }
    let mean = &v.shares()[0];
    println!("most strained in the first mode: {}", mean.by_body()[0].0);
    for s in v.sensitivities(robot.mode()).iter().filter(|s| s.parameter == "l") {
        println!("a link 1 mm longer changes the first frequency by {:.3} Hz", 1e-3 * s.slopes[0]);
    }
    Ok(())
}
