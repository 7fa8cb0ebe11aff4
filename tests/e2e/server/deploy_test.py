# SPDX-License-Identifier: Apache-2.0
"""The proxies of deploy/ and of docs/operations.md, real ones, with the files as they are but for ports and certificates: a whole
purchase and a push connection go through, limits count the client and not the proxy, and what is inside stays inside. Several
gateways: cluster/front_test.py."""
import configparser
import os
import re
import subprocess

from kit.fronts import (SETTINGS, Front, Proxied, haproxy_command, limit_counts_the_client, nginx_command, program, purchase_made,
                    replaced, text_of)
from kit.harness import REPOSITORY, Server, binary_path, equal, eventually, rule, run, skip, temp_folder, true

LIBRARIES_MOST = 51  # as `ldd` counts on Debian 12; a new one needs a reason in docs/decisions/0061
LIBRARIES_LEAST = 20  # fewer: `ldd` was not understood


def tried(front, command, hides_inside=True):
    item = front.server.open_item(total=5)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(front.answers, "the proxy does not answer")
        purchase_made(front, item)
        if hides_inside:
            for path in ("/metrics", "/admin/v1/sales"):
                equal(front.get(path).status, 404, f"{path} is open to the world")
        limit_counts_the_client(front)
    finally:
        process.terminate()
        process.wait()
        front.server.stop()


@rule
def nginx_works_as_shipped():
    front = Front(Server(settings=SETTINGS).start(), "127.0.4.1")
    text = replaced(text_of("deploy", "nginx.conf"), {"127.0.0.1:8080": f"127.0.0.1:{front.server.port}",
                                                      "listen 8000": f"listen 127.0.0.1:{front.port}"})
    tried(front, nginx_command(text, temp_folder()))


