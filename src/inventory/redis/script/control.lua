-- SPDX-License-Identifier: Apache-2.0
-- control.lua: what operators do (src/inventory/engine_setup.c, engine_stock.c), with the keys of their requests
-- (engine_keys.c).

if kind == 'sale' or kind == 'preheat' or kind == 'gate' or kind == 'users' or kind == 'adjust' or kind == 'move' then
    local users_max, items_max, sales_max = match(part[3], '^%d+ (%d+) %d+ (%d+) (%d+)')
    users_max, items_max, sales_max = tonumber(users_max), tonumber(items_max), tonumber(sales_max)
    local text, origin_key, origin_request = match(ARGV[2], '^(.-) by (%x+) (%x+)')
    text = text or ARGV[2]
    -- Loading users has no row: it is a set, and long lists would drive everything else out.
    local keyed = origin_key and origin_key ~= '0' and kind ~= 'users'

    local function sale_changed(sale)
        local function digit(flag)
            return flag and ' 1' or ' 0'
        end
        part_changes[#part_changes + 1] = 's' .. sale.id
        part_changes[#part_changes + 1] = format('%d %d', sale.start, sale.stop) .. ' ' .. sale.limit .. ' ' .. sale.items
            .. digit(sale.eligible_only) .. digit(sale.one_open_order) .. digit(sale.opened) .. digit(sale.paused)
            .. digit(sale.ended) .. ' ' .. sale.cooldown .. ' ' .. sale.return_draw .. ' ' .. sale.start_draw .. ' '
            .. sale.seed .. format(' %d', sale.opened_ms)
    end

    local function over(sale)
        return sale.ended or now >= sale.stop
    end

    local function define_sale(id, limit, start, stop, eligible_only, one_open_order, start_draw, return_draw, cooldown)
        limit, start, stop = tonumber(limit), tonumber(start), tonumber(stop)
        eligible_only, one_open_order = eligible_only == '1', one_open_order == '1'
        if id == '0' or tonumber(id) >= sales_max then
            return 'ANSWER_CONFLICT dCONFLICT_FULL'
        end
        if stop <= start or cooldown + 0 > COOLDOWN_MAX_S or return_draw + 0 > DRAW_MAX_MS or start_draw + 0 > DRAW_MAX_MS then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_WINDOW'
        end
        local sale = sale_get(id)
        if sale then
            if sale.start == start and sale.stop == stop and sale.limit == limit and sale.eligible_only == eligible_only
                and sale.one_open_order == one_open_order and sale.cooldown == cooldown and sale.return_draw == return_draw
                and sale.start_draw == start_draw then
                return 'ANSWER_UNCHANGED'
            end
            if over(sale) then
                return 'ANSWER_CONFLICT dCONFLICT_ENDED'
            end
            if start ~= sale.start and (sale.opened or now >= sale.start) then
                return 'ANSWER_CONFLICT dCONFLICT_ALREADY_OPEN'
            end
            if sale.items ~= '0' and ((limit == 0) ~= (sale.limit == 0) or one_open_order ~= sale.one_open_order
                or (limit ~= 0 and limit < sale.limit)) then
                return 'ANSWER_CONFLICT dCONFLICT_OTHER_LIMIT'
            end
        else
            sale = { id = id, items = '0', opened = false, paused = false, ended = false, seed = '0000000000000000',
                opened_ms = 0 }
        end
        sale.start, sale.stop, sale.limit, sale.cooldown = start, stop, limit, cooldown
        sale.eligible_only, sale.one_open_order = eligible_only, one_open_order
        sale.return_draw, sale.start_draw = return_draw, start_draw
        if start_draw ~= '0' and sale.seed == '0000000000000000' then
            local word = 4294967296
            local high, low = draws_open().siphash(0, tonumber(id), 0, 0, floor(now / word), now % word, floor(start / word),
                start % word)
            sale.seed = format('%08x%08x', high, low % 2 == 0 and low + 1 or low)
        end
        sale_changed(sale)
        return 'ANSWER_DONE c1'
    end

    local function change_terms(sale, item, price, limit, window)
        if not item or item.sale ~= sale.id then
            return 'ANSWER_CONFLICT dCONFLICT_NOT_PREHEATED'
        end
        local deal = item.price ~= price or item.limit ~= limit
        if not deal and item.window == window then
            return 'ANSWER_UNCHANGED'
        end
        if deal and (item.held ~= '0' or item.sold ~= '0' or item.written_off ~= '0') then
            return 'ANSWER_CONFLICT dCONFLICT_HAS_BUYERS'
        end
        if over(sale) then
            return 'ANSWER_CONFLICT dCONFLICT_ENDED'
        end
        item.price, item.limit, item.window = price, limit, window
        item_changed(item)
        return 'ANSWER_DONE c1'
    end

    local function preheat(id, sale_id, price, limit, window, total, locked, sold_before, safety, units, change)
        limit = tonumber(limit)
        local sale = sale_get(sale_id)
        if not sale then
            return 'ANSWER_UNKNOWN_SALE'
        end
        if id == '0' or tonumber(id) >= items_max then
            return 'ANSWER_CONFLICT dCONFLICT_FULL'
        end
        local item = item_get(id)
        if change == '1' then
            return change_terms(sale, item, price, limit, window)
        end
        if item then
            if item.sale ~= sale_id or item.total ~= total or item.locked ~= locked then
                return 'ANSWER_CONFLICT dCONFLICT_OTHER_TOTAL'
            end
            local same = item.price == price and item.limit == limit and item.window == window
            return same and 'ANSWER_UNCHANGED' or 'ANSWER_CONFLICT dCONFLICT_OTHER_TERMS'
        end
        local free, sum, n = {}, safety, 0
        for word in string.gmatch(units, '%d+') do
            free[n] = tonumber(word)
            sum = sum + free[n]
            n = n + 1
        end
        if total + 0 > UNITS_MAX or locked + sold_before > total + 0 or sum + 0 ~= total - locked - sold_before then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_SPLIT'
        end
        if over(sale) then
            return 'ANSWER_CONFLICT dCONFLICT_ENDED'
        end
        item_changed({ id = id, sale = sale_id, limit = limit, price = price, window = window, total = total, locked = locked,
            given = sum, held = 0, sold = 0, safety = safety, written_off = 0, draws = 0, free = free })
        sale.items = sale.items + 1
        sale_changed(sale)
        return 'ANSWER_DONE c1'
    end

    local function move_gate(id, move)
        move = tonumber(move)
        local sale = sale_get(id)
        if not sale then
            return 'ANSWER_UNKNOWN_SALE'
        end
        if move >= GATE_MOVES then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_MOVE'
        end
        local there
        if move == GATE_MOVE_END then
            there = sale.ended
        elseif move == GATE_MOVE_OPEN then
            there = sale.opened and not sale.paused and not sale.ended
        elseif move == GATE_MOVE_PAUSE then
            there = sale.paused and not sale.ended
        elseif move == GATE_MOVE_RESUME then
            there = not sale.paused and not sale.ended
        else
            there = not sale.ended
        end
        if there then
            return 'ANSWER_UNCHANGED'
        end
        if (sale.ended and move ~= GATE_MOVE_REOPEN) or (now >= sale.stop and move ~= GATE_MOVE_END) then
            return 'ANSWER_CONFLICT dCONFLICT_ENDED'
        end
        if move == GATE_MOVE_OPEN and sale.items == '0' then
            return 'ANSWER_CONFLICT dCONFLICT_NOT_PREHEATED'
        end
        if move == GATE_MOVE_OPEN and sale.paused then
            return 'ANSWER_CONFLICT dCONFLICT_BAD_MOVE'
        end
        if move == GATE_MOVE_OPEN then
            sale.opened = true
            sale.opened_ms = sale.start_draw ~= '0' and now or 0
        elseif move == GATE_MOVE_END then
            sale.ended = true
        else
            sale.paused = move == GATE_MOVE_PAUSE
        end
        if move == GATE_MOVE_REOPEN then
            sale.ended = false
        end
        sale_changed(sale)
        return 'ANSWER_DONE c1'
    end

    local function list_users(id, remove, list)
        remove = remove == '1'
        if not sale_get(id) then
            return 'ANSWER_UNKNOWN_SALE'
        end
        local names = {}
        for user in string.gmatch(list, '%x+') do
            names[#names + 1] = 'e' .. id .. ':' .. user
        end
        local listed = #names > 0 and call('hmget', KEYS[2], unpack(names)) or {}
        local changes, new = 0, 0
        for n = 1, #names do
            new = new + (listed[n] and 0 or 1)
            changes = changes + ((listed[n] == '1') == remove and 1 or 0)
        end
        if changes == 0 then
            return 'ANSWER_UNCHANGED'
        end
        if not remove and users_max - users < new then
            return 'ANSWER_CONFLICT dCONFLICT_FULL'
        end
        local added = {}
        for n, field in ipairs(names) do
            if not remove and not listed[n] and not added[field] then
                added[field] = true
                users = users + 1
            end
            if not remove or listed[n] then
                row_changes[#row_changes + 1] = field
                row_changes[#row_changes + 1] = remove and '0' or '1'
            end
        end
        return 'ANSWER_DONE c1 a' .. changes
    end

    local function adjust(id, channel, delta)
        local item = item_get(id)
        delta = tonumber(delta)
        if not item then
            return 'ANSWER_UNKNOWN_ITEM'
        end
        local pool, name = place_of(item, tonumber(channel))
        if not pool then
            return 'ANSWER_BAD_CHANNEL'
        end
        if delta > 0 and item.total + delta > UNITS_MAX then
            return 'ANSWER_BAD_QUANTITY'
        end
        local applied = delta
        if -delta > pool[name] + 0 then
            applied = -pool[name]
        end
        if applied == 0 then
            return 'ANSWER_UNCHANGED'
        end
        pool[name] = pool[name] + applied
        item.given = item.given + applied
        item.total = item.total + applied
        item_changed(item)
        return 'ANSWER_DONE c1 a' .. applied
    end

    local function move(id, from, to, quantity)
        local item = item_get(id)
        if not item then
            return 'ANSWER_UNKNOWN_ITEM'
        end
        local from_pool, from_name = place_of(item, tonumber(from))
        local to_pool, to_name = place_of(item, tonumber(to))
        if not from_pool or not to_pool or from == to then
            return 'ANSWER_BAD_CHANNEL'
        end
        local applied = tonumber(quantity)
        if applied > from_pool[from_name] + 0 then
            applied = from_pool[from_name] + 0
        end
        if applied == 0 then
            return 'ANSWER_UNCHANGED'
        end
        from_pool[from_name] = from_pool[from_name] - applied
        to_pool[to_name] = to_pool[to_name] + applied
        item_changed(item)
        return 'ANSWER_DONE c1 a' .. applied
    end

    -- The words of each command, and what they are given to.
    local pattern, apply
    if kind == 'sale' then
        pattern, apply = '^sale (%d+) (%d+) (%d+) (%d+) ([01]) ([01]) (%d+) (%d+) (%d+)$', define_sale
    elseif kind == 'preheat' then
        pattern, apply = '^preheat (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) '
            .. '(%d+ %d+ %d+ %d+ %d+ %d+ %d+ %d+) %S+ ([01])$', preheat
    elseif kind == 'gate' then
        pattern, apply = '^gate (%d+) (%d+)$', move_gate
    elseif kind == 'users' then
        pattern, apply = '^users (%d+) ([01]) %d+([%x ]*)$', list_users
    elseif kind == 'adjust' then
        pattern, apply = '^adjust (%d+) (%d+) (-?%d+) [01]$', adjust
    else
        pattern, apply = '^move (%d+) (%d+) (%d+) (%d+)$', move
    end
    if not match(text, pattern) then
        return redis.error_reply('BADCOMMAND ' .. kind .. ' can not be read')
    end

    if keyed then
        local request, outcome = match(call('hget', KEYS[4], 'a' .. origin_key) or '', '^(%x+) (.*)$')
        if request then
            return finish({ '', request == origin_request and outcome or 'ANSWER_KEY_REUSED' })
        end
    end
    local outcome = apply(match(text, pattern))
    if string.sub(outcome, 1, #'ANSWER_DONE c1') == 'ANSWER_DONE c1' then
        log(ARGV[2], outcome)
        if keyed then
            -- The oldest of the last COMMAND_KEYS_MAX is replaced.
            local count = tonumber(call('hget', KEYS[1], 'keys'))
            local slot = 'o' .. count % COMMAND_KEYS_MAX
            local oldest = call('hget', KEYS[4], slot)
            if oldest then
                call('hdel', KEYS[4], 'a' .. oldest)
            end
            local applied = match(outcome, ' a%-?%d+$') or ''
            key_changes = { 'a' .. origin_key, origin_request .. ' ANSWER_DONE r1' .. applied, slot, origin_key }
            part_changes[#part_changes + 1] = 'keys'
            part_changes[#part_changes + 1] = format('%d', count + 1)
        end
    end
    return finish({ '', outcome })
end
