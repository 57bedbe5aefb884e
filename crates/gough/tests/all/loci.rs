//! Loci, aspects and maps against closed forms.
use crate::common::robot;
use gough::Robot;
use gough::analysis::loci::{What, trace_loci};
use gough::analysis::map::{Quantity, map};
use gough::analysis::singularity::Kind;
use gough::analysis::{CoordinateSpan, Region};
use gough::description::Coordinate;
use gough::kinematics::inverse;
use gough::spatial::{Pose, vec3};

fn region(robot: &Robot, spans: &[(Coordinate, f64, f64, usize)]) -> Region {
    let spans =
        spans.iter().map(|&(coordinate, low, high, count)| CoordinateSpan { coordinate, low, high, count }).collect();
    Region::new(robot.model(), spans, robot.home().pose()).unwrap()
}

/// Five-bar: Type 1 at the rims of the legs' annuli, Type 2 where A12, A13, A22 are aligned, nothing else.
#[test]
fn loci_of_the_five_bar_lie_on_the_closed_forms() {
    let robot = robot("five-bar");
    let model = robot.model();
    for mode in robot.mode().combinations() {
        let region = region(&robot, &[(Coordinate::X, -0.3, 0.3, 61), (Coordinate::Y, -0.41, 0.41, 83)]);
        let loci = trace_loci(model, &mode, &region, 1e-6);
        let mut type_2 = 0;
        for curve in &loci.curves {
            for p in &curve.points {
                match &curve.what {
                    What::Singular(Kind::Type1, Some(leg)) => {
                        let x0 = if leg == "1" { -0.14 } else { 0.14 };
                        let r = (p[0] - x0).hypot(p[1]);
                        let off = (r - (0.213 + 0.1878)).abs().min((r - (0.213 - 0.1878)).abs());
                        assert!(off < 1e-6, "{p:?} {off}");
                    }
                    What::Singular(Kind::Type2, None) => {
                        type_2 += 1;
                        let pose = Pose::translation(vec3(p[0], p[1], 0.0));
                        let Ok(posture) = inverse(model, &pose, &mode) else { continue };
                        // The elbows and the tip: the tip's distance from the line of the elbows.
                        let q = |n: &str| posture.joints(model, &[model.topology().coord(n).unwrap()])[0];
                        let elbow = |x0: f64, q: f64| vec3(x0 + 0.213 * q.cos(), 0.213 * q.sin(), 0.0);
                        let (a, b) = (elbow(-0.14, q("q11")), elbow(0.14, q("q21")));
                        // Aligned with the elbows apart by 2 d3, or one upon the other.
                        let gap = (a - b).norm();
                        let off = (gap - 2.0 * 0.1878).abs().min(gap);
                        let aligned = (q("q11") + q("q12") - q("q21") - q("q22")).sin().abs() * 0.1878;
                        assert!(aligned < 1e-6, "{p:?} {aligned} {off}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(type_2 > 20, "{}", mode.name(model.topology()));
        // The closed Type 2 curves cut the workspace: no aspect is nearly all of it.
        let total: f64 = loci.areas.iter().sum();
        assert!(
            loci.areas.len() >= 2 && loci.areas[0] < 0.9 * total,
            "{}: {:?}",
            mode.name(model.topology()),
            loci.areas
        );
    }
}

/// 3-RPR at a fixed orientation: the determinant of A_r is that of the three leg lines, and the locus is a conic.
#[test]
fn the_determinant_of_the_3_rpr_is_its_polynomial() {
    let robot = robot("3-rpr");
    let model = robot.model();
    let region = region(&robot, &[(Coordinate::X, -0.5, 0.5, 41), (Coordinate::Y, -0.5, 0.5, 41)]);
    let map = map(model, robot.mode(), &region, &Quantity::Determinant, &|_| true);
    // det(A_r) Π q_i2 is a polynomial of degree two in x and y at a fixed angle: fit six coefficients, check the rest.
    let samples: Vec<([f64; 2], f64)> = map
        .values
        .iter()
        .enumerate()
        .filter_map(|(node, v)| {
            let p = region.point(node);
            let posture = inverse(model, &region.pose(&p), robot.mode()).ok()?;
            let product: f64 = posture.joints(model, &model.topology().active).iter().product();
            Some(([p[0], p[1]], v.get()? * product))
        })
        .collect();
    assert!(samples.len() > 200, "{}", samples.len());
    let basis = |p: &[f64; 2]| [1.0, p[0], p[1], p[0] * p[0], p[0] * p[1], p[1] * p[1]];
    let pick: Vec<_> = samples.iter().step_by(samples.len() / 12).collect();
    let A = nalgebra::DMatrix::from_fn(pick.len(), 6, |i, j| basis(&pick[i].0)[j]);
    let b = nalgebra::DVector::from_iterator(pick.len(), pick.iter().map(|s| s.1));
    let c = A.svd(true, true).solve(&b, 1e-14).unwrap();
    let size = samples.iter().fold(0.0_f64, |m, s| m.max(s.1.abs()));
    for (p, value) in &samples {
        let fitted: f64 = basis(p).iter().zip(c.iter()).map(|(x, y)| x * y).sum();
        assert!((fitted - value).abs() < 1e-10 * size, "{p:?}: {fitted} {value}");
    }
}

#[test]
fn the_area_of_the_five_bar_is_that_of_its_annuli() {
    let robot = robot("five-bar");
    let region = region(&robot, &[(Coordinate::X, -0.6, 0.6, 601), (Coordinate::Y, -0.5, 0.5, 501)]);
    let found = map(robot.model(), robot.mode(), &region, &Quantity::Reachable, &|_| true);
    // Two discs of radius R at the distance d, less the two inner discs of radius r.
    let (R, r, d) = (0.213_f64 + 0.1878, 0.213_f64 - 0.1878, 0.28_f64);
    let lens = 2.0 * R * R * (d / (2.0 * R)).acos() - 0.5 * d * (4.0 * R * R - d * d).sqrt();
    let exact = lens - 2.0 * std::f64::consts::PI * r * r;
    let area = found.reachable.unwrap();
    assert!((area - exact).abs() < 2e-3 * exact, "{area} {exact}");
    assert!(found.aspects[0] < area && found.complete);
    let sum: f64 = found.aspects.iter().sum();
    assert!((sum - area).abs() < 1e-9);
}

#[test]
fn a_map_can_be_stopped_and_keeps_what_it_has() {
    let robot = robot("five-bar");
    let region = region(&robot, &[(Coordinate::X, -0.2, 0.2, 300), (Coordinate::Y, 0.1, 0.3, 300)]);
    let found =
        map(robot.model(), robot.mode(), &region, &Quantity::named("conditioning", None, None).unwrap(), &|done| {
            done < 5000
        });
    let answered = found.values.iter().filter(|v| v.get().is_some()).count();
    assert!(!found.complete && answered > 1000 && answered < 80_000, "{answered}");
}
