package import Foundation

/// Files that take long to make and are the same in every run of a build, so that all test processes share them.
package enum BuildFixture {
    /// The file or folder of this name. `make` makes it at the given place if it is not there.
    ///
    /// It is beside `program`, which makes it or has the code that does, and is made again after that has changed. Of several processes
    /// and threads that need it at once, one makes it and the others wait.
    package static func item(_ name: String, of program: URL, make: (URL) throws -> Void) throws -> URL {
        let folder = program.deletingLastPathComponent().appending(path: "test-fixtures")
        let changed = try FileManager.default.attributesOfItem(atPath: program.path)[.modificationDate] as? Date
        let item = folder.appending(path: "\(name)-\(Int((changed?.timeIntervalSince1970 ?? 0) * 1000))")
        if FileManager.default.fileExists(atPath: item.path) { return item }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try withLock(folder.appending(path: "\(name).lock")) {
            if FileManager.default.fileExists(atPath: item.path) { return item }
            for old in try FileManager.default.contentsOfDirectory(atPath: folder.path) where old.hasPrefix("\(name)-") {
                try FileManager.default.removeItem(at: folder.appending(path: old))
            }
            let unfinished = folder.appending(path: "\(name)-unfinished")
            try make(unfinished)
            try FileManager.default.moveItem(at: unfinished, to: item)
            return item
        }
    }

    /// Runs `body` while this process has the lock, which ends at the latest with the process.
    private static func withLock<Value>(_ file: URL, _ body: () throws -> Value) throws -> Value {
        let descriptor = open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FixtureError("open: \(errno)") }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw FixtureError("flock: \(errno)") }
        }
        return try body()
    }
}
