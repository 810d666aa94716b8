import OnesheetCore
import S3Store
import XCTest

final class S3AnswersTests: XCTestCase {
    private func listing(_ text: String) throws -> S3Listing { try S3Listing(parsing: Array(text.utf8)) }

    func testThatAListIsRead() throws {
        // Given
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>t/</Prefix>
              <IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>
              <Contents><Key>t/a+b</Key><Size> 3 </Size><ETag>&#34;x&#34;</ETag></Contents>
              <Contents><Key>t/a%2Bb%25</Key><Size>0</Size></Contents>
              <Contents><Key>t/%ED%95%9C%ea%b8%80</Key><Size>12</Size></Contents>
            </ListBucketResult>
            """

        // When
        let read = try listing(text)

        // Then
        XCTAssertEqual(read.items.map(\.name), ["t/a b", "t/a+b%", "t/한글"])
        XCTAssertEqual(read.items.map(\.bytes), [3, 0, 12])
        XCTAssertTrue(read.isTruncated)
    }

    func testThatNamesOfAStoreThatDoesNotEncodeThemStayAsTheyAre() throws {
        // Given
        let text = "<ListBucketResult><Contents><Key> a+b%2B &amp;</Key><Size>1</Size></Contents></ListBucketResult>"

        // When
        let read = try listing(text)

        // Then
        XCTAssertEqual(read.items.map(\.name), [" a+b%2B &"])
        XCTAssertFalse(read.isTruncated)
    }

    func testThatOtherDocumentsAreNoLists() {
        // Given
        let texts = [
            "", "<html/>", "<Error><Code>InternalError</Code></Error>",
            "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key></Key><Size>1</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key><Size>99999999999999999999</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key><Size>\(Int.max)</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key><Size>\((5 << 40) + 1)</Size></Contents></ListBucketResult>",
            "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a%2</Key><Size>1</Size></Contents></ListBucketResult>",
            "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%C3%28</Key><Size>1</Size></Contents></ListBucketResult>",
        ]

        for text in texts {
            // When
            let read = { try self.listing(text) }

            // Then
            XCTAssertThrowsError(try read(), text) { XCTAssertTrue($0 is S3AnswerError) }
        }
    }

    func testThatAnErrorIsRead() {
        // Given
        let text = """
            <Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong</Message><Region>eu-west-1</Region>\
            <ServerTime>2026-11-23T00:00:00Z</ServerTime></Error>
            """

        // When
        let fault = S3Fault(parsing: Array(text.utf8))

        // Then
        XCTAssertEqual(
            fault,
            S3Fault(
                code: "AuthorizationHeaderMalformed", message: "the region is wrong", region: "eu-west-1",
                serverTime: "2026-11-23T00:00:00Z"))
        for other in ["", "<html><body>502</body></html>", "<Error/>", "<Error><Code> </Code></Error>"] {
            XCTAssertNil(S3Fault(parsing: Array(other.utf8)), other)
        }
    }

    func testThatNamesAreEscapedInADeletion() throws {
        // Given
        let names = ["a&b<c>\"d'", "포스터 +%", "]]>"]

        // When
        let body = try XMLElement(parsing: Array(S3Deletion.body(names).utf8))

        // Then
        XCTAssertEqual(body.name, "Delete")
        XCTAssertEqual(body.value("Quiet"), "true")
        XCTAssertEqual(body.all("Object").map { $0.value("Key") }, names)
    }

    func testThatAMissingObjectCountsAsDeleted() throws {
        // Given
        let text = """
            <DeleteResult><Deleted><Key>x</Key></Deleted><Error><Key>a</Key><Code>NoSuchKey</Code></Error>\
            <Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error><Error><Key>c</Key></Error></DeleteResult>
            """

        // When
        let faults = try S3Deletion.faults(parsing: Array(text.utf8))

        // Then
        XCTAssertEqual(faults, [S3Fault(code: "AccessDenied", message: "no"), S3Fault(code: "Unknown")])
        XCTAssertThrowsError(try S3Deletion.faults(parsing: Array("<html/>".utf8)))
    }
}
