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
                Setting("bytes", \.bytes, meaning: "size limit of the memory tier"),
                Setting("expires", \.expires, meaning: "maximum time that an entry stays in the tier"),
            ]
        }
    }

    package struct Disk: Sendable, ConfigurationSection, Equatable {
        package var path = Disk.defaultPath
        package var bytes = ByteSize(10 << 30)
        package var expires = Interval(.seconds(7 * 86_400))
        package var free: ByteSize?

        package init() {}

        package static var settings: [Setting<Self>] {
            [
                Setting(
                    "path", \.path, defaultText: "`$XDG_CACHE_HOME/onesheet` or `~/.cache/onesheet`",
                    meaning: "folder of the disk tier, its index and its state"),
                Setting("bytes", \.bytes, meaning: "size limit of the disk tier"),
                Setting("expires", \.expires, meaning: "maximum time that an entry stays in the tier"),
                Setting("free", \.free, defaultText: "5 % of the disk, at most 1 GiB", meaning: "disk space to leave free"),
            ]
        }

        /// `onesheet` in the user's cache folder (XDG Base Directory Specification).
        private static var defaultPath: String {
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
            Setting("memory", \.memory, meaning: "the memory tier"),
            Setting("disk", \.disk, meaning: "the disk tier"),
            Setting("tiers", \.tiers, meaning: "tiers of plugins, in lookup order"),
        ]
    }

    package func check() throws(ConfigurationError) {
        var names: Set = ["memory", "disk"]
        for (index, tier) in tiers.enumerated() where !names.insert(tier.name).inserted {
            throw ConfigurationError(
                path: "cache.tiers.[\(index)].name", message: "“\(tier.name)” is already a tier; each tier needs a name of its own")
        }
    }
}
