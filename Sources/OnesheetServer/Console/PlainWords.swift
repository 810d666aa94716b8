import OnesheetCore
import OnesheetHTTP

/// The texts of the plain console, in English or Korean.
struct PlainWords {
    let language: String

    /// - Parameter acceptLanguage: the `Accept-Language` field (RFC 9110 §12.5.4). Korean is used if it is preferred to English.
    init(acceptLanguage: String?) {
        var best = (language: "en", quality: 0.0)
        for range in WeightedValues(acceptLanguage).all where range.quality > best.quality {
            best = (range.name.starts(withBytesOf: "ko") ? "ko" : "en", range.quality)
        }
        language = best.language
    }

    private func localized(_ english: String, _ korean: String) -> String { language == "ko" ? korean : english }

    var nowShowing: String { localized("Now showing", "현재 상영작") }
    var titles: String { localized("Titles", "작품") }
    var title: String { localized("Title", "제목") }
    var day: String { localized("Day", "날짜") }
    var periodLabel: String { localized("Period", "기간") }
    var candidate: String { localized("Candidate", "후보") }
    func found(_ phrase: String) -> String { localized("Found for “\(phrase)”", "‘\(phrase)’ 검색 결과") }
    func showing(on day: String) -> String { localized("Showing on \(day)", "\(day) 상영작") }

    var viewNeedsScripts: String {
        localized(
            "This view needs scripts, which your browser does not run. Allow them for this site, and open the view again.",
            "이 화면에는 스크립트가 필요합니다. 브라우저에서 이 사이트의 스크립트를 허용하고 다시 여세요.")
    }
    var withScripts: String { localized("Open the view with scripts", "스크립트로 열기") }
    var withoutScripts: String {
        localized(
            "This is Onesheet without scripts. Try, Explain, Figures and Sources need scripts, and so does a decision about a poster.",
            "스크립트 없이 보는 화면입니다. 만들어 보기, 살펴보기, 지표, 출처 화면과 포스터 고르기에는 스크립트가 필요합니다.")
    }

    /// The name of a view that needs scripts, by its parameter in the address.
    func scripted(_ view: String) -> String? {
        switch view {
        case "try": localized("Try", "만들어 보기")
        case "explain": localized("Explain", "살펴보기")
        case "figures": localized("Figures", "지표")
        case "sources": localized("Sources", "출처")
        default: nil
        }
    }

    func period(_ period: TitleQuery.Period) -> String {
        switch period {
        case .day: localized("Day", "일별")
        case .week: localized("Week", "주간")
        case .weekend: localized("Weekend", "주말")
        case .weekdays: localized("Weekdays", "주중")
        }
    }

    /// The name of a title, and its other name if it has one. The one in the reader's language is first.
    func names(of title: Title) -> (first: String, other: String?) {
        guard let other = title.originalName, !other.isExactly(title.name) else { return (title.name, nil) }
        let isForeign = Self.language(of: title.name).map { $0 != language } ?? false
        return isForeign && Self.language(of: other) == language ? (other, title.name) : (title.name, other)
    }

    /// The attribute for a text whose language is not the page's.
    func lang(_ text: String) -> String {
        Self.language(of: text).flatMap { $0 == language ? nil : " lang=\"\($0)\"" } ?? ""
    }

    /// The language of a name, according to its letters: Hangul (Unicode blocks AC00–D7A3, 1100–11FF, 3130–318F), else Latin.
    private static func language(of text: String) -> String? {
        let scalars = text.unicodeScalars
        if scalars.contains(where: {
            (0xAC00...0xD7A3).contains($0.value) || (0x1100...0x11FF).contains($0.value) || (0x3130...0x318F).contains($0.value)
        }) {
            return "ko"
        }
        return scalars.contains { $0.properties.isAlphabetic && $0.value < 0x250 } ? "en" : nil
    }

    var sources: String { localized("Sources", "출처") }
    var search: String { localized("Search", "검색") }
    var none: String { localized("No titles here.", "작품이 없습니다.") }
    var next: String { localized("Next page", "다음 페이지") }
    var previous: String { localized("Previous page", "이전 페이지") }
    var back: String { localized("Back to the list", "목록으로") }
    var backToTitle: String { localized("Back to the title", "작품으로") }
    var show: String { localized("Show", "보기") }
    var sizes: String { localized("Sizes", "크기") }
    var posters: String { localized("Find another poster", "다른 포스터 찾기") }
    var poster: String { localized("Poster", "포스터") }
    var released: String { localized("Opening day", "개봉일") }
    var ids: String { localized("Ids", "다른 곳의 번호") }
    var attribution: String { localized("Data", "자료") }
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

extension String {
    /// The text with a capital letter at its beginning, if it begins with a word, so that it can stand alone. A name, an address or a value
    /// at its beginning stays as it is.
    var asSentence: String {
        let word = utf8.prefix { (0x61...0x7A).contains($0) }
        guard let first = word.first, utf8.dropFirst(word.count).first == UInt8(ascii: " ") else { return self }
        return String(UnicodeScalar(first - 0x20)) + dropFirst(bytes: 1)
    }
}
