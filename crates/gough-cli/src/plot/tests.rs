//! Every picture that can be asked for is drawn: the pretty ones and the degenerate ones. Without the feature `png` nothing
//! reads the SVG again and nothing looks at pixels.

use super::*;
#[cfg(feature = "png")]
use resvg::{tiny_skia, usvg};

/// Draw as SVG and PNG; the text of the SVG.
fn drawn(picture: &Picture) -> String {
    both(|path| draw(picture, path))
}

fn both(draw: impl Fn(&Path) -> Result<Vec<u8>, PlotError>) -> String {
    let svg = draw(Path::new("p.svg")).expect("an SVG");
    #[cfg(feature = "png")]
    {
        let png = draw(Path::new("p.png")).expect("a PNG");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        let pixels = tiny_skia::Pixmap::decode_png(&png).expect("a PNG");
        assert!(pixels.pixels().iter().all(|p| p.alpha() == 255), "the page is white to its edges");
    }
    #[cfg(not(feature = "png"))]
    assert!(matches!(draw(Path::new("p.png")), Err(PlotError::NoPng(_))));
    checked(String::from_utf8(svg).expect("an SVG"))
}

/// An SVG that other programs can read.
fn checked(text: String) -> String {
    #[cfg(feature = "png")]
    usvg::Tree::from_str(&text, &usvg::Options::default()).expect("a well-formed SVG");
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
    for bad in ["\"NaN", "\"inf", "\"-inf"] {
        assert!(!text.contains(bad), "{bad}");
    }
    text
}

fn axis(label: &str, low: f64, high: f64) -> PlotAxis {
    PlotAxis { label: label.to_owned(), low, high, log: false }
}

fn grid(low: f64, high: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| low + (high - low) * i as f64 / (n - 1).max(1) as f64).collect()
}

fn field(n: usize, scale: Scale, f: impl Fn(f64, f64) -> Option<f64>) -> Field {
    let (xs, ys) = (grid(-0.5, 0.5, n), grid(-0.4, 0.4, n));
    let values = ys.iter().flat_map(|&y| xs.iter().map(move |&x| (x, y))).map(|(x, y)| f(x, y)).collect();
    Field { name: "conditioning".to_owned(), unit: "1/m".to_owned(), xs, ys, values, scale }
}

fn map(field: Option<Field>) -> Picture {
    Picture {
        title: "Conditioning of a five-bar robot".to_owned(),
        x: axis("x (m)", -0.5, 0.5),
        y: axis("y (m)", -0.4, 0.4),
        equal: true,
        field,
        ..Picture::default()
    }
}

fn circle(r: f64, points: usize) -> Vec<[f64; 2]> {
    let turn = |i| i as f64 / points as f64 * std::f64::consts::TAU;
    (0..=points).map(|i| [r * turn(i).cos(), r * turn(i).sin()]).collect()
}

fn curves(name: &str, colour: Colour, stroke: Stroke, lines: Vec<Vec<[f64; 2]>>) -> Curves {
    Curves { name: name.to_owned(), style: Style { colour, stroke }, lines }
}

fn smooth() -> Picture {
    let wave = |x: f64, y: f64| Some(0.5 + 0.5 * (6.0 * x).sin() * (5.0 * y).cos() + 0.3 * y);
    Picture {
        curves: vec![
            curves("Type 2 singularity", Colour::Black, Stroke::Solid, vec![circle(0.25, 100), circle(0.55, 100)]),
            curves("edge of the workspace", Colour::Red, Stroke::Dashed, vec![circle(0.37, 100)]),
            curves("cusps", Colour::Orange, Stroke::Dots, vec![circle(0.15, 6)]),
        ],
        notes: vec!["gough 0.1.0, robot five-bar, working mode +-, 200 × 200 postures".to_owned()],
        ..map(Some(field(200, Scale::Linear, wave)))
    }
}

fn gaps() -> Picture {
    let peak = |x: f64, y: f64| (x.hypot(y) < 0.42).then(|| 1.0 / (x * x + (y - 0.1) * (y - 0.1) + 1e-5));
    Picture {
        title:
            "Torque at the limit of the reach, all working modes that close, worst motor of the five, at a speed of \
                one metre per second"
                .to_owned(),
        ..map(Some(Field { name: "torque".to_owned(), unit: "N·m".to_owned(), ..field(60, Scale::Log, peak) }))
    }
}

fn categories() -> Picture {
    let labels = ["no solution", "two assembly modes", "four assembly modes", "six assembly modes"];
    let count = |x: f64, y: f64| (x.hypot(y) < 0.48).then(|| (8.0 * x.hypot(y)).floor());
    let scale = Scale::Category(labels.map(str::to_owned).to_vec());
    let edge = curves("edge", Colour::Black, Stroke::Solid, vec![circle(0.375, 90)]);
    Picture {
        title: "Assembly modes".to_owned(),
        curves: vec![edge],
        ..map(Some(Field { name: "direct solutions".to_owned(), ..field(150, scale, count) }))
    }
}

fn chart(y_log: bool) -> Chart {
    let series = |i: u32, f: fn(f64) -> Option<f64>| Series {
        name: format!("motor {}", i + 1),
        style: Style::nth(i as usize),
        points: grid(0.0, 2.0, 200).into_iter().map(|t| (t, f(t))).collect(),
    };
    Chart {
        title: "Torques along a trajectory".to_owned(),
        x_label: "time (s)".to_owned(),
        y_label: "torque (N·m)".to_owned(),
        y_log,
        series: vec![
            series(0, |t| Some(120.0 * (3.0 * t).sin())),
            series(1, |t| (!(0.8..1.1).contains(&t)).then(|| 40.0 * (7.0 * t).cos() - 20.0)),
            series(6, |t| Some(2.0 * (2.2 * t).exp())),
        ],
        notes: vec![],
    }
}

