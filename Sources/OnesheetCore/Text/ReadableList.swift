/// The elements of a list from outside that can be decoded, so that a damaged one does not take the others with it. Decoding fails if there
/// are elements and none can be decoded: then the form of the list has changed.
public struct ReadableList<Element: Decodable>: Decodable {
    /// The elements in their order, and a reason for each that is missing.
    public let parts: (elements: [Element], damage: [String])

    public init(from decoder: any Decoder) throws {
        var (elements, damage) = ([Element](), [any Error]())
        for attempt in try [Attempt](from: decoder) {
            switch attempt.result {
            case .success(let element): elements.append(element)
            case .failure(let error): damage.append(error)
            }
        }
        if elements.isEmpty, let first = damage.first { throw first }
        parts = (elements, damage.map { "\($0)" })
    }

    /// Its decoding never fails, so the decoder goes on to the next element.
    private struct Attempt: Decodable {
        let result: Result<Element, any Error>

        init(from decoder: any Decoder) throws { result = Result { try Element(from: decoder) } }
    }
}
