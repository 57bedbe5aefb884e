//! `--degrees`: angles of texts and pictures in degrees. JSON and tables stay in radians.

use clap::Args;
use std::sync::atomic::{AtomicBool, Ordering};

/// The option of every command whose answers have angles.
#[derive(Args)]
pub struct Angles {
    /// Angles of the text and of pictures in degrees; JSON and tables stay in radians
    #[arg(long, conflicts_with = "json")]
    pub degrees: bool,
}

static DEGREES: AtomicBool = AtomicBool::new(false);

/// Show angles in degrees from now on.
pub fn show_degrees(wanted: bool) {
    DEGREES.store(wanted, Ordering::Relaxed);
}

fn degrees() -> bool {
    DEGREES.load(Ordering::Relaxed)
}

/// An angle, or a rate of one, as it is shown.
pub fn shown(radians: f64) -> f64 {
    if degrees() { radians.to_degrees() } else { radians }
}

/// The unit it is shown in.
pub fn unit() -> &'static str {
    if degrees() { "deg" } else { "rad" }
}
