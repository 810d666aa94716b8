import NIOCore
import OnesheetCore
import Synchronization

/// Sends commands to the engine that has their keys, and follows a cluster when it changes.
final class ValkeyClient: Sendable {
    private struct State {
        var nodes: [ValkeyAddress: ValkeyNode] = [:]
        var topology: Topology?
        /// Looks for the topology. One look at a time.
        var search: Task<Result<Topology, LinkFailure>, Never>?
        /// The topology is not looked for again before this time.
        var nextSearch = NIODeadline.distantPast
        var isClosed = false
    }

    /// How often a command may be sent to another node.
    private static let redirects = 5
    /// The least time between two looks for the topology, unless none is known.
    private static let searchPause = TimeAmount.milliseconds(200)
    /// Maximum topology age; new replicas cause no error.
    private static let oldAge = TimeAmount.seconds(30)

    /// How much later than asked an idle engine may end a wait: it looks at the waiting ten times a second.
    private static let lateness = TimeAmount.milliseconds(200)

    let addresses: [ValkeyAddress]
    let deadline: TimeAmount
    private let settings: ConnectionSettings
    private let state = Mutex(State())

    /// - Parameter deadline: the time for the reply to one command.
    init(_ addresses: [ValkeyAddress], settings: ConnectionSettings, deadline: TimeAmount) {
        self.addresses = addresses
        self.settings = settings
        self.deadline = deadline
    }

    /// Runs a script.
    /// - Parameters:
    ///   - keys: all of one slot.
    ///   - copying: the time in which a replica has to have what the script wrote, if there are replicas; `nil` if it need not. A
    ///     failover then loses nothing.
    /// - Returns: the reply, which is no error.
    func run(
        _ script: Script, keys: [String], arguments: [String], copying: TimeAmount? = nil, operation: String
    ) async throws(CoordinatorError) -> RESPValue {
        var wait: TimeAmount?
        if let copying, try await topology(operation).isReplicated(HashSlot.of(keys[0])) { wait = copying }
        let replies = try await call(operation, key: keys[0], blocking: wait) { mode in
            let command = mode == .full ? ["EVAL", script.text] : ["EVALSHA", script.digest]
            let run = ValkeyCommand(words: command + ["\(keys.count)"] + keys + arguments)
            // `WAIT` is about what its own connection wrote.
            return [run] + (wait.map { [ValkeyCommand("WAIT", "1", "\($0.nanoseconds / 1_000_000)")] } ?? [])
        }
        if wait != nil, (replies.last?.integer ?? 0) < 1 {
            // The replica may be gone.
            refresh()
            throw .failed(operation: operation, reason: "no replica has it in time: \(replies.last?.error ?? "WAIT gave 0")")
        }
        return replies[0]
    }

    /// Sends a command for one key.
    /// - Parameter blocking: how long the engine may keep the command waiting, on a connection of its own; `nil` if it answers at once.
    /// - Returns: the reply, which is no error.
    func send(
        _ command: ValkeyCommand, key: String, blocking: TimeAmount? = nil, operation: String
    ) async throws(CoordinatorError) -> RESPValue {
        try await call(operation, key: key, blocking: blocking) { _ in [command] }[0]
    }

    /// Sends commands to every master, or to the single engine.
    func sendToAll(
        _ commands: [ValkeyCommand], operation: String
    ) async throws(CoordinatorError) -> [(address: ValkeyAddress, replies: [RESPValue])] {
        let topology = try await topology(operation)
        var all: [(address: ValkeyAddress, replies: [RESPValue])] = []
        for address in topology.masters {
            do throws(LinkFailure) {
                all.append((address, try await node(address).call(commands, within: deadline)))
            } catch {
                throw CoordinatorError(error, at: address, operation: operation)
            }
        }
        return all
    }

    /// The topology, looked for if it is not known.
    func topology(_ operation: String) async throws(CoordinatorError) -> Topology {
        let (known, isOld) = state.withLock { ($0.topology, $0.nextSearch + Self.oldAge < .now()) }
        if let known {
            if isOld { refresh() }
            return known
        }
        do throws(LinkFailure) {
            return try await search().value.get()
        } catch {
            throw CoordinatorError(error, at: addresses[0], operation: operation)
        }
    }

    /// Closes all connections. Calls fail from now on.
    func close() {
        let (nodes, search) = state.withLock { state in
            state.isClosed = true
            return (Array(state.nodes.values), state.search)
        }
        search?.cancel()
        for node in nodes { node.close() }
    }

    private enum ScriptMode { case digest, full }

