/// The result of checking every file of a disk tier.
package struct DiskVerification: Sendable, Equatable, Codable {
    /// Intact entries in the index.
    package var whole = 0
    package var bytes = 0
    /// Files whose bytes differ from the written ones.
    package var damaged = 0
    /// Files that the index does not know: no budget counts them and no tag removes them.
    package var unknown = 0
    /// Entries of the index without a file.
    package var missing = 0
    /// Whether the findings are repaired: damaged files removed, unknown ones added to the index, missing ones removed from it.
    package var isRepaired = false

    package init() {}

    package var isClean: Bool { damaged == 0 && unknown == 0 && missing == 0 }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.whole += right.whole
        sum.bytes += right.bytes
        sum.damaged += right.damaged
        sum.unknown += right.unknown
        sum.missing += right.missing
        return sum
    }
}
