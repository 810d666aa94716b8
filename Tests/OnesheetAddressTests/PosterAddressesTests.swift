import OnesheetValues
import XCTest

@testable import OnesheetAddress

/// Addresses of clients, parsed as the server parses them.
final class PosterAddressesTests: XCTestCase {
    private static let title = TitleReference(source: "sample", id: "1")
    private static let keys = [SigningKey(key: Array("key".utf8), salt: Array("salt".utf8))]

    func testThatTheSmallestSharpSizeIsChosen() {
        let table: [(width: Double, scale: Double, name: String)] = [
            (0, 1, "w92"), (-5, 2, "w92"), (92, 1, "w92"), (92.5, 1, "w154"), (46, 2, "w92"), (46.1, 2, "w154"), (154, 1, "w154"),
            (114, 3, "w342"), (115, 3, "w500"), (185, 1, "w185"), (171, 2, "w342"), (250, 2, "w500"), (260, 3, "w780"),
            (261, 3, "w780"), (10_000, 3, "w780"), (.infinity, 1, "w780"), (.nan, 1, "w780"),
        ]
        for (width, scale, name) in table {
            XCTAssertEqual(SizeLadder.name(forWidth: width, scale: scale), name, "\(width) × \(scale)")
        }
        XCTAssertEqual(SizeLadder.name(forWidth: 261, scale: 3, allowsOriginal: true), "original")
        XCTAssertEqual(SizeLadder.name(forWidth: 260, scale: 3, allowsOriginal: true), "w780")
    }

    func testThatAPosterIsReadAsItIsMeant() throws {
        let addresses = PosterAddresses(at: "https://posters.example/films/")
        for id in ["1", "광해/a.b", "film.v2.jpg", "what? #1", "%2E", "https://a.example/x.jpg?y=1", "."] {
            // Given a title with any id
            let title = TitleReference(source: "sample", id: id)
            for format in [nil, ImageFormat.jpeg, .webp] {
                // When the server reads the address
                let address = addresses.poster(of: title, width: 100, scale: 3, format: format)
                let start = "https://posters.example/films/t/p/"
                XCTAssertTrue(address.hasPrefix(start), address)
                let path = try PosterPath(address.dropFirst(start.count), .clients)
                // Then it is that title in that size and format
                XCTAssertEqual(path.image.title, title, address)
                XCTAssertEqual(path.transform.width, 342, address)
                XCTAssertEqual(path.transform.format, format, address)
            }
        }
        XCTAssertEqual(
            try addresses.poster(of: Self.title, size: "original"), "https://posters.example/films/t/p/original/sample/1")
        XCTAssertThrowsError(try addresses.poster(of: Self.title, size: "w343")) {
            XCTAssertEqual("\($0)", "unknown size “w343”; did you mean “w342”?")
        }
    }

    func testThatATransformIsReadAsItIsMeant() throws {
        var transform = Transform()
        (transform.width, transform.height, transform.resizing, transform.gravity) = (300, 450, .fill, .smart)
        let server = Signature(keys: Self.keys)
        let addresses = PosterAddresses(at: "", signature: server)
        for format in [nil, ImageFormat.png] {
            // Given a transform
            transform.format = format
            // When the server reads its address
            let address = try XCTUnwrap(addresses.image(of: Self.title, as: transform, expires: 2_000_000_000))
            let path = try ImagePath(address.dropFirst("/i/".count), .clients, signedBy: nil)
            // Then it is signed, and the same transform
            XCTAssertNoThrow(try server.check(path.signature, of: path.signedPath))
            XCTAssertEqual(path.options.transform, transform)
            XCTAssertEqual(path.options.expires, 2_000_000_000)
            XCTAssertEqual(path.source, .url("sample://1"))
        }
        var size = Transform()
        (size.width, size.format) = (342, .jpeg)
        XCTAssertEqual(addresses.image(of: Self.title, as: size), "/t/p/w342/sample/1.jpg")
        size.width = -1
        XCTAssertNil(addresses.image(of: Self.title, as: size))
    }

    func testThatOptionsAreReadAsTheyAreMeant() throws {
        let server = Signature(keys: Self.keys)
        let addresses = PosterAddresses(at: "https://posters.example", signature: server)
        for source in ["sample://1", "https://a.example/with space/광해.jpg?x=1&y=@2#3", "https://a.example/with%20space.jpg"] {
            for options in ["", "rs:fill:300:450/g:sm/q:75", "w:300/fn:a%20b:0/att:1", "wm:0.5:soea:10:10:0.2"] {
                // Given options and a source URL
                let address = try addresses.image(of: source, options: options, format: .png)
                // When the server reads the address
                let path = try ImagePath(address.dropFirst("https://posters.example/i/".count), .clients, signedBy: nil)
                // Then it is signed, with that source URL and those options
                XCTAssertNoThrow(try server.check(path.signature, of: path.signedPath))
                XCTAssertEqual(path.source, .url(source))
                var expected = try ImageOptions.clients.parse(options)
                expected.transform.format = .png
                XCTAssertEqual(path.options, expected)
            }
        }
    }

