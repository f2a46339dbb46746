"""Ciphers and hash functions on bits that are secret, such as those of keys that exist nowhere.

Keys, blocks, messages and digests are arrays of bools whose last axis is the bits of their bytes, in the
order of `tacit.bits`: byte `i` of what a standard writes is in bits `8 * i` to `8 * i + 7`, the least
significant first. The other axes broadcast as NumPy's do. Secret arguments make secret results inside a
traced function, public ones are computed with in the clear.

    @tacit.function
    def encrypt(key, blocks):
        return tacit.reveal(tacit.crypto.aes128(key, blocks))

    plan = encrypt.trace(
        tacit.secret("alice", shape=(128,), dtype=tacit.bool_),
        tacit.secret("bob", shape=(1000, 128), dtype=tacit.bool_),
    )

Functions come with the fewest ANDs, which is what a fast network wants. `low_depth=True` has more ANDs in
fewer rounds, for few blocks over a slow network.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

from tacit import _native
from tacit._circuit import Circuit
from tacit._circuit import bits as _bits
from tacit._functions import array_of, shape
from tacit._location import fault
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from tacit._native import _Hash, _Step

__all__ = [
    "aes128",
    "aes128_ctr",
    "aes128_decrypt",
    "aes192",
    "aes192_ctr",
    "aes192_decrypt",
    "aes256",
    "aes256_ctr",
    "aes256_decrypt",
    "hmac_sha256",
    "sha1",
    "sha3_256",
    "sha256",
    "sha512",
]

BLOCK = 128
"""Bits of a block of AES."""

MAX_MESSAGE = 4096
"""Bytes that a message may have: a hash function's circuit is made for the whole of it."""
MAX_BLOCKS = 1 << 24
"""Blocks that a key stream may have: counter blocks are made of all of them before anything runs."""


def aes128(key: Any, block: Any, *, low_depth: bool = False) -> Any:
    """AES-128 (FIPS 197): encrypted blocks.

    Args:
        key: Bits of shape (..., 128).
        block: Bits of shape (..., 128).
        low_depth: Fewer rounds for more ANDs.

    Returns:
        Bits of shape (..., 128), the other axes broadcast.

    Cost:
        6,400 ANDs a block and 60 rounds, if every block has a key of its own. Of a key for many blocks the
        schedule is computed once, in 1,280 ANDs and 60 rounds; then a block has 5,120 ANDs, in 60 more. With
        `low_depth` 6,800, 1,360 and 5,440 ANDs, and 40 rounds for 60.

    Raises:
        ProgramError: The shapes don't suit AES-128 or one another.
    """
    return _aes(128, "encrypt", key, block, low_depth)


def aes128_decrypt(key: Any, block: Any, *, low_depth: bool = False) -> Any:
    """AES-128 (FIPS 197): decrypted blocks. As `aes128`, with 120 (80) rounds for a key and its blocks."""
    return _aes(128, "decrypt", key, block, low_depth)


def aes128_ctr(key: Any, counter: bytes, blocks: int, *, low_depth: bool = False) -> Any:
    """The key stream of AES-128 in counter mode (NIST SP 800-38A): add it to a message with `^`.

    Args:
        key: Bits of shape (..., 128).
        counter: The first counter block, 16 bytes that everybody knows; the next ones are it plus 1, 2, ...
            as big-endian numbers modulo 2**128, as of `openssl enc -aes-128-ctr -iv`. Never use a counter
            block twice with one key.
        blocks: How many blocks there are, up to 2**24.
        low_depth: Fewer rounds for more ANDs.

    Returns:
        Bits of shape (..., blocks, 128).

    Cost:
        That of `aes128`, of one key for many blocks.

    Example:
        stream = tacit.crypto.aes128_ctr(key, bytes(16), 4).reshape(512)
        encrypted = message ^ stream[:len(message)]

    Raises:
        ProgramError: The key or the counter block has another length, or there are no blocks or
            too many.
    """
    return _ctr(128, key, counter, blocks, low_depth)


