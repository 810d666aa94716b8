/// Why a request cannot be understood or is not allowed, before anything was done for it.
public enum RequestError: Error, Sendable, Equatable {
    /// A name that is not known, with the nearest one.
    case unknown(String)
    /// An option has a value that it cannot have.
    case bad(option: String, value: String, reason: String)
    /// The URL's form is wrong.
    case malformed(String)
    /// No key has signed this.
    case badSignature
    /// The URL was valid until this moment, in seconds since 1970.
    case expired(Int)
    /// The origin policy does not allow it.
    case forbidden(String)
    /// This server makes what its presets say, and nothing else.
    case presetsOnly(option: String, presets: [String])
    /// The administrator's token is missing or wrong.
    case unauthorized
    /// There is nothing at this path.
    case noSuchPath(String)
    /// The path does not know this method; it knows these.
    case method(allowed: [String])
}

extension RequestError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let message): message
        case .bad(let option, let value, let reason): "option “\(option)”: “\(value)” \(reason)"
        case .malformed(let message): message
        case .badSignature: "the signature does not match the path"
        case .expired: "this URL has expired"
        case .forbidden(let message): message
        case .presetsOnly(let option, let presets):
            "option “\(option)” is not for URLs here: this server accepts pr, exp and cb only; presets: \(presets.joined(separator: ", "))"
        case .unauthorized: "this needs the administrator's bearer token (configuration: admin.token)"
        case .noSuchPath(let path): "there is nothing at \(path)"
        case .method(let allowed): "this path answers \(allowed.joined(separator: ", "))"
        }
    }
}
