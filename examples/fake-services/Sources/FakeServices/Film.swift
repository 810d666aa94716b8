/// An invented film.
struct Film: Sendable {
    let number: Int
    /// A code in the format of KOBIS: digits, some with a letter.
    let code: String
    let name: String
    let englishName: String
    let genre: String
    let minutes: Int
    /// yyyyMMdd; empty without a release.
    let released: String

    static let all: [Film] = {
        let films = table.split(separator: "\n").enumerated().map { index, line in
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            let code = index.isMultiple(of: 7) ? "2026A\(100 + index)" : "2026\(1000 + index * 37)"
            return Film(
                number: index + 1, code: code, name: parts[0], englishName: parts[1], genre: parts[2],
                minutes: 88 + index * 17 % 60,
                released: parts[3])
        }
        return films
    }()

    /// Korean name, English name, genre, release. As in real data, one name ends in a space and one film has no release.
    private static let table = """
        달의 정원사|The Moon's Gardener|판타지|20261028
        오래된 파도|Old Waves|드라마|20261104
        서른세 번째 방|The Thirty-third Room|미스터리|20261014
        유리 고래 |Glass Whale|애니메이션|20261111
        북쪽으로 부는 노래|A Song Blowing North|뮤지컬|20261021
        모래시계 도둑|The Hourglass Thief|범죄|20261118
        여름의 마지막 우체부|The Last Postman of Summer|드라마|20260916
        은하 세탁소|Galaxy Laundry|코미디|20261104
        그림자 수선공|The Shadow Mender|판타지|20261007
        열두 개의 창문|Twelve Windows|스릴러|20261118
        바람의 사전|A Dictionary of Winds|다큐멘터리|
        초록 신호|Green Signal|액션|20261111
        고요의 무게|The Weight of Quiet|드라마|20260923
        마지막 등대지기|The Last Lighthouse|드라마|20261028
        종이 우주선|Paper Spaceship|가족|20260909
        새벽 네 시의 극장|Theatre at Four|미스터리|20261118
        물고기자리 소년|The Boy from Pisces|판타지|20261021
        눈 내리는 사막|Snow in the Desert|어드벤처|20261014
        비밀 정류장|The Secret Stop|스릴러|20260930
        두 개의 달력|Two Calendars|로맨스|20261111
        """
}
