//! Devices and kernels.
#![allow(unsafe_code)]

use crate::{ENTRY, PIECE, Trouble, compiler};
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PinnedHostSlice,
    PushKernelArg, sys,
};
use cudarc::nvrtc::Ptx;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Threads of a block.
const THREADS: u32 = 128;
/// Pieces under way: one is computed while another is taken.
const UNDER_WAY: usize = 2;
/// Most numbers of a piece.
const MOST_NUMBERS: usize = 1 << 26;

/// Kernels that a device keeps.
const KEPT: usize = 64;

/// A graphics processor.
#[derive(Clone)]
pub struct Device {
    context: Arc<CudaContext>,
    kept: Arc<Kept>,
}

/// What a device keeps from one kernel to the next: texts and what they were compiled to, and memory that is free.
#[derive(Default)]
struct Kept {
    functions: Mutex<Vec<(String, CudaFunction)>>,
    slots: Mutex<Vec<Slot>>,
}

/// The device that is open.
static OPEN: Mutex<Option<Device>> = Mutex::new(None);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A kernel on its device.
pub struct Kernel {
    device: Device,
    function: CudaFunction,
}

/// What a piece is computed in.
struct Slot {
    stream: Arc<CudaStream>,
    answers: CudaSlice<f64>,
    host: PinnedHostSlice<f64>,
    begun: CudaEvent,
    ended: CudaEvent,
}

fn stopped(why: DriverError) -> Trouble {
    Trouble::Stopped(why.to_string())
}

impl Device {
    /// The first device; it stays open.
    pub fn open() -> Result<Self, Trouble> {
        let mut open = locked(&OPEN);
        if let Some(device) = &*open {
            return Ok(device.clone());
        }
        // SAFETY: the driver's library is looked for by its name.
        if !unsafe { sys::is_culib_present() } {
            return Err(Trouble::NoDriver);
        }
        let context = CudaContext::new(0).map_err(|why| Trouble::NoDevice(why.to_string()))?;
        let device = Self { context, kept: Arc::default() };
        *open = Some(device.clone());
        Ok(device)
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.context.name().unwrap_or_default()
    }

    /// A kernel from its text, which is compiled once.
    pub fn kernel(&self, source: &str) -> Result<Kernel, Trouble> {
        let known =
            locked(&self.kept.functions).iter().find(|(text, _)| text == source).map(|(_, function)| function.clone());
        if let Some(function) = known {
            return Ok(Kernel { device: self.clone(), function });
        }
        let capability = self.context.compute_capability().map_err(stopped)?;
        let code = compiler::compiled(source, capability)?;
        let refused = |why: DriverError| Trouble::NotCompiled(why.to_string());
        let module = self.context.load_module(Ptx::from_binary(code)).map_err(refused)?;
        let function = module.load_function(ENTRY).map_err(refused)?;
        let mut kept = locked(&self.kept.functions);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((source.to_owned(), function.clone()));
        Ok(Kernel { device: self.clone(), function })
    }
}

impl Kernel {
    /// Compute the places from 0 to `places`, `width` numbers each. `take` is given the answers piece by piece, in order, each with its
    /// first place, and may stop it. The seconds that the kernel ran.
    pub fn over(
        &self,
        places: usize,
        width: usize,
        table: &[f64],
        take: &mut dyn FnMut(usize, &[f64]) -> bool,
    ) -> Result<f64, Trouble> {
        let found = self.run(places, width, table, take);
        if found.is_err() {
            // What has stopped once is opened anew.
            *locked(&OPEN) = None;
        }
        found
    }

    fn run(
        &self,
        places: usize,
        width: usize,
        table: &[f64],
        take: &mut dyn FnMut(usize, &[f64]) -> bool,
    ) -> Result<f64, Trouble> {
        let piece = PIECE.min(MOST_NUMBERS / width.max(1)).max(1).min(places.max(1));
        let setup = || -> Result<_, DriverError> {
            let table = if table.is_empty() { &[0.0][..] } else { table };
            let stream = self.device.context.default_stream();
            let table = stream.clone_htod(table)?;
            stream.synchronize()?;
            let slots = (0..UNDER_WAY).map(|_| self.slot(piece * width.max(1))).collect::<Result<Vec<_>, _>>()?;
            Ok((table, slots))
        };
        let (table, mut slots) = setup().map_err(stopped)?;
        let pieces = places.div_ceil(piece);
        let own = |k: usize| (places - k * piece).min(piece);
        let mut seconds = 0.0;
        for k in 0..=pieces {
            if k < pieces {
                self.begin(&mut slots[k % UNDER_WAY], k * piece, own(k), &table).map_err(stopped)?;
            }
            let Some(before) = k.checked_sub(1) else { continue };
            let slot = &slots[before % UNDER_WAY];
            let answers = slot.host.as_slice().map_err(stopped)?;
            seconds += 1e-3 * f64::from(slot.begun.elapsed_ms(&slot.ended).map_err(stopped)?);
            if !take(before * piece, &answers[..own(before) * width]) {
                break;
            }
        }
        self.device.context.synchronize().map_err(stopped)?;
        locked(&self.device.kept.slots).append(&mut slots);
        Ok(seconds)
    }

    /// A slot for as many numbers, kept ones first.
    fn slot(&self, numbers: usize) -> Result<Slot, DriverError> {
        let mut kept = locked(&self.device.kept.slots);
        if let Some(k) = kept.iter().position(|slot| slot.answers.len() >= numbers) {
            return Ok(kept.swap_remove(k));
        }
        kept.clear();
        drop(kept);
        let context = &self.device.context;
        let stream = context.new_stream()?;
        let event = || context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        Ok(Slot {
            answers: stream.alloc_zeros(numbers)?,
            // SAFETY: what is read of it was copied from the device before.
            host: unsafe { context.alloc_pinned_with_flags(numbers, 0) }?,
            begun: event()?,
            ended: event()?,
            stream,
        })
    }

    /// Compute a piece and copy it back, without waiting for either.
    // A piece has at most `PIECE` places.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    fn begin(&self, slot: &mut Slot, first: usize, count: usize, table: &CudaSlice<f64>) -> Result<(), DriverError> {
        let (first, threads) = (first as i64, count as i32);
        let blocks = (count as u32).div_ceil(THREADS);
        let shape = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        slot.begun.record(&slot.stream)?;
        let mut launch = slot.stream.launch_builder(&self.function);
        launch.arg(&first).arg(&threads).arg(table).arg(&mut slot.answers);
        // SAFETY: the arguments are those of every kernel, and live on the device until the copy behind it is done, which is waited
        // for before they go. What a kernel writes beyond them the device refuses.
        unsafe { launch.launch(shape) }?;
        slot.ended.record(&slot.stream)?;
        slot.stream.memcpy_dtoh(&slot.answers, &mut slot.host)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device {}", self.name())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kernel")
    }
}
