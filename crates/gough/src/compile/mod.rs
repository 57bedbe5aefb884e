//! Stage 4: a checked description becomes a model with every plan made, once, and a home posture that proves its claims.
//!
//! Plans are integers that need postures to be chosen at: which closure rows are independent, in which order joints are
//! eliminated, which joints move nothing else, which coordinates of the platform never change. So a draft of the model is
//! brought to a few closed postures here, and what they tell is put into its plan. Only finished models leave this stage.

mod attach;
mod home;
mod idle;
mod mobility;
mod pivots;

pub use mobility::Mobility;

use crate::description::{Description, Diagnostic, Fault, Formula, Name};
use crate::kinematics::{Posture, as_anchor, matrices, newton, working_modes_given};
use crate::model::{Coord, CoordId, Findings, Model};

/// A finished model and what was found on the way.
pub(crate) struct Compiled {
    /// The model; nothing changes it any more.
    pub(crate) model: Model<f64>,
    /// The home posture, in the working mode of the file.
    pub(crate) home: Posture,
    /// Degrees of freedom by rank.
    pub(crate) mobility: Mobility,
    /// What is worth knowing and no fault.
    pub(crate) remarks: Vec<Diagnostic>,
}

/// A draft with the postures at home that branches without closed form are led from.
fn with_anchors(draft: Model<f64>, postures: &[Posture]) -> Model<f64> {
    let plan = &draft.topology().plan;
    let searched = plan.solve_platform || plan.inverse.iter().any(|b| !b.newton_coords().is_empty());
    if !searched {
        return draft;
    }
    let home = &postures[0];
    if postures.len() > 1 {
        let anchors = postures.iter().map(|p| as_anchor(&draft, p)).collect();
        return draft.with_plan(|plan| plan.anchors = anchors);
    }
    let given: Vec<_> = plan.given.iter().map(|c| (*c, home.joints(&draft, &[*c])[0])).collect();
    let others = working_modes_given(&draft, home.pose(), &given).unwrap_or_default();
    let others = others.iter().filter(|p| p.mode() != home.mode());
    let anchors = std::iter::once(home).chain(others).map(|p| as_anchor(&draft, p)).collect();
    draft.with_plan(|plan| plan.anchors = anchors)
}

/// A draft planned with what closed postures tell of its freedoms, and its postures at home.
fn looked_at(draft: Model<f64>) -> Result<(Model<f64>, Vec<Posture>), Vec<Diagnostic>> {
    let draft = match idle::assembled(&draft) {
        Some((pos, free, idle)) => {
            let (determined, open) = match idle::determined(&draft, &pos, free) {
                Some([determined, open]) => (Some(determined), open),
                None => (None, Vec::new()),
            };
            let plan = &draft.topology().plan;
            let is_determined = |c: &CoordId| determined.as_ref().map(|list| list.contains(c));
            let wrong = plan.given.iter().any(|c| is_determined(c) == Some(true));
            // Motors that the pose leaves open, in a leg without closed form: they have to be given.
            let is_open = |c: &CoordId| draft.topology().active.contains(c) && is_determined(c) == Some(false);
            let missing = plan.inverse.iter().any(|b| b.newton_coords().iter().any(is_open));
            let constant = mobility::constant_coordinates(&draft, &pos);
            let findings = Findings { idle, determined, open, constant };
            let tells = wrong || missing || !findings.idle.is_empty() || !findings.constant.is_empty();
            let draft = if tells { draft.replanned(&findings) } else { draft };
            let draft = match home::open_joints(&draft) {
                Some(values) => draft.with_open_joints(values),
                None => draft,
            };
            pivots::with_pivots(draft, &pos)
        }
        None => draft,
    };
    let postures = home::home_postures(&draft).map_err(|d| vec![d])?;
    if !newton::closes(&draft, postures[0].positions()) {
        return Err(vec![home::turned_home(&draft)]);
    }
    Ok((draft, postures))
}

