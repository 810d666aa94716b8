import OnesheetCore
import XCTest

final class IPAddressTests: XCTestCase {
    func testThatAddressesAreReadAsInetPtonReadsThem() throws {
        // Given
        let cases: [(String, [UInt8])] = [
            ("192.0.2.1", [192, 0, 2, 1]), ("0.0.0.0", [0, 0, 0, 0]),
            ("::", [UInt8](repeating: 0, count: 16)), ("::1", [UInt8](repeating: 0, count: 15) + [1]),
            ("2001:DB8::a:b", [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 8) + [0, 0x0A, 0, 0x0B]),
            ("::ffff:192.0.2.1", [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]),
            ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
            ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
        ]

        for (text, bytes) in cases {
            // When
            let address = try XCTUnwrap(IPAddress(text), text)

            // Then
            XCTAssertEqual(address.bytes, bytes, text)
        }
    }

    func testThatSpellingsOtherProgramsGuessAtAreNoAddresses() {
        // Given
        let texts = [
            "", "1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "127.0.0.256", "127.0.0.1.", ".127.0.0.1",
            "127.0.0.-1", "127.0.0.+1", "127.0.0.１", " 127.0.0.1", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7:8::", "::12345", "::g", "::-0", "::+1", "fe80::1%eth0", "[::1]", "1.2.3.4::", "::1.2.3.4:5", "::1.2.3",
        ]

        // When
        let addresses = texts.map { ($0, IPAddress($0)) }

        // Then
        for (text, address) in addresses { XCTAssertNil(address, text) }
    }

    func testThatEverySpecialRangeIsKnownToItsEdges() throws {
        // Given IANA's special-purpose registries (RFC 6890): first and last addresses and their neighbours
        let cases: [(IPAddress.Scope, [String])] = [
            (.loopback, ["127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1"]),
            (
                .private,
                [
                    "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "fc00::",
                    "fdff:ffff::1", "::ffff:10.1.2.3",
                ]
            ),
            (
                .special,
                [
                    "0.0.0.0", "0.255.255.255", "100.64.0.0", "100.127.255.255", "169.254.0.0", "169.254.169.254",
                    "169.254.255.255",
                    "192.0.0.0", "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.88.99.1", "198.18.0.0", "198.19.255.255",
                    "198.51.100.7",
                    "203.0.113.7", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255", "::", "fe80::1", "febf::1",
                    "fec0::1",
                    "ff02::1", "100::1", "2001:db8::1", "2001::1", "2001:1ff::1", "3fff::1", "5f00::1", "64:ff9b::8.8.8.8",
                    "64:ff9b:1::1", "2002:808:808::1", "::8.8.8.8", "::127.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254",
                    "2002:7f00:1::", "2002:a00:1::", "64:ff9b::10.0.0.1", "2001:0:1:2:3:4:80ff:fffe", "2607::5efe:10.0.0.1",
                    "fe80::5efe:10.0.0.1", "4000::1",
                ]
            ),
            (
                .public,
                [
                    "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
                    "128.0.0.0",
                    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
                    "198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2001:200::1",
                    "2606:4700::1",
                    "2a00::1", "3ffe::1",
                ]
            ),
        ]

        for (scope, texts) in cases {
            for text in texts {
                // When
                let address = try XCTUnwrap(IPAddress(text), text)

                // Then
                XCTAssertEqual(address.scope, scope, text)
            }
        }
    }
}
