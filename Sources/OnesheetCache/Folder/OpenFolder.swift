internal import FoundationEssentials
internal import GRDB
internal import Logging
internal import NIOCore
internal import OnesheetCore

/// A cache folder with its index open and a session in it.
final class OpenFolder: Sendable {
    let layout: FolderLayout
    let session: FolderSession
    let index: CacheIndex
    /// Whether other processes had the folder open when this one opened it.
    let wasInUse: Bool
    private let markerIdentity: FileStatus.Identity

    /// Opens or makes the folder at `layout`. Sets damaged items aside and logs it.
    /// - Parameters:
    ///   - isOurs: whether the folder was open before and is a cache, whatever it looks like now.
    ///   - damaged: an index that was found to be damaged and must be made again.
    init(
        _ layout: FolderLayout, isOurs: Bool = false, distrusting damaged: DamagedIndex? = nil, now: Date, logger: Logger
    ) throws {
        self.layout = layout
        let repair = FolderRepair(layout: layout, now: now, logger: logger)
        try Files.makeFolders(layout.path)
        let isNew = try FoundMarker(at: layout.marker).marker == nil
        if isNew, try !isOurs && !layout.isOurs() {
            throw CacheError.notACache(path: layout.path)
        }
        repair.tighten(isNew: !isOurs && isNew)
        let lock = try FolderLock(waitingFor: layout.lock)
        // Another process may have made the folder meanwhile.
        let known = try repair.marker(try FoundMarker(at: layout.marker))
        try repair.makeFolders()
        session = try FolderSession(in: layout)
        let living = try FolderSession.removeDead(in: layout, but: session)
        wasInUse = living > 0
        let trusted = try known.flatMap { try Self.trustedIndex($0, distrusting: damaged, repair) }
        if let trusted {
            index = trusted
        } else {
            index = try Self.newIndex(layout)
            try repair.removeIndexes(but: index.path)
        }
        if living == 0 || trusted == nil { try index.set(BootID.current, for: "boot") }
        guard let status = try FileStatus(of: layout.marker) else { throw FileFailure("find", layout.marker) }
        markerIdentity = status.identity
        withExtendedLifetime(lock) {}
    }

    /// Whether the folder and its index are still the ones that were opened.
    func isCurrent() throws(FileFailure) -> Bool {
        guard try FileStatus(of: layout.marker)?.identity == markerIdentity else { return false }
        return try FileStatus(of: index.path)?.identity == index.identity
    }

    /// Closes the index. The last session marks it as intact, and the next one trusts it even after a restart of the machine.
    func close() throws {
        if try isCurrent() {
            let lock = try FolderLock(waitingFor: layout.lock)
            if try FolderSession.removeDead(in: layout, but: session) == 0 {
                try OpenFile(index.path, for: .changing).sync()
                try index.set("none", for: "boot")
                try OpenFile(index.path, for: .changing).sync()
            }
            withExtendedLifetime(lock) {}
        }
        try index.close()
        try Files.removeTree(session.path)
    }

    /// The index that the marker names, unless it is damaged or the machine crashed while it was open.
    private static func trustedIndex(
        _ marker: FolderMarker, distrusting damaged: DamagedIndex?, _ repair: FolderRepair
    ) throws -> CacheIndex? {
        let path = repair.layout.index(marker.indexID)
        guard try FileStatus(of: path) != nil else { return nil }
        if let damaged, damaged.path == path {
            try repair.setAside(damaged)
            return nil
        }
        do {
            let index = try CacheIndex(path: path)
            do {
                guard let boot = try index.setting("boot") else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "it has no settings")
                }
                if boot == BootID.current || boot == "none" { return index }
            } catch {
                try index.close()
                throw error
            }
            try index.close()
            return nil
        } catch {
            // It may be intact: the disk is full, or another program locks it.
            if error.meansUnwritable, !error.meansDamage, canBeOpened(path) { throw error }
            try repair.setAside(DamagedIndex(path: path, reason: "\(error)"))
            return nil
        }
    }

    private static func canBeOpened(_ path: String) -> Bool {
        do {
            _ = try OpenFile(path, for: .changing)
            return true
        } catch {
            // If the whole disk is read-only, this file is not the cause.
            return error.isRefusal && !error.meansDamage
        }
    }

    /// A new index, which the marker names. If it cannot be made, for example on a full disk, nothing of it is left.
    private static func newIndex(_ layout: FolderLayout) throws -> CacheIndex {
        let marker = FolderMarker.new()
        let path = layout.index(marker.indexID)
        do {
            try DatabaseFile(path: path).make()
            let index = try CacheIndex(path: path)
            try index.set(BootID.current, for: "boot")
            if try Files.names(in: layout.entries).isEmpty { try index.set("\(FolderLayout.partCount)", for: "adopted") }
            try marker.write(to: layout.marker)
            return index
        } catch {
            let failure = error
            do {
                try DatabaseFile(path: path).remove()
                try Files.clear(layout.marker + ".new")
            } catch {
                throw failure
            }
            throw failure
        }
    }
}

/// Identifies the present start of the machine.
enum BootID {
    static let current: String = {
        do {
            return String(buffer: try Files.contents(of: "/proc/sys/kernel/random/boot_id")).filter { !$0.isWhitespace }
        } catch {
            // Without an identifier, only a closed index is trusted.
            return "unknown-\(UInt64.random(in: 0 ... .max))"
        }
    }()
}
