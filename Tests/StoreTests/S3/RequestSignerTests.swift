import FoundationEssentials
import S3Store
import XCTest

/// The examples of <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
final class RequestSignerTests: XCTestCase {
    private static let host = "examplebucket.s3.amazonaws.com"
    private static let day = Date(timeIntervalSince1970: 1_369_353_600)

    private func signer(token: String? = nil) -> RequestSigner {
        RequestSigner(
            S3Credentials(
                accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", sessionToken: token),
            region: "us-east-1")
    }

    private func value(_ name: String, _ headers: [(name: String, value: String)]) -> String? {
        headers.first { $0.name == name }?.value
    }

    func testThatAReadIsSignedAsDocumented() {
        // Given
        let request = RequestSigner.Request(
            method: "GET", host: Self.host, path: "/test.txt", headers: [("range", "bytes=0-9")])

        // When
        let headers = signer().headers(for: request, at: Self.day)

        // Then
        XCTAssertEqual(
            value("authorization", headers),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        XCTAssertEqual(value("x-amz-date", headers), "20130524T000000Z")
        XCTAssertEqual(
            value("x-amz-content-sha256", headers), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    func testThatAWriteIsSignedAsDocumented() throws {
        // Given
        let address = try S3Address(endpoint: nil, bucket: "examplebucket", region: "us-east-1", pathStyle: false)
        let request = RequestSigner.Request(
            method: "PUT", host: Self.host, path: address.path(of: "test$file.text"),
            headers: [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
            bodyDigest: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")

        // When
        let headers = signer().headers(for: request, at: Self.day)

        // Then
        XCTAssertEqual(
            value("authorization", headers)?.hasSuffix(
                "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"), true)
    }

    func testThatQueriesAreSignedAsDocumented() {
        // Given
        let cases: [([(name: String, value: String)], String)] = [
            ([("lifecycle", "")], "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            ([("prefix", "J"), ("max-keys", "2")], "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ]
        // One signer, whose key of the day is computed once.
        let signer = signer()

        for (query, expected) in cases {
            // When
            let request = RequestSigner.Request(method: "GET", host: Self.host, path: "/", query: query)
            let headers = signer.headers(for: request, at: Self.day)

            // Then
            XCTAssertEqual(value("authorization", headers)?.hasSuffix("Signature=\(expected)"), true)
        }
    }

    func testThatASessionTokenIsSentAndSigned() {
        // Given
        let request = RequestSigner.Request(method: "GET", host: Self.host, path: "/test.txt")

        // When
        let headers = signer(token: "t0ken").headers(for: request, at: Self.day)

        // Then
        XCTAssertEqual(value("x-amz-security-token", headers), "t0ken")
        XCTAssertEqual(
            value("authorization", headers)?.contains("host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"), true)
    }

    func testThatTheNextDayHasAnotherKey() {
        // Given
        let request = RequestSigner.Request(method: "GET", host: Self.host, path: "/test.txt")
        let lastSecond = Self.day.addingTimeInterval(86_399)
        let signer = signer()

        // When
        let before = signer.headers(for: request, at: lastSecond)
        let after = signer.headers(for: request, at: lastSecond.addingTimeInterval(1))
        let fresh = self.signer().headers(for: request, at: lastSecond.addingTimeInterval(1))

        // Then
        XCTAssertEqual(value("x-amz-date", before), "20130524T235959Z")
        XCTAssertEqual(value("x-amz-date", after), "20130525T000000Z")
        XCTAssertEqual(value("authorization", after), value("authorization", fresh))
    }
}
