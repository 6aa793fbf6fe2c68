/**
 * Takes all of some limits, or nothing, by Redis's clock. It is the algorithm of `machines/sliding-window.ts`.
 *
 * KEYS: one counter for each limit. ARGV: the call's id, its lease in ms, then unit, limit and amount of each.
 * Returns {number of the exceeded limit or 0, ms to wait or -1 for never, slot}.
 */
export const TAKE_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / 1000)
for i, key in ipairs(KEYS) do
  local unit, limit, amount = ARGV[3 * i], tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2])
  if unit == 'calls' then
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    if redis.call('ZCARD', key) >= limit then return {i, 1000, slot} end
  else
    if amount > limit then return {i, -1, slot} end
    local taken = redis.call('HGETALL', key)
    local sum, slots, sums = amount, {}, {}
    for j = 1, #taken, 2 do
      local each = tonumber(taken[j])
      if each <= slot - 61 then redis.call('HDEL', key, taken[j])
      else
        sum = sum + tonumber(taken[j + 1])
        table.insert(slots, each)
        sums[each] = tonumber(taken[j + 1])
      end
    end
    if sum > limit then
      table.sort(slots)
      for _, each in ipairs(slots) do
        sum = sum - sums[each]
        if sum <= limit then return {i, (each + 61) * 1000 - now, slot} end
      end
      return {i, 1000, slot}
    end
  end
end
for i, key in ipairs(KEYS) do
  if ARGV[3 * i] == 'calls' then
    redis.call('ZADD', key, now + tonumber(ARGV[2]), ARGV[1])
    redis.call('PEXPIRE', key, ARGV[2])
  else
    redis.call('HINCRBY', key, slot, ARGV[3 * i + 2])
    redis.call('PEXPIRE', key, 62000)
  end
end
return {0, 0, slot}`;

/**
 * Corrects a slot that still counts, never below 0. KEYS: the counter. ARGV: the slot, the change.
 */
export const CORRECT_SCRIPT = `
local taken = redis.call('HGET', KEYS[1], ARGV[1])
if taken then redis.call('HSET', KEYS[1], ARGV[1], math.max(0, tonumber(taken) + tonumber(ARGV[2]))) end
return 0`;

/** Renews the leases of calls. KEYS: a counter. ARGV: the lease in ms, then the ids of calls. */
export const RENEW_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0`;
