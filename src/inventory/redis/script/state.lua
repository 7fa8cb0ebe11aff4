-- SPDX-License-Identifier: Apache-2.0
-- state.lua: the beginning of the script: what a call reads first, the fields of the hashes in Lua, what it writes at the end.
--
-- The files of this folder are one script; the Makefile says in which order. docs/redis.md has the keys and their fields,
-- docs/queue.md what goes to the stream. A name in capitals is a constant of the C sources (script.c puts the number there).
-- Rules that the text keeps:
--   A check that fails returns before the first write: an error of a script takes nothing back.
--   Users, keys, seeds and prices have 64 bits. A number of Lua holds 53, so these stay texts: compared, never counted with.
--   Times and counts are numbers; times are written by format('%.0f'), since Lua writes 14 digits of a number by itself.
--   Functions that few calls need stand within the branch that needs them: making one costs each call 0.1 µs.
local call, match, format, floor = redis.call, string.match, string.format, math.floor

if KEYS[1] ~= 'PREFIX:m' then
    return redis.error_reply('WRONGPART this script is for PREFIX')
end
local kind = match(ARGV[2] or '', '^[%l-]+')
local fields = { 'epoch', 'seq', 'time', 'last', 'users', 'done', 'told', 'bounds' }
local asked = {}
if kind == 'reserve' then
    if #ARGV > 1 + PURCHASES_PER_CALL then
        return redis.error_reply('BADCOMMAND more than PURCHASES_PER_CALL purchases')
    end
    local seen = {}
    for i = 2, #ARGV do
        local purchase = { match(ARGV[i], '^reserve (%x+) (%x+) (%d+) (%d+) (%d+) (%d+) (%d+)$') }
        local item = purchase[3]
        if not item then
            return redis.error_reply('BADCOMMAND purchase ' .. i - 1 .. ' can not be read')
        end
        asked[i - 1] = purchase
        if not seen[item] then
            seen[item] = true
            fields[#fields + 1] = 'i' .. item
        end
    end
elseif #ARGV ~= 2 then
    return redis.error_reply('BADCOMMAND one command, or purchases only')
end

local head = call('hmget', KEYS[1], unpack(fields))
if head[1] ~= 'EPOCH' then
    return redis.error_reply('FENCED this script is of epoch EPOCH, the partition is at ' .. (head[1] or 'none'))
end
local seq, last, users = tonumber(head[2]), tonumber(head[4]), tonumber(head[5])
local tickets_max, users_max, places_max, items_max, sales_max, lag_max, gone

-- The time of the server, or the one that a test gives; never before that of the last record.
local now = tonumber(ARGV[1])
if not now then
    return redis.error_reply('BADCOMMAND no time')
end
if now == 0 then
    local time = call('time')
    now = time[1] * 1000 + floor(time[2] / 1000)
end
if now < tonumber(head[3]) then
    now = tonumber(head[3])
end

-- What was read or changed: false is "there is none", nil "not read yet".
local items, sales, rows, tickets, known_keys = {}, {}, {}, {}, {}
-- What is written at the end, as the arguments of HSET.
local part_changes, row_changes, ticket_changes, key_changes = {}, {}, {}, {}
local changed_items, changed_rows, lines = {}, {}, {}

local function item_read(id, text)
    local sale, limit, price, window, total, locked, given, held, sold, safety, written_off, draws, f0, f1, f2, f3, f4, f5,
        f6, f7 = match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) '
            .. '(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
    local item = { id = id, sale = sale, limit = tonumber(limit), price = price, window = tonumber(window),
        total = tonumber(total), locked = tonumber(locked), given = tonumber(given), held = tonumber(held),
        sold = tonumber(sold), safety = tonumber(safety), written_off = tonumber(written_off), draws = tonumber(draws),
        free = { [0] = tonumber(f0), tonumber(f1), tonumber(f2), tonumber(f3), tonumber(f4), tonumber(f5), tonumber(f6),
            tonumber(f7) } }
    items[id] = item
    return item
end

local function item_get(id)
    local item = items[id]
    if item == nil then
        local text = call('hget', KEYS[1], 'i' .. id)
        item = text and item_read(id, text)
        items[id] = item
    end
    return item
end

