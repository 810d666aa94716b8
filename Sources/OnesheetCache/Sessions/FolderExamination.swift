#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
package import OnesheetCore

/// A look at a cache's folder that changes nothing: nothing is made, locked or opened for writing.
package enum FolderExamination {
    /// Whether there is a folder at `path`.
    package static func isThere(_ path: String) throws(CacheError) -> Bool {
        do throws(FileFailure) {
            return try FileStatus(of: path, followingLink: true)?.isFolder == true
        } catch {
            throw error.cacheError
        }
    }

    /// Makes sure that a server could keep its cache at `path`: in a folder of ours or an empty one, or where one can be made.
    /// - Returns: why nothing could be stored in it now, where a server starts all the same; `nil` if something could.
    /// - Throws: `CacheError.notACache` if the folder has files in it that are not ours, and `CacheError.fileSystem` if it is none.
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

    /// Makes sure that files can be written into the folder at `path`, or that it can be made.
    package static func requireWritable(_ path: String) throws(CacheError) {
        do throws(FileFailure) { try requireRoom(at: path) } catch { throw error.cacheError }
    }

    /// No error of the system's: the folder is not ours.
    private static let foreign: Int32 = -2

    private static func requireRoom(at path: String) throws(FileFailure) {
        var place = path
        // Up to what is there.
        while try FileStatus(of: place, followingLink: true) == nil {
            // A link that leads nowhere is something that is there.
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
        guard access(place, W_OK | X_OK) == 0 else { throw FileFailure("write to the folder", place) }
    }
}
