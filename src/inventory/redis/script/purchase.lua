-- SPDX-License-Identifier: Apache-2.0
-- purchase.lua: purchases, as src/inventory/engine_purchase.c decides them, question by question in its order; and before
-- that, where a gateway asks for it, the two questions of the door that all gateways must ask together (src/funnel/door.c).

-- The answer and the user's last ticket of the item ('0': none), if a limit refuses; nil: none does.
local function limit_refuses(item, sale, used, latest, sale_used, quantity)
    if (item.limit == 0 or used + quantity <= item.limit) and (sale.limit == 0 or sale_used + quantity <= sale.limit) then
        return nil
    end
    if used > 0 then
        return item.limit == 1 and 'ANSWER_ALREADY_BOUGHT' or 'ANSWER_LIMIT_REACHED', latest
    end
    return 'ANSWER_LIMIT_REACHED', '0'
end

-- When the user may take the item again; 0: now. What a row says: how often the user gave it up, and until when (in seconds)
-- it can't be taken again; texts, empty in most rows.
local function cooling_until(sale, returns, cool)
    if returns == '' or sale.cooldown == '0' then
        return 0
    end
    local till = cool * 1000
    return till > now and till or 0
end

local function ticket_get(number)
    local ticket = tickets[number]
    if ticket == nil then
        ticket = call('hget', KEYS[3], number)
    end
    if ticket and type(ticket) == 'string' then
        local user, key, item, quantity, channel, state, pay_by = match(ticket, '^(%x+) (%x+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
        ticket = { user = user, key = key, item = item, quantity = quantity, channel = channel, state = tonumber(state),
            pay_by = pay_by }
    end
    tickets[number] = ticket
    return ticket
end

-- The user's last ticket of the sale, if it is not paid yet; nil: none.
local function open_order(number)
    local ticket = ticket_get(number)
    return ticket and ticket.state == TICKET_HELD and number or nil
end

-- No win finds room any more: of tickets, or of users. The second: how many records may wait for the database.
local tickets_max, users_max, lag_max, gone
local function full()
    if not lag_max then
        tickets_max, users_max, lag_max, gone = match(part[3], '^(%d+) (%d+) %d+ %d+ %d+ (%d+) (%d+)$')
        tickets_max, users_max, lag_max = tonumber(tickets_max), tonumber(users_max), tonumber(lag_max)
    end
    return last - gone == tickets_max or last == TICKET_NUMBER_MAX or users_max - users < BUYER_ROWS_PER_WIN, lag_max
end

-- `row`: what the user had before; nil or false: nothing.
local function row_use(field, row, quantity, number)
    if row then
        local used, rest = match(row, '^(%d+) %d+(.*)$')
        row = used + quantity .. ' ' .. number .. rest
    else
        row = quantity .. ' ' .. number
        users = users + 1
    end
    rows[field] = row
    local n = #row_changes
    row_changes[n + 1], row_changes[n + 2] = field, row
end

-- `wish`: quantity, its text, channel, and the words of a ticket between its key and the time to pay.
local function win_take(item, wish, user, key, pay_by, item_field, item_row, sale_field, sale_row)
    last = last + 1
    local number = format('%d', last)
    local ticket = user .. ' ' .. key .. wish.ticket_words .. pay_by
    tickets[number] = ticket
    local n = #ticket_changes
    ticket_changes[n + 1], ticket_changes[n + 2] = number, ticket
    if key ~= '0' then
        known_keys[key] = number
        n = #key_changes
        key_changes[n + 1], key_changes[n + 2] = key, number
    end
    local free, channel, quantity = item.free, wish.channel, wish.quantity
    free[channel] = free[channel] - quantity
    item.held = item.held + quantity
    if not item.changed then
        item.changed = true
        changed_items[#changed_items + 1] = item
    end
    row_use(item_field, item_row, wish.quantity_text, number)
    if sale_field then
        row_use(sale_field, sale_row, wish.quantity_text, number)
    end
    return number
end

if count then
    local told_to, done_to = tonumber(told), tonumber(done)

    -- All that the purchases need, in one question to each hash.
    local wanted, wanted_sales = {}, {}
    for n = 4, #fields do
        local text = part[n]
        if text then
            local item = item_read(string.sub(fields[n], 2), text)
            item.price_word = item.price ~= '0' and ' p' .. item.price or ''
            if sales[item.sale] == nil then
                sales[item.sale] = false
                wanted[#wanted + 1] = 's' .. item.sale
                wanted_sales[#wanted_sales + 1] = item.sale
            end
        end
    end
    if #wanted > 0 then
        local texts = call('hmget', KEYS[1], unpack(wanted))
        for n = 1, #wanted do
            local sale = sale_read(wanted_sales[n], texts[n])
            sale.field = 's' .. sale.id .. ':'
            sale.rows = 1 + (sale.counts_users and 1 or 0) + (sale.eligible_only and 1 or 0)
        end
    end
    -- The rows of each purchase in turn: item, sale, list of eligible users; and its key.
    local wanted_rows, row_count, wanted_keys, key_count = { unpack(argv) }, 0, { unpack(argv, 1, count) }, 0
    for n = 1, count do
        local id = wishes_of[n].item
        local item = items[id]
        if item then
            local user, key, sale = argv[3 * n], argv[3 * n + 1], sales[item.sale]
            row_count = row_count + 1
            wanted_rows[row_count] = id .. ':' .. user
            if sale.counts_users then
                row_count = row_count + 1
                wanted_rows[row_count] = sale.field .. user
            end
            if sale.eligible_only then
                row_count = row_count + 1
                wanted_rows[row_count] = 'e' .. sale.id .. ':' .. user
            end
            if key ~= '0' then
                key_count = key_count + 1
                wanted_keys[key_count] = key
            end
        end
    end
    local row_texts = row_count > 0 and call('hmget', KEYS[2], unpack(wanted_rows, 1, row_count))
    local key_texts = key_count > 0 and call('hmget', KEYS[4], unpack(wanted_keys, 1, key_count))

    -- Marks of passes that are valid once, and the times of a user's last requests: what stands there, and what is set.
    local door_values, door_changes = {}, {}
    local door_refuses
    if doors then
        local names = {}
        for n, door in pairs(doors) do
            door.mark_key = door.mark ~= '0' and 'PREFIX:s:' .. door.mark
            door.window_key = door.requests > 0 and door.window > 0 and 'PREFIX:w:' .. argv[3 * n]
            names[#names + 1] = door.mark_key or nil
            names[#names + 1] = door.window_key or nil
        end
        local values = #names > 0 and call('mget', unpack(names))
        for n = 1, #names do
            door_values[names[n]] = values[n]
        end

        local function door_set(name, value, life_ms)
            door_values[name] = value
            door_changes[#door_changes + 1] = { name, value, format('%d', life_ms) }
        end

        -- In any window at most so many. All count, those that are refused too: a user who keeps sending stays refused.
        local function window_refuses(door)
            local times = {}
            for word in string.gmatch(door_values[door.window_key] or '', '%d+') do
                times[#times + 1] = word
            end
            times[#times + 1] = format('%d', now)
            local first = #times - door.requests
            local before = first > 0 and times[first]
            door_set(door.window_key, table.concat(times, ' ', first > 0 and first + 1 or 1), door.window)
            -- A time far ahead is a clock that was set back: nobody waits for it to come again.
            if before and now - before < door.window and before - now < CLOCK_SKEW_MS then
                local age = now - times[first + 1]
                return 'too-fast ' .. (age <= 0 and door.window or age < door.window and door.window - age or 1)
            end
        end

        -- The order of src/funnel/door.c: a pass that was used counts no request, one that is too fast uses up no pass.
        door_refuses = function(door)
            local mark = door.mark_key
            local mark_until = mark and door_values[mark]
            if mark_until and now < tonumber(mark_until) then
                return 'pass-spent'
            end
            local refused = door.window_key and window_refuses(door)
            if refused then
                return refused
            end
            if mark and now < door.mark_until then
                door_set(mark, format('%d', door.mark_until), door.mark_until - now)
            end
        end
    end

    -- `at`: where its rows are; `number`: the ticket of its key, if there is one.
    local unreadable
    local function decide(n, at, number)
        local user, key, wish, door = argv[3 * n], argv[3 * n + 1], wishes_of[n], doors and doors[n]
        local item, quantity, channel, flags = items[wish.item], wish.quantity, wish.channel, wish.flags
        if not item then
            return 'ANSWER_UNKNOWN_ITEM'
        end
        if quantity < 1 or quantity > QUANTITY_MAX then
            return 'ANSWER_BAD_QUANTITY'
        end
        if channel >= CHANNELS_MAX then
            return 'ANSWER_BAD_CHANNEL'
        end
        -- Whom the door refuses still hears an old answer, but wins nothing new.
        local refused = door and door_refuses(door)
        number = number or known_keys[key]
        if number then
            local ticket = ticket_get(number)
            if ticket.user ~= user or ticket.item ~= item.id or ticket.quantity + 0 ~= quantity
                or ticket.channel + 0 ~= channel then
                return 'ANSWER_KEY_REUSED'
            end
            return 'ANSWER_REPEATED t' .. number .. item.price_word .. ' y' .. ticket.pay_by .. ' q' .. ticket.quantity .. ' i'
                .. item.id
        end
        local sale = sales[item.sale]
        local item_field, sale_field = wanted_rows[at], nil
        local item_row, sale_row = rows[item_field] or row_texts[at], nil
        local used, latest, returns, cool, sale_used = 0, '0', '', '', 0
        if item_row then
            used, latest, returns, cool = match(item_row, '^(%d+) (%d+) ?(%d*) ?(%d*)$')
            if latest + 0 > told_to then
                return 'ANSWER_IN_PROGRESS'
            end
            used = tonumber(used)
        end
        local open
        if sale.counts_users then
            at = at + 1
            sale_field = wanted_rows[at]
            sale_row = rows[sale_field] or row_texts[at]
            if sale_row then
                sale_used, open = match(sale_row, '^(%d+) (%d+)')
            end
        end
        -- A user who already has the unit gets that answer even after the end: the first answer may have been lost.
        local over, ticket = limit_refuses(item, sale, used, latest, sale_used, quantity)
        if over and ticket ~= '0' then
            return over .. ' t' .. ticket
        end
        open = open and sale.one_open_order and open_order(open)
        if open then
            return 'ANSWER_OPEN_ORDER t' .. open
        end
        if refused then
            return refused
        end
        local after_end, offer
        if flags ~= 0 then
            if flags % (2 * RESERVE_REPEAT) >= RESERVE_REPEAT then
                return 'ANSWER_NOTHING_TO_REPEAT'
            end
            after_end = flags % (2 * RESERVE_AFTER_END) >= RESERVE_AFTER_END
            offer = flags % (2 * RESERVE_OFFER) >= RESERVE_OFFER
        end
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
        if sale.eligible_only and row_texts[at + 1] ~= '1' then
            return 'ANSWER_NOT_ELIGIBLE'
        end
        if over then
            return over
        end
        local free = item.free[channel] + 0
        item.free[channel] = free
        if free < quantity then
            local outcome = free == 0 and 'ANSWER_SOLD_OUT' or 'ANSWER_SOLD_OUT f' .. free
            wish.sold_out = not sale.eligible_only and #lines == 0 and outcome
            return outcome
        end
        -- There are units, but not for this user yet. Late money is not held up: it is paid already. Nor does a waiter draw.
        if not after_end or offer then
            local again = cooling_until(sale, returns, cool)
            if again ~= 0 then
                return 'ANSWER_COOLING_DOWN y' .. format('%d', again)
            end
            again = not offer and (sale.start_draw ~= '0' or now < item.draws) and draws_open().moment(item, sale, channel, user)
                or 0
            if again ~= 0 then
                return 'ANSWER_NOT_YOUR_MOMENT y' .. format('%d', again)
            end
        end
        -- No room; or the database is too far behind.
        local no_room, lag = full()
        if no_room or seq - done_to >= lag then
            return 'ANSWER_UNAVAILABLE'
        end
        -- What is written is checked; a refusal writes neither.
        if not match(user, '^%x+$') or not match(key, '^%x+$') then
            unreadable = n
            return ''
        end
        if not wish.ticket_words then
            wish.ticket_words = ' ' .. item.id .. ' ' .. wish.quantity_text .. ' ' .. channel .. ' TICKET_HELD '
            wish.pay_by = format('%d', now + (offer and wish.window or item.window))
            wish.won_words = item.price_word .. ' y' .. wish.pay_by
        end
        number = win_take(item, wish, user, key, wish.pay_by, item_field, item_row, sale_field, sale_row)
        local outcome = 'ANSWER_WON c1 t' .. number .. wish.won_words
        seq = seq + 1
        lines[#lines + 1] = 'reserve ' .. user .. ' ' .. key .. ' ' .. wish.words .. ' = ' .. outcome
        return outcome
    end

    local answers, at, key_number = { unpack(argv, 1, count + 1) }, 1, 0
    for n = 1, count do
        local wish = wishes_of[n]
        local item = items[wish.item]
        local number, its_rows
        if item then
            if argv[3 * n + 1] ~= '0' then
                key_number = key_number + 1
                number = key_texts[key_number]
            end
            its_rows = sales[item.sale].rows
        end
        -- Sold out for one who has nothing is sold out for all who have nothing, as long as nothing was won in this call.
        if wish.sold_out and #lines == 0 and not number and not row_texts[at] and not (its_rows > 1 and row_texts[at + 1])
            and not (doors and doors[n]) then
            answers[n + 1] = wish.sold_out
        else
            answers[n + 1] = decide(n, at, number)
        end
        at = item and at + its_rows or at
    end
    if unreadable then
        return redis.error_reply('BADCOMMAND purchase ' .. unreadable .. ' can not be read')
    end
    for n = 1, #door_changes do
        call('set', door_changes[n][1], door_changes[n][2], 'px', door_changes[n][3])
    end
    return finish(answers)
end
