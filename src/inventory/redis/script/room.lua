-- SPDX-License-Identifier: Apache-2.0
-- room.lua: the waiting room: who came as which number, among how many the draw was, how many were admitted
-- (src/inventory/engine_room.c).

if kind == 'arrive' or kind == 'admit' then
    local id, second = match(ARGV[2], kind == 'arrive' and '^arrive (%d+) (%x+)$' or '^admit (%d+) (%d+)$')
    if not id then
        return redis.error_reply('BADCOMMAND ' .. kind .. ' can not be read')
    end
    local sale = sale_get(id)
    if not sale then
        return finish({ '', 'ANSWER_UNKNOWN_SALE' })
    end
    local arrived, drawn, admitted, draw_done = match(call('hget', KEYS[1], 'w' .. id) or '0 0 0 0',
        '^(%d+) (%d+) (%d+) ([01])$')
    arrived, drawn, admitted, draw_done = tonumber(arrived), tonumber(drawn), tonumber(admitted), draw_done == '1'
    local started = sale.opened or now >= sale.start

    local function numbered(answer, number)
        return number == 0 and answer or answer .. ' n' .. number
    end

    -- From the start on nobody joins the draw any more. Whatever comes first after it closes the list.
    local function draw_close()
        if started and not draw_done then
            draw_done, drawn = true, arrived
        end
    end

    local function done(number)
        part_changes[#part_changes + 1] = 'w' .. id
        part_changes[#part_changes + 1] = arrived .. ' ' .. drawn .. ' ' .. admitted .. (draw_done and ' 1' or ' 0')
        local outcome = numbered('ANSWER_DONE c1', number)
        log(ARGV[2], outcome)
        return outcome
    end

    local function arrive()
        local field = 'p' .. id .. ':' .. second
        local place = call('hget', KEYS[2], field)
        if place then
            return numbered('ANSWER_UNCHANGED', tonumber(place))
        end
        if sale.ended or now >= sale.stop then
            return 'ANSWER_ENDED'
        end
        local places_max = match(part[3], '^%d+ %d+ (%d+)')
        local places = call('hget', KEYS[1], 'places')
        if places == places_max then
            return 'ANSWER_UNAVAILABLE'
        end
        draw_close()
        part_changes[#part_changes + 1] = 'places'
        part_changes[#part_changes + 1] = format('%d', places + 1)
        row_changes[#row_changes + 1] = field
        row_changes[#row_changes + 1] = tostring(arrived)
        arrived = arrived + 1
        return done(arrived - 1)
    end

    local function admit()
        if not started then
            return 'ANSWER_NOT_STARTED'
        end
        local to = tonumber(second)
        to = to < arrived and to or arrived
        if draw_done and to <= admitted then
            return numbered('ANSWER_UNCHANGED', admitted)
        end
        draw_close()
        admitted = to > admitted and to or admitted
        return done(admitted)
    end

    return finish({ '', kind == 'arrive' and arrive() or kind == 'admit' and admit() })
end
