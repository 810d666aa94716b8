public import OnesheetCore

/// A directory of pictures. A title is a file's path without its extension, such as `noir/alley` for `noir/alley.jpg`.
public struct FolderSource: SourcePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The directory; a relative path starts at the working directory.
        public var path: String

        public init(path: String) { self.path = path }
    }

    public static let type = "folder"

    public static let sampleConfiguration = """
        type: folder
        # The directory, including its subdirectories. A relative path starts at the working directory.
        path: ./posters
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
        folder = Folder(path: configuration.path, context: context)
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
        return TitlePage(titles: page.map(\.title), total: total, next: page.endIndex < total ? query.page + 1 : nil)
    }

    /// The spelling of the file's name: an accent may be a character of its own or not. What begins with a slash, as no id does, is the path
    /// of a file, as in imgproxy's `local:///noir/alley.jpg`.
    public func canonicalID(_ id: String) -> String {
        folder.knownID(id.utf8.first == UInt8(ascii: "/") ? Picture.id(of: String(id.dropFirst(bytes: 1))) : id)
    }

    public func title(_ id: String) async throws(SourceError) -> Title { try await picture(id).title }

    /// The files of that name, the largest first.
    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let folder = folder
        return try await picture(id).files.map { file in
            PosterCandidate(
                .local(name: file.identity) { () throws(SourceError) in try folder.bytes(of: file) },
                page: file.path, published: file.modified)
        }
    }

    /// The id is looked up in the listing and never used as a path, so it cannot leave the folder.
    private func picture(_ id: String) async throws(SourceError) -> Picture {
        guard let picture = try await folder.picture(id) else { throw .notFound(id: id) }
        return picture
    }
}
