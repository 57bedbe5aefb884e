//! CUDA: a kernel with one thread per state, numbers of a kind side by side.

use super::c::{CNumbers, comment, function, helpers, solution, solver, tables};
use super::listing::{Syntax, listing};
use super::{CodeFunction, File, assignment};
use crate::codegen::canon::Function;
use std::fmt::Write as _;

struct Cuda<'a> {
    unit: &'a CodeFunction<'a>,
}

impl Syntax for Cuda<'_> {
    fn number(&self, x: f64) -> String {
        CNumbers::of(self.unit).literal(x)
    }

    fn input(&self, k: usize) -> String {
        let (group, place) = self.unit.input(k);
        format!("{}_{place}", group.name)
    }

    fn call(&self, f: Function, args: &[String]) -> String {
        let own = matches!(f, Function::Sign | Function::Select);
        let (before, after) = if own { ("gough_", "") } else { ("", CNumbers::of(self.unit).suffix) };
        format!("{before}{}{after}({})", function(f), args.join(", "))
    }
}

fn arguments(unit: &CodeFunction<'_>) -> String {
    let own = CNumbers::of(unit).name;
    let inputs = unit.inputs.iter().map(|g| format!("const {own} *__restrict__ {}", g.name));
    let outputs = unit.outputs.iter().map(|g| format!("{own} *__restrict__ {}", g.name));
    std::iter::once("long long count".to_owned()).chain(inputs).chain(outputs).collect::<Vec<_>>().join(", ")
}

/// Kernel, and a test program that also measures.
pub(super) fn files(unit: &CodeFunction<'_>) -> Vec<File> {
    let list = listing(unit.graph, &Cuda { unit });
    let numbers = CNumbers::of(unit);
    let own = numbers.name;
    let mut body = String::new();
    for group in &unit.inputs {
        for k in 0..group.entries.len() {
            let name = &group.name;
            let _ = writeln!(body, "    const {own} {name}_{k} = {name}[{k}*count + state];");
        }
    }
    for (name, text) in &list.variables {
        body += &assignment("    ", &format!("const {own} {name} = {text};"), "");
    }
    let (before, after) = solution(unit, &|name, k| format!("{name}[{k}*count + state]"));
    body += &before;
    let local = |name: &str| unit.system.is_some() && ["scale", "matrix", "right"].contains(&name);
    let place = |name: &str, k: usize| {
        if local(name) { format!("{name}[{k}]") } else { format!("{name}[{k}*count + state]") }
    };
    for (target, (text, _)) in unit.targets(place).iter().zip(&list.outputs) {
        let _ = writeln!(body, "    {target} = {text};");
    }
    body += &after;
    let solver = if unit.system.is_some() { solver("static __device__", numbers) } else { String::new() };
    let kernel = format!(
        "{}/* Number k of state i is at [k*count + i] of every array. */\n#include <math.h>\n\n{}{solver}\
         extern \"C\" __global__ void {}({}) {{\n    \
         const long long state = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n    if (state >= count) return;\n{body}}}\n",
        comment(unit),
        helpers(&body, numbers, "static __device__"),
        unit.name,
        arguments(unit),
    );
    vec![
        File { name: format!("{}.cu", unit.name), text: kernel },
        File { name: format!("{}_test.cu", unit.name), text: test(unit) },
    ]
}

fn test(unit: &CodeFunction<'_>) -> String {
    let (name, own) = (&unit.name, CNumbers::of(unit).name);
    let (vectors, tables) = tables(unit);
    let mut out = format!(
        "/* Test of {name}: states around home, repeated; then how many states per second. Link with nothing else:\n   \
         nvcc -O3 -o {name}_test {name}_test.cu && ./{name}_test */\n#include \"{name}.cu\"\n\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <vector>\n\n{tables}\n\
         #define CHECK(call) do {{ cudaError_t e = (call); if (e != cudaSuccess) {{ \
         fprintf(stderr, \"%s\\n\", cudaGetErrorString(e)); return 2; }} }} while (0)\n\nint main() {{\n    \
         const long long count = 1 << 20;\n    const int vectors = {};\n",
        vectors.max(1)
    );
    for group in unit.inputs.iter().chain(&unit.outputs) {
        let (g, n) = (&group.name, group.entries.len().max(1));
        let _ = writeln!(out, "    {own} *{g};\n    CHECK(cudaMalloc(&{g}, sizeof({own}) * {n} * count));");
    }
    let _ = writeln!(out, "    std::vector<{own}> host;");
    for group in &unit.inputs {
        let (g, n) = (&group.name, group.entries.len());
        let _ = writeln!(
            out,
            "    host.resize({n} * count);\n    for (int k = 0; k < {n}; k++)\n        \
             for (long long i = 0; i < count; i++) host[k * count + i] = ({own})in_{g}[i % vectors][k];\n    \
             CHECK(cudaMemcpy({g}, host.data(), sizeof({own}) * {n} * count, cudaMemcpyHostToDevice));"
        );
    }
    let names: Vec<&str> = unit.inputs.iter().chain(&unit.outputs).map(|g| g.name.as_str()).collect();
    let _ = writeln!(
        out,
        "    const int threads = 128, blocks = (int)((count + threads - 1) / threads), repeats = 100;\n    \
         {name}<<<blocks, threads>>>(count, {});\n    CHECK(cudaDeviceSynchronize());\n    double worst = 0.0;",
        names.join(", ")
    );
    for group in &unit.outputs {
        let (g, n) = (&group.name, group.entries.len());
        let _ = writeln!(
            out,
            "    host.resize({n} * count);\n    \
             CHECK(cudaMemcpy(host.data(), {g}, sizeof({own}) * {n} * count, cudaMemcpyDeviceToHost));\n    \
             for (int k = 0; k < {n}; k++)\n        for (long long i = 0; i < count; i++) {{\n            \
             double want = want_{g}[i % vectors][k], off = fabs(host[k * count + i] - want) / (1.0 + fabs(want));\n            \
             if (!(off <= worst)) worst = off;\n        }}"
        );
    }
    let _ = writeln!(
        out,
        "    cudaEvent_t start, stop;\n    CHECK(cudaEventCreate(&start));\n    CHECK(cudaEventCreate(&stop));\n    \
         CHECK(cudaEventRecord(start));\n    for (int r = 0; r < repeats; r++) {name}<<<blocks, threads>>>(count, {});\n    \
         CHECK(cudaEventRecord(stop));\n    CHECK(cudaEventSynchronize(stop));\n    float ms = 0.0f;\n    \
         CHECK(cudaEventElapsedTime(&ms, start, stop));\n    \
         printf(\"{name}: %lld states, largest relative difference %.1e, %.3e states per second\\n\", count, worst, \
         count * (double)repeats / (ms * 1e-3));\n    return worst <= {:e} ? 0 : 1;\n}}",
        names.join(", "),
        unit.tolerance
    );
    out
}
