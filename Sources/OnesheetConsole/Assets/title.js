// A title: its poster, what is known about it, every size to take along, and where the picture comes from.
import { add, copyButton, h } from "./dom.js";
import { get, pictureFacts, posterPath, Problem, titlePath, view } from "./api.js";
import { facts, namesOf, origin } from "./facts.js";
import { reasonOf } from "./notice.js";
import { poster } from "./poster.js";
import { bytes, languageOf, longDay, moment, number, t } from "./words.js";

export async function titleView(parameters) {
  const source = parameters.get("source");
  const id = parameters.get("title");
  const title = await get(titlePath(source, id));
  const known = facts(title);
  const [name, other] = namesOf(title);
  const about = h("div.about", {},
    h("h1", { tabindex: "-1", lang: languageOf(name) }, name), other ? h("p.original", { lang: languageOf(other) }, other) : null,
    title.overview ? h("p.overview", { lang: languageOf(title.overview) }, title.overview) : null,
    details(title, known),
    h("p.actions", {}, h("a.button", { href: view({ source, posters: id }) }, t("another")),
      h("a.button", { href: view({ view: "try", of: `${source}://${id}` }) }, t("trySizes")),
      h("a.button", { id: "why", href: view({ view: "explain", url: posterPath("w500", source, id) }) }, t("whySlow"))));
  const sheet = h("div.sheet", {}, poster(source, title, { sizes: "(max-width: 760px) 92vw, 480px", alt: t("posterOf", { name }), lazy: false }));
  const sizes = h("section.sizes", {}, h("h2", {}, t("sizes")), h("p.faint", {}, t("loading")));
  const provenance = h("section.origin", {}, h("h2", {}, t("provenance")), h("p.faint", {}, t("loading")));
  add(about, [sizes, provenance]);
  // The very picture that this screen got.
  const shown = sheet.querySelector("img");
  shown.addEventListener("load", () => {
    about.querySelector("#why").href = view({ view: "explain", url: new URL(shown.currentSrc).pathname });
  });
  const leaves = new AbortController();
  fill();
  return {
    title: name, leave: () => leaves.abort(),
    node: h("div.one", {}, h("p.way", {}, h("a", { href: view({ source }), onclick: back }, "‹ " + t("back"))), h("article.title", {}, sheet, about)),
  };

  async function fill() {
    const original = pictureFacts(posterPath("original", source, id), leaves.signal);
    await Promise.all([showSizes(sizes, source, title, original, leaves.signal), showOrigin(provenance, source, title, original, leaves.signal)]);
  }
}

/** Back to the list as it was left, if the reader came from there. */
function back(event) {
  const steps = history.state?.list;
  if (!steps) return;
  event.preventDefault();
  history.go(-steps);
}

function details(title, known) {
  const row = (label, value) => (value ? [h("dt", {}, label), h("dd", { lang: typeof value === "string" ? languageOf(value) : null }, value)] : []);
  const cast = known.cast.slice(0, 12).map((person) => (person.role ? t("castAs", person) : person.name)).join(", ");
  return h("dl.details", {},
    row(t("directors"), known.directors.join(", ")),
    row(t("releaseDate"), title.releaseDate && h("time", { datetime: title.releaseDate }, longDay(title.releaseDate))),
    row(t("year"), known.year && String(known.year)),
    row(t("minutes"), known.minutes && t("minutesValue", { count: number(known.minutes) })),
    row(t("grade"), known.grade), row(t("genres"), known.genres.join(", ")), row(t("nations"), known.nations.join(", ")),
    row(t("cast"), cast), row(t("companies"), known.companies.slice(0, 6).join(", ")), row(t("kind"), known.kind));
}

const ladder = ["w92", "w154", "w185", "w342", "w500", "w780", "original"];

