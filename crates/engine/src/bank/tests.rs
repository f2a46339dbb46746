use super::*;
use tacit_program::plan::{Builder, Modulus, OpKind, To};

#[test]
fn reserved_memory_is_all_that_a_run_needs() {
    let mut builder = Builder::new();
    let owner = builder.role("alice");
    let [x, y, z, sum] = std::array::from_fn(|_| builder.ring(Width::W64, 1000));
    builder.input(owner, x);
    builder.interact(OpKind::Mul { a: x, b: x, dst: y });
    builder.interact(OpKind::Mul { a: y, b: y, dst: z });
    builder.local(Local::Add { a: z, b: z, dst: sum });
    builder.output(sum, To::All);
    let plan = Arc::new(builder.finish());
    let mut bank = Bank::new(plan.clone(), Part::Component(0));
    bank.reserve();
    let reserved = bank.places.free().count();
    // x and y are gone when z and the sum come: no more than three at once.
    assert!((1..=3).contains(&reserved), "{reserved}");
    bank.make(x);
    for level in &plan.levels {
        for step in &level.local {
            bank.make(step.writes());
        }
        for stage in &level.stages {
            plan.ops[stage.op as usize].kind.writes().into_iter().for_each(|reg| {
                bank.make(reg);
            });
        }
        level.free.iter().for_each(|&reg| bank.free(reg));
    }
    let held = bank.registers.iter().flatten().count() + bank.places.free().count();
    assert_eq!((held, bank.spare.len()), (reserved, 0));
}

/// Banks that have run the steps for three additive components, on numbers and on bits; the registers of the
/// results.
fn converted(parts: &[Part], numbers: &[Vec<u16>], rows: &[Vec<u64>]) -> (Vec<Bank>, [Reg; 4]) {
    let cols = numbers[0].len();
    let mut builder = Builder::new();
    let (a, row) = (builder.ring(Width::W16, cols), builder.bits(1, cols));
    let shifted = builder.ring(Width::W16, cols);
    let mut steps = vec![Local::ShiftComponents { a, by: 5, dst: shifted }];
    let bits = [0, 1, 2].map(|component| {
        let dst = builder.ring(Width::W32, cols);
        steps.push(Local::BitComponent { a: row, component, dst });
        dst
    });
    for step in &steps {
        builder.local(step.clone());
    }
    let plan = Arc::new(builder.finish());
    let run = |((&part, numbers), bits): ((&Part, &Vec<u16>), &Vec<u64>)| {
        let mut bank = Bank::new(plan.clone(), part);
        bank.make(a).words_mut::<u16>().copy_from_slice(numbers);
        bank.make(row).words_mut().copy_from_slice(bits);
        for step in &steps {
            bank.run(step, &mut || Ok(())).unwrap();
        }
        bank
    };
    let banks = parts.iter().zip(numbers).zip(rows).map(run).collect();
    (banks, [shifted, bits[0], bits[1], bits[2]])
}

#[test]
fn an_addend_is_in_its_own_component_and_zero_in_the_others() {
    let numbers: Vec<Vec<u16>> =
        (0..3).map(|c| (0..65).map(|at| (at * 9973 + c * 31_337) as u16).collect()).collect();
    let rows: Vec<Vec<u64>> = (0..3).map(|component| vec![mix(component), 1]).collect();
    let parts = [0, 1, 2].map(Part::Component);
    let (banks, [shifted, bits @ ..]) = converted(&parts, &numbers, &rows);
    for (held, bank) in banks.iter().enumerate() {
        assert!(bank.get(shifted).words::<u16>().iter().copied().eq(numbers[held].iter().map(|x| x >> 5)));
        for (component, &reg) in bits.iter().enumerate() {
            let bit = |at: usize| u32::from(held == component && bits::get(&rows[held], at));
            assert!(bank.get(reg).words::<u32>().iter().copied().eq((0..65).map(bit)));
        }
    }
}

#[test]
fn the_clear_engines_addends_make_up_the_value() {
    let numbers: Vec<u16> = (0..65).map(|at| (at * at * 9973) as u16).collect();
    let rows = vec![mix(7), 1];
    let (banks, [shifted, bits @ ..]) =
        converted(&[Part::Whole], std::slice::from_ref(&numbers), std::slice::from_ref(&rows));
    let bank = &banks[0];
    for (at, &number) in numbers.iter().enumerate() {
        let addends =
            [0, 1, 2].map(|component| bank.additive_component::<u16>(0, component, at..at + 1).unwrap()[0]);
        assert_eq!(addends.iter().fold(0_u16, |sum, &addend| sum.wrapping_add(addend)), number);
        let sum = addends.iter().fold(0_u16, |sum, addend| sum.wrapping_add(addend >> 5));
        assert_eq!(bank.get(shifted).words::<u16>()[at], sum);
        let bit = bits.iter().fold(0, |bit, &reg| bit ^ bank.get(reg).words::<u32>()[at]);
        assert_eq!(bit == 1, bits::get(&rows, at));
    }
}

