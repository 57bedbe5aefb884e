//! Gough in a page: the library as a WebAssembly module.
//!
//! The page and the module share four buffers: text (questions and answers), numbers (coordinates or motors), frames (what a
//! posture looks like) and film (frames of a motion). The page asks for room, writes, calls, and reads. One robot at a time;
//! everything else is [`gough::view::Session`]. The module calls the page for one thing, to tell how far a long question is.
//!
//! Nothing here reads memory through a pointer: buffers are ordinary vectors, whose addresses are given out. All that the
//! compiler calls unsafe is the attribute that keeps the names of the functions and the block that names what the page gives.

use gough::Source;
use gough::description::FaultDocument;
use gough::view::{Portrait, RefusalDocument, Session};
use serde_json::{Value, json};
use std::cell::RefCell;

/// What the page and the module share.
#[derive(Default)]
struct Shared {
    session: Option<Session>,
    text: Vec<u8>,
    numbers: Vec<f64>,
    frames: Vec<f64>,
    film: Vec<f64>,
}

/// What the page gives the module.
#[cfg(target_arch = "wasm32")]
mod page {
    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        /// A long question has come so far.
        pub safe fn progress(share: f64);
    }
}

/// Long questions are stopped by ending the worker that they run in, so they always go on.
#[cfg(target_arch = "wasm32")]
fn progress(share: f64) -> bool {
    page::progress(share);
    true
}

#[cfg(not(target_arch = "wasm32"))]
fn progress(_: f64) -> bool {
    true
}

thread_local! {
    static SHARED: RefCell<Shared> = RefCell::default();
}

fn shared<T>(act: impl FnOnce(&mut Shared) -> T) -> T {
    SHARED.with(|cell| act(&mut cell.borrow_mut()))
}

/// Room for so many bytes of text; where they go.
#[unsafe(no_mangle)]
pub extern "C" fn gough_text(length: usize) -> *mut u8 {
    shared(|s| {
        s.text.clear();
        s.text.resize(length, 0);
        s.text.as_mut_ptr()
    })
}

/// Room for so many numbers; where they go.
#[unsafe(no_mangle)]
pub extern "C" fn gough_numbers(length: usize) -> *mut f64 {
    shared(|s| {
        s.numbers.clear();
        s.numbers.resize(length, 0.0);
        s.numbers.as_mut_ptr()
    })
}

/// Where the text is that was answered last; the calls that answer return its length.
#[unsafe(no_mangle)]
pub extern "C" fn gough_answer() -> *const u8 {
    shared(|s| s.text.as_ptr())
}

/// Where the frames of the posture are.
#[unsafe(no_mangle)]
pub extern "C" fn gough_frames() -> *const f64 {
    shared(|s| s.frames.as_ptr())
}

/// How many numbers the frames have.
#[unsafe(no_mangle)]
pub extern "C" fn gough_frames_length() -> usize {
    shared(|s| s.frames.len())
}

/// Make the robot that the text says: `{"name", "text", "files", "set", "actuation"}`, or `{"name"}` for a shipped one. The answer
/// is its portrait, or its faults; the robot before stays when there are faults. Returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn gough_load() -> usize {
    shared(|s| {
        let answer = match load(&s.text) {
            Ok(session) => {
                let portrait = json!({ "answer": Portrait::new(session.robot()) });
                session.frames(&mut s.frames);
                s.session = Some(session);
                portrait
            }
            Err(refused) => refused,
        };
        s.text = answer.to_string().into_bytes();
        s.text.len()
    })
}

/// Answer the question in the text. Returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn gough_ask() -> usize {
    shared(|s| {
        let question = String::from_utf8_lossy(&s.text).into_owned();
        let answer = match &mut s.session {
            Some(session) => session.ask_text(&question),
            None => json!({ "error": { "kind": "usage", "message": "no robot is loaded" } }).to_string(),
        };
        if let Some(session) = &s.session {
            session.frames(&mut s.frames);
        }
        s.text = answer.into_bytes();
        s.text.len()
    })
}

