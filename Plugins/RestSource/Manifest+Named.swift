internal import FoundationEssentials
internal import OnesheetCore
internal import Yams

extension Manifest {
    /// Whether a manifest with that name is in a file of that name.
    static func isFile(_ name: String) -> Bool { shipped[name] == nil && name.contains { $0 == "/" || $0 == "." } }

    /// The manifest with that name, or in that file.
    static func named(_ name: String) throws(ConfigurationError) -> Manifest {
        if let yaml = shipped[name] { return try decoded(yaml, name) }
        guard isFile(name) else {
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
        let node: Node?
        do { node = try Yams.compose(yaml: yaml) } catch {
            throw ConfigurationError(path: "manifest", message: "“\(name)” is not YAML: \(error)")
        }
        do {
            return try ConfigurationDecoder().decode(Manifest.self, from: node.map(ConfigurationValue.init) ?? .null)
        } catch {
            var located = error.under("manifest")
            located.place = "\(name):\(node?.mark(of: error)?.description ?? "1:1")"
            throw located
        }
    }
}

extension Node {
    /// The position of the wrong key or value, or of the nearest parent that exists.
    fileprivate func mark(of error: ConfigurationError) -> Mark? {
        var node = self
        for key in error.path.pieces(at: ".") {
            let inner: Node? =
                if let nodes = node.sequence, let index = Int(key.dropFirst().dropLast()), nodes.indices.contains(index) {
                    nodes[index]
                } else {
                    node.mapping?[String(key)]
                }
            guard let inner else { break }
            node = inner
        }
        let wrong = error.key.flatMap { key in node.mapping?.keys.first { $0.string == key } }
        return (wrong ?? node).mark
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
