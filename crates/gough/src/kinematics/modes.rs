//! Working modes: which of the solutions of the inverse geometry is meant, leg by leg.

use super::error::SolveError;
use crate::model::{AnchorPosture, BlockMethod, BlockPlan, Branch, LegId, Root, Topology};
use std::sync::Arc;

/// One choice for every square root of the plan, and for every leg that Newton solves.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkingMode {
    /// ±1 per root, leg after leg.
    pub(super) signs: Vec<f64>,
    /// Per block: the branch of a leg without closed form.
    pub(super) branches: Vec<Option<Branch>>,
    /// Which solution for the platform coordinates that follow, from 1: the one that leads from home, then by distance.
    pub(super) follows: usize,
    /// A posture that the mode is led from, when it cannot be named by a posture at home.
    pub(super) example: Option<Arc<AnchorPosture>>,
}

/// Name of the only mode of a robot that has one.
const SINGLE: &str = "single";

impl WorkingMode {
    /// All signs positive, first branches.
    #[doc(hidden)]
    pub fn first(topology: &Topology) -> Self {
        let plan = &topology.plan.inverse;
        Self {
            signs: vec![1.0; plan.iter().map(|b| b.roots.len()).sum()],
            branches: plan.iter().map(|b| newton(b).then_some(Branch { positive: true, number: 1 })).collect(),
            follows: 1,
            example: None,
        }
    }

    /// ±1 per square root of the plan, leg after leg.
    #[doc(hidden)]
    pub fn signs(&self) -> &[f64] {
        &self.signs
    }

    /// Whether the name of the mode says which one it is at every pose; a mode that does not lead from home has a star.
    #[doc(hidden)]
    pub fn is_named(&self) -> bool {
        self.example.is_none()
    }

