internal import Dispatch
internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import OnesheetCore
internal import Synchronization

/// A directory and its contents at the last read. It is read again after one of its directories has changed: the next request sees
/// added and removed files, and a large folder is not read for each request.
final class Folder: Sendable {
    private struct Listing {
        var pictures: [Picture] = []
        /// Ordered by bytes, as in the file system.
        var byID: [ExactText: Picture] = [:]
        /// By the text of the id, which is one however its accents are encoded (Unicode §3.7). macOS writes names with separate accents.
        var byText: [String: [Picture]] = [:]
        /// The time of each directory's last change, by its path below the folder.
        var directories: [String: Int64] = [:]
        /// Whether `directories` would reveal a change. Timestamps are coarse, so a directory that changed just now may change
        /// again unnoticed.
        var isSettled = false
        /// The number of pictures in formats that the server cannot read, by extension.
        var unreadable: [String: Int] = [:]

        /// The picture with this id, or with the same text if no other picture has that.
        func picture(_ id: String) -> Picture? {
            if let exact = byID[ExactText(id)] { return exact }
            guard id.isStreamSafe, let same = byText[id], same.count == 1 else { return nil }
            return same.first
        }
    }

    let path: String
    private let maxBytes: Int
    private let clock: WallClock
    private let extensions: Set<String>
    private let layout: FolderLayout
    private let logger: Logger
    private let listing = Mutex(Listing())
    /// Reading directories blocks, so it has a queue of its own.
    private let queue = DispatchQueue(label: "onesheet.folder")

    init(path: String, layout: FolderLayout, context: PluginContext) {
        self.path = path
        self.layout = layout
        maxBytes = context.limits.originBytes
        clock = context.clock
        logger = context.logger
        let formats = context.readableFormats.isEmpty ? Self.usualFormats : context.readableFormats
        let further = layout == .library ? [Library.factsExtension, Library.drawingExtension] : []
        extensions = Set(formats.flatMap(\.extensions) + further)
    }

    /// The formats of pictures if the context names none.
    private static let usualFormats: [ImageFormat] = [.jpeg, .png, .webp, .avif, .gif]

    static func isDirectory(_ path: String) -> Bool {
        var isDirectory = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
    }

    /// All pictures, ordered by id.
    func pictures() async throws(SourceError) -> [Picture] {
        try await onQueue { folder throws(SourceError) in try folder.current().pictures }
    }

    /// The picture with its files at present; `nil` if there is none.
    func picture(_ id: String) async throws(SourceError) -> Picture? {
        try await onQueue { folder throws(SourceError) in
            try folder.current().picture(id)?.current(below: folder.path)
        }
    }

    /// What the folder says of these pictures.
    func titles(of pictures: some Collection<Picture> & Sendable) async throws(SourceError) -> [Title] {
        try await onQueue { folder in pictures.map(folder.title) }
    }

    private func title(of picture: Picture) -> Title {
        var title = Title(id: picture.id, name: picture.id.cut(atLast: "/").map { String($0.after) } ?? picture.id)
        if layout == .library {
            var facts = LibraryFacts.of(picture.id)
            if let file = picture.files.first(where: { $0.kind == nil }) {
                let reading = FileReading(root: path, maxBytes: LibraryFacts.longestFile)
                do throws(SourceError) { facts.add(String(buffer: try reading.bytes(of: file.path))) } catch {
                    logger.info("a file of a title cannot be read", metadata: ["path": "\(file.path)", "reason": "\(error)"])
                }
            }
            title = facts.title
        }
        title.metadata["files"] = .array(picture.files.filter { $0.kind != nil }.map { .string($0.path) })
        return title
    }

    /// The id of the picture that `id` meant at the last read; `id` itself if there was none. Reads nothing.
    func knownID(_ id: String) -> String { listing.withLock { $0.picture(id)?.id } ?? id }

    /// The id of the picture with the file at `path` at the last read: that of the title if this is its best file, or if there was no such
    /// file, and else the path with a slash before it. Reads nothing.
    func knownID(ofFile path: String) -> String {
        let id = Picture.id(of: path)
        guard let picture = listing.withLock({ $0.picture(id) }) else { return id }
        let isOther = picture.files.dropFirst().contains { $0.path.isExactly(path) }
        return isOther ? "/\(path)" : picture.id
    }

    /// All files at present.
    func files() async throws(SourceError) -> FolderFiles {
        try await onQueue { folder throws(SourceError) in
            let now = folder.clock.now
            var unsettled: Set<ExactText> = []
            let pictures = try folder.current().pictures.compactMap { $0.current(below: folder.path) }
            for picture in pictures where picture.files.contains(where: { $0.isUnsettled(at: now) }) {
                unsettled.insert(ExactText(picture.id))
            }
            return FolderFiles(pictures, unsettled: unsettled)
        }
    }

    /// The bytes of the file, if it is still the same one.
    func bytes(of file: PictureFile) throws(SourceError) -> ByteBuffer {
        try FileReading(root: path, maxBytes: maxBytes).bytes(of: file.path)
    }

    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable (Folder) throws(SourceError) -> Value
    ) async throws(SourceError) -> Value {
        let result: Result<Value, SourceError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(SourceError) {
                    continuation.resume(returning: .success(try body(self)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    private func current() throws(SourceError) -> Listing {
        let known = listing.withLock { $0 }
        if known.isSettled, known.directories.allSatisfy({ DirectoryReading.status(of: $0.key, below: path)?.changed == $0.value })
        {
            return known
        }
        let now = clock.now
        let reading: DirectoryReading
        do {
            reading = try DirectoryReading(root: path, extensions: extensions)
        } catch {
            throw .failed(reason: "the folder cannot be read", details: "\(path): \(error)")
        }
        // No address has control characters.
        let files = reading.files.filter { $0.path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        let pictures = layout == .library ? Library.grouped(files) : Picture.grouped(files)
        let fresh = Listing(
            pictures: pictures, byID: Dictionary(uniqueKeysWithValues: pictures.map { (ExactText($0.id), $0) }),
            byText: Dictionary(grouping: pictures.filter { !$0.id.utf8.allSatisfy { $0 < 0x80 } && $0.id.isStreamSafe }, by: \.id),
            directories: reading.directories.mapValues(\.changed),
            isSettled: reading.directories.values.allSatisfy { !$0.isUnsettled(at: now) }, unreadable: reading.unreadable)
        if !fresh.unreadable.isEmpty, fresh.unreadable != known.unreadable { report(fresh.unreadable) }
        listing.withLock { $0 = fresh }
        return fresh
    }

    private func report(_ unreadable: [String: Int]) {
        let counts = unreadable.sorted { $0.key < $1.key }.map { "\($0.value) .\($0.key)" }.joined(separator: ", ")
        logger.warning(
            "the folder has images that this server cannot read and does not list: \(counts)", metadata: ["path": "\(path)"])
    }
}
