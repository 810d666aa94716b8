#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
internal import NIOCore
internal import OnesheetCore

/// Reads a file below a directory. No part of the path may be a link, including links made since the folder was listed.
struct FileReading {
    let root: String
    let maxBytes: Int

    func bytes(of path: String) throws(SourceError) -> ByteBuffer {
        var descriptor = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .failed(reason: "the folder cannot be read", details: "\(root): \(String(cString: strerror(errno)))")
        }
        let names = path.pieces(at: "/").map(String.init)
        for (index, name) in names.enumerated() {
            let kind = index == names.count - 1 ? O_NONBLOCK : O_DIRECTORY
            let next = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
            let reason = errno
            close(descriptor)
            guard next >= 0 else {
                errno = reason
                throw failure(path)
            }
            descriptor = next
        }
        defer { close(descriptor) }
        return try contents(descriptor, path)
    }

    private func contents(_ descriptor: Int32, _ path: String) throws(SourceError) -> ByteBuffer {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unavailable(reason: "\(path) is not a file") }
        guard status.st_size <= maxBytes else { throw .malformedAnswer(reason: "\(path) has more than \(maxBytes) bytes") }
        var buffer = ByteBuffer()
        while true {
            var got = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: max(4096, Int(status.st_size) - buffer.readableBytes + 1)) {
                memory in
                got = read(descriptor, memory.baseAddress, min(memory.count, FileCall.longest))
                return max(0, got)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure(path) }
            // A file can grow during the read.
            guard buffer.readableBytes <= maxBytes else {
                throw .malformedAnswer(reason: "\(path) has more than \(maxBytes) bytes")
            }
            if got == 0 { return buffer }
        }
    }

    private func failure(_ path: String) -> SourceError {
        .unavailable(reason: "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
}
