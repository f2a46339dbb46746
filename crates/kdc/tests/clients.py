"""Clients in Python that know nothing of this KDC: gssapi, requests-gssapi, pyspnego, impacket, minikerberos.

They log in with passwords and ask for tickets of a service; what is expected of each is written at its
function. The realm has ann, whose password is hashed 100,000 times, and bea, whose is hashed 4,096 times.
Both have the same password.
"""

import argparse
import functools
import os
import socket
from collections.abc import Callable

import gssapi
import requests
import requests_gssapi
import spnego
from impacket.krb5 import constants, kerberosv5
from impacket.krb5.keytab import Keytab
from impacket.krb5.types import Principal
from minikerberos.client import KerbrosClient
from minikerberos.common.creds import KerberosCredential
from minikerberos.common.spn import KerberosSPN
from minikerberos.common.target import KerberosTarget
from minikerberos.protocol.errors import KerberosError as MiniError

# Errors of RFC 4120: no password that fits, an authenticator that doesn't fit its ticket, and one without a
# checksum of the request.
PREAUTH_FAILED = 24
BAD_MATCH = 36
INAPPROPRIATE_CHECKSUM = 50


def ok(text: str) -> None:
    print(f"ok: {text}", flush=True)


def by_gssapi(args: argparse.Namespace) -> None:
    """A login by password, and a context with the service, which reads the ticket with its keytab."""
    name = gssapi.Name(f"ann@{args.realm}", gssapi.NameType.kerberos_principal)
    got = gssapi.raw.acquire_cred_with_password(name, args.password.encode(), usage="initiate")
    target = gssapi.Name(f"host/{args.host}@{args.realm}", gssapi.NameType.kerberos_principal)
    client = gssapi.SecurityContext(name=target, creds=gssapi.Credentials(got.creds), usage="initiate")
    server = gssapi.SecurityContext(
        creds=gssapi.Credentials(usage="accept", store={"keytab": args.keytab}), usage="accept"
    )
    token = client.step()
    while not (client.complete and server.complete):
        token = server.step(token)
        token = client.step(token) if token else None
    assert str(server.initiator_name) == f"ann@{args.realm}", server.initiator_name
    assert server.unwrap(client.wrap(b"secret", encrypt=True).message).message == b"secret"
    ok("gssapi: login by password, and a sealed message to the service")


def by_requests(args: argparse.Namespace) -> None:
    """A web page, with the ticket in the cache; mutual authentication is required."""
    auth = requests_gssapi.HTTPSPNEGOAuth(mutual_authentication=requests_gssapi.REQUIRED)
    assert requests.get(args.url, timeout=120).status_code == 401
    page = requests.get(args.url, auth=auth, timeout=120)
    assert (page.status_code, page.text) == (200, "let in\n")
    ok("requests-gssapi: the page of Apache with mod_auth_gssapi")


def by_pyspnego(args: argparse.Namespace) -> None:
    """A login by password, and a context with the service: both sides are pyspnego's."""
    client = spnego.client(
        f"ann@{args.realm}", args.password, hostname=args.host, service="host", protocol="kerberos"
    )
    server = spnego.server(hostname=args.host, service="host", protocol="kerberos")
    token = client.step()
    while not (client.complete and server.complete):
        token = server.step(token)
        token = client.step(token) if token else None
    assert server.unwrap(client.wrap(b"secret").data).data == b"secret"
    assert server.client_principal == f"ann@{args.realm}", server.client_principal
    ok("pyspnego: login by password, and a sealed message to the service")


def by_impacket(args: argparse.Namespace) -> None:
    """A login by key, and by a password that is hashed as often as impacket does it.

    By password it asks for type 18 alone. Its requests for services have no checksum of what they ask for: a
    KDC that heeds RFC 4120 refuses them.
    """
    kerberosv5.sendReceive = functools.partial(kerberosv5.sendReceive, port=args.port)
    realm = args.realm

    def login(name: str, password: str = "", key: str = "") -> tuple:
        client = Principal(name, type=constants.PrincipalNameType.NT_PRINCIPAL.value)
        return kerberosv5.getKerberosTGT(
            client, password, realm, "", "", key, kdcHost="127.0.0.1", requestPAC=False
        )

    key = Keytab.loadFile(args.keytab).getKey(f"host/{args.host}@{realm}").hexlifiedValue().decode()
    tgt, cipher, _, session = login(f"host/{args.host}", key=key)
    ok("impacket: login by key")
    if args.enctype == 18:
        tgt, cipher, _, session = login("bea", args.password)
        ok("impacket: login by a password that is hashed 4,096 times")
        refused(kerberosv5.KerberosError, PREAUTH_FAILED, lambda: login("ann", args.password))
        ok("impacket: a password that is hashed more often is a wrong one (24)")
    service = Principal(f"host/{args.host}", type=constants.PrincipalNameType.NT_SRV_INST.value)
    ask = functools.partial(kerberosv5.getKerberosTGS, service, realm, "127.0.0.1", tgt, cipher, session)
    refused(kerberosv5.KerberosError, INAPPROPRIATE_CHECKSUM, ask)
    ok("impacket: a request for a service has no checksum, and is refused (50)")


def by_minikerberos(args: argparse.Namespace) -> None:
    """As impacket's."""

    def client(name: str) -> KerbrosClient:
        credential = KerberosCredential()
        credential.username, credential.domain, credential.password = name, args.realm, args.password
        return KerbrosClient(credential, KerberosTarget("127.0.0.1", port=args.port, timeout=60))

    bea = client("bea")
    bea.get_TGT(override_etype=[args.enctype], with_pac=False)
    ok("minikerberos: login by a password that is hashed 4,096 times")
    refused(
        MiniError,
        PREAUTH_FAILED,
        lambda: client("ann").get_TGT(override_etype=[args.enctype], with_pac=False),
    )
    ok("minikerberos: a password that is hashed more often is a wrong one (24)")
    service = KerberosSPN.from_spn(f"host/{args.host}@{args.realm}")
    refused(MiniError, INAPPROPRIATE_CHECKSUM, functools.partial(bea.get_TGS, service))
    # A checksum of something else and a sequence number: as long as an authenticator without a checksum, or
    # as none that is known.
    refused(
        MiniError, (BAD_MATCH, INAPPROPRIATE_CHECKSUM), functools.partial(bea.get_TGS, service, is_linux=True)
    )
    ok("minikerberos: a request for a service has no checksum, or none of it, and is refused (50 or 36)")


def refused(error: type[Exception], codes: int | tuple[int, ...], ask: Callable[[], object]) -> None:
    try:
        ask()
    except error as refusal:
        told = refusal
    else:
        raise AssertionError("it went well")
    code = told.getErrorCode() if hasattr(told, "getErrorCode") else told.errorcode.value
    assert code in (codes if isinstance(codes, tuple) else (codes,)), told


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("realm", "password", "host", "keytab", "url"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("port", "enctype"):
        parser.add_argument(f"--{name}", type=int, required=True)
    args = parser.parse_args()
    socket.setdefaulttimeout(120)
    os.environ["KRB5_KTNAME"] = args.keytab
    by_requests(args)
    by_gssapi(args)
    by_pyspnego(args)
    # These two know no type of RFC 8009.
    if args.enctype in (17, 18):
        by_impacket(args)
        by_minikerberos(args)


if __name__ == "__main__":
    main()
