"""A file is encrypted under an AES key that exists nowhere: two organisations hold a share of it each.

    python examples/shared_key_aes.py [FILE]

The key is the exclusive or of the shares, which are random numbers, so neither organisation knows anything of
it. North's file is encrypted on shares of key and file; North alone learns the result, and writes it to
FILE.aes. It is what `openssl enc -aes-128-ctr` writes, so whoever is given both shares can decrypt it without
Tacit.
"""

import secrets
import sys
from pathlib import Path

import numpy as np
import tacit

TEXT = b"Nobody can read this but both of us together.\n" * 100


@tacit.function
def encrypt(north_share, south_share, message, counter):
    blocks = -(-len(message) // 128)
    stream = tacit.crypto.aes128_ctr(north_share ^ south_share, counter, blocks)
    return tacit.reveal(message ^ stream.reshape(-1)[: len(message)], to="north")


def plan(length, counter):
    share = {"shape": (128,), "dtype": tacit.bool_}
    message = tacit.secret("north", shape=(8 * length,), dtype=tacit.bool_)
    return encrypt.trace(tacit.secret("north", **share), tacit.secret("south", **share), message, counter)


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    clear = file.read_bytes() if file else TEXT
    # Each organisation draws its own share; the counter block is public, and never used twice with one key.
    north_share, south_share = secrets.token_bytes(16), secrets.token_bytes(16)
    counter = secrets.token_bytes(16)
    message = np.frombuffer(clear, np.uint8)
    with tacit.local() as run:
        result = run(
            plan(len(message), counter),
            north=[tacit.bits(north_share), tacit.bits(message)],
            south=[tacit.bits(south_share)],
        )
    encrypted = tacit.bytes_of(result).tobytes()
    if file:
        target = file.with_name(file.name + ".aes")
        target.write_bytes(encrypted)
        print(f"{target} is written")
    print(f"{len(encrypted)} bytes under counter block {counter.hex()}")
    print(f"every server sent about {run.report.bytes['P0']:,} bytes")
    print(f"north's share of the key: {north_share.hex()}")
    print(f"south's share of the key: {south_share.hex()}")
