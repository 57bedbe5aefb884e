//! Inverse and forward geometry of a shipped robot.

use gough::kinematics::{assemblies, inverse, working_modes};
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Pose, vec3};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let robot = gough::Robot::shipped("delta")?;
    let model = robot.model();
    let topology = model.topology();

    // All eight ways to hold the three cranks.
    let pose = Pose::translation(vec3(0.05, -0.02, -0.62));
    for posture in working_modes(model, &pose)? {
        println!("{}  {:?}", posture.mode().name(topology), posture.joints(model, &topology.active));
    }

    // Back from the motors: two assembly modes, and they are all.
    let posture = inverse(model, &pose, robot.mode())?;
    let found = assemblies(model, &posture.joints(model, &topology.active), robot.mode())?;
    for p in &found.postures {
        println!("platform at {:.6} {:.6} {:.6}", p.pose().p.x, p.pose().p.y, p.pose().p.z);
    }
    assert!(found.complete && found.postures.len() == 2);

    // A question without an answer is an error that says why.
    let turned = Pose { R: from_rpy(0.1, 0.0, 0.0), ..pose };
    println!("{}", inverse(model, &turned, robot.mode()).expect_err("a Delta does not turn"));
    Ok(())
}
