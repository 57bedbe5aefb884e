//! scratch
use gough::spatial::*;
fn main() {
    let r = gough::robots::load("orthoglide-parallelogram").unwrap().unwrap();
    let m = r.model();
    for p in [vec3(0.02,-0.03,0.3), vec3(0.0,0.0,0.3)] {
        for w in r.mode().combinations() {
        match gough::kinematics::inverse(m, &Pose::translation(p), &w) { Ok(x) => println!("{} ok {:?}", w.name(m.topology()), x.gap(m)), Err(e) => println!("{} {e}", w.name(m.topology())) }
        }
    }
}
