//! Every command as its users call it; one program, so that it is linked once.
#![allow(non_snake_case)]

mod analysis;
mod cartesian;
mod cli;
mod codegen;
mod common;
mod differential;
mod dynamics;
mod flexible;
mod frequencies;
mod identify;
mod injection;
mod inputs;
mod interrupted;
mod manners;
mod output;
mod parameters;
mod plan;
mod questions;
mod report;
mod simulate;
mod states;
mod tables;
mod view;
