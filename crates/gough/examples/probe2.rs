//! scratch
use gough::kinematics::*;
fn main() {
    let r = gough::robots::load("gough-stewart").unwrap().unwrap();
    let m = r.model();
    let mut pos = Positions::new(m);
    let pose = *r.home().pose();
    let t0 = std::time::Instant::now();
    let n = 5_000_000;
    for i in 0..n {
        pos.X_WE = pose; pos.X_WE.p.x += 1e-9 * (i as f64);
        gough::kinematics::geometry::solve_blocks(m, &m.topology().plan.inverse, m.inverse_blocks(), r.mode().signs(), &mut pos);
        std::hint::black_box(&pos);
    }
    println!("{:?}", t0.elapsed() / n);
}
