import OnesheetCore
import S3Store

/// Every byte sequence gives a document or a typed error, and what a document holds is bounded by its bytes.
enum FuzzS3 {
    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        let bytes = Array(bytes)
        do throws(XMLError) {
            let document = try XMLElement(parsing: bytes)
            let again = try XMLElement(parsing: bytes)
            precondition(document == again, "read twice, read differently")
            precondition(size(of: document) <= bytes.count, "more came out than went in")
        } catch {
            precondition(error.offset <= bytes.count && !error.reason.isEmpty, "an error outside the document")
        }
        do throws(S3AnswerError) {
            let listing = try S3Listing(parsing: bytes)
            precondition(listing.items.allSatisfy { !$0.name.isEmpty && $0.bytes >= 0 }, "an object without a name or size")
        } catch {
            precondition(!error.description.isEmpty, "an error without words")
        }
        do throws(S3AnswerError) {
            _ = try S3Deletion.faults(parsing: bytes)
        } catch {
            precondition(!error.description.isEmpty, "an error without words")
        }
        // A name from a list can be deleted: it comes back from the body of a deletion.
        let name = String(decoding: bytes.prefix(1024), as: UTF8.self)
        if S3Address.isObjectName(name) {
            do throws(XMLError) {
                let body = try XMLElement(parsing: Array(S3Deletion.body([name]).utf8))
                precondition(
                    body.all("Object").first?.children.first?.text.utf8.elementsEqual(name.utf8) == true, "another name")
            } catch {
                preconditionFailure("our own document is not XML: \(error)")
            }
        }
        return 0
    }

    private static func size(of element: XMLElement) -> Int {
        element.children.reduce(element.name.utf8.count + element.text.utf8.count) { $0 + size(of: $1) }
    }

    /// Documents as stores write them.
    static let seeds = [
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>t/</Prefix><MaxKeys>2</MaxKeys>\
        <IsTruncated>true</IsTruncated><EncodingType>url</EncodingType><Contents><Key>t/a+b%2B</Key><Size>3</Size>\
        <ETag>&#34;9dd4&quot;</ETag></Contents><Contents><Key>t/%ED%95%9C</Key><Size>0</Size></Contents></ListBucketResult>
        """,
        "<Error><Code>NoSuchKey</Code><Message>It&#x27;s &lt;gone&gt;</Message><Region>eu-west-1</Region></Error>",
        "<s:DeleteResult xmlns:s='x'><!-- c --><s:Error><s:Key><![CDATA[a]]></s:Key><s:Code>AccessDenied</s:Code></s:Error></s:DeleteResult>",
        "titles/포스터 +&<>\"'.jpg",
    ]
}
