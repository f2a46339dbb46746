"""A key service: it hands out session keys, and no server of it ever knows one.

Each of a thousand principals shares a long-term key with the service, as with Kerberos. The keys lie with
three servers as shares, in one table. A principal asks for a session key for a mail server, say. Under MPC
the servers draw one together and wrap it twice: under the principal's long-term key, and under the mail
server's. All that leaves is the two wrapped keys. The table names the one plan that may read it; whatever
else is to be computed on it is refused, by every server.

One plan serves everybody: each request says which two rows of the table it reads. Who may ask for whom is
policy: here a table of a few lines, which this one program looks at before it asks, since all three servers
run in it. In a deployment each server has to look by itself, as those of `tacit-kdc` do.

Wrapping is by SHA-256 of the long-term key and the request's number: a key stream of one block for each
number, which never comes twice.
"""

import hashlib
import secrets
import sys

import numpy as np
import tacit

PRINCIPALS = 1000
SERVERS = ["P0", "P1", "P2"]
ANN, BEN, MAIL, FILES = 17, 42, 900, 901
MAY = {ANN: {MAIL, FILES}, BEN: {MAIL}}
KEY = {"shape": (128,), "dtype": tacit.bool_}
TABLE = {"shape": (PRINCIPALS, 128), "dtype": tacit.bool_}


@tacit.function
def issue(keys, number, shares):
    session = shares[0] ^ shares[1] ^ shares[2]
    stream = [tacit.crypto.sha256(np.concatenate([key, number]))[:128] for key in (keys[0], keys[1])]
    return [tacit.reveal(session ^ own, to="principal") for own in stream]


@tacit.function
def enrol(shares):
    # No server knows a key: each is the exclusive or of what all of them draw.
    tacit.keep(shares[0] ^ shares[1] ^ shares[2], "keys", readers=[ISSUE], learners=["principal"])


@tacit.function
def steal(keys):
    return tacit.reveal(keys[0], to="principal")


ISSUE = issue.trace(
    tacit.kept("keys", shape=(2, 128), dtype=tacit.bool_),
    tacit.secret("principal", **KEY),
    [tacit.secret(server, **KEY) for server in SERVERS],
)
ENROL = enrol.trace([tacit.secret(server, **TABLE) for server in SERVERS])
STEAL = steal.trace(tacit.kept("keys", shape=(2, 128), dtype=tacit.bool_))


def request(run, principal, service, number):
    """The session key, wrapped for the principal and for the service."""
    if service not in MAY.get(principal, set()):
        raise PermissionError(f"principal {principal} may not ask for {service}")
    drawn = {server: tacit.bits(secrets.token_bytes(16)) for server in SERVERS}
    rows = {"keys": f"keys@1[{principal},{service}]"}
    wrapped = run(ISSUE, kept=rows, principal=tacit.bits(number), **drawn)
    return [tacit.bytes_of(key).tobytes() for key in wrapped]


def unwrap(key, number, wrapped):
    """What its owner does with a long-term key of its own."""
    stream = hashlib.sha256(key + number).digest()
    return bytes(one ^ other for one, other in zip(wrapped, stream, strict=False))


if __name__ == "__main__":
    # What each server draws at enrolment. Only here, all on one machine, does anybody see all three.
    drawn = {server: tacit.bits(secrets.token_bytes(16 * PRINCIPALS)).reshape(-1, 128) for server in SERVERS}
    keys = [tacit.bytes_of(row).tobytes() for row in drawn["P0"] ^ drawn["P1"] ^ drawn["P2"]]
    with tacit.local() as run:
        run(ENROL, **drawn)
        for principal, service in [(ANN, MAIL), (ANN, FILES), (BEN, MAIL)]:
            number = secrets.token_bytes(16)
            reply, ticket = request(run, principal, service, number)
            session = unwrap(keys[principal], number, reply)
            if session != unwrap(keys[service], number, ticket):
                sys.exit(f"{principal} and {service} have different keys")
            print(f"principal {principal} and service {service} share a key that no server knows")
        try:
            request(run, BEN, FILES, secrets.token_bytes(16))
        except PermissionError as error:
            print(error)
        else:
            sys.exit("the policy was not kept to")
        try:
            run(STEAL, kept={"keys": f"keys@1[{ANN},{BEN}]"})
        except tacit.TacitError as error:
            print(f"refused by every server: {error}")
        else:
            sys.exit("a key was revealed")
