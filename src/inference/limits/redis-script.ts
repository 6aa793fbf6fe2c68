/**
 * A counter of requests or tokens is a hash: `sum`; `from`, the number of the first slot that may count; and the slots. A
 * slot is a text: what was taken, and when the last amount was, ms since 1970.
 */
const SLOT = `
local function read(text)
  local taken, last = string.match(text, '^(%d+):(%d+)$')
  return tonumber(taken), tonumber(last)
end
local function whole(number) return string.format('%.0f', number) end
local function write(key, slot, taken, last)
  redis.call('HSET', key, slot, whole(taken) .. ':' .. whole(last))
end`;

/**
 * Takes all of some limits, or nothing, by Redis's clock. It is the algorithm of `machines/sliding-window.ts`.
 *
 * KEYS: one counter for each limit. ARGV: the call's id, its lease in ms, then unit, limit, amount of each, and 1
 * if it is soft. Returns {number of the exceeded limit or 0, ms to wait or -1 for never, slot}. If nothing refuses
 * the call, each soft limit that it exceeds follows, as its number and ms to wait.
 */
export const TAKE_SCRIPT = `${SLOT}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / 1000)
local function forget(key)
  local known = redis.call('HMGET', key, 'sum', 'from')
  local sum, from = tonumber(known[1] or 0), tonumber(known[2] or slot)
  local first = from
  while from <= slot - 60 do
    local text = redis.call('HGET', key, whole(from))
    if text then
      local taken, last = read(text)
      if last + 60000 > now then break end
      redis.call('HDEL', key, whole(from))
      sum = sum - taken
    end
    from = from + 1
  end
  from = math.min(from, slot)
  if from ~= first then
    redis.call('HSET', key, 'sum', whole(sum), 'from', whole(from))
  end
  return sum
end
local function wait(key, unit, limit, amount)
  if unit == 'calls' then
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    if redis.call('ZCARD', key) >= limit then return 1000 end
    return 0
  end
  local sum = forget(key) + amount
  if amount > limit then return -1 end
  if sum <= limit then return 0 end
  local all, slots = redis.call('HGETALL', key), {}
  for j = 1, #all, 2 do
    local taken, last = read(all[j + 1])
    if taken then table.insert(slots, {taken, last}) end
  end
  table.sort(slots, function(a, b) return a[2] < b[2] end)
  for _, each in ipairs(slots) do
    sum = sum - each[1]
    if sum <= limit then return each[2] + 60000 - now end
  end
  return 1000
end
local answer = {0, 0, slot}
for i, key in ipairs(KEYS) do
  local ms = wait(key, ARGV[4 * i - 1], tonumber(ARGV[4 * i]), tonumber(ARGV[4 * i + 1]))
  if ms ~= 0 then
    if ARGV[4 * i + 2] ~= '1' then return {i, ms, slot} end
    table.insert(answer, i)
    table.insert(answer, ms)
  end
end
for i, key in ipairs(KEYS) do
  if ARGV[4 * i - 1] == 'calls' then
    redis.call('ZADD', key, now + tonumber(ARGV[2]), ARGV[1])
    redis.call('PEXPIRE', key, ARGV[2])
  else
    local amount = tonumber(ARGV[4 * i + 1])
    local before = redis.call('HGET', key, slot)
    write(key, slot, amount + (before and read(before) or 0), now)
    redis.call('HINCRBY', key, 'sum', whole(amount))
    redis.call('HSETNX', key, 'from', whole(slot))
    redis.call('PEXPIRE', key, 62000)
  end
end
return answer`;

/**
 * Ends a call: removes it from the counters of calls at the same time, and corrects a slot of the counters of tokens,
 * if it still counts, never below 0. KEYS: the counters. ARGV: the call's id, the slot, the change of the tokens, then
 * the unit of each counter.
 */
export const END_SCRIPT = `${SLOT}
for i, key in ipairs(KEYS) do
  if ARGV[3 + i] == 'calls' then redis.call('ZREM', key, ARGV[1])
  else
    local before = redis.call('HGET', key, ARGV[2])
    if before then
      local taken, last = read(before)
      local corrected = math.max(0, taken + tonumber(ARGV[3]))
      write(key, ARGV[2], corrected, last)
      redis.call('HINCRBY', key, 'sum', whole(corrected - taken))
    end
  end
end
return 0`;

/** Renews the leases of calls. KEYS: a counter. ARGV: the lease in ms, then the ids of calls. */
export const RENEW_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0`;
