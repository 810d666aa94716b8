internal import OnesheetCore

/// From a store's errors to ours, with what an operator can do about them.
struct S3Refusal: Sendable {
    let bucket: String
    let region: String
    /// Whether the bucket is only read.
    var isRead = false

    /// - Parameters:
    ///   - fault: the store's error; `nil` if the body has none.
    ///   - bucketRegion: the region of the bucket, if the answer's head tells it.
    func error(_ fault: S3Fault?, status: Int, bucketRegion: String?, operation: String) -> StoreError {
        let code = fault?.code ?? ""
        let said = fault.map { "\($0.code): \($0.message)" } ?? "HTTP status \(status)"
        let shown = said.escaped.shortened(to: 300)
        if let advice = advice(fault, status: status, bucketRegion: bucketRegion ?? fault?.region) {
            return .refused(operation: operation, reason: "\(advice) (\(shown))")
        }
        switch (code, status) {
        case ("SlowDown", _), ("ServiceUnavailable", _), ("TooManyRequests", _), ("RequestLimitExceeded", _), (_, 429), (_, 503):
            return .unreachable(
                operation: operation,
                reason: "it has too many requests at the moment; it will be asked again later (\(shown))")
        // 501 is an answer: the store does not have what was asked.
        case (_, 500), (_, 502...599): return .unreachable(operation: operation, reason: shown)
        default: return .failed(operation: operation, reason: shown)
        }
    }

    /// The change that an operator can make if the store refuses this server.
    private func advice(_ fault: S3Fault?, status: Int, bucketRegion: String?) -> String? {
        switch (fault?.code ?? "", status) {
        case ("InvalidAccessKeyId", _): return "the store does not know this `accessKey`"
        case ("SignatureDoesNotMatch", _):
            return "the signature does not match: check `secretKey`, and that no proxy changes the path or the host"
        case ("RequestTimeTooSkewed", _), ("RequestExpired", _), ("RequestInTheFuture", _):
            let theirs = fault?.serverTime.map { ", which reads \($0.escaped.shortened(to: 40))" } ?? ""
            return "this machine's clock differs from the store's\(theirs): synchronize it (NTP)"
        case ("ExpiredToken", _), ("InvalidToken", _), ("TokenRefreshRequired", _):
            return "`sessionToken` is invalid or has expired: renew the temporary credentials"
        case ("NoSuchBucket", _): return "there is no bucket “\(bucket)”: create it, or correct `bucket`"
        case ("PermanentRedirect", _), ("TemporaryRedirect", _), ("AuthorizationHeaderMalformed", _),
            ("IllegalLocationConstraintException", _), (_, 301), (_, 302), (_, 307), (_, 308):
            let found =
                bucketRegion.map { "`region: \($0.escaped.shortened(to: 40))`" } ?? "`region` (now \(region)) and `endpoint`"
            return "the bucket “\(bucket)” is elsewhere: set \(found)"
        case ("InvalidBucketName", _): return "“\(bucket)” is not a name of a bucket for this store"
        case ("AccessDenied", _), ("AllAccessDisabled", _), ("AccountProblem", _), ("", 401), ("", 403):
            let verbs = isRead ? "s3:GetObject" : "s3:GetObject, s3:PutObject and s3:DeleteObject"
            return "access is denied: the policy must allow \(verbs) on \(bucket)/*, and s3:ListBucket on \(bucket)"
        case (_, 401), (_, 403): return "the store denies access"
        default: return nil
        }
    }
}
