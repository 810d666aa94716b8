internal import OnesheetCore

extension Manifest.CandidatesRequest {
    /// Whether the request contains the title's name, which costs a call for the title.
    var needsName: Bool { self.get.names.contains("name") || with?.values.contains { $0.names.contains("name") } ?? false }
}

extension Manifest {
    /// - Throws: `ConfigurationError` for the first undefined variable.
    func check(given: [String: String]) throws(ConfigurationError) {
        let given = Set(given.keys)
        let forLists = given.union(dates == nil ? ["page"] : ["page", "date", "day"])
        let forCandidates = given.union(["id", "name"])
        try Self.check(headers?.values.reduce(into: Set()) { $0.formUnion($1.names) } ?? [], at: "headers", known: given)
        for period in TitleQuery.Period.allCases {
            let path = period == .day ? "list.get" : "periods.\(period.rawValue).get"
            try Self.check(list(by: period)?.get.names ?? [], at: path, known: forLists)
        }
        for (path, request) in [
            ("list", list), ("search", search), ("periods.week", periods?.week), ("periods.weekend", periods?.weekend),
            ("periods.weekdays", periods?.weekdays),
        ] {
            guard let perPage = request?.perPage, perPage < 1 else { continue }
            throw ConfigurationError(path: "\(path).perPage", message: "needs a number from 1")
        }
        try Self.check(search?.get.names ?? [], at: "search.get", known: given.union(["query", "page"]))
        try Self.check(title.get.names, at: "title.get", known: given.union(["id"]))
        try Self.check(
            candidates.headers?.values.reduce(into: Set()) { $0.formUnion($1.names) } ?? [], at: "candidates.headers", known: given)
        for (name, phrase) in candidates.with ?? [:] {
            try Self.check(phrase.names, at: "candidates.with.\(name)", known: forCandidates)
        }
        try Self.check(
            candidates.get.names, at: "candidates.get", known: forCandidates.union(candidates.with?.keys.map { $0 } ?? []))
        try Self.check(candidates.fields.prefix?.names ?? [], at: "candidates.fields.prefix", known: forCandidates)
    }

    private static func check(_ names: Set<String>, at path: String, known: Set<String>) throws(ConfigurationError) {
        guard let missing = names.subtracting(known).min() else { return }
        throw ConfigurationError(
            path: path, message: "\(unknownName(missing, kind: "variable", known: known)) (values belong under “variables”)")
    }
}
