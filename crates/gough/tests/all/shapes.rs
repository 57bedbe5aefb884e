//! How documents look, learnt from answers while they are serialised: serde tells names of types, fields that are left out, values
//! that may be missing and lists of a fixed length, none of which JSON knows any more. Written as TypeScript.

use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant,
};
use serde::{Serialize, Serializer};
use std::any::type_name;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Error, Write as _};

/// What a value can be.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Shape {
    words: BTreeSet<String>,
    list: Option<Box<Shape>>,
    tuple: Option<Vec<Shape>>,
    dictionary: Option<Box<Shape>>,
}

/// A type with fields: how often it and each of them was seen.
#[derive(Default)]
struct Fields {
    seen: usize,
    list: Vec<(String, usize, Shape)>,
}

/// All types that were seen: those with fields, and how each of the library's own looks.
#[derive(Default)]
pub struct Shapes {
    types: RefCell<BTreeMap<String, Fields>>,
    own: RefCell<BTreeMap<String, Shape>>,
}

/// Marks the name of a type of which no value was seen there, only its place: in an empty list, in a value that is missing.
const UNSEEN: char = '@';

impl Shape {
    fn word(word: &str) -> Self {
        Self { words: BTreeSet::from([word.to_owned()]), ..Self::default() }
    }

    fn merge(&mut self, other: Shape) {
        let both = |own: &mut Option<Box<Shape>>, other: Option<Box<Shape>>| match (own, other) {
            (_, None) => {}
            (Some(own), Some(other)) => own.merge(*other),
            (own, other) => *own = other,
        };
        self.words.extend(other.words);
        both(&mut self.list, other.list);
        both(&mut self.dictionary, other.dictionary);
        match (&mut self.tuple, other.tuple) {
            (_, None) => {}
            (Some(own), Some(other)) => {
                assert_eq!(own.len(), other.len(), "a list of a fixed length has two");
                own.iter_mut().zip(other).for_each(|(own, other)| own.merge(other));
            }
            (own, other) => *own = other,
        }
    }

    /// What a type of this name can be, as far as the name says.
    fn named(name: &str) -> Self {
        let name = name.trim_start_matches('&');
        let inside = |of: &str| name.strip_prefix(of)?.strip_suffix('>');
        let number = ["f64", "f32", "usize", "isize", "u64", "u32", "u16", "u8", "i64", "i32", "i16", "i8"];
        if let Some(of) = inside("core::option::Option<") {
            let mut shape = Self::named(of);
            shape.merge(Self::word("null"));
            shape
        } else if let Some(of) = inside("alloc::vec::Vec<") {
            Self { list: Some(Box::new(Self::named(of))), ..Self::default() }
        } else if let Some((_, of)) =
            inside("alloc::collections::btree::map::BTreeMap<").and_then(|n| n.split_once(", "))
        {
            Self { dictionary: Some(Box::new(Self::named(of))), ..Self::default() }
        } else if let Some((a, b)) = name.strip_prefix('(').and_then(|n| n.strip_suffix(')')?.split_once(", ")) {
            Self { tuple: Some(vec![Self::named(a), Self::named(b)]), ..Self::default() }
        } else if number.contains(&name) {
            Self::word("number")
        } else if name == "bool" {
            Self::word("boolean")
        } else if name == "str" || name == "alloc::string::String" {
            Self::word("string")
        } else if name.starts_with("gough::") && !name.contains('<') {
            Self::word(&format!("{UNSEEN}{}", name.rsplit("::").next().unwrap_or(name)))
        } else {
            Self::default()
        }
    }

    fn text(&self, own: &BTreeMap<String, Shape>) -> String {
        let seen = |w: &String| match w.strip_prefix(UNSEEN) {
            Some(name) => own.get(name).map_or_else(|| "unknown".to_owned(), |shape| shape.text(own)),
            None => w.clone(),
        };
        let mut parts: Vec<String> = self.words.iter().filter(|w| *w != "null").map(seen).collect();
        parts.sort();
        parts.dedup();
        let one = |shape: &Shape| {
            let text = shape.text(own);
            if text.contains(" | ") && !text.starts_with('[') { format!("({text})") } else { text }
        };
        parts.extend(self.list.iter().map(|of| format!("{}[]", one(of))));
        parts.extend(self.dictionary.iter().map(|of| format!("Record<string, {}>", of.text(own))));
        let tuple = |of: &Vec<Shape>| of.iter().map(|s| s.text(own)).collect::<Vec<_>>().join(", ");
        parts.extend(self.tuple.iter().map(|of| format!("[{}]", tuple(of))));
        parts.extend(self.words.contains("null").then(|| "null".to_owned()));
        if parts.is_empty() { "unknown".to_owned() } else { parts.join(" | ") }
    }
}

