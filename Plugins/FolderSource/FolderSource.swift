public import OnesheetCore

/// A directory of pictures. A title is a file's path without its extension, such as `noir/alley` for `noir/alley.jpg`.
public struct FolderSource: SourcePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The directory; a relative path starts at the working directory.
        public var path: String
        /// What the names of files mean.
        public var layout: FolderLayout

        private enum CodingKeys: CodingKey { case path, layout }

        public init(path: String, layout: FolderLayout = .files) {
            self.path = path
            self.layout = layout
        }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            layout = try keys.decodeIfPresent(FolderLayout.self, forKey: .layout) ?? .files
            path = try keys.decode(String.self, forKey: .path)
        }
    }

    public static let type = "folder"

    public static let sampleConfiguration = """
        type: folder
        # The directory, including its subdirectories. A relative path starts at the working directory.
        path: ./posters
        # What names mean: with files, each is a title. With library, a folder is one, as Jellyfin, Kodi and Plex have them:
        # Film (2010)/poster.jpg, fanart.jpg, clearlogo.png, movie.nfo.
        layout: files
        """

    private static let perPage = 50

    /// The files are local, so nothing is fetched.
    public let originPolicy = OriginPolicy(allow: [], networks: [])
    private let folder: Folder
    private let watch: FolderChanges

    /// - Throws: `ConfigurationError` if `path` is not a directory.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard Folder.isDirectory(configuration.path) else {
            throw ConfigurationError(path: "path", message: "“\(configuration.path)” is not a directory")
        }
        folder = Folder(path: configuration.path, layout: configuration.layout, context: context)
        watch = FolderChanges(folder: folder, state: context.state)
    }

    public var asksService: Bool { false }

    /// Files that were added, removed or changed.
    public func changes() async throws(SourceError) -> TitleChanges? { try await watch.next() }

    /// The pictures by name: all, or those whose id contains the phrase.
    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        guard query.date == nil else { throw .unsupported("a folder has no lists by day") }
        var pictures = try await folder.pictures()
        if let phrase = query.phrase?.lowercased() { pictures = pictures.filter { $0.id.lowercased().contains(phrase) } }
        let total = pictures.count
        guard query.page >= 1, query.page - 1 <= total / Self.perPage else { return TitlePage(titles: [], total: total) }
        let first = min((query.page - 1) * Self.perPage, total)
        let page = pictures[first...].prefix(Self.perPage)
        return TitlePage(
            titles: try await folder.titles(of: page), total: total, next: page.endIndex < total ? query.page + 1 : nil)
    }

    /// The spelling of the file's name: an accent may be a character of its own or not. What begins with a slash is the path of a file, as in
    /// imgproxy's `local:///noir/alley.jpg`. It is an id of its own only if the title's poster is another file of that name.
    public func canonicalID(_ id: String) -> String {
        Self.path(id).map { folder.knownID(ofFile: $0) } ?? folder.knownID(id)
    }

    /// The path of the file that `id` names; `nil` if it names a title.
    private static func path(_ id: String) -> String? {
        id.utf8.first == UInt8(ascii: "/") ? String(id.dropFirst(bytes: 1)) : nil
    }

    public func title(_ id: String) async throws(SourceError) -> Title {
        let picture = try await picture(id)
        guard let title = try await folder.titles(of: [picture]).first else { throw .notFound(id: id) }
        return title
    }

    /// The files of that name, the largest first; in a library those of the title.
    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let folder = folder
        return try await picture(id).files.compactMap { file in
            guard let kind = file.kind else { return nil }
            var candidate = PosterCandidate(
                .local(name: file.identity) { () throws(SourceError) in try folder.bytes(of: file) },
                page: file.path, published: file.modified)
            candidate.kind = kind
            return candidate
        }
    }

    /// The id is looked up in the listing and never used as a path, so it cannot leave the folder.
    private func picture(_ id: String) async throws(SourceError) -> Picture {
        let path = Self.path(id)
        guard var picture = try await folder.picture(path.map { Picture.id(of: $0) } ?? id) else { throw .notFound(id: id) }
        guard let path else { return picture }
        picture.files = picture.files.filter { $0.path.isExactly(path) }
        guard !picture.files.isEmpty else { throw .notFound(id: id) }
        picture.id = id
        return picture
    }
}

/// What the names of files in a folder mean.
public enum FolderLayout: String, Sendable, Decodable, CaseIterable {
    /// Each is a title.
    case files
    /// Folders are titles, as those of Jellyfin, Kodi and Plex.
    case library

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let layout = FolderLayout(rawValue: name) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: unknownName(name, kind: "layout", known: Self.allCases.map(\.rawValue)))
        }
        self = layout
    }
}
