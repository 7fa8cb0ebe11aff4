"""How an edge answers: the headers of answers and problems, and who is told what about a session."""
from harness import Buyer, Server, equal, problem, rule, run

ORIGIN = "https://shop.example"

server = Server(settings={"cors.origins": ORIGIN})
server.start()


@rule
def an_answer_names_the_origin_that_asked_if_it_is_allowed():
    for path in ("/v1/time", "/v1/sales", "/v1/orders", "/nowhere"):
        equal(server.get(path, headers={"Origin": ORIGIN}).headers.get("access-control-allow-origin"), ORIGIN, path)
        equal(server.get(path, headers={"Origin": "https://other.example"}).headers.get("access-control-allow-origin"), None, path)


@rule
def a_missing_session_and_a_bad_one_are_told_apart():
    problem(server.get("/v1/orders"), 401, "session-required")
    problem(server.get("/v1/orders", session="x" * 48), 401, "session-invalid")
    equal(Buyer(server).get("/v1/orders").status, 200)


run()
