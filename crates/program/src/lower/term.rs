//! Sums, products and logic of operands, some of which may be public.
//!
//! Public with public is reckoned here and now; public with secret is local.

use std::sync::Arc;

use super::lowering::Lowering;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::{self, Domain, Layout, Local, Public, Reg, Rows};
use crate::types::Dtype;
use crate::value::words_of;

/// A vector of ring elements or of bits.
#[derive(Clone, Debug)]
pub(super) enum Term {
    /// In a register of one row.
    Secret(Reg),
    /// Known to everybody.
    Public(Clear),
}

/// Public elements, reduced.
#[derive(Clone, Debug)]
pub(super) struct Clear {
    domain: Domain,
    len: usize,
    words: Words,
}

#[derive(Clone, Debug)]
enum Words {
    Splat(u128),
    Vector(Arc<[u128]>),
}

impl Clear {
    /// Reduces the elements.
    fn new(domain: Domain, mut words: Vec<u128>) -> Self {
        let len = words.len();
        for word in &mut words {
            *word = domain.modulus().reduce_unsigned(*word);
        }
        let first = words.first().copied().unwrap_or(0);
        let words = if words.iter().all(|&word| word == first) {
            Words::Splat(first)
        } else {
            Words::Vector(Arc::from(words))
        };
        Self { domain, len, words }
    }

    fn map(&self, f: impl Fn(u128) -> u128) -> Self {
        let words = match &self.words {
            Words::Splat(word) => Words::Splat(self.domain.modulus().reduce_unsigned(f(*word))),
            Words::Vector(words) => {
                return Self::new(self.domain, words.iter().map(|&word| f(word)).collect());
            }
        };
        Self { words, ..*self }
    }

    fn zip(&self, other: &Self, f: impl Fn(u128, u128) -> u128) -> Self {
        match (&self.words, &other.words) {
            (_, &Words::Splat(b)) => self.map(|a| f(a, b)),
            (&Words::Splat(a), _) => other.map(|b| f(a, b)),
            (Words::Vector(a), Words::Vector(b)) => {
                Self::new(self.domain, a.iter().zip(b.iter()).map(|(&a, &b)| f(a, b)).collect())
            }
        }
    }

    fn splat(&self) -> Option<u128> {
        match self.words {
            Words::Splat(word) => Some(word),
            Words::Vector(_) => None,
        }
    }

    /// Repeats the elements along new axes and those of length 1.
    fn broadcast(self, from: &[usize], to: &[usize]) -> Self {
        let words = match self.words {
            Words::Vector(words) if from != to => {
                Words::Vector(Arc::from(Layout::whole(from).broadcast(to).gather(&words)))
            }
            other => other,
        };
        Self { words, len: to.iter().product(), ..self }
    }

    /// As a plan writes them: one or two words for each element, bits packed.
    fn public(&self) -> Public {
        match (&self.words, self.domain) {
            (Words::Splat(word), _) => Public::Splat(*word),
            (Words::Vector(words), Domain::Bits) => {
                let pack = |bits: &[u128]| bits.iter().rev().fold(0, |word, &bit| word << 1 | bit as u64);
                Public::Vector(words.chunks(64).map(pack).collect())
            }
            (Words::Vector(words), domain) => Public::Vector(limbs(words, domain)),
        }
    }

    /// The top bit of each element.
    pub(super) fn sign(&self) -> Self {
        let top = self.domain.bits() - 1;
        Self { domain: Domain::Bits, ..self.map(|word| word >> top) }
    }

    /// Every element.
    fn all(&self) -> Vec<u128> {
        match &self.words {
            Words::Splat(word) => vec![*word; self.len],
            Words::Vector(words) => words.to_vec(),
        }
    }
}

impl Term {
    /// The same public element everywhere.
    pub(super) fn splat(word: u128, domain: Domain, len: usize) -> Self {
        Self::Public(Clear { domain, len, words: Words::Splat(domain.modulus().reduce_unsigned(word)) })
    }

    /// The same public integer everywhere.
    pub(super) fn integer(value: i128, domain: Domain, len: usize) -> Self {
        Self::splat(domain.modulus().reduce(value), domain, len)
    }

    /// Public elements, repeated along new axes and those of length 1.
    pub(super) fn broadcast(self, from: &[usize], to: &[usize]) -> Self {
        match self {
            Self::Public(clear) => Self::Public(clear.broadcast(from, to)),
            Self::Secret(_) => unreachable!("what is secret is walked over"),
        }
    }

    /// Public elements, one for each place.
    pub(super) fn vector(words: Vec<u128>, domain: Domain) -> Self {
        Self::Public(Clear::new(domain, words))
    }
}

