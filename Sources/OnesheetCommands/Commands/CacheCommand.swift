import ArgumentParser
import FoundationEssentials
import OnesheetCache
import OnesheetCore
import OnesheetServer

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Inspect, verify and purge the disk cache.",
        subcommands: [Stats.self, Verify.self, Purge.self])

    struct Stats: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print statistics of the disk cache by source.",
            discussion: "Each server counts its own hits and misses: see /cache/stats and /metrics.")

        @Flag(name: .long, help: "Print JSON.") var json = false
        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            let document = try await document()
            if json { return try StandardStreams.output(document: document) }
            StandardStreams.output(
                "\(document.total.entries) entries, \(document.total.bytes) of \(document.byteLimit) bytes, "
                    + "\(Int((document.fill * 100).rounded())) % full")
            for (name, figures) in document.sources.sorted(by: { $0.key < $1.key }) {
                StandardStreams.output(
                    "  \(name.isEmpty ? "(no source)" : name): \(figures.entries) entries, \(figures.bytes) bytes, "
                        + "oldest entry \((figures.oldestAge ?? 0) / 3600) hours old")
            }
        }

        private func document() async throws -> CacheDocument {
            let configuration = try options.load()
            guard let disk = try configuration.openDiskCache() else {
                return CacheDocument(CacheStatistics(byteLimit: configuration.cache.disk.bytes.bytes, sources: [:]), at: .now)
            }
            try await disk.adopt()
            let statistics = try await disk.statistics()
            try await disk.close()
            return CacheDocument(statistics, at: .now)
        }
    }

    struct Verify: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify the checksum of every file in the disk cache.",
            discussion: "Exits with a failure if something is damaged and not repaired. A server may run at the same time.")

        @Flag(name: .long, help: "Remove damaged files, and bring the index up to date with the files.") var repair = false
        @Flag(name: .long, help: "Print JSON.") var json = false
        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            var found = DiskVerification()
            if let disk = try options.load().openDiskCache() {
                found = try await disk.verify(repair: repair)
                try await disk.close()
            }
            if json {
                try StandardStreams.output(document: found)
            } else {
                StandardStreams.output(
                    "\(found.whole) whole, \(found.damaged) damaged, \(found.unknown) unknown to the index, \(found.missing) missing"
                        + (found.isRepaired && !found.isClean ? "; repaired" : ""))
            }
            if !found.isClean && !repair { throw ExitCode.failure }
        }
    }

    struct Purge: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove entries from the disk cache.",
            discussion: """
                A server on the same folder empties its memory tier within a second.

                Sources are not opened, so --id must be the id in the poster's canonical address, byte for byte. Servers accept other
                spellings of an id; this command removes nothing for them.
                """)

        @Option(name: .long, help: "Remove the entries of this source.") var source: String?
        @Option(name: .long, help: "Remove only this title of the source. Use the id in the poster's canonical address.")
        var id: String?
        @Option(name: .long, help: "Remove the entries with this tag, such as source:sample.") var tag: String?
        @Flag(name: .long, help: "Remove expired entries.") var expired = false
        @Flag(name: .long, help: "Remove all entries.") var all = false
        @Flag(name: .long, help: "Print what would be removed, and remove nothing.") var dryRun = false
        @Flag(name: .long, help: "Print JSON.") var json = false
        @OptionGroup var options: ConfigurationOptions

        func validate() throws {
            guard [source != nil, tag != nil, expired, all].count(where: { $0 }) == 1 else {
                throw ValidationError("needs exactly one of --source, --tag, --expired and --all")
            }
            for (name, value) in [("--source", source), ("--id", id), ("--tag", tag)] where value?.isEmpty ?? false {
                throw ValidationError("\(name) is empty")
            }
            guard id == nil || source != nil else { throw ValidationError("--id needs --source") }
        }

        private var selection: CacheSelection {
            if let source, let id { return .tag(.title(TitleReference(source: source, id: id))) }
            if let source { return .tag(.source(source)) }
            if let tag { return .tag(CacheTag(tag)) }
            return expired ? .expired : .all
        }

        private func removal(_ plugins: PluginList) async throws -> CacheRemoval {
            let configuration = try options.load()
            guard configuration.cache.tiers.isEmpty else {
                // Purge the plugins' tiers as well: a server would otherwise find there the entries that are gone from the disk.
                let logger = Log.make(configuration.log)
                let shared = try SharedResources(configuration, plugins, clock: .system, logger: logger)
                let removal: CacheRemoval
                do {
                    removal = try await shared.cache.purge(selection, dryRun: dryRun)
                } catch {
                    try await shared.shutdown(within: .seconds(10))
                    throw error
                }
                try await shared.shutdown(within: .seconds(10))
                return removal
            }
            guard let disk = try configuration.openDiskCache() else { return CacheRemoval() }
            // This process reads no entry twice, so it needs no memory tier.
            let cache = Cache(memory: MemoryTier(bytes: 0), others: [disk], logger: disk.logger)
            let removal = try await cache.purge(selection, dryRun: dryRun)
            try await disk.close()
            return removal
        }

        func run(with plugins: PluginList) async throws {
            let removal = try await removal(plugins)
            if json {
                try StandardStreams.output(document: removal)
            } else {
                StandardStreams.output(
                    "\(removal.entries) entries, \(removal.bytes) bytes \(dryRun ? "would be removed" : "removed")")
            }
            if let id, removal.entries == 0 {
                StandardStreams.error("no entry has the id “\(id)”: use the id in the poster's canonical address")
            }
        }
    }
}
