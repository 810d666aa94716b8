// A poster: its frame keeps its place, the placeholder is there when it comes into view, and the picture comes in the size that the screen
// needs.
import { h } from "./dom.js";
import { pictureHead, posterVersion, shownPath } from "./api.js";
import { placeholder } from "./thumbhash.js";
import { t } from "./words.js";

/** The widths of the sizes, which the server writes here. */
export const widths = [/* sizes */];

/**
 * @param {string} source
 * @param {{id: string, name: string, poster?: object}} title
 * @param {{sizes: string, alt?: string, lazy?: boolean, version?: string, image?: string}} options `sizes` as in HTML; `version` changes if the
 *   poster does, by default with each decision; `image` is another image of the title, such as `logo.ko`
 */
export function poster(source, title, options) {
  const { sizes, alt = "", lazy = true, image = "poster", version = posterVersion(source, title.id) } = options;
  const frame = h("span.frame");
  posters.set(frame, { source, title, options, version });
  if (title.poster) {
    hashes.set(frame, title.poster.thumbHash);
    if (lazy) near.observe(frame);
    else cover(frame);
  }
  const address = (width) => shownPath(`w${width}${image === "poster" ? "" : `.${image}`}`, source, title.id, version);
  const largest = title.poster?.width ?? Infinity;
  const candidates = widths.filter((width, index) => index === 0 || widths[index - 1] < largest);
  const picture = h("img", {
    alt, sizes, loading: lazy ? "lazy" : "eager", decoding: "async", width: 342, height: 513,
    srcset: candidates.map((width) => `${address(width)} ${Math.min(width, largest)}w`).join(", "),
  });
  watch(picture, frame, t("noPoster"));
  // Last, so that nothing is fetched before somebody listens.
  picture.src = address(342);
  frame.append(picture);
  return frame;
}

/** What the frames of posters were made of. */
const posters = new WeakMap();

/** Replaces the posters of a view about which somebody has decided since. What was known of the picture before does not hold any more. */
function renew(view) {
  for (const frame of view.querySelectorAll(".frame")) {
    const { source, title, options, version } = posters.get(frame) ?? {};
    if (!title || (options.version ?? posterVersion(source, title.id)) === version) continue;
    frame.replaceWith(poster(source, { ...title, poster: undefined }, options));
  }
}

/** The ThumbHashes of frames. */
const hashes = new WeakMap();
/** Covers lazy frames when they are about to come into view. */
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) cover(target);
}, { rootMargin: "100% 0px" });

/** Shows the placeholder of a frame, unless its picture came first. */
function cover(frame) {
  near.unobserve(frame);
  const thumb = !frame.classList.contains("there") && placeholder(hashes.get(frame));
  if (thumb) frame.prepend(thumb);
}

const attempts = 5;
let scrolled = -Infinity;
addEventListener("scroll", () => { scrolled = performance.now(); });
/** Whether the reader looks at a page that stands still. */
const isStill = () => performance.now() - scrolled > 300;

/** Ends the questions about pictures that failed, once the view is left. */
let questions = new AbortController();
/** Pictures whose loading was stopped, with their addresses. */
const stopped = new WeakMap();

/** Stops the pictures of a view that is left, so that their connections are free for the next one. `resume` goes on with them. */
export function release(view) {
  questions.abort();
  questions = new AbortController();
  for (const picture of view.querySelectorAll("img")) if (!picture.complete) stop(picture);
}

/** Goes on with the pictures of a view that is shown again, and brings its posters up to date. */
export function resume(view) {
  renew(view);
  for (const picture of view.querySelectorAll("img")) if (stopped.has(picture)) reload(picture);
}

function stop(picture) {
  if (stopped.has(picture)) return;
  const { srcset, src } = picture;
  stopped.set(picture, { srcset, src });
  picture.removeAttribute("srcset");
  picture.removeAttribute("src");
}

/**
 * Shows in the frame when its picture is there, or why there is none. A server that is busy is asked again when it says so; then the reader can
 * try again. Each outcome is a bubbling event `picture`, whose detail is the status of the answer.
 */
export function watch(picture, frame, missing) {
  let failures = 0;
  const tell = (detail) => frame.dispatchEvent(new CustomEvent("picture", { bubbles: true, detail }));
  const show = (...words) => {
    frame.querySelector(".missing")?.remove();
    if (words.length) frame.append(h("span.missing.late", {}, words));
  };
  picture.addEventListener("load", () => {
    show();
    tell(200);
    frame.classList.add("there", ...(isStill() ? ["fades"] : []));
    // By then it is decoded and has faded in, and covers the placeholder.
    setTimeout(() => frame.querySelector(".thumb")?.remove(), 1000);
  });
  picture.addEventListener("error", async () => {
    failures += 1;
    const { signal } = questions;
    const { wait, status } = await outlook(picture.currentSrc || picture.src, signal);
    if (signal.aborted) return stop(picture);
    const reason = pictureReason(status, missing);
    if (wait !== null && failures < attempts) {
      if (wait > 2) show(h("span", {}, reason), h("span", {}, t("againIn", { count: wait })));
      await new Promise((done) => setTimeout(done, 1000 * wait));
      return signal.aborted ? stop(picture) : reload(picture);
    }
    frame.classList.add("none");
    picture.remove();
    // In a link there is no button: the view behind it, and the list's own, try again.
    show(h("span", {}, reason), frame.closest("a") ? status === 504 && h("span", {}, t("tooLongInList")) : h("button", { type: "button", onclick: () => {
      failures = 0;
      frame.classList.remove("none");
      show();
      frame.append(picture);
      reload(picture);
    } }, t("retry")));
    tell(status);
  });
}

/** Why there is no picture although there may be a poster. */
const refusals = { 0: "noAnswer", 504: "tooLong", 200: "pictureBroken", 403: "pictureForbidden", 413: "pictureBroken", 422: "pictureBroken",
  429: "pictureBusy", 500: "pictureFailed", 502: "pictureOrigin", 503: "pictureBusy" };

export const pictureReason = (status, missing) => (refusals[status] ? t(refusals[status]) : missing);

/** Asks for the same addresses once more. */
function reload(picture) {
  const { srcset, src } = stopped.get(picture) ?? picture;
  stopped.delete(picture);
  picture.removeAttribute("src");
  if (srcset) picture.srcset = srcset;
  picture.src = src;
}

/** Whether it is worth asking for a picture again: after so many seconds, a minute at most, or `null`; and the status of the answer. */
async function outlook(address, signal) {
  try {
    const response = await pictureHead(address, signal);
    if (response.ok) return { wait: 0, status: response.status };
    const seconds = Number(response.headers.get("Retry-After"));
    const isWorthIt = [429, 503, 504].includes(response.status) && seconds > 0 && seconds <= 60;
    return { wait: isWorthIt ? seconds : null, status: response.status };
  } catch {
    return { wait: null, status: 0 };
  }
}
