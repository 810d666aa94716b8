#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import NIOCore

/// A file's status in the file system.
struct FileStatus: Equatable, Sendable {
    /// Identifies the file. A path may name another one a moment later.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    let identity: Identity
    let size: Int
    /// The time of the last change of bytes or attributes, in nanoseconds since 1970. No program can set it back.
    let changed: Int
    /// Type and permissions, as in `stat`.
    private let mode: UInt32
    private let owner: UInt32

    var isFile: Bool { mode_t(mode) & S_IFMT == S_IFREG }
    var isFolder: Bool { mode_t(mode) & S_IFMT == S_IFDIR }
    /// The permissions without the type: `0o600` if only the owner may read and write.
    var permissions: UInt32 { mode & 0o7777 }
    /// Whether this process may change the permissions as the owner.
    var isOwn: Bool { owner == geteuid() }
}

extension FileStatus {
    init(_ facts: stat) {
        self.init(
            identity: Identity(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino)), size: Int(facts.st_size),
            changed: Int(facts.st_ctim.tv_sec) &* 1_000_000_000 &+ Int(facts.st_ctim.tv_nsec), mode: UInt32(facts.st_mode),
            owner: UInt32(facts.st_uid))
    }

    /// The status of the open file; `nil` if the system does not report it.
    init?(of handle: NIOFileHandle) {
        var facts = stat()
        do {
            guard try handle.withUnsafeFileDescriptor({ fstat($0, &facts) }) == 0 else { return nil }
        } catch {
            return nil
        }
        self.init(facts)
    }

    /// The status of `path`; `nil` if it does not exist.
    /// - Parameter followingLink: whether to follow a link.
    init?(of path: String, followingLink: Bool = false) throws(FileFailure) {
        var facts = stat()
        guard (followingLink ? stat(path, &facts) : lstat(path, &facts)) == 0 else {
            let failure = FileFailure("examine", path)
            if failure.isAbsence { return nil }
            throw failure
        }
        self.init(facts)
    }
}
