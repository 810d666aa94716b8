import OnesheetCache
package import OnesheetCore
import Synchronization

/// Makes variants before any request. The command line, the HTTP interface, the schedule and bundles all use this type.
///
/// All its work runs at prefetch urgency: interactive work goes first and has a reserve of each quota.
package struct Prefetcher: Sendable {
    private let pipeline: Pipeline
    private let catalog: Catalog
    private let concurrency: Int
    private let patience: Patience
    private let dialects: [any Dialect]

    /// The titles to prefetch.
    package struct Selection: Sendable {
        package let source: String
        /// Titles by id; if empty, the lists of the source.
        package let ids: [String]
        /// The days of the lists; if empty, the newest list.
        package let dates: [CalendarDay]
        /// A list by name instead of the source's own.
        package let list: String?
        /// A search instead of a list.
        package let phrase: String?
        /// The queries of the questions that clients ask the service about each title, and about the list.
        package let answers: [String]

        package init(
            source: String, ids: [String] = [], dates: [CalendarDay] = [], list: String? = nil, phrase: String? = nil,
            answers: [String] = []
        ) {
            self.source = source
            self.ids = ids
            self.dates = dates
            self.list = list
            self.phrase = phrase
            self.answers = answers
        }

        var queries: [TitleQuery] {
            dates.isEmpty ? [TitleQuery(list: list, phrase: phrase)] : dates.map { TitleQuery(date: $0, phrase: phrase) }
        }
    }

    /// The titles of an order. Their source is looked up once for all.
    package struct Titles: Sendable {
        package let source: any ContentSource
        package let references: [TitleReference]
        /// Pages of the lists that the source refused.
        package var missing: [PrefetchSummary.Failure] = []
        /// Counts the titles that a source has listed.
        let memory: MemoryReservation?
        /// Whether the order names them or their list, so that the summary says what became of each.
        var areNamed = false
        let questions: PrefetchQuestions
        package var count: Int { references.count }

        /// The number of images and answers.
        /// - Parameter variants: the number of images of each title.
        package func total(of variants: Int) -> Int { count * each(of: variants) + questions.ofList.count }

        /// The number of answers alone.
        package var answers: Int { count * questions.queries.count + questions.ofList.count }

        /// The number of images and answers for each title: its own images, and each answer with the images that it names.
        func each(of variants: Int) -> Int { variants + questions.queries.count * (1 + variants) }
    }

    /// One list of a source.
    package struct List: Sendable {
        /// `nil` is the newest list.
        package let date: CalendarDay?
        package let titles: [Title]
        /// Pages that the source refused.
        package let missing: [PrefetchSummary.Failure]
        /// Counts the titles of all lists.
        let memory: MemoryReservation
    }

    /// - Parameters:
    ///   - concurrency: titles processed at the same time.
    ///   - dialects: what clients of this server ask the services of its sources by.
    package init(pipeline: Pipeline, concurrency: Int, dialects: [any Dialect] = [], patience: Patience = Patience()) {
        precondition(concurrency > 0, "needs at least one title at a time")
        self.pipeline = pipeline
        self.catalog = pipeline.originals.catalog
        self.concurrency = concurrency
        self.patience = patience
        self.dialects = dialects
    }

    /// The titles of `selection` without duplicates, with canonical ids. Reads lists to their last page.
    /// - Throws: `Failure.unknownSource`, the failure of a list, or one of a query in `answers`.
    package func titles(_ selection: Selection) async throws(Failure) -> Titles {
        try await WorkContext.with({ $0.urgency = .prefetch }) { () async throws(Failure) in
            let source = try source(of: selection)
            // An error of a query costs no list.
            let questions = try PrefetchQuestions(selection, in: dialects)
            var ids = selection.ids.map { source.canonicalID($0) }
            var memory: MemoryReservation?
            var missing: [PrefetchSummary.Failure] = []
            if ids.isEmpty {
                var listing = try listing(of: selection, from: source)
                for query in selection.queries { ids += try await listing.ids(query) }
                (memory, missing) = (listing.memory, listing.missing)
            }
            var seen: Set<TitleReference> = []
            let titles = ids.map { TitleReference(source: selection.source, id: $0) }.filter { seen.insert($0).inserted }
            return Titles(
                source: source, references: titles, missing: missing, memory: memory,
                areNamed: !selection.ids.isEmpty || selection.list != nil,
                questions: try questions.asking(aboutListOf: titles.count))
        }
    }

    private func listing(of selection: Selection, from source: any ContentSource) throws(Failure) -> TitleListing {
        try TitleListing(of: selection.source, from: source, in: catalog, counting: pipeline.pool.memory, with: patience)
    }

    /// - Throws: `Failure.unknownSource` if the configuration has no such source.
    package func source(of selection: Selection) throws(Failure) -> any ContentSource {
        try catalog.source(selection.source)
    }

    /// The lists of `selection`, read to their last page, with canonical ids.
    /// - Throws: as `titles(_:)` does.
    package func lists(_ selection: Selection) async throws(Failure) -> [List] {
        try await WorkContext.with({ $0.urgency = .prefetch }) { () async throws(Failure) in
            var listing = try listing(of: selection, from: try source(of: selection))
            var lists: [List] = []
            for query in selection.queries {
                let (known, titles) = (listing.missing.count, try await listing.titles(query))
                lists.append(
                    List(
                        date: query.date, titles: titles, missing: Array(listing.missing[known...]), memory: listing.memory))
            }
            return lists
        }
    }

    /// The images of `transforms` for the poster of `title`, a title of `source`, in order, from a tier or newly made. As for a client,
    /// a stale variant is revalidated, or served and refreshed behind the answer if its freshness allows that. `run` leaves stale variants to
    /// later requests.
    package func images(
        of title: TitleReference, from source: any ContentSource, as transforms: [Transform]
    ) async throws(Failure) -> [ImageAnswer] {
        try await WorkContext.with({ $0.urgency = .prefetch }) { () async throws(Failure) in
            let title = try await catalog.own(title, from: source)
            return try await pipeline.images(for: transforms.map { ImageRequest(title, $0) }, from: source)
        }
    }

    /// Makes every variant of every title. Skips variants that a tier has, also stale ones: the requests that use them revalidate
    /// them. `images` does so itself.
    ///
    /// If its task is cancelled, ends early and returns the progress so far. A new run continues there.
    /// - Parameter progress: called after each title, never concurrently.
    package func run(
        _ titles: Titles, _ variants: [ImageVariant], progress: @escaping @Sendable (PrefetchSummary) -> Void
    ) async -> PrefetchSummary {
        await WorkContext.with({ $0.urgency = .prefetch }) {
            let summary = Mutex(PrefetchSummary(total: titles.total(of: variants.count), failures: titles.missing))
            for question in titles.questions.ofList where !Task.isCancelled {
                let subject = "the list “\(titles.questions.list ?? "")”"
                let (done, _) = await ask(question, about: subject, of: titles.questions.source)
                summary.withLock { $0.add(done) }
            }
            var states: [Int: PrefetchSummary.Outcome.State] = [:]
            await withTaskGroup(of: (Int, PrefetchSummary).self) { group in
                var waiting = titles.references.enumerated().makeIterator()
                func startNext() {
                    guard !Task.isCancelled, let (index, title) = waiting.next() else { return }
                    group.addTask { (index, await make(variants, of: title, in: titles)) }
                }
                for _ in 0..<concurrency { startNext() }
                for await (index, done) in group {
                    if titles.areNamed { states[index] = done.state(of: titles.each(of: variants.count)) }
                    progress(
                        summary.withLock { summary in
                            summary.add(done)
                            return summary
                        })
                    startNext()
                }
            }
            var whole = summary.withLock { $0 }
            if titles.areNamed {
                whole.titles = titles.references.enumerated().compactMap { index, title in
                    states[index].map { .init(title: title.description, state: $0) }
                }
            }
            return whole
        }
    }

    private func make(_ variants: [ImageVariant], of title: TitleReference, in titles: Titles) async -> PrefetchSummary {
        let (source, questions) = (titles.source, titles.questions)
        var summary = PrefetchSummary()
        let own: TitleReference
        do throws(Failure) {
            own = try await patience.waiting { () async throws(Failure) in try await catalog.own(title, from: source) }
        } catch .cancelled {
            return summary
        } catch {
            summary.add(.init(title: title.description, variants: titles.each(of: variants.count), reason: error.reason))
            return summary
        }
        var requests = Self.requests(for: variants, of: own)
        for query in questions.queries {
            do throws(Failure) {
                let question = try questions.question(about: own, with: query)
                let (done, answer) = await ask(question, about: title.description, of: title.source, for: variants.count)
                summary.add(done)
                guard let answer else { continue }
                let named = Self.requests(for: variants, namedBy: answer, of: title.source)
                summary.none += variants.count - named.count
                requests += named
            } catch {
                summary.add(.init(title: title.description, variants: 1 + variants.count, reason: error.reason))
            }
        }
        let missing = await presence(of: requests).missing
        summary.skipped += requests.count - missing.count
        for requests in Self.byImage(missing) { summary.add(await make(requests, from: source)) }
        return summary
    }

    /// Has an answer of a service in the cache.
    /// - Parameter images: the number of images that it may name, which are missing too without it.
    /// - Returns: also the answer, if it is there and fresh.
    private func ask(
        _ question: ServiceQuestion, about subject: String, of source: String, for images: Int = 0
    ) async -> (PrefetchSummary, ServiceAnswer?) {
        var summary = PrefetchSummary()
        if let known = await catalog.freshAnswer(of: source, to: question) {
            summary.skipped = 1
            return (summary, known)
        }
        let reason: String
        do throws(Failure) {
            let answer = try await patience.waiting { () async throws(Failure) in try await catalog.answer(of: source, to: question)
            }
            if answer.status != 200 {
                reason = "the service answers with status \(answer.status)"
            } else if let kept = await catalog.freshAnswer(of: source, to: question) {
                (summary.made, summary.bytes) = (1, kept.document.utf8.count)
                return (summary, kept)
            } else {
                // A stale one, or one that no tier keeps.
                reason = "the cache has no fresh answer; the service may be away"
            }
        } catch .cancelled {
            return (summary, nil)
        } catch {
            reason = error.reason
        }
        summary.add(.init(title: subject, variants: 1 + images, reason: reason))
        return (summary, nil)
    }

    private static func requests(for variants: [ImageVariant], of title: TitleReference) -> [ImageRequest] {
        variants.map { ImageRequest(ImageReference(title, $0.selector), $0.transform) }
    }

    /// The requests for the images that `answer` names, at the addresses of their files.
    private static func requests(
        for variants: [ImageVariant], namedBy answer: ServiceAnswer, of source: String
    ) -> [ImageRequest] {
        variants.compactMap { variant in
            answer.images?.first { $0.kind == variant.selector.kind }.map {
                ImageRequest(TitleReference(source: source, id: $0.id), variant.transform)
            }
        }
    }

    /// Makes variants of one picture.
    private func make(_ requests: [ImageRequest], from source: any ContentSource) async -> PrefetchSummary {
        var summary = PrefetchSummary()
        do throws(Failure) {
            let answers = try await patience.waiting { () async throws(Failure) in
                try await pipeline.images(for: requests, from: source, after: .absent)
            }
            for answer in answers {
                summary.made += 1
                if !answer.isStorable { summary.notKept += 1 }
                summary.bytes += answer.size
            }
        } catch .cancelled {
            return summary
        } catch let error where requests.count > 1 && error.blame == .image {
            // One of the variants may be the reason, such as one that takes too long, and the others can be made.
            for request in requests { summary.add(await make([request], from: source)) }
        } catch let error where requests[0].image.selector.kind != .poster && error == .noImage(requests[0].image) {
            summary.none = requests.count
        } catch {
            summary.add(.init(title: requests[0].title.description, variants: requests.count, reason: error.reason))
        }
        return summary
    }

    /// The predicted cost of `run`, according to the cache. Asks no source and no origin. Unlike the summary of `run`, it counts answers apart,
    /// and an image of a title once although several answers name it.
    package func estimate(_ titles: Titles, _ variants: [ImageVariant]) async -> PrefetchEstimate {
        var estimate = PrefetchEstimate()
        for question in titles.questions.ofList
        where await catalog.freshAnswer(of: titles.questions.source, to: question) == nil {
            estimate.answers += 1
        }
        for title in titles.references {
            let own = await catalog.knownOwn(title)
            var requests = Self.requests(for: variants, of: own)
            for query in titles.questions.queries {
                do throws(Failure) {
                    let question = try titles.questions.question(about: own, with: query)
                    if let answer = await catalog.freshAnswer(of: title.source, to: question) {
                        requests += Self.requests(for: variants, namedBy: answer, of: title.source)
                        continue
                    }
                    estimate.answers += 1
                } catch {
                    // The source's own id is not known, or there is nothing to ask.
                    estimate.answers += own.id.isExactly(title.id) && titles.source.isForeign(title.id) ? 1 : 0
                }
                estimate.missing += variants.count
            }
            let (missing, there) = await presence(of: requests)
            estimate.there += there
            guard !missing.isEmpty else { continue }
            estimate.missing += missing.count
            var fetches = 0
            for requests in Self.byImage(missing) {
                if await !pipeline.cache.contains(ImageRequest.originalKey(requests[0].image)) { fetches += 1 }
            }
            if fetches > 0 { estimate.titlesToAsk += 1 }
            estimate.fetches += fetches
        }
        estimate.total = estimate.there + estimate.missing
        let stored = await pipeline.cache.statistics().values.map(\.total).max { $0.entries < $1.entries }
        if let stored, stored.entries > 0 {
            estimate.bytes = (estimate.missing + estimate.fetches) * (stored.bytes / stored.entries)
        }
        return estimate
    }

    /// The requests for variants that no tier has, and the number of variants that a tier has. A variant counts once, because several answers
    /// may name it.
    private func presence(of requests: [ImageRequest]) async -> (missing: [ImageRequest], there: Int) {
        var (missing, seen): ([ImageRequest], Set<CacheKey>) = ([], [])
        for request in requests where seen.insert(request.key).inserted {
            if await !pipeline.cache.contains(request.key) { missing.append(request) }
        }
        return (missing, seen.count - missing.count)
    }

    /// The requests for each image, which are made of one original.
    private static func byImage(_ requests: [ImageRequest]) -> [[ImageRequest]] {
        var byImage: [[ImageRequest]] = []
        for request in requests {
            if let index = byImage.firstIndex(where: { $0[0].image == request.image }) {
                byImage[index].append(request)
            } else {
                byImage.append([request])
            }
        }
        return byImage
    }
}
