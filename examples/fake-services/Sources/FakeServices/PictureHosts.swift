internal import FoundationEssentials

/// Imitates picture hosts: `/pictures/{host}/…/{film}/{width}x{height}/{name}`, and faults under `/pictures/fault/{kind}`.
struct PictureHosts: Sendable {
    let fault: Fault?

    func answer(_ request: Request) throws -> Answer {
        let path = request.path.dropFirst()
        if path.first == "fault" { return try damaged(path.last ?? "") }
        let place = Array(path.suffix(3))
        guard path.count >= 4, let film = Film.all.first(where: { $0.code == place[0] }) else { return .missing }
        let size = place[1].split(separator: "x").compactMap { Int($0) }
        guard size.count == 2, size.allSatisfy({ (1...4000).contains($0) }) else { return .missing }
        if fault == .pictures { return try damaged(["html", "truncated", "empty"][film.number % 3]) }
        let isPoster = size[0] < size[1]
        // Posters in several languages look different.
        let language = ["ja", "en", "none"].firstIndex { place[2].hasPrefix("\($0).") }.map { $0 + 1 } ?? 0
        return Answer(
            type: "image/jpeg",
            body: .bytes(try Picture(seed: film.number + 100 * language, isPoster: isPoster).jpeg(width: size[0], height: size[1])))
    }

    /// Responses that real hosts have sent in place of a picture.
    private func damaged(_ kind: String) throws -> Answer {
        let whole = try Picture(seed: 1, isPoster: true).jpeg(width: 400, height: 600)
        switch kind {
        case "html": return .html("Please do not link to pictures.", type: "image/jpeg")
        case "empty": return Answer(type: "image/jpeg", body: .bytes([]))
        case "truncated": return Answer(type: "image/jpeg", body: .bytes(Array(whole.prefix(whole.count / 2))))
        case "broken":
            return Answer(type: "image/jpeg", body: .truncated(Array(whole.prefix(whole.count / 2)), announced: whole.count))
        case "endless": return Answer(type: "image/jpeg", body: .endless)
        case "silence": return Answer(type: "image/jpeg", body: .silence)
        case "loop": return Answer(status: 302, type: "text/plain", location: "/pictures/fault/loop", body: .bytes([]))
        case "moved":
            return Answer(
                status: 302, type: "text/plain", location: "/pictures/moved/\(Film.all[0].code)/400x600/x.jpg", body: .bytes([]))
        case "private": return Answer(status: 302, type: "text/plain", location: "http://169.254.169.254/latest", body: .bytes([]))
        case "error": return .html("Something broke.", status: 500)
        default: return .missing
        }
    }
}
