//! Programs of a robot that were made already.

use super::BlockProgram;
use crate::Robot;
use crate::codegen::CodegenError;
use crate::codegen::lower::ModelWanted;
use crate::kinematics::WorkingMode;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Made = Result<Arc<BlockProgram>, CodegenError>;

/// The programs of a robot; copies of it share them.
#[derive(Clone, Default)]
pub(crate) struct Programs(Arc<Mutex<HashMap<ModelWanted, Made>>>);

impl Programs {
    /// A program, made now or before; also why there is none is kept.
    pub fn get(&self, robot: &Robot, mode: &WorkingMode, wanted: ModelWanted) -> Made {
        if let Some(made) = self.made(&wanted) {
            return made;
        }
        // Not under the lock: making one takes a while, and making one twice does no harm.
        let made = if cfg!(feature = "programs") {
            BlockProgram::new(robot, mode, wanted.clone()).map(Arc::new)
        } else {
            Err(CodegenError::NotCompiled { model: wanted.kind })
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(wanted).or_insert(made).clone()
    }

    /// A program that was made before.
    pub fn made(&self, wanted: &ModelWanted) -> Option<Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(wanted).cloned()
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Programs")
    }
}
