//! Where words go: the streams of the process, or the memory of a program that asks without starting another one.

use gough::Robot;
use std::cell::RefCell;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is said, and about which robot, while a question is answered on this thread.
struct Conversation {
    robot: Option<Robot>,
    stop: Arc<AtomicBool>,
    out: Vec<u8>,
    err: String,
}

thread_local! {
    static HELD: RefCell<Option<Conversation>> = const { RefCell::new(None) };
}

fn held<A>(use_it: impl FnOnce(&mut Conversation) -> A) -> Option<A> {
    HELD.with_borrow_mut(|held| held.as_mut().map(use_it))
}

/// What `answer` says on this thread, about a robot that is there already; `stop` asks it to end.
pub fn hold(robot: Option<&Robot>, stop: &Arc<AtomicBool>, answer: impl FnOnce() -> u8) -> (u8, Vec<u8>, String) {
    let own = Conversation { robot: robot.cloned(), stop: stop.clone(), out: Vec::new(), err: String::new() };
    let before = HELD.replace(Some(own));
    let status = answer();
    let said = HELD.replace(before);
    said.map_or((status, Vec::new(), String::new()), |said| (status, said.out, said.err))
}

/// Whether words go to memory.
pub fn are_held() -> bool {
    held(|_| ()).is_some()
}

/// The robot that is there already.
pub fn robot() -> Option<Robot> {
    held(|held| held.robot.clone()).flatten()
}

/// Whether whoever asks wants it to end.
pub fn stopped() -> bool {
    held(|held| held.stop.load(Ordering::Relaxed)).unwrap_or(false)
}

/// Whether somebody watches the messages as they come.
pub fn are_watched() -> bool {
    !are_held() && std::io::stderr().is_terminal()
}

/// Standard output.
pub struct Out;

impl std::io::Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let kept = held(|held| held.out.extend_from_slice(bytes));
        if kept.is_some() { Ok(bytes.len()) } else { std::io::stdout().write(bytes) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if are_held() { Ok(()) } else { std::io::stdout().flush() }
    }
}

/// Standard error.
pub fn tell(text: &str) {
    if held(|held| held.err.push_str(text)).is_none() {
        let _ = write!(std::io::stderr(), "{text}");
    }
}

/// Standard error where nobody collects it: how far a long computation is.
pub fn log(text: &str) {
    if !are_held() {
        tell(text);
    }
}

/// A line on standard error.
macro_rules! tell_line {
    ($($word:tt)*) => { $crate::streams::tell(&(format!($($word)*) + "\n")) };
}
pub(crate) use tell_line;
