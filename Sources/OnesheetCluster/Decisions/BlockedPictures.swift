import OnesheetCore
import OnesheetImaging

/// The list of blocked pictures as a value that servers share.
struct BlockedPictures: Sendable {
    let hashes: [PerceptualHash]

    init(_ hashes: [PerceptualHash] = []) { self.hashes = Set(hashes).sorted { $0.bits < $1.bits } }

    /// The same list with or without a picture.
    init(_ other: BlockedPictures, blocks isBlocked: Bool, _ hash: PerceptualHash) {
        self.init(other.hashes.filter { $0 != hash } + (isBlocked ? [hash] : []))
    }

    /// `nil` if there is no list, or if it has anything but hashes.
    init?(text: String?) {
        guard let text else { return nil }
        let parts = text.split(separator: " ")
        let hashes = parts.compactMap { PerceptualHash($0) }
        guard hashes.count == parts.count else { return nil }
        self.init(hashes)
    }

    var text: String { hashes.map(\.description).joined(separator: " ") }
}
