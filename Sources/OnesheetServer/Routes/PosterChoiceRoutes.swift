import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
import OnesheetPipeline

/// `…/{id}/posters`, and `PUT` and `DELETE …/{id}/poster`: the selection of a title's poster among its candidates.
struct TitlePosters: Sendable {
    let posters: Posters
    let found: FoundTitle
    let selector: ImageSelector
    let administrator: Administrator
    let images: ImageContext
    private var image: ImageReference { ImageReference(found.title, selector) }

    /// The administrator's order: one of the first four members, or the last two.
    private struct Order: JSONBody {
        let candidate: Int?
        let reject: Int?
        let block: Bool?
        /// The ids of the title at members of its source; `null` takes a statement back.
        let match: [String: String?]?
        let decision: PosterDecision?
        let insteadOf: PosterDecision?

        enum CodingKeys: CodingKey, CaseIterable { case candidate, reject, block, match, decision, insteadOf }
    }

    func show(_ context: RequestContext) async throws -> Response { try await show(try await posters.choice(of: image), context) }

    /// - Parameter unchecked: the members whose stated ids could not be checked.
    private func show(_ choice: PosterChoice, _ context: RequestContext, unchecked: [String] = []) async throws -> Response {
        let isWhole = try administrator.isAsking(context)
        return try .json(PostersDocument(choice, try await posters.current(image), isWhole: isWhole, unchecked: unchecked))
    }

    /// A candidate's picture at wall size, for people who choose a poster. Candidate numbers can change within the hour, so the
    /// response has a short lifetime.
    func picture(_ context: RequestContext, _ number: Int) async throws -> Response {
        let address = ImageAddress(found, selector, transform: try images.options.transform(size: "w342"), negotiates: true)
        let transform = address.request(in: images.accept.choose(context.headers[.accept])).transform
        let wanted: ImageRequest
        do {
            wanted = try await posters.request(for: number, of: image, as: transform)
        } catch {
            images.countFailure()
            throw error
        }
        let facts = AddressFacts(varies: true, longestLifetime: 60)
        return try await images.answer(context, with: ParsedTarget(address: address, request: wanted, facts: facts))
    }

    /// `{"candidate": n}` pins, `{"reject": n}` rejects, and `{"block": true}` blocks the current picture. `{"match": {"tmdb": "496243"}}` states what
    /// the title is at a member of its source. `decision` replaces all of that, if it is still `insteadOf`.
    func put(_ context: RequestContext) async throws -> Response {
        try administrator.check(context)
        try context.request.checkedQuery(values: ["image"])
        let order = try await context.decodeBody(Order.self, example: "{\"candidate\": 2}")
        switch (order.candidate, order.reject, order.block, order.match, order.decision, order.insteadOf) {
        case (let number?, nil, nil, nil, nil, nil): _ = try await posters.pin(number, of: image)
        case (nil, let number?, nil, nil, nil, nil): _ = try await posters.reject(number, of: image)
        case (nil, nil, nil, let ids?, nil, nil):
            guard !ids.isEmpty, !ids.values.contains(where: { $0?.isEmpty ?? false }) else {
                throw RequestError.malformed(
                    "“match” needs members with their ids, such as {\"tmdb\": \"550\"}; null takes a statement back")
            }
            let unchecked = try await posters.match(found.title, as: ids)
            // It is stated, also if no member has candidates.
            return try await show(try await posters.knownChoice(of: image), context, unchecked: unchecked)
        case (nil, nil, true?, nil, nil, nil):
            guard let source = found.source else { throw images.pipeline.unknownSource(of: found.title) }
            _ = try await posters.block(image, from: source)
        case (nil, nil, nil, nil, let decision?, let before?):
            try await posters.decide(decision, insteadOf: before, for: image)
        default:
            throw RequestError.malformed(
                "the body needs exactly one of “candidate”, “reject”, “block”: true, “match”, and “decision” with “insteadOf”")
        }
        return try await show(context)
    }

    /// Forgets the title's pins, rejections and matches.
    func delete(_ context: RequestContext) async throws -> Response {
        try administrator.check(context)
        try context.request.checkedQuery(values: ["image"])
        try await posters.forget(image)
        return try await show(context)
    }
}

/// `GET /blocked/`, `PUT` and `DELETE /blocked/{hash}`: pictures that are never selected. Requires the administrator's token.
struct BlockedRoute: Route {
    let prefix = "/blocked/"
    let isSlashOptional = true
    let methods: [HTTPTypes.HTTPRequest.Method] = [.get, .head, .put, .delete]
    let posters: Posters
    let administrator: Administrator

    private struct Document: Encodable {
        let blocked: [String]
    }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        try administrator.check(context)
        if context.method == .put || context.method == .delete {
            guard let hash = PerceptualHash(rest) else {
                throw RequestError.malformed("“\(rest)” is not the hash of an image; a hash has 16 hexadecimal digits")
            }
            try await posters.setBlocked(context.method == .put, for: hash)
        } else if !rest.isEmpty {
            throw RequestError.noSuchPath(context.uri.path)
        }
        return try .json(Document(blocked: try await posters.blocked().map(\.description)))
    }
}
