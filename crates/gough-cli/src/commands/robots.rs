//! `gough robots`.

use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use serde_json::json;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub output: Output,
    /// Print the robot file of a shipped robot, to start a robot of your own from
    #[arg(long, value_name = "ROBOT")]
    show: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(name) = &arguments.show {
        let text = gough::robots::text(name).ok_or_else(|| {
            let hint = gough::description::nearest(name, gough::robots::names());
            let hint = hint.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            Failure::Usage(format!("no shipped robot is called `{name}`{hint}"))
        })?;
        return arguments.output.give(|| json!({ "robot": name, "text": text }), || text.to_owned());
    }
    let list: Vec<(&str, String)> = gough::robots::names()
        .map(|name| {
            let summary = gough::robots::summary(name).unwrap_or_default();
            (name, summary)
        })
        .collect();
    let width = list.iter().map(|(n, _)| n.len()).max().unwrap_or(0);
    arguments.output.give(
        || json!({ "robots": list.iter().map(|(n, s)| json!({ "name": n, "summary": s })).collect::<Vec<_>>() }),
        || list.iter().map(|(n, s)| format!("{n:width$}  {s}\n")).collect(),
    )
}
