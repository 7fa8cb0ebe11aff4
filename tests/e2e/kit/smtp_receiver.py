# SPDX-License-Identifier: Apache-2.0
"""A mail server that keeps what it is given, on sockets and the standard library only. It speaks as much SMTP as a sender needs:
EHLO, AUTH PLAIN and LOGIN if it has a password, MAIL, RCPT, DATA, RSET, NOOP, QUIT."""
import base64
import email
import email.policy
import socketserver
import threading


class Mail:
    def __init__(self, sender, recipient, data, user):
        self.sender, self.recipient, self.user = sender, recipient, user
        self.message = email.message_from_bytes(data, policy=email.policy.default)
        self.subject, self.id = self.message["Subject"], self.message["Message-ID"]
        self.text = self.message.get_content()


class MailReceiver:
    """answer(mail, earlier) is the reply to the text: "250 taken", "451 later", "550 no"; "drop": the connection is cut before any.
    earlier: how often this Message-ID came."""

    def __init__(self, answer=lambda mail, earlier: "250 taken", user=None, password=None):
        self.answer, self.user, self.password = answer, user, password
        self.mails, self.lock, self.commands = [], threading.Lock(), []
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = 60

            def say(self, line):
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self):
                self.sender = self.recipient = self.signed = None
                self.say("220 mail.test")
                while line := self.rfile.readline(2000).decode(errors="replace").rstrip("\r\n"):
                    receiver.commands.append(line.split(" ")[0].upper())
                    if not self.command(line.split(" ")[0].upper(), line):
                        return

            def signed_in(self, line):
                if len(line.split(" ")) < 3:
                    self.say("334 ")
                    line = "AUTH PLAIN " + self.rfile.readline(2000).decode().rstrip("\r\n")
                given = base64.b64decode(line.split(" ")[2]).decode()
                self.signed = receiver.user if given == f"\0{receiver.user}\0{receiver.password}" else None
                self.say("235 in" if self.signed else "535 no")

            def command(self, word, line):
                if word == "EHLO":
                    self.wfile.write(b"250-mail.test\r\n" + (b"250-AUTH PLAIN\r\n" if receiver.user else b"") + b"250 8BITMIME\r\n")
                elif word == "AUTH":
                    self.signed_in(line)
                elif receiver.user and not self.signed and word in ("MAIL", "RCPT", "DATA"):
                    self.say("530 sign in first")
                elif word == "MAIL":
                    self.sender = line.split("<")[1].split(">")[0]
                    self.say("250 ok")
                elif word == "RCPT":
                    self.recipient = line.split("<")[1].split(">")[0]
                    self.say("250 ok")
                elif word == "DATA":
                    return self.data()
                elif word == "QUIT":
                    self.say("221 bye")
                    return False
                else:
                    self.say("250 ok")
                return True

            def data(self):
                self.say("354 go ahead")
                lines = []
                while (line := self.rfile.readline(2000)) not in (b".\r\n", b""):
                    lines.append(line[1:] if line.startswith(b".") else line)
                mail = Mail(self.sender, self.recipient, b"".join(lines), self.signed)
                with receiver.lock:
                    earlier = sum(1 for other in receiver.mails if other.id == mail.id)
                    receiver.mails.append(mail)
                answer = receiver.answer(mail, earlier)
                if answer == "drop":
                    return False
                self.say(answer)
                return True

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.server = Listener(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.port}"

    def to(self, address):
        with self.lock:
            return [mail for mail in self.mails if mail.recipient == address]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
