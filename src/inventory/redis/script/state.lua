-- SPDX-License-Identifier: Apache-2.0
-- state.lua: the beginning of the script: what a call reads first, the fields of the hashes in Lua, what it writes at the end.
--
-- The files of this folder are one script; the Makefile says in which order. docs/redis.md has the keys and their fields,
-- docs/queue.md what goes to the stream. A name in capitals is a constant of the C sources (script.c puts the number there).
-- Rules that the text keeps:
--   A check that fails returns before the first write: an error of a script takes nothing back.
--   Users, keys, seeds and prices have 64 bits. A number of Lua holds 53, so these stay texts: compared, never counted with.
--   Times and counts are written by format('%d'), or by '..' below 14 digits, which is what Lua writes of a number by itself.
--   Numbers of an item and a sale stay texts until they are counted with: most of them are only written back, and each way
--   costs 0.2 to 0.4 µs. Arithmetic makes a number of a text; what is compared needs "+ 0".
--   A table that grows is made anew at each power of two; { unpack(ARGV) } is one of the right size at once.
--   A function costs each call that gets past it 0.1 to 0.5 µs. So those that purchases do not need come after purchase.lua.
local call, match, format, floor = redis.call, string.match, string.format, math.floor

if KEYS[1] ~= 'PREFIX:m' then
    return redis.error_reply('WRONGPART this script is for PREFIX')
