//! Benchmarks of the library; see `benches/`.
