# SPDX-License-Identifier: Apache-2.0
"""Certificates that are replaced while the server sells, files that are wrong, certificates that expire."""
import os
import shutil
import threading

from kit.harness import Closed, Failure, equal, eventually, rule, run, temp_folder, true
from kit.secure import Certificate, SecureServer

DAYS = 24 * 3600


def code_of(settings, certificates):
    return SecureServer(certificates, settings).start_refused()


@rule
def wrong_settings_are_told_with_exit_code_2():
    good = Certificate("a.example")
    for settings, words in (({"tls.certificates": "only-one-file"}, "tls.certificates"),
                            ({"tls.certificates": f"{good.pair},"}, "tls.certificates"),
                            ({"tls.certificates": "", "tls.redirect": "yes"}, "tls.redirect"),
                            ({"tls.certificates": "/nothing.pem:/nothing.key"}, "/nothing.pem"),
                            ({"tls.certificates": f"{good.certificate}:/nothing.key"}, "/nothing.key"),
                            ({"tls.certificates": f"{good.key}:{good.key}"}, "is not a certificate")):
        code, log = code_of(settings, [good])
        equal(code, 2, log)
        true(words in log, f"{words} is not in: {log}")
    server = SecureServer([good])
    server.write_config(tls__port=server.port)
    code, log = server.start_refused()
    equal(code, 2, log)
    true("tls.port" in log, log)


@rule
def a_key_that_everybody_can_read_is_refused():
    good = Certificate("a.example")
    os.chmod(good.key, 0o644)
    code, log = code_of({}, [good])
    equal(code, 2, log)
    true("everybody" in log and "chmod" in log, log)


@rule
def a_key_of_another_certificate_is_refused():
    one, other = Certificate("a.example"), Certificate("b.example")
    code, log = code_of({"tls.certificates": f"{one.certificate}:{other.key}"}, [one])
    equal(code, 2, log)
    true("not the key of its certificate" in log, log)


@rule
def new_files_are_used_without_a_signal():
    used = Certificate("a.example")
    server = SecureServer([used]).start()
    server.shows(used)
    used.write()  # by renames
    server.shows(used)
    server.stop()


@rule
def a_link_that_points_elsewhere_is_seen():
    old, new, folder = Certificate("a.example"), Certificate("a.example"), temp_folder()
    live = os.path.join(folder, "live")
    os.symlink(old.folder, live)
    used = Certificate("a.example")
    used.certificate, used.key = (os.path.join(live, f"a.example.{end}") for end in ("pem", "key"))
    server = SecureServer([used]).start()
    server.shows(old)
    os.symlink(new.folder, f"{live}.new")
    os.rename(f"{live}.new", live)
    server.shows(new)
    server.stop()


@rule
def bad_new_files_change_nothing_and_raise_an_alarm():
    used, kept, other = Certificate("a.example"), Certificate("a.example"), Certificate("b.example")
    used.copy_to(kept)
    server = SecureServer([used]).start()
    shutil.copy(other.key, f"{used.key}.new")
    os.rename(f"{used.key}.new", used.key)
    eventually(lambda: server.alarm("certificate-refused"), "no alarm")
    true(used.key in server.alarm("certificate-refused"), "the alarm does not name the file")
    equal(server.shown() == kept.bytes(), True, "the old one is used")
    with open(f"{used.certificate}.new", "w") as file:
        file.write("no certificate\n")
    os.rename(f"{used.certificate}.new", used.certificate)
    server.reload()
    equal(server.shown() == kept.bytes(), True, "the old one is used after SIGHUP")
    other.copy_to(used)
    server.shows(other)
    eventually(lambda: server.alarm("certificate-refused") is None, "the alarm stays")
    server.stop()


@rule
def a_new_list_counts_after_sighup():
    one, two = Certificate("a.example"), Certificate("b.example")
    server = SecureServer([one]).start()
    equal(server.shown("b.example") == one.bytes(), True)
    server.write_config(tls__certificates=f"{one.pair}, {two.pair}")
    server.reload()
    equal(server.shown("b.example") == two.bytes(), True, "the second certificate")
    server.stop()


@rule
def a_certificate_that_soon_expires_raises_an_alarm_until_it_is_renewed():
    used = Certificate("a.example", days=5)
    server = SecureServer([used]).start()
    eventually(lambda: server.alarm("certificate-expires"), "no alarm")
    left = server.metrics()["stampede_tls_certificate_expires_seconds"]
    true(4 * DAYS < left <= 5 * DAYS, f"{left} s are left")
    used.write(days=90)
    eventually(lambda: server.alarm("certificate-expires") is None, "the alarm stays")
    left = server.metrics()["stampede_tls_certificate_expires_seconds"]
    true(89 * DAYS < left <= 90 * DAYS, f"{left} s are left")
    server.stop()


@rule
def no_request_is_lost_while_certificates_are_replaced():
    used = Certificate("a.example")
    server = SecureServer([used]).start()
    end, counts, failures = threading.Event(), [0] * 4, []

    def ask(index):
        """Some requests on each connection, so that handshakes and open connections meet the swap."""
        over = server.over_tls()
        while not end.is_set():
            try:
                with over.connect() as connection:
                    for _ in range(5):
                        equal(connection.request("GET", "/livez").status, 200)
                        counts[index] += 1
            except (OSError, Closed, Failure) as wrong:
                failures.append(repr(wrong))
    threads = [threading.Thread(target=ask, args=(index,)) for index in range(len(counts))]
    for thread in threads:
        thread.start()
    for _ in range(3):
        used.write()
        server.shows(used)
    end.set()
    for thread in threads:
        thread.join()
    equal(failures[:3], [], f"of {sum(counts)} requests")
    true(min(counts) > 0, f"{counts}")
    server.stop()


run()