#[test]
fn a_long_product_ticks_between_its_rows() {
    let shape = MatrixShape { batch: 2, m: 40, k: 1 << 12, n: 1 << 13 };
    let MatrixShape { batch, m, k, n } = shape;
    let public: Vec<u64> = (0..(batch * m * k) as u64).map(|at| at * at % 251).collect();
    let mut builder = Builder::new();
    let a = builder.ring(Width::W8, batch * k * n);
    let dst = builder.ring(Width::W8, batch * m * n);
    let step = Local::MatMulPublic { a, c: public.as_slice().into(), left: true, shape, dst };
    builder.local(step.clone());
    builder.output(dst, To::All);
    let mut bank = Bank::new(Arc::new(builder.finish()), Part::Component(0));
    let secret: Vec<u8> = (0..batch * k * n).map(|at| (at % 241) as u8).collect();
    bank.make(a).bytes_mut().copy_from_slice(&secret);
    let mut ticks = 0;
    let mut tick = || {
        ticks += 1;
        Ok(())
    };
    bank.run(&step, &mut tick).unwrap();
    assert_eq!(ticks, 4, "two for each matrix");
    let public: Vec<u8> = public.into_iter().map(|word| word as u8).collect();
    let mut expected = vec![0; batch * m * n];
    for index in 0..batch {
        let (left, right) = (&public[index * m * k..], &secret[index * k * n..]);
        let product = &mut expected[index * m * n..(index + 1) * m * n];
        matrix::matmul(&left[..m * k], &right[..k * n], product, m, k, n);
    }
    assert_eq!(bank.get(dst).bytes(), expected);
    let stopped = bank.run(&step, &mut || Err(Error::Refused("stop".to_owned())));
    assert_eq!(stopped, Err(Error::Refused("stop".to_owned())));
}

#[test]
fn public_registers_are_whole_in_each_bank_and_go_where_constants_do() {
    let (domain, cols) = (Domain::Modular(Modulus::Mersenne61), 65);
    let mut builder = Builder::new();
    let secret = builder.row(domain, cols);
    let [opened, twice] = [(); 2].map(|()| builder.public(domain, cols));
    let places = builder.public(Domain::Ring(Width::W8), 3);
    let [sum, product, shared] = [(); 3].map(|()| builder.row(domain, cols));
    let gathered = builder.row(domain, 3);
    let bits = builder.public(domain, 3 * cols);
    let steps = [
        Local::MulPublic { a: opened, c: Public::Splat(2), dst: twice },
        Local::AddPublic { a: secret, c: Public::Register(twice), dst: sum },
        Local::MulPublic { a: secret, c: Public::Register(twice), dst: product },
        Local::Constant { value: Public::Register(opened), dst: shared },
        Local::PublicBits { a: opened, bits: 3, dst: bits },
        Local::Gather { a: secret, index: places, block: 1, dst: gathered },
    ];
    for step in &steps {
        builder.local(step.clone());
    }
    let plan = Arc::new(builder.finish());
    let clear = |domain, words: &[u64]| Clear::from_words(domain, words);
    let values: Vec<u64> = (0..cols as u64).map(|at| at * at).collect();
    let run = |part, share: &[u64], index: &[u64]| {
        let mut bank = Bank::new(plan.clone(), part);
        bank.write_public(opened, &clear(domain, &values));
        bank.write_public(places, &clear(Domain::Ring(Width::W8), index));
        bank.make(secret).bytes_mut().copy_from_slice(clear(domain, share).data().bytes());
        let outcome = steps.iter().try_for_each(|step| bank.run(step, &mut || Ok(())));
        let words = |reg| {
            let shape = plan.register(reg);
            Clear::new(shape.domain, shape.cols, bank.get(reg).clone()).to_words()
        };
        outcome.map(|()| [sum, product, shared, gathered, bits].map(words))
    };
    // Two shares of 5 everywhere.
    let shares = [vec![2; cols], vec![3; cols]];
    let [first, second] =
        [0, 1].map(|part| run(Part::Component(part), &shares[usize::from(part)], &[64, 0, 64]).unwrap());
    let added: Vec<Vec<u64>> = first
        .iter()
        .zip(&second)
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a + b) % ((1 << 61) - 1)).collect())
        .collect();
    assert!(added[0].iter().zip(&values).all(|(sum, value)| *sum == 5 + 2 * value));
    assert!(added[1].iter().zip(&values).all(|(product, value)| *product == 10 * value));
    assert_eq!(added[2], values);
    assert_eq!(added[3], [5, 5, 5]);
    assert_eq!(first[4], second[4], "bits of public numbers are public");
    assert!((0..3 * cols).all(|at| first[4][at] == values[at % cols] >> (at / cols) & 1));
    let outside = run(Part::Component(0), &shares[0], &[177, 0, 0]);
    assert!(
        matches!(outside, Err(Error::Refused(reason)) if reason.contains("place") && !reason.contains("177"))
    );
}
