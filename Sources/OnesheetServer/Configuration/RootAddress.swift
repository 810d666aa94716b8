import OnesheetCore

/// The beginning of an address at the root: a signature, or a word in its place. No other path of the server begins like that, so both can
/// be at the root.
enum RootAddress {
    /// Those of imgproxy: base64url of 8 to 32 bytes (`Signature`), with this many characters if it is known.
    case imgproxy(length: Int?)
    /// Those of dialects: base64url of HMAC-SHA1, with or without the mark at its end.
    case dialect

    /// Whether `path` is an address of this kind.
    func begins(_ path: some StringProtocol) -> Bool {
        guard path.utf8.first == UInt8(ascii: "/"),
            let signature = Substring(path).dropFirst(bytes: 1).cut(at: "/")?.before
        else { return false }
        switch self {
        case .imgproxy(let length):
            if ["unsafe", "insecure", "_"].contains(where: { signature.isExactly($0) }) { return true }
            return (length.map { $0...$0 } ?? 11...43).contains(signature.utf8.count) && signature.utf8.allSatisfy(Self.isDigit)
        case .dialect:
            if signature.isExactly("unsafe") { return true }
            let digits = signature.utf8.last == UInt8(ascii: "=") ? signature.dropLast() : signature
            return digits.utf8.count == 27 && digits.utf8.allSatisfy(Self.isDigit)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
