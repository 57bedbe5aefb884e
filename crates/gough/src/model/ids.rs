//! Typed indices: a body number cannot be used where a coordinate is meant.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index that comes only from a model.
pub trait Id: Copy {
    /// From a position in its list.
    fn new(index: usize) -> Self;
    /// Its position in its list.
    fn index(self) -> usize;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u16);
        impl Id for $name {
            fn new(index: usize) -> Self {
                Self(u16::try_from(index).expect("robots have fewer than 65536 of anything"))
            }
            #[inline]
            fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    };
}

id!(
    /// A body of the tree.
    BodyId
);
id!(
    /// A joint coordinate.
    CoordId
);
id!(
    /// A leg.
    LegId
);
id!(
    /// A closure.
    ClosureId
);

/// A run of consecutive ids: what belongs to one leg.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ids<I> {
    start: usize,
    end: usize,
    id: PhantomData<I>,
}

impl<I: Id> Ids<I> {
    /// From the first to before the last position.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end, id: PhantomData }
    }

    /// The ids, in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone {
        (self.start..self.end).map(I::new)
    }

    /// Positions in the list of all.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start..self.end
    }

    /// How many.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// None at all.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Position of an id within the run.
    pub fn local(self, id: I) -> Option<usize> {
        (self.start..self.end).contains(&id.index()).then(|| id.index() - self.start)
    }
}

impl<I> Default for Ids<I> {
    fn default() -> Self {
        Self { start: 0, end: 0, id: PhantomData }
    }
}

/// A list indexed by its own kind of [`Id`] only.
#[derive(Clone, PartialEq, Debug)]
pub struct Per<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

/// One per body.
pub type PerBody<T> = Per<BodyId, T>;
/// One per joint coordinate.
pub type PerCoord<T> = Per<CoordId, T>;
/// One per leg.
pub type PerLeg<T> = Per<LegId, T>;
/// One per closure.
pub type PerClosure<T> = Per<ClosureId, T>;

impl<I: Id, T> Per<I, T> {
    /// Append; the new item's index.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All indices, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// Items with their indices.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(i, t)| (I::new(i), t))
    }

    /// The items of a run of ids.
    #[inline]
    pub fn slice(&self, ids: Ids<I>) -> &[T] {
        &self.items[ids.range()]
    }

    /// The entries, to change.
    #[inline]
    pub fn slice_mut(&mut self, ids: Ids<I>) -> &mut [T] {
        &mut self.items[ids.range()]
    }

    /// All items, in order.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// All items, to change.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// Items alone.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Items to change.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// One item per index.
    pub fn map<U>(&self, mut f: impl FnMut(I, &T) -> U) -> Per<I, U> {
        self.iter().map(|(i, t)| f(i, t)).collect()
    }
}

impl<I, T> Default for Per<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }
}

impl<I, T> FromIterator<T> for Per<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(iter: A) -> Self {
        Self { items: iter.into_iter().collect(), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Per<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, i: I) -> &T {
        &self.items[i.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Per<I, T> {
    #[inline]
    fn index_mut(&mut self, i: I) -> &mut T {
        &mut self.items[i.index()]
    }
}
