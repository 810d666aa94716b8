/// The reason for which a request is invalid or forbidden, before any work for it.
public enum RequestError: Error, Sendable, Equatable {
    /// An unknown name, with the nearest known one.
    case unknown(String)
    /// An option has an invalid value.
    case bad(option: String, value: String, reason: String)
    /// The form of the URL is invalid.
    case malformed(String)
    /// No key has signed the request.
    case badSignature
    /// The URL has expired at this time, in seconds since 1970.
    case expired(Int)
    /// The origin policy does not allow it.
    case forbidden(String)
    /// The server accepts only presets.
    case presetsOnly(option: String, presets: [String])
    /// The administrator's token is missing or wrong.
    case unauthorized
    /// The path does not exist.
    case noSuchPath(String)
    /// The path does not support this method. It supports these.
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
            "option “\(option)” is not allowed in URLs: this server accepts pr, exp and cb only; "
                + (presets.isEmpty ? "it has no presets" : "presets: \(presets.joined(separator: ", "))")
        case .unauthorized: "this needs the administrator's bearer token (configuration: admin.token)"
        case .noSuchPath(let path): "there is nothing at \(shown(path: path))"
        case .method(let allowed): "this path answers \(allowed.joined(separator: ", "))"
        }
    }
}
