//! Which of four postures, one per SIMD lane, are reached.

use crate::kinematics::Positions;
use crate::model::Model;
use crate::scalar::{Lanes, Real};

/// One in lanes where every leg reaches its place with its joints in their ranges, else zero.
pub(crate) fn reached_lanes(model: &Model<f64>, pos: &Positions<Lanes>) -> Lanes {
    let zero = Lanes::lit(0.0);
    let least = Lanes::lit(model.least_margin());
    let limit = 1e-9 * model.size();
    let mut good = Lanes::lit(1.0);
    let mut hold = |margin: Lanes| good = margin.where_nonneg(good, zero);
    pos.margins.iter().for_each(|m| hold(*m - least));
    pos.misses.iter().for_each(|miss| hold(Lanes::lit(limit * limit) - miss.dot(miss)));
    for (c, coord) in model.topology().coords.iter() {
        match &coord.range {
            Some(range) if coord.slides || coord.counted => {
                range.slide_margins(pos.joints[c].value).into_iter().for_each(&mut hold);
            }
            Some(range) => hold(range.turn_margin(pos.joints[c].turn)),
            None => {}
        }
    }
    good
}
