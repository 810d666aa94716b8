// A title: its poster, what is known about it, every size to take along, and where the picture comes from.
import { add, copyButton, h } from "./dom.js";
import { get, pictureFacts, posterPath, Problem, shownPath, titlePath, view } from "./api.js";
import { facts, namesOf, origin } from "./facts.js";
import { shortReason } from "./notice.js";
import { pictureReason, poster, widths } from "./poster.js";
import { bytes, languageOf, longDay, moment, number, t } from "./words.js";

export async function titleView(parameters, go, { signal }) {
  const source = parameters.get("source");
  const id = parameters.get("title");
  const title = await get(titlePath(source, id), { signal });
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
  const leaves = new AbortController();
  const sizes = sizesPart(source, title);
  const provenance = h("section.origin", {}, h("h2", {}, t("provenance")), h("p.faint", {}, t("loading")));
  add(about, [sizes.node, provenance]);
  let isFilled = false;
  // The picture comes first: its host may be slow, and what is told about it is quick once the server has it.
  sheet.addEventListener("picture", ({ detail: status, target: frame }) => {
    if (status !== 200) return complain(pictureReason(status, t("noPoster")), () => sheet.querySelector(".missing button")?.click());
    // The very picture that this screen got.
    about.querySelector("#why").href = view({ view: "explain", url: new URL(frame.querySelector("img").currentSrc).pathname });
    if (!isFilled) fill();
  });
  return {
    title: name, leave: () => leaves.abort(),
    node: h("div.one", {}, h("p.way", {}, h("a", { href: view({ source }), onclick: back }, "‹ " + t("back"))), h("article.title", {}, sheet, about)),
  };

  async function fill() {
    isFilled = true;
    sizes.clear();
    provenance.replaceChildren(h("h2", {}, t("provenance")), h("p.faint", {}, t("loading")));
    try {
      const original = await pictureFacts(shownPath("original", source, id), leaves.signal);
      sizes.show("original", original);
      await showOrigin(provenance, source, title, original, leaves.signal);
      for (const size of ladder.slice(0, -1).reverse()) sizes.show(size, await pictureFacts(shownPath(size, source, id), leaves.signal));
    } catch (error) {
      if (leaves.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      isFilled = false;
      complain(shortReason(error), fill);
    }
  }

  /** Says why something is missing, and offers to ask for it again. */
  function complain(reason, retry) {
    const note = () => h("p.actions", {}, h("span", {}, reason), h("button", { type: "button", onclick: retry }, t("retry")));
    sizes.complain(note());
    if (!provenance.querySelector("dl")) provenance.replaceChildren(h("h2", {}, t("provenance")), note());
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
    row(t("cast"), cast), row(t("companies"), known.companies.slice(0, 6).join(", ")), row(t("kind"), known.kind),
    row(t("ids"), Object.entries(title.ids ?? {}).map(([database, id]) => `${database}:${id}`).join(" ")),
    // What the services demand.
    row(t("attribution"), known.attribution));
}

const ladder = [...widths.map((width) => `w${width}`), "original"];

/** Each size of the poster with its address to take along, and what it weighs once `show` is called for it. */
function sizesPart(source, title) {
  const body = h("tbody");
  const table = h("table", {}, h("thead", {}, h("tr", {}, [t("size"), t("pixels"), t("bytes"), t("format")].map((label) => h("th", { scope: "col" }, label)),
    h("th", { scope: "col" }, h("span.hidden", {}, t("copy"))))), body);
  const rows = new Map();
  const note = h("div");
  for (const size of ladder) {
    const path = posterPath(size, source, title.id);
    const address = new URL(path, location.href).href;
    const known = title.poster?.sizes[size];
    const cells = { pixels: h("td", {}, known ? `${known.width} × ${known.height}` : "…"), bytes: h("td", {}, "…"), format: h("td", {}, "…") };
    rows.set(size, cells);
    body.append(h("tr", {}, h("th", { scope: "row" }, h("a", { href: path, target: "_blank", rel: "noopener" }, size === "original" ? t("original") : size)),
      cells.pixels, cells.bytes, cells.format,
      h("td.copies", {}, copyButton(address, `${t("copyURL")} (${size})`, t("copied")),
        labelled(copyButton(`curl -o '${fileName(title, size)}' '${address}'`, `${t("copyCurl")} (${size})`, t("copied")), "curl"))));
  }
  const code = h("code", {}, markup(source, title, title.poster?.sizes.w342));
  const all = () => [...rows.values()].flatMap(Object.values);
  return {
    node: h("section.sizes", {}, h("h2", {}, t("sizes")), table, note,
      h("div.snippet", {}, h("h3", {}, t("asImage"), copyButton(() => code.textContent, t("copy") + " <img srcset>", t("copied"))), h("pre", { tabindex: "0" }, code))),
    show(size, found) {
      const cells = rows.get(size);
      cells.bytes.textContent = found.bytes ? bytes(found.bytes) : "–";
      cells.bytes.title = found.bytes ? number(found.bytes) + " B" : "";
      cells.format.textContent = (found.mediaType ?? "–").replace("image/", "").toUpperCase();
      if (!found.size) return;
      cells.pixels.textContent = found.size.replace("x", " × ");
      const [width, height] = found.size.split("x");
      if (size === "w342") code.textContent = markup(source, title, { width, height });
    },
    /** Shows that all is asked for again. */
    clear() {
      note.replaceChildren();
      for (const cell of all()) if (cell.textContent === "–") cell.textContent = "…";
    },
    /** Shows why the rest does not come. */
    complain(words) {
      note.replaceChildren(words);
      for (const cell of all()) if (cell.textContent === "…") cell.textContent = "–";
    },
  };
}

function labelled(button, text) {
  button.append(h("span", { "aria-hidden": "true" }, text));
  return button;
}

const fileName = (title, size) => `${title.id.replace(/[^\p{L}\p{N}._-]+/gu, "-")}-${size}.jpg`;

/** The poster for a web page, each screen with the size that it needs. Without the pixels of w342, the page that takes it finds them out itself. */
function markup(source, title, pixels) {
  const address = (size) => new URL(posterPath(size, source, title.id), location.href).href;
  const escaped = title.name.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const place = pixels ? ` width="${pixels.width}" height="${pixels.height}"` : "";
  return `<img src="${address("w342")}"\n  srcset="${widths.filter((width) => width >= 185).map((width) => `${address("w" + width)} ${width}w`).join(",\n    ")}"\n`
    + `  sizes="(max-width: 600px) 50vw, 342px"${place} loading="lazy" alt="${escaped}">`;
}

/** Which picture it is: from where, since when, and for how long it is fresh. */
async function showOrigin(section, source, title, original, signal) {
  const heading = h("h2", {}, t("provenance"));
  const { current } = await get(`${titlePath(source, title.id)}/posters`, { signal });
  if (!current) return section.replaceChildren(heading, h("p.faint", {}, t("notAvailable")));
  section.replaceChildren(heading, h("dl.details", {},
    h("dt", {}, t("site")), h("dd", {}, origin(current)),
    h("dt", {}, t("fetched")), h("dd", {}, h("time", { datetime: current.fetched }, moment(current.fetched))),
    original.freshUntil ? [h("dt", {}, t("freshUntil")), h("dd", {}, moment(original.freshUntil))] : [],
    h("dt", {}, t("original")), h("dd", {}, `${current.mediaType.replace("image/", "").toUpperCase()}, ${bytes(current.bytes)}`)));
}
