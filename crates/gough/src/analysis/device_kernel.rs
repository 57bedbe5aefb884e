//! The text of a kernel that computes a map: nodes from the region, the robot's program, one number of each.

use super::map::Quantity;
use super::of_jacobian::scales;
use super::region::{CoordinateSpan, Region};
use crate::codegen::ModelKind;
use crate::description::Coordinate;
use crate::model::Model;
use crate::program::BlockProgram;
use std::fmt::Write as _;

/// Linear algebra of kernels.
const ALGEBRA: &str = include_str!("device_algebra.cu");

/// The angles that are spanned.
pub(super) fn turned(region: &Region) -> Vec<&CoordinateSpan> {
    region.spans().iter().filter(|s| s.coordinate.is_angle()).collect()
}

/// What all nodes share: the position that is not spanned, the ends of the spans, and every orientation.
pub(super) fn table(region: &Region) -> Vec<f64> {
    let turns = turned(region);
    let low: Vec<f64> = region.spans().iter().map(|s| s.low).collect();
    let mut table = region.pose(&low).p.as_slice().to_vec();
    table.extend(region.spans().iter().flat_map(|s| [s.low, s.high]));
    for turn in 0..turns.iter().map(|s| s.count).product() {
        let mut rest = turn;
        let mut point = low.clone();
        for (x, span) in point.iter_mut().zip(region.spans()).filter(|(_, s)| s.coordinate.is_angle()) {
            *x = span.value(rest % span.count);
            rest /= span.count;
        }
        let mut row = [0.0; 12];
        region.pose(&point).write(&mut row);
        table.extend(&row[3..]);
    }
    table
}

/// The kernel of a map.
pub(super) fn source(model: &Model<f64>, program: &BlockProgram, region: &Region, quantity: &Quantity) -> String {
    let (inputs, outputs) = (program.width(), program.answer_width());
    let mut text = format!("{ALGEBRA}\n{}\n", program.cuda());
    text += "extern \"C\" __global__ void __launch_bounds__(128) gough(long long first, int count, \
             const double *__restrict__ table, double *__restrict__ answers) {\n    \
             const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= count) return;\n    \
             unsigned int rest = (unsigned int)(first + i), place, turn = 0;\n";
    let _ = writeln!(text, "    double x[{inputs}] = {{table[0], table[1], table[2]}};");
    let (mut stride, mut rotations) = (1, 3);
    for (k, span) in region.spans().iter().enumerate() {
        let (n, low, high) = (span.count, 3 + 2 * k, 4 + 2 * k);
        let _ = writeln!(text, "    place = rest % {n}u; rest /= {n}u;");
        if span.coordinate.is_angle() {
            let _ = writeln!(text, "    turn += {stride}u * place;");
            stride *= n;
        } else {
            let c = span.coordinate.index();
            let _ = writeln!(
                text,
                "    {{ const double s = place / {}.0; x[{c}] = table[{low}] * (1.0 - s) + table[{high}] * s; }}",
                n - 1
            );
        }
        rotations += 2;
    }
    let _ = writeln!(
        text,
        "#pragma unroll\n    for (int k = 0; k < 9; k++) x[3 + k] = table[{rotations} + 9 * turn + k];\n    double y[{outputs}];\n    \
         if (!gough_formula(x, y)) {{ answers[i] = nan(\"\"); return; }}"
    );
    text += &value(model, program.kind(), quantity);
    text + "}\n"
}

