import FoundationEssentials
import NIOPosix
package import OnesheetCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Looks names up as the system does (getaddrinfo(3)), on threads of its own.
///
/// A look-up cannot be cancelled, and a name server that does not answer holds a thread for half a minute. So names that were never
/// found before have threads of their own: however many of them hang, those that are known are looked up.
package final class SystemResolver: NameResolver {
    private struct Known {
        let addresses: [IPAddress]
        let found: Date
    }

    private struct State {
        var known: [String: Known] = [:]
        /// Each name is looked up once at a time, whatever number of requests waits for it.
        var lookUps: [String: Task<[IPAddress]?, Never>] = [:]
    }

    /// Seconds for which addresses are good without another look.
    private static let fresh = 30.0
    /// Seconds for which they are good if another look brings nothing.
    private static let stale = 3600.0
    private static let capacity = 1000
    /// Names looked up at a time, waiting ones included.
    private static let queue = 256
    /// EAI_NODATA of netdb.h, which Swift does not see: the name is there, without an address.
    private static let noData: CInt = -5
    /// The most addresses of one name that are kept.
    private static let most = 16

    private let state = Mutex(State())
    private let knownNames = NIOThreadPool(numberOfThreads: 4)
    private let newNames = NIOThreadPool(numberOfThreads: 8)
    private let limit: Duration
    private let clock: WallClock
    private let lookUp: @Sendable (String) -> [IPAddress]?

    /// - Parameters:
    ///   - limit: for one look-up, with the time that it waits for a thread.
    ///   - lookUp: blocks until it has the addresses of a name; none if there is no such name, `nil` if that cannot be found out.
    package init(
        limit: Duration = .seconds(5), clock: WallClock = .system,
        lookUp: @escaping @Sendable (String) -> [IPAddress]? = { SystemResolver.system($0) }
    ) {
        (self.limit, self.clock, self.lookUp) = (limit, clock, lookUp)
        knownNames.start()
        newNames.start()
    }

    deinit { shutdown() }

    package func shutdown() {
        // Not waited for: a thread that hangs does not end.
        knownNames.shutdownGracefully { _ in }
        newNames.shutdownGracefully { _ in }
    }

    package func addresses(of name: String) async throws(ResolveError) -> [IPAddress] {
        let known = state.withLock { $0.known[name] }
        // A moment before it was found is none: the clock was set back since.
        let age = known.map { clock.now.timeIntervalSince($0.found) } ?? -1
        if let known, (0..<Self.fresh).contains(age) { return known.addresses }
        let task = try self.task(for: name, isKnown: known != nil)
        let found = await withTimeoutAbandoning(limit) { await task.value }
        switch found {
        case .some(.some(let addresses)):
            if addresses.isEmpty { throw .unknown }
            return addresses
        case .some(.none), .none:
            if let known, (0..<Self.stale).contains(age) { return known.addresses }
            throw found == nil ? .timedOut : .unknown
        }
    }

    /// The look-up of `name` that is under way, or a new one.
    private func task(for name: String, isKnown: Bool) throws(ResolveError) -> Task<[IPAddress]?, Never> {
        try state.withLock { state throws(ResolveError) in
            if let task = state.lookUps[name] { return task }
            guard state.lookUps.count < Self.queue else { throw .busy }
            let threads = isKnown ? knownNames : newNames
            let task = Task {
                let found = await withCheckedContinuation { continuation in
                    threads.submit { [lookUp] in continuation.resume(returning: $0 == .active ? lookUp(name) : nil) }
                }
                finish(name, found)
                return found
            }
            state.lookUps[name] = task
            return task
        }
    }

    private func finish(_ name: String, _ found: [IPAddress]?) {
        let now = clock.now
        state.withLock { state in
            state.lookUps[name] = nil
            guard let found else { return }
            state.known[name] = found.isEmpty ? nil : Known(addresses: Array(found.prefix(Self.most)), found: now)
            guard state.known.count > Self.capacity else { return }
            // Half of them at once, so that it is not done for each name.
            let oldest = state.known.sorted { $0.value.found < $1.value.found }.prefix(Self.capacity / 2)
            for (name, _) in oldest { state.known[name] = nil }
        }
    }

    /// What the system knows; it reads addresses in all their spellings too.
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
    /// An address of a look-up, its zone aside.
    fileprivate init?(_ entry: addrinfo) {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let bytes = text.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 && $0 != UInt8(ascii: "%") }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}

/// Finds the addresses behind the names of hosts. Tests put a table in its place.
package protocol NameResolver: Sendable {
    /// The addresses of `name`, in the order in which to try them.
    /// - Throws: `ResolveError` if there is none, or none in time.
    func addresses(of name: String) async throws(ResolveError) -> [IPAddress]

    /// Ends its threads, without waiting for those that hang.
    func shutdown()
}

/// Why a name leads nowhere.
package enum ResolveError: Error, Sendable, Equatable {
    /// The name has no address.
    case unknown
    case timedOut
    /// Too many names are being looked up already.
    case busy
}
