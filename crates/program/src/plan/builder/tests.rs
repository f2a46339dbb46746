use super::*;
use crate::plan::{Layout, Opening, Operand, Public};

#[test]
fn independent_operations_share_a_level_and_registers_are_freed_after_their_last_use() {
    let mut builder = Builder::new();
    let owner = builder.role("alice");
    let [a, b, c, d, e] = std::array::from_fn(|_| builder.ring(Width::W64, 4));
    builder.input(owner, a);
    builder.input(owner, b);
    builder.interact(OpKind::Mul { a, b, dst: c });
    builder.interact(OpKind::Mul { a, b: a, dst: d });
    builder.local(Local::Add { a: c, b: d, dst: e });
    builder.output(e, To::All);
    let plan = builder.finish();
    assert_eq!(plan.depth(), 1);
    assert_eq!(plan.levels.len(), 2);
    assert_eq!(plan.levels[0].stages.len(), 2);
    assert_eq!(plan.levels[0].free, [a, b]);
    assert_eq!(plan.levels[1].free, [c, d]);
}

#[test]
fn what_is_public_and_what_is_shared_keep_their_places() {
    const RING: Domain = Domain::Ring(Width::W8);
    type Add = fn(&mut Builder, [Reg; 2], [Reg; 2]);
    // With two registers that are secret and two that are public.
    let wrong: [(&str, Add); 12] = [
        ("PublicBits", |to, [a, _], [dst, _]| to.local(Local::PublicBits { a, bits: 1, dst })),
        ("PublicBits", |to, [dst, _], [a, _]| to.local(Local::PublicBits { a, bits: 1, dst })),
        ("Gather", |to, [a, dst], _| to.local(Local::Gather { a, index: a, block: 1, dst })),
        ("MulPublic", |to, [a, dst], _| to.local(Local::MulPublic { a, c: Public::Register(a), dst })),
        ("MulPublic", |to, [dst, _], [a, _]| to.local(Local::MulPublic { a, c: Public::Splat(1), dst })),
        ("Add", |to, [a, dst], [b, _]| to.local(Local::Add { a, b, dst })),
        ("Add", |to, [a, b], [dst, _]| to.local(Local::Add { a, b, dst })),
        ("Mul", |to, [a, dst], [b, _]| to.interact(OpKind::Mul { a, b, dst })),
        ("Random", |to, _, [dst, _]| to.interact(OpKind::Random { dst, bits: false })),
        ("Open", |to, [a, dst], _| to.interact(OpKind::Open { a, dst, how: Opening::Verified })),
        ("a public input", |to, [a, _], _| to.public_input("a", a, Form::Elements)),
        ("an output", |to, _, [a, _]| to.output(a, To::All)),
    ];
    for (name, add) in wrong {
        let refused = std::panic::catch_unwind(|| {
            let mut builder = Builder::new();
            let secret = [(); 2].map(|()| builder.row(RING, 8));
            let public = [(); 2].map(|()| builder.public(RING, 8));
            add(&mut builder, secret, public);
        });
        let told = refused.unwrap_err().downcast::<String>().unwrap();
        assert!(told.starts_with(&format!("{name} has register ")), "{name}: {told}");
    }
}

#[test]
fn a_slab_waits_until_the_one_before_is_free() {
    let mut builder = Builder::new();
    let owner = builder.role("alice");
    let a = builder.ring(Width::W8, 4);
    builder.input(owner, a);
    let mut products: Vec<Reg> = Vec::new();
    for _ in 0..2 {
        let [copy, product] = std::array::from_fn(|_| builder.ring(Width::W8, 4));
        if let Some(&before) = products.last() {
            builder.after(copy, before);
        }
        builder.local(Local::Copy { a, layout: Layout::whole(&[4]), at: 0, dst: copy });
        builder.interact(OpKind::Mul { a: copy, b: copy, dst: product });
        products.push(product);
    }
    for product in products {
        builder.output(product, To::All);
    }
    let plan = builder.finish();
    assert_eq!(plan.depth(), 2);
    assert_eq!([&plan.levels[0].free[..], &plan.levels[1].free], [&[1][..], &[0, 3]]);
}

