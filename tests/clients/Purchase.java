// SPDX-License-Identifier: Apache-2.0
// A purchase by the client that was generated from docs/openapi.json: Purchase ADDRESS ITEM
import stampede.client.ApiClient;
import stampede.client.api.BuyingApi;
import stampede.client.api.PublicApi;

public class Purchase {
    public static void main(String[] words) throws Exception {
        Long item = Long.valueOf(words[1]);
        String[] session = new String[1], pass = new String[1];
        ApiClient client = new ApiClient();
        client.updateBaseUri(words[0]);
        client.setRequestInterceptor(request -> {
            if (session[0] != null)
                request.header("Authorization", "Bearer " + session[0]);
            if (pass[0] != null)
                request.header("Stampede-Pass", pass[0]);
        });
        BuyingApi buying = new BuyingApi(client);
        new PublicApi(client).getItem(item);
        session[0] = buying.openSession().getSession();
        pass[0] = buying.getPass(item, null).getPass();
        var won = buying.buy(item, "java", null);
        pass[0] = null;
        var order = buying.getTicket(won.getTicket(), 20L, null);
        System.out.println(won.getOutcome() + " " + order.getOrder().getState());
    }
}
