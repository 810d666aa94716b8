import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file of the access log, or standard output. Its calls may block, so they belong on a thread of its own.
struct LogFile: ~Copyable, Sendable {
    /// A failed system call.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        fileprivate init(_ action: String, _ path: String) {
            description = "cannot \(action) \(path): \(String(cString: strerror(errno)))"
        }
    }

    /// `nil` for standard output.
    private let path: String?
    private var descriptor: Int32
    /// The file that was at the path when it was opened.
    private var identity: Identity?
    /// Whether the last write ended within a line, because the disk was full.
    private var isCut = false

    /// - Parameter path: `nil` for standard output.
    init(_ path: String?) throws(Failure) {
        self.path = path
        descriptor = try path.map { path throws(Failure) in try Self.open(path) } ?? STDOUT_FILENO
        identity = path.flatMap(Identity.init)
    }

    deinit { if path != nil { close(descriptor) } }

    /// Opens the file for appending. The owner may write it and the group may read it, as log collectors expect.
    private static func open(_ path: String) throws(Failure) -> Int32 {
        // Without O_NONBLOCK, a pipe without a reader would block the start.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let descriptor = systemOpen(path, flags, mode: 0o640)
        guard descriptor >= 0 else { throw Failure("open", path) }
        // Writes may block: this is the log's own thread.
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) == 0 else {
            let failure = Failure("open", path)
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// Whether another file, or none, is at the path now: the file was renamed or removed.
    var isMoved: Bool {
        guard let path else { return false }
        return Identity(path) != identity
    }

    /// Opens the path again.
    /// - Throws: `Failure`; then the old file stays open.
    mutating func reopen() throws(Failure) {
        guard let path else { return }
        let new = try Self.open(path)
        close(descriptor)
        (descriptor, isCut, identity) = (new, false, Identity(path))
    }

    /// Appends complete lines.
    mutating func write(_ lines: [UInt8]) throws(Failure) {
        // Do not let the next line continue a cut one.
        if isCut {
            try writeAll([UInt8(ascii: "\n")][...])
            isCut = false
        }
        try writeAll(lines[...])
    }

    private mutating func writeAll(_ bytes: ArraySlice<UInt8>) throws(Failure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(to: descriptor, $0.baseAddress, count: $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = Failure("write", path ?? "standard output")
                if rest.startIndex > bytes.startIndex { isCut = rest[rest.startIndex - 1] != UInt8(ascii: "\n") }
                throw failure
            }
            rest = rest.dropFirst(count)
        }
    }
}

/// The identity of a file: its device and its number.
private struct Identity: Equatable, Sendable {
    private let text: String

    /// - Returns: `nil` if there is no file at `path`.
    init?(_ path: String) {
        do {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            // The types of these numbers differ between systems.
            text = [facts[.systemNumber], facts[.systemFileNumber]].map { $0.map { "\($0)" } ?? "" }.joined(separator: " ")
        } catch {
            return nil
        }
    }
}

private func systemOpen(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 { open(path, flags, mode) }

private func systemWrite(to file: Int32, _ bytes: UnsafeRawPointer?, count: Int) -> Int { write(file, bytes, count) }