    func testThatASignatureIsThatOfTheServer() throws {
        // Given the keys of imgproxy's documentation, which its own signatures are made with
        let key = try XCTUnwrap([UInt8](hex: "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881"))
        let salt = try XCTUnwrap([UInt8](hex: "520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5"))
        let signature = Signature(keys: [SigningKey(key: key, salt: salt)])
        let address = try PosterAddresses(at: "", signature: signature).image(
            of: "sample://1", options: "rs:fill:300:450", format: .jpeg)
        let path = "/rs:fill:300:450/plain/sample%3A%2F%2F1@jpg"
        XCTAssertEqual(address, "/i/\(try XCTUnwrap(signature.sign(path)))\(path)")
        XCTAssertEqual(
            try PosterAddresses(at: "").image(of: "sample://1", options: "rs:fill:300:450", format: .jpeg), "/i/unsafe\(path)")
    }

    func testThatAnEncryptedSourceIsReadByTheServerAlone() throws {
        // Given keys for signatures and encryption
        let encryption = try XCTUnwrap(SourceEncryption(key: [UInt8](repeating: 7, count: 32)))
        let server = Signature(keys: Self.keys)
        let addresses = PosterAddresses(at: "", signature: server, encryption: encryption)
        let source = "https://a.example/secret.jpg?key=@1"
        // When the server reads the address
        let address = try addresses.hiddenImage(of: source, options: "w:300", format: .png)
        let path = try ImagePath(address.dropFirst("/i/".count), .clients, signedBy: nil)
        // Then it decrypts the source, which the address does not show
        XCTAssertFalse(address.contains("example"))
        XCTAssertNoThrow(try server.check(signed: path.signature, of: path.signedPath))
        guard case .encrypted(let text) = path.source else { return XCTFail(address) }
        XCTAssertEqual(try encryption.decrypt(text), source)
        XCTAssertEqual(path.options.transform.format, .png)
        // And an option that would hide the mark of the source is refused, because the server could not read the address
        XCTAssertThrowsError(try addresses.hiddenImage(of: source, options: "w:300/enlarge")) {
            XCTAssertTrue("\($0)".contains("“enlarge” has no colon"), "\($0)")
        }
        // And without keys there is none
        XCTAssertThrowsError(try PosterAddresses(at: "", signature: server).hiddenImage(of: source, options: ""))
        XCTAssertThrowsError(try PosterAddresses(at: "", encryption: encryption).hiddenImage(of: source, options: ""))
    }

    func testThatSecretsAreNotPrinted() throws {
        let secret: [UInt8] = Array(repeating: 77, count: 16)
        let key = SigningKey(key: secret, salt: secret)
        let signature = Signature(keys: [key], thumborKeys: [secret])
        let encryption = try XCTUnwrap(SourceEncryption(key: secret))
        let values: [Any] = [
            key, signature, encryption, PosterAddresses(at: "https://a.example", signature: signature, encryption: encryption),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { XCTAssertFalse(text.contains("77"), text) }
        }
    }

    func testThatWrongOptionsAreRefusedBeforeARequest() throws {
        let addresses = PosterAddresses(at: "")
        for (options, words) in [
            ("widht:300", "unknown option “widht”"), ("w:x", "needs a whole number"), ("pr:small", "unknown preset"),
            ("w:1/cb:a?b", "not percent-encoded"), ("cb:a b", "not percent-encoded"), ("w:1/plain/sample:", "unknown option"),
        ] {
            XCTAssertThrowsError(try addresses.image(of: "sample://1", options: options), options) {
                XCTAssertTrue("\($0)".contains(words), "\($0)")
            }
        }
        XCTAssertThrowsError(try addresses.image(of: "sample", options: "w:1"))
        let presets = try ImageOptions(formats: PosterAddresses.formats, presets: ["small": "w:92"])
        XCTAssertEqual(
            try PosterAddresses(at: "", options: presets).image(of: "sample://1", options: "pr:small"),
            "/i/unsafe/pr:small/plain/sample%3A%2F%2F1")
    }
}
