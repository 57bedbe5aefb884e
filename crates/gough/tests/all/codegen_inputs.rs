//! Generated code with inputs besides the state, poses by quaternions, and numbers of four bytes: compiled, run with the tests that
//! come with it, and held against the library asked directly.

use crate::codegen::{STRICT, folder, run, write};
use crate::common::{compile, robot, text};
use gough::Robot;
use gough::codegen::{
    CodeOptions, CodegenError, FurtherInput, Generated, Language, ModelKind, OrientationInput, Precision, generate,
};
use gough::kinematics::platform::home_pose;
use gough::spatial::orientation::from_quaternion;
use gough::spatial::{Inertia, Mat3, Pose, Rotation, Wrench, vec3};
use std::path::Path;
use std::process::Command;

const FORCES: [ModelKind; 3] = [ModelKind::Idm, ModelKind::Ddm, ModelKind::Inertia];

/// The test that comes with C code, compiled without a warning and run.
fn passes(folder: &Path, code: &Generated, options: &[&str]) {
    let files = write(folder, code);
    let test = folder.join("test");
    run(Command::new("cc").args(STRICT).args(options).args(&files[1..]).arg("-o").arg(&test).arg("-lm"));
    assert!(run(&mut Command::new(&test)).contains("5 states"), "{}", code.function);
}

/// Numbers of a group of inputs at a state.
fn given<'x>(code: &Generated, x: &'x [f64], name: &str) -> &'x [f64] {
    let mut first = 0;
    for group in &code.inputs {
        let own = first..first + group.entries.len();
        if group.name == name {
            return &x[own];
        }
        first = own.end;
    }
    panic!("no input {name}")
}

/// The pose that numbers of a state are.
fn pose(robot: &Robot, x: &[f64]) -> Pose<f64> {
    let p = |x: &[f64]| vec3(x[0], x[1], x[2]);
    match x {
        [.., w, a, b, c] if x.len() == 7 => Pose { R: from_quaternion([*w, *a, *b, *c]), p: p(x) },
        _ if x.len() == 12 => Pose { R: Rotation(Mat3::from_row_slice(&x[3..])), p: p(x) },
        _ => {
            let mut home = home_pose(robot.model());
            for (c, x) in robot.model().topology().platform.independent.iter().zip(x) {
                if c.is_angle() {
                    home.R = gough::spatial::orientation::from_rpy(0.0, 0.0, *x);
                } else {
                    home.p[c.index()] = *x;
                }
            }
            home
        }
    }
}

/// Every force of the code is that of the library, which is told wrench and payload in its own words.
#[test]
fn wrench_and_payload_are_inputs() {
    let folder = folder("outside");
    for (name, orientation) in [
        ("gough-stewart", OrientationInput::Quaternion),
        ("3-rpr", OrientationInput::Matrix),
        ("five-bar", OrientationInput::Matrix),
        ("delta", OrientationInput::Matrix),
    ] {
        let robot = robot(name);
        let components = &robot.model().topology().platform.independent;
        for model in FORCES {
            let inputs = FurtherInput::ALL.to_vec();
            let options = CodeOptions { inputs, orientation, ..CodeOptions::new(model, Language::C) };
            let code = generate(&robot, &options).unwrap();
            passes(&folder, &code, &[]);
            if model != ModelKind::Idm {
                continue;
            }
            for (x, efforts) in &code.vectors {
                let given = |name: &str| given(&code, x, name);
                let mut all = [0.0; 6];
                components.iter().zip(given("wrench")).for_each(|(c, x)| all[c.index()] = *x);
                let &[m, cx, cy, cz, xx, yy, zz, xy, xz, yz] = given("payload") else { panic!("ten numbers") };
                let payload = Inertia::at_com(m, vec3(cx, cy, cz), Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz));
                let asked = robot.idm(&pose(&robot, given("pose"))).twist(given("twist"));
                let asked = asked.acceleration(given("acceleration"));
                let plain = asked.clone().answer().unwrap().efforts;
                let told = asked.payload(payload).wrench(Wrench::from_array(all)).answer().unwrap().efforts;
                let most = told.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                let apart = |list: &[f64]| {
                    let off = efforts.iter().zip(list).map(|(a, b)| (a - b).abs());
                    off.fold(0.0, f64::max) / most
                };
                assert!(apart(&told) <= 1e-9, "{name}: {efforts:?} {told:?}");
                assert!(apart(&plain) >= 1e-3, "{name}: nothing was carried");
            }
        }
    }
}

/// The frame whose pose the coordinates give may be another.
#[test]
fn payloads_are_in_the_frame_of_the_platform_as_a_body() {
    let folder = folder("frames");
    for frame in ["xyz = [0.02, 0, 0.05]", "rpy = [0, 0.3, 0]", "xyz = [0.01, 0, -0.01], rpy = [0, -0.2, 0]"] {
        let file = text("xz").replace("[platform]\n", &format!("[platform]\nframe = {{ {frame} }}\n"));
        let robot = compile("xz", &file);
        for model in FORCES {
            let options = CodeOptions { inputs: vec![FurtherInput::Payload], ..CodeOptions::new(model, Language::C) };
            passes(&folder, &generate(&robot, &options).unwrap(), &[]);
        }
    }
}

