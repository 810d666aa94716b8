package import OnesheetCore

/// A source as the rest of the server sees it: its limits are enforced and the outcome of each call is recorded. The plugin runs on
/// threads of its own, so a plugin that hangs, computes, floods or fails affects only its own requests.
package struct WatchedSource: ContentSource {
    private let source: any ContentSource
    private let limits: SourceLimits
    package let languages: LanguageList?
    private let watch: SourceWatch
    private let executor = BoundedExecutor(threads: Self.threads)
    private let slots: Slots<SourceWatch.Call?>
    private let known: @Sendable (String) -> String?

    /// A call mostly waits for a service. Two can compute at the same time.
    private static let threads = 2

    /// - Parameters:
    ///   - languages: those of the configuration; `nil` leaves them to the plugin.
    ///   - known: the source's own id for one of another database, if it is known (`OwnIDs`).
    package init(
        _ source: any ContentSource, limits: SourceLimits = SourceLimits(), languages: LanguageList? = nil, watch: SourceWatch,
        knowing known: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.source = CheckedSource(source: source) { watch.warn(ofMissing: $0, in: "a list") }
        self.languages = languages ?? source.languages
        self.limits = limits
        self.watch = watch
        self.known = known
        slots = Slots(SlotRules(places: limits.calls, waiting: .whoHoldsLess))
    }

    package var originPolicy: OriginPolicy { limits.applied(to: source.originPolicy) }
    package var isVersioned: Bool { source.isVersioned }
    package var asksService: Bool { source.asksService }
    package var capabilities: SourceCapabilities { source.capabilities }
    package var members: [SourceMember] { source.members }

    /// Also of an id that begins with the name of its database, and of one of another database if the source's own is known.
    package func canonicalID(_ id: String) -> String {
        let id = source.canonicalID(id.contains(mark: ":") ? source.capabilities.written(id) : id)
        return source.isForeign(id) ? known(id) ?? id : id
    }

    package func canonicalID(of url: WebURL) -> String { source.canonicalID(of: url) }
    package func canonicalID(ofObject name: String, in bucket: String) -> String? { source.canonicalID(ofObject: name, in: bucket) }

    package func isForeign(_ id: String) -> Bool { source.isForeign(id) }

    package func quotas() async -> [QuotaReport] {
        await withTimeoutAbandoning(.seconds(2), on: executor) { [source] in await source.quotas() } ?? []
    }

    package func changes() async throws(SourceError) -> TitleChanges? {
        // No time limit: a change is reported once, and only the caller that follows the source waits for it.
        let result = await withTimeoutAbandoning(nil, on: executor) { [source] () async -> Result<TitleChanges?, SourceError> in
            do throws(SourceError) { return .success(try await source.changes()) } catch { return .failure(error) }
        }
        guard let result else { throw .unavailable(reason: "cancelled") }
        return try result.get()
    }

    package func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        try await asked(.titles) { [source] () async throws(SourceError) in try await source.titles(query) }
    }

    package func title(_ id: String) async throws(SourceError) -> Title {
        try await asked(.title) { [source] () async throws(SourceError) in try await source.title(id) }
    }

    package func ownID(of id: String) async throws(SourceError) -> String {
        try await asked(.title) { [source] () async throws(SourceError) in try await source.ownID(of: id) }
    }

    package func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        try await asked(.candidates) { [source] () async throws(SourceError) in try await source.candidates(for: id) }
    }

    package func candidates(namedBy id: String) -> [PosterCandidate]? { source.candidates(namedBy: id) }

    package func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
        try await asked(.question) { [source] () async throws(SourceError) in try await source.genres(in: language) }
    }

    package func answer(to question: ServiceQuestion) async throws(SourceError) -> ServiceAnswer {
        try await asked(.question) { [source] () async throws(SourceError) in try await source.answer(to: question) }
    }

    /// Does not run on the threads of the source, because calls that hang may occupy them.
    package func shutdown() async { await source.shutdown() }

    /// Returns the plugin's answer within the time limit. A call that does not end, even when it is cancelled, is abandoned. It
    /// counts as running until it ends, so that the number of such calls is bounded.
    ///
    /// The time in which the call waits for a thread, and that in which its requests wait for their turn, are not the plugin's. Each is
    /// limited to as much again.
    private func asked<Value: Sendable>(
        _ call: SourceWatch.Call, _ ask: @escaping @Sendable () async throws(SourceError) -> Value
    ) async throws(SourceError) -> Value {
        // Members keep their own pauses, and the others can answer.
        if source.members.isEmpty { try watch.checkPause(of: call) }
        let place = try await enter()
        let (start, asking) = (ContinuousClock.now, SourceCall())
        let outcome = await executor.run(
            within: limits.time, besides: { [limits] in min(asking.waited, limits.time) }
        ) { [watch] () async -> Result<Value, SourceError> in
            defer {
                watch.end()
                place.leave()
            }
            return await WorkContext.with({ $0.call = asking }) {
                do throws(SourceError) { return .success(try await ask()) } catch { return .failure(error) }
            }
        }
        // A cancelled caller says nothing about the source.
        if Task.isCancelled { throw .unavailable(reason: "cancelled") }
        let result: Result<Value, SourceError>? = if case .answer(let answer) = outcome { answer } else { nil }
        if result == nil { place.hang() }
        switch outcome {
        case .answer: break
        case .late where asking.waited <= limits.time: break
        case .late, .crowded, .cancelled:
            watch.refuse()
            throw .overloaded(retryAfter: 1)
        }
        watch.note(result, of: call, seconds: (ContinuousClock.now - start) / .seconds(1))
        guard let result else { throw .unavailable(reason: "no answer in \(limits.time)") }
        return try result.get()
    }

    private func enter() async throws(SourceError) -> Slots<SourceWatch.Call?>.Place {
        do throws(NoPlace) {
            // All kinds of calls share the places.
            let place = try await slots.enter(nil, within: SlotRules.longestWait)
            watch.begin()
            return place
        } catch {
            if error == .cancelled { throw .unavailable(reason: "cancelled") }
            watch.refuse()
            throw .overloaded(retryAfter: error.retryAfter)
        }
    }
}

