//! AES as whole circuits.

use crate::arith::Style;
use crate::{Builder, Circuit, Wire};

use super::{BLOCK_BYTES, Variant};

/// Key and block to the encrypted block.
pub fn encrypt(style: Style, variant: Variant) -> Circuit {
    two_strings(variant.key_bytes(), |b, key, block| super::encrypt(b, style, variant, key, block))
}

/// Key and block to the decrypted block.
pub fn decrypt(style: Style, variant: Variant) -> Circuit {
    two_strings(variant.key_bytes(), |b, key, block| super::decrypt(b, style, variant, key, block))
}

/// Key to all round keys.
pub fn key_schedule(style: Style, variant: Variant) -> Circuit {
    let mut b = Builder::new();
    let key = b.input(8 * variant.key_bytes() as u32);
    let round_keys = super::key_schedule(&mut b, style, variant, &key);
    b.finish(vec![round_keys])
}

/// All round keys and block to the encrypted block.
pub fn encrypt_expanded(style: Style, variant: Variant) -> Circuit {
    two_strings(variant.schedule_bytes(), |b, keys, block| {
        super::encrypt_expanded(b, style, variant, keys, block)
    })
}

/// All round keys and block to the decrypted block.
pub fn decrypt_expanded(style: Style, variant: Variant) -> Circuit {
    two_strings(variant.schedule_bytes(), |b, keys, block| {
        super::decrypt_expanded(b, style, variant, keys, block)
    })
}

fn two_strings(
    key_bytes: usize,
    operation: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Circuit {
    let mut b = Builder::new();
    let (key, block) = (b.input(8 * key_bytes as u32), b.input(8 * BLOCK_BYTES as u32));
    let block = operation(&mut b, &key, &block);
    b.finish(vec![block])
}
