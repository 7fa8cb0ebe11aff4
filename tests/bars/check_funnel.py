#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bars of the funnel in a quick form: one line per part, with its figure, its goal and the time it took.

  make check-funnel                          some minutes on two cores, quickest after `make test`
  make check-funnel FUNNEL_ARGS='--bars 1,2'
  make check-funnel FORGED_TOKENS=10000000 FORGED_HTTP=10000000 FORGERIES=10000000 BOT_ROUNDS=20 SLOW=6000 \\
      LIMIT_TIMELINES=1000000 PEOPLE=5000 KILLS=20 ROUNDS=24 TIMINGS=50000000     the long form

Each part runs the tests of that bar, or bots and benchmarks against the real binary, and tells what they counted. A part
that fails, is skipped, is not there or does not end in its box of time has fallen short. Exit status 1 if any has. Speed is
told by ratios of slices in turns, but leave the machine alone meanwhile.
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, REPOSITORY, Ended, asked, box, command_run, main, rules, several, units  # noqa: E402

# What shops run is measured, not the build with sanitizers.
os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

from kit import bots  # noqa: E402
import hoarders  # noqa: E402

T_MAX = 5         # beyond it a difference in time would be certain
T_LEAK_MIN = 100  # what a comparison that leaks must show, or the measurement is blind
HONEST_SHARE_MIN = 0.5
HONEST_SHARE_NOISE = 0.05


# ---- bar 1: forging ----------------------------------------------------------------------------------


def constant_time(samples, seconds):
    output = command_run([os.path.join(BUILD_ROOT, "release", "bench", "constant_time"), str(samples)], seconds)
    found = json.loads(output)
    ours, leaky = abs(found["pass"]["t"]), abs(found["leaky"]["t"])
    return (f"refusing a pass, first byte of the signature wrong against the last, {samples:,} samples: t = "
            f"{found['pass']['t']:.2f}; a comparison that stops early shows {found['leaky']['t']:.0f}"), \
        ours < T_MAX and leaky > T_LEAK_MIN


def bar_1(bars):
    tokens, long_tokens = asked("FORGED_TOKENS", 1000000)
    sent, long_sent = asked("FORGED_HTTP", 500000)
    forgeries, long_forgeries = asked("FORGERIES", 100000)
    samples, long_samples = asked("TIMINGS", 5000000)
    bars.part("1a", f"{tokens:,} forged, expired, foreign passes and as many sessions at the door: none accepted",
              lambda: units("funnel/forge", box(120, long_tokens), FORGED_TOKENS=tokens))
    bars.part("1b", f"{sent:,} of each over HTTP: none accepted",
              lambda: rules("forged_tokens", box(180, long_sent), FORGED_HTTP=sent))
    bars.part("1c", f"{forgeries:,} forged, replayed, foreign challenges and solutions: none accepted",
              lambda: several([units(f"funnel/human/{name}", box(180, long_forgeries), FORGERIES=forgeries)
                               for name in ("altcha", "human")]))
    bars.part("1d", "a pass that is good once opens once, whatever comes at one moment",
              lambda: several([units(f"funnel/{name}", 120) for name in ("pass_once", "spent")]))
    bars.part("1e", "forged places and draws are found",
              lambda: several([rules("draw_command", 120, "forgeries"), rules("waiting_room", 120, "not_in_the_room")]))
    bars.part("1f", f"signatures are compared in constant time: |t| < {T_MAX}, above {T_LEAK_MIN} where it leaks",
              lambda: constant_time(samples, box(120, long_samples)))


# ---- bar 2: bots -------------------------------------------------------------------------------------


def layers_there(missing):
    if missing:
        raise Ended(f"not there yet: {', '.join(missing)}")


def honest_latency(rounds, slow):
    line, good, answers, wrong, missing = bots.latency(rounds, 2, slow)
    layers_there(missing)
    refused = sum(count for name, count in answers.items() if not name.startswith("honest ") and " 202" not in name)
    return "; ".join([line, f"{refused:,} requests of bots refused", *wrong[:2]]), good


