/// The reaction that a cluster's error asks of its client.
package enum Redirect: Equatable {
    /// The slot has another master from now on.
    case moved(slot: Int, to: ValkeyAddress)
    /// The slot is being moved. This command alone goes to another node, behind `ASKING`.
    case ask(ValkeyAddress)
    /// Some keys of the command are moved already and some are not yet.
    case tryAgain
    /// The node cannot answer for its slots, or is no master any more.
    case lookAgain
    /// The engine does not know the script of this `EVALSHA`.
    case loadScript

    /// - Parameters:
    ///   - error: the text of an error reply.
    ///   - asked: the engine that replied. It may leave out its own host.
    /// - Returns: `nil` if the error is for the caller.
    package init?(_ error: String, from asked: ValkeyAddress) {
        let words = error.split(separator: " ", maxSplits: 3)
        switch words.first {
        case "MOVED":
            guard words.count >= 3, let slot = Int(words[1]), (0..<HashSlot.count).contains(slot),
                let address = Self.address(words[2], asked)
            else { return nil }
            self = .moved(slot: slot, to: address)
        case "ASK":
            guard words.count >= 3, let address = Self.address(words[2], asked) else { return nil }
            self = .ask(address)
        case "TRYAGAIN": self = .tryAgain
        case "CLUSTERDOWN", "READONLY", "MASTERDOWN", "UNBLOCKED": self = .lookAgain
        case "NOSCRIPT": self = .loadScript
        default: return nil
        }
    }

    /// `127.0.0.1:7000`, `::1:7000`, or `:7000` for the same host.
    private static func address(_ word: Substring, _ asked: ValkeyAddress) -> ValkeyAddress? {
        guard let colon = word.lastIndex(of: ":") else { return nil }
        let host = word[..<colon]
        return ValkeyAddress(
            checking: host.isEmpty || host == "?" ? asked.host : String(host), port: Int(word[word.index(after: colon)...]))
    }
}
