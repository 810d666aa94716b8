package import OnesheetCore

/// A request in canonical form. Equal requests in different dialects are equal values and share one cache entry.
package struct ImageRequest: Hashable, Sendable {
    package let title: TitleReference
    package let transform: Transform
    /// The key of the variant. Its text takes longer than a look-up, so it is made once.
    package let key: CacheKey

    package init(_ title: TitleReference, _ transform: Transform) {
        (self.title, self.transform) = (title, transform)
        key = CacheKey(.variant, "\(title.description)#\(transform.canonicalText)")
    }

    /// The key of the original that the variant is made of.
    package static func originalKey(_ title: TitleReference) -> CacheKey { CacheKey(.original, title.description) }
}

/// Permission to do work for a client: to ask a source, an origin or a worker. Answers from a tier need none.
///
/// The server sets the current permit while it handles a client's request. Without one, everything is allowed.
package struct MissPermit: Sendable {
    /// The permit of the request that the current task works for.
    @TaskLocal package static var current: MissPermit?

    /// The client whose turns the work uses.
    let client: ClientKey
    private let check: @Sendable () throws(PipelineError) -> Void

    /// - Parameters:
    ///   - client: the client that the work is for; `nil` if it is unknown.
    ///   - check: throws if the client may cause no further work at present.
    package init(for client: ClientKey? = nil, _ check: @escaping @Sendable () throws(PipelineError) -> Void) {
        (self.client, self.check) = (client ?? .anonymous, check)
    }

    /// Takes the current permit, just before the work begins.
    /// - Throws: `PipelineError.tooManyRequests` or `.overloaded`.
    static func take() throws(PipelineError) { try current?.check() }
}
