# SPDX-License-Identifier: Apache-2.0
"""One machine on a database server: nobody else sells with that database. The test files name the kind."""
import os
import shutil
import signal

from kit import databases
from kit.harness import Server, equal, eventually, halt, rule, run, true

REFUSED = "another server sells with this database"
WAITS = "until its lease is over"


def run_on(kind):
    databases.beside(kind)
    settings, name = databases.fresh(kind)
    first = Server(settings=settings)
    second = Server(settings=settings)  # with a copy of the first one's folder

    def read_only(on):
        if kind == "postgres":
            root = os.environ["STAMPEDE_TEST_POSTGRES"]
            databases.client(kind, root, sql=f"ALTER DATABASE {name} SET default_transaction_read_only = {'on' if on else 'off'}")
        else:
            databases.client(kind, sql=f"SET GLOBAL read_only = {int(on)}")

    @rule
    def a_copy_of_a_running_server_is_refused():
        equal(databases.migrate(first).returncode, 0)
        first.start()
        first.stop()
        shutil.copytree(first.data, second.data)
        first.start()
        true(WAITS not in first.log(), "a clean stop leaves nothing to wait for")
        code, text = second.start_refused()
        equal(code, 1, text)
        true(REFUSED in text, text)
        equal(first.get("/readyz").status, 200)

    @rule
    def after_a_kill_the_next_one_waits_and_starts():
        first.kill()
        second.start()
        true(WAITS in second.log(), second.log()[-1500:])

    @rule
    def a_server_that_slept_while_another_one_took_over_stops():
        halt(second.process.pid)
        first.start()
        second.process.send_signal(signal.SIGCONT)
        equal(second.wait(), 1)
        true("another server sells with this database now: stopping at once" in second.log(), second.log()[-1500:])
        first.stop()

    @rule
    def a_database_that_is_read_only_is_refused():
        read_only(True)
        try:
            code, text = first.start_refused()
        finally:
            read_only(False)
        true(code != 0 and "store.url must lead to a primary that is not read-only" in text, text)
        first.start()

    def packets_that_are_too_small_are_refused():
        first.stop()
        databases.client(kind, sql="SET GLOBAL max_allowed_packet = 1048576")
        try:
            code, text = first.start_refused()
        finally:
            databases.client(kind, sql="SET GLOBAL max_allowed_packet = 16777216")
        true(code != 0 and "max_allowed_packet must be at least" in text, text)
        first.start()

    if kind == "mysql":  # PostgreSQL has no such bound
        rule(packets_that_are_too_small_are_refused)

    @rule
    def the_lease_is_given_back():
        first.stop()
        eventually(lambda: databases.ask(kind, name, "SELECT holder FROM leases") == "0", "somebody holds it")

    run()
