//! Stage 6: what a robot can do and where it fails: mobility, singularities, dependence of lines.

pub mod grassmann;
pub mod mobility;
pub mod singularity;
pub mod superbracket;
