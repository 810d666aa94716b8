import OnesheetCore

/// The texts of the plain console, in English or Korean.
struct PlainWords {
    let language: String

    /// - Parameter acceptLanguage: the `Accept-Language` field (RFC 9110 §12.5.4). Korean is used if it is preferred to English.
    init(acceptLanguage: String?) {
        var best = (language: "en", quality: 0.0)
        for range in (acceptLanguage ?? "").pieces(at: ",") {
            let parts = range.pieces(at: ";").map { String(decoding: $0.utf8.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self) }
            guard let tag = parts.first?.lowercasedASCII() else { continue }
            let weight = parts.dropFirst().first { $0.starts(withBytesOf: "q=") }.flatMap { Double($0.dropFirst(bytes: 2)) } ?? 1
            let language = tag.starts(withBytesOf: "ko") ? "ko" : "en"
            if weight > best.quality { best = (language, weight) }
        }
        language = best.language
    }

    private func say(_ english: String, _ korean: String) -> String { language == "ko" ? korean : english }

    var sources: String { say("Sources", "출처") }
    var search: String { say("Search", "검색") }
    var none: String { say("No titles here.", "작품이 없습니다.") }
    var next: String { say("Next page", "다음 페이지") }
    var previous: String { say("Previous page", "이전 페이지") }
    var back: String { say("Back to the list", "목록으로") }
    var show: String { say("Show", "보기") }
    var sizes: String { say("Sizes", "크기") }
    var posters: String { say("Find another poster", "다른 포스터 찾기") }
    var poster: String { say("Poster", "포스터") }
    var released: String { say("Opening day", "개봉일") }
    var request: String { say("Request", "요청 번호") }

    /// The label of a metadata field. `nil` if the field is not shown.
    func fact(_ name: String) -> String? {
        switch name {
        case "directors": say("Directors", "감독")
        case "actors": say("Cast", "출연")
        case "genre", "genres", "genreAlt": say("Genre", "장르")
        case "minutes", "showTm", "runtime": say("Running time in minutes", "상영 시간(분)")
        case "nations", "nationAlt": say("Country", "국가")
        case "prdtYear": say("Year", "제작 연도")
        case "audits": say("Rating", "관람 등급")
        case "audiCnt": say("Audience", "관객")
        case "audiAcc": say("Audience in total", "누적 관객")
        default: nil
        }
    }

    /// The label of a candidate's state.
    func state(_ state: String?) -> String {
        switch state {
        case "chosen": say("chosen", "선택됨")
        case "pinned": say("pinned", "고정됨")
        case "rejected": say("rejected", "제외됨")
        default: ""
        }
    }
}
