public import FoundationEssentials

/// The candidates for a title's poster, best first (`GET /sources/{source}/titles/{id}/posters`).
public struct PosterCandidates: Sendable, Equatable, Decodable {
    /// One picture that may be the poster.
    public struct Candidate: Sendable, Equatable, Decodable {
        /// Its number, from 1. Numbers can change within the hour, names do not.
        public let candidate: Int
        public let name: String
        /// `chosen`, `pinned` or `rejected`; `nil` for all others.
        public let state: String?
        /// From 0 to about 1.5; `nil` if the source knows its poster.
        public let score: Double?
        /// The parts of the score, in words.
        public let reasons: [String]?
        public let width: Int?
        public let height: Int?
        public let site: String?
        public let page: String?
        public let published: Date?
        /// The perceptual hash, if the picture has been fetched.
        public let hash: String?
    }

    /// The poster that the server has at present.
    public struct Current: Sendable, Equatable, Decodable {
        public let name: String
        public let page: String?
        public let site: String?
        public let fetched: Date?
        public let mediaType: String?
        public let bytes: Int?
        /// The perceptual hash.
        public let hash: String?
    }

    /// What the administrator has decided, by the names of candidates.
    public struct Decision: Sendable, Equatable, Decodable {
        public let pinned: String?
        public let rejected: [String]?
    }

    public let candidates: [Candidate]
    public let current: Current?
    public let decision: Decision?
}
