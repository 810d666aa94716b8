internal import OnesheetCore

/// The tiers behind memory, in order: the disk, further ones of this server, and the one of all servers.
struct TierRow: Sendable {
    let disk: DiskTier?
    let cluster: (any Cluster)?
    let all: [any CacheTier]
    private let ownCount: Int

    init(disk: DiskTier?, further: [any CacheTier], cluster: (any Cluster)?) {
        let own = (disk.map { [$0] } ?? []) + further
        self.disk = disk
        self.cluster = cluster
        all = own + (cluster?.tier.map { [$0] } ?? [])
        ownCount = own.count
    }

    /// - Parameter includingShared: whether to include the tier of all servers.
    func tiers(includingShared: Bool) -> ArraySlice<any CacheTier> { includingShared ? all[...] : all[..<ownCount] }

    /// Whether the tier at `number` is the one of all servers.
    func isShared(_ number: Int) -> Bool { number >= ownCount }

    /// The disk, if it is the tier at `number`.
    func disk(at number: Int) -> DiskTier? { number == 0 ? disk : nil }
}
