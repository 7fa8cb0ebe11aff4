#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""log.format: text, JSON or logfmt, from the first line on; SIGHUP changes it; another word is refused."""
import json
import re

from kit.harness import Server, eventually, rule, run, true


def lines_of(form):
    server = Server(settings={"log.format": form}).start()
    server.stop()
    return [line for line in server.log().splitlines() if not line.startswith("==")]  # a sanitizer's own


@rule
def json_lines_are_objects_with_the_same_members():
    rows = [json.loads(line) for line in lines_of("json")]
    true(len(rows) >= 3, rows)
    for row in rows:
        true({"time", "level", "component", "message"} <= set(row) and re.fullmatch(r"[0-9T:.-]+Z", row["time"]), row)
    true(any(row["component"] == "server" and row["message"].startswith("listening") for row in rows), rows)


@rule
def logfmt_lines_are_pairs():
    lines = lines_of("logfmt")
    for line in lines:
        true(re.fullmatch(r'time=\S+ level=\w+ component=\w+ message="([^"\\]|\\.)*"( dropped=\d+)?', line), line)
    true(len(lines) >= 3, lines)


@rule
def a_reload_changes_the_format():
    server = Server().start()
    server.write_config(**{"log.format": "json"})
    server.reload()
    server.stop()
    eventually(lambda: server.log().splitlines()[-1].startswith("{"), "the last line is not JSON")


@rule
def another_word_is_refused():
    server = Server(settings={"log.format": "xml"})
    true("log.format must be text, json or logfmt" in str(server.start_refused()), "it is not refused")


run()
