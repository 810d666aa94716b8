extension TitleReference {
    /// The same title in the one spelling that `sources` give its id; unchanged where its source is not among them.
    package func canonical(in sources: [(name: String, source: any ContentSource)]) -> TitleReference {
        guard let source = sources.first(where: { $0.name == self.source })?.source else { return self }
        return TitleReference(source: self.source, id: source.canonicalID(id))
    }
}
