import FoundationEssentials
import HTTPTypes
import Hummingbird
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// A part of the address space that names images, in a grammar of its own.
protocol ImageRoute: Route {
    var images: ImageContext { get }
    /// Whether the query belongs to the address.
    var readsQuery: Bool { get }

    /// Reads what follows the prefix, percent-encoded, with the query if it is read, and checks the signature if there is one.
    /// - Returns: `nil` if that is the address of something else, which `other` answers.
    func address(_ rest: Substring) throws(RequestError) -> ImageAddress?

    /// The response at an address that is not an image's.
    func other(_ rest: Substring, _ request: Request) async throws -> Response
}

extension ImageRoute {
    var readsQuery: Bool { false }

    func other(_ rest: Substring, _ request: Request) async throws -> Response { throw RequestError.noSuchPath(prefix + rest) }

    /// Reads an address and checks that it may be asked for at `now`, and that its source is there.
    func read(_ rest: Substring, at now: Date) throws -> ImageAddress? {
        guard let address = try address(rest) else { return nil }
        try address.checkExpiry(at: now.timeIntervalSince1970)
        try images.pipeline.check(address.title)
        return address
    }

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        let query = readsQuery ? (request.head.path ?? "").cut(at: "?").map { "?\($0.after)" } ?? "" : ""
        guard let address = try read(rest + query, at: images.clock.now) else { return try await other(rest, request) }
        let target = images.target(address, in: address.negotiates ? images.accept.choose(request.headers[.accept]) : nil)
        return try await images.answer(target, after: nil, request)
    }
}

/// What all routes to images share.
struct ImageContext: Sendable {
    let pipeline: Pipeline
    /// Sources by name, in the order of the configuration.
    let sources: [(name: String, source: any ContentSource)]
    let options: ImageOptions
    let signature: Signature
    let accept: Accept
    let clock: WallClock

    /// What `address` asks for.
    /// - Parameter format: the one that was negotiated, if any.
    func target(_ address: ImageAddress, in format: ImageFormat?) -> ParsedTarget {
        let request = address.request(in: format)
        let facts = AddressFacts(
            varies: address.negotiates, isShared: address.isShared,
            isVersioned: sources.first { $0.name.isExactly(request.title.source) }?.source.isVersioned ?? false,
            canonical: CanonicalPath(options: options, signature: signature).path(
                to: request.title, as: request.transform, expires: address.expires))
        return ParsedTarget(address: address, request: request, facts: facts)
    }

    /// The response to `request`, which asks for `target`; all addresses of images end here.
    /// - Parameter lookUp: how far looking it up has come, if the fast path has begun.
    func answer(_ target: ParsedTarget, after lookUp: CacheLookUp?, _ request: Request) async throws -> Response {
        let answer = try await pipeline.image(forChecked: target.request, after: lookUp)
        try target.address.checkSides(of: answer.entry)
        let image = ImageResponse(answer: answer, address: target.facts)
        let response = image.response(to: request.method, request.headers, at: clock.now)
        if request.method == .get, response.status.kind == .successful {
            try ClientRequest.current?.hold(answer.entry.body, isInTier: answer.isFromMemory)
        }
        return response
    }
}
