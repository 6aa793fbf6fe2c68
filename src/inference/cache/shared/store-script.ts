/** How much memory Redis needs for an entry beside its value: names, marks and lists, bytes (measured). */
export const SHARED_OVERHEAD_BYTES = 1_200;

/** How many entries of an organization one run of the script removes. */
export const PURGED_AT_ONCE = 500;

/** What both scripts do. They define `all`, `sizes`, `sums` and `prefix` before it. */
const FUNCTIONS = `
local function count(name, more)
  if redis.call('HINCRBY', sums, name, more) <= 0 then redis.call('HDEL', sums, name) end
end
local function take(taken)
  local of = string.match(taken, '^([^:]*):')
  local freed = tonumber(redis.call('HGET', sizes, taken) or '0')
  redis.call('HDEL', sizes, taken)
  redis.call('ZREM', all, taken)
  redis.call('ZREM', prefix .. 'of:' .. of, taken)
  if freed > 0 then count(of, -freed) count('all', -freed) end
end
local function drop(dropped)
  local name, marked = string.match(dropped, '^[^:]*:([^:]*):(.*)$')
  take(dropped)
  redis.call('UNLINK', prefix .. 'e:' .. name, prefix .. 'm:' .. marked)
end
`;

/**
 * Removes entries of an organization, at most `PURGED_AT_ONCE`. Returns how many it removed. `KEYS`: the list
 * of all entries, that of the organization, and the two hashes. `ARGV`: the prefix of all keys, and how many.
 */
export const PURGE_SCRIPT = `
local all, own, sizes, sums, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]
${FUNCTIONS}
local purged = redis.call('ZRANGE', own, 0, ARGV[2] - 1)
for _, each in ipairs(purged) do drop(each) end
return #purged
`;

/**
 * Stores an entry, in one step of Redis: a process that dies leaves a whole entry or none. If the entries
 * of the organization, or all entries, have too many bytes, the oldest ones go first. Returns 1 if the entry
 * is stored.
 *
 * `KEYS`: the entry, its mark, the list of all entries, that of the organization, and two hashes: the bytes
 * of each entry, and the sums of organizations (`all` = of all entries). A list is sorted by the times at
 * which entries end. `ARGV`: the value, its member of the lists (`organization:entry:mark`, all hashed), its
 * bytes, the organization, the time now, the time to live (ms), the bounds of the organization and of all
 * entries, and the prefix of all keys.
 */
export const STORE_SCRIPT = `
local entry, mark, all, own, sizes, sums = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local value, member, bytes, organization = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local now, life, max_own, max_all = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local prefix = ARGV[9]
${FUNCTIONS}local function excess(list, name, most)
  return tonumber(redis.call('HGET', sums, name) or '0') + bytes > most and redis.call('ZRANGE', list, 0, 0)[1]
end
local function free(list, name, most)
  for _ = 1, 100 do
    local oldest = excess(list, name, most)
    if not oldest then return end
    drop(oldest)
  end
end
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', all, '-inf', now, 'LIMIT', 0, 100)) do drop(ended) end
take(member)
free(own, organization, max_own)
free(all, 'all', max_all)
if excess(own, organization, max_own) or excess(all, 'all', max_all) or bytes > max_all then return 0 end
redis.call('SET', entry, value, 'PX', life)
redis.call('SET', mark, '1', 'PX', life)
redis.call('ZADD', all, now + life, member)
redis.call('ZADD', own, now + life, member)
redis.call('HSET', sizes, member, bytes)
count(organization, bytes)
count('all', bytes)
for _, list in ipairs({all, own, sizes, sums}) do
  if redis.call('PTTL', list) < life then redis.call('PEXPIRE', list, life) end
end
return 1
`;
