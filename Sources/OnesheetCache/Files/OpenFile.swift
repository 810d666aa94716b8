#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import CLinux
internal import NIOCore
internal import OnesheetCore

/// An open file, closed at the end of its lifetime. Retries interrupted and partial reads and writes.
struct OpenFile: ~Copyable {
    enum Purpose {
        case reading
        /// A new file; fails if it exists.
        case writing
        /// Reading, and changing bytes in place.
        case changing
        /// Made if it is missing; used only for a lock.
        case locking

        fileprivate var makes: Bool {
            switch self {
            case .reading, .changing: false
            case .writing, .locking: true
            }
        }

        fileprivate var flags: Int32 {
            switch self {
            case .reading: O_RDONLY
            case .writing: O_WRONLY | O_CREAT | O_EXCL
            case .changing: O_RDWR
            case .locking: O_RDWR | O_CREAT
            }
        }
    }

    private var descriptor: Int32
    let path: String

    /// Opens the regular file at `path`. If it makes the file, only its owner may read and write it.
    ///
    /// Follows no link and accepts only regular files: opening a pipe could block for ever, and reading a device could be endless.
    init(_ path: String, for purpose: Purpose) throws(FileFailure) {
        self.path = path
        descriptor = try Self.descriptor(of: path, for: purpose)
    }

    private static func descriptor(of path: String, for purpose: Purpose) throws(FileFailure) -> Int32 {
        let descriptor = open(path, purpose.flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, permissions)
        guard descriptor >= 0 else { throw FileFailure("open", path) }
        do throws(FileFailure) {
            var facts = stat()
            guard fstat(descriptor, &facts) == 0 else { throw FileFailure("examine", path) }
            let status = FileStatus(facts)
            guard status.isFile else { throw FileFailure("open", path, code: FileFailure.notAFile) }
            // The umask may have removed permissions of the owner.
            if purpose.makes, status.size == 0, status.isOwn, status.permissions != UInt32(permissions) {
                guard fchmod(descriptor, permissions) == 0 else { throw FileFailure("set the permissions of", path) }
            }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The mode of all files of the cache.
    static let permissions: mode_t = 0o600

    private init(_ path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens the file at `path` for reading; `nil` if that would block.
    /// - Throws: if the system knows, without asking the disk, that there is no such file.
    static func resident(_ path: String) throws(FileFailure) -> OpenFile? {
        let descriptor = ccachefiles_open_resident(path)
        if descriptor >= 0 { return OpenFile(path, descriptor: descriptor) }
        let failure = FileFailure("open", path)
        if failure.isAbsence { throw failure }
        return nil
    }

    /// A new file that exists only in memory.
    static func inMemory() throws(FileFailure) -> OpenFile {
        let (descriptor, path) = (ccachefiles_open_in_memory(), "memory")
        guard descriptor >= 0 else { throw FileFailure("open", path) }
        return OpenFile(path, descriptor: descriptor)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The first `count` bytes, if all of them are in the page cache.
    func readResident(first count: Int) -> ByteBuffer? {
        var buffer = ByteBuffer()
        let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
            max(ccachefiles_read_resident(descriptor, room.baseAddress, count, 0), 0)
        }
        return got == count ? buffer : nil
    }

    /// Whether the first `count` bytes seem to be in the page cache. Checks the last byte and every 128 KiB before it, which is
    /// about the readahead of the system.
    func isResident(first count: Int) -> Bool {
        var byte: UInt8 = 0
        return stride(from: count - 1, through: 0, by: -128 << 10).allSatisfy {
            ccachefiles_read_resident(descriptor, &byte, 1, off_t($0)) == 1
        }
    }

    /// The bytes in `range` as a file region for sending. The region owns the file from now on.
    mutating func region(_ range: Range<Int>) -> FileRegion {
        defer { descriptor = -1 }
        let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        return FileRegion(fileHandle: handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
    }

    func status() throws(FileFailure) -> FileStatus {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileFailure("examine", path) }
        return FileStatus(facts)
    }

    /// Up to `count` bytes from the start of the file.
    func read(first count: Int) throws(FileFailure) -> ByteBuffer { try Self.read(0..<count, of: descriptor, at: path) }

    /// The bytes in `range`; fewer if the file ends before.
    func read(_ range: Range<Int>) throws(FileFailure) -> ByteBuffer { try Self.read(range, of: descriptor, at: path) }

    /// The checksum of the bytes in `range`, which are not kept in memory; `nil` if the file ends before.
    func check(_ range: Range<Int>) throws(FileFailure) -> Digest128? {
        var checksum = ccachefiles_checksum()
        if ccachefiles_check_file(descriptor, off_t(range.lowerBound), range.count, &checksum) == 0 {
            return Digest128(high: checksum.high, low: checksum.low)
        }
        if errno == 0 { return nil }
        throw FileFailure("read", path)
    }

    /// The bytes in `range` of the open file `descriptor`; fewer if the file ends before.
    static func read(_ range: Range<Int>, of descriptor: Int32, at path: String) throws(FileFailure) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(range.count)
        while buffer.writerIndex < range.count {
            let offset = range.lowerBound + buffer.writerIndex
            let count = min(range.count - buffer.writerIndex, FileCall.longest)
            let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
                max(pread(descriptor, room.baseAddress, count, off_t(offset)), 0)
            }
            if got == 0 {
                // Either the end of the file or a failure. A second read tells which.
                var byte: UInt8 = 0
                let answer = pread(descriptor, &byte, 1, off_t(offset))
                if answer < 0, errno != EINTR { throw FileFailure("read", path) }
                if answer == 0 { break }
            }
        }
        return buffer
    }

    func write(_ buffer: ByteBuffer) throws(FileFailure) {
        var written = 0
        while written < buffer.readableBytes {
            let part = min(buffer.readableBytes - written, FileCall.longest)
            let count = buffer.withUnsafeReadableBytes { bytes in
                #if canImport(Darwin)
                    Darwin.write(descriptor, bytes.baseAddress?.advanced(by: written), part)
                #else
                    Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), part)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileFailure("write", path, code: count == 0 ? ENOSPC : errno) }
            written += count
        }
    }

    /// Writes `buffer` over the bytes at `offset`, in one call.
    func overwrite(_ buffer: ByteBuffer, at offset: Int) throws(FileFailure) {
        let count = buffer.withUnsafeReadableBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard count == buffer.readableBytes else { throw FileFailure("write", path, code: count < 0 ? errno : EIO) }
    }

    /// Syncs the written bytes to the medium.
    func sync() throws(FileFailure) {
        guard fsync(descriptor) == 0 else { throw FileFailure("sync", path) }
    }

    /// Locks the file for this open file until it is closed or its process ends.
    func lock(waiting: Bool) throws(FileFailure) {
        while flock(descriptor, waiting ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR else { throw FileFailure("lock", path) }
        }
    }
}