def honest_wins(profile, units_given, honest):
    line, off, on = bots.wins_line(profile, units_given, honest)
    layers_there(on["missing"])
    return line, bots.share(on) >= max(HONEST_SHARE_MIN, bots.share(off) - HONEST_SHARE_NOISE)


def bar_2(bars):
    rounds, _ = asked("BOT_ROUNDS", 5)
    slow, _ = asked("SLOW", 3000)
    units_given, _ = asked("UNITS", 1000)
    honest, _ = asked("HONEST", 3000)
    bars.part("2a", "honest p99 at most twice the idle one, or 10 ms; every honest buyer answered; memory within its cap",
              lambda: honest_latency(rounds, slow))
    for profile in bots.PROFILES:
        bars.part("2b", f"with the layers on honest users get at least {HONEST_SHARE_MIN:.0%} of the units and no less than without",
                  lambda profile=profile: honest_wins(profile, units_given, honest))
    for profile in hoarders.PROFILES:
        bars.part("2c", f"at default settings honest people end with at least {hoarders.HONEST_SHARE_MIN:.0%} of the units, paid",
                  lambda profile=profile: hoarders.profile_play(profile))


# ---- bars 3, 4, 5 and 7: the parts' own tests --------------------------------------------------------


def bar_3(bars):
    timelines, long_form = asked("LIMIT_TIMELINES", 20000)
    bars.part("3a", f"limits answer as their models over {timelines:,} random timelines",
              lambda: units("funnel/limits_model", box(180, long_form), LIMIT_TIMELINES=timelines))
    bars.part("3b", "within their bounds for a million addresses, on all edges, with the clock set back",
              lambda: units("funnel/limits", 180))
    bars.part("3c", "limits, bans and their words over HTTP",
              lambda: several([rules(name, 180)
                               for name in ("limits", "admin_bans", "ban_list", "anomaly_findings", "anomaly_notes")]))


def bar_4(bars):
    people, long_form = asked("PEOPLE", 300)
    bars.part("4a", "a million people in one room: numbers, memory, draw, positions", lambda: units("funnel/room/rooms", box(180, long_form)))
    bars.part("4b", "waiting room over HTTP: places, turns, stock, the published draw worked out again",
              lambda: several([rules(name, box(240, long_form), PEOPLE=people)
                               for name in ("waiting_room", "room_driver", "draw_command")]))


def bar_5(bars):
    bars.part("5a", "the human check over HTTP: once, bound to user and item", lambda: rules("human_check", 180))
    bars.part("5b", "ALTCHA's library and widget solve ours and make what we accept", lambda: rules("human_altcha", 240))


def bench_rows(names, rounds):
    """The rows as the benchmark prints them, and whether each met its goal."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows.json")
        command_run([sys.executable, os.path.join(REPOSITORY, "bench", "run.py"), "--only", ",".join(names), "--rounds", str(rounds),
                     "--bin", os.path.join(BUILD_ROOT, "release", "bench"), "--stampede", CLEAN_ENVIRONMENT["E2E_SERVER"],
                     "--out", out], 1200, may_fail=True)
        with open(out, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
    told = [f"{row['name']} {row['median']:g}" if "median" in row else f"{row['name']}: {row['note']}" for row in rows]
    return ", ".join(told), all(row.get("met") for row in rows)


def bar_6(bars):
    rounds, _ = asked("ROUNDS", 8)
    bars.part("6a", "a purchase through the whole funnel: at most 1,800 instructions",
              lambda: bench_rows(["instructions_sold_out_funnel"], rounds))
    bars.part("6b", "sold out with the whole funnel on: at least 1.05 × nginx's empty 200",
              lambda: bench_rows(["sold_out_funnel_64"], rounds))


def bar_7(bars):
    kills, long_form = asked("KILLS", 3)
    people, _ = asked("PEOPLE", 300)
    bars.part("7", f"arrivals that were told survive kill -9, {kills} times",
              lambda: several([rules("room", box(180, long_form), "kill_9", KILLS=kills, PEOPLE=people),
                               rules("room", 120, "survive_a_restart")]))


BARS = {"1": bar_1, "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6, "7": bar_7}

if __name__ == "__main__":
    sys.exit(main("check-funnel", "The bars of the funnel, one line each.", BARS))