def aes192(key: Any, block: Any, *, low_depth: bool = False) -> Any:
    """AES-192: as `aes128` with a key of 192 bits, and 7,168 ANDs in 72 rounds for a block and its key."""
    return _aes(192, "encrypt", key, block, low_depth)


def aes192_decrypt(key: Any, block: Any, *, low_depth: bool = False) -> Any:
    """AES-192: as `aes128_decrypt` with a key of 192 bits."""
    return _aes(192, "decrypt", key, block, low_depth)


def aes192_ctr(key: Any, counter: bytes, blocks: int, *, low_depth: bool = False) -> Any:
    """The key stream of AES-192: as `aes128_ctr` with a key of 192 bits."""
    return _ctr(192, key, counter, blocks, low_depth)


def aes256(key: Any, block: Any, *, low_depth: bool = False) -> Any:
    """AES-256: as `aes128` with a key of 256 bits, and 8,832 ANDs in 84 rounds for a block and its key."""
    return _aes(256, "encrypt", key, block, low_depth)


def aes256_decrypt(key: Any, block: Any, *, low_depth: bool = False) -> Any:
    """AES-256: as `aes128_decrypt` with a key of 256 bits."""
    return _aes(256, "decrypt", key, block, low_depth)


def aes256_ctr(key: Any, counter: bytes, blocks: int, *, low_depth: bool = False) -> Any:
    """The key stream of AES-256: as `aes128_ctr` with a key of 256 bits."""
    return _ctr(256, key, counter, blocks, low_depth)


def sha256(message: Any, *, low_depth: bool = False) -> Any:
    """SHA-256 (FIPS 180-4).

    Args:
        message: Bits of shape (..., 8 * n), with n from 1 to 4096 bytes.
        low_depth: Fewer rounds for about twice the ANDs.

    Returns:
        The digest's bits, of shape (..., 256).

    Cost:
        About 22,000 ANDs and 1,600 rounds for every 64 bytes; with `low_depth` 48,000 and 460.

    Raises:
        ProgramError: The message hasn't whole bytes, or too many.
    """
    return _sha("sha256", _message_bytes("sha256", message), low_depth)(message)


def sha1(message: Any, *, low_depth: bool = False) -> Any:
    """SHA-1 (FIPS 180-4), for old protocols: collisions are known. As `sha256`, with digests of 160 bits.

    Cost:
        About 11,000 ANDs and 2,200 rounds for every 64 bytes; with `low_depth` 20,000 and 490.
    """
    return _sha("sha1", _message_bytes("sha1", message), low_depth)(message)


def sha512(message: Any, *, low_depth: bool = False) -> Any:
    """SHA-512 (FIPS 180-4). As `sha256`, with digests of 512 bits.

    Cost:
        About 58,000 ANDs and 3,300 rounds for every 128 bytes; with `low_depth` 133,000 and 650.
    """
    return _sha("sha512", _message_bytes("sha512", message), low_depth)(message)


def sha3_256(message: Any) -> Any:
    """SHA3-256 (FIPS 202), shallow by nature. As `sha256`, with digests of 256 bits.

    Cost:
        38,400 ANDs and 24 rounds for every 136 bytes.
    """
    return _sha3(_message_bytes("sha3_256", message))(message)


def hmac_sha256(key: Any, message: Any, *, low_depth: bool = False) -> Any:
    """HMAC with SHA-256 (RFC 2104).

    Args:
        key: Bits of shape (..., 8 * k), with k from 1 to 4096 bytes.
        message: Bits of shape (..., 8 * n), with n from 1 to 4096 bytes.
        low_depth: Fewer rounds for about twice the ANDs.

    Returns:
        The code's bits, of shape (..., 256), the other axes broadcast.

    Cost:
        That of `sha256` for the message and three blocks more.

    Raises:
        ProgramError: The key or the message hasn't whole bytes, or too many.
    """
    lengths = (_message_bytes("hmac_sha256", value) for value in (key, message))
    return _hmac("sha256", *lengths, low_depth)(key, message)


