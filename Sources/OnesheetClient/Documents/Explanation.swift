public import FoundationEssentials

/// What the address of an image asks for, what the cache has, and how the image was made (`GET /explain`).
public struct Explanation: Sendable, Equatable, Decodable {
    public struct Stage: Sendable, Equatable, Decodable {
        public let stage: String
        public let milliseconds: Double
    }

    /// The variant in the cache.
    public struct Stored: Sendable, Equatable, Decodable {
        /// The tier that has it: `memory`, `disk`, or another one's name.
        public let tier: String
        /// `fresh`, `stale-while-revalidate`, `stale-if-error` or `stale`.
        public let state: String
        public let bytes: Int?
        public let mediaType: String?
        public let width: Int?
        public let height: Int?
        public let validator: String?
        public let created: Date?
        /// Seconds since the origin was last asked.
        public let age: Int?
        public let freshUntil: Date?
        /// The duration of the render in milliseconds.
        public let cost: Double?
    }

    /// The last making by the server's process.
    public struct Making: Sendable, Equatable, Decodable {
        public let began: Date
        /// `absent` or `stale`.
        public let reason: String?
        /// Whether the origin was asked for the original.
        public let askedOrigin: Bool?
        /// `made`, `revalidated`, `stale-if-error` or `failed`.
        public let outcome: String
        public let failure: String?
        public let isStorable: Bool?
        public let stages: [Stage]?
    }

    /// What a purge of the title would remove; for the administrator only.
    public struct Purge: Sendable, Equatable, Decodable {
        public let tag: String
        public let entries: Int
        public let bytes: Int
    }

    /// `sizes` (`/t/p/`), `options` (`/i/`), or the name of a dialect.
    public let grammar: String
    /// The canonical path, if there is one.
    public let canonical: String?
    /// The title as `source://id`.
    public let title: String
    public let source: String
    public let id: String
    /// The options in canonical order.
    public let options: [String]?
    /// The extension of the format; `nil` if it is the original's own.
    public let format: String?
    /// Whether `Accept` selected the format.
    public let negotiated: Bool?
    /// The expiry time of the address, in seconds since 1970.
    public let expires: Int?
    /// The key of the variant in the cache.
    public let key: String?
    public let stored: Stored?
    /// The tier that has the original.
    public let originalTier: String?
    /// Why a request would have to make the image now: `absent`, `stale` or `failed`. `nil` if the cache has it.
    public let missReason: String?
    public let failure: String?
    /// The URL to which clients are redirected if the image cannot be made.
    public let fallback: String?
    public let lastMaking: Making?
    /// The stages of this request, if it was asked to fetch.
    public let stages: [Stage]?
    public let purge: Purge?
}
