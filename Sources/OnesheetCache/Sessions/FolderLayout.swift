internal import FoundationEssentials
internal import NIOCore

/// The paths in a cache's folder.
///
/// ```
/// CACHEDIR.TAG            says that this is a cache of ours, and which index is the present one
/// index-<id>.sqlite       the index
/// entries/a/bc/abc…       one file per entry, named by its key's digest, 244 in each folder when there are a million
/// tmp/<session>/          files that are being written; a session is one process that has the folder open
/// trash/<id>/             what is being removed
/// lock                    held while the folder is opened, made or cleaned
/// state.sqlite            small values of the plugins (`StateStore`)
/// NAME.damaged-<moment>   what had that name and could not be used; for a person to look at
/// ```
struct FolderLayout: Sendable {
    let path: String

    var marker: String { "\(path)/CACHEDIR.TAG" }
    var lock: String { "\(path)/lock" }
    var entries: String { "\(path)/entries" }
    var temporary: String { "\(path)/tmp" }
    var trash: String { "\(path)/trash" }

    /// Where sessions write, those of earlier versions too, which called the folder `incoming`.
    var sessions: [String] { [temporary, "\(path)/incoming"] }
    /// Where removed files wait, those of earlier versions too, which called the folder `doomed`.
    var removed: [String] { [trash, "\(path)/doomed"] }

    func index(_ id: String) -> String { "\(path)/index-\(id).sqlite" }

    /// The folder of the entry with this name, and the one around it.
    func folders(of name: Digest128) -> [String] {
        let hex = name.hex
        let outer = "\(entries)/\(hex.prefix(1))"
        return [outer, "\(outer)/\(hex.dropFirst().prefix(2))"]
    }

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

    /// Whether a folder without a marker that can be read is all the same one of ours, or empty.
    ///
    /// It is where everything in it has a name of ours. It is, too, where an index and the three folders are all there, whatever is beside
    /// them: no other program has these names together, and a marker that was damaged must not lose a cache into which somebody put a note.
    func isOurs() throws(FileFailure) -> Bool {
        let names = try Files.names(in: path, followingLink: true).filter { $0 != "lost+found" && !$0.hasPrefix("state.sqlite") }
        guard !names.isEmpty else { return true }
        let hasIndex = names.contains { isIndex(Files.nameBeforeDamage($0) ?? $0[...]) }
        // The lock is made first: a process may be making the folder just now, or was killed while it did.
        if names.allSatisfy({ isOurs($0) }), hasIndex || names.contains("lock") { return true }
        return hasIndex && [Self.folders, Self.earlierFolders].contains { $0.allSatisfy(names.contains) }
    }

    private static let folders = ["entries", "tmp", "trash"]
    private static let earlierFolders = ["entries", "incoming", "doomed"]
    private static let files: Set = ["CACHEDIR.TAG", "CACHEDIR.TAG.new", "lock"]

    private func isOurs(_ name: String) -> Bool {
        let name = String(Files.nameBeforeDamage(name) ?? name[...])
        return Self.files.contains(name) || (Self.folders + Self.earlierFolders).contains(name) || isIndex(name[...])
    }

    /// Whether `name` is that of an index, or of what SQLite keeps beside it.
    func isIndex(_ name: Substring) -> Bool {
        guard name.hasPrefix("index-"), Digest128(hex: name.dropFirst(6).prefix(32)) != nil else { return false }
        return ([""] + DatabaseFile.companions).contains { name.dropFirst(38) == ".sqlite\($0)" }
    }
}

/// The marker as it was found.
enum FoundMarker {
    case absent
    case whole(FolderMarker)
    /// It is there, and is not what we wrote.
    case damaged(reason: String)

    var marker: FolderMarker? {
        if case .whole(let marker) = self { marker } else { nil }
    }

    init(at path: String) throws(FileFailure) {
        guard try FileStatus(of: path) != nil else {
            self = .absent
            return
        }
        do throws(FileFailure) {
            self =
                try FolderMarker(at: path).map { .whole($0) }
                ?? .damaged(reason: "it does not say that this is a cache of Onesheet")
        } catch {
            guard error.meansDamage else { throw error }
            self = .damaged(reason: error.reason)
        }
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

    /// Reads the marker; `nil` if it is not one of ours.
    init?(at path: String) throws(FileFailure) {
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
