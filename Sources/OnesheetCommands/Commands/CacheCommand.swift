import ArgumentParser
import FoundationEssentials
import OnesheetCache
import OnesheetCluster
import OnesheetCore
import OnesheetPipeline
import OnesheetServer

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Inspect, verify and purge the disk cache and the shared store.",
        subcommands: [Stats.self, Verify.self, Purge.self])

    struct Stats: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print statistics of the disk cache, and of the shared store if there is one, by source.",
            discussion: """
                Each server counts its own hits and misses: see /cache/stats and /metrics. The shared store is listed, which takes a request
                for each thousand entries.
                """)

        @Flag(name: .long, help: "Print JSON.") var json = false
        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            let document = try await document(plugins)
            if json { return try StandardStreams.output(document: document) }
            StandardStreams.output(
                "\(document.total.entries) entries, \(document.total.bytes) of \(document.byteLimit) bytes, "
                    + "\(Int((document.fill * 100).rounded())) % full")
            for (name, figures) in document.sources.sorted(by: { $0.key < $1.key }) {
                StandardStreams.output(
                    "  \(name.isEmpty ? "(no source)" : name): \(figures.entries) entries, \(figures.bytes) bytes, "
                        + "oldest entry \((figures.oldestAge ?? 0) / 3600) hours old")
            }
            guard let shared = document.shared else { return }
            StandardStreams.output("shared: \(shared.entries) entries, \(shared.bytes) bytes")
            for (name, held) in shared.sources.sorted(by: { $0.key < $1.key }) {
                StandardStreams.output(
                    "  \(name.isEmpty ? "(another source)" : name): \(held.entries) entries, \(held.bytes) bytes")
            }
        }

        private func document(_ plugins: PluginList) async throws -> CacheDocument {
            let configuration = try options.load()
            var document = CacheDocument(try await statistics(configuration), at: .now)
            let names = configuration.sourceNames
            let held = try await configuration.withSharedTier(plugins) { tier in try await tier.held(sources: names) }
            document.shared = held.map { CacheDocument.Shared($0) }
            return document
        }

        private func statistics(_ configuration: ServerConfiguration) async throws -> CacheStatistics {
            guard let disk = try configuration.openDiskCache() else {
                return CacheStatistics(byteLimit: configuration.cache.disk.bytes.bytes, sources: [:])
            }
            try await disk.adopt()
            let statistics = try await disk.statistics()
            try await disk.close()
            return statistics
        }
    }

    struct Verify: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify the checksum of every file in the disk cache, and of every entry in the shared store.",
            discussion: """
                Exits with a failure if something is damaged and not repaired. A server may run at the same time. With a shared store, every
                entry in it is read.
                """)

        @Flag(name: .long, help: "Remove damaged files and entries, and bring the index up to date with the files.") var repair =
            false
        @Flag(name: .long, help: "Print JSON.") var json = false
        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            let configuration = try options.load()
            var found = DiskVerification()
            if let disk = try configuration.openDiskCache() {
                found = try await disk.verify(repair: repair)
                try await disk.close()
            }
            let shared = try await configuration.withSharedTier(plugins) { [repair] tier in try await tier.verify(repair: repair) }
            if json {
                try StandardStreams.output(document: Document(disk: found, shared: shared))
            } else {
                StandardStreams.output(
                    "\(found.whole) whole, \(found.damaged) damaged, \(found.unknown) unknown to the index, \(found.missing) missing"
                        + (found.isRepaired && !found.isClean ? "; repaired" : ""))
                if let shared {
                    StandardStreams.output(
                        "shared: \(shared.whole) whole, \(shared.damaged) damaged"
                            + (shared.isRepaired && !shared.isClean ? "; removed" : ""))
                }
            }
            if !(found.isClean && shared?.isClean ?? true) && !repair { throw ExitCode.failure }
        }

        /// The findings on the disk, and those in the shared store beside them.
        private struct Document: Encodable {
            let disk: DiskVerification
            let shared: SharedVerification?

            private enum Key: CodingKey { case shared }

            func encode(to encoder: any Encoder) throws {
                try disk.encode(to: encoder)
                var keys = encoder.container(keyedBy: Key.self)
                try keys.encodeIfPresent(shared, forKey: .shared)
            }
        }
    }

    struct Purge: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove entries from the disk cache and the shared store.",
            discussion: """
                A server on the same folder empties its memory tier within a second.

                ADDRESS is that of an image, in any form that the server understands. The command removes everything of its title: in every
                size and format.

                  onesheet cache purge https://posters.example/t/p/w342/sample/1.jpg

                Without an address, sources are not opened, so --id must be the id in the poster's canonical address, byte for byte. Servers accept other
                spellings of an id; this command removes nothing for them.
                """)

        @Argument(help: "The address of an image. Remove everything of its title.") var address: String?
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
            for (name, value) in [("--source", source), ("--id", id), ("--tag", tag)] where value?.isEmpty ?? false {
                throw ValidationError("\(name) is empty")
            }
            guard id == nil || source != nil else { throw ValidationError("--id needs --source") }
            if address == nil { _ = try selection() }
            guard address == nil || (source == nil && tag == nil && !expired && !all) else {
                throw ValidationError("an address, --source, --tag, --expired and --all exclude each other")
            }
        }

        private func selection() throws(ValidationError) -> CacheSelection {
            guard let selection = CacheSelection(source: source, id: id, tag: tag, expired: expired, all: all) else {
                throw ValidationError("needs an address, or exactly one of --source, --tag, --expired and --all")
            }
            return selection
        }

        /// Runs `work` on the cache of the configuration, without a server; not if there is none.
        private func withCache(
            _ plugins: PluginList, _ work: (Cache) async throws -> CacheRemoval
        ) async throws -> CacheRemoval? {
            let configuration = try options.load()
            let shared = configuration.shared
            guard configuration.cache.tiers.isEmpty, shared.store == nil, shared.coordinator == nil else {
                // With the other tiers: a server would find there the entries that are gone from the disk. And with the other servers.
                // A server on the folder applies the purges of others itself.
                let resources = try ServerResources(
                    configuration, plugins, follows: false, clock: .system, logger: Log.make(configuration.log))
                return try await finally({ try await resources.shutdown(within: .seconds(10)) }) { try await work(resources.cache) }
            }
            guard let disk = try configuration.openDiskCache() else { return nil }
            // This process reads no entry twice, so it needs no memory tier.
            let cache = Cache(memory: MemoryTier(bytes: 0), disk: disk, logger: disk.logger)
            return try await finally({ try await disk.close() }) { try await work(cache) }
        }

        private func removal(_ plugins: PluginList) async throws -> CacheRemoval? {
            if let address {
                return try await options.withContext(plugins) { context in
                    let title = CacheSelection.tag(.title(try await context.explainer.title(at: address)))
                    let cache = context.pipeline.cache
                    return try await dryRun ? cache.count([title]) : cache.purge([title]).finished()
                }
            }
            let selection = try selection()
            return try await withCache(plugins) {
                try await dryRun ? $0.count([selection]) : $0.purge([selection]).finished()
            }
        }

        func run(with plugins: PluginList) async throws {
            let removal = try await removal(plugins) ?? CacheRemoval()
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

extension ServerConfiguration {
    /// The result of `work` with the shared tier; `nil` if none is configured.
    fileprivate func withSharedTier<Answer: Sendable>(
        _ plugins: PluginList, _ work: (SharedTier) async throws -> Answer
    ) async throws -> Answer? {
        guard shared.store != nil else { return nil }
        let resources = try ServerResources(self, plugins, writes: false, clock: .system, logger: Log.make(log))
        let cluster = try resources.assembly.cluster(shared)
        return try await finally({
            await cluster?.shutdown()
            try await resources.shutdown(within: .seconds(10))
        }) {
            if let tier = cluster?.shared { try await work(tier) } else { nil }
        }
    }
}
