public import FoundationEssentials

/// A question of a client to the service behind a source. The client asks this server as if it was the service.
public struct ServiceQuestion: Sendable {
    /// Path and query behind the service's base URL: `/movie/550?language=de-DE`. Questions with the same meaning have the same target, which
    /// has no key.
    public let target: String
    /// The answer that the server has from before, which the service may confirm by its entity tag.
    public let known: ServiceAnswer?
    private let images: (@Sendable (JSONValue) -> [ServiceImage])?
    private let fresh: @Sendable (JSONValue, Date) -> Double

    /// The source calls both functions on its own threads.
    /// - Parameters:
    ///   - images: the images of its subject that a document of the service names, as far as the source has them; `nil` if documents name none.
    ///   - fresh: the seconds for which a document is fresh that the service sends at a time.
    public init(
        _ target: String, known: ServiceAnswer? = nil, images: (@Sendable (JSONValue) -> [ServiceImage])? = nil,
        fresh: @escaping @Sendable (JSONValue, Date) -> Double
    ) {
        self.target = target
        self.known = known
        self.images = images
        self.fresh = fresh
    }

    /// The same question of a server that has this answer.
    package func knowing(_ answer: ServiceAnswer?) -> ServiceQuestion {
        ServiceQuestion(target, known: answer, images: images, fresh: fresh)
    }

    /// The images of its subject that `document` names.
    public func images(in document: JSONValue) -> [ServiceImage]? { images?(document) }

    /// The seconds for which `document` is fresh from `now` on.
    public func freshness(of document: JSONValue, at now: Date) -> Double { fresh(document, now) }
}

/// What clients ask a service about.
public enum ServiceSubject: Sendable, Equatable {
    /// The title with this id of the source.
    case title(String)
    /// The source's list with this name, and the number of its titles.
    case list(String, titles: Int)
}

/// An image that an answer of a service names, and that its clients ask for next.
public struct ServiceImage: Sendable, Equatable, Codable {
    public let kind: ImageKind
    /// The id that the source has it under: `/abc123.jpg`.
    public let id: String

    public init(_ kind: ImageKind, id: String) {
        self.kind = kind
        self.id = id
    }
}

/// The answer of a service to a client's question.
public struct ServiceAnswer: Sendable, Equatable, Codable {
    /// 200, or the status with which the service refuses the question.
    public var status: Int
    /// A JSON document.
    public var document: String
    /// The entity tag of the document.
    public var tag: String?
    /// The seconds for which it is fresh.
    public var fresh: Double
    /// The images of its subject that it names; `nil` if they are not known.
    public var images: [ServiceImage]?

    public init(status: Int = 200, document: String, tag: String? = nil, fresh: Double, images: [ServiceImage]? = nil) {
        self.status = status
        self.document = document
        self.tag = tag
        self.fresh = fresh
        self.images = images
    }
}

extension ServiceAnswer {
    /// The most bytes of a refusal, which is remembered in memory.
    package static let longestRefusal = 4096
    /// The most seconds for which an answer is fresh.
    package static let longestFresh = 31 * 86_400.0

    /// The answer within the limits: a short time of freshness instead of an impossible one, and no tag that cannot be sent back.
    /// - Throws: `SourceError.malformedAnswer` for a status that says nothing about the question, and for a long refusal.
    package func checked() throws(SourceError) -> ServiceAnswer {
        guard status == 200 || (400...499).contains(status) else {
            throw .malformedAnswer(reason: "its status is \(status)")
        }
        guard status == 200 || document.utf8.count <= Self.longestRefusal else {
            throw .malformedAnswer(reason: "its refusal has more than \(Self.longestRefusal) bytes")
        }
        var answer = self
        answer.fresh = fresh.isFinite ? min(max(fresh, 0), Self.longestFresh) : 0
        let isTag = tag.map { $0.utf8.count <= 256 && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } } ?? false
        if !isTag { answer.tag = nil }
        return answer
    }
}
