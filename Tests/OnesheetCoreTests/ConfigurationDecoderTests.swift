import OnesheetCore
import XCTest

final class ConfigurationDecoderTests: XCTestCase {
    private struct Shop: Decodable, Equatable {
        var name: String
        var port: Int?
        var open: Bool?
        var rate: Double?
        var tags: [String]?
        var owner: Owner?
        var prices: [String: Int]?
    }

    private struct Owner: Decodable, Equatable {
        var first: String
        var last: String?
    }

    /// Opens its containers itself, as some types do.
    private struct ByHand: Decodable {
        let name: String

        private enum Keys: CodingKey { case outer }
        private enum InnerKeys: CodingKey { case name }

        init(from decoder: any Decoder) throws {
            let inner = try decoder.container(keyedBy: Keys.self).nestedContainer(keyedBy: InnerKeys.self, forKey: .outer)
            name = try inner.decode(String.self, forKey: .name)
        }
    }

    private func message<Value: Decodable>(_ type: Value.Type, _ value: ConfigurationValue) -> String {
        do throws(ConfigurationError) {
            _ = try ConfigurationDecoder().decode(type, from: value)
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    func testThatEveryKindOfValueIsDecoded() throws {
        // Given
        let value = ConfigurationValue.mapping([
            "name": .scalar("x"), "port": .scalar("8080"), "open": .scalar("yes"), "rate": .scalar("1.5"),
            "tags": .list([.scalar("a"), .scalar("b")]), "owner": .mapping(["first": .scalar("Y")]),
            "prices": .mapping(["p": .scalar("3")]),
        ])

        // When
        let shop = try ConfigurationDecoder().decode(Shop.self, from: value)

        // Then
        XCTAssertEqual(
            shop, Shop(name: "x", port: 8080, open: true, rate: 1.5, tags: ["a", "b"], owner: Owner(first: "Y"), prices: ["p": 3]))
    }

    func testThatAMissingValueIsNil() throws {
        // Given
        let value = ConfigurationValue.mapping(["name": .scalar("x"), "port": .null])

        // When
        let shop = try ConfigurationDecoder().decode(Shop.self, from: value)

        // Then
        XCTAssertEqual(shop, Shop(name: "x"))
    }

    func testThatAnUnknownKeyIsRefusedWithTheNearestKnownOne() {
        // Given
        let top = ConfigurationValue.mapping(["name": .scalar("x"), "prot": .scalar("1")])
        let inner = ConfigurationValue.mapping([
            "name": .scalar("x"), "owner": .mapping(["first": .scalar("a"), "lst": .scalar("b")]),
        ])
        let far = ConfigurationValue.mapping(["first": .scalar("a"), "quartz": .scalar("b")])

        // When
        let messages = [message(Shop.self, top), message(Shop.self, inner), message(Owner.self, far)]

        // Then
        XCTAssertEqual(
            messages,
            [
                "unknown key “prot”; did you mean “port”?", "owner: unknown key “lst”; did you mean “last”?",
                "unknown key “quartz”; known: first, last",
            ])
    }

    func testThatAnUnknownKeyInAListNamesItsPlace() {
        // Given
        let value = ConfigurationValue.list([
            .mapping(["first": .scalar("a")]), .mapping(["first": .scalar("a"), "frist": .scalar("b")]),
        ])

        // When
        let text = message([Owner].self, value)

        // Then
        XCTAssertEqual(text, "[1]: unknown key “frist”; did you mean “first”?")
    }

    func testThatAnUnknownKeyIsRefusedInAContainerOpenedByHand() {
        // Given
        let value = ConfigurationValue.mapping(["outer": .mapping(["name": .scalar("x"), "nme": .scalar("y")])])

        // When
        let text = message(ByHand.self, value)

        // Then
        XCTAssertEqual(text, "outer: unknown key “nme”; did you mean “name”?")
    }

    func testThatWhatIsWrongIsNamedWithItsPath() {
        // Given
        let cases: [(ConfigurationValue, String)] = [
            (.mapping([:]), "“name” is missing"),
            (.mapping(["name": .list([])]), "name: needs a text"),
            (.mapping(["name": .scalar("x"), "port": .scalar("many")]), "port: “many” is not a number that fits here"),
            (
                .mapping(["name": .scalar("x"), "port": .scalar("99999999999999999999")]),
                "port: “99999999999999999999” is not a number that fits here"
            ),
            (.mapping(["name": .scalar("x"), "open": .scalar("maybe")]), "open: “maybe” is neither true nor false"),
            (.mapping(["name": .scalar("x"), "tags": .scalar("a")]), "tags: needs a list"),
            (.mapping(["name": .scalar("x"), "owner": .scalar("a")]), "owner: needs keys below it"),
            (.mapping(["name": .scalar("x"), "owner": .mapping([:])]), "owner: “first” is missing"),
            (.mapping(["name": .scalar("x"), "tags": .list([.scalar("a"), .mapping([:])])]), "tags.[1]: needs a text"),
            (.scalar("x"), "needs keys below it"),
        ]

        for (value, expected) in cases {
            // When
            let text = message(Shop.self, value)

            // Then
            XCTAssertEqual(text, expected)
        }
    }

    func testThatAValueWithoutKeysRefusesAllOfThem() throws {
        // Given
        let decoder = ConfigurationDecoder()

        // When
        _ = try decoder.decode(NoConfiguration.self, from: .null)
        _ = try decoder.decode(NoConfiguration.self, from: .mapping([:]))

        // Then
        XCTAssertEqual(message(NoConfiguration.self, .mapping(["size": .scalar("1")])), "unknown key “size”; there are none")
    }

    func testThatANestedSourceKeepsAllKeysButItsType() throws {
        // Given
        let value = ConfigurationValue.mapping([
            "type": .scalar("kakao"), "key": .scalar("k"), "networks": .list([.scalar("loopback")]),
        ])

        // When
        let nested = try ConfigurationDecoder().decode(NestedSource.self, from: value)

        // Then
        XCTAssertEqual(nested.type, "kakao")
        XCTAssertEqual(nested.configuration, .mapping(["key": .scalar("k"), "networks": .list([.scalar("loopback")])]))
        XCTAssertEqual(message(NestedSource.self, .mapping(["key": .scalar("k")])), "needs a “type”")
    }

    func testThatAnErrorCanBeSeenFromOutside() {
        // Given
        let errors = [ConfigurationError(path: "", message: "m"), ConfigurationError(path: "a.b", message: "m")]

        // When
        let texts = errors.map { $0.under("sources.web").description }

        // Then
        XCTAssertEqual(texts, ["sources.web: m", "sources.web.a.b: m"])
    }
}
