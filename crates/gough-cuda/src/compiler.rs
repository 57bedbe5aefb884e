//! CUDA's run-time compiler: found, loaded, called.
#![allow(unsafe_code)]

use crate::Trouble;
use libloading::{Library, Symbol};
use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::OnceLock;

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Handle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Handle) -> c_int;

/// Versions of CUDA whose compiler may carry its number in its name.
const VERSIONS: std::ops::RangeInclusive<u32> = 11..=15;

/// The compiler, found once.
fn library() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the compiler is a library of CUDA whose loading runs nothing but its own beginning.
    FOUND.get_or_init(|| places().into_iter().find_map(|place| unsafe { Library::new(place) }.ok())).as_ref()
}

/// Where the compiler may be: by its name alone, then in the folders of CUDA.
fn places() -> Vec<PathBuf> {
    let names: Vec<String> = if cfg!(windows) {
        VERSIONS.rev().map(|v| format!("nvrtc64_{v}0_0.dll")).collect()
    } else {
        std::iter::once("libnvrtc.so".to_owned()).chain(VERSIONS.rev().map(|v| format!("libnvrtc.so.{v}"))).collect()
    };
    let homes = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(env::var_os).map(PathBuf::from);
    let usual = ["/usr/local/cuda", "/opt/cuda"].iter().filter(|_| cfg!(unix)).map(PathBuf::from);
    let folders =
        homes.chain(usual).flat_map(|home| ["lib64", "lib", "bin", "targets/x86_64-linux/lib"].map(|f| home.join(f)));
    let all = std::iter::once(PathBuf::new()).chain(folders);
    all.flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>()).collect()
}

/// A kernel in the language of devices of this capability, ended by a zero.
pub fn compiled(source: &str, capability: (i32, i32)) -> Result<Vec<u8>, Trouble> {
    let library = library().ok_or(Trouble::NoCompiler)?;
    let option = format!("--gpu-architecture=compute_{}{}", capability.0, capability.1);
    let refused = || Trouble::NotCompiled("its text has a zero inside".to_owned());
    let (source, option) = (CString::new(source).map_err(|_| refused())?, CString::new(option).map_err(|_| refused())?);
    // SAFETY: these are the functions of NVRTC with the types that its documentation gives; texts are ended by zeros and live
    // until the call returns; buffers are as long as the compiler asked for; the handle is destroyed once.
    unsafe {
        let create: Symbol<'_, Create> = function(library, c"nvrtcCreateProgram")?;
        let compile: Symbol<'_, Compile> = function(library, c"nvrtcCompileProgram")?;
        let destroy: Symbol<'_, Destroy> = function(library, c"nvrtcDestroyProgram")?;
        let mut handle: Handle = null_mut();
        let status = create(&raw mut handle, source.as_ptr(), null_mut(), 0, null_mut(), null_mut());
        if status != 0 || handle.is_null() {
            return Err(Trouble::NotCompiled(format!("it does not begin (status {status})")));
        }
        let options = [option.as_ptr()];
        let status = compile(handle, 1, options.as_ptr());
        let found = if status == 0 {
            text(library, handle, [c"nvrtcGetPTXSize", c"nvrtcGetPTX"])
        } else {
            let log = text(library, handle, [c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog"])?;
            let log = CStr::from_bytes_until_nul(&log)
                .map_or_else(|_| String::new(), |log| log.to_string_lossy().into_owned());
            Err(Trouble::NotCompiled(if log.trim().is_empty() { format!("status {status}") } else { log }))
        };
        destroy(&raw mut handle);
        found
    }
}

unsafe fn function<'l, T>(library: &'l Library, name: &CStr) -> Result<Symbol<'l, T>, Trouble> {
    // SAFETY: the caller names a function together with its type.
    unsafe { library.get(name.to_bytes_with_nul()) }.map_err(|why| Trouble::NotCompiled(why.to_string()))
}

/// A text of the compiler, by the functions that tell its length and write it.
unsafe fn text(library: &Library, handle: Handle, [size, write]: [&CStr; 2]) -> Result<Vec<u8>, Trouble> {
    // SAFETY: the caller gives a handle that lives; the buffer is as long as the compiler asks for.
    unsafe {
        let size: Symbol<'_, Size> = function(library, size)?;
        let write: Symbol<'_, Text> = function(library, write)?;
        let mut bytes = 0;
        let mut status = size(handle, &raw mut bytes);
        let mut text = vec![0_u8; bytes + 1];
        if status == 0 {
            status = write(handle, text.as_mut_ptr().cast());
        }
        if status == 0 { Ok(text) } else { Err(Trouble::NotCompiled(format!("it gives no text (status {status})"))) }
    }
}