#[test]
fn a_map_has_axes_legend_colour_bar_and_notes() {
    let svg = drawn(&smooth());
    for words in ["x (m)", "y (m)", "conditioning (1/m)", "Type 2 singularity", "cusps", "five-bar", "200 × 200"] {
        assert!(svg.contains(words), "{words}");
    }
    assert!(!svg.contains("no answer"));
    assert!(svg.len() < 100_000, "{}", svg.len());
}

#[test]
fn cells_without_answer_are_in_the_legend() {
    let svg = drawn(&gaps());
    assert!(svg.contains("no answer") && svg.contains("10³") && svg.contains("torque (N·m)"));
}

#[test]
fn categories_have_labels() {
    let svg = drawn(&categories());
    assert!(svg.contains("four assembly modes") && svg.contains("direct solutions"));
}

#[test]
fn charts_have_a_curve_per_part() {
    for y_log in [false, true] {
        let svg = both(|path| line_chart(&chart(y_log), path));
        assert!(svg.contains("time (s)") && svg.contains("torque (N·m)") && svg.contains("motor 2"));
    }
}

#[cfg(feature = "png")]
#[test]
fn up_is_up() {
    let steep = |_: f64, y: f64| Some(f64::from(y > 0.0));
    let png = draw(&map(Some(field(20, Scale::Linear, steep))), Path::new("p.png")).expect("a PNG");
    let pixels = tiny_skia::Pixmap::decode_png(&png).expect("a PNG");
    let green = |y| pixels.pixel(700, y).map(tiny_skia::PremultipliedColorU8::green);
    assert!(green(300) > green(900), "large values are bright and above");
}

#[test]
fn other_extensions_are_refused() {
    for name in ["p.pdf", "p", ""] {
        let refused = draw(&map(None), Path::new(name)).expect_err("no picture");
        assert!(matches!(refused, PlotError::Extension(_)));
        assert!(refused.to_string().contains(".svg or .png"));
    }
}

#[test]
fn degenerate_fields_are_drawn() {
    let values = [None, Some(0.0), Some(-1.0), Some(f64::NAN), Some(f64::INFINITY), Some(1e300), Some(5e-324)];
    let scales = [Scale::Linear, Scale::Log, Scale::Category(vec![]), Scale::Category(vec!["a".to_owned(); 60])];
    for (value, scale) in values.into_iter().flat_map(|v| scales.clone().map(|s| (v, s))) {
        for n in [0, 1, 3] {
            checked(page::svg(&[map(Some(field(n, scale.clone(), |_, _| value)))]).expect("an SVG"));
        }
    }
    let mut uneven = field(3, Scale::Linear, |x, y| Some(x * y));
    uneven.xs = vec![-0.4, -0.3, 0.4];
    uneven.values.truncate(5);
    assert!(drawn(&map(Some(uneven))).contains("no answer"));
}

#[test]
fn degenerate_pictures_are_drawn() {
    drawn(&Picture::default());
    both(|path| line_chart(&Chart::default(), path));
    let odd = curves(
        "<a & \"b\">\u{1}\u{ffff}",
        Colour::Blue,
        Stroke::Dashed,
        vec![vec![], vec![[0.0, 0.0]], vec![[f64::NAN; 2]; 3]],
    );
    let svg = drawn(&Picture { curves: vec![odd], ..map(None) });
    assert!(svg.contains("&lt;a &amp;"));
    for (low, high) in [(1.0, 1.0), (2.0, -2.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (0.0, 1e-300), (0.0, 1e9)] {
        let mut picture = smooth();
        picture.x = PlotAxis { log: low == 0.0, ..axis(&"a long label ".repeat(40), low, high) };
        drawn(&picture);
    }
    let many = (0..40).map(|i| curves(&format!("curve {i}"), Colour::Blue, Style::nth(i).stroke, vec![]));
    drawn(&Picture { curves: many.collect(), title: "word ".repeat(100), ..map(None) });
}

#[test]
fn a_million_cells_stay_small() {
    let noise = |x: f64, y: f64| Some((43_758.545 * (12.9898 * x + 78.233 * y).sin()).fract());
    let svg = drawn(&map(Some(field(1000, Scale::Linear, noise))));
    assert!(svg.len() < 2_000_000, "{}", svg.len());
}

/// Charts one below the other are a page as high as all of them, each with a scale, however low it is.
#[test]
fn charts_stand_below_each_other() {
    let chart = |name: &str, size: f64| {
        let points = (0..50).map(|i| (f64::from(i), Some(size * f64::from(i).sin()))).collect();
        let series = vec![Series { name: name.to_owned(), style: Style::nth(0), points }];
        Chart { title: format!("All of {name}"), series, ..Chart::default() }
    };
    let charts = [(chart("first", 7.0), 300), (chart("second", 700.0), 200)];
    let svg = both(|path| line_charts(&charts, path));
    assert!(svg.contains("height=\"500\"") && svg.contains("translate(0 3000)"), "{}", &svg[..300]);
    for words in ["All of first", "All of second", "−5", "−500"] {
        assert!(svg.contains(words), "{words}");
    }
}
