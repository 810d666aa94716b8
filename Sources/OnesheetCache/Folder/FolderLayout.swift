internal import FoundationEssentials
internal import NIOCore

/// Where things are in a cache's folder.
///
/// ```
/// CACHEDIR.TAG            says that this is a cache of ours, and which index is the present one
/// index-<id>.sqlite       the index
/// entries/a/bc/abc…       one file per entry, named by its key's digest, 244 in each folder when there are a million
/// incoming/<session>/     files that are being written; a session is one process that has the folder open
/// doomed/<id>/            what is being removed
/// lock                    held while the folder is opened, made or cleaned
/// state.sqlite            small values of the plugins (`StateStore`)
/// ```
struct FolderLayout: Sendable {
    let path: String

    var marker: String { "\(path)/CACHEDIR.TAG" }
    var lock: String { "\(path)/lock" }
    var entries: String { "\(path)/entries" }
    var incoming: String { "\(path)/incoming" }
    var doomed: String { "\(path)/doomed" }

    func index(_ id: String) -> String { "\(path)/index-\(id).sqlite" }

    /// The file of the entry with this name.
    func entry(_ name: Digest128) -> String {
        let hex = name.hex
        return "\(entries)/\(hex.prefix(1))/\(hex.dropFirst().prefix(2))/\(hex)"
    }

    /// The folders that hold entries are numbered.
    static let partCount = 4096

    /// The folder of a part of the entries.
    func part(_ number: Int) -> String {
        let digits = String(number + 0x1000, radix: 16)
        return "\(entries)/\(digits.dropFirst().prefix(1))/\(digits.suffix(2))"
    }

    /// The names of the entries' files in a part; what is not named like one is not ours.
    func names(inPart number: Int) throws(FileFailure) -> [Digest128] {
        let start = String(number + 0x1000, radix: 16).dropFirst()
        return try Files.names(in: part(number)).filter { $0.hasPrefix(start) }.compactMap { Digest128(hex: $0) }
    }

    /// Whether all that is in the folder has a name of ours.
    func holdsOnlyOurs() throws(FileFailure) -> Bool {
        let names = try Files.names(in: path).filter { $0 != "lost+found" && !$0.hasPrefix("state.sqlite") }
        guard !names.isEmpty else { return true }
        let known: Set = ["CACHEDIR.TAG", "CACHEDIR.TAG.new", "lock", "entries", "incoming", "doomed"]
        let indexes = names.filter { isIndex($0) }
        // The lock is made first: a process may be making the folder just now, or was killed while it did.
        return names.allSatisfy { known.contains($0) || indexes.contains($0) } && (!indexes.isEmpty || names.contains("lock"))
    }

    /// Whether `name` is that of an index, or of SQLite's journal beside it.
    func isIndex(_ name: String) -> Bool {
        guard name.hasPrefix("index-"), name.hasSuffix(".sqlite") || name.hasSuffix(".sqlite-journal") else { return false }
        return Digest128(hex: name.dropFirst(6).prefix(32)) != nil && name.dropFirst(38).hasPrefix(".sqlite")
    }
}

/// The file that says what the folder is, in the form that backup programs know (https://bford.info/cachedir/).
struct FolderMarker: Equatable {
    let indexID: String
    private static let signature = "Signature: 8a477f597d28d172789f06886806bc55\n"
    private static let words = "# A cache of Onesheet, format 1. It can be deleted at any time. Its index: "

    init(indexID: String) { self.indexID = indexID }

    static func fresh() -> Self {
        Self(indexID: Digest128(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)).hex)
    }

    /// Reads the marker; `nil` where there is none, or not one of ours.
    init?(at path: String) throws(FileFailure) {
        guard try FileStatus(of: path) != nil else { return nil }
        let text = String(buffer: try Files.contents(of: path))
        guard text.hasPrefix(Self.signature + Self.words), text.hasSuffix("\n"),
            let id = Digest128(hex: text.dropFirst((Self.signature + Self.words).count).dropLast())
        else { return nil }
        indexID = id.hex
    }

    func write(to path: String) throws(FileFailure) {
        try Files.replace(path, with: ByteBuffer(string: "\(Self.signature)\(Self.words)\(indexID)\n"), through: path + ".new")
    }
}
