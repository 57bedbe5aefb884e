//! Stage 6: what the models tell about a robot: singularities, loci and aspects, maps.

pub mod singularity;
