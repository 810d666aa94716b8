package import FoundationEssentials

extension JSONEncoder {
    /// An encoder for documents that people may read too.
    package static var document: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}