    /// Whether two modes differ at most in the coordinates that follow.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.following(1) == other.following(1)
    }

    /// The mode with another solution for the coordinates that follow.
    pub(super) fn following(&self, follows: usize) -> Self {
        Self { follows, ..self.clone() }
    }

    /// Every combination of signs, `+` first; branches as in `self`.
    #[doc(hidden)]
    pub fn combinations(&self) -> impl Iterator<Item = Self> + use<'_> {
        let n = self.signs.len().min(20);
        (0..1_u32 << n).map(move |bits| {
            let mut mode = self.clone();
            for (k, sign) in mode.signs.iter_mut().enumerate().take(n) {
                *sign = if bits >> (n - 1 - k) & 1 == 0 { 1.0 } else { -1.0 };
            }
            mode
        })
    }

    /// The name at home of a posture that is led from there.
    pub(super) fn of_anchor(anchor: &AnchorPosture) -> Self {
        let AnchorPosture { signs, branches, follows, .. } = anchor.clone();
        Self { signs, branches, follows, example: None }
    }

    /// The name: signs leg by leg, commas between legs when one has more than one sign, then a number when the platform
    /// coordinates that follow have further solutions.
    pub fn name(&self, topology: &Topology) -> String {
        let signs = self.name_of_legs(topology);
        let star = if self.example.is_some() { "*" } else { "" };
        if self.follows > 1 { format!("{signs}/{}{star}", self.follows) } else { signs + star }
    }

    fn name_of_legs(&self, topology: &Topology) -> String {
        let legs: Vec<String> = topology.legs.ids().map(|leg| self.leg_name(topology, leg)).collect();
        if legs.iter().all(String::is_empty) {
            return SINGLE.to_owned();
        }
        let separator = if legs.iter().any(|l| l.len() > 1) { "," } else { "" };
        let legs: Vec<&str> = legs.iter().map(|l| if l.is_empty() { "." } else { l }).collect();
        legs.join(separator)
    }

    fn leg_name(&self, topology: &Topology, leg: LegId) -> String {
        let mut name = String::new();
        let mut root = topology.legs[leg].roots.start;
        for (i, block) in topology.plan.inverse.iter().enumerate().filter(|(_, b)| b.leg == leg) {
            let signs = &self.signs[root..root + block.roots.len()];
            root += block.roots.len();
            for (kind, sign) in block.roots.iter().zip(signs) {
                match (kind, *sign > 0.0) {
                    (Root::Loop, true) => {} // a parallelogram may be left out
                    (Root::Loop, false) => name.push('x'),
                    (_, true) => name.push('+'),
                    (_, false) => name.push('-'),
                }
            }
            if let Some(branch) = self.branches[i] {
                name.push_str(&branch.to_string());
            }
        }
        name
    }

    /// Read a name: one text for all legs, or one per leg.
    #[doc(hidden)]
    pub fn parse(topology: &Topology, texts: &[String]) -> Result<Self, SolveError> {
        let whole = texts.join(",");
        if whole.ends_with('*') {
            let reason = "a star marks a branch that does not lead home, so that its name means nothing elsewhere; give joints \
                          of a posture on it, such as `q11=0.3,q12=-1.2`";
            return Err(SolveError::UnknownMode { mode: whole, reason: reason.to_owned() });
        }
        let fail = |reason: String| SolveError::UnknownMode { mode: whole.clone(), reason };
        let first = Self::first(topology);
        if let [text] = texts
            && let Some((legs, number)) = text.split_once('/')
        {
            let follows = number.parse().ok().filter(|n| *n > 0 && topology.plan.solve_platform);
            let follows =
                follows.ok_or_else(|| fail("a number after / counts solutions of coordinates that follow".into()))?;
            return Ok(Self { follows, ..Self::parse(topology, &[legs.to_owned()])? });
        }
        if whole == SINGLE && first.signs.is_empty() && first.branches.iter().all(Option::is_none) {
            return Ok(first);
        }
        let legs: Vec<String> = match texts {
            [one] if one.contains(',') => one.split(',').map(|s| s.trim().to_owned()).collect(),
            [one] if topology.legs.len() != 1 => split_legs(one),
            many => many.to_vec(),
        };
        if legs.len() != topology.legs.len() {
            let expected = first.name(topology);
            let reason = format!(
                "it has signs for {} legs, the robot has {} (such as {expected})",
                legs.len(),
                topology.legs.len()
            );
            return Err(fail(reason));
        }
        let mut mode = first;
        for (leg, text) in topology.legs.ids().zip(&legs) {
            mode.set_leg(topology, leg, text)
                .map_err(|reason| fail(format!("leg {}: {reason}", topology.legs[leg].name)))?;
        }
        Ok(mode)
    }

    fn set_leg(&mut self, topology: &Topology, leg: LegId, text: &str) -> Result<(), String> {
        let mut chars = text.chars().filter(|c| *c != '.').peekable();
        let mut root = topology.legs[leg].roots.start;
        for (i, block) in topology.plan.inverse.iter().enumerate().filter(|(_, b)| b.leg == leg) {
            let first = root;
            root += block.roots.len();
            for (k, kind) in block.roots.iter().enumerate() {
                self.signs[first + k] = match (kind, chars.peek()) {
                    (Root::Loop, Some('x' | 'p')) => {
                        if chars.next() == Some('x') {
                            -1.0
                        } else {
                            1.0
                        }
                    }
                    (Root::Loop, _) => 1.0,
                    (_, Some('+' | '-')) => {
                        if chars.next() == Some('-') {
                            -1.0
                        } else {
                            1.0
                        }
                    }
                    (kind, found) => {
                        let found = found.map_or_else(|| "the end".to_owned(), |c| format!("`{c}`"));
                        return Err(format!("expected + or - for its {}, found {found}", describe(*kind)));
                    }
                };
            }
            if newton(block) {
                self.branches[i] = Some(branch(&mut chars)?);
            }
        }
        match chars.next() {
            None => Ok(()),
            Some(c) => Err(format!("`{c}` is one sign too many")),
        }
    }
}

fn branch(chars: &mut std::iter::Peekable<impl Iterator<Item = char>>) -> Result<Branch, String> {
    let positive = match chars.next() {
        Some('+') => true,
        Some('-') => false,
        _ => return Err("expected a sign and a number, such as +1".to_owned()),
    };
    let mut digits = String::new();
    while let Some(c) = chars.peek().filter(|c| c.is_ascii_digit()) {
        digits.push(*c);
        chars.next();
    }
    let number = digits.parse().ok().filter(|n| *n > 0).ok_or("expected a number after the sign, such as +1")?;
    Ok(Branch { positive, number })
}

/// A text without commas: one sign per leg, an `x` or `p` stays with the sign before it.
fn split_legs(text: &str) -> Vec<String> {
    let mut legs: Vec<String> = Vec::new();
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        match legs.last_mut() {
            Some(last) if c == 'x' || c == 'p' || c.is_ascii_digit() => last.push(c),
            _ => legs.push(c.to_string()),
        }
    }
    legs
}

fn newton(block: &BlockPlan) -> bool {
    matches!(block.method, BlockMethod::Newton { .. })
}

fn describe(root: Root) -> &'static str {
    match root {
        Root::Elbow => "elbow",
        Root::Slider => "slider",
        Root::Loop => "inner loop",
        Root::Turned => "universal joint turned round",
    }
}
