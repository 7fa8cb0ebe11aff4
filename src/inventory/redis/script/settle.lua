-- SPDX-License-Identifier: Apache-2.0
-- settle.lua: the steps of a ticket, with those in line, as src/inventory/engine_purchase.c has them.

if kind == 'settle' then
    local number, step, to, let_go, window, count, line = match(ARGV[2],
        '^settle (%d+) (%d+) (%d+) ([01]) (%d+) (%d+)(.*)$')
    if not number then
        return redis.error_reply('BADCOMMAND settle can not be read')
    end
    step, to, let_go = tonumber(step), tonumber(to), let_go == '1'
    local waiters = {}
    for user, key, quantity in string.gmatch(line, ' (%x+) (%x+) (%d+)') do
        waiters[#waiters + 1] = { user = user, key = key, quantity_text = quantity, quantity = tonumber(quantity) }
    end
    if #waiters ~= tonumber(count) or #waiters > WAITERS_PER_RETURN then
        return redis.error_reply('BADCOMMAND settle has other waiters than it says')
    end

    local function key_known(key)
        if known_keys[key] == nil then
            known_keys[key] = call('hget', KEYS[4], key)
        end
        return known_keys[key]
    end

    local function invited(sale, user)
        return not sale.eligible_only or row_get('e' .. sale.id .. ':' .. user) == '1'
    end

    -- A user who is over a limit, has an open order, let the item go a short while ago or had this offer already is passed over.
    local function waiter_may(item, sale, waiter)
        if waiter.user == '0' or waiter.quantity < 1 or waiter.quantity > QUANTITY_MAX or full()
            or not invited(sale, waiter.user) then
            return false
        end
        if waiter.key ~= '0' and key_known(waiter.key) then
            return false
        end
        local used, latest, returns, cool = row_words(row_get(item.id .. ':' .. waiter.user))
        local sale_row = sale.counts_users and row_get('s' .. sale.id .. ':' .. waiter.user)
        local sale_used, sale_latest = row_words(sale_row)
        if limit_refuses(item, sale, used, latest, sale_used, waiter.quantity) then
            return false
        end
        return not (sale_row and sale.one_open_order and open_order(sale_latest)) and cooling_until(sale, returns, cool) == 0
    end

    local function row_set(field, row)
        rows[field] = row
        row_changes[#row_changes + 1] = field
        row_changes[#row_changes + 1] = row
    end

    -- A returned unit frees the purchase mark: the user may buy again, after the cool-down if they gave it up.
    local function allowance_give_back(item, sale, ticket, gave_up)
        local field = item.id .. ':' .. ticket.user
        local used, latest, returns, cool = row_words(row_get(field))
        if gave_up and sale.cooldown ~= '0' then
            local before = tonumber(returns) or 0
            local doublings = before < COOLDOWN_DOUBLINGS_MAX and before or COOLDOWN_DOUBLINGS_MAX
            local till = floor((now + 999) / 1000) + sale.cooldown * 2 ^ doublings
            cool = format('%d', till < 4294967295 and till or 4294967295)
            returns = before < BUYER_RETURNS_MAX and before + 1 or before
        end
        row_set(field, used - ticket.quantity .. ' ' .. latest .. (returns ~= '' and ' ' .. returns .. ' ' .. cool or ''))
        if sale.counts_users then
            field = 's' .. sale.id .. ':' .. ticket.user
            local row = row_get(field)
            if row then
                used, latest = row_words(row)
                row_set(field, used - ticket.quantity .. ' ' .. latest)
            end
        end
    end

    -- Units came to an empty pool: a draw decides who gets them.
    local function return_draw_begin(item, sale, ticket)
        if sale.return_draw == '0' then
            return
        end
        local draw = draws_open()
        local halves, words = draw.halves, draw.get(item)
        local seed_h, seed_l = halves(words[2 * to + 2])
        local key_h, key_l = halves(ticket.key)
        local user_h, user_l = halves(ticket.user)
        local high, low = draw.siphash(seed_h, seed_l, 0, last, bit.bxor(key_h, floor(now / 4294967296)),
            bit.bxor(key_l, now % 4294967296), user_h, user_l)
        local till = now + sale.return_draw
        words[2 * to + 1], words[2 * to + 2] = format('%d', till), format('%08x%08x', high, low)
        item.draws = till > item.draws and till or item.draws
        part_changes[#part_changes + 1] = 'd' .. item.id
        part_changes[#part_changes + 1] = table.concat(words, ' ')
        item_changed(item)
    end

    local function waiters_serve(item, sale, returned)
        local first, served, bit_value = nil, 0, 1
        local pay_by = format('%d', now + window)
        for _, waiter in ipairs(waiters) do
            if waiter.quantity <= returned and waiter_may(item, sale, waiter) then
                local item_field = item.id .. ':' .. waiter.user
                local sale_field = sale.counts_users and 's' .. sale.id .. ':' .. waiter.user
                waiter.channel = to
                waiter.ticket_words = ' ' .. item.id .. ' ' .. waiter.quantity_text .. ' ' .. to .. ' TICKET_HELD '
                local won = win_take(item, waiter, waiter.user, waiter.key, pay_by, item_field, row_get(item_field), sale_field,
                    sale_field and row_get(sale_field))
                returned = returned - waiter.quantity
                first = first or won
                served = served + bit_value
            end
            bit_value = bit_value * 2
        end
        return first, served, pay_by
    end

    local function settle()
        local ticket = ticket_get(number)
        if not ticket then
            -- What was forgotten was returned: only that step was taken already.
            if number == '0' or tonumber(number) > last then
                return 'ANSWER_UNKNOWN_TICKET'
            end
            return step == SETTLE_RETURN and 'ANSWER_UNCHANGED' or 'ANSWER_CONFLICT dCONFLICT_BAD_MOVE'
        end
        local item = item_get(ticket.item)
        local sale = sale_get(item.sale)
        local whose = ' u' .. ticket.user
        local what = ' q' .. ticket.quantity .. ' i' .. ticket.item
        local to_pool = to < CHANNELS_MAX
        if step >= SETTLE_STEPS or not (to_pool or to == CHANNEL_SAFETY) or (let_go and step ~= SETTLE_RETURN) then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_MOVE' .. whose .. what
        end
        local goal = step == SETTLE_SOLD and TICKET_SOLD or step == SETTLE_RETURN and TICKET_RETURNED or TICKET_WRITTEN_OFF
        if ticket.state == goal then
            return 'ANSWER_UNCHANGED' .. whose .. what
        end
        local held = ticket.state == TICKET_HELD
        if not (held and step ~= SETTLE_WRITE_OFF) and not (ticket.state == TICKET_SOLD and step ~= SETTLE_SOLD) then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_MOVE' .. whose .. what
        end
        local to_empty = step == SETTLE_RETURN and to_pool and item.free[to] + 0 == 0
        if held then
            item.held = item.held - ticket.quantity
        else
            item.sold = item.sold - ticket.quantity
        end
        if step == SETTLE_SOLD then
            item.sold = item.sold + ticket.quantity
        elseif step == SETTLE_WRITE_OFF then
            item.written_off = item.written_off + ticket.quantity
        elseif to_pool then
            item.free[to] = item.free[to] + ticket.quantity
        else
            item.safety = item.safety + ticket.quantity
        end
        item_changed(item)
        ticket.state = goal
        ticket_changes[1] = number
        ticket_changes[2] = ticket.user .. ' ' .. ticket.key .. ' ' .. ticket.item .. ' ' .. ticket.quantity .. ' '
            .. ticket.channel .. ' ' .. goal .. ' ' .. ticket.pay_by
        local first, served, pay_by = nil, 0, nil
        if step == SETTLE_RETURN then
            allowance_give_back(item, sale, ticket, let_go and held)
            if to_pool then
                first, served, pay_by = waiters_serve(item, sale, tonumber(ticket.quantity))
            end
        end
        if to_empty and item.free[to] + 0 > 0 then
            return_draw_begin(item, sale, ticket)
        end
        local outcome = 'ANSWER_DONE c1'
        if first then
            outcome = outcome .. ' d' .. served .. ' t' .. first .. (item.price ~= '0' and ' p' .. item.price or '') .. ' y'
                .. pay_by
        end
        outcome = outcome .. whose .. ' a' .. ticket.quantity .. what
        log(ARGV[2], outcome)
        return outcome
    end

    return finish({ '', settle() })
end
