package import NIOCore
package import OnesheetCore

/// Folders and files that only their owner may read, regardless of the umask.
package enum PrivateFile {
    /// Makes the folder at `path` and the folders on the way to it. An existing folder stays unchanged.
    package static func makeFolders(_ path: String) throws(CacheError) {
        do throws(FileFailure) { try Files.makeFolders(path) } catch { throw error.cacheError }
    }

    /// The contents of the small file at `path`; `nil` if there is none.
    package static func contents(of path: String) throws(CacheError) -> ByteBuffer? {
        do throws(FileFailure) {
            return try Files.contents(of: path)
        } catch {
            if error.isAbsence { return nil }
            throw error.cacheError
        }
    }

    /// Writes a new file at `path` atomically, and the folders on the way to it.
    /// - Returns: whether there was none; an existing file stays.
    package static func make(_ buffer: ByteBuffer, at path: String) throws(CacheError) -> Bool {
        do throws(FileFailure) {
            if let (folder, _) = path.cut(atLast: "/"), !folder.isEmpty { try Files.makeFolders(String(folder)) }
            return try Files.make(path, with: buffer, through: temporary(path))
        } catch {
            throw error.cacheError
        }
    }

    private static func temporary(_ path: String) -> String { "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 16)).new" }

    /// Writes the file at `path` atomically and replaces an existing one.
    package static func write(_ buffer: ByteBuffer, to path: String) throws(CacheError) {
        let temporary = temporary(path)
        do throws(FileFailure) {
            try Files.replace(path, with: buffer, through: temporary)
        } catch {
            let failure = error
            do throws(FileFailure) { try Files.remove(temporary) } catch { throw failure.cacheError }
            throw failure.cacheError
        }
    }
}