    /// Sends commands, and sends them again where redirects and missing scripts demand it.
    /// - Returns: a reply for each command. The first is no error.
    private func call(
        _ operation: String, key: String, blocking: TimeAmount? = nil, _ commands: (ScriptMode) -> [ValkeyCommand]
    ) async throws(CoordinatorError) -> [RESPValue] {
        let slot = HashSlot.of(key)
        var target = try await master(of: slot, operation)
        let blocked = blocking.map { $0 + Self.lateness } ?? .zero
        let end = NIODeadline.now() + settings.connecting + deadline + blocked
        var (mode, isAsking, last) = (ScriptMode.digest, false, "")
        for _ in 0...Self.redirects {
            let limit = min(deadline + blocked, end - .now())
            let replies = try await replies(
                of: target, (isAsking ? [ValkeyCommand("ASKING")] : []) + commands(mode), within: limit,
                isBlocking: blocking != nil, operation: operation
            ).suffix(from: isAsking ? 1 : 0)
            guard let error = replies.first?.error else { return Array(replies) }
            let wasAsking = isAsking
            (isAsking, last) = (false, error)
            switch Redirect(error, from: target) {
            case .loadScript: (mode, isAsking) = (.full, wasAsking)
            case .moved(let slot, let address):
                state.withLock { $0.topology?.move(slot, to: address) }
                refresh()
                target = address
            case .ask(let address): (target, isAsking) = (address, true)
            case .tryAgain:
                isAsking = wasAsking
                guard await sleepUnlessCancelled(for: .milliseconds(5)) else {
                    throw .failed(operation: operation, reason: "the task was cancelled")
                }
            case .lookAgain:
                refresh()
                throw CoordinatorError(reply: error, from: target, operation: operation)
            case nil: throw CoordinatorError(reply: error, from: target, operation: operation)
            }
            guard NIODeadline.now() < end else { throw .timedOut(operation: operation) }
        }
        throw .unreachable(operation: operation, reason: "the slots of the cluster are moving: \(last.prefix(100))")
    }

    private func replies(
        of address: ValkeyAddress, _ commands: [ValkeyCommand], within limit: TimeAmount, isBlocking: Bool, operation: String
    ) async throws(CoordinatorError) -> ArraySlice<RESPValue> {
        let node = node(address)
        do throws(LinkFailure) {
            return if isBlocking {
                try await node.callAside(commands, within: limit)[...]
            } else {
                try await node.call(commands, within: limit)[...]
            }
        } catch {
            // The slots of a node that is gone may have another master by now.
            if error != .cancelled { refresh() }
            throw CoordinatorError(error, at: address, operation: operation)
        }
    }

    private func master(of slot: Int, _ operation: String) async throws(CoordinatorError) -> ValkeyAddress {
        if let master = try await topology(operation).master(of: slot) { return master }
        refresh()
        throw .unreachable(operation: operation, reason: "the cluster has no master for slot \(slot)")
    }

    private func node(_ address: ValkeyAddress) -> ValkeyNode {
        state.withLock { state in
            if let node = state.nodes[address] { return node }
            let node = ValkeyNode(address, settings)
            if state.isClosed { node.close() }
            state.nodes[address] = node
            return node
        }
    }

    /// Looks for the topology in the background, if it was not looked for a moment ago.
    private func refresh() {
        let isDue = state.withLock { $0.search == nil && $0.nextSearch <= .now() && !$0.isClosed }
        if isDue { _ = search() }
    }

    private func search() -> Task<Result<Topology, LinkFailure>, Never> {
        state.withLock { state in
            if let search = state.search { return search }
            let candidates = addresses + (state.topology?.masters ?? []).filter { !addresses.contains($0) }
            let search = Task { () -> Result<Topology, LinkFailure> in
                let result = await self.look(among: candidates)
                self.state.withLock { state in
                    state.search = nil
                    state.nextSearch = .now() + Self.searchPause
                    if case .success(let topology) = result { self.adopt(topology, &state) }
                }
                return result
            }
            state.search = search
            return search
        }
    }

    /// Keeps the connections of nodes that are still there.
    private func adopt(_ topology: Topology, _ state: inout State) {
        state.topology = topology
        let wanted = Set(topology.masters + addresses)
        for (address, node) in state.nodes where !wanted.contains(address) {
            node.close()
            state.nodes[address] = nil
        }
    }

    /// Asks all candidates at once, so that a node that hangs does not delay a cluster.
    /// - Returns: the map of any node of a cluster; or the first single engine in the order of the candidates, so that all servers
    ///   choose the same; or the failure of the first candidate.
    private func look(among candidates: [ValkeyAddress]) async -> Result<Topology, LinkFailure> {
        let (answers, answer) = AsyncStream<(Int, Result<Topology, LinkFailure>)>.makeStream()
        let tasks = candidates.enumerated().map { index, address in
            Task { answer.yield((index, await self.ask(address))) }
        }
        defer { for task in tasks { task.cancel() } }
        var results = [Result<Topology, LinkFailure>?](repeating: nil, count: candidates.count)
        for await (index, result) in answers {
            if case .success(let topology) = result, topology.isCluster { return result }
            results[index] = result
            for result in results {
                guard let result else { break }
                if case .success = result { return result }
            }
            if !results.contains(where: { $0 == nil }) { break }
        }
        return results.first.flatMap { $0 } ?? .failure(.cancelled)
    }

    private func ask(_ address: ValkeyAddress) async -> Result<Topology, LinkFailure> {
        do throws(LinkFailure) {
            let replies = try await node(address).call(
                [ValkeyCommand("CLUSTER", "SLOTS"), ValkeyCommand("ROLE")], within: deadline)
            guard let error = replies[0].error else {
                do throws(RESPError) {
                    return .success(try Topology(slots: replies[0], from: address))
                } catch {
                    return .failure(.garbage(error.reason))
                }
            }
            guard error.contains("cluster support disabled") || error.contains("unknown command") else {
                return .failure(.refused(error))
            }
            let role = replies[1].array?.first?.text ?? ""
            if role.isExactly("slave") || role.isExactly("sentinel") {
                return .failure(.refused("READONLY \(address) is not a master (\(role))"))
            }
            let replicas = role.isExactly("master") ? replies[1].array?.last?.array ?? [] : []
            return .success(Topology(single: address, isReplicated: !replicas.isEmpty))
        } catch {
            return .failure(error)
        }
    }
}
