#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
internal import NIOCore
internal import OnesheetCore

/// The file of an object: a line of text with the revision, then the bytes of the object.
///
/// The revision is drawn at random for each write. A file's number and times would not do: they can repeat.
struct ObjectFile: ~Copyable {
    private static let word = Array("onesheet object 1 ".utf8)
    private static let headLength = word.count + 33

    private let descriptor: Int32
    private let path: String
    private let size: Int
    private let head: [UInt8]

    /// `nil` if there is no file. Follows no link at the end of the path and opens only files, because opening a pipe could block.
    init?(at path: String) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            let error = FileError(path)
            if error.isAbsence || error.code == ELOOP || error.code == ENXIO { return nil }
            throw error
        }
        var facts = stat()
        let hasStatus = fstat(descriptor, &facts) == 0
        guard hasStatus, facts.st_mode & S_IFMT == S_IFREG else {
            let error = FileError(path)
            close(descriptor)
            if hasStatus { return nil }
            throw error
        }
        let start: [UInt8]
        do throws(FileError) {
            start = Array(try Self.read(0..<min(Self.headLength, Int(facts.st_size)), of: descriptor, path).readableBytesView)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.path = path
        size = Int(facts.st_size)
        head = start
    }

    deinit { close(descriptor) }

    var bodyLength: Int { Self.bodyLength(ofFile: size) }

    /// The length of the object in a file of `size` bytes.
    static func bodyLength(ofFile size: Int) -> Int { max(size - headLength, 0) }

    /// A file that something else wrote has a revision too, and bytes that its reader will find damaged.
    var revision: String {
        guard head.count == Self.headLength, head.starts(with: Self.word), head.last == UInt8(ascii: "\n") else { return "unknown" }
        return String(decoding: head[Self.word.count..<(Self.headLength - 1)], as: UTF8.self)
    }

    func object() throws(FileError) -> StoredObject {
        let body = try Self.read(min(Self.headLength, size)..<size, of: descriptor, path)
        return StoredObject(body: body, revision: revision)
    }

    /// The first `count` bytes of the object.
    func start(_ count: Int) throws(FileError) -> ObjectStart {
        let begin = min(Self.headLength, size)
        let bytes = try Self.read(begin..<(begin + min(count, size - begin)), of: descriptor, path)
        return ObjectStart(bytes: bytes, size: bodyLength)
    }

    /// Writes a new file.
    /// - Returns: its revision.
    static func write(_ body: ByteBuffer, to path: String) throws(FileError) -> String {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o660)
        guard descriptor >= 0 else { throw FileError(path) }
        let revision = (0..<4).map { _ in UInt32.random(in: 0 ... .max) }.map(digits).joined()
        var file = ByteBuffer(bytes: word)
        file.writeString("\(revision)\n")
        file.writeImmutableBuffer(body)
        do throws(FileError) { try write(file, to: descriptor, path) } catch {
            close(descriptor)
            unlink(path)
            throw error
        }
        // A network file system may report only now that it has no room.
        guard close(descriptor) == 0 else {
            let error = FileError(path)
            unlink(path)
            throw error
        }
        return revision
    }

    private static func digits(_ number: UInt32) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 8 - text.utf8.count) + text
    }

    private static func write(_ file: ByteBuffer, to descriptor: Int32, _ path: String) throws(FileError) {
        var file = file
        while file.readableBytes > 0 {
            let part = min(file.readableBytes, FileCall.longest)
            let count = file.withUnsafeReadableBytes { bytes in
                #if canImport(Darwin)
                    Darwin.write(descriptor, bytes.baseAddress, part)
                #else
                    Glibc.write(descriptor, bytes.baseAddress, part)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError(path, code: count == 0 ? ENOSPC : errno) }
            file.moveReaderIndex(forwardBy: count)
        }
    }

    /// The bytes of `range`; fewer if the file ends before.
    private static func read(_ range: Range<Int>, of descriptor: Int32, _ path: String) throws(FileError) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(range.count)
        while buffer.readableBytes < range.count {
            let offset = range.lowerBound + buffer.readableBytes
            let wanted = min(range.count - buffer.readableBytes, FileCall.longest)
            var count = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { room in
                count = pread(descriptor, room.baseAddress, wanted, off_t(offset))
                return max(count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(path) }
            if count == 0 { break }
        }
        return buffer
    }
}