/// What is made of the numbers of the program.
fn value(model: &Model<f64>, kind: ModelKind, quantity: &Quantity) -> String {
    let topology = model.topology();
    let n = topology.active.len();
    if kind == ModelKind::Idm {
        return format!("    answers[i] = gough_largest<{n}>(y);\n");
    }
    let list = |numbers: Vec<f64>| numbers.iter().map(|x| format!("{x:e}")).collect::<Vec<_>>().join(", ");
    // Entry (i, j) of J⁻¹ without units is multiplied by these.
    let (rows, columns) = scales(model);
    let inverse = |x: &Vec<f64>| list(x.iter().map(|x| 1.0 / x).collect());
    let mut text = format!("    double a[{n}][{n}];\n");
    let (of_drive, of_platform) = match quantity {
        Quantity::Stiffness(drives) => {
            let unit = |c: &Coordinate| if c.is_angle() { model.length() } else { 1.0 };
            let units: Vec<f64> = topology.platform.independent.iter().map(unit).collect();
            (list(drives.iter().map(|k| k.sqrt()).collect()), inverse(&units))
        }
        Quantity::OfJacobian(of) if of.name != "amplification" => (list(columns), inverse(&rows)),
        _ => (list(vec![1.0; n]), list(vec![1.0; n])),
    };
    let _ = writeln!(
        text,
        "    const double of_drive[{n}] = {{{of_drive}}}, of_platform[{n}] = {{{of_platform}}};\n    \
         \n#pragma unroll\n    for (int r = 0; r < {n}; r++)\n#pragma unroll\n        for (int c = 0; c < {n}; c++) a[r][c] = y[{n} * r + c] * of_drive[r] * of_platform[c];"
    );
    text + &match quantity {
        Quantity::Stiffness(_) => {
            format!("    double low, high;\n    gough_singular<{n}>(a, low, high);\n    answers[i] = low * low;\n")
        }
        Quantity::Effort(wrench) => format!(
            "    const double w[{n}] = {{{}}};\n    double b[{n}][{n}];\n    answers[i] = gough_inverted<{n}>(a, b) ? gough_balance<{n}>(b, w) : nan(\"\");\n",
            list(wrench.clone())
        ),
        Quantity::OfJacobian(of) if of.name == "amplification" => {
            let forces = topology.platform.independent.iter().map(|c| if c.is_angle() { 0.0 } else { 1.0 }).collect();
            format!(
                "    const double w[{n}] = {{{}}};\n    double b[{n}][{n}];\n    answers[i] = gough_inverted<{n}>(a, b) ? gough_load<{n}>(b, w) : nan(\"\");\n",
                list(forces)
            )
        }
        Quantity::OfJacobian(of) if of.name == "manipulability" => {
            format!(
                "    double b[{n}][{n}];\n    answers[i] = gough_inverted<{n}>(a, b) ? fabs(gough_determinant<{n}>(b)) : nan(\"\");\n"
            )
        }
        _ => format!(
            "    double low, high;\n    gough_singular<{n}>(a, low, high);\n    \
             answers[i] = low > 1e-6 * high ? low / high : nan(\"\");\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_map::followed_from;
    use super::super::map::map_of;
    use super::*;
    use crate::Robot;
    use std::fs;
    use std::process::{Command, Output};

    /// What a kernel finds on a device, for a compiler of C++: one thread after the other.
    const AS_CPP: &str = r"
#include <cmath>
#include <cstdio>
#include <cstdlib>
using std::sqrt; using std::fabs; using std::fma; using std::fmax; using std::fmin; using std::nan;
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __restrict__
struct Three { unsigned x; };
static Three blockIdx = {0}, blockDim = {1}, threadIdx = {0};
[[maybe_unused]] static double rsqrt(double x) { return 1.0 / sqrt(x); }
";

    /// Reads the table, computes `nodes` nodes in two pieces, prints them.
    const DRIVER: &str = r#"
int main(int, char **words) {
    const int nodes = atoi(words[1]), numbers = atoi(words[2]), half = nodes / 2;
    double *table = new double[numbers], *answers = new double[nodes];
    FILE *file = fopen(words[3], "r");
    for (int k = 0; k < numbers; k++) if (fscanf(file, "%lf", table + k) != 1) return 2;
    for (threadIdx.x = 0; threadIdx.x < 2 * (unsigned)nodes; threadIdx.x++) gough(0, half, table, answers);
    for (threadIdx.x = 0; threadIdx.x < 2 * (unsigned)nodes; threadIdx.x++) gough(half, nodes - half, table, answers + half);
    for (int k = 0; k < nodes; k++) printf("%.17g\n", answers[k]);
}
"#;

    fn ran(command: &mut Command) -> String {
        let Output { status, stdout, stderr } = command.output().unwrap();
        assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    /// Kernels compiled for the processor: the numbers of the maps that are computed there, to 1e-12.
    #[test]
    fn kernels_give_the_numbers_of_maps() {
        use Coordinate::{Rx, Rz, X, Y, Z};
        let folder = tempfile::tempdir().unwrap();
        let cubes: [(&str, &[&str], &[Coordinate]); 5] = [
            ("gough-stewart", &["holding", "conditioning", "manipulability", "effort", "stiffness"], &[X, Rx, Z]),
            ("delta", &["holding", "conditioning", "amplification", "stiffness"], &[X, Y, Z]),
            ("3-rpr", &["holding", "effort", "amplification"], &[Rz, X, Y]),
            ("five-bar", &["conditioning", "manipulability"], &[X, Y]),
            ("orthoglide", &["holding", "conditioning"], &[Y, Z]),
        ];
        for (name, quantities, coordinates) in cubes {
            let robot = Robot::shipped(name).unwrap();
            let (model, home) = (robot.model(), *robot.home().pose());
            let components = model.topology().platform.independent.len();
            let span = |c: &Coordinate| {
                let (middle, half) = if c.is_angle() { (0.0, 0.2) } else { (home.p[c.index()], 0.05 * model.length()) };
                CoordinateSpan { coordinate: *c, low: middle - half, high: middle + half, count: 13 + c.index() }
            };
            let region = Region::new(model, coordinates.iter().map(span).collect(), &home).unwrap();
            for wanted in quantities {
                let wrench = (1..=components).map(|k| k as f64).collect();
                let drives = (1..=model.topology().active.len()).map(|k| 1e4 * k as f64).collect();
                let quantity = Quantity::named(wanted, Some(drives), Some(wrench)).unwrap();
                let kind = followed_from(&robot, &quantity).unwrap();
                let program = robot.program_by_matrix(kind, robot.mode(), false).unwrap();
                let path = |ending: &str| folder.path().join(format!("{name}-{wanted}{ending}"));
                let numbers = table(&region);
                fs::write(path(".table"), numbers.iter().map(|x| format!("{x:e}\n")).collect::<String>()).unwrap();
                let text = format!("{AS_CPP}{}{DRIVER}", source(model, &program, &region, &quantity));
                fs::write(path(".cpp"), text).unwrap();
                let options = ["-std=c++17", "-O1", "-Wall", "-Wno-unknown-pragmas", "-Werror"];
                ran(Command::new("c++").args(options).arg(path(".cpp")).arg("-o").arg(path("")));
                let counts = [region.len(), numbers.len()].map(|n| n.to_string());
                let printed = ran(Command::new(path("")).args(counts).arg(path(".table")));
                let there: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
                let here = map_of(&robot, robot.mode(), &region, &quantity, &|_| true).values;
                assert!(there.len() == here.len() && region.len() > 150, "{name} {wanted}: {}", there.len());
                let answered = there.iter().filter(|x| x.is_finite()).count();
                assert!(answered * 10 > 9 * region.len(), "{name} {wanted}: {answered} of {}", region.len());
                for (node, (x, y)) in there.iter().zip(here.iter()).enumerate().filter(|(_, (x, _))| x.is_finite()) {
                    let y = y.get().unwrap();
                    assert!((x - y).abs() <= 1e-12 * y.abs(), "{name} {wanted} at {:?}: {x} {y}", region.point(node));
                }
            }
        }
    }
}
