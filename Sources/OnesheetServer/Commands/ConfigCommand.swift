import ArgumentParser
import FoundationEssentials
import OnesheetCore

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the configuration, or print what holds.", subcommands: [Check.self, Print.self])

    struct Check: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say whether a server would start with this configuration.",
            discussion: "Nothing is written: no folder is made, and a cache is only looked at.")

        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            let configuration = try options.load()
            try configuration.requireProtection()
            if let files = configuration.tls { _ = try Certificate(files) }
            let installation = try options.examine(plugins)
            try await installation.shutdown()
            StandardStreams.output("The configuration is good: sources \(installation.sources.map(\.name).joined(separator: ", "))")
            for warning in configuration.warnings { StandardStreams.error("Warning: \(warning)") }
        }
    }

    struct Print: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the configuration that holds, with everything that was left out. Secrets are not shown.")

        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            StandardStreams.output(EffectiveConfiguration(try options.load()).yaml)
        }
    }
}

/// The configuration as YAML, secrets left out.
struct EffectiveConfiguration {
    let configuration: ServerConfiguration

    init(_ configuration: ServerConfiguration) { self.configuration = configuration }

    var yaml: String {
        let (cache, limits, clients) = (configuration.cache, configuration.limits.limits, configuration.clients)
        var lines = [
            "listen: \(configuration.listen)", "socketMode: \(configuration.socketMode)",
            "cache:",
            "  memory: { bytes: \(cache.memory.bytes.bytes), expires: \(seconds(cache.memory.expires.duration)) }",
            "  disk: { path: \(cache.disk.path), bytes: \(cache.disk.bytes.bytes), expires: \(seconds(cache.disk.expires.duration)) }",
            "signing: { unsafe: \(configuration.signing.unsafe), size: \(configuration.signing.size) }   # \(configuration.signing.keys.count) keys",
            "clients: { connections: \(clients.connections), perAddress: { connections: \(clients.perAddress.connections), "
                + "misses: \(clients.perAddress.misses), burst: \(clients.perAddress.burst) }, "
                + "trustedProxies: [\((clients.namedProxies ?? ["loopback"]).joined(separator: ", "))], "
                + "memory: \(clients.memory(within: limits)), idleTimeout: \(seconds(clients.idleTimeout.duration)), "
                + "requestTimeout: \(seconds(clients.requestTimeout.duration)) }",
            "log: { format: \(configuration.log.format)\(configuration.log.level.map { ", level: \($0)" } ?? "") }",
            "cors: { origins: [\(configuration.cors.origins.map { "\"\($0)\"" }.joined(separator: ", "))] }",
            "shutdown: { delay: \(seconds(configuration.shutdown.delay.duration)), "
                + "deadline: \(seconds(configuration.shutdown.deadline.duration)) }",
            "limits: { originBytes: \(limits.originBytes), pixels: \(limits.pixels), outputPixels: \(limits.outputPixels), "
                + "scans: \(limits.scans), originTimeout: \(seconds(limits.originTimeout)), "
                + "originIdleTimeout: \(seconds(limits.originIdleTimeout)), originConcurrency: \(limits.originConcurrency), "
                + "originQueue: \(limits.originQueue), workers: \(limits.workers), queue: \(limits.queue), "
                + "queueTime: \(seconds(limits.queueTime)), memory: \(limits.memory) }",
            "presets:" + (configuration.presets.isEmpty ? " {}" : ""),
        ]
        if let tls = configuration.tls { lines.insert("tls: { certificate: \(tls.certificate), key: \(tls.key) }", at: 1) }
        lines += configuration.presets.sorted { $0.key < $1.key }.map { "  \($0.key): \"\($0.value)\"" }
        lines += ["presetsOnly: \(configuration.presetsOnly)"]
        lines += ["dialects: [\(configuration.dialects.map(\.rawValue).joined(separator: ", "))]", "sources:"]
        for name in configuration.sourceNames {
            lines.append("  \(name): { type: \(configuration.sources[name]?.type ?? "") }   # its keys are not shown")
        }
        return lines.joined(separator: "\n")
    }

    private func seconds(_ duration: Duration) -> String { "\(duration / .seconds(1))s" }
}
