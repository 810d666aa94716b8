import OnesheetCrypto

/// A Lua script, which the engine runs as one step.
struct Script: Sendable {
    let text: String
    /// The name under which the engine keeps the script: SHA-1 in hexadecimal digits.
    let digest: String

    init(_ text: String) {
        self.text = text
        digest = Insecure.SHA1.hash(text.utf8).reduce(into: "") { hex, byte in
            hex += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
    }

    /// Keys: lease, token. Arguments: holder, milliseconds. Returns 1, the token and whether the work is done, or 0 and the milliseconds
    /// that are left.
    ///
    /// Tokens are the engine's clock in microseconds, so they rise even if the engine restarts without its data. The last token
    /// outlives its lease by at least ten minutes, in case the clock is set back.
    ///
    /// The value of the token's key is `token:done`. Until the time `done`, in milliseconds, the work is known to be done. It has no key
    /// of its own, which would usually be missing: while a cluster moves a slot, it refuses scripts if some of their keys are missing.
    static let acquire = Script(
        """
        local owner = redis.call('GET', KEYS[1])
        if owner and owner ~= ARGV[1] then return {0, redis.call('PTTL', KEYS[1])} end
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local last, done = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+):?(%d*)$')
        local token, done = tonumber(last) or 0, tonumber(done) or 0
        if not owner or token == 0 then token = math.max(now, token + 1) end
        local rest = math.max(0, math.ceil(done - now / 1000))
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        redis.call('SET', KEYS[2], string.format('%.0f:%.0f', token, done), 'PX', math.max(ARGV[2] + 600000, rest))
        return {1, token, rest > 0 and 1 or 0}
        """)

    /// Keys: lease, token. Arguments: holder, milliseconds. Returns whether the holder had it.
    static let renew = Script(
        """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        redis.call('PEXPIRE', KEYS[2], ARGV[2] + 600000, 'GT')
        return 1
        """)

    /// Keys: lease, token. Arguments: holder, the milliseconds for which the work is known to be done. Returns whether the holder had it.
    static let release = Script(
        """
        local life = tonumber(ARGV[2])
        if life > 0 then
          local time = redis.call('TIME')
          local last, done = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+):?(%d*)$')
          done = math.max(tonumber(done) or 0, math.floor(time[1] * 1000 + time[2] / 1000) + life)
          redis.call('SET', KEYS[2], string.format('%s:%.0f', last or '0', done), 'PX', math.max(redis.call('PTTL', KEYS[2]), life))
        end
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])
        """)

    /// Keys: stream, epoch. Arguments: record, the most records, a new epoch. Returns the id of the record.
    static let append = Script(
        """
        if redis.call('EXISTS', KEYS[1], KEYS[2]) < 2 then redis.call('SET', KEYS[2], ARGV[3]) end
        return redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'r', ARGV[1])
        """)

    /// Keys: stream, epoch. Arguments: the id behind which to read or an empty text, the most records, a new epoch, the reader's epoch or
    /// an empty text. Returns the epoch, the id of the end, 1 if nothing is missing, and the records.
    ///
    /// A reader of an earlier epoch is told the present one, and nothing changes: a loss begins one epoch, however many readers notice it.
    /// An id that the stream neither has nor may have trimmed shows that the engine lost records, after a failover or a restart with
    /// an old snapshot: then a new epoch begins. Ends a page at a megabyte.
    static let read = Script(
        """
        local stream, after = KEYS[1], ARGV[1]
        if redis.call('EXISTS', stream) == 0 then
          redis.call('XGROUP', 'CREATE', stream, 'new', '0', 'MKSTREAM')
          redis.call('XGROUP', 'DESTROY', stream, 'new')
          redis.call('SET', KEYS[2], ARGV[3])
        end
        if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SET', KEYS[2], ARGV[3]) end
        local info, facts = redis.call('XINFO', 'STREAM', stream), {}
        for place = 1, #info, 2 do facts[info[place]] = info[place + 1] end
        local last = facts['last-generated-id']
        local epoch = redis.call('GET', KEYS[2])
        if ARGV[4] ~= '' and ARGV[4] ~= epoch then return {epoch, last, 0, {}} end
        local complete, records = 1, {}
        if after ~= '' then
          if after == '0-0' then
            if facts['entries-added'] ~= facts['length'] then complete = 0 end
          elseif after ~= last and #redis.call('XRANGE', stream, after, after) == 0 then
            complete = 0
            local function parts(id)
              local time, number = string.match(id, '^(%d+)-(%d+)$')
              return tonumber(time), tonumber(number)
            end
            local time, number = parts(after)
            local edge = facts['first-entry'] and facts['first-entry'][1] or last
            local edgeTime, edgeNumber = parts(edge)
            local trimmed = facts['entries-added'] ~= facts['length']
            if not trimmed or time > edgeTime or (time == edgeTime and number > edgeNumber) then
              redis.call('SET', KEYS[2], ARGV[3])
            end
          end
          local from, limit, bytes = '(' .. after, tonumber(ARGV[2]), 0
          while #records < limit and bytes < 1000000 do
            local some = redis.call('XRANGE', stream, from, '+', 'COUNT', math.min(16, limit - #records))
            if #some == 0 then break end
            for _, entry in ipairs(some) do
              records[#records + 1] = entry
              bytes = bytes + #entry[2][2]
            end
            from = '(' .. some[#some][1]
          end
        end
        return {redis.call('GET', KEYS[2]), last, complete, records}
        """)

    /// Keys: counter. Arguments: amount, limit, milliseconds. Returns the new count, or null if it would pass the limit.
    static let add = Script(
        """
        local old = redis.call('GET', KEYS[1])
        local count, amount = math.max(tonumber(old or '0') or 0, tonumber(ARGV[4])), tonumber(ARGV[1])
        if amount > 0 and amount > tonumber(ARGV[2]) - count then return false end
        if not old and amount <= 0 then return 0 end
        local sum = math.max(0, count + amount)
        if old then
          redis.call('SET', KEYS[1], string.format('%.0f', sum), 'KEEPTTL')
        else
          redis.call('SET', KEYS[1], string.format('%.0f', sum), 'PX', ARGV[3])
        end
        return sum
        """)
}
