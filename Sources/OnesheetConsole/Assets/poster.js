// A poster: its frame keeps its place, the placeholder is there at once, and the picture comes in the size that the screen needs.
import { h } from "./dom.js";
import { posterPath } from "./api.js";
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
  const thumb = title.poster?.thumbHash && placeholder(title.poster.thumbHash);
  if (thumb) frame.append(thumb);
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

const attempts = 5;

/** Shows in the frame when its picture is there, or that there is none. A server that is busy is asked again when it says so. */
export function watch(picture, frame, missing) {
  let failures = 0;
  picture.addEventListener("load", () => frame.classList.add("there"));
  picture.addEventListener("error", async () => {
    failures += 1;
    const wait = failures < attempts ? await waitFor(picture.currentSrc || picture.src) : null;
    if (wait === null) {
      frame.classList.add("none");
      frame.append(h("span.missing", {}, missing));
      picture.remove();
      return;
    }
    await new Promise((done) => setTimeout(done, 1000 * wait));
    // The same addresses once more.
    const { srcset, src } = picture;
    picture.removeAttribute("src");
    if (srcset) picture.srcset = srcset;
    picture.src = src;
  });
}

/** Seconds after which it is worth asking for a picture again, a minute at most; `null` if it is not. */
async function waitFor(address) {
  try {
    const response = await fetch(address, { method: "HEAD", headers: { Accept: "image/avif,image/webp,image/*" } });
    if (response.ok) return 0;
    const seconds = Number(response.headers.get("Retry-After"));
    return [429, 503, 504].includes(response.status) && seconds > 0 && seconds <= 60 ? seconds : null;
  } catch {
    return null;
  }
}
