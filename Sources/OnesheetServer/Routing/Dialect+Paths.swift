import OnesheetCore

/// The paths at which a dialect answers that is not at the root.
extension Dialect {
    /// The prefixes of its addresses, each of which has its route.
    static var prefixes: [String] { [prefix] + otherPrefixes }

    /// A prefix up to what a client chooses.
    static func text(of prefix: String) -> String { prefix.cut(at: "{").map { String($0.before) } ?? prefix }

    /// - Parameter prefix: the text of one of `prefixes`.
    static func isAddress(_ path: String, behind prefix: String) -> Bool {
        let begins = prefix.hasSuffix("/") ? path.starts(withBytesOf: prefix) : path.isExactly(prefix)
        return begins && isAddress(path[...])
    }

    /// The prefix without its slash has an answer in the form of the other server too.
    static func isDocument(_ path: String) -> Bool {
        documents.map { path.starts(withBytesOf: $0) || path.isExactly($0.dropLast()) } ?? false
    }

    /// Whether it answers at a path, if the configuration has it.
    static func answers(at path: String) -> Bool {
        prefixes.contains { isAddress(path, behind: text(of: $0)) } || isDocument(path)
    }
}
