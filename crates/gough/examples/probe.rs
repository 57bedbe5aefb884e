//! scratch
use std::time::Instant;
fn main() {
    for name in gough::robots::names() {
        let t0 = Instant::now();
        let r = gough::robots::load(name).unwrap().unwrap();
        let t1 = t0.elapsed();
        let m = r.model();
        let q = r.home().joints(m, &m.topology().active);
        let t0 = Instant::now();
        let a = gough::kinematics::assemblies(m, &q, r.mode());
        let t2 = t0.elapsed();
        let t0 = Instant::now();
        let w = gough::kinematics::working_modes(m, r.home().pose());
        println!("{name}: load {t1:?} assemblies {t2:?} {:?} modes {:?} {:?}", a.map(|a| a.postures.len()).map_err(|e| e.to_string()), t0.elapsed(), w.map(|w| w.len()));
    }
}
