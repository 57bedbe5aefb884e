//! Compiled formulas give what the same operations give one by one.

use gough_jit::{AtOnce, Formula, Four, PACK, Value};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn swap_and_double(x: &mut [Four; 2]) {
    *x = [x[1], x[0].map(|x| 2.0 * x)];
}

/// A formula as it is drawn, and as it is computed row by row.
struct Drawn {
    formula: Formula,
    steps: Vec<Step>,
    values: Vec<Value>,
}

type Step = Box<dyn Fn(&[f64], &mut Vec<f64>)>;

const WIDTH: usize = 7;

/// Whether the tests themselves are built for a processor that code is written for.
const HAS_CODE: bool =
    cfg!(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma", feature = "run"));

impl Drawn {
    fn new(chance: &mut Pcg64Mcg, length: usize) -> Self {
        let mut drawn = Self { formula: Formula::new(WIDTH), steps: Vec::new(), values: Vec::new() };
        for _ in 0..length {
            drawn.draw(chance);
        }
        drawn
    }

    fn add(&mut self, value: Value, step: impl Fn(&[f64], &[f64]) -> f64 + 'static) {
        self.values.push(value);
        self.steps.push(Box::new(move |row, known| known.push(step(row, known))));
    }

    fn draw(&mut self, chance: &mut Pcg64Mcg) {
        let n = self.values.len();
        let kind = if n == 0 { 0 } else { chance.random_range(0..14) };
        let near = n.saturating_sub(if chance.random_bool(0.5) { 6 } else { 200 });
        let mut any = || if n == 0 { 0 } else { chance.random_range(near..n) };
        let (a, b, c) = (any(), any(), any());
        let [u, v, w] = [a, b, c].map(|k| self.values.get(k).copied());
        let (Some(u), Some(v), Some(w)) = (u, v, w) else {
            let value = self.formula.input(0);
            return self.add(value, |row, _| row[0]);
        };
        let f = &mut self.formula;
        match kind {
            0 => {
                let k = chance.random_range(0..WIDTH);
                let value = f.input(k);
                self.add(value, move |row, _| row[k]);
            }
            1 => {
                let x = f64::from(chance.random_range(-3..3));
                let value = f.number(x);
                self.add(value, move |_, _| x);
            }
            2 => {
                let value = f.add(u, v);
                self.add(value, move |_, k| k[a] + k[b]);
            }
            3 => {
                let value = f.sub(u, v);
                self.add(value, move |_, k| k[a] - k[b]);
            }
            4 => {
                let value = f.mul(u, v);
                self.add(value, move |_, k| k[a] * k[b]);
            }
            5 => {
                let value = f.div(u, v);
                self.add(value, move |_, k| k[a] / k[b]);
            }
            6 => {
                let value = f.mul_add(u, v, w);
                self.add(value, move |_, k| k[a].mul_add(k[b], k[c]));
            }
            7 => {
                let value = f.mul_sub(u, v, w);
                self.add(value, move |_, k| k[a].mul_add(k[b], -k[c]));
            }
            8 => {
                let value = f.neg_mul_add(u, v, w);
                self.add(value, move |_, k| (-k[a]).mul_add(k[b], k[c]));
            }
            9 => {
                let value = f.sqrt(u);
                self.add(value, move |_, k| k[a].sqrt());
            }
            10 => {
                let value = f.neg(u);
                self.add(value, move |_, k| -k[a]);
            }
            11 => {
                let value = f.abs(u);
                self.add(value, move |_, k| k[a].abs());
            }
            12 => {
                let value = f.select(u, v, w);
                self.add(value, move |_, k| if k[a] >= 0.0 { k[b] } else { k[c] });
            }
            _ => {
                let [first, second] = f.call(swap_and_double, [u, v]);
                self.add(first, move |_, k| k[b]);
                self.add(second, move |_, k| 2.0 * k[a]);
            }
        }
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn random_formulas_give_what_their_operations_give() {
    let mut compiled = 0;
    for seed in 0..6000 {
        let mut chance = Pcg64Mcg::seed_from_u64(seed);
        let length = [5, 30, 100, 400][chance.random_range(0..4)];
        let Drawn { mut formula, steps, values } = Drawn::new(&mut chance, length);
        let given: Vec<usize> = (0..5).map(|_| chance.random_range(0..values.len())).collect();
        let required: Vec<usize> = (0..3).map(|_| chance.random_range(0..values.len())).collect();
        required.iter().for_each(|k| formula.require(values[*k]));
        given.iter().for_each(|k| formula.give(values[*k]));
        let at_once = if seed % 2 == 0 { AtOnce::One } else { AtOnce::Four };
        let Some(code) = formula.compile(at_once) else { continue };
        compiled += 1;
        let (packs, pack) = (3, at_once.rows());
        let rows: Vec<f64> = (0..packs * pack * WIDTH).map(|_| number(&mut chance)).collect();
        let (mut answers, mut good) = (vec![0.0; packs * pack * given.len()], vec![0; packs]);
        assert!(code.run(&rows, &mut answers, &mut good, &mut code.scratch()));
        for (i, (row, answer)) in rows.chunks(WIDTH).zip(answers.chunks(given.len())).enumerate() {
            let mut known = Vec::new();
            steps.iter().for_each(|step| step(row, &mut known));
            let wanted: Vec<f64> = given.iter().map(|k| known[*k]).collect();
            let all = wanted.iter().zip(answer).all(|(a, b)| same(*a, *b));
            assert!(all, "seed {seed}, row {i}: {answer:?}, wanted {wanted:?}");
            let is_good = required.iter().all(|k| known[*k] >= 0.0) && wanted.iter().all(|x| x.is_finite());
            assert_eq!(good[i / pack] >> (i % pack) & 1 == 1, is_good, "seed {seed}, row {i}: {wanted:?}");
        }
    }
    assert!(compiled == 0 || compiled == 6000, "{compiled} of 6000 are compiled");
    if HAS_CODE {
        assert_eq!(compiled, 6000);
    }
}

fn number(chance: &mut Pcg64Mcg) -> f64 {
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, 1e300, -1.0];
    if chance.random_bool(0.03) { special[chance.random_range(0..6)] } else { chance.random_range(-2.0..2.0) }
}

#[test]
fn what_does_not_fit_is_not_run() {
    let mut f = Formula::new(2);
    let x = f.input(1);
    f.give(x);
    let Some(code) = f.compile(AtOnce::Four) else { return };
    let mut scratch = code.scratch();
    let mut answers = [0.0; 4];
    assert!(!code.run(&[1.0; 7], &mut answers, &mut [0], &mut scratch));
    assert!(!code.run(&[1.0; 8], &mut answers[..3], &mut [0], &mut scratch));
    assert!(code.run(&[], &mut [], &mut [], &mut scratch));
    assert!(code.run(&[1.0; 8], &mut answers, &mut [0], &mut scratch));
    assert_eq!(answers, [1.0; 4]);
}

#[test]
fn a_value_of_another_formula_is_refused() {
    let (mut one, mut other) = (Formula::new(1), Formula::new(1));
    (0..10).for_each(|_| {
        one.input(0);
    });
    let far = one.input(0);
    let near = other.input(0);
    other.add(near, far);
    assert!(other.compile(AtOnce::Four).is_none());
    // What is required has no value: its place is that of a value of another formula.
    let mut third = Formula::new(1);
    let x = third.input(0);
    third.require(x);
    let mut fourth = Formula::new(1);
    let (first, second) = (fourth.input(0), fourth.input(0));
    assert_ne!(first, second);
    third.give(second);
    assert!(third.compile(AtOnce::Four).is_none());
}

#[test]
fn what_is_too_large_is_refused() {
    assert!(Formula::new((1 << 20) + 1).compile(AtOnce::Four).is_none());
    assert!(Formula::new(usize::MAX).compile(AtOnce::Four).is_none());
}

/// Memory of code with fewer slots is not enough.
#[test]
fn scratch_memory_that_is_too_small_is_refused() {
    let many = |count: usize| {
        let mut f = Formula::new(count);
        let all: Vec<Value> = (0..count).map(|k| f.input(k)).collect();
        all.iter().for_each(|x| f.give(*x));
        f.compile(AtOnce::Four)
    };
    let (Some(big), Some(small)) = (many(40), many(2)) else { return };
    let (rows, mut answers) = (vec![1.0; 160], vec![0.0; 160]);
    assert!(!big.run(&rows, &mut answers, &mut [0], &mut small.scratch()));
    assert!(answers.iter().all(|x| *x == 0.0));
    assert!(big.run(&rows, &mut answers, &mut [0], &mut big.scratch()));
    assert_eq!(answers, rows);
}

/// The stack is where functions expect it.
#[test]
fn functions_are_called_with_an_aligned_stack() {
    #[repr(align(16))]
    struct Local([f64; 2]);
    fn look(x: &mut [Four; 2]) {
        let local = std::hint::black_box(Local([1.0, 2.0]));
        x[0] = [f64::from(u8::from(std::ptr::from_ref(&local).addr().is_multiple_of(16))) * local.0[0]; PACK];
    }
    let mut f = Formula::new(1);
    let x = f.input(0);
    let [aligned, _] = f.call(look, [x, x]);
    f.give(aligned);
    let Some(code) = f.compile(AtOnce::Four) else { return };
    let mut answers = [0.0; 4];
    assert!(code.run(&[0.0; 4], &mut answers, &mut [0], &mut code.scratch()));
    assert_eq!(answers, [1.0; 4]);
}

#[test]
fn no_formula_at_all_is_code_too() {
    let Some(code) = Formula::new(0).compile(AtOnce::Four) else { return };
    let mut good = [0; 3];
    assert!(code.run(&[], &mut [], &mut good, &mut code.scratch()));
    assert_eq!(good, [0b1111; 3]);
}