#[test]
fn an_operation_of_two_stages_stands_in_two_levels() {
    let mut builder = Builder::new();
    let bit = builder.bits(1, 3);
    let number = builder.ring(Width::W32, 3);
    let square = builder.ring(Width::W32, 3);
    builder.interact(OpKind::Inject { a: Rows::one(bit, 0), dst: number });
    builder.interact(OpKind::Mul { a: number, b: number, dst: square });
    builder.output(square, To::All);
    let plan = builder.finish();
    assert_eq!(plan.depth(), 3);
    assert_eq!(plan.levels[1].stages, [Stage { op: 0, stage: 1 }]);
    assert_eq!(plan.levels[1].free, [bit]);
}

#[test]
fn a_mask_hides_one_difference() {
    // Registers of bits: a number, its mask, what is left, and another.
    type Add<'a> = &'a dyn Fn(&mut Builder, [Reg; 4], Reg);
    const CIRCUIT: fn() -> std::sync::Arc<tacit_circuit::Layered> = || {
        let mut circuit = tacit_circuit::Builder::new();
        let [x, y] = [(); 2].map(|()| circuit.input(8));
        let left = tacit_circuit::arith::subtract(&mut circuit, tacit_circuit::arith::Style::Small, &x, &y);
        std::sync::Arc::new(tacit_circuit::Layered::new(&circuit.finish(vec![left])))
    };
    let hide = |to: &mut Builder, [a, mask, dst]: [Reg; 3]| {
        to.interact(OpKind::Circuit {
            circuit: CIRCUIT(),
            inputs: vec![Operand::Each(a), Operand::Each(mask)],
            dst,
        });
    };
    let mask = |to: &mut Builder, bits: u8, dst: Reg| to.interact(OpKind::PairMask { bits, dst });
    let compose =
        |to: &mut Builder, a: Reg, mask: Reg, dst: Reg| to.interact(OpKind::Compose { a, mask, dst });
    let right: Add<'_> = &|to, [a, m, left, _], dst| {
        mask(to, 8, m);
        hide(to, [a, m, left]);
        compose(to, left, m, dst);
    };
    let wrong: [(&str, Add<'_>); 10] = [
        ("whole bytes", &|to, [_, m, ..], _| mask(to, 4, m)),
        ("whole bytes", &|to, [_, m, ..], _| mask(to, 16, m)),
        ("masks once", &|to, [_, m, ..], _| [m, m].into_iter().for_each(|m| mask(to, 8, m))),
        ("one difference", &|to, [a, m, left, other], _| {
            mask(to, 8, m);
            hide(to, [a, m, left]);
            hide(to, [left, m, other]);
        }),
        ("difference that the mask was taken off", &|to, [a, m, left, other], dst| {
            mask(to, 8, m);
            hide(to, [a, m, left]);
            compose(to, other, m, dst);
        }),
        ("shown once", &|to, [a, m, left, other], dst| {
            right(to, [a, m, left, other], dst);
            compose(to, left, m, dst);
        }),
        ("as many bits", &|to, [a, m, left, _], _| {
            mask(to, 8, m);
            hide(to, [a, m, left]);
            let wide = to.ring(Width::W16, 3);
            compose(to, left, m, wide);
        }),
        ("hide a difference", &|to, [a, m, left, other], dst| {
            right(to, [a, m, left, other], dst);
            to.output(m, To::All);
        }),
        ("hide a difference", &|to, [a, m, left, other], dst| {
            right(to, [a, m, left, other], dst);
            let [a, b, dst] = [m, a, other].map(|reg| Rows::one(reg, 0));
            to.local(Local::Xor { a, b, dst });
        }),
        ("one turn", &|to, [a, m, left, _], _| {
            mask(to, 8, m);
            to.begin_section();
            hide(to, [a, m, left]);
        }),
    ];
    let begun = |add: Add<'_>| {
        let mut builder = Builder::new();
        let bits = [(); 4].map(|()| builder.bits(1, 24));
        let dst = builder.ring(Width::W8, 3);
        add(&mut builder, bits, dst);
    };
    begun(right);
    for (what, add) in wrong {
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| begun(add))).unwrap_err();
        let told = refused.downcast_ref::<&str>().map(|told| (*told).to_owned());
        let told = told.or_else(|| refused.downcast_ref::<String>().cloned()).unwrap();
        assert!(told.contains(what), "{what}: {told}");
    }
}
