# SPDX-License-Identifier: Apache-2.0
"""A server that speaks TLS itself, with certificates that the openssl command makes.

    a = Certificate("a.example")                     # files: a.certificate, a.key; a.pair is what tls.certificates wants
    server = SecureServer([a]).start()
    over = server.over_tls(name="a.example")         # can be asked like a Server; Buyer(over) buys over TLS
    over.request("GET", "/livez")
"""
import os
import shutil
import socket
import ssl
import subprocess

from kit.harness import PATIENCE_S, Connection, Server, eventually, spare_port, temp_folder


class Authority:
    """A root and an intermediate, as public authorities have them: a Certificate of theirs has a whole chain. The root is in `root`."""

    def __init__(self, folder=None):
        self.folder = folder or temp_folder()
        self.root, self.signer, self.signer_key = (os.path.join(self.folder, name) for name in ("root.pem", "signer.pem", "signer.key"))
        root_key, request = (os.path.join(self.folder, name) for name in ("root.key", "signer.csr"))
        new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384", "-nodes"]
        openssl(*new, "-x509", "-keyout", root_key, "-out", self.root, "-days", "3650", "-subj", "/O=Test/CN=Test root",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        openssl(*new, "-keyout", self.signer_key, "-out", request, "-subj", "/O=Test/CN=Test signer")
        self.sign(request, self.signer, 1800, self.root, root_key, "basicConstraints=critical,CA:TRUE,pathlen:0",
                  "keyUsage=critical,keyCertSign,cRLSign")

    def sign(self, request, out, days, signer, signer_key, *extensions):
        lines = os.path.join(self.folder, "extensions")
        with open(lines, "w") as file:
            file.write("\n".join((*extensions, "subjectKeyIdentifier=hash", "authorityKeyIdentifier=keyid")))
        openssl("x509", "-req", "-in", request, "-out", out, "-days", str(days), "-CA", signer, "-CAkey", signer_key, "-extfile", lines,
                "-set_serial", f"0x7{os.urandom(15).hex()}")

    def certify(self, request, out, days, names):
        """The certificate with its chain."""
        self.sign(request, out, days, self.signer, self.signer_key, "basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                  "extendedKeyUsage=serverAuth", f"subjectAltName={names}", "crlDistributionPoints=URI:http://crl.example/signer.crl")
        with open(out, "ab") as chain, open(self.signer, "rb") as signer:
            chain.write(signer.read())


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


class Certificate:
    """Self-signed, on an elliptic curve. Written into `folder` under the first of its names; `rsa`: with an RSA key. `authority`: signed by
    it, not by itself."""

    def __init__(self, *names, days=90, folder=None, rsa=False, authority=None):
        self.names, self.folder, self.authority = names, folder or temp_folder(), authority
        self.certificate, self.key = (os.path.join(self.folder, f"{names[0]}.{end}") for end in ("pem", "key"))
        self.write(days, rsa)

    @property
    def pair(self):
        return f"{self.certificate}:{self.key}"

    def write(self, days=90, rsa=False):
        """New files in the place of the old ones, each by a rename, as clients of certificate authorities do it."""
        kind = ["rsa:2048"] if rsa else ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        fresh = {path: f"{path}.new" for path in (self.certificate, self.key)}
        names = ",".join(f"DNS:{name}" for name in self.names)
        new = ["req", "-newkey", *kind, "-nodes", "-keyout", fresh[self.key], "-subj", f"/CN={self.names[0]}"]
        if self.authority is None:
            openssl(*new, "-x509", "-out", fresh[self.certificate], "-days", str(days), "-addext", f"subjectAltName={names}")
        else:
            openssl(*new, "-out", f"{self.certificate}.csr")
            self.authority.certify(f"{self.certificate}.csr", fresh[self.certificate], days, names)
        os.chmod(fresh[self.key], 0o640)
        for path, new in fresh.items():
            os.rename(new, path)

    def bytes(self):
        """As a peer sees it."""
        with open(self.certificate) as file:
            return ssl.PEM_cert_to_DER_cert(file.read())

    def copy_to(self, other):
        for mine, theirs in ((self.certificate, other.certificate), (self.key, other.key)):
            shutil.copy(mine, f"{theirs}.new")
            os.rename(f"{theirs}.new", theirs)


def client_context(version=None, protocols=("http/1.1",)):
    """A client that looks at no certificate: the tests do. version: this one only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if version is not None:
        context.minimum_version = context.maximum_version = version
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


class OverTls:
    """What a client sees of a SecureServer when it comes with TLS."""

    def __init__(self, server, context=None, name="a.example", session=None):
        self.server, self.context, self.name, self.session = server, context or client_context(), name, session
        self.port, self.push_port, self.host = server.port, server.tls_port, server.host

    def __getattr__(self, what):
        return getattr(self.server, what)

    def wrapped(self, plain):
        return self.context.wrap_socket(plain, server_hostname=self.name, session=self.session)

    def connect(self, timeout_s=PATIENCE_S, source=None, first=b""):
        """first: bytes before TLS."""
        connection = Connection(self.server.tls_port, timeout_s, source=source)
        try:
            connection.send(first)
            connection.socket = self.wrapped(connection.socket)
        except BaseException:
            connection.close()
            raise
        return connection

    request, get = Server.request, Server.get


class SecureServer(Server):
    def __init__(self, certificates, settings=None, **more):
        self.tls_port = spare_port()
        super().__init__({"tls.port": self.tls_port, "tls.certificates": ", ".join(one.pair for one in certificates),
                          "tls.handshakes_per_s": 0, "tls.handshakes_per_address": 0, **(settings or {})}, **more)

    def over_tls(self, **how):
        return OverTls(self, **how)

    def shown(self, name="a.example"):
        """The certificate that a new client gets."""
        with self.over_tls(name=name).connect() as connection:
            return connection.socket.getpeercert(binary_form=True)

    def shows(self, certificate, name="a.example"):
        eventually(lambda: self.shown(name) == certificate.bytes(), "the new certificate is not used", every_s=0.2)

    def handshakes(self, result):
        return self.metrics().get(f'stampede_tls_handshakes_total{{result="{result}"}}', 0)

    def alarm(self, name):
        """Its detail while it is up, else None."""
        found = [one for one in self.admin_ok("GET", "/alarms", role="viewer")["alarms"] if one["name"] == name]
        return found[0]["detail"] if found and found[0]["up"] else None


def refused(over, **how):
    """True if the server ends the handshake."""
    try:
        over.connect(**how).close()
    except (ssl.SSLError, ConnectionError, socket.timeout, OSError):
        return True
    return False