local function item_changed(item)
    if not item.changed then
        item.changed = true
        changed_items[#changed_items + 1] = item
    end
end

local function sale_read(id, text)
    local start, stop, limit, count, eligible_only, one_open_order, opened, paused, ended, cooldown, return_draw, start_draw,
        seed, opened_ms = match(text, '^(%d+) (%d+) (%d+) (%d+) ([01]) ([01]) ([01]) ([01]) ([01]) (%d+) (%d+) (%d+) '
            .. '(%x+) (%d+)$')
    local sale = { id = id, start = tonumber(start), stop = tonumber(stop), limit = tonumber(limit), items = tonumber(count),
        eligible_only = eligible_only == '1', one_open_order = one_open_order == '1', opened = opened == '1',
        paused = paused == '1', ended = ended == '1', cooldown = tonumber(cooldown), return_draw = tonumber(return_draw),
        start_draw = tonumber(start_draw), seed = seed, opened_ms = tonumber(opened_ms) }
    sale.counts_users = sale.limit ~= 0 or sale.one_open_order
    sales[id] = sale
    return sale
end

local function sale_get(id)
    local sale = sales[id]
    if sale == nil then
        local text = call('hget', KEYS[1], 's' .. id)
        sale = text and sale_read(id, text)
        sales[id] = sale
    end
    return sale
end

-- What a user has of an item or a sale: units, the last ticket; and if the user gave the item up: how often, and until when
-- (in seconds) it can't be taken again.
local function row_get(field)
    local row = rows[field]
    if row == nil then
        row = call('hget', KEYS[2], field)
    end
    if row and type(row) == 'string' then
        local used, latest, returns, cool = match(row, '^(%d+) (%d+) ?(%d*) ?(%d*)$')
        row = { used = tonumber(used), last = tonumber(latest), returns = tonumber(returns) or 0, cool = tonumber(cool) or 0 }
    end
    rows[field] = row
    return row
end

local function row_changed(field, row)
    if not row.changed then
        row.changed = true
        changed_rows[#changed_rows + 1] = field
    end
end

local function row_use(field, quantity, number)
    local row = row_get(field)
    if not row then
        row = { used = 0, returns = 0, cool = 0 }
        rows[field] = row
        users = users + 1
    end
    row.used = row.used + quantity
    row.last = number
    row_changed(field, row)
end

local function ticket_get(number)
    local ticket = tickets[number]
    if ticket == nil then
        local text = call('hget', KEYS[3], number)
        ticket = false
        if text then
            local user, key, item, quantity, channel, state, pay_by = match(text,
                '^(%x+) (%x+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
            ticket = { user = user, key = key, item = item, quantity = tonumber(quantity), channel = tonumber(channel),
                state = tonumber(state), pay_by = pay_by }
        end
        tickets[number] = ticket
    end
    return ticket
end

local function ticket_changed(number, ticket)
    local n = #ticket_changes
    ticket_changes[n + 1] = number
    ticket_changes[n + 2] = ticket.user .. ' ' .. ticket.key .. ' ' .. ticket.item .. ' ' .. ticket.quantity .. ' '
        .. ticket.channel .. ' ' .. ticket.state .. ' ' .. ticket.pay_by
end

local function bounds_read()
    if not lag_max then
        local a, b, c, d, e, f, g = match(head[8], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
        tickets_max, users_max, places_max, items_max, sales_max, lag_max, gone = tonumber(a), tonumber(b), tonumber(c),
            tonumber(d), tonumber(e), tonumber(f), tonumber(g)
    end
end

-- A command that changed something: one record.
local function log(text, outcome)
    seq = seq + 1
    lines[#lines + 1] = text .. ' = ' .. outcome
end

-- Everything that changed, and the answers. Nothing is written for a call that changed nothing.
local function finish(answers)
    local time = head[3]
    if #lines > 0 then
        time = format('%.0f', now)
        local n = #part_changes
        part_changes[n + 1], part_changes[n + 2] = 'seq', format('%.0f', seq)
        part_changes[n + 3], part_changes[n + 4] = 'time', time
        part_changes[n + 5], part_changes[n + 6] = 'last', format('%.0f', last)
        part_changes[n + 7], part_changes[n + 8] = 'users', format('%.0f', users)
        n = n + 8
        for _, item in ipairs(changed_items) do
            local free = item.free
            part_changes[n + 1] = 'i' .. item.id
            part_changes[n + 2] = item.sale .. ' ' .. item.limit .. ' ' .. item.price .. ' ' .. item.window .. ' ' .. item.total
                .. ' ' .. item.locked .. ' ' .. item.given .. ' ' .. item.held .. ' ' .. item.sold .. ' ' .. item.safety .. ' '
                .. item.written_off .. ' ' .. format('%.0f', item.draws) .. ' ' .. free[0] .. ' ' .. free[1] .. ' ' .. free[2]
                .. ' ' .. free[3] .. ' ' .. free[4] .. ' ' .. free[5] .. ' ' .. free[6] .. ' ' .. free[7]
            n = n + 2
        end
        call('hset', KEYS[1], unpack(part_changes))
        n = #row_changes
        for _, field in ipairs(changed_rows) do
            local row = rows[field]
            row_changes[n + 1] = field
            row_changes[n + 2] = row.used .. ' ' .. row.last
                .. (row.returns > 0 and ' ' .. row.returns .. ' ' .. row.cool or '')
            n = n + 2
        end
        if n > 0 then
            call('hset', KEYS[2], unpack(row_changes))
        end
        if #ticket_changes > 0 then
            call('hset', KEYS[3], unpack(ticket_changes))
        end
        if #key_changes > 0 then
            call('hset', KEYS[4], unpack(key_changes))
        end
        call('xadd', KEYS[5], format('%.0f-0', seq), 'e', 'EPOCH', 't', time, 'r', table.concat(lines, '\n'))
    end
    answers[1] = 'EPOCH ' .. format('%.0f', seq) .. ' ' .. head[6] .. ' ' .. head[7] .. ' ' .. format('%.0f', now)
    return answers
end
