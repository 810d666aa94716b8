/// The engine of each slot. A single engine has all.
package struct Topology: Sendable {
    /// The masters.
    package private(set) var masters: [ValkeyAddress]
    /// The masters with replicas.
    private var replicated: Set<ValkeyAddress>
    /// For each slot the index of its master; `none` if the cluster has no master for it.
    private var owners: [UInt16]
    package let isCluster: Bool
    private static let none = UInt16.max
    /// More nodes are not believed. Clusters have a thousand at most.
    private static let mostMasters = 2_000

    /// A single engine.
    init(single address: ValkeyAddress, isReplicated: Bool) {
        replicated = isReplicated ? [address] : []
        masters = [address]
        owners = [UInt16](repeating: 0, count: HashSlot.count)
        isCluster = false
    }

    /// Reads the reply to `CLUSTER SLOTS`: a list of ranges, each with its first and last slot, its master and its replicas.
    /// - Parameter asked: the engine that replied. It may leave out its own host.
    package init(slots reply: RESPValue, from asked: ValkeyAddress) throws(RESPError) {
        guard let ranges = reply.array else { throw RESPError(reason: "the map of the cluster is not a list") }
        replicated = []
        masters = []
        owners = [UInt16](repeating: Self.none, count: HashSlot.count)
        isCluster = true
        var indices: [ValkeyAddress: UInt16] = [:]
        for range in ranges {
            guard let parts = range.array, parts.count >= 3, let first = parts[0].integer, let last = parts[1].integer,
                (0..<HashSlot.count).contains(first), (first..<HashSlot.count).contains(last),
                let node = parts[2].array, node.count >= 2, let address = Self.address(host: node[0], port: node[1], asked: asked)
            else { throw RESPError(reason: "the map of the cluster has an invalid range") }
            let index = indices[address] ?? UInt16(masters.count)
            if indices.updateValue(index, forKey: address) == nil { masters.append(address) }
            if parts.count > 3 { replicated.insert(address) }
            guard masters.count <= Self.mostMasters else { throw RESPError(reason: "the map of the cluster has too many nodes") }
            for slot in first...last {
                guard owners[slot] == Self.none else { throw RESPError(reason: "the map of the cluster has slot \(slot) twice") }
                owners[slot] = index
            }
        }
        guard !masters.isEmpty else { throw RESPError(reason: "the map of the cluster is empty: its slots are not assigned") }
    }

    /// The master of a slot; `nil` if there is none.
    package func master(of slot: Int) -> ValkeyAddress? {
        let index = owners[slot]
        return index == Self.none ? nil : masters[Int(index)]
    }

    /// Whether the master of a slot has replicas.
    func isReplicated(_ slot: Int) -> Bool { master(of: slot).map(replicated.contains) ?? false }

    /// Notes a `MOVED` reply.
    package mutating func move(_ slot: Int, to address: ValkeyAddress) {
        guard isCluster, owners.indices.contains(slot) else { return }
        if let index = masters.firstIndex(of: address) {
            owners[slot] = UInt16(index)
        } else if masters.count < Self.mostMasters {
            owners[slot] = UInt16(masters.count)
            masters.append(address)
        }
    }

    /// An engine that does not know its own name leaves it out or writes `?`.
    private static func address(host: RESPValue, port: RESPValue, asked: ValkeyAddress) -> ValkeyAddress? {
        let text = host == .null ? "" : host.text
        guard let text else { return nil }
        return ValkeyAddress(checking: text.isEmpty || text == "?" ? asked.host : text, port: port.integer)
    }
}
