internal import OnesheetCore

/// The content codings that a client accepts (RFC 9110 §12.5.3).
package struct ContentCodings {
    private var qualities: [String: Double] = [:]

    /// - Parameter field: the request's `Accept-Encoding`; without it the client accepts no coding.
    package init(_ field: String?) {
        for part in (field ?? "").pieces(at: ",") {
            let words = part.pieces(at: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercasedASCII() }
            guard let name = words.first, !name.isEmpty else { continue }
            let quality = words.dropFirst().first { $0.starts(withBytesOf: "q=") }
            qualities[name] = quality.map { Double($0.dropFirst(bytes: 2)) ?? 0 } ?? 1
        }
    }

    /// How much the client likes `coding`, which is in lower case: 0 if it does not accept it.
    package func quality(of coding: String) -> Double { qualities[coding] ?? qualities["*"] ?? 0 }
}
