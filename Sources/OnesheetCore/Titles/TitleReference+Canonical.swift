extension TitleReference {
    /// The same title with the canonical spelling of its id; unchanged if `sources` does not have its source.
    package func canonical(in sources: [(name: String, source: any ContentSource)]) -> TitleReference {
        guard let source = sources.first(where: { $0.name == self.source })?.source else { return self }
        return TitleReference(source: self.source, id: source.canonicalID(id))
    }
}
