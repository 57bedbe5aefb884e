//! A controller for the five-bar: its inverse dynamics as C, with symbolic tool mass.

use gough::codegen::{CodeOptions, Language, ModelKind, Symbolic, generate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let robot = gough::Robot::shipped("five-bar")?;
    let folded = generate(&robot, &CodeOptions::new(ModelKind::Idm, Language::C))?;
    println!("all numbers folded in: {} operations", folded.count.operations());
    let options = CodeOptions {
        symbolic: Symbolic::Some(vec!["m4".to_owned()]),
        ..CodeOptions::new(ModelKind::Idm, Language::C)
    };
    let open = generate(&robot, &options)?;
    println!("tool mass as an input: {} operations\n", open.count.operations());
    println!("{}", open.files[1].text);
    Ok(())
}
