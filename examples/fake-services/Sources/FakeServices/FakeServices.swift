internal import Synchronization

/// KOBIS, Kakao's image search, three databases of films, and picture hosts, all behind one address.
public final class FakeServices: Sendable {
    private let fault: Fault?
    private let counts = Mutex<[String: Int]>([:])

    public init(fault: Fault? = nil) { self.fault = fault }

    /// The number of requests to each service: `kobis`, `kakao`, `tmdb`, `fanart`, `kmdb`, `pictures`.
    public var requests: [String: Int] { counts.withLock { $0 } }

    /// - Parameters:
    ///   - target: path and query.
    ///   - address: the address of these services, for links between them.
    func answer(target: String, authorization: String?, address: String) -> Answer {
        let request = Request(target: target, authorization: authorization)
        let name = request.path.first ?? ""
        do {
            if name == "_counts" { return try .json(.object(requests.mapValues(JSON.number))) }
            guard ["kobis", "kakao", "tmdb", "fanart", "kmdb", "pictures"].contains(name) else { return .missing }
            counts.withLock { $0[name, default: 0] += 1 }
            if let answer = outage { return answer }
            switch name {
            case "kobis": return try BoxOffice(fault: fault).answer(request)
            case "kakao": return try ImageSearch(fault: fault, address: address).answer(request)
            case "tmdb": return try TMDB(fault: fault).answer(request)
            case "fanart": return try FilmDatabases(fault: fault, address: address).fanart(request)
            case "kmdb": return try FilmDatabases(fault: fault, address: address).kmdb(request)
            default: return try PictureHosts(fault: fault).answer(request)
            }
        } catch {
            return .html("\(error)", status: 500)
        }
    }

    private var outage: Answer? {
        switch fault {
        case .html: .html("We are sorry.")
        case .down: .html("We are down.", status: 503)
        case .silence: Answer(body: .silence)
        case .quota, .key, .pictures, nil: nil
        }
    }
}
