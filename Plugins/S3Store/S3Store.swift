internal import FoundationEssentials
public import NIOCore
public import OnesheetCore
internal import OnesheetCrypto

/// A bucket of Amazon S3, or of a store with the same interface, such as SeaweedFS, Ceph, MinIO or Cloudflare R2.
public struct S3Store: ObjectStorePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The store's URL; `nil` is Amazon's.
        public var endpoint: String?
        /// The name of the bucket.
        public var bucket: String
        /// The region that requests are signed for.
        public var region: String
        /// The id of the access key.
        public var accessKey: String
        /// The secret of the access key.
        public var secretKey: String
        /// Of temporary credentials only.
        public var sessionToken: String?
        /// Whether paths name the bucket, and not the host.
        public var pathStyle: Bool?
        /// The timeout of a read.
        public var deadline: Interval

        private enum CodingKeys: CodingKey {
            case endpoint, bucket, region, accessKey, secretKey, sessionToken, pathStyle, deadline
        }

        public init(
            endpoint: String? = nil, bucket: String, region: String = "us-east-1", accessKey: String, secretKey: String,
            sessionToken: String? = nil, pathStyle: Bool? = nil, deadline: Interval = Interval(.seconds(2))
        ) {
            self.endpoint = endpoint
            self.bucket = bucket
            self.region = region
            self.accessKey = accessKey
            self.secretKey = secretKey
            self.sessionToken = sessionToken
            self.pathStyle = pathStyle
            self.deadline = deadline
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                endpoint: try container.decodeIfPresent(String.self, forKey: .endpoint),
                bucket: try container.decode(String.self, forKey: .bucket),
                region: try container.decodeIfPresent(String.self, forKey: .region) ?? "us-east-1",
                accessKey: try container.decode(String.self, forKey: .accessKey),
                secretKey: try container.decode(String.self, forKey: .secretKey),
                sessionToken: try container.decodeIfPresent(String.self, forKey: .sessionToken),
                pathStyle: try container.decodeIfPresent(Bool.self, forKey: .pathStyle),
                deadline: try container.decodeIfPresent(Interval.self, forKey: .deadline) ?? Interval(.seconds(2)))
        }
    }

    public static let type = "s3"

    public static let sampleConfiguration = """
        type: s3
        # The bucket, which must exist.
        bucket: onesheet
        # The region of the bucket. Other stores than Amazon's have us-east-1 unless they say otherwise.
        region: eu-central-1
        # The store, if it is not Amazon S3: SeaweedFS, Ceph, MinIO, Cloudflare R2 and others.
        # endpoint: http://10.0.0.5:8333
        # The keys of a user with the policy of the plugin's README.
        accessKey: "${S3_ACCESS_KEY}"
        secretKey: "${S3_SECRET_KEY}"
        # The token of temporary credentials.
        # sessionToken: "${S3_SESSION_TOKEN}"
        # Whether paths name the bucket (https://host/bucket/…) and not the host (https://bucket.host/…). By default true with an
        # endpoint, false without one.
        # pathStyle: true
        # The timeout of a read, from the request to its last byte; half of it for the first byte. Writes, lists and deletions may
        # take five times as long.
        deadline: 2s
        """

    /// The most bytes of a list or of the answer to a deletion: a thousand names of 1,024 bytes, all of them percent-encoded.
    private static let maxDocument = 8 << 20

    let address: S3Address
    let client: S3Client
    private let refusal: S3Refusal

    /// - Throws: `ConfigurationError` if a value is invalid. The store is not asked; `probe` does that.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        let (address, signer) = try configuration.resolved()
        guard configuration.deadline.duration >= .milliseconds(100), configuration.deadline.duration <= .seconds(60) else {
            throw ConfigurationError(path: "deadline", message: "must be from 100ms to 60s")
        }
        self.address = address
        refusal = S3Refusal(bucket: configuration.bucket, region: configuration.region)
        client = S3Client(
            address: address, signer: signer, clock: context.clock, deadlines: S3Deadlines(configuration.deadline.duration))
    }

    public func shutdown() async { client.shutdown() }

    public func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject? {
        var request = try request(for: name, verb: "read")
        request.isRead = true
        let answer = try await client.send(request, limit: limit)
        guard answer.status == 200 else { return try await absence(answer, request) }
        guard let body = answer.body else { throw .tooLarge(name: name, limit: limit) }
        return StoredObject(body: body, revision: answer.entityTag ?? "")
    }

    /// Not with `HEAD`: its answers say nothing about an error, and an object's first bytes may be all that its reader needs.
    public func start(of name: String, count: Int, limit: Int) async throws(StoreError) -> ObjectStart? {
        var request = try request(for: name, verb: "read")
        request.isRead = true
        request.headers = [("range", "bytes=0-\(count - 1)")]
        let answer = try await client.send(request, limit: limit)
        switch answer.status {
        case 206:
            if let size = Self.size(answer.contentRange) {
                if size > limit { throw .tooLarge(name: name, limit: limit) }
                if let body = answer.body, body.readableBytes == min(count, size) { return ObjectStart(bytes: body, size: size) }
            }
        // The store ignores ranges.
        case 200:
            guard let body = answer.body else { throw .tooLarge(name: name, limit: limit) }
            return ObjectStart(of: body, count: count)
        // An empty object has no first byte.
        case 416: break
        default: return try await absence(answer, request)
        }
        // A gateway may answer with another part, or without saying which. It does give whole objects.
        return try await object(name, limit: limit).map { ObjectStart(of: $0.body, count: count) }
    }

    /// - Returns: `nil`: there is no object.
    /// - Throws: if the answer says anything else.
    private func absence<Value>(_ answer: S3Client.Answer, _ request: S3Client.Request) async throws(StoreError) -> Value? {
        guard answer.status == 404 else { throw try await error(answer, request) }
        let fault = try await fault(of: answer, operation: request.operation)
        if fault?.code.isExactly("NoSuchBucket") == true { throw error(fault, in: answer, to: request) }
        return nil
    }

    /// The size of the object, as in `bytes 0-99/1234` (RFC 9110 §14.4), if the part is its start.
    private static func size(_ contentRange: String?) -> Int? {
        guard let text = contentRange, text.starts(withBytesOf: "bytes 0-"), let slash = text.utf8.firstIndex(of: UInt8(ascii: "/"))
        else { return nil }
        return Int(text[text.utf8.index(after: slash)...]).flatMap { $0 >= 0 ? $0 : nil }
    }

    public func put(
        _ body: ByteBuffer, as name: String, if condition: StoreCondition
    ) async throws(StoreError) -> String? {
        var request = try request(for: name, verb: "write")
        (request.method, request.body) = ("PUT", body)
        switch condition {
        case .none: break
        case .absent: request.headers = [("if-none-match", "*")]
        case .revision(let revision):
            // No object has such a revision, and no header can carry it.
            guard !revision.isEmpty, Self.isEntityTag(revision) else { return nil }
            request.headers = [("if-match", revision)]
        }
        // After a conditional write that arrived, its repetition would meet its own object.
        request.isRepeatable = condition == .none
        for isLast in [false, true] {
            let answer = try await client.send(request, limit: Self.maxDocument)
            if answer.status == 200 { return answer.entityTag ?? "" }
            let fault = try await fault(of: answer, operation: request.operation)
            switch (answer.status, fault?.code ?? "") {
            case (412, _) where condition != .none: return nil
            // Amazon's answer to a revision of an object that does not exist.
            case (404, let code) where condition != .none && !code.isExactly("NoSuchBucket"): return nil
            // SeaweedFS has parts of at most 255 bytes.
            case (_, "KeyTooLongError"): throw .invalidName(name)
            // Another write of the object was under way. Asked again, the store knows how it ended.
            case (409, "ConditionalRequestConflict") where !isLast: continue
            default: throw error(fault, in: answer, to: request)
            }
        }
        throw .failed(operation: request.operation, reason: "it is being written by others again and again")
    }

    public func delete(_ names: [String]) async throws(StoreError) {
        for name in names where !S3Address.isObjectName(name) { throw .invalidName(name) }
        if names.count == 1 { return try await delete(names[0]) }
        var rest = names[...]
        while !rest.isEmpty {
            try await deleteTogether(rest.prefix(S3Deletion.maxNames))
            rest = rest.dropFirst(S3Deletion.maxNames)
        }
    }

    public func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing {
        guard limit > 0 else { return ObjectListing(items: [], hasMore: false) }
        var request = S3Client.Request(path: address.path, operation: "list \(prefix.escaped)")
        request.query = [
            ("list-type", "2"), ("encoding-type", "url"), ("max-keys", String(min(limit, 1000))), ("prefix", prefix),
        ]
        if let after { request.query.append(("start-after", after)) }
        let answer = try await client.send(request, limit: Self.maxDocument)
        guard answer.status == 200 else { throw try await error(answer, request) }
        let listing = try await document(answer, operation: request.operation) { bytes throws(S3AnswerError) in
            try S3Listing(parsing: bytes)
        }
        let items = Array(listing.items.prefix(limit))
        // A store that ignores what it was asked would otherwise be listed without end, or objects of others be deleted.
        for item in items where !item.name.starts(withBytesOf: prefix) || after?.isExactly(item.name) == true {
            throw .failed(operation: request.operation, reason: "the list has “\(item.name.escaped)”, which was not asked for")
        }
        guard !items.isEmpty || !listing.isTruncated else {
            throw .failed(operation: request.operation, reason: "the list is empty and says that more follows")
        }
        return ObjectListing(items: items, hasMore: listing.isTruncated || listing.items.count > limit)
    }

    public func probe(prefix: String) async throws(StoreError) -> StoreAbilities {
        try await StoreProbe(store: self, prefix: prefix).run()
    }

    private func delete(_ name: String) async throws(StoreError) {
        var request = try request(for: name, verb: "delete")
        request.method = "DELETE"
        let answer = try await client.send(request, limit: Self.maxDocument)
        guard answer.status != 204, answer.status != 200 else { return }
        let fault = try await fault(of: answer, operation: request.operation)
        if answer.status == 404, fault?.code.isExactly("NoSuchBucket") != true { return }
        throw error(fault, in: answer, to: request)
    }

    private func deleteTogether(_ names: ArraySlice<String>) async throws(StoreError) {
        var request = S3Client.Request(path: address.path, operation: "delete \(names.count) objects")
        request.method = "POST"
        request.query = [("delete", "")]
        let (body, digest) = try await client.onThread(request.operation) {
            let text = S3Deletion.body(names)
            return (ByteBuffer(string: text), Data(Insecure.MD5.hash(text.utf8)).base64EncodedString())
        }
        request.body = body
        // The interface requires a digest here; of those allowed, the oldest is the one that every store knows.
        request.headers = [("content-md5", digest), ("content-type", "application/xml")]
        let answer = try await client.send(request, limit: Self.maxDocument)
        guard answer.status == 200 else { throw try await error(answer, request) }
        let faults = try await document(answer, operation: request.operation) { bytes throws(S3AnswerError) in
            try S3Deletion.faults(parsing: bytes)
        }
        guard let first = faults.first else { return }
        let status = first.code.isExactly("AccessDenied") ? 403 : 500
        throw refusal.error(
            first, status: status, bucketRegion: nil,
            operation: faults.count == 1
                ? "delete one of \(names.count) objects" : "delete \(faults.count) of \(names.count) objects")
    }

    private func request(for name: String, verb: String) throws(StoreError) -> S3Client.Request {
        guard S3Address.isObjectName(name) else { throw .invalidName(name) }
        return S3Client.Request(path: address.path(of: name), operation: "\(verb) \(name)")
    }

    private static func isEntityTag(_ text: String) -> Bool {
        text.utf8.count <= 1024 && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }

    /// Parses the body of an answer with status 200.
    private func document<Value: Sendable>(
        _ answer: S3Client.Answer, operation: String, _ parse: @escaping @Sendable ([UInt8]) throws(S3AnswerError) -> Value
    ) async throws(StoreError) -> Value {
        guard let body = answer.body else { throw .failed(operation: operation, reason: "the answer is too large") }
        let result = try await client.onThread(operation) { () -> Result<Value, S3AnswerError> in
            do throws(S3AnswerError) { return .success(try parse(Array(body.readableBytesView))) } catch { return .failure(error) }
        }
        do throws(S3AnswerError) { return try result.get() } catch {
            throw .failed(operation: operation, reason: error.description.escaped.shortened(to: 300))
        }
    }

    private func fault(of answer: S3Client.Answer, operation: String) async throws(StoreError) -> S3Fault? {
        guard let body = answer.body, body.readableBytes > 0 else { return nil }
        return try await client.onThread(operation) { S3Fault(parsing: Array(body.readableBytesView)) }
    }

    private func error(_ answer: S3Client.Answer, _ request: S3Client.Request) async throws(StoreError) -> StoreError {
        error(try await fault(of: answer, operation: request.operation), in: answer, to: request)
    }

    private func error(_ fault: S3Fault?, in answer: S3Client.Answer, to request: S3Client.Request) -> StoreError {
        refusal.error(fault, status: answer.status, bucketRegion: answer.region, operation: request.operation)
    }
}

extension S3Store.Configuration {
    /// The address of the bucket, and the signer of requests to it.
    /// - Throws: `ConfigurationError` if a value is invalid.
    func resolved() throws(ConfigurationError) -> (address: S3Address, signer: RequestSigner) {
        for (key, value) in [("accessKey", accessKey), ("secretKey", secretKey), ("sessionToken", sessionToken ?? "-")] {
            guard !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw ConfigurationError(path: key, message: "is empty or has spaces or letters beyond ASCII")
            }
        }
        let credentials = S3Credentials(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)
        return (
            try S3Address(endpoint: endpoint, bucket: bucket, region: region, pathStyle: pathStyle),
            RequestSigner(credentials, region: region)
        )
    }
}
