import OnesheetCore

extension CoordinatorError {
    init(_ failure: LinkFailure, at address: ValkeyAddress, operation: String) {
        switch failure {
        case .timedOut: self = .timedOut(operation: operation)
        case .unreachable(let reason): self = .unreachable(operation: operation, reason: reason)
        case .garbage(let reason):
            self = .failed(
                operation: operation,
                reason: "\(address) does not answer as Valkey or Redis (\(reason)); check `addresses` and `tls`")
        case .refused(let error): self.init(reply: error, from: address, operation: operation)
        case .cancelled: self = .failed(operation: operation, reason: "the task was cancelled")
        }
    }

    /// The error of an engine, with what to do about it.
    init(reply error: String, from address: ValkeyAddress, operation: String) {
        let told = "\(address): \(error.prefix(300))"
        func refused(_ advice: String) -> Self { .refused(operation: operation, reason: "\(told) (\(advice))") }
        func unreachable(_ advice: String) -> Self { .unreachable(operation: operation, reason: "\(told) (\(advice))") }
        func failed(_ advice: String) -> Self { .failed(operation: operation, reason: "\(told) (\(advice))") }
        self =
            switch error.prefix(while: { $0 != " " }) {
            case "NOAUTH": refused("it wants a password: set `password`, and `user` if it has users")
            case "WRONGPASS": refused("check `user` and `password`")
            case "NOPERM":
                refused("the user lacks a right: README.md of ValkeyCoordinator lists the commands and keys that it needs")
            case "DENIED": refused("it is in protected mode: give it a password or bind it to a private address")
            case "READONLY": unreachable("it is a replica: list the master in `addresses`, or wait for the failover")
            case "LOADING": unreachable("it is reading its data after a start")
            case "CLUSTERDOWN":
                unreachable("the cluster lacks a master; with cluster-require-full-coverage no, only its slots fail")
            case "MASTERDOWN": unreachable("it is a replica without its master")
            case "UNBLOCKED": unreachable("its slots are moving")
            case "OOM": failed("its memory is full: raise maxmemory")
            case "MISCONF": failed("it cannot write its snapshot and refuses all writes: look at its log and its disk")
            case "NOREPLICAS": failed("it has fewer replicas than min-replicas-to-write")
            case "WRONGTYPE": failed("another program uses the same keys: set another `prefix`")
            case _ where error.contains("without any password configured"):
                refused("it has no password: remove `password`, or give it one")
            case _ where error.contains("invalid password"): refused("check `password`")
            case _ where error.contains("max number of clients"): unreachable("raise maxclients")
            default: .failed(operation: operation, reason: told)
            }
    }
}
