#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The request in an image's address, the state of the cache, and how the image was made (`GET /explain`).
public struct Explanation: Sendable, Equatable, Decodable {
    /// A stage of the work on an image.
    public struct Stage: Sendable, Equatable, Decodable {
        /// The name: `cache`, `origin`, `render` or `store`.
        public let stage: String
        /// The duration of the stage.
        public let milliseconds: Double
    }

    /// The variant in the cache.
    public struct Stored: Sendable, Equatable, Decodable {
        /// The tier that has it: `memory`, `disk`, or another one's name.
        public let tier: String
        /// `fresh`, `stale-while-revalidate`, `stale-if-error` or `stale`.
        public let state: String
        /// The size of the image in bytes.
        public let bytes: Int?
        /// The media type, such as `image/jpeg`.
        public let mediaType: String?
        /// The width in pixels.
        public let width: Int?
        /// The height in pixels.
        public let height: Int?
        /// The `ETag` without quotation marks.
        public let validator: String?
        /// The time when the image was made.
        public let created: Date?
        /// Seconds since the origin was last asked.
        public let age: Int?
        /// The time at which the image becomes stale; `nil` if its origin sent no freshness.
        public let freshUntil: Date?
        /// The duration of the render in milliseconds.
        public let cost: Double?
    }

    /// The last making by the server's process.
    public struct Making: Sendable, Equatable, Decodable {
        /// The time when the work began.
        public let began: Date
        /// `absent` or `stale`.
        public let reason: String?
        /// Whether the origin was asked for the original.
        public let askedOrigin: Bool?
        /// `made`, `revalidated`, `stale-if-error` or `failed`.
        public let outcome: String
        /// The error; `nil` if the image was made.
        public let failure: String?
        /// Whether the result may be stored.
        public let isStorable: Bool?
        /// The stages of the work, in order.
        public let stages: [Stage]?
    }

    /// The effect of a purge of the title; for the administrator only.
    public struct Purge: Sendable, Equatable, Decodable {
        /// The tag of the title.
        public let tag: String
        /// The number of entries that the purge removes.
        public let entries: Int
        /// Their size in bytes.
        public let bytes: Int
    }

    /// `sizes` (`/t/p/`), `options` (`/i/`), or the name of a dialect.
    public let grammar: String
    /// The canonical path, if there is one.
    public let canonical: String?
    /// The title as `source://id`.
    public let title: String
    /// The name of the source.
    public let source: String
    /// The id of the title within its source.
    public let id: String
    /// The image of the title, such as `poster` or `logo.ko.none`; `ImageSelector` reads it.
    public let image: String?
    /// Why this candidate is the image, in words.
    public let choice: [String]?
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
    /// The variant in the cache; `nil` if no tier has it.
    public let stored: Stored?
    /// The tier that has the original.
    public let originalTier: String?
    /// Why a request would have to make the image now: `absent`, `stale` or `failed`. `nil` if the cache has it.
    public let missReason: String?
    /// The remembered error of the title, if there is one.
    public let failure: String?
    /// The URL to which clients are redirected if the image cannot be made.
    public let fallback: String?
    /// The last time this server made the image; `nil` if it has not.
    public let lastMaking: Making?
    /// The stages of this request, if it was asked to fetch.
    public let stages: [Stage]?
    /// The effect of a purge of the title; `nil` without the administrator's token.
    public let purge: Purge?
}
