// The page's own words in Korean and English, and how each language writes numbers and days.

const words = {
  en: {
    skip: "Skip to the content", nowShowing: "Now showing", showingOn: "Showing on {day}", showingFrom: "Showing {day}", titles: "Titles", figures: "Figures", sourcesView: "Sources", views: "Views",
    sources: "Source", otherLanguage: "한국어", search: "Search", searchIn: "Search titles", clear: "Clear the search",
    wall: "Wall", list: "List", layout: "Layout", refresh: "Refresh", period: "Period", day: "Day", week: "Week", weekend: "Weekend",
    weekdays: "Weekdays", chooseDay: "Choose a day", previousDay: "Previous day", nextDay: "Next day", previousWeek: "Previous week",
    nextWeek: "Next week", previousMonth: "Previous month", nextMonth: "Next month", previousYear: "Previous year", nextYear: "Next year",
    close: "Close", newest: "Newest", found: "Found for “{phrase}”", count: "{count} titles", more: "More titles", loading: "Loading …",
    empty: "No titles here.", emptyDay: "There is no list for this day.", notFound: "Nothing found for “{phrase}”", emptySearch: "Nothing is called “{phrase}”.",
    emptyHelp: "Choose another day, or look at the newest list.", showNewest: "Show the newest list", noPoster: "No poster",
    rank: "Rank", change: "Change", isNew: "NEW", up: "up {count}", down: "down {count}", same: "unchanged", title: "Title", opened: "Opened",
    total: "Total", audienceDay: "Audience", audienceTotal: "In total",
    noView: "There is no view “{name}”.", noPeriod: "This list has no period “{name}”.", today: "today",
    onlySearch: "This source has no lists.", onlySearchHelp: "Search for a title.", noSources: "There is no source yet.", noSourcesHelp: "See how to add one.", failing: "not answering", exhausted: "quota used up", limited: "paused", quotaUsed: "Quota used up.",
    failingSince: "The source has not answered since {time}.", exhaustedUntil: "The source's quota is used up; it is full again {time}", limitedUntil: "Paused until {time}", well: "answers",
    problem: "That did not work", retry: "Try again", retryIn: "Try again in {count} s.", requestID: "Request", copyRequest: "Copy the request's id",
    offline: "No connection.", offlineHelp: "The server cannot be reached. See whether it runs, then try again.",
    late: "The server did not answer within 30 seconds.", lateHelp: "The page has stopped waiting. The server may still be at work: try again in a moment.",
    unreadable: "The answer cannot be read.", unreadableHelp: "It is not a document of Onesheet. Something between this browser and the server may have answered instead: a proxy or a sign-in page, say.",
    onlyStatus: "The answer has the status {status} and no explanation.",
    help400: "Something in the address is wrong. Correct it, or start from the list.",
    help401: "Only the administrator may do this. Sign in with the token of the configuration.",
    help404: "It may have been removed, or the address has a typing error.",
    help409: "Somebody else has decided, or another tab. Look at how it is now, and decide again.",
    help422: "The original is not a picture that this server reads. Replace it at its source, or reject it.",
    help429: "There were too many requests at once. Wait a moment.",
    help502: "The source's service does not answer as it should. The log has more under the request's id.",
    help503: "The server or its source has no room at the moment. It tells when to come again.",
    help504: "It took too long. Try again; what was fetched meanwhile is kept.",
    help500: "Something went wrong in the server. The log says more under the request's id.",
    back: "Back to the list", directors: "Director", year: "Year", releaseDate: "Opening day", minutes: "Running time", minutesValue: "{count} min",
    grade: "Rating", nations: "Country", genres: "Genre", cast: "Cast", castAs: "{name} as {role}", companies: "Companies",
    kind: "Kind", ids: "Ids", attribution: "Data", sizes: "Sizes", size: "Size", pixels: "Pixels", bytes: "Bytes",
    format: "Format", copyURL: "Copy the address", copyCurl: "Copy as curl", copied: "Copied", copy: "Copy", asImage: "For a web page",
    provenance: "Where it comes from", site: "Site", fetched: "Fetched", freshUntil: "Fresh until", original: "Original", picture: "Picture",
    another: "Find another poster", candidates: "Candidates", posterOf: "Poster of {name}", backToTitle: "Back to {name}",
    notAvailable: "not available", candidate: "Candidate {count}", chosen: "chosen", pinned: "pinned", rejected: "rejected",
    score: "Score", pin: "Pin", reject: "Reject", unpin: "Unpin", allow: "Allow again", block: "Block the present picture", undo: "Undo", anew: "Forget decisions, choose anew",
    onlyOne: "The source knows its poster; nothing was compared.", notLooked: "Not compared with the others yet", token: "Administrator's token",
    signIn: "Sign in", signOut: "Sign out", signedIn: "Signed in as administrator",
    signInHelp: "The administrator of this server can pin or reject a candidate, block the present picture, or choose anew. "
      + "The token to sign in with is admin.token in the server’s configuration file. This tab keeps it until it is closed.",
    noToken: "No token was given. Sign in first.", wrongToken: "The token is not the one of the configuration. Check it, and sign in again.",
    againIn: "Trying again in {count} s.", details: "Details", noAnswer: "The server does not answer.", pictureForbidden: "The server refuses this picture.", pictureBroken: "The original is not a usable picture.",
    pictureBusy: "The server or the source is busy.", pictureFailed: "The server failed.", pictureOrigin: "The source does not answer.",
    lostPin: "The pin is forgotten.", lostRejections: "Rejections forgotten: {count}.",
    tooLong: "It took too long.", tooLongInList: "Refresh to try again.", tryView: "Try", explain: "Explain", trySizes: "Try other sizes and formats",
    whySlow: "Why was it fast or slow?",
  },
  ko: {
    skip: "본문으로 건너뛰기", nowShowing: "현재 상영작", showingOn: "{day} 상영작", showingFrom: "{day} 상영작", titles: "작품", figures: "지표", sourcesView: "출처", views: "화면",
    sources: "출처", otherLanguage: "English", search: "검색", searchIn: "작품 검색", clear: "검색 지우기",
    wall: "포스터", list: "목록", layout: "보기 방식", refresh: "새로 고침", period: "기간", day: "일별", week: "주간", weekend: "주말",
    weekdays: "주중", chooseDay: "날짜 고르기", previousDay: "전날", nextDay: "다음 날", previousWeek: "지난주",
    nextWeek: "다음 주", previousMonth: "지난달", nextMonth: "다음 달", previousYear: "지난해", nextYear: "다음 해",
    close: "닫기", newest: "최신", found: "‘{phrase}’ 검색 결과", count: "{count}편", more: "더 보기", loading: "불러오는 중 …",
    empty: "작품이 없습니다.", emptyDay: "이 날의 목록이 없습니다.", notFound: "‘{phrase}’ 검색 결과 없음", emptySearch: "‘{phrase}’에 맞는 작품이 없습니다.",
    emptyHelp: "다른 날짜를 고르거나 최신 목록을 보세요.", showNewest: "최신 목록 보기", noPoster: "포스터 없음",
    rank: "순위", change: "변동", isNew: "NEW", up: "{count}계단 상승", down: "{count}계단 하락", same: "변동 없음", title: "제목", opened: "개봉",
    total: "합계", audienceDay: "관객", audienceTotal: "누적 관객",
    noView: "‘{name}’ 화면은 없습니다.", noPeriod: "이 목록에는 ‘{name}’ 기간이 없습니다.", today: "오늘",
    onlySearch: "이 출처에는 목록이 없습니다.", onlySearchHelp: "작품을 검색하세요.", noSources: "아직 출처가 없습니다.", noSourcesHelp: "추가하는 방법을 보세요.", failing: "응답 없음", exhausted: "사용 한도 소진", limited: "잠시 멈춤", quotaUsed: "사용 한도를 다 썼습니다.",
    failingSince: "{time}부터 응답하지 않습니다.", exhaustedUntil: "사용 한도를 다 썼습니다. {time}에 다시 채워집니다", limitedUntil: "{time}까지 멈춥니다", well: "정상",
    problem: "문제가 생겼습니다", retry: "다시 시도", retryIn: "{count}초 뒤에 다시 시도하세요.", requestID: "요청 번호", copyRequest: "요청 번호 복사",
    offline: "연결되지 않았습니다.", offlineHelp: "서버에 연결할 수 없습니다. 서버가 실행 중인지 확인하고 다시 시도하세요.",
    late: "서버가 30초 안에 응답하지 않았습니다.", lateHelp: "기다리기를 그만두었습니다. 서버가 아직 작업 중일 수 있으니 잠시 뒤에 다시 시도하세요.",
    unreadable: "응답을 읽을 수 없습니다.", unreadableHelp: "Onesheet의 응답이 아닙니다. 프록시나 로그인 페이지처럼 브라우저와 서버 사이에 있는 것이 대신 응답했을 수 있습니다.",
    onlyStatus: "설명 없이 상태 코드 {status}만 왔습니다.",
    help400: "주소에 잘못된 값이 있습니다. 고치거나 목록에서 다시 시작하세요.",
    help401: "관리자만 할 수 있습니다. 설정에 있는 토큰으로 로그인하세요.",
    help404: "삭제되었거나 주소에 오타가 있습니다.",
    help409: "다른 사람이나 다른 탭에서 결정을 바꾸었습니다. 지금 상태를 보고 다시 결정하세요.",
    help422: "원본이 이 서버가 읽을 수 있는 그림이 아닙니다. 출처에서 바꾸거나 제외하세요.",
    help429: "요청이 한꺼번에 너무 많았습니다. 잠시 기다리세요.",
    help502: "출처의 서비스가 제대로 응답하지 않습니다. 자세한 내용은 요청 번호로 로그에서 찾을 수 있습니다.",
    help503: "지금은 서버나 출처에 여유가 없습니다. 안내된 시간 뒤에 다시 시도하세요.",
    help504: "시간이 너무 오래 걸렸습니다. 다시 시도하세요. 그동안 받은 것은 남아 있습니다.",
    help500: "서버에 문제가 생겼습니다. 자세한 내용은 요청 번호로 로그에서 찾을 수 있습니다.",
    back: "목록으로", directors: "감독", year: "제작 연도", releaseDate: "개봉일", minutes: "상영 시간", minutesValue: "{count}분",
    grade: "관람 등급", nations: "국가", genres: "장르", cast: "출연", castAs: "{name} ({role})", companies: "제작·배급",
    kind: "유형", ids: "다른 곳의 번호", attribution: "자료", sizes: "크기", size: "크기", pixels: "화소", bytes: "용량",
    format: "형식", copyURL: "주소 복사", copyCurl: "curl 명령 복사", copied: "복사했습니다", copy: "복사", asImage: "웹 페이지에 넣기",
    provenance: "포스터의 출처", site: "사이트", fetched: "가져온 때", freshUntil: "유효 기한", original: "원본", picture: "그림",
    another: "다른 포스터 찾기", candidates: "후보", posterOf: "{name} 포스터", backToTitle: "{name} 페이지로 돌아가기",
    notAvailable: "없음", candidate: "후보 {count}", chosen: "선택됨", pinned: "고정됨", rejected: "제외됨",
    score: "점수", pin: "고정", reject: "제외", unpin: "고정 해제", allow: "제외 취소", block: "현재 그림 차단", undo: "되돌리기", anew: "결정을 잊고 다시 고르기",
    onlyOne: "출처가 포스터를 알고 있어 비교하지 않았습니다.", notLooked: "다른 후보와 아직 비교하지 않음", token: "관리자 토큰",
    signIn: "로그인", signOut: "로그아웃", signedIn: "관리자로 로그인했습니다",
    signInHelp: "이 서버의 관리자는 후보를 고정하거나 제외하고, 현재 그림을 차단하고, 포스터를 다시 고를 수 있습니다. "
      + "로그인할 토큰은 서버 설정 파일의 admin.token에 있습니다. 토큰은 이 탭을 닫을 때까지만 기억합니다.",
    noToken: "토큰이 없습니다. 먼저 로그인하세요.", wrongToken: "설정에 있는 토큰과 다릅니다. 확인하고 다시 로그인하세요.",
    againIn: "{count}초 뒤에 다시 시도합니다.", details: "자세히", noAnswer: "서버가 응답하지 않습니다.", pictureForbidden: "서버가 이 그림을 거부합니다.", pictureBroken: "원본이 쓸 수 있는 그림이 아닙니다.",
    pictureBusy: "서버나 출처에 여유가 없습니다.", pictureFailed: "서버에 문제가 생겼습니다.", pictureOrigin: "출처가 응답하지 않습니다.",
    lostPin: "고정한 것을 잊었습니다.", lostRejections: "제외한 것 {count}개를 잊었습니다.",
    tooLong: "너무 오래 걸렸습니다.", tooLongInList: "새로 고치면 다시 시도합니다.", tryView: "만들어 보기", explain: "살펴보기",
    trySizes: "다른 크기와 형식 만들기", whySlow: "왜 빨랐을까, 느렸을까?",
  },
};