/// Elements as a plan writes them: the words of each, the low one first.
pub(super) fn limbs(elements: &[u128], domain: Domain) -> Arc<[u64]> {
    let words = elements.iter().flat_map(|&element| {
        let words = words_of(element as i128);
        words.into_iter().take(domain.limbs())
    });
    words.collect()
}

impl Lowering<'_> {
    /// A node's elements, broadcast to `shape`. Public ones are reduced to `domain`.
    pub(super) fn term(&mut self, id: NodeId, shape: &[usize], domain: Domain) -> Term {
        let ty = self.ty(id);
        if !ty.secret {
            let words = Clear::new(domain, self.public_raw(id, &Layout::whole(&ty.shape), domain));
            return Term::Public(words.broadcast(&ty.shape, shape));
        }
        if ty.shape == shape {
            return Term::Secret(self.whole(id));
        }
        let view = self.view(id).clone();
        Term::Secret(self.gathered(view.reg, view.layout.broadcast(shape)))
    }

    /// The elements of a public node, reduced to `domain`, as a walk meets them.
    pub(super) fn public_raw(&self, id: NodeId, walk: &Layout, domain: Domain) -> Vec<u128> {
        let modulus = domain.modulus();
        match &self.program.node(id).operation {
            Operation::Constant(raw) if matches!(self.ty(id).kind, Dtype::Modular(_)) => {
                // Typing has reduced what is modular.
                walk.places().map(|place| modulus.reduce_unsigned(raw[place] as u128)).collect()
            }
            Operation::Constant(raw) => walk.places().map(|place| modulus.reduce(raw[place])).collect(),
            _ => unreachable!("what is public is a constant"),
        }
    }

    /// The register of a term; a public one becomes a sharing of itself.
    pub(super) fn register(&mut self, term: &Term) -> Reg {
        match term {
            Term::Secret(reg) => *reg,
            Term::Public(clear) => {
                let dst = self.fresh(clear.domain, clear.len);
                self.plan.local(Local::Constant { value: clear.public(), dst });
                dst
            }
        }
    }

    /// The register of a term as an operand of a circuit; a public one stays public.
    pub(super) fn operand_register(&mut self, term: &Term) -> Reg {
        match term {
            Term::Secret(reg) => *reg,
            Term::Public(clear) => {
                let dst = self.plan.public(clear.domain, clear.len);
                self.plan.local(Local::Constant { value: clear.public(), dst });
                dst
            }
        }
    }

    /// The elements of a term that a walk meets.
    pub(super) fn part(&mut self, term: &Term, walk: &Layout) -> Term {
        match term {
            Term::Secret(reg) => Term::Secret(self.gathered(*reg, walk.clone())),
            Term::Public(clear) => Term::Public(Clear::new(clear.domain, walk.gather(&clear.all()))),
        }
    }

    pub(super) fn add(&mut self, a: &Term, b: &Term) -> Term {
        match (a, b) {
            (Term::Public(a), Term::Public(b)) => Term::Public(a.zip(b, |x, y| a.domain.modulus().add(x, y))),
            (Term::Secret(a), Term::Public(c)) | (Term::Public(c), Term::Secret(a)) => {
                if c.splat() == Some(0) {
                    return Term::Secret(*a);
                }
                let c = c.public();
                self.step(*a, |dst| Local::AddPublic { a: *a, c, dst })
            }
            (&Term::Secret(a), &Term::Secret(b)) => self.step(a, |dst| Local::Add { a, b, dst }),
        }
    }

    pub(super) fn neg(&mut self, a: &Term) -> Term {
        match a {
            Term::Public(a) => Term::Public(a.map(|x| a.domain.modulus().sub(0, x))),
            Term::Secret(_) => {
                let domain = self.domain_of(a);
                let minus_one = Term::splat(domain.modulus().last(), domain, self.len_of(a));
                self.mul(a, &minus_one)
            }
        }
    }

    pub(super) fn sub(&mut self, a: &Term, b: &Term) -> Term {
        if let (&Term::Secret(a), &Term::Secret(b)) = (a, b) {
            return self.step(a, |dst| Local::Sub { a, b, dst });
        }
        let negative = self.neg(b);
        self.add(a, &negative)
    }

    pub(super) fn mul(&mut self, a: &Term, b: &Term) -> Term {
        match (a, b) {
            (Term::Public(a), Term::Public(b)) => Term::Public(a.zip(b, |x, y| a.domain.modulus().mul(x, y))),
            (Term::Secret(a), Term::Public(c)) | (Term::Public(c), Term::Secret(a)) => {
                if c.splat() == Some(1) {
                    return Term::Secret(*a);
                }
                let c = c.public();
                self.step(*a, |dst| Local::MulPublic { a: *a, c, dst })
            }
            (&Term::Secret(a), &Term::Secret(b)) => {
                let shape = self.plan.shape(a);
                let dst = self.fresh(shape.domain, shape.cols);
                self.plan.interact(plan::OpKind::Mul { a, b, dst });
                Term::Secret(dst)
            }
        }
    }

    /// Of bits, or of elements that are 0 or 1; as is what follows.
    pub(super) fn xor(&mut self, a: &Term, b: &Term) -> Term {
        if self.domain_of(a) != Domain::Bits {
            return self.exclusive_or(a, b);
        }
        match (a, b) {
            (Term::Public(a), Term::Public(b)) => Term::Public(a.zip(b, |a, b| a ^ b)),
            (Term::Secret(a), Term::Public(c)) | (Term::Public(c), Term::Secret(a)) => match c.splat() {
                Some(0) => Term::Secret(*a),
                Some(_) => Term::Secret(self.not(*a)),
                None => {
                    let c = c.public();
                    self.step(*a, |dst| Local::XorPublic { a: *a, c, dst })
                }
            },
            (&Term::Secret(a), &Term::Secret(b)) => self.step(a, |dst| Local::Xor {
                a: Rows::one(a, 0),
                b: Rows::one(b, 0),
                dst: Rows::one(dst, 0),
            }),
        }
    }

    pub(super) fn and(&mut self, a: &Term, b: &Term) -> Term {
        if self.domain_of(a) != Domain::Bits {
            return self.mul(a, b);
        }
        match (a, b) {
            (Term::Public(a), Term::Public(b)) => Term::Public(a.zip(b, |a, b| a & b)),
            (Term::Secret(a), Term::Public(c)) | (Term::Public(c), Term::Secret(a)) => {
                if c.splat() == Some(1) {
                    return Term::Secret(*a);
                }
                let c = c.public();
                self.step(*a, |dst| Local::AndPublic { a: *a, c, dst })
            }
            (&Term::Secret(a), &Term::Secret(b)) => {
                let dst = self.plan.bits(1, self.plan.shape(a).cols);
                let (a, b) = (Rows::one(a, 0), Rows::one(b, 0));
                self.plan.interact(plan::OpKind::And { a, b, dst: Rows::one(dst, 0) });
                Term::Secret(dst)
            }
        }
    }

    pub(super) fn or(&mut self, a: &Term, b: &Term) -> Term {
        if self.domain_of(a) != Domain::Bits {
            let (sum, both) = (self.add(a, b), self.mul(a, b));
            return self.sub(&sum, &both);
        }
        let differ = self.xor(a, b);
        let both = self.and(a, b);
        self.xor(&differ, &both)
    }

    /// `u + v - 2 u v`, of numbers that are 0 or 1.
    pub(super) fn exclusive_or(&mut self, u: &Term, v: &Term) -> Term {
        let minus_two = Term::integer(-2, self.domain_of(u), self.len_of(u));
        let (sum, both) = (self.add(u, v), self.mul(u, v));
        let twice = self.mul(&both, &minus_two);
        self.add(&sum, &twice)
    }

    pub(super) fn not(&mut self, a: Reg) -> Reg {
        let shape = self.plan.shape(a);
        if shape.domain != Domain::Bits {
            let one = Term::splat(1, shape.domain, shape.cols);
            let complement = self.sub(&one, &Term::Secret(a));
            return self.register(&complement);
        }
        let dst = self.plan.bits(1, self.plan.shape(a).cols);
        self.plan.local(Local::Not { a: Rows::one(a, 0), dst: Rows::one(dst, 0) });
        dst
    }

    pub(super) fn domain_of(&self, term: &Term) -> Domain {
        match term {
            Term::Secret(reg) => self.plan.shape(*reg).domain,
            Term::Public(clear) => clear.domain,
        }
    }

    pub(super) fn len_of(&self, term: &Term) -> usize {
        match term {
            Term::Secret(reg) => self.plan.shape(*reg).cols,
            Term::Public(clear) => clear.len,
        }
    }

    /// A local step whose result has the shape of `like`.
    fn step(&mut self, like: Reg, make: impl FnOnce(Reg) -> Local) -> Term {
        let shape = self.plan.shape(like);
        let dst = self.fresh(shape.domain, shape.cols);
        self.plan.local(make(dst));
        Term::Secret(dst)
    }
}
