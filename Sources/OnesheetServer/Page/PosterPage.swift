import OnesheetAddress
import Crypto
import FoundationEssentials
import OnesheetCore
import OnesheetPipeline

/// “Find another poster”: a title's candidates, which is the poster and why, and buttons for the administrator.
struct PosterPage {
    let title: TitleReference
    let posters: PostersDocument

    /// What the page may load and run: its own pictures and styles, and the one script below. Nothing in it sends a form or changes where
    /// its addresses begin, which no default forbids (Content Security Policy Level 3 §6.3).
    static let policy =
        "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; form-action 'none'; base-uri 'none'; "
        + "script-src 'sha256-"
        + Data(SHA256.hash(data: Data(script.utf8))).base64EncodedString() + "'"

    var html: String {
        """
        <section data-path="/sources/\(source)/titles/\(id)/poster">
        <h2>Find another poster · 다른 포스터 찾기</h2>
        <p><a href="/?source=\(source)">Back · 뒤로</a></p>
        <img class="current" src="/t/p/w342/\(source)/\(id).jpg" width="342" alt="The poster now · 현재 포스터">
        <p>\(origin)</p>
        <p><label>Administrator's token · 관리자 토큰
          <input id="token" type="password" autocomplete="current-password"></label>
          <button data-order="">Choose anew · 다시 고르기</button>
          <button data-order='{"block": true}'>Block this picture · 이 그림 차단</button></p>
        <p id="outcome" class="problem" role="alert" hidden></p>
        <table>
        <tr><th>#</th><th>State · 상태</th><th>Score · 점수</th><th>Size · 크기</th><th>Site · 출처</th><th>Why · 이유</th><th></th></tr>
        \(posters.candidates.map(row).joined(separator: "\n"))
        </table>
        </section>
        <script>\(Self.script)</script>
        """
    }

    private var id: String { PercentEncoding.encode(id: title.id) }
    private var source: String { PercentEncoding.encode(title.source) }

    private var origin: String {
        guard let current = posters.current else { return "" }
        return
            "\(link(current.site ?? current.name, current.page)) · \(current.fetched.formatted(.iso8601)) · <code>\(current.hash)</code>"
    }

    private func row(_ candidate: PostersDocument.Candidate) -> String {
        let size = candidate.width.flatMap { width in candidate.height.map { "\(width) × \($0)" } } ?? ""
        return """
            <tr><td>\(candidate.candidate)</td><td>\(Self.words(candidate.state))</td><td>\(candidate.score.map { "\($0)" } ?? "")</td>\
            <td>\(size)</td><td>\(link(candidate.site ?? candidate.name, candidate.page))</td>\
            <td>\(candidate.reasons.joined(separator: ", ").html)</td>\
            <td><button data-order='{"candidate": \(candidate.candidate)}'>Use · 사용</button> \
            <button data-order='{"reject": \(candidate.candidate)}'>Never · 제외</button></td></tr>
            """
    }

    /// A link where `page` is one: a source may say anything.
    private func link(_ text: String, _ page: String?) -> String {
        guard let page, WebURL(page) != nil else { return text.html }
        return "<a href=\"\(page.html)\" rel=\"noreferrer noopener\">\(text.html)</a>"
    }

    private static func words(_ state: String?) -> String {
        switch state {
        case "chosen": "chosen · 선택됨"
        case "pinned": "pinned · 고정됨"
        case "rejected": "rejected · 제외됨"
        default: ""
        }
    }

    private static let script = """
        const outcome = document.getElementById("outcome");
        for (const button of document.querySelectorAll("button[data-order]")) {
          button.addEventListener("click", async () => {
            const order = button.dataset.order;
            const answer = await fetch(document.querySelector("section").dataset.path, {
              method: order ? "PUT" : "DELETE",
              headers: { Authorization: "Bearer " + document.getElementById("token").value },
              body: order || undefined
            });
            if (answer.ok) { location.reload(); return; }
            outcome.textContent = (await answer.json()).detail;
            outcome.hidden = false;
          });
        }
        """
}
