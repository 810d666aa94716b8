internal import OnesheetCore

extension URITemplate {
    /// The expanded template (RFC 6570 §3). Omits variables that `values` does not have.
    func expand(_ values: [String: Value]) -> String {
        parts.map { part in
            switch part {
            case .literal(let text): Self.encode(text, allowReserved: true)
            case .expression(let kind, let variables): Self.expand(variables, as: kind, values: values)
            }
        }.joined()
    }

    func expand(_ values: [String: String]) -> String { expand(values.mapValues(Value.text)) }

    private static func expand(_ variables: [Variable], as kind: TemplateOperator, values: [String: Value]) -> String {
        let written = variables.compactMap { variable -> String? in
            guard let value = values[variable.name], value.isDefined else { return nil }
            return write(variable, value, as: kind)
        }
        return written.isEmpty ? "" : kind.first + written.joined(separator: kind.separator)
    }

    private static func write(_ variable: Variable, _ value: Value, as kind: TemplateOperator) -> String {
        func encoded(_ text: String) -> String { encode(text, allowReserved: kind.allowsReserved) }
        func named(_ name: String, _ text: String) -> String {
            kind.isNamed ? name + (text.isEmpty ? kind.ifEmpty : "=\(text)") : text
        }
        switch (value, variable.isExploded) {
        case (.text(let text), _):
            return named(
                variable.name,
                encoded(variable.prefix.map { String(String.UnicodeScalarView(text.unicodeScalars.prefix($0))) } ?? text))
        case (.list(let members), false): return named(variable.name, members.map(encoded).joined(separator: ","))
        case (.list(let members), true): return members.map { named(variable.name, encoded($0)) }.joined(separator: kind.separator)
        case (.pairs(let members), false):
            return named(variable.name, members.flatMap { [encoded($0.0), encoded($0.1)] }.joined(separator: ","))
        case (.pairs(let members), true):
            return members.map { name, text in
                let text = encoded(text)
                return kind.isNamed ? named(encoded(name), text) : "\(encoded(name))=\(text)"
            }.joined(separator: kind.separator)
        }
    }

    /// Escapes characters that a URI may not contain. If reserved characters are allowed, keeps existing escapes.
    private static func encode(_ text: String, allowReserved: Bool) -> String {
        guard allowReserved else { return PercentEncoding.encode(text) }
        let bytes = Array(text.utf8)
        var written = ""
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && isHex(bytes[index + 1]) && isHex(bytes[index + 2])
            if isEscape || ":/?#[]@!$&'()*+,;=".utf8.contains(byte) {
                written.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                written += PercentEncoding.encode(bytes: [byte])
            }
        }
        return written
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}