def _aes(key_bits: int, step: _Step, key: Any, block: Any, low_depth: bool) -> Any:
    """Blocks, each under its key."""
    keys, blocks = (
        _batch(f"aes{key_bits}", "key", key, key_bits),
        _batch(f"aes{key_bits}", "block", block, BLOCK),
    )
    if math.prod(keys) >= math.prod(_broadcast(keys, blocks)):
        return _aes_circuit(key_bits, step, low_depth)(key, block)
    expanded: _Step = "encrypt-expanded" if step == "encrypt" else "decrypt-expanded"
    schedule = _aes_circuit(key_bits, "schedule", low_depth)(key)
    return _aes_circuit(key_bits, expanded, low_depth)(schedule, block)


def _ctr(key_bits: int, key: Any, counter: bytes, blocks: int, low_depth: bool) -> Any:
    """A key stream."""
    import numpy as np

    name = f"aes{key_bits}_ctr"
    if not isinstance(counter, bytes) or len(counter) != BLOCK // 8:
        given = f"of {len(counter)}" if isinstance(counter, bytes) else repr(counter)
        raise fault(ProgramError, f"{name} takes a counter block of 16 bytes, not {given}")
    if type(blocks) is not int or not 1 <= blocks <= MAX_BLOCKS:
        raise fault(ProgramError, f"{name} takes a number of blocks from 1 to {MAX_BLOCKS}, not {blocks!r}")
    _batch(name, "key", key, key_bits)
    first = int.from_bytes(counter, "big")
    counters = b"".join(((first + i) % (1 << BLOCK)).to_bytes(BLOCK // 8, "big") for i in range(blocks))
    public = _bits(np.frombuffer(counters, np.uint8).reshape(blocks, BLOCK // 8))
    # An axis for the blocks; of a public key, too.
    key = array_of(key)[..., None, :]
    return _aes(key_bits, "encrypt", key, public, low_depth)


@functools.lru_cache(maxsize=32)
def _aes_circuit(key_bits: int, step: _Step, low_depth: bool) -> Circuit:
    return Circuit(_native.Circuit.aes(key_bits, step, low_depth))


@functools.lru_cache(maxsize=8)
def _sha(name: _Hash, message_bytes: int, low_depth: bool) -> Circuit:
    return Circuit(_native.Circuit.sha(name, message_bytes, low_depth))


@functools.lru_cache(maxsize=8)
def _sha3(message_bytes: int) -> Circuit:
    return Circuit(_native.Circuit.sha3_256(message_bytes))


@functools.lru_cache(maxsize=8)
def _hmac(name: _Hash, key_bytes: int, message_bytes: int, low_depth: bool) -> Circuit:
    return Circuit(_native.Circuit.hmac(name, key_bytes, message_bytes, low_depth))


def _batch(name: str, what: str, value: Any, bits: int) -> tuple[int, ...]:
    """The lengths of all axes but the last, which is the bits."""
    lengths = shape(value)
    if not lengths or lengths[-1] != bits:
        raise fault(
            ProgramError,
            f"{name} takes a {what} of {bits} bits along the last axis; its shape is {lengths}",
            "tacit.bits(...) makes bits of bytes",
        )
    return lengths[:-1]


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of both together; what doesn't go together is the circuit's to refuse."""
    rank = max(len(one), len(other))
    padded = ((1,) * (rank - len(lengths)) + lengths for lengths in (one, other))
    return tuple(max(pair) for pair in zip(*padded, strict=True))


def _message_bytes(name: str, message: Any) -> int:
    """How many bytes a message has."""
    lengths = shape(message)
    bits = lengths[-1] if lengths else 0
    if bits % 8 or not 1 <= bits // 8 <= MAX_MESSAGE:
        raise fault(
            ProgramError,
            f"{name} takes 1 to {MAX_MESSAGE} whole bytes, as bits along an axis; the shape is {lengths}",
            "tacit.bits(...) makes bits of bytes",
        )
    return bits // 8
