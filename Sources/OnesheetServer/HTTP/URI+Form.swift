import Hummingbird
import HummingbirdCore
import OnesheetCore

extension URI {
    /// The parameters of the query as forms and `URLSearchParams` write them, with `+` for a space (WHATWG URL §5.1).
    var formParameters: FlatDictionary<Substring, Substring> {
        guard let query, query.utf8.contains(UInt8(ascii: "+")) else { return queryParameters }
        return URI("/?\(query.replacing(bytesOf: "+", with: "%20"))").queryParameters
    }
}