/// The name of a type without its path; none of one that is not ours.
fn named<T: ?Sized>() -> Option<String> {
    let name = type_name::<T>().trim_start_matches('&');
    let own = name.contains("gough::");
    let last = name.rsplit("::").next().unwrap_or(name).trim_end_matches("<'_>");
    (own && !last.contains(['<', '>']) && !last.starts_with("__")).then(|| last.to_owned())
}

impl Shapes {
    /// Learn from an answer; the name or form of its type.
    pub fn learn<T: Serialize + ?Sized>(&self, value: &T) -> Shape {
        let name = named::<T>();
        let shape = value.serialize(Learner { shapes: self, full: type_name::<T>(), name: name.clone() }).unwrap();
        if let Some(name) = name {
            self.own.borrow_mut().entry(name).or_default().merge(shape.clone());
        }
        shape
    }

    fn object(&self, name: &str, seen: Vec<(String, Shape)>) -> Shape {
        let mut all = self.types.borrow_mut();
        let own = all.entry(name.to_owned()).or_default();
        own.seen += 1;
        for (key, shape) in seen {
            match own.list.iter_mut().find(|f| f.0 == key) {
                Some(field) => {
                    field.1 += 1;
                    field.2.merge(shape);
                }
                None => own.list.push((key, 1, shape)),
            }
        }
        Shape::word(name)
    }

    /// The types as TypeScript, by name.
    pub fn text(&self) -> String {
        let (mut out, own) = (String::new(), self.own.borrow());
        for (name, fields) in self.types.borrow().iter() {
            let _ = writeln!(out, "\nexport interface {name} {{");
            for (key, seen, shape) in &fields.list {
                let (mut shape, is_optional) = (shape.clone(), *seen < fields.seen);
                if is_optional {
                    shape.words.remove("null"); // what is left out when it is missing is never null
                }
                let _ = writeln!(out, "  {key}{}: {};", if is_optional { "?" } else { "" }, shape.text(&own));
            }
            out += "}\n";
        }
        out
    }

    /// Text of a shape.
    pub fn text_of(&self, shape: &Shape) -> String {
        shape.text(&self.own.borrow())
    }
}

struct Learner<'s> {
    shapes: &'s Shapes,
    full: &'static str,
    name: Option<String>,
}

/// Entries of a list, fields of a type, keys of a dictionary.
struct Gathering<'s> {
    shapes: &'s Shapes,
    full: &'static str,
    name: Option<String>,
    items: Vec<Shape>,
    keys: Vec<String>,
    is_list: bool,
}

impl<'s> Learner<'s> {
    fn gather(self, name: Option<String>, is_list: bool) -> Gathering<'s> {
        Gathering { shapes: self.shapes, full: self.full, name, items: Vec::new(), keys: Vec::new(), is_list }
    }
}

impl Gathering<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) {
        let shape = self.shapes.learn(value);
        self.items.push(shape);
    }

    fn merged(items: Vec<Shape>) -> Shape {
        let mut all = Shape::default();
        items.into_iter().for_each(|s| all.merge(s));
        all
    }

    fn list(self) -> Shape {
        if self.is_list && self.items.is_empty() {
            let named = Shape::named(self.full);
            let list = if named.list.is_some() { named.list } else { Some(Box::default()) };
            Shape { list, ..Shape::default() }
        } else if self.is_list {
            Shape { list: Some(Box::new(Self::merged(self.items))), ..Shape::default() }
        } else {
            Shape { tuple: Some(self.items), ..Shape::default() }
        }
    }

    fn object(self) -> Shape {
        match self.name {
            Some(name) => self.shapes.object(&name, self.keys.into_iter().zip(self.items).collect()),
            None if self.items.is_empty() => Shape::named(self.full),
            None => Shape { dictionary: Some(Box::new(Self::merged(self.items))), ..Shape::default() },
        }
    }
}

impl SerializeSeq for Gathering<'_> {
    type Ok = Shape;
    type Error = Error;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value);
        Ok(())
    }
    fn end(self) -> Result<Shape, Error> {
        Ok(self.list())
    }
}

