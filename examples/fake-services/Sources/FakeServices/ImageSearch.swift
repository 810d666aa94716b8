/// Imitates Kakao's image search: the first hit is a news photo, and some hits are posters.
struct ImageSearch: Sendable {
    let fault: Fault?
    /// The address of the pictures: `http://127.0.0.1:9090`.
    let address: String

    /// Kind of site, host, name, width, height.
    private static let hits: [(collection: String, host: String, picture: String, width: Int, height: Int)] = [
        ("news", "t1.daumcdn.net", "photo.jpg", 710, 490), ("blog", "cfile23.uf.daum.net", "small", 314, 441),
        ("blog", "postfiles.pstatic.net", "scene.jpg?type=w1", 960, 640), ("blog", "blog.kakaocdn.net", "poster.jpg", 1000, 1436),
        ("etc", "i0.wp.com", "wide.png", 1280, 720), ("cafe", "cfile4.uf.daum.net", "poster", 411, 592),
        ("blog", "postfiles.pstatic.net", "scene.jpg?type=w2", 800, 800), ("news", "t1.daumcdn.net", "phone", 540, 960),
        ("etc", "i0.wp.com", "almost-square.jpg", 500, 560), ("cafe", "t1.daumcdn.net", "leaflet.jpg", 600, 424),
    ]

    func answer(_ request: Request) throws -> Answer {
        switch (fault, request.authorization) {
        case (.key, _), (_, nil), (_, "KakaoAK "), (_, "KakaoAK bad"):
            return try .json(["code": -401, "msg": "wrong appKey format"], status: 401)
        case (.quota, _), (_, "KakaoAK exhausted"):
            return try .json(["code": -10, "msg": "API limit has been exceeded."], status: 400)
        default: break
        }
        guard let phrase = request.query["query"], !phrase.isEmpty else {
            return try .json(["code": -2, "msg": "query parameter required"], status: 400)
        }
        guard let film = Film.all.first(where: { phrase.hasPrefix($0.name.split(separator: " ").joined(separator: " ")) }) else {
            return try .json(["meta": ["total_count": 0, "pageable_count": 0, "is_end": true], "documents": []])
        }
        let size = min(80, max(1, request.query["size"].flatMap { Int($0) } ?? 80))
        let documents = Self.hits.prefix(size).enumerated().map { index, hit -> JSON in
            [
                "collection": .text(hit.collection), "display_sitename": .text(hit.collection == "news" ? "다음뉴스" : "네이버블로그"),
                "doc_url": .text("http://\(hit.collection).example/\(film.code)/\(index)"),
                "image_url": .text("\(address)/pictures/\(hit.host)/\(film.code)/\(hit.width)x\(hit.height)/\(hit.picture)"),
                "thumbnail_url": .text("\(address)/pictures/search1.kakaocdn.net/\(film.code)/130x130/thumb"),
                "width": .number(hit.width), "height": .number(hit.height),
                "datetime": .text("2026-10-\(10 + index)T09:30:00.000+09:00"),
            ]
        }
        return try .json([
            "meta": ["total_count": 1_153_412, "pageable_count": 3905, "is_end": .flag(size >= Self.hits.count)],
            "documents": .list(documents),
        ])
    }
}
