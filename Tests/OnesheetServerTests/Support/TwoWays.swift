import Foundation
import XCTest

/// Two servers with the same pictures: one with the early answers to plain requests, the other with ordinary ones only.
struct TwoWays {
    let early: RunningServer
    let ordinary: RunningServer

    /// What each says to `parts`, sent one after another on one connection, but for the moment, how long it took and what the request is called.
    func answers(to parts: [[UInt8]]) async throws -> (early: String, ordinary: String) {
        async let early = RawConnection.exchange(parts, with: early.url)
        async let ordinary = RawConnection.exchange(parts, with: ordinary.url)
        return try await (Self.withoutTimes(early), Self.withoutTimes(ordinary))
    }

    func assertSame(_ parts: [[UInt8]], _ context: String = "", file: StaticString = #filePath, line: UInt = #line) async throws {
        let (early, ordinary) = try await answers(to: parts)
        guard early != ordinary else { return }
        let sent = parts.map { String(decoding: $0, as: UTF8.self) }
        XCTFail("\(context) \(sent)\nearly: \(early.prefix(2000))\nordinary: \(ordinary.prefix(2000))", file: file, line: line)
    }

    /// The bytes as one character each, so that pictures can be compared too.
    private static func withoutTimes(_ bytes: [UInt8]) -> String {
        let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        return text.components(separatedBy: "\r\n").filter { line in
            !["Date: ", "Server-Timing: ", "X-Request-Id: "].contains(where: line.hasPrefix)
        }.joined(separator: "\r\n").replacing(/"request":"[0-9a-f]{16}"/, with: "")
    }
}
