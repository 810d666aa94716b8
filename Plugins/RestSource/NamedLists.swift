internal import OnesheetCore

/// Lists by name: `lists: { popular: …, "collection-{collection}": … }`. A name may be a form, whose variables its request has.
struct NamedLists: Sendable, Decodable {
    private let lists: [String: ListRequest]
    private let forms: [String: IDForm]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        lists = try container.decode([String: ListRequest].self)
        var forms: [String: IDForm] = [:]
        for name in lists.keys where name.contains("{") {
            guard let form = IDForm(name) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "“\(name)” is not the form of a name, such as collection-{collection}")
            }
            forms[name] = form
        }
        self.forms = forms
    }

    /// All names and forms of names, sorted.
    var names: [String] { lists.keys.sorted() }

    /// All lists with their names and the variables of these, sorted.
    var all: [(name: String, list: ListRequest, variables: [String])] {
        lists.sorted { $0.key < $1.key }.map { ($0.key, $0.value, forms[$0.key]?.names ?? []) }
    }

    /// The list of a name, and the values of the variables in it; `nil` if there is none.
    func list(_ name: String) -> (list: ListRequest, values: [String: String])? {
        if forms[name] == nil, let list = lists[name] { return (list, [:]) }
        for (text, list) in lists.sorted(by: { $0.key < $1.key }) {
            if let values = forms[text]?.values(of: name) { return (list, values) }
        }
        return nil
    }
}