#[test]
fn poses_by_quaternions() {
    let folder = folder("quaternions");
    let robot = robot("gough-stewart");
    for model in [ModelKind::Igm, ModelKind::Jacobian, ModelKind::Kinematics, ModelKind::Ddm, ModelKind::Fgm] {
        let options = CodeOptions { orientation: OrientationInput::Quaternion, ..CodeOptions::new(model, Language::C) };
        let code = generate(&robot, &options).unwrap();
        passes(&folder, &code, &[]);
        let matrix = generate(&robot, &CodeOptions::new(model, Language::C)).unwrap();
        if model != ModelKind::Fgm {
            for ((_, one), (_, other)) in code.vectors.iter().zip(&matrix.vectors) {
                assert!(one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs())), "{model:?}");
            }
        }
    }
}

/// A quaternion of any length is its direction: the code is run on one that is twice as long.
#[test]
fn quaternions_of_any_length() {
    let folder = folder("long-quaternions");
    let options =
        CodeOptions { orientation: OrientationInput::Quaternion, ..CodeOptions::new(ModelKind::Igm, Language::C) };
    let mut code = generate(&robot("gough-stewart"), &options).unwrap();
    let test = &mut code.files[2].text;
    let call = "        gough_stewart_igm(pose";
    assert!(test.contains(call), "{test}");
    *test = test.replace(call, &format!("        for (int k = 3; k < 7; k++) pose[k] *= 2.0;\n{call}"));
    passes(&folder, &code, &[]);
}

#[test]
fn numbers_of_four_bytes() {
    let folder = folder("single");
    for name in ["gough-stewart", "delta", "3-rpr", "five-bar", "orthoglide", "tripteron", "dualv", "heli4"] {
        for (language, model) in [(Language::C, ModelKind::Idm), (Language::C4, ModelKind::Ddm)] {
            let options = CodeOptions { precision: Precision::F32, ..CodeOptions::new(model, language) };
            let code = generate(&robot(name), &options).unwrap();
            assert!(!code.files[1].text.contains("double "), "{}", code.files[1].text);
            passes(&folder, &code, &["-Wno-psabi"]);
        }
    }
}

#[test]
fn kernels_of_four_bytes_have_no_numbers_of_eight() {
    let options = CodeOptions { precision: Precision::F32, ..CodeOptions::new(ModelKind::Idm, Language::Cuda) };
    let text = &generate(&robot("3-rpr"), &options).unwrap().files[0].text;
    assert!(text.contains("sinf(") && text.contains("sqrtf(") && !text.contains("double"), "{text}");
    let options = CodeOptions { precision: Precision::F32, ..CodeOptions::new(ModelKind::Ddm, Language::Rust) };
    let text = &generate(&robot("3-rpr"), &options).unwrap().files[1].text;
    assert!(text.contains("fn robot_3_rpr_ddm(pose: &[f32; 3]") && !text.contains("f64"), "{text}");
}

/// Sine and cosine of four numbers at once, to the last digits, and beyond where they are computed together.
#[test]
fn turns_of_four_states() {
    let folder = folder("turns");
    let code = generate(&robot("3-rpr"), &CodeOptions::new(ModelKind::Igm, Language::C4)).unwrap();
    let files = write(&folder, &code);
    let source = std::fs::read_to_string(&files[1]).unwrap();
    let driver = format!(
        "{source}\n#include <stdio.h>\nint main(void) {{\n    double worst = 0.0;\n    for (int i = -400000; i < 400000; i++) {{\n        \
         const double a = 0.13*i, b = 1e-7*i, c = 1e3*i, d = 1.5707963267948966*i;\n        const gough_double4 x = {{a, b, c, d}}, \
         s = gough_sin(x), k = gough_cos(x);\n        const gough_double4 y = {{a, b, -b, d}}, t = gough_sin(y);\n        \
         for (int l = 0; l < 4; l++) {{\n            worst = fmax(worst, fabs(s[l] - sin(x[l])));\n            \
         worst = fmax(worst, fabs(k[l] - cos(x[l])));\n            worst = fmax(worst, fabs(t[l] - sin(y[l])));\n        }}\n    }}\n    \
         const gough_double4 none = {{0.0/0.0, 1.0, 0.0, -1.0}}, r = gough_sin(none);\n    \
         if (!(r[0] != r[0] && fabs(r[1] - sin(1.0)) < 1e-15)) return 1;\n    printf(\"%g\\n\", worst);\n    \
         return worst < 2.5e-16 ? 0 : 1;\n}}\n"
    );
    let path = folder.join("driver.c");
    std::fs::write(&path, driver).unwrap();
    let program = folder.join("driver");
    run(Command::new("cc").args(["-O2", "-march=x86-64-v3"]).arg(&path).arg("-o").arg(&program).arg("-lm"));
    run(&mut Command::new(&program));
    // What may be simplified there would take the rounding away.
    passes(&folder, &code, &["-Ofast", "-Wno-psabi"]);
}

#[test]
fn options_that_a_model_does_not_have_are_refused() {
    let [delta, stewart] = ["delta", "gough-stewart"].map(robot);
    let plain = CodeOptions::new(ModelKind::Igm, Language::C);
    let refused = |robot: &Robot, options: CodeOptions| match generate(robot, &options) {
        Err(why @ CodegenError::NotTaken { .. }) => {
            assert!(why.is_misuse() && why.kind() == "usage", "{why}");
            why.to_string()
        }
        other => panic!("{other:?}"),
    };
    let inputs = vec![FurtherInput::Wrench];
    assert!(refused(&delta, CodeOptions { inputs, ..plain.clone() }).contains("idm, ddm and inertia"));
    let orientation = OrientationInput::Quaternion;
    assert!(refused(&delta, CodeOptions { orientation, ..plain.clone() }).contains("six freedoms"));
    let (precision, language) = (Precision::F32, Language::Python);
    assert!(refused(&stewart, CodeOptions { precision, language, ..plain }).contains("eight bytes"));
}
