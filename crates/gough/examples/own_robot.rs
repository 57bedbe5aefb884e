//! A robot of one's own: from text to joints, and how they change with a dimension.

use gough::Robot;
use gough::description::ReadOptions;
use gough::kinematics::geometry::close;
use gough::kinematics::{Positions, inverse};
use gough::scalar::Dual;

const TEXT: &str = r#"
[robot]
name = "slider"
home = { x = 0.3, y = 0.1 }
[parameters]
l = "300 mm"
[platform]
coordinates = "point"
body = "12"
point = ["l", 0, 0]
[[body]]
name = "11"
on = "base"
joint = "P"
axis = [1, 0, 0]
drive = {}
[[body]]
name = "12"
on = "11"
joint = "R"
drive = {}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let robot = Robot::from_toml("slider", TEXT, &ReadOptions::default(), None)?;
    let model = robot.model();
    let posture = inverse(model, robot.home().pose(), robot.mode())?;
    println!("joints {:?}", posture.joints(model, &model.topology().active));

    // The same formulas on dual numbers: d(slide)/dl, exact.
    let longer = model.with_parameters(&[Dual::new(0.3, 1.0)]);
    let mut pos = Positions::seeded(&longer, posture.positions());
    close(&longer, posture.mode(), 1, &mut pos);
    let slide = pos.joints[model.topology().active[0]].value;
    println!("slide {:.6} m, changes by {:.6} m per m of l", slide.re, slide.eps);
    let by_hand = 0.3 / (0.3_f64.powi(2) - 0.1_f64.powi(2)).sqrt();
    assert!((slide.eps.abs() - by_hand).abs() < 1e-12);
    Ok(())
}
