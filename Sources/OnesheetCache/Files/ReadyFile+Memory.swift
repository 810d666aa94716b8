internal import CCacheFiles
package import NIOCore
package import OnesheetCore

extension ReadyFile {
    /// A file that is nowhere but in memory. The kernel sends its pages as they are, where it would copy a buffer for every connection:
    /// sending 31 KB takes a quarter less time.
    /// - Parameter parts: what is in it, one after the other.
    package static func inMemory(_ parts: [ByteBuffer]) throws -> ReadyFile {
        var file = try OpenFile.inMemory()
        for part in parts { try file.write(part) }
        return ReadyFile(file.region(0..<parts.reduce(0) { $0 + $1.readableBytes })) { true }
    }

    /// The bytes, if the page cache has them all: nothing here waits for a disk.
    package func read() -> ByteBuffer? {
        let count = region.readableBytes
        var buffer = ByteBuffer()
        do {
            let got = try region.fileHandle.withUnsafeFileDescriptor { descriptor in
                buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
                    max(ccachefiles_read_resident(descriptor, room.baseAddress, count, off_t(region.readerIndex)), 0)
                }
            }
            return got == count ? buffer : nil
        } catch {
            return nil
        }
    }
}
