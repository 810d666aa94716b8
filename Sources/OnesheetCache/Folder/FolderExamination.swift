#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
package import OnesheetCore

/// Examines a cache folder without changes: it makes, locks and writes nothing.
package enum FolderExamination {
    /// Whether there is a folder at `path`.
    package static func isThere(_ path: String) throws(CacheError) -> Bool {
        do throws(FileFailure) {
            return try FileStatus(of: path, followingLink: true)?.isFolder == true
        } catch {
            throw error.cacheError
        }
    }

    /// Checks that a server could keep its cache at `path`: in a cache folder, in an empty one, or in a new one.
    /// - Returns: why nothing could be stored in it now, although a server would start; `nil` if it could be
    ///   stored.
    /// - Throws: `CacheError.notACache` if the folder has foreign files, and `CacheError.fileSystem` if it is not a folder.
    package static func requireUsable(_ path: String) throws(CacheError) -> CacheError? {
        do throws(FileFailure) {
            try requireOurs(path)
            try requireRoom(at: path)
            return nil
        } catch {
            if error.code == foreign { throw .notACache(path: path) }
            guard error.isRefusal else { throw error.cacheError }
            return error.cacheError
        }
    }

    private static func requireOurs(_ path: String) throws(FileFailure) {
        guard try FileStatus(of: path, followingLink: true)?.isFolder == true else { return }
        let layout = FolderLayout(path: path)
        if try FoundMarker(at: layout.marker).marker == nil, try !layout.isOurs() {
            throw FileFailure("use", path, code: foreign)
        }
    }

    /// Checks that files can be written into the folder at `path`, or that it can be made.
    package static func requireWritable(_ path: String) throws(CacheError) {
        do throws(FileFailure) { try requireRoom(at: path) } catch { throw error.cacheError }
    }

    /// Not an error of the system: the folder belongs to another user.
    private static let foreign: Int32 = -2

    private static func requireRoom(at path: String) throws(FileFailure) {
        var place = path
        // Up to the first existing folder.
        while try FileStatus(of: place, followingLink: true) == nil {
            // A dangling link exists too.
            guard try FileStatus(of: place) == nil else { throw FileFailure("use the folder", place, code: FileFailure.absence) }
            guard let slash = place.lastIndex(of: "/") else {
                place = "."
                break
            }
            place = slash == place.startIndex ? "/" : String(place[..<slash])
        }
        guard try FileStatus(of: place, followingLink: true)?.isFolder == true else {
            throw FileFailure("use the folder", place, code: ENOTDIR)
        }
        // The kernel refuses new folders in /proc, although the permissions let root write there.
        if place != path, isInProc(place) { throw FileFailure("make the folder", path, code: FileFailure.absence) }
        guard access(place, W_OK | X_OK) == 0 else { throw FileFailure("write to the folder", place) }
    }

    private static func isInProc(_ place: String) -> Bool {
        guard let real = realpath(place, nil) else { return false }
        defer { free(real) }
        let path = String(cString: real)
        return path == "/proc" || path.hasPrefix("/proc/")
    }
}
