import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import OnesheetCore

/// `/explain?url=…[&fetch][&accept=…]`: the explanation of the image at an address. Fetches nothing without `fetch`.
struct ExplainRoute: Route {
    let prefix = "/explain"
    let explainer: Explainer
    let administrator: Administrator

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        let query = context.uri.formParameters
        guard let address = query["url"], !address.isEmpty else {
            throw RequestError.malformed("the parameter “url” is missing: /explain?url=/t/p/w342/sample/1, percent-encoded")
        }
        if query["fetch"] != nil { try administrator.checkLists(context) }
        let isAdministrator = try administrator.isAsking(context)
        let accept = query["accept"].map(String.init) ?? context.headers[.accept]
        let depth = Explainer.Depth(
            fetches: query["fetch"] != nil, countsPurge: isAdministrator, revealsSources: isAdministrator)
        var response = try Response.json(try await explainer.explain(String(address), accept: accept, depth))
        // The explanation changes with each request for the image.
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
