//! Expressions of the robot file: read once, checked for dimension, evaluated in any scalar.

use super::fault::{Fault, Span};
use super::units::{self, Dimension, PURE};
use crate::scalar::Real;

/// Longest expression, in bytes.
pub const LONGEST: usize = 500;
/// Deepest nesting of parentheses and signs.
const DEEPEST: u32 = 40;

/// A number of the robot file: a program over the named parameters, its value at their defaults, its dimension.
#[derive(Clone, PartialEq, Debug)]
pub struct Formula {
    code: Vec<Token>,
    /// Value at the parameters' values in the file.
    pub value: f64,
    /// What its units say.
    pub dimension: Dimension,
    /// Where it stands.
    pub span: Span,
}

/// One step of a [`Formula`] on a stack.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Token {
    Num(f64),
    Variable(usize),
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    /// Power, in halves.
    Pow(i32),
    Call(FormulaFunction),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FormulaFunction {
    Sqrt,
    Sin,
    Cos,
    Tan,
    Atan2,
    Hypot,
    Abs,
}

const FUNCTIONS: [(&str, FormulaFunction, usize); 7] = [
    ("sqrt", FormulaFunction::Sqrt, 1),
    ("sin", FormulaFunction::Sin, 1),
    ("cos", FormulaFunction::Cos, 1),
    ("tan", FormulaFunction::Tan, 1),
    ("atan2", FormulaFunction::Atan2, 2),
    ("hypot", FormulaFunction::Hypot, 2),
    ("abs", FormulaFunction::Abs, 1),
];

/// Names that no parameter may have: units, functions and `pi`.
pub fn is_reserved(name: &str) -> bool {
    name == "pi" || units::unit(name).is_some() || FUNCTIONS.iter().any(|f| f.0 == name)
}

/// What a name in an expression stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Meaning {
    /// A constant.
    Constant(f64, Dimension),
    /// A parameter or a quantity derived from one: index, value, dimension.
    Variable(usize, f64, Dimension),
}

impl Formula {
    /// A plain number.
    pub fn number(value: f64, span: Span) -> Self {
        Self { code: vec![Token::Num(value)], value, dimension: Dimension::Any, span }
    }

    /// The variable `index` itself.
    pub fn variable(index: usize, value: f64, dimension: Dimension, span: Span) -> Self {
        Self { code: vec![Token::Variable(index)], value, dimension, span }
    }

    /// Whether no parameter can change it.
    pub fn is_constant(&self) -> bool {
        matches!(self.code[..], [Token::Num(_)])
    }

    /// Read an expression; `lookup` says what its names stand for.
    pub fn parse(text: &str, span: Span, lookup: &dyn Fn(&str) -> Option<Meaning>) -> Result<Self, Vec<(Fault, Span)>> {
        if text.len() > LONGEST {
            return Err(vec![(Fault::ExpressionTooLong { bytes: text.len(), most: LONGEST }, span)]);
        }
        let mut parser =
            Parser { text, at: 0, span, lookup, depth: 0, code: Vec::new(), values: Vec::new(), faults: Vec::new() };
        let dimension = parser.sum();
        parser.skip_spaces();
        if parser.faults.is_empty() && parser.at < text.len() {
            let rest = parser.rest().chars().next().map(String::from).unwrap_or_default();
            parser.fault(Fault::BadExpression { found: rest, expected: "an operator or the end" });
        }
        let (code, faults, value) = (parser.code, parser.faults, parser.values.pop().unwrap_or(0.0));
        if !faults.is_empty() {
            return Err(faults);
        }
        if !value.is_finite() {
            return Err(vec![(Fault::NotFinite { value }, span)]);
        }
        let constant = !code.iter().any(|t| matches!(t, Token::Variable(_)));
        let code = if constant { vec![Token::Num(value)] } else { code };
        Ok(Self { code, value, dimension, span })
    }

    /// `-self/by`: how a coupling gives one joint by another.
    pub fn negative_ratio(&self, by: &Self) -> Self {
        self.combine(by, Token::Div, -self.value / by.value, Dimension::Any, Some(Token::Neg))
    }

    /// `self * by`.
    pub fn times(&self, by: &Self) -> Self {
        self.combine(by, Token::Mul, self.value * by.value, self.dimension.times(by.dimension, 1), None)
    }