/// A source whose answers are checked against the limits of `AnswerCheck`, so that other code can trust the answers of any service,
/// program or plugin.
struct CheckedSource: ContentSource {
    let source: any ContentSource
    /// Is told why titles of a list are missing.
    var onMissing: @Sendable ([String]) -> Void = { _ in }

    var originPolicy: OriginPolicy { source.originPolicy }
    var isVersioned: Bool { source.isVersioned }
    var asksService: Bool { source.asksService }
    var capabilities: SourceCapabilities { source.capabilities }
    var languages: LanguageList? { source.languages }
    var members: [SourceMember] { source.members }

    func canonicalID(_ id: String) -> String { source.canonicalID(id) }
    func isForeign(_ id: String) -> Bool { source.isForeign(id) }
    func canonicalID(of url: WebURL) -> String { source.canonicalID(of: url) }
    func canonicalID(ofObject name: String, in bucket: String) -> String? { source.canonicalID(ofObject: name, in: bucket) }
    func quotas() async -> [QuotaReport] { await source.quotas() }

    func changes() async throws(SourceError) -> TitleChanges? {
        try await checked { () async throws(SourceError) in try await source.changes().map { AnswerCheck.checked($0) } }
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        guard (1...AnswerCheck.lastPage).contains(query.page) else {
            throw .malformedAnswer(reason: "there is no page \(query.page); pages are 1 to \(AnswerCheck.lastPage)")
        }
        return try await checked { () async throws(SourceError) in
            let page = try await source.titles(query)
            var damage: [SourceError] = []
            let checked = try AnswerCheck.checked(page) { damage.append($0) }
            if checked.titles.isEmpty, let first = damage.first { throw first }
            onMissing(damage.map(\.description))
            return checked
        }
    }

    func ownID(of id: String) async throws(SourceError) -> String {
        try await checked { () async throws(SourceError) in try AnswerCheck.checked(id: try await source.ownID(of: id)) }
    }

    func title(_ id: String) async throws(SourceError) -> Title {
        try await checked { () async throws(SourceError) in try AnswerCheck.checked(try await source.title(id)) }
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let candidates = try await checked { () async throws(SourceError) in
            try AnswerCheck.checked(try await source.candidates(for: id))
        }
        guard source.members.isEmpty else { return candidates }
        // Only a source with members knows another one. What a service says about that would choose by whose rules an image is fetched.
        return candidates.map { candidate in
            var candidate = candidate
            (candidate.source, candidate.match) = (nil, nil)
            return candidate
        }
    }

    /// A damaged candidate is none: there is no service whose fault it could be.
    func candidates(namedBy id: String) -> [PosterCandidate]? {
        guard let candidates = source.candidates(namedBy: id) else { return nil }
        do throws(SourceError) { return try AnswerCheck.checked(candidates) } catch { return [] }
    }

    func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
        try await checked { () async throws(SourceError) in
            try AnswerCheck.checked(genres: try await source.genres(in: language))
        }
    }

    func answer(to question: ServiceQuestion) async throws(SourceError) -> ServiceAnswer {
        try await checked { () async throws(SourceError) in try await source.answer(to: question).checked() }
    }

    func shutdown() async { await source.shutdown() }

    private func checked<Answer>(_ ask: () async throws(SourceError) -> Answer) async throws(SourceError) -> Answer {
        do throws(SourceError) { return try await ask() } catch { throw AnswerCheck.checked(error) }
    }
}
