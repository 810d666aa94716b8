// The public JSON API (docs/http-api.md). What fails is a Problem with the server's words and the request's id.

/** What failed. Without a `status`, `kind` says why there is no answer: `offline`, `late`, or `unreadable`. */
export class Problem extends Error {
  constructor({ status = 0, kind = null, title = "", detail = "", option = null, request = null, retryAfter = null }) {
    super(detail || title);
    Object.assign(this, { status, kind, title, detail, option, request, retryAfter });
  }
}

/** The milliseconds after which the page gives a request up. */
const patience = 30_000;

/** The server's answer, as `read` reads it. What does not come, or not in time, is a Problem; what `signal` ends is an `AbortError`. */
export async function request(path, { signal, ...options }, read) {
  const late = AbortSignal.timeout(patience);
  try {
    return await read(await fetch(path, { ...options, signal: signal ? AbortSignal.any([signal, late]) : late }));
  } catch (error) {
    if (error instanceof Problem) throw error;
    signal?.throwIfAborted();
    if (late.aborted) throw new Problem({ kind: "late" });
    throw new Problem({ kind: "offline" });
  }
}

/** The problem of an answer that is not as it should be, with the server's words if there are any. */
export function problem(response, document = null) {
  const wait = Number(response.headers.get("Retry-After"));
  return new Problem({
    status: response.status, title: document?.title, detail: document?.detail, option: document?.option,
    request: document?.request ?? response.headers.get("X-Request-Id"), retryAfter: wait > 0 ? wait : null,
  });
}

/** The JSON document at an address of this server. The administrator's token goes where nobody else is let in. */
export const get = (path, options = {}) =>
  request(path, { ...options, headers: { Accept: "application/json", ...options.headers } }, async (response) => {
    const token = response.status === 401 && !options.headers && sessionStorage.getItem("token");
    if (token) return get(path, { ...options, headers: { Authorization: `Bearer ${token}` } });
    const text = await response.text();
    let document = null;
    try {
      document = JSON.parse(text);
    } catch {
      // From something before the server, say.
      if (response.ok) throw new Problem({ kind: "unreadable", request: response.headers.get("X-Request-Id") });
    }
    if (!response.ok) throw problem(response, document);
    return document;
  });

/** The header of a picture, whatever its status. */
export const pictureHead = (path, signal) => request(path, { method: "HEAD", headers: { Accept: accept }, signal }, (response) => response);

let known;
/** The sources; asked for once, or again on demand. */
export function sources(again = false) {
  if (again || !known) {
    known = get("/sources").then((document) => document.sources);
    known.catch(() => { known = undefined; });
  }
  return known;
}

/** A query of this server's addresses. A space is `%20`, because the server takes a plus sign literally. */
export const queryText = (parameters) => new URLSearchParams(parameters).toString().replaceAll("+", "%20");

/** Also without an apostrophe, because addresses stand in commands. */
const part = (text) => encodeURIComponent(text).replaceAll("'", "%27");
/** An id in a path, as the server writes it: one part, because two slashes in a row would become one, and without a dot, behind which an extension is. */
const idPart = (id) => part(id).replaceAll(".", "%2E");

export const titlesPath = (source, query) => {
  const text = queryText(Object.entries(query).filter(([, value]) => value));
  return `/sources/${part(source)}/titles${text && "?" + text}`;
};
export const titlePath = (source, id) => `/sources/${part(source)}/titles/${idPart(id)}`;
export const cachePath = (source, id) => `/cache/${part(source)}/${idPart(id)}`;
export const posterPath = (size, source, id) => `/t/p/${size}/${part(source)}/${idPart(id)}`;

/** The longest time for which a browser may keep a picture without asking, in milliseconds: a day fresh, a day stale, and one more for clocks that differ. */
const longestKept = 3 * 86_400_000;
/** The times of the decisions about posters that this browser has sent, by title. The empty name stands for one that concerns all titles. */
function decisions() {
  try {
    const known = Object.entries(JSON.parse(localStorage.getItem("decisions")) ?? {});
    return Object.fromEntries(known.filter(([, time]) => time > Date.now() - longestKept));
  } catch {
    return {};
  }
}

/** A text that changes with each decision about a title's poster; empty without one. In an address it passes by the browser's cache. */
export function posterVersion(source, id) {
  const known = decisions();
  const time = Math.max(known[`${source}://${id}`] ?? 0, known[""] ?? 0);
  return time ? time.toString(36) : "";
}

/** Keeps in mind that the poster of a title has been decided about, or with `all` that of any title; other tabs learn of it too. */
export function noteDecision(source, id, { all = false } = {}) {
  const kept = Object.entries(decisions()).slice(-200);
  localStorage.setItem("decisions", JSON.stringify({ ...Object.fromEntries(kept), [all ? "" : `${source}://${id}`]: Date.now() }));
}

/** The address at which this page shows a poster: that of `posterPath`, but another one after each decision. */
export function shownPath(size, source, id, version = posterVersion(source, id)) {
  return posterPath(size, source, id) + (version && `?v=${encodeURIComponent(version)}`);
}

/** The first title of the first source that has lists; `null` if there is none. */
export async function someTitle() {
  const source = (await sources()).find((each) => each.hasLists);
  const title = source && (await get(titlesPath(source.name, {}))).titles[0];
  return title ? { source: source.name, id: title.id } : null;
}

/** The source whose titles the page shows: the named one, or else the first with lists, or with a search. */
export const shownSource = (known, name) => (name ? known.find((each) => each.name === name)
  : known.find((each) => each.hasLists) ?? known.find((each) => each.searches)) ?? null;

/** An address of this page. */
export function view(parameters) {
  const kept = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
  return kept.size ? `/?${kept}` : "/";
}

/** The `Accept` field of browsers for pictures. It selects the format of an address without an extension. */
export const accept = "image/avif,image/webp,image/*";

/** Bytes, media type and freshness of a picture, without its bytes. */
export async function pictureFacts(path, signal) {
  const response = await pictureHead(path, signal);
  if (!response.ok) {
    // The words are in the body, which a HEAD has not.
    await get(path, { signal });
    throw problem(response);
  }
  const field = (name) => response.headers.get(name);
  const maximum = /max-age=(\d+)/.exec(field("Cache-Control") ?? "")?.[1];
  return {
    bytes: Number(field("Content-Length")) || null, mediaType: field("Content-Type"), size: field("Onesheet-Size"),
    freshUntil: maximum ? new Date(Date.now() + 1000 * Math.max(0, maximum - (Number(field("Age")) || 0))) : null,
    cacheStatus: field("Cache-Status"), timing: field("Server-Timing"),
    isKept: field("Cache-Control") !== "no-store",
  };
}
