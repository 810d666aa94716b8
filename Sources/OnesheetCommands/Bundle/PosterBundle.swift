import FoundationEssentials
import NIOCore
import NIOFoundationEssentialsCompat
import OnesheetAddress
import OnesheetCore
import OnesheetPipeline
import OnesheetServer

/// An archive of everything that an app shows before it has a network: titles, their lists by day, and posters.
///
/// Pictures are at `posters/{size}/{number}.{ext}`. `index.json` comes last, because it lists the pictures that were written. Equal
/// responses of the source give equal bytes.
struct PosterBundle: Sendable {
    private let order: PrefetchOrder
    private let variants: [Variant]
    private let prefetcher: Prefetcher
    private let pipeline: Pipeline

    private typealias Variant = (name: String, size: String, transform: Transform)

    /// - Throws: `RequestError` for an unknown size or format.
    init(order: PrefetchOrder, options: ImageOptions, prefetcher: Prefetcher, pipeline: Pipeline) throws(RequestError) {
        self.order = order
        self.prefetcher = prefetcher
        self.pipeline = pipeline
        variants = try Self.variants(of: order, options)
    }

    /// The archive's table of contents.
    struct Index: Encodable {
        struct Day: Encodable {
            /// `nil` for the newest list.
            let date: CalendarDay?
            /// Ids in list order.
            let titles: [String]
        }
        struct Poster: Encodable {
            let path: String
            let width: Int?
            let height: Int?
            let bytes: Int
        }
        struct Placeholder: Encodable {
            /// The original poster's size in pixels.
            let width: Int
            let height: Int
            /// In base64.
            let thumbHash: String
            /// `#rrggbb`
            let color: String
        }
        struct Entry: Encodable {
            let title: Title
            /// By size and extension, such as `w342.jpg`.
            let posters: [String: Poster]
            /// Facts for showing a placeholder before a poster is decoded.
            let placeholder: Placeholder?
            /// The reason if the title has no poster.
            let missing: String?
        }
        let source: String
        var days: [Day] = []
        var titles: [Entry] = []
    }

    /// Writes the archive, one title at a time.
    /// - Parameter progress: is told after each title how far it is; posters are made, or failed.
    /// - Returns: the number of posters, and the titles without posters with the reason for each.
    /// - Throws: the failure of a list or of `write`, or an error if the task is cancelled: the archive is incomplete then.
    func write(
        progress: (PrefetchSummary) -> Void = { _ in }, _ write: @escaping (ByteBuffer) throws -> Void
    ) async throws -> (posters: Int, missing: [(title: String, reason: String)]) {
        let source = try prefetcher.source(of: order.selection)
        var index = Index(source: order.source)
        var titles: [Title] = []
        var seen: Set<ExactText> = []
        let lists = try await prefetcher.lists(order.selection)
        // They count the memory of the titles.
        defer { withExtendedLifetime(lists) {} }
        for list in lists {
            index.days.append(.init(date: list.date, titles: list.titles.map(\.id)))
            titles += list.titles.filter { seen.insert(ExactText($0.id)).inserted }
        }
        var archive = TarWriter(write)
        var (posters, missing) = (0, lists.flatMap(\.missing).map { (title: $0.title, reason: $0.reason) })
        var summary = PrefetchSummary(total: titles.count * variants.count)
        for (number, title) in titles.enumerated() {
            guard !Task.isCancelled else { throw Failure.cancelled }
            let entry = try await add(title, from: source, number: number + 1, variants, to: &archive)
            posters += entry.posters.count
            if let reason = entry.missing { missing.append((title.id, reason)) }
            index.titles.append(entry)
            summary.made += entry.posters.count
            if let reason = entry.missing { summary.add(.init(title: title.id, variants: variants.count, reason: reason)) }
            progress(summary)
        }
        try archive.add("index.json", ByteBuffer(data: try JSONEncoder.document.encode(index)))
        try archive.finish()
        return (posters, missing)
    }

    private func add(
        _ title: Title, from source: any ContentSource, number: Int,
        _ variants: [(name: String, size: String, transform: Transform)], to archive: inout TarWriter
    ) async throws -> Index.Entry {
        let reference = TitleReference(source: order.source, id: title.id)
        let title = title.read(in: source.languages)
        var posters: [String: Index.Poster] = [:]
        var placeholder: Index.Placeholder?
        let images: [ImageAnswer]
        do throws(Failure) {
            images = try await prefetcher.images(of: reference, from: source, as: variants.map { $0.transform })
        } catch {
            // A cancelled task gets errors of other kinds too, such as a source that did not answer.
            if error == .cancelled || Task.isCancelled { throw error }
            return Index.Entry(title: title, posters: [:], placeholder: nil, missing: error.summary ?? error.message)
        }
        for ((name, size, _), entry) in zip(variants, images.map(\.entry)) {
            // Ids can contain any character. A number is a valid file name everywhere.
            let path = "posters/\(size)/\(number)\(name.dropFirst(size.count))"
            posters[name] = .init(
                path: path, width: entry.presentation.width, height: entry.presentation.height,
                bytes: entry.body.readableBytes)
            if placeholder == nil { placeholder = await self.placeholder(reference, entry) }
            try archive.add(path, entry.body)
        }
        return Index.Entry(title: title, posters: posters, placeholder: placeholder, missing: nil)
    }

    /// Uses the variant's own hash and colour: the stored facts may come from another variant, which would make the bytes differ
    /// between runs.
    private func placeholder(_ title: TitleReference, _ variant: CacheEntry) async -> Index.Placeholder? {
        guard let facts = await pipeline.facts(of: ImageReference(title)), let thumbHash = variant.presentation.thumbHash,
            let color = variant.presentation.color
        else { return nil }
        return Index.Placeholder(width: facts.width, height: facts.height, thumbHash: thumbHash, color: color.hexadecimal)
    }

    private static func variants(of order: PrefetchOrder, _ options: ImageOptions) throws(RequestError) -> [Variant] {
        var variants: [Variant] = []
        for size in order.sizes {
            for format in order.formats {
                var one = order
                (one.sizes, one.formats) = ([size], [format])
                // Named twice, it is one file all the same.
                for variant in try one.variants(options) where !variants.contains(where: { $0.name == "\(size).\(format)" }) {
                    guard variant.selector == .poster else {
                        throw .bad(option: "sizes", value: size, reason: "is another image; a bundle has posters, such as w342")
                    }
                    variants.append(("\(size).\(format)", size, variant.transform))
                }
            }
        }
        return variants
    }
}
