import FoundationEssentials
package import OnesheetCore

/// The keys of `cache`: the two built-in tiers, and the tiers of plugins.
package struct CacheConfiguration: Sendable, ConfigurationSection, Equatable {
    package struct Memory: Sendable, ConfigurationSection, Equatable {
        package var bytes = ByteSize(256 << 20)
        package var entries = Count(100_000)
        package var expires = Interval(.seconds(300))
        package var extends = LifeExtension.none

        package init() {}

        package static var settings: [Setting<Self>] {
            [
                Setting("bytes", \.bytes, meaning: "size limit of the memory tier"),
                Setting("entries", \.entries, meaning: "maximum number of entries in the memory tier"),
                Setting("expires", \.expires, meaning: "maximum time that an entry stays in the tier"),
                Setting(
                    "extends", \.extends,
                    meaning:
                        "what a hit changes: `none` nothing; `cacheTime` starts the time in this tier again, up to `expires` and to the "
                        + "date that the origin gave; an interval is the new time from the hit on. Stale images are revalidated all the same"
                ),
            ]
        }

        package func check() throws(ConfigurationError) { try CacheConfiguration.check(entries, extends, at: "cache.memory") }
    }

    package struct Disk: Sendable, ConfigurationSection, Equatable {
        package var path = Disk.defaultPath
        package var bytes = ByteSize(10 << 30)
        package var entries: Count?
        package var expires = Interval(.seconds(7 * 86_400))
        package var extends = LifeExtension.none
        package var free: ByteSize?

        package init() {}

        package static var settings: [Setting<Self>] {
            [
                Setting(
                    "path", \.path, defaultText: "`$XDG_CACHE_HOME/onesheet` or `~/.cache/onesheet`",
                    meaning: "folder of the disk tier, its index and its state"),
                Setting("bytes", \.bytes, meaning: "size limit of the disk tier"),
                Setting(
                    "entries", \.entries, defaultText: "none: only `bytes` limits it",
                    meaning: "maximum number of entries in the disk tier, a file each"),
                Setting("expires", \.expires, meaning: "maximum time that an entry stays in the tier"),
                Setting("extends", \.extends, meaning: "what a hit changes, as `cache.memory.extends`"),
                Setting("free", \.free, defaultText: "5 % of the disk, at most 1 GiB", meaning: "disk space to leave free"),
            ]
        }

        package func check() throws(ConfigurationError) { try CacheConfiguration.check(entries, extends, at: "cache.disk") }

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

    private static func check(
        _ entries: Count?, _ extends: LifeExtension, at path: String
    ) throws(ConfigurationError) {
        if let entries, entries.value < 1 { throw ConfigurationError(path: "\(path).entries", message: "needs at least 1") }
        if case .interval(let interval) = extends, interval.duration <= .zero {
            throw ConfigurationError(path: "\(path).extends", message: "needs an interval greater than 0, such as 5m")
        }
    }

    package func check() throws(ConfigurationError) {
        var names: Set = ["memory", "disk"]
        for (index, tier) in tiers.enumerated() where !names.insert(tier.name).inserted {
            throw ConfigurationError(
                path: "cache.tiers.[\(index)].name", message: "“\(tier.name)” is already a tier; each tier needs a name of its own")
        }
    }
}

/// What a hit changes in the life of an entry.
package enum LifeExtension: Sendable, SettingValue, Equatable {
    case none
    /// The entry's own lifetime starts again.
    case cacheTime
    /// This lifetime starts.
    case interval(Interval)

    package static let kind = "`none`, `cacheTime`, interval"

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        switch text {
        case "none": self = .none
        case "cacheTime": self = .cacheTime
        default:
            guard let interval = Interval(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "“\(text)” is neither none nor cacheTime nor an interval such as 5m")
            }
            self = .interval(interval)
        }
    }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        switch self {
        case .none: .text("none")
        case .cacheTime: .text("cacheTime")
        case .interval(let interval): interval.printed(written)
        }
    }

    /// The same for a tier.
    package var extending: ExpirationExtending {
        switch self {
        case .none: .none
        case .cacheTime: .cacheTime
        case .interval(let interval): .newExpiration(.seconds(interval.seconds))
        }
    }
}
