//! Temporary: sizes and times of programs.
use gough::ModelKind;
use gough::dynamics::Dynamics;
use gough::program::BlockProgram;
use std::time::Instant;

fn rows(robot: &gough::Robot, program: &BlockProgram, count: usize) -> Vec<f64> {
    let poses = gough_bench::poses(robot, 256);
    let mut list = Vec::new();
    for i in 0..count {
        let pose = &poses[i % 256];
        let all = robot.coordinates_of(pose);
        for g in program.inputs() {
            if g.name == "pose" {
                if g.entries.len() == 12 {
                    list.extend(pose.p.iter());
                    list.extend(pose.R.0.transpose().iter());
                } else {
                    list.extend(&all);
                }
            } else {
                list.extend((0..g.entries.len()).map(|k| 0.9 * ((3 * i + 2 * k) as f64 + 0.7).sin()));
            }
        }
    }
    list
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let count = 100_000;
    for name in gough::robots::names() {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let robot = gough::robots::load(name).expect("shipped").expect("good");
        for kind in [ModelKind::Igm, ModelKind::Kinematics, ModelKind::Jacobian, ModelKind::Idm, ModelKind::Ddm] {
            let t = Instant::now();
            let program = match robot.program(kind) {
                Ok(p) => p,
                Err(e) => {
                    println!("{name:28} {:12} {}", kind.name(), e.kind());
                    continue;
                }
            };
            if std::env::var("SIZES").is_ok() {
                println!("{name} {} {:?} {:.1} ms", kind.name(), program.size(), t.elapsed().as_secs_f64() * 1e3);
                continue;
            }
            if std::env::var("DUMP").is_ok() {
                println!("{}", program.listing());
                continue;
            }
            let made = t.elapsed().as_secs_f64();
            let x = rows(&robot, &program, count);
            let mut best = f64::INFINITY;
            let mut found = program.answers(&x, |_| true).unwrap();
            for _ in 0..5 {
                let t = Instant::now();
                found = program.answers(&x, |_| true).unwrap();
                best = best.min(t.elapsed().as_secs_f64());
            }
            let (w, o) = (program.width(), program.answer_width());
            let mut worst: f64 = 0.0;
            for i in 0..256 {
                let one = program.general(&x[i * w..(i + 1) * w]);
                let Ok(one) = one else { continue };
                let size = one.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                let off = one.iter().zip(&found.values[i * o..]).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
                worst = worst.max(off / size.max(1e-3));
            }
            let mut long = f64::NAN;
            if kind == ModelKind::Idm || kind == ModelKind::Ddm {
                let mut memory = Dynamics::new(robot.model());
                let poses = gough_bench::poses(&robot, 256);
                let n = robot.components().len();
                let p = program.inputs()[0].entries.len();
                for _ in 0..3 {
                    let t = Instant::now();
                    let mut sum = 0.0;
                    for i in 0..10_000 {
                        let r = &x[i * w + p..(i + 1) * w];
                        let y = if kind == ModelKind::Idm {
                            memory.inverse(robot.model(), &poses[i % 256], robot.mode(), &r[..n], &r[n..], None)
                        } else {
                            memory.direct(robot.model(), &poses[i % 256], robot.mode(), &r[..n], &r[n..], None)
                        };
                        sum += y.map_or(0.0, |y| y[0]);
                    }
                    std::hint::black_box(sum);
                    let s = t.elapsed().as_secs_f64() / 1e4 * 1e9;
                    long = if long < s { long } else { s };
                }
            }
            println!(
                "{name:28} {:12} made {:7.1} ms, ops {:5}, runs {:4}, registers {:4}: {:7.1} ns, long {long:7.1} ns, failed {}, refused {}, off {worst:.1e}",
                kind.name(),
                made * 1e3,
                program.size()[0],
                program.size()[1],
                program.size()[2],
                best / count as f64 * 1e9,
                program.failed(&x[..256 * w]),
                found.refused.len()
            );
        }
    }
}
