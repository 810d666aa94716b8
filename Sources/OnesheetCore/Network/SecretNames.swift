/// The names of secrets, by their words: of keys and variables in a configuration, of header fields, and of parameters in URLs.
package enum SecretNames {
    private static let words = [
        "auth", "authorization", "bearer", "cookie", "credential", "credentials", "dsn", "hmac", "jwt", "key", "pass", "passphrase",
        "passwd", "password", "private", "pwd", "salt", "secret", "session", "sessionid", "sid", "sig", "signature", "token",
    ]
    /// Those that are parts of many other words: `design`, `inside`.
    private static let shortest = ["sid", "sig"]

    /// Whether a word of `name` is that of a secret, or ends with it: `apikey`, `access_token`, `X-Amz-Signature`, `AWSAccessKeyId`.
    /// `keyword` is none.
    package static func isOne(_ name: String) -> Bool {
        words(of: name).contains { part in words.contains { part.hasSuffix($0) } }
    }

    /// Whether `name` has a word of a secret anywhere: for names that are not ours, whose values are only shown.
    package static func mayBeOne(_ name: String) -> Bool {
        let name = name.lowercased()
        return isOne(name) || words.contains { !shortest.contains($0) && name.contains($0) }
    }

    /// The words of a name in lower case: between marks, and from each capital letter after a small one.
    private static func words(of name: String) -> [String] {
        var words = [""]
        var wasSmall = false
        for scalar in name.unicodeScalars {
            let isCapital = ("A"..."Z").contains(scalar)
            if !scalar.properties.isAlphabetic || isCapital && wasSmall { words.append("") }
            if scalar.properties.isAlphabetic { words[words.count - 1] += String(scalar).lowercased() }
            wasSmall = scalar.properties.isAlphabetic && !isCapital
        }
        return words
    }
}
