public import OnesheetValues

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The candidates for a title's poster, best first (`GET /sources/{source}/titles/{id}/posters`).
public struct PosterCandidates: Sendable, Equatable, Decodable {
    /// One picture that may be the poster. What the source says about it are members of their own: `candidate.language`.
    @dynamicMemberLookup
    public struct Candidate: Sendable, Equatable, Decodable {
        /// Its number, from 1. Numbers can change within the hour, names do not.
        public let candidate: Int
        /// The URL of the picture, or its name within the source.
        public let name: String
        /// `chosen`, `pinned` or `rejected`; `nil` for all others.
        public let state: String?
        /// From 0 to about 1.5; `nil` if the source knows its poster.
        public let score: Double?
        /// The parts of the score, in words.
        public let reasons: [String]?
        /// What the source says about the picture.
        public let facts: CandidateFacts
        /// The perceptual hash, if the picture has been fetched.
        public let hash: String?

        private enum CodingKeys: CodingKey { case candidate, name, state, score, reasons, hash }

        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            candidate = try members.decode(Int.self, forKey: .candidate)
            name = try members.decode(String.self, forKey: .name)
            state = try members.decodeIfPresent(String.self, forKey: .state)
            score = try members.decodeIfPresent(Double.self, forKey: .score)
            reasons = try members.decodeIfPresent([String].self, forKey: .reasons)
            facts = try CandidateFacts(from: decoder)
            hash = try members.decodeIfPresent(String.self, forKey: .hash)
        }

        public subscript<Value>(dynamicMember fact: KeyPath<CandidateFacts, Value>) -> Value { facts[keyPath: fact] }
    }

    /// The poster that the server has at present.
    public struct Current: Sendable, Equatable, Decodable {
        /// The URL of the picture, or its name within the source.
        public let name: String
        /// The page that shows the picture.
        public let page: String?
        /// The name of that site.
        public let site: String?
        /// The time when the picture was fetched.
        public let fetched: Date?
        /// The media type, such as `image/jpeg`.
        public let mediaType: String?
        /// The size in bytes.
        public let bytes: Int?
        /// The hash by which the picture is blocked.
        public let hash: String?
    }

    /// The administrator's decision, by the names of candidates.
    public struct Decision: Sendable, Equatable, Decodable {
        /// The name of the pinned candidate, if there is one.
        public let pinned: String?
        /// The names of rejected candidates.
        public let rejected: [String]?
    }

    /// The candidates, best first.
    public let candidates: [Candidate]
    /// The present poster; `nil` if none is in the cache.
    public let current: Current?
    /// The administrator's decision, if there is one.
    public let decision: Decision?
}