/// Move the platform to the numbers, in the working mode in which it stands, and fill the frames. Returns 0, or the length of a
/// refusal.
#[unsafe(no_mangle)]
pub extern "C" fn gough_place() -> usize {
    moved(Session::place)
}

/// Move the motors to the numbers, the platform following, and fill the frames. Returns 0, or the length of a refusal.
#[unsafe(no_mangle)]
pub extern "C" fn gough_drive() -> usize {
    moved(Session::drive)
}

/// Frames of a motion: the numbers are coordinates of instants one after the other, the text is a working mode. Returns how many of
/// them there are up to the first that is not reached; they begin where `gough_film_frames` says. The robot stays where it is.
#[unsafe(no_mangle)]
pub extern "C" fn gough_film() -> usize {
    shared(|s| {
        let Some(session) = &s.session else { return 0 };
        let mode = session.robot().mode_named(&String::from_utf8_lossy(&s.text));
        mode.map_or(0, |mode| session.film(&s.numbers, &mode, &mut s.film))
    })
}

/// Where the frames of a motion are.
#[unsafe(no_mangle)]
pub extern "C" fn gough_film_frames() -> *const f64 {
    shared(|s| s.film.as_ptr())
}

fn moved(act: impl FnOnce(&mut Session, &[f64]) -> Result<(), gough::Error>) -> usize {
    shared(|s| {
        let Some(session) = &mut s.session else { return 0 };
        let done = act(session, &s.numbers);
        session.frames(&mut s.frames);
        s.text =
            done.err().map_or_else(Vec::new, |e| json!({ "error": RefusalDocument::new(&e) }).to_string().into_bytes());
        s.text.len()
    })
}

fn load(text: &[u8]) -> Result<Session, Value> {
    let refused = |message: String| json!({ "error": { "kind": "usage", "message": message } });
    let asked: Value = serde_json::from_slice(text).map_err(|e| refused(format!("no JSON document: {e}")))?;
    let source = source(&asked).map_err(|e| json!({ "error": RefusalDocument::new(&e) }))?;
    Session::load(source).map(|session| session.watched(progress)).map_err(|e| match &e {
        gough::Error::BadRobot(bad) => {
            json!({ "error": RefusalDocument::new(&e), "faults": FaultDocument::list(&bad.text, &bad.faults) })
        }
        _ => json!({ "error": RefusalDocument::new(&e) }),
    })
}

fn source(asked: &Value) -> Result<Source, gough::Error> {
    let name = asked["name"].as_str().unwrap_or("robot");
    let mut source = match asked["text"].as_str() {
        Some(text) => Source { name: name.to_owned(), text: text.to_owned(), ..Source::default() },
        None => Source::shipped(name)?,
    };
    let words = |v: &Value| v.as_str().map(str::to_owned).unwrap_or_default();
    if let Some(files) = asked["files"].as_object() {
        source.files = files.iter().map(|(name, text)| (name.clone(), words(text))).collect();
    }
    if let Some(set) = asked["set"].as_array() {
        source.set = set.iter().map(|pair| (words(&pair[0]), words(&pair[1]))).collect();
    }
    source.actuation = asked["actuation"].as_str().map(str::to_owned);
    Ok(source)
}

/// Answer questions one after the other as the module does, outside a page: what tests compare the module with.
pub fn answers(lines: &str) -> String {
    let mut out = String::new();
    for line in lines.lines() {
        gough_text(line.len());
        shared(|s| s.text.copy_from_slice(line.as_bytes()));
        if line.starts_with("{\"name\"") {
            gough_load();
        } else {
            gough_ask();
        }
        out += &shared(|s| String::from_utf8_lossy(&s.text).into_owned());
        out.push('\n');
    }
    out
}
