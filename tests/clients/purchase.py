# SPDX-License-Identifier: Apache-2.0
"""A purchase by the client that was generated from docs/openapi.json: purchase.py ADDRESS ITEM"""
import sys

import stampede_client

address, item = sys.argv[1], int(sys.argv[2])
configuration = stampede_client.Configuration(host=address)
with stampede_client.ApiClient(configuration) as client:
    buying = stampede_client.BuyingApi(client)
    stampede_client.PublicApi(client).get_item(item)
    configuration.access_token = buying.open_session().session
    configuration.api_key["pass"] = buying.get_pass(item).var_pass
    won = buying.buy(item, idempotency_key="python")
    order = buying.get_ticket(won.ticket, wait=20).actual_instance
    print(won.outcome, order.state)
