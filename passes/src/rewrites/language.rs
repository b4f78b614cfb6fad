//! The e-graph's language: one node type over the operation table, and the analysis that keeps constants exact.
//!
//! A node is an operation, its immediate, its type and its operands. Finite constants are exact numbers (dyadic
//! rationals for floats, residues for integers), so that combining them loses nothing; they round once, when the chosen
//! graph becomes values again. Zeros, infinities and NaNs of floats are opaque bits: nothing is ever combined with them,
//! which keeps `x * 0`, `x + 0` and signed zeros as the source wrote them.

use super::constant;
use egg::{Analysis, DidMerge, EGraph, Id, Language};
use num_rational::BigRational;
use rake_ir::lane::FuseLevel;
use rake_ir::ops::{Imm, Op, TypeRule};
use rake_ir::types::Ty;
use smallvec::SmallVec;
use std::sync::Arc;

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Head {
    /// A value from before the region; [`Payload::Input`] numbers it.
    Input,
    /// An operation.
    Op(Op),
    /// All that the region yields, under one node.
    Root,
}

/// What stands in a node beside its operands.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Payload {
    /// The operation's immediate, as the IR has it; of a constant, bits that are not combined.
    Imm(Imm),
    /// A constant as an exact number.
    Exact(Arc<BigRational>),
    /// The number of an input.
    Input(u32),
}

/// Operands.
pub type Children = SmallVec<[Id; 3]>;

/// One node.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node {
    /// What it is.
    pub head: Head,
    /// Its type; of a comparison the type that it compares, so that rows about one type never meet another's.
    pub ty: Ty,
    /// Its immediate.
    pub payload: Payload,
    /// Its operands.
    pub args: Children,
}

impl Node {
    /// An operation without an immediate.
    pub fn op(op: Op, ty: Ty, args: &[Id]) -> Node {
        Node { head: Head::Op(op), ty, payload: Payload::Imm(Imm::None), args: SmallVec::from_slice(args) }
    }

    /// An exact constant.
    pub fn constant(value: BigRational, ty: Ty) -> Node {
        Node { head: Head::Op(Op::Const), ty, payload: Payload::Exact(Arc::new(value)), args: SmallVec::new() }
    }

    /// Its operation, unless it is an input or the root.
    pub fn as_op(&self) -> Option<Op> {
        match self.head {
            Head::Op(op) => Some(op),
            _ => None,
        }
    }

    /// The type of its result.
    pub fn result(&self) -> Ty {
        match self.as_op() {
            Some(op) if op.info().types == TypeRule::Compare => self.ty.truth(),
            _ => self.ty,
        }
    }

    /// Its exact number, if it is such a constant.
    pub fn exact(&self) -> Option<&Arc<BigRational>> {
        match &self.payload {
            Payload::Exact(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it costs nothing: inputs, constants, the root.
    pub fn is_free(&self) -> bool {
        matches!(self.head, Head::Input | Head::Root | Head::Op(Op::Const))
    }
}

impl Language for Node {
    type Discriminant = (Head, Ty);

    fn discriminant(&self) -> Self::Discriminant {
        (self.head, self.ty)
    }

    fn matches(&self, other: &Self) -> bool {
        self.head == other.head
            && self.ty == other.ty
            && self.args.len() == other.args.len()
            && self.payload == other.payload
    }

    fn children(&self) -> &[Id] {
        &self.args
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.args
    }
}

/// Keeps each class's exact constant, and combines constants where the level allows it.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    /// The freedom that the region has.
    pub level: FuseLevel,
    /// Classes that would have held two different constants: a fault of a rule, never of input.
    pub conflicts: u32,
}

/// The e-graph of one region.
pub type Graph = EGraph<Node, Constants>;

impl Analysis<Node> for Constants {
    type Data = Option<Node>;

    fn make(egraph: &mut Graph, node: &Node, _id: Id) -> Self::Data {
        if node.as_op() == Some(Op::Const) {
            return Some(node.clone());
        }
        if !matches!(node.as_op(), Some(Op::Add | Op::Sub | Op::Mul | Op::Neg)) {
            return None;
        }
        let number = |id: Id| egraph[id].data.as_ref().and_then(Node::exact);
        let first = number(node.args[0])?;
        let second = match node.args.get(1) {
            Some(&id) => Some(number(id)?),
            None => None,
        };
        let value = match (node.as_op()?, second) {
            (Op::Add, Some(second)) => &**first + &**second,
            (Op::Sub, Some(second)) => &**first - &**second,
            (Op::Mul, Some(second)) => &**first * &**second,
            (Op::Neg, None) => -&**first,
            _ => return None,
        };
        let value = constant::combined(value, node.ty.elem(), egraph.analysis.level)?;
        Some(Node::constant(value, node.ty))
    }

    fn merge(&mut self, a: &mut Self::Data, b: Self::Data) -> DidMerge {
        match (&*a, &b) {
            (None, Some(_)) => {
                *a = b;
                DidMerge(true, false)
            }
            (Some(_), None) => DidMerge(false, true),
            (Some(left), Some(right)) => {
                if left != right {
                    self.conflicts += 1;
                    debug_assert!(false, "one class, two constants: {left:?} and {right:?}");
                }
                DidMerge(false, false)
            }
            (None, None) => DidMerge(false, false),
        }
    }

    fn modify(egraph: &mut Graph, id: Id) {
        let Some(node) = egraph[id].data.clone() else { return };
        if egraph[id].nodes.iter().all(|n| n.as_op() != Some(Op::Const)) {
            let folded = egraph.add(node);
            egraph.union_trusted(id, folded, "combine-constants");
        }
    }
}
