# SPDX-License-Identifier: Apache-2.0
"""Clients that take every connection leave the descriptors that the server itself needs."""
import resource
import socket

from kit.harness import Buyer, Server, equal, eventually, rule, run, true
from kit.webhook_receiver import Receiver, settings_for

FILES = 160

receiver = Receiver()
server = settings_for(Server(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))), receiver.url).start()


@rule
def the_start_says_how_many_connections_there_are():
    true(f"the limit of open files is {FILES}" in server.log() and "LimitNOFILE" in server.log(), server.log())


@rule
def the_shop_is_told_while_clients_hold_every_connection():
    item = server.open_item()
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    crowd = []
    with server.connect() as kept:
        equal(kept.request("GET", "/v1/time").status, 200)
        for _ in range(2 * FILES):  # they send half a request, and more than the server can have
            client = socket.create_connection(("127.0.0.1", server.port), 20)
            crowd.append(client)
            client.sendall(b"GET / HTTP/1.1\r\nX:")
        kept.send(buyer.purchase_request(item, give=give))
        reply = kept.read_reply()
        equal(reply.status, 202, reply)
        ticket = reply.json()["ticket"]
        eventually(lambda: any(message.data.get("ticket") == ticket for message in receiver.messages),
                   "the shop is not told of the order")
        equal(len(crowd), 2 * FILES)
    for client in crowd:
        client.close()


run()
