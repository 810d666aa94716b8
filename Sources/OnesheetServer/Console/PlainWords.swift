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

    private func localized(_ english: String, _ korean: String) -> String { language == "ko" ? korean : english }

    var sources: String { localized("Sources", "출처") }
    var search: String { localized("Search", "검색") }
    var none: String { localized("No titles here.", "작품이 없습니다.") }
    var next: String { localized("Next page", "다음 페이지") }
    var previous: String { localized("Previous page", "이전 페이지") }
    var back: String { localized("Back to the list", "목록으로") }
    var show: String { localized("Show", "보기") }
    var sizes: String { localized("Sizes", "크기") }
    var posters: String { localized("Find another poster", "다른 포스터 찾기") }
    var poster: String { localized("Poster", "포스터") }
    var released: String { localized("Opening day", "개봉일") }
    var request: String { localized("Request", "요청 번호") }

    /// The label of a metadata field. `nil` if the field is not shown.
    func fact(_ name: String) -> String? {
        switch name {
        case "directors": localized("Directors", "감독")
        case "actors": localized("Cast", "출연")
        case "genre", "genres", "genreAlt": localized("Genre", "장르")
        case "minutes", "showTm", "runtime": localized("Running time in minutes", "상영 시간(분)")
        case "nations", "nationAlt": localized("Country", "국가")
        case "prdtYear": localized("Year", "제작 연도")
        case "audits": localized("Rating", "관람 등급")
        case "audiCnt": localized("Audience", "관객")
        case "audiAcc": localized("Audience in total", "누적 관객")
        default: nil
        }
    }

    /// The label of a candidate's state.
    func state(_ state: String?) -> String {
        switch state {
        case "chosen": localized("chosen", "선택됨")
        case "pinned": localized("pinned", "고정됨")
        case "rejected": localized("rejected", "제외됨")
        default: ""
        }
    }
}
