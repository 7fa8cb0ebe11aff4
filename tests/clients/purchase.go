// SPDX-License-Identifier: Apache-2.0
// A purchase by the client that was generated from docs/openapi.json: purchase ADDRESS ITEM
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	api "stampede.example/client"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	number, err := strconv.ParseInt(os.Args[2], 10, 64)
	must(err)
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Args[1]}}
	client := api.NewAPIClient(configuration)
	ctx := context.Background()
	_, _, err = client.PublicAPI.GetItem(ctx, number).Execute()
	must(err)
	session, _, err := client.BuyingAPI.OpenSession(ctx).Execute()
	must(err)
	signed := context.WithValue(ctx, api.ContextAccessToken, session.Session)
	pass, _, err := client.BuyingAPI.GetPass(signed, number).Execute()
	must(err)
	ready := context.WithValue(signed, api.ContextAPIKeys, map[string]api.APIKey{"pass": {Key: pass.Pass}})
	won, _, err := client.BuyingAPI.Buy(ready, number).IdempotencyKey("go").Execute()
	must(err)
	order, _, err := client.BuyingAPI.GetTicket(signed, won.Ticket).Wait(20).Execute()
	must(err)
	fmt.Println(won.Outcome, order.Order.State)
}
