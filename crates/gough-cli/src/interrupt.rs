//! Signals that ask the program to end: what is being written stays whole or goes away, and the exit status says which
//! signal it was, 130 for Ctrl-C and 143 for a plain `kill`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The exit status that was asked for, 128 and the number of the signal; zero while none came.
static ASKED: AtomicU8 = AtomicU8::new(0);
/// The command looks at [`asked`] again and again, and ends by itself.
static LOOKED_AT: AtomicBool = AtomicBool::new(false);
/// Files under their temporary names.
static PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Listen from now on. It must be called before other threads are started, since those inherit which signals are held back.
#[cfg(unix)]
pub fn listen() {
    use nix::sys::signal::{SigSet, Signal};
    let ignored = ignored();
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        if ignored >> (signal as u64 - 1) & 1 == 0 {
            signals.add(signal);
        }
    }
    if signals.thread_block().is_err() {
        return;
    }
    std::thread::spawn(move || {
        while let Ok(signal) = signals.wait() {
            heard(u8::try_from(128 + signal as i32).unwrap_or(130));
        }
    });
}

/// Listen from now on.
#[cfg(not(unix))]
pub fn listen() {
    let _ = ctrlc::set_handler(|| heard(130));
}

/// Signals that whoever started the program wants ignored (`nohup`, jobs in the background), one per bit.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// The first signal is left to a command that looks for it; otherwise, and the second time, the program ends here.
fn heard(status: u8) {
    let again = ASKED.swap(status, Ordering::Relaxed) != 0;
    if LOOKED_AT.load(Ordering::Relaxed) && !again {
        return;
    }
    if let Ok(parts) = PARTS.lock() {
        for part in parts.iter() {
            let _ = std::fs::remove_file(part);
        }
        std::process::exit(status.into());
    }
}

/// The command will look at [`asked`] and end by itself.
pub fn look() {
    LOOKED_AT.store(true, Ordering::Relaxed);
}

/// Whether the program was asked to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed) != 0 || crate::streams::stopped()
}

/// The exit status of a program that was asked to end.
pub fn status() -> u8 {
    match ASKED.load(Ordering::Relaxed) {
        0 => 130,
        status => status,
    }
}

/// A file is being written under this temporary name.
pub fn begun(part: &Path) {
    if let Ok(mut parts) = PARTS.lock() {
        parts.push(part.to_path_buf());
    }
}

/// It has its own name now, or is gone.
pub fn ended(part: &Path) {
    if let Ok(mut parts) = PARTS.lock() {
        parts.retain(|p| p != part);
    }
}
