internal import NIOCore
internal import OnesheetCore

/// A folder that was found to be ours, with its index open and a session in it.
final class OpenFolder: Sendable {
    let layout: FolderLayout
    let session: FolderSession
    let index: CacheIndex
    private let markerIdentity: FileStatus.Identity

    /// Opens the folder at `layout`, or makes it.
    /// - Parameter isOurs: what was open before was ours, whatever the folder looks like now.
    /// - Parameter distrusting: an index that was found to be damaged and is to be made again.
    init(_ layout: FolderLayout, isOurs: Bool = false, distrusting damaged: String? = nil) throws {
        self.layout = layout
        try Files.makeFolders(layout.path)
        var known = try FolderMarker(at: layout.marker)
        if known == nil, try !isOurs && !layout.holdsOnlyOurs() { throw CacheError.notACache(path: layout.path) }
        let lock = try FolderLock(waitingFor: layout.lock)
        // Another process may have made the folder while we waited.
        known = try FolderMarker(at: layout.marker)
        for path in [layout.entries, layout.incoming, layout.doomed] { try Files.makeFolder(path) }
        session = try FolderSession(in: layout)
        let living = try FolderSession.removeDead(in: layout, but: session)
        let trusted = known.flatMap { layout.index($0.indexID) == damaged ? nil : Self.trustedIndex($0, layout) }
        if let trusted {
            index = trusted
        } else {
            index = try Self.freshIndex(layout)
            try Self.removeIndexes(but: index.path, layout)
        }
        if living == 0 || trusted == nil { try index.set(BootID.current, for: "boot") }
        guard let status = try FileStatus(of: layout.marker) else { throw FileFailure("find", layout.marker) }
        markerIdentity = status.identity
        withExtendedLifetime(lock) {}
    }

    /// Whether the folder is still the one that was opened, with the index that was opened.
    func isCurrent() throws(FileFailure) -> Bool {
        guard try FileStatus(of: layout.marker)?.identity == markerIdentity else { return false }
        return try FileStatus(of: index.path)?.identity == index.identity
    }

    /// Closes the index; the last session to leave marks it as whole, so that it is trusted after the machine was started again.
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

    /// The index that the marker names, unless it cannot be used, or the machine went down while it was open.
    private static func trustedIndex(_ marker: FolderMarker, _ layout: FolderLayout) -> CacheIndex? {
        let path = layout.index(marker.indexID)
        do {
            guard try FileStatus(of: path) != nil else { return nil }
            let index = try CacheIndex(path: path)
            let boot = try index.setting("boot")
            if boot == BootID.current || boot == "none" { return index }
            try index.close()
            return nil
        } catch {
            return nil
        }
    }

    /// A new index, which the marker names. Where it cannot be made, on a full disk for example, nothing of it is left.
    private static func freshIndex(_ layout: FolderLayout) throws -> CacheIndex {
        let marker = FolderMarker.fresh()
        let path = layout.index(marker.indexID)
        do {
            let index = try CacheIndex(path: path)
            try index.set(BootID.current, for: "boot")
            if try Files.names(in: layout.entries).isEmpty { try index.set("\(FolderLayout.partCount)", for: "adopted") }
            try marker.write(to: layout.marker)
            return index
        } catch {
            let failure = error
            for file in [path, path + "-journal", layout.marker + ".new"] {
                do { try Files.remove(file) } catch { throw failure }
            }
            throw failure
        }
    }

    private static func removeIndexes(but present: String, _ layout: FolderLayout) throws(FileFailure) {
        for name in try Files.names(in: layout.path) where layout.isIndex(name) && !"\(layout.path)/\(name)".hasPrefix(present) {
            try Files.remove("\(layout.path)/\(name)")
        }
    }
}

/// Tells one start of the machine from another.
enum BootID {
    static let current: String = {
        do {
            return String(buffer: try Files.contents(of: "/proc/sys/kernel/random/boot_id")).filter { !$0.isWhitespace }
        } catch {
            // Where the system does not tell, no index is trusted but one that was closed.
            return "unknown-\(UInt64.random(in: 0 ... .max))"
        }
    }()
}
