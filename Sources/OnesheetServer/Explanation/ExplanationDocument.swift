package import FoundationEssentials
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// The explanation of one image, as `GET /explain` and `onesheet explain` print it.
package struct ExplanationDocument: Encodable, Sendable {
    package struct Stage: Encodable, Sendable {
        package let stage: String
        package let milliseconds: Double

        init(_ timing: StageTiming) {
            stage = timing.stage
            milliseconds = (timing.milliseconds * 1000).rounded() / 1000
        }
    }

    /// The cached variant.
    package struct Stored: Encodable, Sendable {
        package let tier: String
        /// `fresh`, `stale-while-revalidate`, `stale-if-error` or `stale` (RFC 5861).
        package let state: String
        package let bytes: Int
        package let mediaType: String
        package let width: Int?
        package let height: Int?
        package let validator: String
        package let created: Date
        /// Seconds since the origin was last asked.
        package let age: Int
        package let freshUntil: Date?
        /// The duration of the render in milliseconds.
        package let cost: Double
    }

    /// The last making by this process.
    package struct Making: Encodable, Sendable {
        package let began: Date
        /// `absent`: no tier had the variant. `stale`: the variant had to be revalidated.
        package let reason: String
        /// Whether the origin was asked for the original; `false` if a tier had it, absent if the making failed before.
        package let askedOrigin: Bool?
        /// `made`, `revalidated`, `stale-if-error` or `failed`.
        package let outcome: String
        package let failure: String?
        package let isStorable: Bool
        package let stages: [Stage]
    }

    package struct Purge: Encodable, Sendable {
        package let tag: String
        package let entries: Int
        package let bytes: Int
    }

    /// `sizes` (`/t/p/`), `options` (`/i/`), or the name of a dialect.
    package let grammar: String
    package let canonical: String?
    package let title: String
    package let source: String
    package let id: String
    /// The image of the title: `poster`, `logo.ko.none`.
    package let image: String
    /// Why this candidate is the image, in words; empty if no answers of the source are cached.
    package let choice: [String]
    /// In the grammar of free transforms, in canonical order.
    package let options: [String]
    /// The format's usual extension; absent if it is the original's own.
    package let format: String?
    /// Whether `Accept` selected the format.
    package let negotiated: Bool
    /// The expiry time of the address, in seconds since 1970.
    package let expires: Int?
    package let key: String
    package let stored: Stored?
    /// The tier that has the original.
    package let originalTier: String?
    /// The reason for which a request would have to make the image now: `absent`, `stale` or `failed`. Absent if the cache has it.
    package let missReason: String?
    /// The remembered failure, which every request gets until the next attempt, or the failure of this request.
    package let failure: String?
    /// The URL to which clients are redirected if the image cannot be made.
    package let fallback: String?
    package let lastMaking: Making?
    /// The stages of this request, if it was asked to fetch.
    package let stages: [Stage]?
    package let purge: Purge?

    init(
        _ found: ImageExplanation, of target: ParsedTarget, grammar: String, fetched: ImageAnswer?, failure: String?,
        purge: (tag: CacheTag, removal: CacheRemoval)?, at now: Date
    ) {
        let (title, transform) = (found.request.title, found.request.transform)
        self.grammar = grammar
        canonical = target.facts.canonical
        self.title = title.description
        source = title.source
        id = title.id
        image = found.request.image.selector.description
        choice = found.choice
        options = transform.options
        format = transform.format?.extensions.first
        negotiated = target.address.negotiates
        expires = target.address.expires
        key = found.request.key.description
        stored = found.stored.map { Stored($0.head, $0.state, at: now) }
        originalTier = found.originalTier
        self.failure = found.failure ?? failure
        fallback = target.address.fallback
        switch found.stored?.state {
        case .fresh, .staleWhileRevalidate: missReason = nil
        case .staleIfError, .stale: missReason = "stale"
        case nil: missReason = self.failure == nil ? "absent" : "failed"
        }
        lastMaking = found.lastMaking.map(Making.init)
        stages = fetched?.timings.map(Stage.init)
        self.purge = purge.map { Purge(tag: $0.tag.description, entries: $0.removal.entries, bytes: $0.removal.bytes) }
    }
}

extension ExplanationDocument.Stored {
    fileprivate init(_ head: CacheHead, _ state: Freshness.State, at now: Date) {
        let entry = head.entry
        tier = head.tier
        self.state =
            switch state {
            case .fresh: "fresh"
            case .staleWhileRevalidate: "stale-while-revalidate"
            case .staleIfError: "stale-if-error"
            case .stale: "stale"
            }
        bytes = head.size
        mediaType = entry.mediaType
        validator = entry.validator
        width = entry.presentation.width
        height = entry.presentation.height
        created = entry.created
        cost = (entry.cost * 1000).rounded() / 1000
        age = max(0, Int(saturating: now.timeIntervalSince(entry.validated)))
        freshUntil = entry.freshUntil
    }
}

extension ExplanationDocument.Making {
    fileprivate init(_ making: RecentMakings.Making) {
        began = making.began
        reason = making.wasStale ? "stale" : "absent"
        askedOrigin = making.askedOrigin
        outcome =
            switch making.origin {
            case .made: "made"
            case .revalidated: "revalidated"
            case .staleOnError: "stale-if-error"
            case .memory: MemoryTier.name
            case .tier(let name): name
            case nil: "failed"
            }
        failure = making.failure
        isStorable = making.isStorable
        stages = making.stages.map(ExplanationDocument.Stage.init)
    }
}
