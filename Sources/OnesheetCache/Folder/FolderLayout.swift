internal import FoundationEssentials
internal import NIOCore

/// The paths in a cache folder.
///
/// ```
/// CACHEDIR.TAG            marks the folder as a cache of Onesheet and names the present index
/// index-<id>.sqlite       the index
/// entries/a/bc/abc…       one file per entry, named by its key's digest; 244 in each folder if there are a million
/// tmp/<session>/          files during writing; a session is one process that has the folder open
/// trash/<id>/             files to delete
/// lock                    held while the folder is opened, made or cleaned
/// state.sqlite            small values of the plugins (`StateStore`)
/// keys                    keys that a server made for itself (`KeptKeys`)
/// fatal-originals         digests of originals that ended render processes (`FatalOriginals`)
/// NAME.damaged-<moment>   a damaged item that had this name, for a person to look at
/// ```
struct FolderLayout: Sendable {
    let path: String

    var marker: String { "\(path)/CACHEDIR.TAG" }
    var lock: String { "\(path)/lock" }
    var entries: String { "\(path)/entries" }
    var temporary: String { "\(path)/tmp" }
    var trash: String { "\(path)/trash" }

    /// The write folders of sessions, including those of earlier versions, which called the folder `incoming`.
    var sessions: [String] { [temporary, "\(path)/incoming"] }
    /// The trash folders, including those of earlier versions, which called the folder `doomed`.
    var removed: [String] { [trash, "\(path)/doomed"] }

    func index(_ id: String) -> String { "\(path)/index-\(id).sqlite" }

    /// The folder of the entry with this name, and its parent.
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

    /// The folders of entries are numbered.
    static let partCount = 4096

    /// The folder of a part of the entries.
    func part(_ number: Int) -> String {
        let digits = String(number + 0x1000, radix: 16)
        return "\(entries)/\(digits.dropFirst().prefix(1))/\(digits.suffix(2))"
    }

    /// The names of the entry files in a part. Other names are foreign.
    func names(inPart number: Int) throws(FileFailure) -> [Digest128] {
        let start = String(number + 0x1000, radix: 16).dropFirst()
        return try Files.names(in: part(number)).filter { $0.hasPrefix(start) }.compactMap { Digest128(hex: $0) }
    }

    /// Whether a folder without a readable marker is still a cache folder, or is empty.
    ///
    /// It is one if all its names are the cache's. It is also one if it has an index and the three folders, regardless of other
    /// items: no other program uses these names together, and a damaged marker must not lose a cache into which a person has put a
    /// note.
    func isOurs() throws(FileFailure) -> Bool {
        let names = try Files.names(in: path, followingLink: true).filter {
            !["lost+found", "keys"].contains($0) && !($0.hasPrefix("keys.") && $0.hasSuffix(".new"))
                && !$0.hasPrefix("state.sqlite") && !$0.hasPrefix("fatal-originals")
        }
        guard !names.isEmpty else { return true }
        let hasIndex = names.contains { isIndex(Files.nameBeforeDamage($0) ?? $0[...]) }
        // The lock comes first: a process may be making the folder at this moment, or was killed meanwhile.
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

    /// Whether `name` is that of an index or of SQLite's files beside it.
    func isIndex(_ name: Substring) -> Bool {
        guard name.hasPrefix("index-"), Digest128(hex: name.dropFirst(6).prefix(32)) != nil else { return false }
        return ([""] + DatabaseFile.companions).contains { name.dropFirst(38) == ".sqlite\($0)" }
    }
}

/// The state of the marker.
enum FoundMarker {
    case absent
    case whole(FolderMarker)
    /// It exists and has foreign contents.
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
                ?? .damaged(reason: "it does not mark a cache of Onesheet")
        } catch {
            guard error.meansDamage else { throw error }
            self = .damaged(reason: error.reason)
        }
    }
}

/// The file that marks the folder in the format that backup programs know (https://bford.info/cachedir/).
struct FolderMarker: Equatable {
    let indexID: String
    private static let signature = "Signature: 8a477f597d28d172789f06886806bc55\n"
    private static let words = "# A cache of Onesheet, format 1. It can be deleted at any time. Its index: "

    init(indexID: String) { self.indexID = indexID }

    /// The marker of a folder whose index is made now.
    static func new() -> Self {
        Self(indexID: Digest128(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)).hex)
    }

    /// Parses the marker; `nil` if it is not Onesheet's.
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
