# SPDX-License-Identifier: Apache-2.0
"""Bar 8: TLS in the server itself.

(a) testssl.sh, the public scanner that Debian has, finds nothing to complain about, with an RSA key and with one on an elliptic curve. What
    an authority that is not public can't offer is listed with its reason (SELF_MADE); everything else from LOW on is a miss.
(b) Requests for a CPU second (user and system, from /proc) beside nginx with the same certificate and ciphers, on kept connections, in
    pairs of short slices; the median of the pairs.
(c) p99 of honest clients while others do nothing but handshakes, beside p99 without them.
(d) Certificates are replaced under load: requests that failed.
"""
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from bars import BUILD_ROOT, Ended, command_run
from kit.harness import eventually, spare_port
from kit.secure import Authority, Certificate, SecureServer

SLICE_S, PAIRS, CONNECTIONS = 2, 5, 32
HONEST_RATE, HONEST_S, FLOOD_CONNECTIONS, ROUNDS = 1000, 4, 64, 3
# What testssl.sh may say of a certificate that no public authority has signed, with the reason. Nothing else from LOW on is let through.
SELF_MADE = {
    "OCSP_stapling": "the bar's authority has no OCSP responder, and the server staples none (decision 0057)",
    "certificate_transparency": "public logs take certificates of public authorities only",
    "DNS_CAArecord": "a.example is in no name server",
}
# WARN says that the scanner could not look. These are its own doing.
NOT_LOOKED = {
    "engine_problem": "Debian's openssl has no GOST, which only the scanner would need",
    "sessionresumption_ticket": "openssl s_client ends before the tickets of TLS 1.3 come; tests/e2e/tls/tls_test.py tries tickets",
}
SEVERITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "WARN")
CHECKS_MIN = 100  # a scan that broke off has fewer; a whole one has more than 130
# Results that must be there: the scan got as far as that.
CHECKED = {"heartbleed", "CCS", "ticketbleed", "secure_renego", "secure_client_renego", "CRIME_TLS", "BREACH", "POODLE_SSL", "fallback_SCSV",
           "SWEET32", "FREAK", "DROWN", "LOGJAM", "BEAST", "LUCKY13", "RC4", "cert_chain_of_trust", "cert_trust", "TLS1_3", "HSTS_time"}

NGINX = """daemon off; worker_processes 1; error_log stderr crit; pid {folder}/pid;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 100000000; server_tokens off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d;
  scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {certificate}; ssl_certificate_key {key};
    ssl_protocols TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on; ssl_session_tickets on;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256;
    location = /livez {{ default_type text/plain; add_header Cache-Control no-store; add_header X-Content-Type-Options nosniff;
      add_header Strict-Transport-Security max-age=15552000; return 200 "ok\\n"; }} }} }}
"""


def tls_load(port, connections, seconds, what, nice=0):
    return json.loads(command_run(["nice", f"-n{nice}", os.path.join(BUILD_ROOT, "release", "bench", "tls_load"), str(port),
                                   str(connections), str(seconds), str(what)], seconds + 60))


def cpu_seconds(pid):
    """User and system of the process and all its threads, and of its children that live."""
    total = 0
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    for process in (pid, *children):
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