export const languages = Object.keys(words);

function preferred() {
  const kept = localStorage.getItem("language");
  if (languages.includes(kept)) return kept;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => languages.includes(tag)) ?? "en";
}

export const language = preferred();
export const otherLanguage = languages.find((name) => name !== language);
document.documentElement.lang = language;

export function chooseLanguage(name) {
  localStorage.setItem("language", name);
  location.reload();
}

/** The texts of a language by their keys. */
export const wordsOf = (name) => words[name];

/** Adds words that are loaded later. */
export function learn(more) {
  for (const name of languages) Object.assign(words[name], more[name]);
}

/** A text of the page, with values for what stands in braces. */
export function t(key, values = {}) {
  return words[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The language of a text that a source gave, for screen readers and fonts; null if it is the page's own. */
export function languageOf(text) {
  const found = /\p{Script=Hangul}/u.test(text) ? "ko" : /\p{Script=Latin}/u.test(text) ? "en" : null;
  return found === language ? null : found;
}

export const percent = (value) => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(value);

/** A duration in milliseconds, in seconds from one second on. */
export function milliseconds(value) {
  const [amount, unit] = value >= 1000 ? [value / 1000, "s"] : [value, "ms"];
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: amount < 10 ? 2 : amount < 100 ? 1 : 0 }).format(amount)} ${unit}`;
}

// Kept, because each card of a wall writes numbers and a day, and a formatter takes far longer to make than to use.
const numbers = new Intl.NumberFormat(language);
export const number = (value) => numbers.format(value);

export function bytes(value) {
  if (value < 1000) return `${value} B`;
  const [amount, unit] = value < 1e6 ? [value / 1000, "kB"] : value < 1e9 ? [value / 1e6, "MB"] : [value / 1e9, "GB"];
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: amount < 10 ? 1 : 0 }).format(amount)} ${unit}`;
}

const utc = (day) => new Date(day + "T00:00:00Z");
const style = (options) => new Intl.DateTimeFormat(language, { timeZone: "UTC", ...options });

/** A day such as 2026-11-20, written out. */
export const longDay = (day) => style({ weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(utc(day));
const shortDays = style({ day: "numeric", month: "short", year: "numeric" });
export const shortDay = (day) => shortDays.format(utc(day));
export const monthName = (day) => style({ month: "long", year: "numeric" }).format(utc(day));
export const weekdayName = (day, width) => style({ weekday: width }).format(utc(day));
export const days = (first, last) => style({ day: "numeric", month: "long", year: "numeric" }).formatRange(utc(first), utc(last));

/** A moment in the reader's own time zone. */
export const moment = (date) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(date));
