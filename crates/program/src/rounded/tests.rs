use super::*;
use crate::operations::Rounding;
use crate::ratio::{Ratio, weighed};
use crate::real::{Real, Reals};

fn line(a: i64, b: i64, d: i64) -> Line {
    Line { a: a.into(), b: b.into(), d: d.into() }
}

fn from(least: i64, count: i64) -> Range {
    Range::new(least.into(), (least + count).into()).unwrap()
}

#[test]
fn the_least_remainder_is_that_of_all() {
    for q in 1..=18_i64 {
        for a in -q..=2 * q {
            for b in -q..=q {
                let mut least = q;
                for n in 0..=24_i64 {
                    least = least.min((a * n + b).rem_euclid(q));
                    let found = least_remainder(&a.into(), &b.into(), &q.into(), &n.into());
                    assert_eq!(found, least.into(), "({a} z + {b}) mod {q} up to {n}");
                }
            }
        }
    }
}

#[test]
fn a_shift_gives_every_quotient_of_a_range() {
    for d in 1..=30_i64 {
        for a in (-40..=40).step_by(3) {
            for (b, least, count) in
                [(0, 0, 255), (d, -128, 255), (d / 2, -1, 1), (-d, 99, 40), (7, -3, 3000)]
            {
                for sought in [true, false] {
                    let Shifted { m, c, s } = line(a, b, d).shifted(from(least, count), sought);
                    let (m, c) = (i128::try_from(m).unwrap(), i128::try_from(c).unwrap());
                    for x in least..=least + count {
                        let expected = (a * x + b).div_euclid(d);
                        assert_eq!(
                            (m * i128::from(x) + c) >> s,
                            expected.into(),
                            "({a} {x} + {b}) / {d}, {sought}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_power_of_two_takes_as_many_bits_as_it_has() {
    for k in 1..=40 {
        for least in [0, -1_i64 << 50] {
            let count = 1 << 51;
            let floor = line(1, 0, 1 << k).shifted(from(least, count), true);
            assert_eq!(floor, Shifted { m: 1.into(), c: BigInt::ZERO, s: k });
        }
    }
}

/// The nearest multiple of a float just above a tenth: ties of a tenth go away from 0.
#[test]
fn ties_that_floats_just_miss_take_few_bits() {
    let Line { a, b, d } = Ratio::times(Real::of_float(0.1).unwrap()).line(Rounding::Nearest);
    for range in [from(-6_553_600, 2 * 6_553_600), from(0, 6_553_600), from(-99, 98)] {
        let line = Line { a: a.clone(), b: b.clone(), d: d.clone() };
        assert!(line.shifted(range, true).s < 30);
    }
}

#[test]
fn what_floats_mean_is_what_they_hold() {
    let tenth = Real::of_float(0.1).unwrap();
    // 0.1 is above a tenth, so that half a step's multiples go up, and -0.1 below.
    assert_eq!(Ratio::times(tenth).of(5, Rounding::Nearest), 1.into());
    assert_eq!(Ratio::times(tenth).of(-5, Rounding::Nearest), (-1).into());
    assert_eq!(Ratio::over(Real::new(10, 0).unwrap()).of(-5, Rounding::Nearest), 0.into());
    assert_eq!(Ratio::over(tenth).of(1, Rounding::Nearest), 10.into());
    assert_eq!(Ratio::over(tenth).of(1, Rounding::Floor), 9.into());
    assert_eq!(Ratio::over(Real::new(-2, 0).unwrap()).of(3, Rounding::Nearest), (-1).into());
}

#[test]
fn the_range_of_a_weighed_sum_is_that_of_its_worst_line() {
    let number = |x: f64| Real::of_float(x).unwrap();
    let matrix = |shape: &[usize], numbers: &[f64]| {
        Reals::new(shape.to_vec(), numbers.iter().copied().map(number).collect()).unwrap()
    };
    let x = Range::new(-3, 10).unwrap();
    let numbers = [0.5, -1.0, 0.25, 2.0, 0.0, -0.25];
    let range = |shape: &[usize], left| weighed(&matrix(shape, &numbers), left, x);
    // Columns (0.5, 0.25, 0), (-1, 2, -0.25).
    assert_eq!(range(&[3, 2], false), Range::new(-18, 24).unwrap());
    // Rows (0.5, -1), (0.25, 2), (0, -0.25).
    assert_eq!(range(&[3, 2], true), Range::new(-11, 23).unwrap());
    assert_eq!(range(&[6], false), range(&[6], true));
    assert_eq!(range(&[1, 3, 2], false), range(&[3, 2], false));
}
