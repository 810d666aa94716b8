import OnesheetCore
import Yams

/// A parsed configuration file, before it is decoded: YAML 1.1 with expanded variables, and the place of each key.
struct ConfigurationText {
    /// `nil` if the text is empty or not YAML.
    private(set) var node: Node?
    private(set) var value = ConfigurationValue.mapping([:])
    private(set) var places = ConfigurationPlaces()
    /// Mistakes that need no knowledge of the keys: invalid YAML, repeated keys, unset variables.
    private(set) var errors: [ConfigurationError] = []
    private let environment: [String: String]
    /// The keys that occur again later in the same section, by the name that stands in for them.
    private var repeated: [String: String] = [:]

    /// - Parameters:
    ///   - file: the name of the file, for the places of errors.
    ///   - base: the values of keys that the text does not have.
    init(_ text: String, file: String?, environment: [String: String], base: EnvironmentConfiguration? = nil) {
        self.environment = environment
        places.file = file
        do {
            node = try compose(text)
            if let base { (node, places.variables) = try base.completing(node) }
        } catch {
            errors.append(Self.error(error, in: file))
            return
        }
        value = read(node, at: "")
    }

    /// Composes `text`. Yams refuses a mapping with a repeated key as a whole, so the earlier of the two is renamed.
    private mutating func compose(_ text: String) throws -> Node? {
        var text = text
        while true {
            do {
                return try Yams.compose(yaml: text)
            } catch YamlError.duplicatedKeysInMapping(let names, let context) where repeated.count < Self.maxRepeated {
                guard let name = names.first, let standIn = Unicode.Scalar(0xE000 + UInt32(repeated.count)),
                    let renamed = Self.renaming(name, at: context.mark, to: standIn, in: text)
                else {
                    throw YamlError.duplicatedKeysInMapping(duplicates: names, context: context)
                }
                repeated[String(String.UnicodeScalarView(name.unicodeScalars.map { _ in standIn }))] = name
                text = renamed
            }
        }
    }

    private static let maxRepeated = 100

    /// Replaces each character of the key at `mark`, so that no other position changes.
    /// - Returns: `nil` if the text there is not `name` letter by letter, as in a key with escapes.
    private static func renaming(_ name: String, at mark: Mark, to standIn: Unicode.Scalar, in text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        var (start, line) = (0, 1)
        while line < mark.line {
            guard let end = scalars[start...].firstIndex(where: { $0 == "\n" }) else { return nil }
            (start, line) = (end + 1, line + 1)
        }
        start += mark.column - 1
        if start < scalars.count, scalars[start] == "\"" || scalars[start] == "'" { start += 1 }
        let letters = Array(name.unicodeScalars)
        guard !letters.isEmpty, start + letters.count <= scalars.count, Array(scalars[start..<start + letters.count]) == letters
        else {
            return nil
        }
        for index in start..<start + letters.count { scalars[index] = standIn }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func error(_ error: any Error, in file: String?) -> ConfigurationError {
        let (words, mark): (String, Mark?) =
            switch error as? YamlError {
            case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
                .composer(let context, let problem, let mark, _):
                ([context?.text, problem].compactMap(\.self).joined(separator: ": "), mark)
            case .duplicatedKeysInMapping(let names, let context):
                ("the key “\(names.first ?? "")” occurs twice", context.mark)
            default: ("\(error)", nil)
            }
        let place = mark.map { "line \($0.line), column \($0.column)" }
        var located = ConfigurationError(path: "", message: "not valid YAML: \(words)")
        if let file {
            located.place = mark.map { "\(file):\($0.line):\($0.column)" } ?? file
        } else if let place {
            located = ConfigurationError(path: "", message: "not valid YAML in \(place): \(words)")
        }
        return located
    }

    private mutating func read(_ node: Node?, at path: String) -> ConfigurationValue {
        guard let node else { return .mapping([:]) }
        places.note(value: node, at: path)
        switch node {
        case .scalar(let scalar):
            if scalar.style == .plain, ["", "~", "null"].contains(scalar.string) { return .null }
            do throws(ConfigurationError) {
                return .scalar(try expand(scalar.string, at: path))
            } catch {
                errors.append(error)
                return .null
            }
        case .sequence(let sequence):
            return .list(sequence.enumerated().map { index, node in read(node, at: ConfigurationPlaces.join(path, "[\(index)]")) })
        case .mapping(let mapping): return read(mapping, at: path)
        case .alias:
            errors.append(ConfigurationError(path: path, message: "aliases are not supported"))
            return .null
        }
    }

    private mutating func read(_ mapping: Node.Mapping, at path: String) -> ConfigurationValue {
        var values: [String: ConfigurationValue] = [:]
        for (key, node) in mapping {
            guard let name = key.string else {
                errors.append(ConfigurationError(path: path, message: "a key is not a string"))
                continue
            }
            if let twice = repeated[name] {
                let line = key.mark.map { ", first in line \($0.line)" } ?? ""
                errors.append(ConfigurationError(path: path, key: twice, message: "the key “\(twice)” occurs twice\(line)"))
                continue
            }
            let inner = ConfigurationPlaces.join(path, name)
            places.note(key: key, at: inner)
            values[name] = read(node, at: inner)
        }
        return .mapping(values)
    }

    private func expand(_ text: String, at path: String) throws(ConfigurationError) -> String {
        guard text != PrintedValue.hiddenText else {
            throw ConfigurationError(
                path: path, message: "“\(text)” stands for a secret that `config print` hides; enter the secret or a ${VARIABLE}")
        }
        var rest = text[...]
        var expanded = ""
        while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            expanded += rest[..<start.lowerBound]
            let inner = rest[start.upperBound..<end]
            let separator = inner.firstRange(of: ":-")
            let name = String(inner[..<(separator?.lowerBound ?? inner.endIndex)])
            if let value = environment[name], !value.isEmpty {
                expanded += value
            } else if let separator {
                expanded += inner[separator.upperBound...]
            } else {
                throw ConfigurationError(
                    path: path,
                    message:
                        "the environment variable \(name) is not set; `export \(name)=…` sets it, and ${\(name):-TEXT} has a default"
                )
            }
            rest = rest[rest.index(after: end)...]
        }
        return expanded + rest
    }
}
