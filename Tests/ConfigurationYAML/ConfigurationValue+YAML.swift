package import OnesheetCore
import Yams

extension ConfigurationValue {
    /// Parses YAML like the server, without environment variables; `type` is the server's own key.
    package init(yaml: String) throws {
        guard let node = try Yams.compose(yaml: yaml) else {
            self = .null
            return
        }
        self.init(node)
        if case .mapping(var keys) = self {
            keys["type"] = nil
            self = .mapping(keys)
        }
    }

    private init(_ node: Node) {
        switch node {
        case .scalar(let scalar): self = node.null == nil ? .scalar(scalar.string) : .null
        case .sequence(let nodes): self = .list(nodes.map(Self.init))
        case .mapping(let pairs):
            self = .mapping(
                Dictionary(pairs.map { ($0.key.string ?? "", Self($0.value)) }, uniquingKeysWith: { _, last in last }))
        case .alias: self = .null
        }
    }
}
