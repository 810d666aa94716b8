internal import OnesheetCore

/// Requests for ids of a certain form, such as `tv-{show}`: others for the title and its candidates, or one that resolves the id.
struct Case: Sendable, Decodable {
    var id: IDForm
    var title: TitleRequest?
    var candidates: CandidatesRequest?
    var resolve: Resolution?

    /// A request for the source's own id.
    struct Resolution: Sendable, Decodable {
        var request: RestRequest
        /// The place of the id.
        var id: Field

        private enum CodingKeys: CodingKey { case id }

        init(from decoder: any Decoder) throws {
            request = try RestRequest(from: decoder)
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Field.self, forKey: .id)
        }
    }
}

/// The form of an id: `tv-{show}-s{season}`. Each variable stands for one or more letters and digits of ASCII.
struct IDForm: Sendable, Decodable {
    let text: String
    let names: [String]
    /// The texts before, between and after the variables.
    private let literals: [String]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let form = IDForm(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription:
                    "“\(text)” is not the form of an id, such as tv-{show}-s{season}, with a text between its variables")
        }
        self = form
    }

    /// Parses a form; `nil` if the text is invalid.
    init?(_ text: String) {
        guard let template = URITemplate(text) else { return nil }
        var (names, literals) = ([String](), [""])
        for part in template.parts {
            switch part {
            case .literal(let literal): literals[literals.count - 1] += literal
            case .expression(.simple, let variables):
                guard variables.count == 1, !variables[0].isExploded, variables[0].prefix == nil, !names.contains(variables[0].name)
                else { return nil }
                names.append(variables[0].name)
                literals.append("")
            case .expression: return nil
            }
        }
        // A variable ends where its letters and digits end, so neither may begin what follows.
        guard !names.isEmpty, literals.dropFirst().dropLast().allSatisfy({ !$0.isEmpty }),
            literals.dropFirst().allSatisfy({ !Self.isWordByte($0.utf8.first) })
        else { return nil }
        self.text = text
        self.names = names
        self.literals = literals
    }

    /// The values of the variables; `nil` if the id has another form.
    func values(of id: String) -> [String: String]? {
        var rest = Array(id.utf8)[...]
        var values: [String: String] = [:]
        guard Self.skip(literals[0], &rest) else { return nil }
        for (name, literal) in zip(names, literals.dropFirst()) {
            let value = rest.prefix { Self.isWordByte($0) }
            guard !value.isEmpty else { return nil }
            values[name] = String(decoding: value, as: UTF8.self)
            rest = rest[value.endIndex...]
            guard Self.skip(literal, &rest) else { return nil }
        }
        return rest.isEmpty ? values : nil
    }

    private static func skip(_ literal: String, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: literal.utf8) else { return false }
        rest = rest.dropFirst(literal.utf8.count)
        return true
    }

    private static func isWordByte(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
