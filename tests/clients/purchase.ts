// SPDX-License-Identifier: Apache-2.0
// A purchase by the client that was generated from docs/openapi.json: purchase ADDRESS ITEM
import { BuyingApi, Configuration, PublicApi } from './client/index';

const [basePath, item] = [process.argv[2], Number(process.argv[3])];

async function main(): Promise<void> {
    await new PublicApi(new Configuration({ basePath })).getItem(item);
    const opened = await new BuyingApi(new Configuration({ basePath })).openSession();
    const accessToken = opened.data.session;
    const signed = new BuyingApi(new Configuration({ basePath, accessToken }));
    const apiKey = (await signed.getPass(item)).data.pass;
    const ready = new BuyingApi(new Configuration({ basePath, accessToken, apiKey }));
    const won = (await ready.buy(item, 'typescript')).data;
    const order = (await signed.getTicket(won.ticket, 20)).data;
    console.log(won.outcome, order.state);
}

main().catch((error) => {
    console.error(error?.response?.data ?? error);
    process.exitCode = 1;
});
