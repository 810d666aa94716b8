import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import Synchronization

/// What a document of a list shows.
struct ListedTitles {
    let page: TitlePage
    /// The version of what is known about the posters; `nil` if the document does not show it.
    var facts: PosterFactsVersion?
    /// Those of the source; `nil` if the document does not show them.
    var capabilities: SourceCapabilities?

    /// Whether both are the same titles and show the same, but for the facts about posters. Equal titles that the source has listed anew count
    /// as others: two names may be equal in Swift and differ in bytes.
    fileprivate func isSame(as other: ListedTitles) -> Bool {
        page.titles.isSame(as: other.page.titles) && page.total == other.page.total && page.next == other.page.next
            && capabilities == other.capabilities
    }

    /// Whether the facts are those of `earlier` too.
    fileprivate func hasFacts(of earlier: ListedTitles) -> Bool {
        switch (facts, earlier.facts) {
        case (nil, nil): true
        case (let facts?, let earlier?): facts.isSame(as: earlier)
        default: false
        }
    }
}

extension [Title] {
    /// Whether both are in the same place of memory.
    fileprivate func isSame(as other: Self) -> Bool {
        withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }
}

/// The documents of lists that were made last. A document is made again only if it would show something else: a list of a thousand titles
/// takes tens of milliseconds, and so do the look-ups of what is known about their posters.
final class ListDocuments: Sendable {
    private struct Document {
        let titles: ListedTitles
        let facts: [PosterFacts?]
        let bytes: ByteBuffer
    }

    private let kept: Mutex<S3FIFO<Document>>

    /// - Parameter limit: bytes of the documents that are kept, and of the titles that they show.
    init(keeping limit: Int) { kept = Mutex(S3FIFO(weight: limit, count: 1024)) }

    /// The document of `titles`.
    /// - Parameters:
    ///   - name: names everything else that the document depends on.
    ///   - facts: looks up what is known about the posters, in the order of the titles.
    ///   - make: makes the document. Both count as one miss of the client.
    /// - Throws: `Failure` if the client may cause no further work at present, and what `make` throws.
    func document(
        of titles: ListedTitles, named name: String, facts: () async -> [PosterFacts?] = { [] },
        make: ([PosterFacts?]) throws -> ByteBuffer
    ) async throws -> ByteBuffer {
        let key = CacheKey(.metadata, name)
        let known = kept.withLock { $0.value(for: key) }.flatMap { $0.titles.isSame(as: titles) ? $0 : nil }
        if let known, titles.hasFacts(of: known.titles) { return known.bytes }
        // A client without a remaining share gets what was known about the posters before.
        do throws(Failure) { try WorkContext.current.countMiss() } catch {
            guard let known else { throw error }
            return known.bytes
        }
        let facts = await facts()
        let bytes = if let known, known.facts == facts { known.bytes } else { try make(facts) }
        // The document has the texts of all titles and facts, so these take about as much.
        let size = 2 * bytes.readableBytes + name.utf8.count
        kept.withLock {
            if size <= $0.weightLimit / 2 {
                $0.insert(Document(titles: titles, facts: facts, bytes: bytes), for: key, weight: size)
            }
        }
        return bytes
    }
}

extension TitleQuery {
    /// A name of the query among those of a source.
    var name: String { "\(date.map { "\($0)" } ?? "") \(period.rawValue) \(page) \(phrase ?? "")" }
}
