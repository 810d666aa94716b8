internal import FoundationEssentials
internal import OnesheetCore
internal import Yams

extension Manifest {
    /// The manifest with that name, or in that file.
    static func named(_ name: String) throws(ConfigurationError) -> Manifest {
        if let yaml = shipped[name] { return try decoded(yaml, name) }
        guard name.contains(where: { $0 == "/" || $0 == "." }) else {
            throw ConfigurationError(path: "manifest", message: unknownName(name, kind: "manifest", known: shipped.keys.sorted()))
        }
        let yaml: String
        do {
            yaml = try String(contentsOfFile: name, encoding: .utf8)
        } catch {
            throw ConfigurationError(path: "manifest", message: "“\(name)” cannot be read")
        }
        return try decoded(yaml, name)
    }

    static func decoded(_ yaml: String, _ name: String) throws(ConfigurationError) -> Manifest {
        let value: ConfigurationValue
        do {
            value = try Yams.compose(yaml: yaml).map(ConfigurationValue.init) ?? .null
        } catch {
            throw ConfigurationError(path: "manifest", message: "“\(name)” is not YAML: \(error)")
        }
        do {
            return try ConfigurationDecoder().decode(Manifest.self, from: value)
        } catch {
            throw error.under("manifest \(name)")
        }
    }
}

extension ConfigurationValue {
    fileprivate init(_ node: Node) {
        switch node {
        case .scalar(let scalar): self = node.null == nil ? .scalar(scalar.string) : .null
        case .sequence(let nodes): self = .list(nodes.map(Self.init))
        case .mapping(let pairs):
            self = .mapping(Dictionary(pairs.map { ($0.key.string ?? "", Self($0.value)) }, uniquingKeysWith: { _, last in last }))
        case .alias: self = .null
        }
    }
}
