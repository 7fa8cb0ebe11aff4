-- SPDX-License-Identifier: Apache-2.0
-- draws.lua: SipHash-2-4 as src/base/siphash.c has it, and the moments of the draws (src/inventory/engine_returns.c).
-- A word of 64 bits is two numbers of 32, the high one first. Draws are rare: this may take its time, and the
-- functions are made when the first one is needed.

local draws
local function draws_open()
    if draws then
        return draws
    end

    local function halves(hex)
        if #hex < 16 then
            return 0, 0
        end
        return tonumber(string.sub(hex, 1, 8), 16), tonumber(string.sub(hex, 9, 16), 16)
    end

    local function siphash(k0h, k0l, k1h, k1l, ah, al, bh, bl)
        local bxor, bor, lshift, rshift, tobit = bit.bxor, bit.bor, bit.lshift, bit.rshift, bit.tobit
        local word = 4294967296
        local function add(xh, xl, yh, yl)
            local low = xl % word + yl % word
            return tobit(xh + yh + (low >= word and 1 or 0)), tobit(low)
        end
        local function rotate(h, l, bits)
            return bor(lshift(h, bits), rshift(l, 32 - bits)), bor(lshift(l, bits), rshift(h, 32 - bits))
        end
        local v0h, v0l = bxor(k0h, 0x736f6d65), bxor(k0l, 0x70736575)
        local v1h, v1l = bxor(k1h, 0x646f7261), bxor(k1l, 0x6e646f6d)
        local v2h, v2l = bxor(k0h, 0x6c796765), bxor(k0l, 0x6e657261)
        local v3h, v3l = bxor(k1h, 0x74656462), bxor(k1l, 0x79746573)
        local function rounds(count)
            for _ = 1, count do
                local h, l
                v0h, v0l = add(v0h, v0l, v1h, v1l)
                v2h, v2l = add(v2h, v2l, v3h, v3l)
                h, l = rotate(v1h, v1l, 13)
                v1h, v1l = bxor(h, v0h), bxor(l, v0l)
                h, l = rotate(v3h, v3l, 16)
                v3h, v3l = bxor(h, v2h), bxor(l, v2l)
                v0h, v0l = v0l, v0h
                v2h, v2l = add(v2h, v2l, v1h, v1l)
                v0h, v0l = add(v0h, v0l, v3h, v3l)
                h, l = rotate(v1h, v1l, 17)
                v1h, v1l = bxor(h, v2h), bxor(l, v2l)
                h, l = rotate(v3h, v3l, 21)
                v3h, v3l = bxor(h, v0h), bxor(l, v0l)
                v2h, v2l = v2l, v2h
            end
        end
        local function put(h, l)
            v3h, v3l = bxor(v3h, h), bxor(v3l, l)
            rounds(2)
            v0h, v0l = bxor(v0h, h), bxor(v0l, l)
        end
        put(ah, al)
        put(bh, bl)
        put(0x10000000, 0)
        v2l = bxor(v2l, 0xff)
        rounds(4)
        return bxor(v0h, v1h, v2h, v3h) % word, bxor(v0l, v1l, v2l, v3l) % word
    end

    -- The return draws of an item: until and seed of each channel in turn.
    local function draws_get(item)
        if not item.draw_words then
            local words = {}
            for word in string.gmatch(call('hget', KEYS[1], 'd' .. item.id) or '', '%S+') do
                words[#words + 1] = word
            end
            for n = #words + 1, 2 * CHANNELS_MAX, 2 do
                words[n], words[n + 1] = '0', '0000000000000000'
            end
            item.draw_words = words
        end
        return item.draw_words
    end

    -- When the user's moment comes in the draws of the start and of this pool; 0: there is no draw, or it has come.
    local function moment_of(item, sale, channel, user)
        local opening = sale.opened and sale.opened_ms + 0 < sale.start and sale.opened_ms or sale.start
        local start_until = sale.start_draw == '0' and 0 or opening + sale.start_draw
        if now >= start_until and now >= item.draws then
            return 0
        end
        local user_h, user_l = halves(user)
        local function moment(till, seed, length)
            if now >= till then
                return 0
            end
            local seed_h, seed_l = halves(seed)
            local chance = siphash(seed_h, seed_l, 0, tonumber(item.id), user_h, user_l, 0, channel)
            local at = till - floor(chance * floor(length / 2) / 4294967296)
            return at > now and at or 0
        end
        local words = draws_get(item)
        local first = moment(start_until, sale.seed, sale.start_draw)
        local second = moment(tonumber(words[2 * channel + 1]), words[2 * channel + 2], sale.return_draw)
        return first > second and first or second
    end
    draws = { halves = halves, siphash = siphash, get = draws_get, moment = moment_of }
    return draws
end
