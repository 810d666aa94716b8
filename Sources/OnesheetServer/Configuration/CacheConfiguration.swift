import FoundationEssentials
package import OnesheetCore

/// The keys of `cache`: the two built-in tiers, and the tiers of plugins.
package struct CacheConfiguration: Sendable, ConfigurationSection, Equatable {
    package struct Memory: Sendable, ConfigurationSection, Equatable {
        package var bytes = ByteSize(256 << 20)
        package var expires = Interval(.seconds(300))

        package init() {}

        package static var settings: [Setting<Self>] {
            [
                Setting("bytes", \.bytes, meaning: "the memory tier"),
                Setting("expires", \.expires, meaning: "the longest that an entry stays there"),
            ]
        }
    }

    package struct Disk: Sendable, ConfigurationSection, Equatable {
        package var path = Disk.usualPath
        package var bytes = ByteSize(10 << 30)
        package var expires = Interval(.seconds(7 * 86_400))
        package var free: ByteSize?

        package init() {}

        package static var settings: [Setting<Self>] {
            [
                Setting(
                    "path", \.path, standard: "`$XDG_CACHE_HOME/onesheet` or `~/.cache/onesheet`",
                    meaning: "the folder of the disk tier, its index and its state"),
                Setting("bytes", \.bytes, meaning: "the disk tier"),
                Setting("expires", \.expires, meaning: "the longest that an entry stays there"),
                Setting("free", \.free, standard: "5 % of the disk, at most 1 GiB", meaning: "what stays free for others"),
            ]
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
    /// The tiers of plugins, in the order in which the cache asks them.
    package var tiers: [TierConfiguration] = []

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("memory", \.memory, meaning: "what is kept in memory"),
            Setting("disk", \.disk, meaning: "what is kept on disk"),
            Setting("tiers", \.tiers, meaning: "the tiers of plugins, in the order in which they are asked"),
        ]
    }

    package func check() throws(ConfigurationError) {
        var names: Set = ["memory", "disk"]
        for (index, tier) in tiers.enumerated() where !names.insert(tier.name).inserted {
            throw ConfigurationError(
                path: "cache.tiers.[\(index)].name", message: "“\(tier.name)” is a tier already; each needs a name of its own")
        }
    }
}