impl SerializeTuple for Gathering<'_> {
    type Ok = Shape;
    type Error = Error;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value);
        Ok(())
    }
    fn end(self) -> Result<Shape, Error> {
        Ok(self.list())
    }
}

impl SerializeTupleStruct for Gathering<'_> {
    type Ok = Shape;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value);
        Ok(())
    }
    fn end(self) -> Result<Shape, Error> {
        Ok(self.list())
    }
}

impl SerializeTupleVariant for Gathering<'_> {
    type Ok = Shape;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value);
        Ok(())
    }
    fn end(self) -> Result<Shape, Error> {
        Ok(self.list())
    }
}

impl SerializeMap for Gathering<'_> {
    type Ok = Shape;
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.keys.push(serde_json::to_value(key).unwrap().as_str().unwrap().to_owned());
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value);
        Ok(())
    }
    fn end(self) -> Result<Shape, Error> {
        Ok(self.object())
    }
}

impl SerializeStruct for Gathering<'_> {
    type Ok = Shape;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.keys.push(key.to_owned());
        self.item(value);
        Ok(())
    }
    fn end(self) -> Result<Shape, Error> {
        Ok(self.object())
    }
}

impl SerializeStructVariant for Gathering<'_> {
    type Ok = Shape;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.keys.push(key.to_owned());
        self.item(value);
        Ok(())
    }
    fn end(self) -> Result<Shape, Error> {
        Ok(self.object())
    }
}

/// Values that are numbers or words.
macro_rules! plain {
    ($($method:ident $kind:ty => $word:literal),*) => {
        $(fn $method(self, _: $kind) -> Result<Shape, Error> {
            Ok(Shape::word($word))
        })*
    };
}

impl<'s> Serializer for Learner<'s> {
    type Ok = Shape;
    type Error = Error;
    type SerializeSeq = Gathering<'s>;
    type SerializeTuple = Gathering<'s>;
    type SerializeTupleStruct = Gathering<'s>;
    type SerializeTupleVariant = Gathering<'s>;
    type SerializeMap = Gathering<'s>;
    type SerializeStruct = Gathering<'s>;
    type SerializeStructVariant = Gathering<'s>;

    plain!(serialize_bool bool => "boolean", serialize_i8 i8 => "number", serialize_i16 i16 => "number",
        serialize_i32 i32 => "number", serialize_i64 i64 => "number", serialize_u8 u8 => "number",
        serialize_u16 u16 => "number", serialize_u32 u32 => "number", serialize_u64 u64 => "number",
        serialize_char char => "string", serialize_str &str => "string", serialize_unit_struct &'static str => "null");

    fn serialize_f32(self, x: f32) -> Result<Shape, Error> {
        self.serialize_f64(f64::from(x))
    }
    /// A number that is not finite is none in JSON.
    fn serialize_f64(self, x: f64) -> Result<Shape, Error> {
        let mut shape = Shape::word("number");
        if !x.is_finite() {
            shape.merge(Shape::word("null"));
        }
        Ok(shape)
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<Shape, Error> {
        Ok(Shape { list: Some(Box::new(Shape::word("number"))), ..Shape::default() })
    }
    fn serialize_none(self) -> Result<Shape, Error> {
        let mut shape = Shape::named(self.full);
        shape.merge(Shape::word("null"));
        Ok(shape)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Shape, Error> {
        let mut shape = self.shapes.learn(value);
        shape.merge(Shape::word("null"));
        Ok(shape)
    }
    fn serialize_unit(self) -> Result<Shape, Error> {
        Ok(Shape::word("null"))
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<Shape, Error> {
        Ok(Shape::word("string"))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Shape, Error> {
        Ok(self.shapes.learn(value))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Shape, Error> {
        let shape = self.shapes.learn(value);
        Ok(self.shapes.object(name, vec![(variant.to_owned(), shape)]))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Gathering<'s>, Error> {
        Ok(self.gather(None, true))
    }
    fn serialize_tuple(self, _: usize) -> Result<Gathering<'s>, Error> {
        Ok(self.gather(None, false))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Gathering<'s>, Error> {
        Ok(self.gather(None, false))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Gathering<'s>, Error> {
        Ok(self.gather(None, false))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Gathering<'s>, Error> {
        let name = self.name.clone();
        Ok(self.gather(name, false))
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Gathering<'s>, Error> {
        let name = self.name.clone().unwrap_or_else(|| name.to_owned());
        Ok(self.gather(Some(name), false))
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Gathering<'s>, Error> {
        Ok(self.gather(Some(name.to_owned()), false))
    }
}
