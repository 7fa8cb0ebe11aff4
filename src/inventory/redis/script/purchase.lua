-- SPDX-License-Identifier: Apache-2.0
-- purchase.lua: purchases, as src/inventory/engine_purchase.c decides them, question by question in its order.

-- The answer and the user's last ticket of the item (0: none), if a limit refuses; nil: none does.
local function limit_refuses(item, sale, item_row, sale_row, quantity)
    local used = item_row and item_row.used or 0
    local sale_used = sale_row and sale_row.used or 0
    if (item.limit == 0 or used + quantity <= item.limit) and (sale.limit == 0 or sale_used + quantity <= sale.limit) then
        return nil
    end
    if used > 0 then
        return item.limit == 1 and 'ANSWER_ALREADY_BOUGHT' or 'ANSWER_LIMIT_REACHED', item_row.last
    end
    return 'ANSWER_LIMIT_REACHED', 0
end

-- The user's last ticket of the sale, if it is not paid yet; nil: none.
local function open_order(sale, sale_row)
    if sale.one_open_order and sale_row then
        local number = format('%.0f', sale_row.last)
        local ticket = ticket_get(number)
        return ticket and ticket.state == TICKET_HELD and number or nil
    end
end

local function invited(sale, user)
    if not sale.eligible_only then
        return true
    end
    local field = 'e' .. sale.id .. ':' .. user
    local listed = rows[field]
    if listed == nil then
        listed = call('hget', KEYS[2], field)
        rows[field] = listed
    end
    return listed == '1'
end

-- When the user may take the item again; 0: now.
local function cooling_until(sale, item_row)
    if not item_row or item_row.returns == 0 or sale.cooldown == 0 then
        return 0
    end
    local till = item_row.cool * 1000
    return till > now and till or 0
end

-- No win finds room any more: of tickets, or of users.
local function full()
    bounds_read()
    return last - gone == tickets_max or last == TICKET_NUMBER_MAX or users_max - users < BUYER_ROWS_PER_WIN
end

