import FoundationEssentials
import NIOPosix
package import OnesheetCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Resolves names with the system resolver (getaddrinfo(3)) on threads of its own.
///
/// A lookup cannot be cancelled, and an unresponsive name server blocks a thread for half a minute. Names that have never resolved
/// therefore use separate threads: however many of them hang, known names are resolved.
package final class SystemResolver: Sendable {
    private struct Known {
        let addresses: [IPAddress]
        let found: Date
    }

    private struct LookUp {
        let task: Task<[IPAddress]?, Never>
        let beginning: Beginning
        let isKnown: Bool
    }

    private struct State {
        var known: [String: Known] = [:]
        /// Concurrent requests for a name share one lookup.
        var lookUps: [String: LookUp] = [:]
        /// Lookups that have ended, of names that were known and of others.
        var ended = [false: 0, true: 0]
    }

    /// Seconds for which addresses are used without a new lookup.
    private static let lifetime = 30.0
    /// Seconds for which they are used if the new lookup fails.
    private static let stale = 3600.0
    private static let capacity = 1000
    /// Concurrent lookups, including waiting ones.
    private static let queue = 256
    /// EAI_NODATA of netdb.h, which Swift does not import: the name exists without an address.
    private static let noData: CInt = -5
    /// The most addresses of one name.
    private static let most = 16

    private let state = Mutex(State())
    private let knownNames: NIOThreadPool
    private let newNames: NIOThreadPool
    private let limit: Duration
    private let clock: WallClock
    private let lookUp: @Sendable (String) -> [IPAddress]?

    /// - Parameters:
    ///   - threads: for names that have resolved, and for others.
    ///   - limit: for one lookup from the time when it has a thread, and for its wait for one.
    ///   - lookUp: blocks and returns the addresses of a name; an empty list if there is no such name, `nil` if the lookup fails.
    package init(
        threads: (known: Int, new: Int) = (4, 8), limit: Duration = .seconds(5), clock: WallClock = .system,
        lookUp: @escaping @Sendable (String) -> [IPAddress]? = { SystemResolver.system($0) }
    ) {
        self.limit = limit
        self.clock = clock
        self.lookUp = lookUp
        knownNames = NIOThreadPool(numberOfThreads: threads.known)
        newNames = NIOThreadPool(numberOfThreads: threads.new)
        knownNames.start()
        newNames.start()
    }

    deinit { shutdown() }

    /// Ends its threads, except those that hang.
    package func shutdown() {
        // Not awaited: a thread that hangs never ends.
        knownNames.shutdownGracefully { _ in }
        newNames.shutdownGracefully { _ in }
    }

    /// Only tests use it: they wait until their lookups are here.
    var lookUpsUnderWay: Int { state.withLock { $0.lookUps.count } }

    /// The addresses of `name`, in the order in which to try them.
    /// - Throws: `ResolveError` if there is none, or none in time.
    package func addresses(of name: String) async throws(ResolveError) -> [IPAddress] {
        let known = state.withLock { $0.known[name] }
        // A time before the lookup is not valid: the clock was set back.
        let age = known.map { clock.now.timeIntervalSince($0.found) } ?? -1
        if let known, (0..<Self.lifetime).contains(age) { return known.addresses }
        let start = ContinuousClock.now
        let (running, before) = try begin(name, isKnown: known != nil)
        let found = await withTimeoutAbandoning(limit, besides: { running.beginning.wait(since: start) }) {
            await running.task.value
        }
        switch found {
        case .some(.some(let addresses)):
            if addresses.isEmpty { throw .unknown }
            return addresses
        case .some(.none), .none:
            if let known, (0..<Self.stale).contains(age) { return known.addresses }
            if found != nil { throw .unknown }
            // If others ended meanwhile, the threads are only busy. If none did, the name servers hang.
            let hasTurned = state.withLock { $0.ended[running.isKnown] != before }
            throw running.beginning.isNoted || !hasTurned ? .timedOut : .busy
        }
    }

    /// The running lookup of `name`, or a new one, and how many on its threads have ended so far.
    private func begin(_ name: String, isKnown: Bool) throws(ResolveError) -> (LookUp, ended: Int?) {
        try state.withLock { state throws(ResolveError) in
            if let running = state.lookUps[name] { return (running, state.ended[running.isKnown]) }
            guard state.lookUps.count < Self.queue else { throw .busy }
            let (threads, beginning) = (isKnown ? knownNames : newNames, Beginning())
            let (answers, answer) = AsyncStream.makeStream(of: [IPAddress]?.self)
            // Not in the task, so that lookups get their threads in the order in which they were asked for.
            threads.submit { [lookUp] state in
                beginning.note()
                ThreadPriority.requests.apply()
                answer.yield(state == .active ? lookUp(name) : nil)
                answer.finish()
            }
            let task = Task {
                let found = await answers.first { _ in true } ?? nil
                finish(name, found, isKnown: isKnown)
                return found
            }
            let new = LookUp(task: task, beginning: beginning, isKnown: isKnown)
            state.lookUps[name] = new
            return (new, state.ended[isKnown])
        }
    }

    private func finish(_ name: String, _ found: [IPAddress]?, isKnown: Bool) {
        let now = clock.now
        state.withLock { state in
            state.lookUps[name] = nil
            state.ended[isKnown, default: 0] += 1
            guard let found else { return }
            state.known[name] = found.isEmpty ? nil : Known(addresses: Array(found.prefix(Self.most)), found: now)
            guard state.known.count > Self.capacity else { return }
            // Removing half at once keeps this sort rare.
            let oldest = state.known.sorted { $0.value.found < $1.value.found }.prefix(Self.capacity / 2)
            for (name, _) in oldest { state.known[name] = nil }
        }
    }

    /// The system's answer. It accepts all spellings of addresses too.
    package static func system(_ name: String) -> [IPAddress]? {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let outcome = getaddrinfo(name, nil, &hints, &first)
        defer { if let first { freeaddrinfo(first) } }
        guard outcome == 0 else { return outcome == EAI_NONAME || outcome == noData ? [] : nil }
        var addresses: [IPAddress] = []
        var next = first
        while let entry = next?.pointee {
            if let address = IPAddress(entry), !addresses.contains(address) { addresses.append(address) }
            guard addresses.count < most else { break }
            next = entry.ai_next
        }
        return addresses
    }
}

extension IPAddress {
    /// The address of a lookup without its zone.
    fileprivate init?(_ entry: addrinfo) {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let bytes = text.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 && $0 != UInt8(ascii: "%") }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}

/// The reason for which a name cannot be resolved.
package enum ResolveError: Error, Sendable, Equatable {
    /// The name has no address.
    case unknown
    case timedOut
    /// Too many lookups are running.
    case busy
}
