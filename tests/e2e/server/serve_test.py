# SPDX-License-Identifier: Apache-2.0
"""The command line of `stampede serve` and `stampede config`: what it takes and in which order it believes."""
import os
import subprocess

from kit.harness import Server, equal, eventually, rule, run, spare_port, true

server = Server()


def stampede(*words, **environment):
    return subprocess.run([server.binary, *words], capture_output=True, text=True, timeout=20,
                          env={**os.environ, **environment})


def setting(output, section, key):
    part = output.split(f"[{section}]\n")[1].split("\n[")[0]
    return dict(line.split(" =", 1) for line in part.strip().splitlines() if line[0] != ";")[key].strip()


@rule
def the_command_line_beats_the_environment_beats_the_file():
    equal(setting(stampede("config", "--config", server.config).stdout, "server", "port"), str(server.port))
    said = stampede("config", "--config", server.config, STAMPEDE_SERVER_PORT="1111").stdout
    equal(setting(said, "server", "port"), "1111")
    said = stampede("config", "--config", server.config, "--port", "2222", STAMPEDE_SERVER_PORT="1111").stdout
    equal(setting(said, "server", "port"), "2222")
    said = stampede("config", "--data", "/x", "--address", "::1", "--set", "session.guests=yes", "--set", "pass.life_s=7").stdout
    equal([setting(said, *name.split(".")) for name in ("data.folder", "server.address", "session.guests", "pass.life_s")],
          ["/x", "::1", "yes", "7"])


@rule
def wrong_options_are_told_with_the_usage():
    for words in (("--nothing", "1"), ("--port",), ("extra",), ("--set", "pass.life_s"), ("--set", "no.such=1"), ("--port", "x"),
                  ("--set", "pass.life_s=0"), ("--set", "=1"), ("--config", "/nowhere.ini"), ("--role", "gateway"), ("--role", "boss"), ()):
        done = stampede("serve", *words)
        equal(done.returncode, 2, f"{words}: {done.stderr}")
        true(done.stderr.startswith(("stampede: ", "usage: ")), done.stderr)
        equal(done.stdout, "")


@rule
def an_unknown_command_is_told_with_where_the_list_is():
    for words in ((), ("sell",), ("--help-me",)):
        done = stampede(*words)
        equal(done.returncode, 2)
        true("serve" in done.stderr or f"'{words[0]}'" in done.stderr and "`stampede help`" in done.stderr, done.stderr)
    listed = stampede("help")
    equal(listed.returncode, 0)
    true("serve" in listed.stdout and "verify" in listed.stdout, listed.stdout)
    true(stampede("version").stdout.startswith("stampede "))


@rule
def a_value_of_the_environment_can_come_from_a_file():
    path = os.path.join(server.folder, "folder-name")
    with open(path, "w") as file:
        file.write("/from/file\n")
    done = stampede("config", "--set", "session.guests=yes", STAMPEDE_DATA_FOLDER_FILE=path)
    equal(setting(done.stdout, "data", "folder"), "/from/file", done.stderr)


@rule
def a_server_can_be_told_everything_by_options():
    other = Server()
    port = spare_port()
    log = open(other.log_path, "ab")
    other.process = subprocess.Popen([other.binary, "serve", "--data", other.data, "--port", str(port), "--set",
                                      "session.guests=yes", "--set", "server.threads=1"], stdout=log, stderr=log)
    log.close()
    other.port = port

    def ready():
        try:
            return other.get("/readyz").status == 200
        except OSError:
            return False
    eventually(ready)
    eventually(lambda: "with 1 edges" in other.log())
    other.stop()


@rule
def a_reload_believes_the_command_line_too():
    other = Server(settings={"session.guests": "no", "session.jwt_keys": "/nowhere"})
    log = open(other.log_path, "ab")
    other.process = subprocess.Popen([other.binary, "serve", "--config", other.config, "--set", "session.guests=yes",
                                      "--set", "session.jwt_keys="], stdout=log, stderr=log)
    log.close()

    def ready():
        try:
            return other.get("/readyz").status == 200
        except OSError:
            return False
    eventually(ready)
    equal(other.request("POST", "/v1/session").status, 201)
    true("settings reloaded" in other.reload())
    equal(other.request("POST", "/v1/session").status, 201, "what the command line said still holds")
    other.stop()


run()