class Nginx:
    def __init__(self, certificate):
        self.port, self.folder = spare_port(), tempfile.mkdtemp(prefix="stampede-nginx-")
        config = os.path.join(self.folder, "nginx.conf")
        with open(config, "w") as file:
            file.write(NGINX.format(folder=self.folder, port=self.port, certificate=certificate.certificate, key=certificate.key))
        self.process = subprocess.Popen([shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", config, "-p", self.folder],
                                        stdin=subprocess.DEVNULL)
        eventually(lambda: self.process.poll() is None and answers(self.port), "nginx does not answer")

    def end(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def answers(port):
    try:
        return tls_load(port, 1, 0.1, 0)["done"] > 0
    except Ended:
        return False


def shop(certificate, **settings):
    return SecureServer([certificate], {"server.threads": 2, **settings}).start()


def scan(rsa):
    """All that testssl.sh finds, with a chain that ends at a root which it is told to trust."""
    program = shutil.which("testssl") or shutil.which("testssl.sh")
    if program is None:
        raise Ended("testssl.sh is not installed: tools/setup bench")
    authority = Authority()
    certificate = Certificate("a.example", rsa=rsa, authority=authority)
    server = shop(certificate)
    report = os.path.join(certificate.folder, "report.json")
    try:
        command_run([program, "--quiet", "--color", "0", "--warnings", "off", "--full", "--jsonfile", report, "--nodns", "none",
                     "--ip", "127.0.0.1", "--add-ca", authority.root, f"a.example:{server.tls_port}"], 900, may_fail=True)
        with open(report) as file:
            return json.load(file)
    finally:
        server.stop()


def complaints(found):
    """Those that nobody has given a reason for."""
    return [one for one in found if one["severity"] in SEVERITIES
            and one["id"] not in (NOT_LOOKED if one["severity"] == "WARN" else SELF_MADE)]


def scanner(rsa):
    """(figure, whether it is met)"""
    found = scan(rsa)
    bad, missing = complaints(found), CHECKED - {one["id"] for one in found}
    counts = ", ".join(f"{sum(one['severity'] == severity for one in found)} {severity}" for severity in SEVERITIES)
    listed = [one["id"] for one in found if one["severity"] in SEVERITIES and one not in bad]
    told = [f"{one['id']}: {one['severity']} {one['finding']}" for one in bad] + [f"{name}: not checked" for name in sorted(missing)]
    return (f"{len(found)} findings: {counts}; on the list: {', '.join(listed) or 'none'}; {len(told)} complaints {'; '.join(told)[:600]}",
            not told and len(found) >= CHECKS_MIN)


def beside_nginx():
    certificate = Certificate("a.example")
    server, nginx = shop(certificate, **{"server.threads": 1}), Nginx(certificate)
    ratios, ours, theirs = [], [], []

    def slice_of(port, pid):
        before = cpu_seconds(pid)
        load = tls_load(port, CONNECTIONS, SLICE_S, 0)
        if load["failed"]:
            raise Ended(f"{load['failed']} requests failed")
        return load["done"] / (cpu_seconds(pid) - before)
    try:
        for pair in range(PAIRS + 1):
            one, other = slice_of(server.tls_port, server.process.pid), slice_of(nginx.port, nginx.process.pid)
            if pair > 0:  # the first one warms up
                ours.append(one)
                theirs.append(other)
                ratios.append(one / other)
    finally:
        nginx.end()
    server.stop()
    ratio = statistics.median(ratios)
    return (f"{statistics.median(ours):,.0f} requests for a CPU second, nginx {statistics.median(theirs):,.0f}: {ratio:.2f} times"
            f" (pairs {min(ratios):.2f} - {max(ratios):.2f})"), ratio >= 1.0


def under_a_flood(rsa):
    """Those who flood have machines of their own: here they stay on the last core, and let everybody else go first."""
    certificate = Certificate("a.example", rsa=rsa)
    server = shop(certificate)
    idle, busy, handshakes = [], [], 0
    program = os.path.join(BUILD_ROOT, "release", "bench", "tls_load")
    try:
        for _ in range(ROUNDS):
            idle.append(tls_load(server.tls_port, 16, HONEST_S, HONEST_RATE)["p99_us"])
            flood = subprocess.Popen(["taskset", "-c", str(os.cpu_count() - 1), program, str(server.tls_port), str(FLOOD_CONNECTIONS), str(HONEST_S + 1.5),
                                      "handshakes"], stdout=subprocess.PIPE, text=True)
            time.sleep(1)
            load = tls_load(server.tls_port, 16, HONEST_S, HONEST_RATE)
            handshakes += json.loads(flood.communicate(timeout=60)[0])["done"]
            if load["failed"]:
                raise Ended(f"{load['failed']} honest requests failed")
            busy.append(load["p99_us"])
    finally:
        server.stop()
    ratio = statistics.median(busy) / statistics.median(idle)
    return (f"p99 {statistics.median(idle):.0f} us idle, {statistics.median(busy):.0f} us with {handshakes / ROUNDS / (HONEST_S + 1.5):,.0f}"
            f" handshakes a second: {ratio:.2f} times"), ratio <= 2.0


def replaced_under_load():
    certificate = Certificate("a.example")
    server = shop(certificate)
    program = os.path.join(BUILD_ROOT, "release", "bench", "tls_load")
    load = subprocess.Popen([program, str(server.tls_port), "32", "15", "0"], stdout=subprocess.PIPE, text=True)
    comers = subprocess.Popen(["nice", "-n19", program, str(server.tls_port), "4", "15", "handshakes"], stdout=subprocess.PIPE, text=True)
    swaps = 0
    while load.poll() is None and swaps < 3:
        certificate.write()
        server.shows(certificate)
        swaps += 1
    kept, fresh = json.loads(load.communicate(timeout=60)[0]), json.loads(comers.communicate(timeout=60)[0])
    server.stop()
    lost = kept["failed"] + fresh["failed"]
    return f"{swaps} swaps, {kept['done']:,} requests and {fresh['done']:,} handshakes, {lost} lost", lost == 0 and swaps >= 2


def parts(bars):
    keys = (("RSA", True), ("elliptic curve", False))
    for key, rsa in keys:
        bars.part(f"8 scanner {key}", f"testssl.sh finds nothing to complain about with a key of {key}", lambda rsa=rsa: scanner(rsa))
    bars.part("8 cost", "requests for a CPU second beside nginx with TLS: 1.0 times or more", beside_nginx)
    for key, rsa in keys:
        bars.part(f"8 flood {key}", f"a flood of handshakes with a key of {key} leaves the p99 of honest requests at 2 times or less",
                  lambda rsa=rsa: under_a_flood(rsa))
    bars.part("8 swap", "certificates are replaced under load, no request is lost", replaced_under_load)