    /// `self + by`.
    pub fn plus(&self, by: &Self) -> Self {
        self.combine(by, Token::Add, self.value + by.value, self.dimension, None)
    }

    /// The square root.
    pub fn root(&self) -> Self {
        let value = self.value.sqrt();
        let code = if self.is_constant() {
            vec![Token::Num(value)]
        } else {
            self.code.iter().copied().chain([Token::Call(FormulaFunction::Sqrt)]).collect()
        };
        let dimension = self.dimension.power(1).unwrap_or(Dimension::Any);
        Self { code, value, dimension, span: self.span }
    }

    fn combine(&self, by: &Self, token: Token, value: f64, dimension: Dimension, then: Option<Token>) -> Self {
        let code = if self.is_constant() && by.is_constant() {
            vec![Token::Num(value)]
        } else {
            self.code.iter().chain(&by.code).copied().chain([token]).chain(then).collect()
        };
        Self { code, value, dimension, span: self.span }
    }

    /// The value for the given variables.
    ///
    /// # Panics
    /// When there are fewer variables than the file had when it was read.
    pub fn eval<S: Real>(&self, variables: &[S]) -> S {
        let mut stack: Vec<S> = Vec::with_capacity(8);
        for token in &self.code {
            step(*token, &mut stack, &|i| variables[i]);
        }
        stack.pop().expect("a formula leaves one value")
    }
}

/// Run one token.
fn step<S: Real>(token: Token, stack: &mut Vec<S>, variable: &dyn Fn(usize) -> S) {
    let mut pop = || stack.pop().expect("a formula is well formed");
    let result = match token {
        Token::Num(x) => S::lit(x),
        Token::Variable(i) => variable(i),
        Token::Neg => -pop(),
        Token::Add | Token::Sub | Token::Mul | Token::Div => {
            let b = pop();
            let a = pop();
            match token {
                Token::Add => a + b,
                Token::Sub => a - b,
                Token::Mul => a * b,
                _ => a / b,
            }
        }
        Token::Pow(halves) => power(pop(), halves),
        Token::Call(f) => match f {
            FormulaFunction::Sqrt => pop().sqrt(),
            FormulaFunction::Sin => pop().exact_sin_cos().0,
            FormulaFunction::Cos => pop().exact_sin_cos().1,
            FormulaFunction::Tan => {
                let (s, c) = pop().exact_sin_cos();
                s / c
            }
            FormulaFunction::Abs => pop().abs(),
            FormulaFunction::Atan2 => {
                let x = pop();
                pop().atan2(x)
            }
            FormulaFunction::Hypot => {
                let (b, a) = (pop(), pop());
                (a * a + b * b).sqrt()
            }
        },
    };
    stack.push(result);
}

/// `x^(halves/2)`.
fn power<S: Real>(x: S, halves: i32) -> S {
    let base = if halves % 2 == 0 { x } else { x.sqrt() };
    let count = if halves % 2 == 0 { halves / 2 } else { halves };
    let product = (0..count.unsigned_abs()).fold(S::one(), |p, _| p * base);
    if count < 0 { product.recip() } else { product }
}

