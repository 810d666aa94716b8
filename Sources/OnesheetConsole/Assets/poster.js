// A poster: its frame keeps its place, the placeholder is there when it comes into view, and the picture comes in the size that the screen
// needs.
import { h } from "./dom.js";
import { accept, posterPath } from "./api.js";
import { placeholder } from "./thumbhash.js";
import { t } from "./words.js";

const widths = [92, 154, 185, 342, 500, 780];

/**
 * @param {string} source
 * @param {{id: string, name: string, poster?: object}} title
 * @param {{sizes: string, alt?: string, lazy?: boolean, version?: string}} options `sizes` as in HTML; `version` changes if the poster does
 */
export function poster(source, title, { sizes, alt = "", lazy = true, version = "" }) {
  const frame = h("span.frame");
  if (title.poster) {
    hashes.set(frame, title.poster.thumbHash);
    if (lazy) near.observe(frame);
    else cover(frame);
  }
  const address = (width) => posterPath("w" + width, source, title.id) + (version && `?v=${encodeURIComponent(version)}`);
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

/**
 * Shows in the frame when its picture is there, or why there is none. A server that is busy is asked again when it says so; what took too
 * long can be tried again by the reader.
 */
export function watch(picture, frame, missing) {
  let failures = 0;
  picture.addEventListener("load", () => {
    frame.classList.add("there", ...(isStill() ? ["fades"] : []));
    // By then it is decoded and has faded in, and covers the placeholder.
    setTimeout(() => frame.querySelector(".thumb")?.remove(), 1000);
  });
  picture.addEventListener("error", async () => {
    failures += 1;
    const { wait, isLate } = await outlook(picture.currentSrc || picture.src);
    if (wait !== null && failures < attempts) {
      await new Promise((done) => setTimeout(done, 1000 * wait));
      return reload(picture);
    }
    frame.classList.add("none");
    if (isLate) return frame.append(late(picture, frame));
    frame.append(h("span.missing", {}, missing));
    picture.remove();
  });
}

/** Says that it took too long. In a link there is no button: the view behind it, and the list's own, try again. */
function late(picture, frame) {
  if (frame.closest("a")) return h("span.missing.late", {}, t("tooLong"), h("br"), t("tooLongInList"));
  const words = h("span.missing.late", {}, h("span", {}, t("tooLong")), h("button", { type: "button", onclick: () => {
    frame.classList.remove("none");
    words.remove();
    reload(picture);
  } }, t("retry")));
  return words;
}

/** Asks for the same addresses once more. */
function reload(picture) {
  const { srcset, src } = picture;
  picture.removeAttribute("src");
  if (srcset) picture.srcset = srcset;
  picture.src = src;
}

/** Whether it is worth asking for a picture again: after so many seconds, a minute at most, or `null`; and whether it took too long. */
async function outlook(address) {
  try {
    const response = await fetch(address, { method: "HEAD", headers: { Accept: accept } });
    if (response.ok) return { wait: 0, isLate: false };
    const seconds = Number(response.headers.get("Retry-After"));
    const isWorthIt = [429, 503, 504].includes(response.status) && seconds > 0 && seconds <= 60;
    return { wait: isWorthIt ? seconds : null, isLate: response.status === 504 };
  } catch {
    return { wait: null, isLate: false };
  }
}
