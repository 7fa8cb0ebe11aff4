-- SPDX-License-Identifier: Apache-2.0
-- The atomic script: at most one unit per user, never more units than there are.
-- KEYS[1] units left   KEYS[2] set of users who bought   ARGV[1] user
-- 1 won, 0 sold out, 2 bought before
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then
    return 2
end
local left = tonumber(redis.call('GET', KEYS[1]) or '0')
if left <= 0 then
    return 0
end
redis.call('DECR', KEYS[1])
redis.call('SADD', KEYS[2], ARGV[1])
return 1
