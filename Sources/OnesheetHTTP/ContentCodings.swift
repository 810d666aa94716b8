/// The content codings that a client accepts (RFC 9110 §12.5.3).
package struct ContentCodings {
    private let values: WeightedValues

    /// - Parameter field: the request's `Accept-Encoding`; without it the client accepts no coding.
    package init(_ field: String?) { values = WeightedValues(field) }

    /// How much the client likes `coding`, which is in lower case: 0 if it does not accept it.
    package func quality(of coding: String) -> Double { values.quality(of: coding) ?? values.quality(of: "*") ?? 0 }
}
