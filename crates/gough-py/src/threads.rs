//! Threads that compute: a pool for every number of them, made when it is first asked for, and made anew in a process that was
//! forked, where the threads of its parent do not exist.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long signals wait at most while something is computed.
const LISTEN: Duration = Duration::from_millis(25);
/// How long an answer that was asked to end may still take.
const PATIENCE: Duration = Duration::from_millis(100);

type Pools = HashMap<usize, Arc<ThreadPool>>;
static POOLS: Mutex<(u32, Option<Pools>)> = Mutex::new((0, None));

/// Whatever a panic left behind is still a list of memory.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All cores unless a number is given. How many there are is asked once: the system reads files to know.
fn number(threads: Option<usize>) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = || *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    threads.unwrap_or_else(cores).clamp(1, 1024)
}

fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let n = number(threads);
    let mut all = locked(&POOLS);
    if all.0 != std::process::id() {
        // Pools of the parent process are left alone: their threads cannot be waited for.
        std::mem::forget(all.1.take());
        all.0 = std::process::id();
    }
    let pools = all.1.get_or_insert_default();
    if let Some(pool) = pools.get(&n) {
        return Ok(pool.clone());
    }
    let made = ThreadPoolBuilder::new().num_threads(n).stack_size(16 << 20).build();
    let made = Arc::new(made.map_err(|e| PyRuntimeError::new_err(format!("cannot start {n} threads: {e}")))?);
    pools.insert(n, made.clone());
    Ok(made)
}

/// Forget a pool whose threads are busy with something nobody waits for.
fn abandon(pool: &Arc<ThreadPool>) {
    let mut all = locked(&POOLS);
    if let Some(pools) = &mut all.1 {
        pools.retain(|_, other| !Arc::ptr_eq(other, pool));
    }
}

/// Work on `count` items block by block, the lock of the interpreter released, signals heard in between. Blocks begin at
/// multiples of `unit`.
pub fn in_blocks(
    py: Python<'_>,
    count: usize,
    unit: usize,
    threads: Option<usize>,
    mut work: impl FnMut(Range<usize>) + Send,
) -> PyResult<()> {
    let pool = if number(threads) > 1 && count > unit { Some(pool(threads)?) } else { None };
    let (mut from, mut units) = (0, 2 * number(threads));
    while from < count {
        let (begun, to) = (Instant::now(), count.min(from.saturating_add(unit * units)));
        py.detach(|| match &pool {
            Some(pool) => pool.install(|| work(from..to)),
            None => work(from..to),
        });
        py.check_signals()?;
        from = to;
        let taken = begun.elapsed();
        if taken < LISTEN {
            units = units.saturating_mul(2).min(1 << 20);
        } else if taken > 2 * LISTEN {
            units = (units / 2).max(1);
        }
    }
    Ok(())
}

/// An answer that may take long, on other threads; signals are heard meanwhile. One that does not end soon after it was asked to
/// is left to itself.
pub fn waited<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    answer: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
) -> PyResult<T> {
    let (stop, (told, hears)) = (Arc::new(AtomicBool::new(false)), channel());
    let (pool, asked) = (pool(threads)?, stop.clone());
    pool.spawn(move || drop(told.send(catch_unwind(AssertUnwindSafe(|| answer(&asked))))));
    let hears = Mutex::new(hears);
    let wait = |time: Duration| py.detach(|| locked(&hears).recv_timeout(time));
    loop {
        match wait(LISTEN) {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the library broke off; please report what was asked"));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    stop.store(true, Ordering::Relaxed);
                    if wait(PATIENCE).is_err() {
                        abandon(&pool);
                    }
                    return Err(signal);
                }
            }
        }
    }
}