/** Each size of the poster with what it weighs, and its address to take along. */
async function showSizes(section, source, title, original, signal) {
  const body = h("tbody");
  const table = h("table", {}, h("thead", {}, h("tr", {}, [t("size"), t("pixels"), t("bytes"), t("format")].map((label) => h("th", { scope: "col" }, label)),
    h("th", { scope: "col" }, h("span.hidden", {}, t("copy"))))), body);
  const rows = [];
  for (const size of ladder) {
    const path = posterPath(size, source, title.id);
    const address = new URL(path, location.href).href;
    const known = title.poster?.sizes[size];
    const cells = { pixels: h("td", {}, known ? `${known.width} × ${known.height}` : "…"), bytes: h("td", {}, "…"), format: h("td", {}, "…") };
    rows.push({ size, path, cells });
    body.append(h("tr", {}, h("th", { scope: "row" }, h("a", { href: path, target: "_blank", rel: "noopener" }, size === "original" ? t("original") : size)),
      cells.pixels, cells.bytes, cells.format,
      h("td.copies", {}, copyButton(address, `${t("copyURL")} (${size})`, t("copied")),
        labelled(copyButton(`curl -o '${fileName(title, size)}' '${address}'`, `${t("copyCurl")} (${size})`, t("copied")), "curl"))));
  }
  const code = markup(source, title);
  section.replaceChildren(h("h2", {}, t("sizes")), table,
    h("div.snippet", {}, h("h3", {}, t("asImage"), copyButton(code, t("copy") + " <img srcset>", t("copied"))), h("pre", { tabindex: "0" }, h("code", {}, code))));
  // All at once: the slow one of them does not hold the others up.
  await Promise.all(rows.map(async ({ size, path, cells }) => {
    try {
      const found = await (size === "original" ? original : pictureFacts(path, signal));
      cells.bytes.textContent = found.bytes ? bytes(found.bytes) : "–";
      cells.bytes.title = found.bytes ? number(found.bytes) + " B" : "";
      cells.format.textContent = (found.mediaType ?? "–").replace("image/", "").toUpperCase();
      if (found.size) cells.pixels.textContent = found.size.replace("x", " × ");
    } catch (error) {
      for (const cell of Object.values(cells)) cell.textContent = "–";
      if (error instanceof Problem) cells.bytes.title = reasonOf(error);
    }
  }));
}

function labelled(button, text) {
  button.append(h("span", { "aria-hidden": "true" }, text));
  return button;
}

const fileName = (title, size) => `${title.id.replace(/[^\p{L}\p{N}._-]+/gu, "-")}-${size}.jpg`;

/** The poster for a web page, each screen with the size that it needs. */
function markup(source, title) {
  const address = (size) => new URL(posterPath(size, source, title.id), location.href).href;
  const escaped = title.name.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const widths = [185, 342, 500, 780];
  const size = title.poster?.sizes.w342 ?? { width: 342, height: 513 };
  return `<img src="${address("w342")}"\n  srcset="${widths.map((width) => `${address("w" + width)} ${width}w`).join(",\n    ")}"\n`
    + `  sizes="(max-width: 600px) 50vw, 342px" width="${size.width}" height="${size.height}" loading="lazy" alt="${escaped}">`;
}

/** Which picture it is: from where, since when, and for how long it is fresh. */
async function showOrigin(section, source, title, original, signal) {
  const heading = h("h2", {}, t("provenance"));
  let current;
  let fresh;
  try {
    // Before that, the server may not know it.
    fresh = (await original).freshUntil;
    current = (await get(`${titlePath(source, title.id)}/posters`, { signal })).current;
  } catch {
    current = null;
  }
  if (!current) return section.replaceChildren(heading, h("p.faint", {}, t("notAvailable")));
  section.replaceChildren(heading, h("dl.details", {},
    h("dt", {}, t("site")), h("dd", {}, origin(current)),
    h("dt", {}, t("fetched")), h("dd", {}, h("time", { datetime: current.fetched }, moment(current.fetched))),
    fresh ? [h("dt", {}, t("freshUntil")), h("dd", {}, moment(fresh))] : [],
    h("dt", {}, t("original")), h("dd", {}, `${current.mediaType.replace("image/", "").toUpperCase()}, ${bytes(current.bytes)}`)));
}