/// Compile a description. `actuation` names a set of driven joints; by default the first. The mode of the file is written for that
/// one: where another set has no such mode, home is the same posture.
pub(crate) fn compile(description: Description, actuation: Option<&str>) -> Result<Compiled, Vec<Diagnostic>> {
    let first = description.actuation.first().map(|set| set.name.text.as_str());
    let others = (description.mode.is_some() && actuation.is_some() && actuation != first).then(|| description.clone());
    let faults = match compile_as_written(description, actuation) {
        Err(faults) => faults,
        done => return done,
    };
    let no_such_mode = faults.iter().all(|f| matches!(f.what, Fault::BadMode { .. }));
    match others.filter(|_| no_such_mode) {
        Some(description) => match compile_as_written(description.clone(), None) {
            Ok(first) => compile_as_written(standing_as(description, &first), actuation),
            Err(_) => Err(faults),
        },
        None => Err(faults),
    }
}

/// A description whose home is a posture, whatever mode that is.
fn standing_as(mut description: Description, compiled: &Compiled) -> Description {
    let span = description.mode.take().map(|(_, span)| span).unwrap_or_default();
    let (model, home) = (&compiled.model, &compiled.home);
    let at = |(c, coord): (CoordId, &Coord)| {
        let name = Name { text: coord.name.clone(), span };
        (name, Formula::number(home.joints(model, &[c])[0], span))
    };
    description.near = model.topology().coords.iter().map(at).collect();
    description
}

fn compile_as_written(description: Description, actuation: Option<&str>) -> Result<Compiled, Vec<Diagnostic>> {
    let draft = Model::draft(description, actuation)?;
    attach::check_attached(&draft)?;
    let (draft, postures) = planned(draft)?;
    finished(draft, &postures)
}

/// A draft whose plan knows every joint, and its postures at home. Where nothing that could be found by looking around changes the
/// plan, nobody looks.
fn planned(draft: Model<f64>) -> Result<(Model<f64>, Vec<Posture>), Vec<Diagnostic>> {
    match idle::settled(&draft) {
        Some(postures) => Ok((pivots::with_pivots(draft, postures[0].positions()), postures)),
        None => looked_at(draft),
    }
}

/// The rest of the plan, the claims checked on the way.
fn finished(draft: Model<f64>, postures: &[Posture]) -> Result<Compiled, Vec<Diagnostic>> {
    let home = postures[0].clone();
    let draft = with_anchors(draft, postures);
    let careful = draft.topology().plan.careful || !pivots::reaching_closes(&draft, &home);
    let draft = draft.with_plan(|plan| plan.careful = careful);
    let postures = newton::postures_near(&draft, home.positions());
    let (mobility, generic) = mobility::mobility(&draft, &postures);
    mobility::check_claim(&draft, &postures, &generic, &mobility).map_err(|d| vec![d])?;
    let legs = pivots::leg_pivots(&draft, &postures);
    let draft = draft.with_plan(|plan| plan.pivots_of_leg = legs);
    let rows = matrices::plan(&draft, &postures);
    let model = draft.with_plan(|plan| plan.matrices = rows);
    let remarks = mobility::mobility_remarks(&model, &mobility);
    Ok(Compiled { model, home, mobility, remarks })
}

/// A robot, or its faults.
#[cfg(test)]
pub(crate) type CompileOutcome = Result<Compiled, Vec<Diagnostic>>;

/// What becomes of a description by [`planned`] and with a look around in any case, and whether nobody needed to look; nothing where
/// there is no draft.
#[cfg(test)]
pub(crate) fn by_both_roads(description: Description) -> Option<([CompileOutcome; 2], bool)> {
    let draft = Model::draft(description, None).ok().filter(|d| attach::check_attached(d).is_ok())?;
    let settled = idle::settled(&draft).is_some();
    let ends = [planned(draft.clone()), looked_at(draft)];
    Some((ends.map(|end| end.and_then(|(draft, postures)| finished(draft, &postures))), settled))
}
