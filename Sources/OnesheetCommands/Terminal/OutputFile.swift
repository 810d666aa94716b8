import NIOCore
import OnesheetCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file for the result of a command. A regular file gets its new content when it is complete: until then, the bytes are beside it
/// under a temporary name. Pipes, terminals and devices receive the bytes directly. Symbolic links are followed.
final class OutputFile {
    private let path: String
    private let descriptor: CInt
    /// The temporary name, and the name that it gets at the end. `nil` if the bytes go directly to `path`.
    private let replacement: (temporary: String, target: String)?
    private var isFinished = false

    /// Opens a file. If `path` is a pipe, waits for its reader.
    /// - Throws: `FileError`, or `CancellationError` if the task is cancelled while it waits.
    init(_ path: String) async throws {
        self.path = path
        var status = stat()
        let isThere = stat(path, &status) == 0
        let kind = status.st_mode & S_IFMT
        if isThere, kind != S_IFREG {
            replacement = nil
            descriptor = try await Self.opened(path, isPipe: kind == S_IFIFO)
        } else {
            let target = try Self.target(of: path)
            // Short, because the name of the file may be as long as names can be, and random, because another command may write there.
            let temporary = Self.folder(of: target) + ".onesheet-\(String(UInt64.random(in: 0 ... .max), radix: 16)).part"
            replacement = (temporary, target)
            descriptor = try Self.created(temporary, like: isThere ? status : nil, for: path)
        }
    }

    deinit {
        close(descriptor)
        if let replacement, !isFinished { unlink(replacement.temporary) }
    }

    func write(_ bytes: ByteBuffer) throws {
        try bytes.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(UnsafeRawBufferPointer(rebasing: rest))
                let code = errno
                if count < 0 && code == EINTR { continue }
                if count < 0 && code == EAGAIN {
                    try waitForReader()
                    continue
                }
                guard count >= 0 else { throw Self.failure(path, code) }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Gives a complete file its name.
    func finish() throws {
        if let replacement {
            guard fsync(descriptor) == 0, rename(replacement.temporary, replacement.target) == 0 else {
                throw Self.failure(path, errno)
            }
        }
        isFinished = true
    }

    /// Waits for the reader of a full pipe, for at most a tenth of a second, because the task may be cancelled.
    private func waitForReader() throws {
        var file = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&file, 1, 100)
        try Task.checkCancellation()
    }

    /// Opens a pipe, a socket or a device. It never blocks, so that a signal can end a command whose pipe has no reader.
    private static func opened(_ path: String, isPipe: Bool) async throws -> CInt {
        while true {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            if descriptor >= 0 { return descriptor }
            let code = errno
            guard isPipe, code == ENXIO else { throw failure(path, code) }
            guard await sleepUnlessCancelled(for: .milliseconds(50)) else { throw CancellationError() }
        }
    }

    /// - Parameter known: the file to replace, whose permissions the new one gets, and whose owner if this process may set it.
    private static func created(_ temporary: String, like known: stat?, for path: String) throws -> CInt {
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, known == nil ? 0o666 : 0o600)
        guard descriptor >= 0 else { throw failure(path, errno) }
        guard let known else { return descriptor }
        // Only root can give a file to another user.
        _ = fchown(descriptor, known.st_uid, known.st_gid)
        guard fchmod(descriptor, known.st_mode & 0o777) == 0 else {
            let code = errno
            close(descriptor)
            unlink(temporary)
            throw failure(path, code)
        }
        return descriptor
    }

    /// The file that `path` names after all symbolic links. It may not exist.
    private static func target(of path: String) throws -> String {
        var target = path
        // As many links as the system follows.
        for _ in 0..<40 {
            guard let link = link(at: target) else { return target }
            target = link.hasPrefix("/") ? link : folder(of: target) + link
        }
        throw failure(path, ELOOP)
    }

    /// The text of the symbolic link at `path`. `nil` if there is none.
    private static func link(at path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    /// The folder of `path` with a slash at the end. Empty if it is the current one.
    private static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    }

    private func systemWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func failure(_ path: String, _ code: CInt) -> FileError {
        FileError("cannot write \(path): \(String(cString: strerror(code)))")
    }
}

/// Error for a file that cannot be read or written.
struct FileError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
