//! Generated programs.

use super::Error;
use crate::Robot;
use crate::codegen::{CodeOptions, Generated, Language, ModelKind, generate};

impl Robot {
    /// A model as code in a language, numbers folded in.
    ///
    /// ```
    /// use gough::{Language, ModelKind};
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let code = robot.codegen(ModelKind::Idm, Language::C)?;
    /// assert!(code.files.iter().any(|f| f.name.ends_with(".c")));
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn codegen(&self, model: ModelKind, language: Language) -> Result<Generated, Error> {
        self.codegen_with(&CodeOptions::new(model, language))
    }

    /// A model as code, with every choice there is.
    pub fn codegen_with(&self, options: &CodeOptions) -> Result<Generated, Error> {
        Ok(generate(self, options)?)
    }
}
