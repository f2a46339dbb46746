//! Elements that are expanded again, instead of being kept.

use tacit_session::{Draw, PrssStream};

#[test]
fn what_is_expanded_again_is_what_was_drawn_from_any_block_on() {
    const DRAW: Draw = Draw { part: 3, op: 5 };
    let mut stream = PrssStream::new(&[7; 16], 0);
    let (mut drawn, mut again) = (vec![0_u32; 1000], vec![0_u32; 900]);
    stream.fill_elements(DRAW, 2, &mut drawn);
    let before = stream.drawn();
    // Four elements of a block.
    stream.refill(DRAW, 2 + 25, &mut again);
    assert_eq!(again, drawn[100..]);
    assert!(stream.drawn() > before, "it counts, so that parties who disagree notice");
}