/// Recursive descent over `+ - * / ^`, functions, names, numbers and quantities. Values are computed along the way.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    span: Span,
    lookup: &'a dyn Fn(&str) -> Option<Meaning>,
    depth: u32,
    code: Vec<Token>,
    values: Vec<f64>,
    faults: Vec<(Fault, Span)>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn fault(&mut self, fault: Fault) {
        self.faults.push((fault, self.span));
    }

    fn emit(&mut self, token: Token, value: impl FnOnce(&mut Self) -> f64) {
        let v = value(self);
        self.code.push(token);
        self.values.push(v);
    }

    /// Apply an operator to the values already read.
    fn apply(&mut self, token: Token) {
        if self.faults.is_empty() {
            step(token, &mut self.values, &|_| 0.0);
            self.code.push(token);
        }
    }

    fn sum(&mut self) -> Dimension {
        let mut dimension = self.product();
        loop {
            let token = if self.eat('+') {
                Token::Add
            } else if self.eat('-') {
                Token::Sub
            } else {
                return dimension;
            };
            let right = self.product();
            match dimension.plus(right) {
                Some(d) => dimension = d,
                None => self.mismatch(dimension, right),
            }
            self.apply(token);
        }
    }

    fn mismatch(&mut self, left: Dimension, right: Dimension) {
        if let (Dimension::Known(left), Dimension::Known(right)) = (left, right) {
            self.fault(Fault::SumOfDimensions { left, right });
        }
    }

    fn product(&mut self) -> Dimension {
        let mut dimension = self.signed();
        loop {
            let (token, sign) = if self.eat('*') {
                (Token::Mul, 1)
            } else if self.eat('/') {
                (Token::Div, -1)
            } else {
                return dimension;
            };
            let right = self.signed();
            dimension = dimension.times(right, sign);
            self.apply(token);
        }
    }

    fn signed(&mut self) -> Dimension {
        if !self.deeper() {
            return Dimension::Any;
        }
        let dimension = if self.eat('-') {
            let d = self.signed();
            self.apply(Token::Neg);
            d
        } else if self.eat('+') {
            self.signed()
        } else {
            self.raised()
        };
        self.depth -= 1;
        dimension
    }

    fn deeper(&mut self) -> bool {
        self.depth += 1;
        if self.depth > DEEPEST && self.faults.is_empty() {
            self.fault(Fault::TooDeep { most: DEEPEST });
        }
        if self.faults.is_empty() {
            return true;
        }
        self.depth -= 1;
        self.at = self.text.len();
        false
    }

    fn raised(&mut self) -> Dimension {
        let dimension = self.atom();
        if !self.eat('^') {
            return dimension;
        }
        let (code, values) = (self.code.len(), self.values.len());
        self.signed();
        let exponent = self.values.get(values).copied().unwrap_or(0.0);
        let constant = !self.code[code.min(self.code.len())..].iter().any(|t| matches!(t, Token::Variable(_)));
        let halves = (2.0 * exponent).round();
        if self.faults.is_empty() && (!constant || halves != 2.0 * exponent || halves.abs() > 40.0) {
            self.fault(Fault::BadExponent);
        }
        self.code.truncate(code);
        self.values.truncate(values);
        #[allow(clippy::cast_possible_truncation)] // within ±40, see above
        let halves = if self.faults.is_empty() { halves as i32 } else { 2 };
        self.apply(Token::Pow(halves));
        dimension.power(halves).unwrap_or(Dimension::Any)
    }

    fn atom(&mut self) -> Dimension {
        self.skip_spaces();
        match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let d = self.sum();
                self.close();
                d
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.quantity(),
            Some(c) if c.is_alphabetic() || c == '_' => self.named(),
            other => {
                let found = other.map_or_else(|| "the end".to_owned(), String::from);
                if self.faults.is_empty() {
                    self.fault(Fault::BadExpression { found, expected: "a number, a name or `(`" });
                }
                self.at = self.text.len();
                Dimension::Any
            }
        }
    }

    fn close(&mut self) {
        if !self.eat(')') && self.faults.is_empty() {
            let found = self.rest().chars().next().map_or_else(|| "the end".to_owned(), String::from);
            self.fault(Fault::BadExpression { found, expected: "`)`" });
        }
    }

    /// A number, with a unit if one follows: `210 mm`, `2.8 g/cm^3`.
    fn quantity(&mut self) -> Dimension {
        let bytes = self.rest().as_bytes();
        let mut n = 0;
        while n < bytes.len() {
            let exponent = matches!(bytes[n], b'+' | b'-') && matches!(bytes[n.max(1) - 1], b'e' | b'E') && n > 0;
            let mark = matches!(bytes[n], b'e' | b'E')
                && bytes.get(n + 1).is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'));
            if !(bytes[n].is_ascii_digit() || bytes[n] == b'.' || mark || exponent) {
                break;
            }
            n += 1;
        }
        let text = &self.rest()[..n];
        let number: f64 = text.parse().unwrap_or(f64::NAN);
        if number.is_nan() {
            self.fault(Fault::BadExpression { found: text.to_owned(), expected: "a number" });
        }
        self.at += n;
        let (factor, dimension) = self.unit_product();
        self.emit(Token::Num(number * factor), |_| number * factor);
        dimension
    }

    /// The product of units after a number; it ends before the first name that is not a unit.
    fn unit_product(&mut self) -> (f64, Dimension) {
        let Some((mut factor, mut dimension)) = self.unit(true) else { return (1.0, Dimension::Any) };
        loop {
            let before = self.at;
            let sign = if self.eat('*') {
                1
            } else if self.eat('/') {
                -1
            } else {
                return (factor, dimension);
            };
            let Some((f, d)) = self.unit(false) else {
                self.at = before;
                return (factor, dimension);
            };
            factor *= f.powi(sign);
            dimension = dimension.times(d, sign);
        }
    }

    /// One unit with its exponent. The first name after a number must be a unit.
    fn unit(&mut self, first: bool) -> Option<(f64, Dimension)> {
        self.skip_spaces();
        let name = self.peek_name();
        if name.is_empty() {
            return None;
        }
        let Some((factor, powers)) = units::unit(name) else {
            if first {
                let nearest = super::fault::nearest(name, units::names());
                self.fault(Fault::UnknownUnit { name: name.to_owned(), nearest });
                self.at += name.len();
            }
            return None;
        };
        self.at += name.len();
        let mut exponent = 1;
        if self.rest().starts_with('^') {
            let digits: String = self.rest()[1..].chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
            match digits.parse::<i32>() {
                Ok(n) if n.abs() <= 6 => {
                    exponent = n;
                    self.at += 1 + digits.len();
                }
                _ => self.fault(Fault::BadExponent),
            }
        }
        Some((factor.powi(exponent), Dimension::Known(powers.map(|p| p * exponent))))
    }

    fn peek_name(&self) -> &'a str {
        let rest = self.rest();
        let n = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &rest[..n] }
    }

    fn named(&mut self) -> Dimension {
        let name = self.peek_name();
        self.at += name.len();
        if name == "pi" {
            self.emit(Token::Num(std::f64::consts::PI), |_| std::f64::consts::PI);
            return Dimension::Known(PURE);
        }
        if let Some(&(_, function, arity)) = FUNCTIONS.iter().find(|f| f.0 == name) {
            return self.call(name, function, arity);
        }
        match (self.lookup)(name) {
            Some(Meaning::Constant(value, dimension)) => {
                self.emit(Token::Num(value), |_| value);
                dimension
            }
            Some(Meaning::Variable(index, value, dimension)) => {
                self.emit(Token::Variable(index), |_| value);
                dimension
            }
            None => {
                self.fault(Fault::UnknownName { name: name.to_owned(), nearest: None });
                self.emit(Token::Num(0.0), |_| 0.0);
                Dimension::Any
            }
        }
    }

    fn call(&mut self, name: &str, function: FormulaFunction, arity: usize) -> Dimension {
        if !self.eat('(') {
            let found = self.rest().chars().next().map_or_else(|| "the end".to_owned(), String::from);
            self.fault(Fault::BadExpression { found, expected: "`(` after a function" });
            return Dimension::Any;
        }
        let mut dimensions = vec![self.sum()];
        while self.eat(',') {
            dimensions.push(self.sum());
        }
        self.close();
        if dimensions.len() != arity {
            if self.faults.is_empty() {
                self.fault(Fault::WrongArity { function: name.to_owned(), expected: arity, found: dimensions.len() });
            }
            return Dimension::Any;
        }
        self.apply(Token::Call(function));
        self.call_dimension(name, function, &dimensions)
    }

    fn call_dimension(&mut self, name: &str, function: FormulaFunction, of: &[Dimension]) -> Dimension {
        match function {
            FormulaFunction::Sin | FormulaFunction::Cos | FormulaFunction::Tan => {
                if let Dimension::Known(found) = of[0]
                    && found != PURE
                {
                    self.fault(Fault::AngleExpected { function: name.to_owned(), found });
                }
                Dimension::Known(PURE)
            }
            FormulaFunction::Sqrt => of[0].power(1).unwrap_or(Dimension::Any),
            FormulaFunction::Abs => of[0],
            FormulaFunction::Atan2 | FormulaFunction::Hypot => {
                let sum = of[0].plus(of[1]);
                if sum.is_none() {
                    self.mismatch(of[0], of[1]);
                }
                if function == FormulaFunction::Atan2 { Dimension::Known(PURE) } else { sum.unwrap_or(Dimension::Any) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Formula, Vec<(Fault, Span)>> {
        Formula::parse(text, Span::default(), &|name| match name {
            "l" => Some(Meaning::Variable(0, 2.0, Dimension::Known([1, 0, 0]))),
            "k" => Some(Meaning::Variable(1, 3.0, Dimension::Any)),
            "half" => Some(Meaning::Constant(0.5, Dimension::Any)),
            _ => None,
        })
    }

    #[test]
    fn precedence_is_the_usual_one() {
        for (text, value) in [
            ("1 + 2*3", 7.0),
            ("(1 + 2)*3", 9.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("4^0.5", 2.0),
            ("8/2/2", 2.0),
            ("2 - 3 - 4", -5.0),
            ("1.5e-3*2E2", 0.3),
            ("-pi/2 + k", 3.0 - std::f64::consts::FRAC_PI_2),
            ("sqrt(3)/4 + hypot(3, 4)", 3.0_f64.sqrt() / 4.0 + 5.0),
            ("atan2(1, -1) - abs(-k)", 0.75 * std::f64::consts::PI - 3.0),
            ("74e9/(2*(1 + 0.33))", 74e9 / 2.66),
            ("half*k", 1.5),
            ("cos(pi/2)", 0.0),
        ] {
            let f = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            assert!((f.value - value).abs() < 1e-15 * value.abs().max(1.0), "{text} = {}", f.value);
            assert!((f.eval(&[2.0, 3.0]) - f.value).abs() < 1e-15 * value.abs().max(1.0), "{text}");
        }
    }

    #[test]
    fn units_end_here() {
        for (text, value, powers) in [
            ("210 mm", 0.21, [1, 0, 0]),
            ("-30 deg", -std::f64::consts::PI / 6.0, PURE),
            ("2.8 g/cm^3", 2800.0, [-3, 1, 0]),
            ("2000 N*m/rad", 2000.0, [2, 1, -2]),
            ("10 mm + l", 2.01, [1, 0, 0]),
            ("10 mm * l", 0.02, [2, 0, 0]),
            ("74 GPa", 74e9, [-1, 1, -2]),
            ("sqrt(4 m^2)", 2.0, [1, 0, 0]),
        ] {
            let f = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            assert!((f.value - value).abs() <= 1e-15 * value.abs(), "{text} = {}", f.value);
            assert_eq!(f.dimension, Dimension::Known(powers), "{text}");
        }
        assert_eq!(parse("2*l").unwrap().dimension, Dimension::Any);
    }

    #[test]
    fn parameters_stay_alive_and_constants_fold() {
        use crate::scalar::Dual;
        let f = parse("l^2 + k/l").unwrap();
        let y = f.eval(&[Dual::new(2.0, 1.0), Dual::from(3.0)]);
        assert!((y.eps - (4.0 - 0.75)).abs() < 1e-15);
        assert!(parse("half*3 mm").unwrap().is_constant());
        assert!(!f.is_constant());
    }

    #[test]
    fn faults_name_what_is_wrong() {
        let first = |text: &str| parse(text).unwrap_err().remove(0).0;
        assert!(matches!(first("1 +"), Fault::BadExpression { .. }));
        assert!(matches!(first("(1 + 2"), Fault::BadExpression { .. }));
        assert!(matches!(first("1 2"), Fault::BadExpression { .. }));
        assert!(matches!(first("3 mn"), Fault::UnknownUnit { .. }));
        assert!(matches!(first("foo*2"), Fault::UnknownName { .. }));
        assert!(matches!(first("l + 3 kg"), Fault::SumOfDimensions { .. }));
        assert!(matches!(first("sin(l)"), Fault::AngleExpected { .. }));
        assert!(matches!(first("atan2(1)"), Fault::WrongArity { .. }));
        assert!(matches!(first("2^k"), Fault::BadExponent));
        assert!(matches!(first("1/0"), Fault::NotFinite { .. }));
        assert!(matches!(first("sqrt(-1)"), Fault::NotFinite { .. }));
        assert!(matches!(first(&"(".repeat(300)), Fault::TooDeep { .. }));
        assert!(matches!(first(&"-".repeat(300)), Fault::TooDeep { .. }));
        assert!(matches!(first(&"1+".repeat(300)), Fault::ExpressionTooLong { .. }));
        assert!(matches!(first("é"), Fault::UnknownName { .. }));
        assert!(matches!(first("1.2.3"), Fault::BadExpression { .. }));
    }
}
