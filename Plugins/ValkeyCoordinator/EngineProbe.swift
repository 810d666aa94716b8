import FoundationEssentials
import NIOCore
import OnesheetCore

/// Checks the settings of every engine, and tries all functions.
struct EngineProbe {
    private static let operation = "probe"

    let store: ValkeyCoordinator

    /// - Returns: what an administrator should know.
    func run() async throws(CoordinatorError) -> [String] {
        let isCluster = try await store.client.topology(Self.operation).isCluster
        let commands = [
            ValkeyCommand("INFO"), ValkeyCommand("TIME"), ValkeyCommand("CONFIG", "GET", "cluster-require-full-coverage"),
        ]
        var notes: [String] = []
        for (address, replies) in try await store.client.sendToAll(commands, operation: Self.operation) {
            if let info = replies[0].text.map(EngineInfo.init) {
                guard info.isNewEnough else {
                    throw .failed(
                        operation: Self.operation, reason: "\(address) is Redis \(info.version); Redis 7.0 or Valkey is needed")
                }
                notes += info.notes.map { "\(address): \($0)" }
            } else {
                notes.append("\(address): its settings cannot be read: \(replies[0].error ?? "no answer to INFO")")
            }
            notes += clockNotes(replies[1]).map { "\(address): \($0)" }
            if isCluster, let values = replies[2].array, values.last?.text?.isExactly("yes") == true {
                notes.append(
                    "\(address): cluster-require-full-coverage is yes: one lost master stops all leases, logs and counters; set it to no"
                )
            }
        }
        try await tryEverything()
        return notes
    }

    /// Whether the engine's clock, by which logs are ordered and leases get their tokens, is near to ours.
    private func clockNotes(_ reply: RESPValue) -> [String] {
        guard let seconds = reply.array?.first?.text.flatMap(Double.init) else { return [] }
        let difference = abs(seconds - store.clock.now.timeIntervalSince1970)
        guard difference > 10 else { return [] }
        return ["its clock and the one of this server are \(Int(min(difference, 1e15))) s apart"]
    }

    /// Uses every function once, with names of its own, and deletes what that leaves.
    private func tryEverything() async throws(CoordinatorError) {
        let name = "probe \(UUID().uuidString)"
        do throws(CoordinatorError) {
            try await tryEverything(name)
        } catch {
            await forgetProbe(name)
            throw error
        }
        await forgetProbe(name)
    }

    private func tryEverything(_ name: String) async throws(CoordinatorError) {
        guard case .granted = try await store.acquire(name, for: "probe", milliseconds: 10_000),
            case .held = try await store.acquire(name, for: "another", milliseconds: 10_000),
            try await store.renew(name, for: "probe", milliseconds: 10_000)
        else { throw .failed(operation: Self.operation, reason: "a lease is not kept") }
        try await store.release(name, for: "probe", doneFor: 10_000)
        guard case .granted(_, isDone: true) = try await store.acquire(name, for: "another", milliseconds: 10_000) else {
            throw .failed(operation: Self.operation, reason: "the end of work is not kept")
        }
        guard try await store.add(1, to: name, limit: 1, milliseconds: 10_000) == 1,
            try await store.add(1, to: name, limit: 1, milliseconds: 10_000) == nil, try await store.count(of: name) == 1
        else { throw .failed(operation: Self.operation, reason: "a counter does not count") }
        let before = try await store.read(name, after: .start, limit: 1, waiting: 1)
        let position = try await store.append("probe", to: name)
        let after = try await store.read(name, after: .start, limit: 1, waiting: 0)
        guard before.records.isEmpty, after.records == [.init(position: position, text: "probe")], after.epoch == before.epoch
        else {
            throw .failed(operation: Self.operation, reason: "a log is not kept")
        }
    }

    /// A failure leaves a few small keys behind; the next error of the engine will be told.
    private func forgetProbe(_ name: String) async {
        for kind in [ValkeyCoordinator.Kind.lease, .log, .counter] {
            let keys = store.keys(kind, name)
            do throws(CoordinatorError) {
                _ = try await store.client.send(ValkeyCommand(words: ["DEL"] + keys), key: keys[0], operation: Self.operation)
            } catch {
                continue
            }
        }
    }
}

/// Facts from an engine's `INFO`.
struct EngineInfo {
    private let facts: [Substring: Substring]

    init(_ text: String) {
        facts = text.split(whereSeparator: \.isNewline).reduce(into: [:]) { facts, line in
            guard let colon = line.firstIndex(of: ":") else { return }
            facts[line[..<colon]] = line[line.index(after: colon)...]
        }
    }

    var version: String { String(facts["redis_version"] ?? "of an unknown version") }

    /// Streams tell what was trimmed since Redis 7.0. All versions of Valkey do.
    var isNewEnough: Bool {
        if facts["valkey_version"] != nil { return true }
        guard let first = facts["redis_version"]?.split(separator: ".").first, let major = Int(first) else { return true }
        return major >= 7
    }

    var notes: [String] {
        var notes: [String] = []
        if let policy = facts["maxmemory_policy"], policy != "noeviction" {
            notes.append(
                "maxmemory-policy is \(policy): full memory makes it forget leases, logs and counters; set it to noeviction")
        }
        if facts["aof_enabled"] == "0", facts["connected_slaves"] == "0" {
            notes.append(
                "it has neither an append-only file nor a replica: after a restart the log of purges is lost, and servers discard what they have; set appendonly yes"
            )
        }
        return notes
    }
}
