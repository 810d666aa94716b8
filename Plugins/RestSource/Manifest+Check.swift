internal import OnesheetCore

extension Manifest {
    /// - Parameter name: that of a built-in manifest. The operator knows of it only which variables it needs.
    /// - Throws: `ConfigurationError` for the first undefined variable or impossible value.
    func check(given: [String: String], named name: String? = nil) throws(ConfigurationError) {
        guard token == nil || given["token"] == nil else {
            throw ConfigurationError(
                path: "variables.token", message: "is the token that the service gives (“token” of the manifest)")
        }
        let check = VariableCheck(given: Set(given.keys), hasToken: token != nil, manifest: name)
        try check.headers(headers, at: "headers")
        try check.headers(query, at: "query")
        if let token {
            try VariableCheck(given: check.given, hasToken: false, manifest: name).request(token.request, at: "token", more: [])
        }
        let ownLists =
            TitleQuery.Period.allCases.map { ($0 == .day ? "list" : "periods.\($0.rawValue)", list(by: $0)) } + [("search", search)]
        for (path, list) in ownLists {
            guard let list else { continue }
            try check.list(list, at: path, more: path == "search" ? ["query"] : dates == nil ? [] : ["date", "day"])
        }
        for (name, list, variables) in lists?.all ?? [] {
            try check.list(list, at: "lists.\(name)", more: Set(variables))
        }
        for (index, list) in (genres?.all ?? []).enumerated() {
            let path = "genres.[\(index)]"
            try check.request(list.request, at: path, more: [])
            try check.names(list.id.names.union(list.name.names), at: path, more: [])
            guard defaults?[Self.language] != nil, list.request.allNames.contains(Self.language) else {
                throw ConfigurationError(
                    path: path, message: "needs the variable “language” in its request, and a default for it under “defaults”")
            }
        }
        if let title { try check.title(title, at: "title", more: ["id"]) }
        if let candidates { try check.candidates(candidates, at: "candidates", more: ["id"]) }
        if let files {
            guard !files.url.hasPlaces else { throw ConfigurationError(path: "files", message: Phrase.problem(files.url.text)) }
            try check.names(files.url.names, at: "files", more: ["file"])
        }
        try checkCompleteness()
        for (index, form) in (cases ?? []).enumerated() {
            let more = Set(form.id.names + ["id"])
            if let title = form.title { try check.title(title, at: "cases.[\(index)].title", more: more) }
            if let candidates = form.candidates { try check.candidates(candidates, at: "cases.[\(index)].candidates", more: more) }
            if let resolve = form.resolve {
                try check.request(resolve.request, at: "cases.[\(index)].resolve", more: more)
                try check.names(resolve.id.names, at: "cases.[\(index)].resolve.id", more: more)
            }
            guard (form.resolve == nil) != (form.title == nil && form.candidates == nil) else {
                throw ConfigurationError(
                    path: "cases.[\(index)]", message: "needs “title”, “candidates” or both, or else “resolve”")
            }
        }
        if let rate, !(rate > 0 && rate.isFinite) {
            throw ConfigurationError(path: "rate", message: "needs a number of requests per second above 0")
        }
    }

    private func checkCompleteness() throws(ConfigurationError) {
        guard !listsTitles || (list != nil && dates == nil) else {
            throw ConfigurationError(path: "title", message: "is missing, and there is no “list” that has all titles")
        }
        guard candidates != nil || (cases ?? []).contains(where: { $0.candidates != nil }) else {
            throw ConfigurationError(path: "candidates", message: "is missing")
        }
    }
}

extension ListRequest {
    fileprivate func check(at path: String) throws(ConfigurationError) {
        for (key, number) in [("perPage", perPage), ("lastPage", lastPage)] {
            guard let number, number < 1 else { continue }
            throw ConfigurationError(path: "\(path).\(key)", message: "needs a number from 1")
        }
        for (key, number) in [("firstPage", firstPage), ("firstOffset", firstOffset)] {
            guard let number, number < 0 else { continue }
            throw ConfigurationError(path: "\(path).\(key)", message: "needs a number from 0")
        }
        guard perPage != nil || !request.allNames.contains("offset") else {
            throw ConfigurationError(path: "\(path).perPage", message: "is missing; {offset} is counted with it")
        }
    }
}

/// Checks that each variable has a value.
private struct VariableCheck {
    /// The variables of the configuration.
    let given: Set<String>
    /// Whether headers have `token` from an exchange.
    let hasToken: Bool
    /// The name of a built-in manifest.
    let manifest: String?

    func names(_ names: Set<String>, at path: String, more: Set<String>) throws(ConfigurationError) {
        let known = given.union(more)
        guard let missing = names.subtracting(known).min() else { return }
        if let manifest {
            let variable = "\(manifest)_\(missing)".uppercased().replacing("-", with: "_")
            throw ConfigurationError(
                path: "variables.\(missing)",
                message: "is missing; write variables: { \(missing): \"${\(variable)}\" }, and set \(variable) in the environment")
        }
        throw ConfigurationError(
            path: path, message: "\(unknownName(missing, kind: "variable", known: known)) (values belong under “variables”)")
    }

    /// Headers alone may have the token: addresses are shown and recorded.
    func headers(_ headers: [String: Phrase]?, at path: String, more: Set<String> = []) throws(ConfigurationError) {
        for (name, phrase) in headers ?? [:] where phrase.hasPlaces {
            throw ConfigurationError(path: "\(path).\(name)", message: Phrase.problem(phrase.text))
        }
        try names(headers?.names ?? [], at: path, more: hasToken ? more.union(["token"]) : more)
    }

    func request(_ request: RestRequest, at path: String, more: Set<String>) throws(ConfigurationError) {
        try headers(request.headers, at: "\(path).headers", more: more)
        try names(request.url.names, at: "\(path).\(request.body == nil ? "get" : "post")", more: more)
        try names(request.body?.names ?? [], at: "\(path).json", more: more)
    }

    func list(_ list: ListRequest, at path: String, more: Set<String>) throws(ConfigurationError) {
        try list.check(at: path)
        try request(list.request, at: path, more: more.union(list.perPage == nil ? ["page"] : ["page", "offset"]))
        try names(list.fields.names, at: "\(path).fields", more: more)
    }

    func title(_ title: TitleRequest, at path: String, more: Set<String>) throws(ConfigurationError) {
        try request(title.request, at: path, more: more)
        try names(title.fields.names, at: "\(path).fields", more: more)
    }

    func candidates(_ candidates: CandidatesRequest, at path: String, more: Set<String>) throws(ConfigurationError) {
        let more = more.union(["name"])
        for (name, phrase) in candidates.with ?? [:] {
            guard !phrase.hasPlaces else {
                throw ConfigurationError(path: "\(path).with.\(name)", message: Phrase.problem(phrase.text))
            }
            try names(phrase.names, at: "\(path).with.\(name)", more: more)
        }
        try request(candidates.request, at: path, more: more.union(candidates.with?.keys.map { $0 } ?? []))
        try names(candidates.fields.names, at: "\(path).fields", more: more)
    }
}
