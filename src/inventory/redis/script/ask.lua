-- SPDX-License-Identifier: Apache-2.0
-- ask.lua: questions that change nothing (src/inventory/engine_ask.c), the worker's word how far the database is, and the end.

if kind == 'ask-mine' then
    local id, user = match(ARGV[2], '^ask%-mine (%d+) (%x+)$')
    local item = id and item_get(id)
    local outcome = 'ANSWER_UNKNOWN_ITEM'
    if item then
        local used, latest, returns, cool = row_words(row_get(id .. ':' .. user))
        local again = cooling_until(sale_get(item.sale), returns, cool)
        outcome = 'ANSWER_FOUND' .. (used > 0 and ' t' .. latest or '') .. (again > 0 and format(' y%d', again) or '')
            .. (user ~= '0' and ' u' .. user or '') .. (used > 0 and ' q' .. used or '') .. ' i' .. id
    end
    return finish({ '', outcome })
elseif kind == 'ask-ticket' then
    local number = match(ARGV[2], '^ask%-ticket (%d+)$') or '0'
    local ticket = ticket_get(number)
    local outcome = 'ANSWER_UNKNOWN_TICKET'
    if ticket then
        local price = item_get(ticket.item).price
        outcome = 'ANSWER_FOUND' .. (ticket.state > 0 and ' d' .. ticket.state or '') .. ' t' .. number
            .. (price ~= '0' and ' p' .. price or '') .. ' y' .. ticket.pay_by .. ' u' .. ticket.user .. ' q' .. ticket.quantity
            .. ' i' .. ticket.item
    elseif number ~= '0' and tonumber(number) <= last then
        outcome = 'ANSWER_FORGOTTEN t' .. number
    end
    return finish({ '', outcome })
elseif kind == 'ask-counts' then
    local id = match(ARGV[2], '^ask%-counts (%d+)$')
    local item = id and item_get(id)
    local outcome = 'ANSWER_UNKNOWN_ITEM'
    if item then
        local sum = 0
        for channel = 0, CHANNELS_MAX - 1 do
            sum = sum + item.free[channel]
        end
        outcome = 'ANSWER_FOUND' .. (sum > 0 and ' f' .. sum or '') .. ' i' .. id
    end
    return finish({ '', outcome })
elseif kind == 'ask-sale' then
    local id = match(ARGV[2], '^ask%-sale (%d+)$')
    local sale = id and sale_get(id)
    local outcome = 'ANSWER_UNKNOWN_SALE'
    if sale then
        outcome = 'ANSWER_FOUND S' .. id .. ' L' .. sale.limit .. format(' B%d E%d', sale.start, sale.stop) .. ' G'
            .. (sale.eligible_only and 1 or 0) .. ' O' .. (sale.one_open_order and 1 or 0) .. ' X' .. sale.start_draw .. ' Z'
            .. sale.return_draw .. ' W' .. sale.cooldown
    end
    return finish({ '', outcome })
elseif kind == 'done' then
    -- The worker's: records up to this one, and tickets up to this one, are in the database. Neither moves back.
    local position, ticket = match(ARGV[2], '^done (%d+) (%d+)$')
    if not position or tonumber(position) > seq or tonumber(ticket) > last then
        return redis.error_reply('BADCOMMAND done is beyond the log, or can not be read')
    end
    done = tonumber(position) > tonumber(done) and position or done
    told = tonumber(ticket) > tonumber(told) and ticket or told
    call('hset', KEYS[1], 'head', format('%d', seq) .. ' ' .. time .. ' ' .. format('%d %d', last, users) .. ' ' .. done .. ' '
        .. told)
    return finish({ '', 'ANSWER_DONE' })
end
return redis.error_reply('BADCOMMAND no such command')
