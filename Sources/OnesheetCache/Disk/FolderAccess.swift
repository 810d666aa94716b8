internal import FoundationEssentials
internal import GRDB
internal import Logging
internal import OnesheetCore
internal import Synchronization

/// Opens a cache folder when that becomes possible, and again after it was deleted or its index was damaged.
final class FolderAccess: Sendable {
    let layout: FolderLayout
    /// The error of any operation after `close()`.
    static let closed = CacheError.index(operation: "use", reason: "it is closed")
    /// The reason for which the folder could not be opened at first.
    let openError: CacheError?
    /// Whether other processes had the folder open at first.
    let wasInUse: Bool
    private let clock: WallClock
    private let logger: Logger
    private let state: Mutex<State>

    private enum State {
        case open(OpenFolder)
        /// The folder is missing or has changed. `damaged` is an index that is not trusted. A folder that was never open may belong to
        /// another program.
        case lost(damaged: DamagedIndex?, isOurs: Bool)
        case closed
    }

    /// Opens the folder. If it cannot be written now, or its index cannot be made, each later operation tries again.
    init(_ layout: FolderLayout, clock: WallClock, logger: Logger) throws(CacheError) {
        self.layout = layout
        self.clock = clock
        self.logger = logger
        let (first, openError): (State, CacheError?) = try Self.naming("open") {
            do {
                return (.open(try OpenFolder(layout, now: clock.now, logger: logger)), nil)
            } catch  where error.meansUnwritable || error is DatabaseError {
                return (.lost(damaged: nil, isOurs: false), Self.named("open", error))
            }
        }
        wasInUse = if case .open(let folder) = first { folder.wasInUse } else { false }
        state = Mutex(first)
        self.openError = openError
    }

    /// A folder that is closed from the start: it is neither read nor written.
    init(closed layout: FolderLayout, clock: WallClock, logger: Logger) {
        self.layout = layout
        self.clock = clock
        self.logger = logger
        state = Mutex(.closed)
        openError = nil
        wasInUse = false
    }

    /// Runs `body` on the folder. Makes a deleted folder again first, and replaces a damaged index.
    func use<Answer>(_ operation: String, _ body: (OpenFolder) throws -> Answer) throws(CacheError) -> Answer {
        try Self.naming(operation) {
            let present = try current(lost: nil)
            do {
                return try body(present)
            } catch  where Self.meansLoss(error) {
                return try body(try current(lost: (present, error)))
            }
        }
    }

    func close() throws(CacheError) {
        try Self.naming("close") {
            try state.withLock { state in
                let last = state
                state = .closed
                if case .open(let folder) = last { try folder.close() }
            }
        }
    }

    private func current(lost: (folder: OpenFolder, error: any Error)?) throws -> OpenFolder {
        try state.withLock { state in
            if case .closed = state { throw Self.closed }
            if case .open(let present) = state {
                let isLost = lost.map { $0.folder === present } ?? false
                if try !isLost && present.isCurrent() { return present }
                state = .lost(damaged: isLost ? lost.flatMap { Self.damage($0.error, of: present.index) } : nil, isOurs: true)
                // Closed first: SQLite must not have a removed file and its successor open at once.
                try present.index.close()
            }
            guard case .lost(let damaged, let isOurs) = state else { throw Self.closed }
            let next = try OpenFolder(layout, isOurs: isOurs, distrusting: damaged, now: clock.now, logger: logger)
            state = .open(next)
            return next
        }
    }

    /// Whether a failure means that the folder or its index is missing or changed.
    private static func meansLoss(_ error: any Error) -> Bool {
        switch error {
        case let failure as FileFailure: failure.isAbsence
        case let failure as DatabaseError:
            // A constraint can fail only if the index contains foreign data.
            failure.meansDamage || [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_CONSTRAINT].contains(failure.resultCode)
        default: error.meansDamage
        }
    }

    /// The fault of the index itself after `error`; `nil` if it is only unreachable.
    private static func damage(_ error: any Error, of index: CacheIndex) -> DamagedIndex? {
        let isConstraint = (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT
        return isConstraint || error.meansDamage ? DamagedIndex(path: index.path, reason: "\(error)") : nil
    }

    /// Runs `body` and converts its errors to `CacheError`.
    static func naming<Answer>(_ operation: String, _ body: () throws -> Answer) throws(CacheError) -> Answer {
        do { return try body() } catch { throw named(operation, error) }
    }

    private static func named(_ operation: String, _ error: any Error) -> CacheError {
        switch error {
        case let error as CacheError: error
        case let failure as FileFailure: failure.cacheError
        default: .index(operation: operation, reason: "\(error)")
        }
    }
}
