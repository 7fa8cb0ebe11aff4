# SPDX-License-Identifier: Apache-2.0
"""A shop whose pages are carried by nginx from an exported folder, at another origin than the API. Run as a program it is the shop
of tests/e2e/storefront/export.test.mjs: it prints what that needs, one NAME=value a line, and serves until its standard input ends."""
import atexit
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # run as a program too

from kit.harness import REPOSITORY, Connection, Failure, Server, eventually, spare_port, temp_folder  # noqa: E402

PAGES_ADDRESS = "127.0.0.2"  # another host than the server's, as browsers count
OTHER_ADDRESS = "127.0.0.3"  # the same pages, at an origin that the server does not allow


def nginx_path():
    return shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")


class Pages:
    """nginx with deploy/nginx-pages.conf."""

    def __init__(self, folder, port):
        scratch = temp_folder("stampede-nginx-")
        with open(os.path.join(REPOSITORY, "deploy", "nginx-pages.conf")) as file:
            text = file.read()
        for old, new in (("listen 8001", f"listen {OTHER_ADDRESS}:{port};\n        listen {PAGES_ADDRESS}:{port}"), ("root /srv/stampede/pages;", f"root {folder};")):
            if old not in text:
                raise Failure(f"deploy/nginx-pages.conf does not say {old}")
            text = text.replace(old, new)
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
            text = text.replace("    charset utf-8;", f"    {kind}_temp_path {scratch}/{kind};\n    charset utf-8;", 1)
        text = f"daemon off;\npid {scratch}/pid;\nerror_log {scratch}/error.log;\n" + text.replace(
            "    charset utf-8;", "    access_log off;\n    charset utf-8;", 1)
        config = os.path.join(scratch, "nginx.conf")
        with open(config, "w") as file:
            file.write(text)
        os.chmod(scratch, 0o755)
        self.port, self.url = port, f"http://{PAGES_ADDRESS}:{port}"
        self.process = subprocess.Popen([nginx_path(), "-e", f"{scratch}/error.log", "-c", config],
                                        stderr=subprocess.DEVNULL)
        atexit.register(self.stop)
        eventually(self.answers, "nginx does not answer")

    def answers(self):
        try:
            return self.get("/favicon.svg").status in (200, 404)
        except OSError:
            return False

    def get(self, path):
        with Connection(self.port, address=PAGES_ADDRESS) as connection:
            return connection.request("GET", path)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)


def exported_shop(**settings):
    """(server, pages folder, nginx's port): a server that exports its pages by itself."""
    folder = temp_folder("stampede-pages-")
    os.chmod(folder, 0o755)
    port = spare_port()
    pages_url = f"http://{PAGES_ADDRESS}:{port}"
    server = Server(settings={"page.export": os.path.join(folder, "pages"), "page.url": pages_url, "cors.origins": pages_url,
                              "payment.providers": "sandbox", **settings})
    server.write_config(page__api_url=f"http://127.0.0.1:{server.port}")
    server.start()
    return server, os.path.join(folder, "pages"), port


def main():
    server, folder, port = exported_shop()
    item = server.open_item(total=10, sale_fields={"title": "Today"})
    eventually(lambda: os.path.exists(os.path.join(folder, "items", str(item), "index.html")), "no export")
    pages = Pages(folder, port)
    print(f"EXPORT_URL={pages.url}\nEXPORT_API=http://127.0.0.1:{server.port}\nEXPORT_ITEM={item}\n"
          f"EXPORT_FOLDER={folder}\nREADY=1", flush=True)
    sys.stdin.read()
    pages.stop()
    server.stop()


if __name__ == "__main__":
    main()
