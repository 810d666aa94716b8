/// A title with its source. A request looks its source up by name here, once, and passes it on.
package struct FoundTitle: Sendable {
    /// With the canonical spelling of its id.
    package let title: TitleReference
    /// `nil` if the configuration has no source of the name.
    package let source: (any ContentSource)?
    /// Set if the source does not allow the URL that the title is, so only what is stored may be served.
    package var forbidden: Forbidden?

    /// What becomes of a title that is not allowed.
    package struct Forbidden: Sendable {
        /// The other titles that the URL may have been.
        package let others: [FoundTitle]
        /// The error if nothing is stored of any.
        package var reason: RequestError
    }

    /// - Parameter title: already has the canonical spelling of its id.
    package init(canonical title: TitleReference, source: (any ContentSource)?) {
        self.title = title
        self.source = source
    }

    /// Finds the source of `title`. The title keeps its spelling if `sources` does not have its source.
    package init(_ title: TitleReference, in sources: [(name: String, source: any ContentSource)]) {
        source = sources.source(named: title.source)
        self.title = source.map { TitleReference(source: title.source, id: $0.canonicalID(title.id)) } ?? title
    }
}

extension [(name: String, source: any ContentSource)] {
    /// The source of this name; `nil` if there is none.
    package func source(named name: String) -> (any ContentSource)? { first { $0.name.isExactly(name) }?.source }
}

extension TitleReference {
    /// The same title with the canonical spelling of its id; unchanged if `sources` does not have its source.
    package func canonical(in sources: [(name: String, source: any ContentSource)]) -> TitleReference {
        FoundTitle(self, in: sources).title
    }
}
