package import OnesheetCore

/// A source as another one asks it that it is a member of: within its limits, and with the cached answers that it shares with all other
/// questions to it.
package struct CatalogedSource: ContentSource {
    private let name: String
    private let source: any ContentSource
    private let catalog: Catalog

    /// - Parameter source: the source of this name, with its limits.
    package init(_ name: String, _ source: any ContentSource, in catalog: Catalog) {
        self.name = name
        self.source = source
        self.catalog = catalog
    }

    package var originPolicy: OriginPolicy { source.originPolicy }
    package var isVersioned: Bool { source.isVersioned }
    package var asksService: Bool { source.asksService }
    package var capabilities: SourceCapabilities { source.capabilities }
    package var languages: LanguageList? { source.languages }
    package var members: [SourceMember] { source.members }

    package func canonicalID(_ id: String) -> String { source.canonicalID(id) }
    package func canonicalID(of url: WebURL) -> String { source.canonicalID(of: url) }
    package func canonicalID(ofObject name: String, in bucket: String) -> String? { source.canonicalID(ofObject: name, in: bucket) }
    package func isForeign(_ id: String) -> Bool { source.isForeign(id) }
    package func ownID(of id: String) async throws(SourceError) -> String {
        do throws(Failure) { return try await catalog.own(reference(id), from: source).id } catch {
            throw SourceError(error, about: id)
        }
    }
    package func quotas() async -> [QuotaReport] { await source.quotas() }

    package func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        do throws(Failure) {
            return try await catalog.titles(of: name, query, from: source, asMember: true)
        } catch {
            throw SourceError(error, about: query.phrase ?? "")
        }
    }

    package func title(_ id: String) async throws(SourceError) -> Title {
        do throws(Failure) { return try await catalog.title(reference(id), from: source, asMember: true) } catch {
            throw SourceError(error, about: id)
        }
    }

    package func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        do throws(Failure) { return try await catalog.candidates(for: reference(id), from: source, asMember: true) } catch {
            throw SourceError(error, about: id)
        }
    }

    package func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
        do throws(Failure) { return try await catalog.genres(of: name, in: language, from: source) } catch {
            throw SourceError(error, about: "")
        }
    }

    private func reference(_ id: String) -> TitleReference { TitleReference(source: name, id: source.canonicalID(id)) }
}

extension SourceError {
    /// The error of a source that could not answer because a member of it could not.
    /// - Parameter id: the title that it was asked about.
    fileprivate init(_ failure: Failure, about id: String) {
        switch failure.retry {
        case _ where failure.traits.contains(.isMissing): self = .notFound(id: id)
        case .after(let seconds) where failure.isOurs: self = .overloaded(retryAfter: seconds)
        case .after(let seconds) where failure.traits.contains(.pausesPrefetch): self = .rateLimited(retryAfter: seconds)
        case .at(let moment): self = .quotaExhausted(until: moment)
        case _ where failure.status == .badRequest: self = .unsupported(failure.message, details: failure.details)
        default:
            self = failure.details.map { .failed(reason: failure.message, details: $0) } ?? .unavailable(reason: failure.message)
        }
    }
}
