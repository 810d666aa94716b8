package import NIOCore
package import OnesheetCore

/// Folders and files that only their owner may read, regardless of the umask.
package enum PrivateFile {
    /// Makes the folder at `path` and the folders on the way to it. An existing folder stays unchanged.
    package static func makeFolders(_ path: String) throws(CacheError) {
        do throws(FileFailure) { try Files.makeFolders(path) } catch { throw error.cacheError }
    }

    /// Writes the file at `path` atomically and replaces an existing one.
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
