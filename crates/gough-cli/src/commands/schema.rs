//! `gough schema`.

use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use gough::description::{reference_page, schema};

#[derive(Args)]
pub struct Arguments {
    /// Print the reference tables of the format as Markdown instead
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let page = || if arguments.markdown { reference_page() } else { format!("{:#}", schema()) };
    arguments.output.give(schema, page)
}
