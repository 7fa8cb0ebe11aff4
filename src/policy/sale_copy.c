/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/sale_copy.h"

bool item_renew(struct item *item)
{
    int64_t web = (int64_t)item->total - item->locked - item->safety;
    for (uint32_t channel = 1; channel < CHANNELS_MAX; channel++)
        web -= item->channel_units[channel];
    if (web < 0)
        return false;
    item->channel_units[0] = (uint32_t)web;
    item->id = 0;
    item->sold = 0;
    item->version = 0;
    item->preheated = false;
    item->pooled = false;
    return true;
}

void sale_renew(struct sale *sale)
{
    sale->id = 0;
    sale->published = false;
    sale->archived = false;
    sale->gate = GATE_SCHEDULED;
    sale->preheat_at_ms = 0;
    sale->room_message[0] = 0;
    sale->beacon_name[0] = 0;
    sale->beacon_value[0] = 0;
    sale->beacon_state = BEACON_OPEN;
    sale->beacon_until_ms = 0;
    sale->terms_lsn = 0;
    sale->timetable = 0;
    sale->day_ms = 0;
}
