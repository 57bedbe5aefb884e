//! Sliders on flexible beams: the node of the beam goes with them.

use crate::common::{compile, text as common_text};
use gough::elastodynamics::{Actuators, Vibration};
use gough::model::Model;
use gough::spatial::{Pose, vec3};

/// Lowest frequencies of a robot file, its platform moved to a place along x or at home.
fn rail_at(text: &str, x: Option<f64>) -> Result<Vec<f64>, String> {
    let robot = compile("rail", text);
    let mut v = Vibration::new(robot.model(), robot.home(), Actuators::Locked).map_err(|e| e.to_string())?;
    if let Some(x) = x {
        v.take(&Pose::translation(vec3(x, 0.0, 0.0)), robot.mode()).map_err(|e| e.to_string())?;
    }
    Ok(v.lowest(6).map_err(|e| e.to_string())?.iter().map(|f| f.hz).collect())
}

#[test]
fn the_node_of_a_rail_goes_with_the_slider() {
    let text = common_text("rail");
    // Finite elements with a node under the carriage, which stands where the platform does.
    let near = text.replace("\"0.1 m\"", "0");
    for (x, hz) in [(0.9, 9.796), (0.5, 14.635)] {
        let found = rail_at(&near.replace("elements = 4", "elements = 8"), Some(x)).unwrap();
        assert!((found[0] / hz - 1.0).abs() < 1e-4, "{x}: {found:?}");
    }
    // A carriage bolted to the same place of the rail vibrates alike; beyond the end a rigid arm carries it.
    for x in [0.15, 0.33, 0.6, 0.85, 1.1, 1.25] {
        let slid = rail_at(&text, Some(x)).unwrap();
        let place = (x - 0.1_f64).clamp(0.0, 1.0);
        let bolted = text
            .replace("joint = \"P\"\naxis = [1, 0, 0]\ndrive = {}", "joint = \"P\"\naxis = [0, 1, 0]\ndrive = {}")
            .replace("on = \"rail\"", &format!("on = \"rail\"\nframe = {{ xyz = [{place}, 0, 0] }}"))
            .replace("coordinates = [\"x\"]", "coordinates = [\"y\"]")
            .replace("home = { x = 0.5 }", &format!("home = {{ x = {x}, y = 0 }}"))
            .replace("point = [\"reach\", 0, 0]", &format!("point = [{}, 0, 0]", x - place));
        let held = rail_at(&bolted, None).unwrap();
        let gap = slid.iter().zip(&held).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        // Short elements leave nine digits of the lowest frequency.
        assert!(gap < 1e-8, "{x}: {gap:e} {slid:?} {held:?}");
    }
}

#[test]
fn sensitivities_know_that_a_slider_moves_its_node() {
    let robot = compile("rail", &common_text("rail"));
    let model = robot.model();
    let pose = Pose::translation(vec3(0.73, 0.0, 0.0));
    let lowest = |model: &Model<f64>| {
        let mut v = Vibration::new(model, robot.home(), Actuators::Locked).unwrap();
        v.take(&pose, robot.mode()).unwrap();
        v.lowest(2).unwrap();
        v
    };
    let v = lowest(model);
    for (k, s) in v.sensitivities(robot.mode()).iter().enumerate() {
        let h = 1e-5 * s.value;
        let at = |sign: f64| {
            let mut values = model.numbers().parameters.clone();
            values[k] += sign * h;
            lowest(&model.with_values(&values)).frequencies()[0].hz
        };
        let wanted = (at(1.0) - at(-1.0)) / (2.0 * h);
        let scale = v.frequencies()[0].hz / s.value;
        assert!(
            (s.slopes[0] - wanted).abs() < 1e-6 * scale.max(wanted.abs()),
            "{}: {} {wanted}",
            s.parameter,
            s.slopes[0]
        );
        assert!(wanted.abs() > 1e-3 * scale, "{}: {wanted}", s.parameter);
    }
}

/// The rail with a carriage that only a closure ties to it; a drive on the base moves the carriage along x and leaves the rest to the rail.
fn closed_rail(text: &str, [on_rail, on_shoe]: [&str; 2]) -> String {
    let (frame, rest) = text.split_once("[[body]]\nname = \"1\"").unwrap();
    assert!(rest.contains("[[closure]]"));
    let slide = |name: &str, on: &str, axis: &str, drive: &str| {
        format!("[[body]]\nname = \"{name}\"\non = \"{on}\"\njoint = \"P\"\naxis = {axis}\n{drive}\n")
    };
    [
        frame.to_owned(),
        slide("1", "base", "[1, 0, 0]", "drive = {}"),
        slide("2", "1", "[0, 1, 0]", ""),
        slide("3", "2", "[0, 0, 1]", ""),
        "[[closure]]\njoint = \"S\"\na = { body = \"3\" }\nb = { body = \"platform\" }\n".to_owned(),
        format!("[[closure]]\nname = \"shoe\"\njoint = \"P\"\n{on_rail} = {{ body = \"rail\", axis = [1, 0, 0] }}\n"),
        format!("{on_shoe} = {{ body = \"platform\", point = [\"-reach\", 0, 0], axis = [1, 0, 0] }}\n"),
    ]
    .concat()
}

#[test]
fn a_closure_that_slides_along_a_beam_moves_its_node() {
    let text = common_text("rail");
    for sides in [["a", "b"], ["b", "a"]] {
        let closed = closed_rail(&text, sides);
        for x in [0.2, 0.45, 0.73, 0.9] {
            let (open, shut) = (rail_at(&text, Some(x)).unwrap(), rail_at(&closed, Some(x)).unwrap());
            // Bending; along the rail the one is held by the rail and the other by the base. Nearer to an end of the rail, where
            // elements become short, the two roads part in the eighth digit: 1.8e-8 at x = 1.
            let gap = open[..4].iter().zip(&shut).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-8, "{sides:?} at {x}: {gap:e} {open:?} {shut:?}");
        }
    }
}
