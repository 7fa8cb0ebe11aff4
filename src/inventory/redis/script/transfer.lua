-- SPDX-License-Identifier: Apache-2.0
-- transfer.lua: units that travel between the shards of a sale (src/inventory/engine_stock.c). A number that is not the next
-- one between these two shards changes nothing.

if kind == 'give' or kind == 'take' then
    local id, channel, quantity, shard, number = match(ARGV[2], '^%l+ (%d+) (%d+) (%d+) (%d+) (%d+)$')
    if not id then
        return redis.error_reply('BADCOMMAND ' .. kind .. ' can not be read')
    end
    quantity, number = tonumber(quantity), tonumber(number)

    local function transfer()
        local item = item_get(id)
        if not item then
            return 'ANSWER_UNKNOWN_ITEM'
        end
        local pool, name = place_of(item, tonumber(channel))
        if not pool then
            return 'ANSWER_BAD_CHANNEL'
        end
        if tonumber(shard) >= SHARDS_MAX then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_MOVE'
        end
        local given, taken = match(call('hget', KEYS[1], 'x' .. shard) or '0 0', '^(%d+) (%d+)$')
        local done = tonumber(kind == 'give' and given or taken)
        if number > done + 1 then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_MOVE'
        end
        if number <= done then
            return 'ANSWER_UNCHANGED'
        end
        local applied = quantity
        if kind == 'give' and applied > pool[name] + 0 then
            applied = pool[name] + 0
        elseif kind == 'take' and item.total + applied > UNITS_MAX then
            return 'ANSWER_BAD_QUANTITY'
        end
        if applied == 0 then
            return 'ANSWER_UNCHANGED'
        end
        local change = kind == 'give' and -applied or applied
        pool[name] = pool[name] + change
        item.given = item.given + change
        item.total = item.total + change
        item_changed(item)
        part_changes[#part_changes + 1] = 'x' .. shard
        part_changes[#part_changes + 1] = kind == 'give' and number .. ' ' .. taken or given .. ' ' .. number
        return 'ANSWER_DONE c1 a' .. applied
    end

    local outcome = transfer()
    if string.sub(outcome, 1, #'ANSWER_DONE c1') == 'ANSWER_DONE c1' then
        log(ARGV[2], outcome)
    end
    return finish({ '', outcome })
end
