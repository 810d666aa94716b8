/// A title with its source. A request looks its source up by name here and passes it on. Only an address of a dialect has looked before.
package struct FoundTitle: Sendable {
    /// With the canonical spelling of its id.
    package let title: TitleReference
    /// `nil` if the configuration has no source of the name.
    package let source: (any ContentSource)?

    /// - Parameter title: already has the canonical spelling of its id.
    package init(canonical title: TitleReference, source: (any ContentSource)?) {
        self.title = title
        self.source = source
    }

    /// Finds the source of `title`. The title keeps its spelling if `sources` does not have its source.
    package init(_ title: TitleReference, in sources: [(name: String, source: any ContentSource)]) {
        source = sources.first { $0.name.isExactly(title.source) }?.source
        self.title = source.map { TitleReference(source: title.source, id: $0.canonicalID(title.id)) } ?? title
    }
}

extension TitleReference {
    /// The same title with the canonical spelling of its id; unchanged if `sources` does not have its source.
    package func canonical(in sources: [(name: String, source: any ContentSource)]) -> TitleReference {
        FoundTitle(self, in: sources).title
    }
}