@rule
def nginx_with_tls_works_as_documented():
    front = Front(Server(settings=SETTINGS).start(), "127.0.5.1", tls=True)
    folder = temp_folder()
    certificate, key = os.path.join(folder, "shop.pem"), os.path.join(folder, "shop.key")
    subprocess.run([program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=sale.shop.example", "-days", "2", "-out", certificate, "-keyout", key],
                   check=True, capture_output=True)
    lines = re.search(r"```nginx\n(.*?)```", text_of("docs", "operations.md"), re.S).group(1)
    lines = replaced(lines, {"listen 443": f"listen 127.0.0.1:{front.port}", "/etc/ssl/shop.pem": certificate,
                             "/etc/ssl/shop.key": key})
    text = replaced(text_of("deploy", "nginx.conf"), {"127.0.0.1:8080": f"127.0.0.1:{front.server.port}",
                                                      "listen 8000 backlog=4096;": lines})
    tried(front, nginx_command(text, folder))


@rule
def nginx_that_passes_connections_on_works_as_shipped():
    if not os.path.exists("/usr/lib/nginx/modules/ngx_stream_module.so"):
        skip("nginx has no stream module")
    front = Front(Proxied(settings={**SETTINGS, "proxy.protocol": "on"}).start(), "127.0.6.1")
    text = replaced(text_of("deploy", "nginx-stream.conf"), {"127.0.0.1:8080": f"127.0.0.1:{front.server.port}",
                                                             "listen 8000": f"listen 127.0.0.1:{front.port}"})
    tried(front, nginx_command(text, temp_folder()), hides_inside=False)


@rule
def haproxy_works_as_shipped():
    front = Front(Proxied(settings={**SETTINGS, "proxy.protocol": "on"}).start(), "127.0.7.1")
    tried(front, haproxy_command(replaced(text_of("deploy", "haproxy.cfg"), {
        "127.0.0.1:8080": f"127.0.0.1:{front.server.port}", "bind :8000": f"bind 127.0.0.1:{front.port}"})))


@rule
def every_proxy_example_names_one_server():
    """Two data folders behind one address are two stocks: purchases of one are unknown to the other."""
    for name, pattern in (("nginx.conf", r"^\s+server [\d.]+:\d+"), ("nginx-stream.conf", r"^\s+server [\d.]+:\d+"),
                          ("haproxy.cfg", r"^\s+server \w+ [\d.]+:\d+"), ("keepalived.conf", r"^\s+real_server ")):
        equal(len(re.findall(pattern, text_of("deploy", name), re.M)), 1, name)


def keepalived_run(path):
    """(exit code, what it says)"""
    done = subprocess.run([program("keepalived"), "-t", "-f", path], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@rule
def keepalived_understands_the_examples_for_lvs():
    for folder, servers in (((), 1), (("cluster",), 3)):
        parts = ("deploy", *folder, "keepalived.conf")
        equal(keepalived_run(os.path.join(REPOSITORY, *parts)), (0, ""))
        text = text_of(*parts)
        equal(text.count("    real_server "), servers)
        equal(text.count("path /readyz"), servers, "a server without a check")
        broken = os.path.join(temp_folder(), "broken.conf")  # it would say so
        with open(broken, "w") as file:
            file.write(text.replace("HTTP_GET", "HTTP_GOT"))
        true(keepalived_run(broken)[0] != 0, "anything passes")


def systemd_says(verb, *words):
    """(exit code, what it says)"""
    done = subprocess.run([program("systemd-analyze"), verb, *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@rule
def systemd_understands_the_unit_of_each_role_and_starts_it_as_the_program_wants():
    prefix = os.path.join(temp_folder(), "usr")
    os.makedirs(os.path.join(prefix, "bin"))
    os.symlink(os.path.abspath(binary_path()), os.path.join(prefix, "bin", "stampede"))
    subprocess.run(["make", "-C", REPOSITORY, "install-units", f"PREFIX={prefix}", "DESTDIR="], check=True, capture_output=True)
    folder = os.path.join(prefix, "lib", "systemd", "system")
    equal(sorted(os.listdir(folder)), ["stampede-gateway.service", "stampede-worker.service", "stampede.service"])
    for name, role in (("stampede", []), ("stampede-gateway", ["--role", "gateway"]), ("stampede-worker", ["--role", "worker"])):
        path = os.path.join(folder, f"{name}.service")
        with open(path) as file:
            text = file.read()
        true("@" not in re.sub(r"=~?@[a-z-]+", "", text), "a place that nobody filled")
        [start] = re.findall(r"^ExecStart=(.*)$", text, re.M)
        equal(start.split()[1:], ["serve", *role, "--config", "/etc/stampede/stampede.ini", "--data", "${STATE_DIRECTORY}"])
        true(f"StateDirectory={name}\n" in text, "two roles would share a folder")
        true(f"StartLimitIntervalSec={0 if role else 300}\n" in text, "it would give up while the database is away, or never")
        missing = os.path.join(prefix, "none.ini")
        words = [missing if word.startswith("/etc") else prefix if word.startswith("$") else word for word in start.split()]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        equal((done.returncode, missing in done.stderr), (2, True), f"{words}: {done.stderr}")
        equal(systemd_says("verify", path), (0, ""))
        code, told = systemd_says("security", "--offline=yes", "--threshold=20", path)
        equal(code, 0, told[-500:])  # 2.0 of 10: little is exposed
    with open(path, "w") as file:
        file.write(text.replace("NoNewPrivileges=", "NoNewPrivilege="))
    true("Unknown key" in systemd_says("verify", path)[1], "anything passes")


@rule
def the_image_has_every_library_that_the_server_links():
    text = text_of("deploy", "cluster", "Containerfile")
    for name in re.findall(r"^COPY (\S+)", text, re.M):
        true(name == "." or name.startswith("--from=build"), name)
    linked = subprocess.run([program("readelf"), "-d", binary_path(plain=True)], capture_output=True, text=True, check=True).stdout
    names = [name for name in re.findall(r"NEEDED.*\[(lib[^]]+)\]", linked) if not re.match(r"lib(c|m|asan|ubsan|tsan)\.", name)]
    true(len(names) >= 10, names)
    for name in names:
        found = subprocess.run([program("dpkg"), "-S", f"*/{name}"], capture_output=True, text=True).stdout
        packages = {line.partition(":")[0] for line in found.splitlines()}
        true(any(f" {package} " in " ".join(text.split()) + " " for package in packages), f"{name} of {packages} is not in the image")


@rule
def the_server_loads_few_libraries_and_none_for_screens_or_films():
    """Each library that is loaded is code that must be kept safe. libcurl and libpq bring 30 of them (docs/decisions/0061)."""
    binary = binary_path(plain=True)
    loaded = subprocess.run([program("ldd"), binary], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in loaded.splitlines() if not re.match(r"\s*lib(asan|ubsan|tsan|stdc\+\+|gcc_s)\.", line)]
    true(LIBRARIES_LEAST <= len(names) <= LIBRARIES_MOST, f"{len(names)} libraries: {names}")
    for name in names:
        true(not re.match(r"lib(gd|X11|xcb|Xpm|avif|heif|x265|de265|aom|dav1d|tiff|fontconfig|freetype)\.", name), name)


def compose():
    try:
        import yaml
    except ImportError:
        skip("no yaml module for Python")
    return yaml.safe_load(text_of("deploy", "cluster", "compose.yaml"))


@rule
def the_containers_have_settings_and_files_that_there_are():
    document = compose()
    names = {f"STAMPEDE_{section}_{key}".upper() for section, keys in known_settings().items() for key in keys}
    own = [name for name, service in document["services"].items() if service["image"] == "stampede"]
    equal(sorted(own), ["gateway-1", "gateway-2", "gateway-3", "migrate", "worker-1", "worker-2"])
    for name in own:
        service = document["services"][name]
        equal(set(service["environment"]) - names, set(), f"unknown settings of {name}")
        secret = os.path.join(temp_folder(), "secret")
        with open(secret, "w") as file:
            file.write("s" * 44 + "\n")
        os.chmod(secret, 0o600)
        used = {value.rpartition("/")[2] for value in service["environment"].values() if value.startswith("/run/secrets/")}
        equal(used, set(service["secrets"]), name)
        equal(used - set(document["secrets"]), set(), name)
        environment = {key: secret if value.startswith("/run/secrets/") else value for key, value in service["environment"].items()}
        environment.update({"STAMPEDE_ADMIN_KEYS": "", "STAMPEDE_DATA_FOLDER": temp_folder()})
        role = service["command"][1:] if "--role" in service["command"] else []
        done = subprocess.run([binary_path(), "config", *role], capture_output=True, text=True, env=environment)
        equal(done.returncode, 0, f"{name}: {done.stderr}")
    for name, service in document["services"].items():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            true(source in document["volumes"] or os.path.exists(os.path.join(REPOSITORY, "deploy", "cluster", source)), f"{name}: {volume}")
    addresses = {service["networks"]["shop"].get("ipv4_address") for service in document["services"].values()} - {None}
    equal(addresses, set(re.findall(r"server gateway-\d ([\d.]+):8080", text_of("deploy", "cluster", "haproxy.cfg"))))


def known_settings():
    """{section: {key}} as `stampede config` prints them."""
    told = subprocess.run([binary_path(), "config"], capture_output=True, text=True, check=True,
                          env={"STAMPEDE_SESSION_GUESTS": "yes", "STAMPEDE_DATA_FOLDER": temp_folder()}).stdout
    settings, section = {}, ""
    for line in told.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif found := re.match(r";?\s*(\w+) =", line):
            settings.setdefault(section, set()).add(found[1])
    return settings


@rule
def settings_in_the_documents_are_understood():
    """Every ```ini block of the documents, as `stampede config` reads it; a later one of a document adds to its first."""
    found = 0
    for name in sorted(os.listdir(os.path.join(REPOSITORY, "docs"))):
        if not name.endswith(".md"):
            continue
        blocks = re.findall(r"```ini\n(.*?)```", text_of("docs", name), re.S)
        for block in blocks:
            found += 1
            settings = configparser.ConfigParser(interpolation=None)
            for text in (blocks[0], block):
                settings.read_string(text)
            path = os.path.join(temp_folder(), "stampede.ini")
            with open(path, "w") as file:
                settings.write(file)
            done = subprocess.run([binary_path(), "config", "--config", path], capture_output=True, text=True,
                                  env={"STAMPEDE_SESSION_GUESTS": "yes", **os.environ, "STAMPEDE_DATA_FOLDER": temp_folder()})
            equal(done.returncode, 0, f"{name}: {done.stderr}{done.stdout[-300:]}\n{block}")
    true(found >= 3, f"only {found} blocks found")


run()
