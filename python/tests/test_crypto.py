"""Ciphers and hash functions on shares: known answers, broadcasting, cost."""

from __future__ import annotations

import hashlib
import hmac
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import crypto
from tests.support import computed, same

EXAMPLE = Path(__file__).parents[2] / "examples" / "shared_key_aes.py"


def of(text: str) -> Any:
    return tacit.bits(bytes.fromhex(text))


def hexed(bits: Any) -> str:
    return tacit.bytes_of(bits).tobytes().hex()


def on_shares(function: Any, *arrays: Any) -> Any:
    return computed(function, *arrays, dtype=tacit.bool_)


# FIPS 197, appendix C.
BLOCK = "00112233445566778899aabbccddeeff"
AES = [
    (crypto.aes128, crypto.aes128_decrypt, 16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    (crypto.aes192, crypto.aes192_decrypt, 24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (crypto.aes256, crypto.aes256_decrypt, 32, "8ea2b7ca516745bfeafc49904b496089"),
]


@pytest.mark.parametrize("low_depth", [False, True])
@pytest.mark.parametrize(("encrypt", "decrypt", "length", "expected"), AES)
def test_aes_is_the_standard_s(
    encrypt: Any, decrypt: Any, length: int, expected: str, low_depth: bool
) -> None:
    key = tacit.bits(bytes(range(length)))
    assert hexed(encrypt(key, of(BLOCK), low_depth=low_depth)) == expected
    encrypted = on_shares(lambda key, block: encrypt(key, block, low_depth=low_depth), key, of(BLOCK))
    assert hexed(encrypted) == expected
    decrypted = on_shares(lambda key, block: decrypt(key, block, low_depth=low_depth), key, encrypted)
    assert hexed(decrypted) == BLOCK


def test_aes_broadcasts_and_a_key_for_many_blocks_is_expanded_once() -> None:
    random = np.random.default_rng(2)
    keys = tacit.bits(random.integers(0, 256, (2, 1, 16), dtype=np.uint8))
    blocks = tacit.bits(random.integers(0, 256, (3, 16), dtype=np.uint8))
    alone = np.stack([[crypto.aes128(key[0], block) for block in blocks] for key in keys])
    same(crypto.aes128(keys, blocks), alone)
    same(on_shares(crypto.aes128, keys, blocks), alone)
    same(on_shares(crypto.aes128, keys[0, 0], blocks), alone[0])
    same(on_shares(crypto.aes128, keys[:, 0], blocks[0]), alone[:, 0])
    same(on_shares(crypto.aes128_decrypt, keys[0, 0], alone[0]), blocks)
    # One of the two is public.
    same(on_shares(lambda key: crypto.aes128(key, blocks), keys), alone)
    same(on_shares(lambda block: crypto.aes128(keys, block), blocks), alone)


def bits(owner: str, *shape: int) -> tacit.Secret:
    return tacit.secret(owner, shape=shape, dtype=tacit.bool_)


@pytest.mark.parametrize(
    ("keys", "low_depth", "ands", "rounds"),
    [
        ((8, 3, 128), False, 24 * 6400, 60),
        ((8, 1, 128), False, 8 * 1280 + 24 * 5120, 120),
        ((8, 1, 128), True, 8 * 1360 + 24 * 5440, 80),
    ],
)
def test_aes_costs_a_bit_for_each_and(keys: tuple[int, ...], low_depth: bool, ands: int, rounds: int) -> None:
    @tacit.function
    def encrypt(key: Any, block: Any) -> Any:
        return tacit.reveal(crypto.aes128(key, block, low_depth=low_depth))

    plan = encrypt.trace(bits("P0", *keys), bits("P1", 3, 128))
    cost = plan.cost().protocols["replicated"].phases["online"]
    assert cost == (rounds, dict.fromkeys(["P0", "P1", "P2"], ands // 8))
    key, block = np.zeros(keys, bool), np.zeros((3, 128), bool)
    with tacit.local() as run:
        same(run(plan, P0=[key], P1=[block]), crypto.aes128(key, block, low_depth=low_depth))
    assert run.report is not None
    assert run.report.phases["online"] == cost[1]
    assert run.report.rounds == rounds


def test_more_blocks_than_are_under_way_at_a_time() -> None:
    keys, blocks = np.random.default_rng(3).integers(0, 256, (2, 20_001, 16), dtype=np.uint8)
    expected = crypto.aes128(tacit.bits(keys), tacit.bits(blocks))
    same(on_shares(crypto.aes128, tacit.bits(keys), tacit.bits(blocks)), expected)


# NIST SP 800-38A, appendix F.5: key, and the encryptions of the same four blocks.
COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
MESSAGE = (
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CTR = [
    (
        crypto.aes128_ctr,
        "2b7e151628aed2a6abf7158809cf4f3c",
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
        "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
    ),
    (
        crypto.aes192_ctr,
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
        "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
    ),
    (
        crypto.aes256_ctr,
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
        "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
    ),
]


@pytest.mark.parametrize(("ctr", "key", "expected"), CTR)
def test_counter_mode_is_the_standard_s(ctr: Any, key: str, expected: str) -> None:
    stream = on_shares(lambda key: ctr(key, COUNTER, 4), of(key))
    assert stream.shape == (4, 128)
    assert hexed(stream.reshape(-1) ^ of(MESSAGE)) == expected
    same(ctr(of(key), COUNTER, 4), stream)
    same(ctr(np.stack([of(key)] * 2), COUNTER, 4), np.stack([stream] * 2))


def test_counters_wrap_around() -> None:
    key = of(BLOCK)
    stream = crypto.aes128_ctr(key, b"\xff" * 16, 2)
    same(stream[0], crypto.aes128(key, of("ff" * 16)))
    same(stream[1], crypto.aes128(key, of("00" * 16)))


HASHES = [
    # FIPS 180-4's "abc", and FIPS 202's.
    (crypto.sha1, "sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (crypto.sha256, "sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        crypto.sha512,
        "sha512",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    (crypto.sha3_256, "sha3_256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
]


@pytest.mark.parametrize(("function", "name", "abc"), HASHES)
def test_hashes_are_the_standards(function: Any, name: str, abc: str) -> None:
    assert hexed(function(tacit.bits(b"abc"))) == abc
    assert hexed(on_shares(function, tacit.bits(b"abc"))) == abc
    # Around a block's end, where the padding takes another block.
    for length in (1, 55, 56, 64, 111, 112, 135, 136, 137):
        message = bytes(range(length))
        assert hexed(function(tacit.bits(message))) == hashlib.new(name, message).hexdigest()
    many = np.random.default_rng(4).integers(0, 256, (65, 10), dtype=np.uint8)
    digests = on_shares(function, tacit.bits(many))
    assert [hexed(digest) for digest in digests] == [hashlib.new(name, row).hexdigest() for row in many]


def test_a_shallow_hash_is_the_same() -> None:
    shallow = on_shares(lambda message: crypto.sha256(message, low_depth=True), tacit.bits(b"abc"))
    assert hexed(shallow) == HASHES[1][2]


# RFC 4231, test cases 1, 2 and 6: the last key is longer than a block.
HMAC = [
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
]


@pytest.mark.parametrize(("key", "message", "expected"), HMAC)
def test_hmac_is_the_standard_s(key: bytes, message: bytes, expected: str) -> None:
    assert hexed(crypto.hmac_sha256(tacit.bits(key), tacit.bits(message))) == expected
    assert hexed(on_shares(crypto.hmac_sha256, tacit.bits(key), tacit.bits(message))) == expected
    assert hmac.new(key, message, "sha256").hexdigest() == expected


def test_one_key_authenticates_many_messages() -> None:
    messages = [b"first", b"other"]
    codes = on_shares(crypto.hmac_sha256, tacit.bits(b"key"), np.stack([tacit.bits(one) for one in messages]))
    assert [hexed(code) for code in codes] == [
        hmac.new(b"key", one, "sha256").hexdigest() for one in messages
    ]


WRONG: list[tuple[Any, str]] = [
    (lambda x: crypto.aes128(x[:127], x), "aes128 takes a key of 128 bits"),
    (lambda x: crypto.aes128(x, x[:127]), "aes128 takes a block of 128 bits"),
    (lambda x: crypto.aes256(x, x), "aes256 takes a key of 256 bits"),
    (lambda x: crypto.aes128_ctr(x[:127], bytes(16), 1), "aes128_ctr takes a key of 128 bits"),
    (lambda x: crypto.aes128_ctr(x, bytes(15), 1), "a counter block of 16 bytes, not of 15"),
    (lambda x: crypto.aes128_ctr(x, bytes(16), 0), "blocks from 1 to 16777216, not 0"),
    (lambda x: crypto.aes128_ctr(x, bytes(16), -1), "blocks from 1 to 16777216, not -1"),
    (lambda x: crypto.aes128_ctr(x, bytes(16), 1 << 100), "blocks from 1 to 16777216, not 126765"),
    (lambda x: crypto.sha256(x[:127]), "whole bytes"),
    (lambda x: crypto.sha3_256(x.sum()), "whole bytes"),
    (lambda x: crypto.hmac_sha256(x, x[:127]), "whole bytes"),
    (lambda x: crypto.sha512(tacit.concatenate([x] * 257)), "1 to 4096 whole bytes"),
]


@pytest.mark.parametrize(("wrong", "says"), WRONG)
def test_errors_say_what_is_taken_and_where(wrong: Any, says: str) -> None:
    with pytest.raises(tacit.ProgramError, match=says) as found:
        tacit.function(lambda x: tacit.reveal(wrong(x))).trace(bits("alice", 128))
    assert Path(found.value.file).name == "test_crypto.py"
    assert found.value.text.startswith("crypto.")


def test_openssl_decrypts_what_a_shared_key_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "letter.txt"
    # No whole number of blocks.
    file.write_bytes(bytes(range(256)) * 5 + b"the end")
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(file)])
    known = runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "letter.txt.aes is written" in capsys.readouterr().out
    shares = (known["north_share"], known["south_share"])
    key = bytes(a ^ b for a, b in zip(*shares, strict=True))
    options = ["-K", key.hex(), "-iv", known["counter"].hex(), "-in", str(tmp_path / "letter.txt.aes")]
    done = subprocess.run(
        ["openssl", "enc", "-aes-128-ctr", "-d", *options], capture_output=True, timeout=60, check=True
    )
    assert done.stdout == file.read_bytes()
    assert (tmp_path / "letter.txt.aes").read_bytes() != file.read_bytes()
