import FoundationEssentials
package import OnesheetCore

/// The two tiers.
package struct CacheConfiguration: Sendable, Decodable, Equatable {
    package struct Memory: Sendable, Decodable, Equatable {
        package var bytes = ByteSize(256 << 20)
        package var expires = Interval(.seconds(300))

        private enum CodingKeys: CodingKey { case bytes, expires }
        package init() {}
        package init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            bytes = try keys.decodeIfPresent(ByteSize.self, forKey: .bytes) ?? bytes
            expires = try keys.decodeIfPresent(Interval.self, forKey: .expires) ?? expires
        }
    }

    package struct Disk: Sendable, Decodable, Equatable {
        package var path = Disk.usualPath
        package var bytes = ByteSize(10 << 30)
        package var expires = Interval(.seconds(7 * 86_400))
        /// What stays free for others; a twentieth of the disk, at most a gibibyte, where it is not said.
        package var free: ByteSize?

        private enum CodingKeys: CodingKey { case path, bytes, expires, free }
        package init() {}
        package init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            path = try keys.decodeIfPresent(String.self, forKey: .path) ?? path
            bytes = try keys.decodeIfPresent(ByteSize.self, forKey: .bytes) ?? bytes
            expires = try keys.decodeIfPresent(Interval.self, forKey: .expires) ?? expires
            free = try keys.decodeIfPresent(ByteSize.self, forKey: .free)
        }

        /// `onesheet` in the user's cache folder (XDG Base Directory Specification).
        private static var usualPath: String {
            let environment = ProcessInfo.processInfo.environment
            if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/onesheet" }
            return environment["HOME"].map { $0 + "/.cache/onesheet" } ?? "/var/cache/onesheet"
        }
    }

    package var memory = Memory()
    package var disk = Disk()

    private enum CodingKeys: CodingKey { case memory, disk }
    package init() {}
    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        memory = try keys.decodeIfPresent(Memory.self, forKey: .memory) ?? memory
        disk = try keys.decodeIfPresent(Disk.self, forKey: .disk) ?? disk
    }
}
