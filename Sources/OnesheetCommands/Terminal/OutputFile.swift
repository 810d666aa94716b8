import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that is written under a temporary name and renamed when it is complete.
final class OutputFile {
    private let path: String
    private let temporaryPath: String
    private let descriptor: CInt
    private var isFinished = false

    init(_ path: String) throws {
        (self.path, temporaryPath) = (path, "\(path).part")
        descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit {
        close(descriptor)
        if !isFinished { unlink(temporaryPath) }
    }

    func write(_ bytes: ByteBuffer) throws {
        try bytes.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(UnsafeRawBufferPointer(rebasing: rest))
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw Self.failure(path) }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Renames the file to its final name.
    func finish() throws {
        guard fsync(descriptor) == 0, rename(temporaryPath, path) == 0 else { throw Self.failure(path) }
        isFinished = true
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

    private static func failure(_ path: String) -> FileError {
        FileError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}

/// Error for a file that cannot be read or written.
struct FileError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
