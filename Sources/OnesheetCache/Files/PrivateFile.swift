package import NIOCore
package import OnesheetCore

/// Folders and files that only their owner may read, whatever mask the process has.
package enum PrivateFile {
    /// Makes the folder at `path`, and those on the way to it. One that is there stays as it is.
    package static func makeFolders(_ path: String) throws(CacheError) {
        do throws(FileFailure) { try Files.makeFolders(path) } catch { throw error.cacheError }
    }

    /// Writes the file at `path` whole or not at all, in place of the one that is there.
    package static func write(_ buffer: ByteBuffer, to path: String) throws(CacheError) {
        let temporary = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 16)).new"
        do throws(FileFailure) {
            try Files.replace(path, with: buffer, through: temporary)
        } catch {
            let failure = error
            do throws(FileFailure) { try Files.remove(temporary) } catch { throw failure.cacheError }
            throw failure.cacheError
        }
    }
}