local function win_take(item, sale, user, key, quantity, channel, pay_by)
    last = last + 1
    local number = format('%.0f', last)
    local ticket = { user = user, key = key, item = item.id, quantity = quantity, channel = channel, state = TICKET_HELD,
        pay_by = pay_by }
    tickets[number] = ticket
    ticket_changed(number, ticket)
    if key ~= '0' then
        known_keys[key] = number
        key_changes[#key_changes + 1] = key
        key_changes[#key_changes + 1] = number
    end
    item.free[channel] = item.free[channel] - quantity
    item.held = item.held + quantity
    item_changed(item)
    row_use(item.id .. ':' .. user, quantity, last)
    if sale.counts_users then
        row_use('s' .. sale.id .. ':' .. user, quantity, last)
    end
    return number
end

if kind == 'reserve' then
    local pending_from = tonumber(head[7]) + 1
    local done = tonumber(head[6])

    -- All that the purchases need, in one question to each hash.
    local wanted, wanted_sales = {}, {}
    for n = 9, #fields do
        local id = string.sub(fields[n], 2)
        local item = head[n] and item_read(id, head[n])
        items[id] = item
        if item and sales[item.sale] == nil then
            sales[item.sale] = false
            wanted[#wanted + 1] = 's' .. item.sale
            wanted_sales[#wanted_sales + 1] = item.sale
        end
    end
    if #wanted > 0 then
        local texts = call('hmget', KEYS[1], unpack(wanted))
        for n, id in ipairs(wanted_sales) do
            sale_read(id, texts[n])
        end
    end
    local wanted_rows, wanted_keys = {}, {}
    for _, purchase in ipairs(asked) do
        local item = items[purchase[3]]
        if item then
            local user, sale = purchase[1], sales[item.sale]
            wanted_rows[#wanted_rows + 1] = item.id .. ':' .. user
            if sale.counts_users then
                wanted_rows[#wanted_rows + 1] = 's' .. item.sale .. ':' .. user
            end
            if sale.eligible_only then
                wanted_rows[#wanted_rows + 1] = 'e' .. item.sale .. ':' .. user
            end
            if purchase[2] ~= '0' then
                wanted_keys[#wanted_keys + 1] = purchase[2]
            end
        end
    end
    if #wanted_rows > 0 then
        local texts = call('hmget', KEYS[2], unpack(wanted_rows))
        for n, field in ipairs(wanted_rows) do
            rows[field] = texts[n]
        end
    end
    if #wanted_keys > 0 then
        local texts = call('hmget', KEYS[4], unpack(wanted_keys))
        for n, key in ipairs(wanted_keys) do
            known_keys[key] = texts[n]
        end
    end

    local function repeated(number, item, user, quantity, channel)
        local ticket = ticket_get(number)
        if ticket.user ~= user or ticket.item ~= item.id or ticket.quantity ~= quantity or ticket.channel ~= channel then
            return 'ANSWER_KEY_REUSED'
        end
        return 'ANSWER_REPEATED t' .. number .. (item.price ~= '0' and ' p' .. item.price or '') .. ' y' .. ticket.pay_by .. ' q'
            .. quantity .. ' i' .. item.id
    end

    local function decide(n)
        local user, key, id, quantity, channel, flags, window = unpack(asked[n])
        local item = items[id]
        quantity, channel, flags = tonumber(quantity), tonumber(channel), tonumber(flags)
        if not item then
            return 'ANSWER_UNKNOWN_ITEM'
        end
        if quantity < 1 or quantity > QUANTITY_MAX then
            return 'ANSWER_BAD_QUANTITY'
        end
        if channel >= CHANNELS_MAX then
            return 'ANSWER_BAD_CHANNEL'
        end
        local number = known_keys[key]
        if number then
            return repeated(number, item, user, quantity, channel)
        end
        local sale = sales[item.sale]
        local item_row = row_get(id .. ':' .. user)
        local sale_row = sale.counts_users and row_get('s' .. item.sale .. ':' .. user)
        if item_row and item_row.last >= pending_from then
            return 'ANSWER_IN_PROGRESS'
        end
        -- A user who already has the unit gets that answer even after the end: the first answer may have been lost.
        local over, ticket = limit_refuses(item, sale, item_row, sale_row, quantity)
        if over and ticket ~= 0 then
            return over .. ' t' .. ticket
        end
        local open = open_order(sale, sale_row)
        if open then
            return 'ANSWER_OPEN_ORDER t' .. open
        end
        if flags % (2 * RESERVE_REPEAT) >= RESERVE_REPEAT then
            return 'ANSWER_NOTHING_TO_REPEAT'
        end
        local after_end = flags % (2 * RESERVE_AFTER_END) >= RESERVE_AFTER_END
        local offer = flags % (2 * RESERVE_OFFER) >= RESERVE_OFFER
        if not after_end then
            if sale.ended or now >= sale.stop then
                return 'ANSWER_ENDED'
            end
            if not sale.opened and now < sale.start then
                return 'ANSWER_NOT_STARTED'
            end
            if sale.paused then
                return 'ANSWER_PAUSED'
            end
        end
        if not invited(sale, user) then
            return 'ANSWER_NOT_ELIGIBLE'
        end
        if over then
            return over
        end
        local free = item.free[channel]
        if free < quantity then
            return free == 0 and 'ANSWER_SOLD_OUT' or 'ANSWER_SOLD_OUT f' .. free
        end
        -- There are units, but not for this user yet. Late money is not held up: it is paid already. Nor does a waiter draw.
        if not after_end or offer then
            local again = cooling_until(sale, item_row)
            if again ~= 0 then
                return 'ANSWER_COOLING_DOWN y' .. format('%.0f', again)
            end
            again = not offer and draw_moment(item, sale, channel, user) or 0
            if again ~= 0 then
                return 'ANSWER_NOT_YOUR_MOMENT y' .. format('%.0f', again)
            end
        end
        -- No room; or the database is too far behind.
        if full() or seq - done >= lag_max then
            return 'ANSWER_UNAVAILABLE'
        end
        local pay_by = format('%.0f', now + (offer and tonumber(window) or item.window))
        number = win_take(item, sale, user, key, quantity, channel, pay_by)
        local outcome = 'ANSWER_WON c1 t' .. number .. (item.price ~= '0' and ' p' .. item.price or '') .. ' y' .. pay_by
        log(ARGV[n + 1], outcome)
        return outcome
    end

    local answers = {}
    for n = 1, #asked do
        answers[n + 1] = decide(n)
    end
    return finish(answers)
end
