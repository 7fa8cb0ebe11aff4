-- SPDX-License-Identifier: Apache-2.0
-- others.lua: what all commands but purchases read and change with. One field at a time: they are few.

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

-- A place where units can lie: where it is kept, and by which name; nil: no such place.
local function place_of(item, place)
    if place == CHANNEL_SAFETY then
        return item, 'safety'
    elseif place < CHANNELS_MAX then
        return item.free, place
    end
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

-- What a user has of an item or a sale; a text, false: nothing.
local function row_get(field)
    local row = rows[field]
    if row == nil then
        row = call('hget', KEYS[2], field)
        rows[field] = row
    end
    return row
end

-- Its words, as those of an empty row where there is none: units, the last ticket; and if the user gave the item up: how
-- often, and until when (in seconds) it can't be taken again.
local function row_words(row)
    local used, latest, returns, cool = match(row or '0 0', '^(%d+) (%d+) ?(%d*) ?(%d*)$')
    return tonumber(used), latest, returns, cool
end

-- A command that changed something: one record.
local function log(text, outcome)
    seq = seq + 1
    lines[#lines + 1] = text .. ' = ' .. outcome
end
