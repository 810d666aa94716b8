import OnesheetCore
import XCTest

final class NetworkRangeTests: XCTestCase {
    func testThatAClassHoldsItsOwnAddressesOnly() throws {
        // Given
        let ranges: [NetworkRange] = [.public, .private, .loopback]
        let addresses = try ["8.8.8.8", "192.168.1.1", "127.0.0.1", "169.254.169.254"].map { try XCTUnwrap(IPAddress($0)) }

        // When
        let table = addresses.map { address in ranges.map { $0.contains(address) } }

        // Then
        XCTAssertEqual(table, [[true, false, false], [false, true, false], [false, false, true], [false, false, false]])
    }

    func testThatABlockHoldsWhatSharesItsBits() throws {
        // Given
        let cases = [
            ("203.0.113.0/24", "203.0.113.255", true), ("203.0.113.0/24", "203.0.114.0", false),
            ("203.0.113.128/25", "203.0.113.127", false),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("10.0.0.1/32", "10.0.0.1", true),
            ("10.0.0.1/32", "10.0.0.2", false),
            ("10.0.0.0/8", "::ffff:10.2.3.4", true), ("10.0.0.0/8", "2002:a00:1::", false), ("2002::/16", "2002:a00:1::", true),
            ("2001:db8::/33", "2001:db8:7fff::", true), ("2001:db8::/33", "2001:db8:8000::", false),
        ]

        for (block, text, expected) in cases {
            // When
            let contains = NetworkRange.block(try XCTUnwrap(AddressBlock(block))).contains(try XCTUnwrap(IPAddress(text)))

            // Then
            XCTAssertEqual(contains, expected, "\(block) and \(text)")
        }
    }

    func testThatWhatIsNoBlockIsRefused() {
        // Given
        let texts = ["", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::/129", "10.0.0.0/8/8", "lan"]

        // When
        let blocks = texts.map { ($0, AddressBlock($0)) }

        // Then
        for (text, block) in blocks { XCTAssertNil(block, text) }
    }

    func testThatConfigurationsNameClassesAndBlocks() throws {
        // Given
        let value = ConfigurationValue.list(["public", "private", "loopback", "203.0.113.0/24"].map(ConfigurationValue.scalar))

        // When
        let ranges = try ConfigurationDecoder().decode([NetworkRange].self, from: value)

        // Then
        XCTAssertEqual(ranges, [.public, .private, .loopback, .block(try XCTUnwrap(AddressBlock("203.0.113.0/24")))])
        XCTAssertThrowsError(try ConfigurationDecoder().decode([NetworkRange].self, from: .list([.scalar("intranet")]))) {
            XCTAssertEqual(
                "\($0)", "[0]: “intranet” is not public, private, loopback or a block such as 203.0.113.0/24")
        }
    }
}
