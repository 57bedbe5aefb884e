//! Everything the library promises, one file per law or chapter; one program, so that it is linked once.
#![allow(non_snake_case)]
// Matrices are compared entry by entry, and published numbers stand as they are printed.
#![allow(clippy::needless_range_loop, clippy::unreadable_literal)]

mod allocation;
mod arrow;
mod batch;
mod branches;
mod cartesian;
mod cartesian_laws;
mod codegen;
mod codegen_inputs;
mod common;
mod counting;
mod crossing;
mod draw;
mod dynamics;
mod elastic_drives;
mod faults;
mod first_principles;
mod flexible_motion;
mod four_numbers;
mod frequencies;
mod geometry;
mod identification;
mod laws;
mod layering;
mod loci;
mod matrices;
mod mobility;
mod modes;
mod motion;
mod names;
mod newcomer;
mod one_truth;
mod plain;
mod points;
mod programs;
mod question;
mod reference;
mod regressor;
mod simulation;
mod singularities;
mod sliders;
mod trajectory;
mod view;
mod written_robots;
