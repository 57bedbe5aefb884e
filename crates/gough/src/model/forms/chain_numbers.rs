//! Constants of a chain, in the scalar of the model, for the forms that solve it.

use super::Slot;
use crate::model::chain::{ChainJoint, ChainMotion, meeting, on_z};
use crate::scalar::Real;
use crate::spatial::{Pose, Rotation, Vec3};

/// The centre in the frame of joint `centre`: where its axis meets that of the next one, else the origin.
pub(in crate::model) fn centre_point<S: Real>(list: &[ChainJoint], between: &[Pose<S>], centre: usize) -> Vec3<S> {
    let several = centre + 1 < list.len()
        && list[centre].motion == ChainMotion::Turn
        && list[centre + 1].motion == ChainMotion::Turn;
    if several { on_z(meeting(&between[centre + 1]).0) } else { Vec3::zeros() }
}

/// A chain with its constants: joints about or along z, and the poses between them.
pub(crate) struct ChainNumbers<'a, S: Real> {
    /// Before each joint, and after the last.
    pub(in crate::model) between: &'a [Pose<S>],
    /// How each joint moves, and where its result goes.
    pub(in crate::model) slots: &'a [(ChainMotion, Slot)],
    /// Hinge of the bar opposite to a parallel dyad, on the end node.
    pub(in crate::model) opposite: Vec3<S>,
    /// Index of the joint at whose centre the target is.
    pub(in crate::model) centre: usize,
    /// The centre in the frame of that joint.
    pub(in crate::model) at_centre: Vec3<S>,
}

impl<S: Real> ChainNumbers<'_, S> {
    /// The centre on the end node.
    pub(in crate::model) fn target(&self) -> Vec3<S> {
        let behind = product(&self.between[(self.centre + 1).min(self.between.len())..]);
        behind.apply_inv(self.at_centre)
    }

    /// Where results of the `N` joints from `at` on go.
    pub(super) fn slots<const N: usize>(&self, at: usize) -> [Slot; N] {
        std::array::from_fn(|k| self.slots[at + k].1)
    }

    /// The centre seen from behind joint `k - 1`, all later joints at zero.
    pub(in crate::model) fn centre_from(&self, k: usize) -> Vec3<S> {
        if k > self.centre { self.at_centre } else { product(&self.between[k..=self.centre]) * self.at_centre }
    }

    /// A row of the constant rotation from behind joint `k - 1` to the end, later joints at zero.
    pub(super) fn row_of_rest(&self, k: usize, row: usize) -> Vec3<S> {
        let R = product(&self.between[k..]).R.0;
        Vec3::new(R[(row, 0)], R[(row, 1)], R[(row, 2)])
    }

    /// First ball of a rod in the frame of the joint before it, and the square of the rod's length.
    pub(super) fn rod(&self, at: usize) -> (Vec3<S>, S) {
        let (z1, z2) = meeting(&self.between[at + 2]);
        let c = self.between[at + 1] * on_z(z1);
        let d = self.centre_from(at + 3) - on_z(z2);
        (c, d.dot(&d))
    }

    /// Two revolute axes that meet, from joint `at` on.
    pub(super) fn cross(&self, at: usize) -> Cross<S> {
        let C1 = self.between[at + 1];
        let (z1, z2) = meeting(&C1);
        Cross { C1, z1, z2 }
    }

    /// The constant rotation before a joint.
    pub(super) fn turn_before(&self, at: usize) -> Rotation<S> {
        self.between[at].R
    }
}

/// Two revolute axes that meet: the frame of the second in the first, and where they meet on each.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Cross<S: Real> {
    pub C1: Pose<S>,
    pub z1: S,
    pub z2: S,
}

impl<S: Real> Cross<S> {
    pub(super) fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Cross<T> {
        Cross { C1: self.C1.map(f), z1: f(self.z1), z2: f(self.z2) }
    }
}

fn product<S: Real>(poses: &[Pose<S>]) -> Pose<S> {
    poses.iter().fold(Pose::identity(), |product, X| product * *X)
}