end
local argv = ARGV
local kind = match(argv[2] or '', '^[%l-]+')
local fields = { 'epoch', 'head', 'bounds' }
-- Purchases: user, key and words of purchase n are argv[3 * n] and the next two. Words that are equal are read once. With
-- questions of the door (purchase.lua) they have more words; the record has the purchase only.
local count, wishes_of, doors
if argv[2] == 'reserve' then
    count = (#argv - 2) / 3
    if count < 1 or count > PURCHASES_PER_CALL or count ~= floor(count) then
        return redis.error_reply('BADCOMMAND 1 to PURCHASES_PER_CALL purchases of three words each')
    end
    wishes_of = { unpack(argv, 1, count) }
    local wishes, wanted_items = {}, {}
    for n = 1, count do
        local words = argv[3 * n + 2]
        local wish = wishes[words]
        if not wish then
            local plain, item, quantity, channel, flags, window, rest = match(words, '^((%d+) (%d+) (%d+) (%d+) (%d+))(.*)$')
            if rest and rest ~= '' then
                local mark, mark_until, requests, length = match(rest, '^ door (%x+) (%d+) (%d+) (%d+)$')
                doors = doors or {}
                doors[n] = { mark = mark, mark_until = tonumber(mark_until), requests = tonumber(requests),
                    window = tonumber(length) }
                item = mark and doors[n].requests <= REQUESTS_PER_WINDOW and match(argv[3 * n], '^%x+$') and item
                wish = wishes[plain]
            end
            if not item then
                return redis.error_reply('BADCOMMAND purchase ' .. n .. ' can not be read')
            end
            if not wish then
                wish = { words = plain, item = item, quantity_text = quantity, quantity = tonumber(quantity),
                    channel = tonumber(channel), flags = tonumber(flags), window = window }
                wishes[plain] = wish
            end
            if not wanted_items[item] then
                wanted_items[item] = true
                fields[#fields + 1] = 'i' .. item
            end
        end
        wishes_of[n] = wish
    end
elseif #argv ~= 2 then
    return redis.error_reply('BADCOMMAND one command, or purchases only')
end

local part = call('hmget', KEYS[1], unpack(fields))
if part[1] ~= 'EPOCH' then
    return redis.error_reply('FENCED this script is of epoch EPOCH, the partition is at ' .. (part[1] or 'none'))
end
local seq, time, last, users, done, told = match(part[2], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
seq, last, users = tonumber(seq), tonumber(last), tonumber(users)

-- The time of the server, or the one that a test gives; never before that of the last record.
local now = tonumber(argv[1])
if not now then
    return redis.error_reply('BADCOMMAND no time')
end
if now == 0 then
    local server = call('time')
    now = server[1] * 1000 + floor(server[2] / 1000)
end
if now < tonumber(time) then
    now = tonumber(time)
end

-- What was read or changed: false is "there is none", nil "not read yet". Rows and tickets are kept as their texts.
local items, sales, rows, tickets, known_keys = {}, {}, {}, {}, {}
-- What is written at the end, as the arguments of HSET.
local part_changes, row_changes, ticket_changes, key_changes = {}, {}, {}, {}
local changed_items, lines = {}, {}

local function item_read(id, text)
    local sale, limit, price, window, total, locked, given, held, sold, safety, written_off, draws, f0, f1, f2, f3, f4, f5,
        f6, f7 = match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) '
            .. '(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
    local item = { id = id, sale = sale, limit = tonumber(limit), price = price, window = window, total = total,
        locked = locked, given = given, held = held, sold = sold, safety = safety, written_off = written_off,
        draws = tonumber(draws), changed = false, free = { [0] = f0, f1, f2, f3, f4, f5, f6, f7 } }
    items[id] = item
    return item
end

local function sale_read(id, text)
    local start, stop, limit, count, eligible_only, one_open_order, opened, paused, ended, cooldown, return_draw, start_draw,
        seed, opened_ms = match(text, '^(%d+) (%d+) (%d+) (%d+) ([01]) ([01]) ([01]) ([01]) ([01]) (%d+) (%d+) (%d+) '
            .. '(%x+) (%d+)$')
    limit, one_open_order = tonumber(limit), one_open_order == '1'
    local sale = { id = id, start = tonumber(start), stop = tonumber(stop), limit = limit, items = count,
        eligible_only = eligible_only == '1', one_open_order = one_open_order, opened = opened == '1',
        paused = paused == '1', ended = ended == '1', cooldown = cooldown, return_draw = return_draw,
        start_draw = start_draw, seed = seed, opened_ms = opened_ms, counts_users = limit ~= 0 or one_open_order }
    sales[id] = sale
    return sale
end

-- Everything that changed, and the answers. Nothing is written for a call that changed nothing.
local function finish(answers)
    local position = format('%d', seq)
    local now_text = format('%d', now)
    if #lines > 0 then
        local n = #part_changes
        part_changes[n + 1] = 'head'
        part_changes[n + 2] = position .. ' ' .. now_text .. ' ' .. format('%d %d', last, users) .. ' ' .. done .. ' ' .. told
        n = n + 2
        for _, item in ipairs(changed_items) do
            local free = item.free
            part_changes[n + 1] = 'i' .. item.id
            part_changes[n + 2] = item.sale .. ' ' .. item.limit .. ' ' .. item.price .. ' ' .. item.window .. ' ' .. item.total
                .. ' ' .. item.locked .. ' ' .. item.given .. ' ' .. item.held .. ' ' .. item.sold .. ' ' .. item.safety .. ' '
                .. item.written_off .. ' ' .. format('%d', item.draws) .. ' ' .. free[0] .. ' ' .. free[1] .. ' ' .. free[2]
                .. ' ' .. free[3] .. ' ' .. free[4] .. ' ' .. free[5] .. ' ' .. free[6] .. ' ' .. free[7]
            n = n + 2
        end
        call('hset', KEYS[1], unpack(part_changes))
        if #row_changes > 0 then
            call('hset', KEYS[2], unpack(row_changes))
        end
        if #ticket_changes > 0 then
            call('hset', KEYS[3], unpack(ticket_changes))
        end
        if #key_changes > 0 then
            call('hset', KEYS[4], unpack(key_changes))
        end
        call('xadd', KEYS[5], position .. '-0', 'e', 'EPOCH', 't', now_text, 'r', table.concat(lines, '\n'))
    end
    answers[1] = 'EPOCH ' .. position .. ' ' .. done .. ' ' .. told .. ' ' .. now_text
    return answers
end
