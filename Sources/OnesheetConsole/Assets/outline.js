// What a view that is still being loaded shows at once: its heading, and of a title what the list has said about it.
import { h } from "./dom.js";
import { namesOf } from "./facts.js";
import { poster } from "./poster.js";
import { languageOf, t } from "./words.js";

const most = 500;
/** The titles that lists have shown, by source and id. */
const titles = new Map();

/** Keeps a title of a list in mind, for the view of it. */
export function remember(source, title) {
  titles.set(`${source}://${title.id}`, title);
  if (titles.size > most) titles.delete(titles.keys().next().value);
}

/** The outline of the view of an address; `null` for one of which nothing is known, or which takes the place of one alike. */
export function outline(parameters) {
  const source = parameters.get("source");
  const title = titles.get(`${source}://${parameters.get("title") ?? parameters.get("posters")}`);
  const wait = h("p.faint", { role: "status" }, t("loading"));
  if (parameters.has("posters")) return h("div.one", {}, h("h1", { tabindex: "-1" }, t("another")), title ? h("p.original", {}, namesOf(title)[0]) : null, wait);
  if (parameters.has("title")) {
    if (!title) return null;
    const [name, other] = namesOf(title);
    return h("div.one", {}, h("p.way", {}, " ‹ " + t("back")), h("div.title", {},
      h("div.sheet", {}, poster(source, title, { sizes: "(max-width: 760px) 92vw, 480px", lazy: false })),
      h("div.about", {}, h("h1", { tabindex: "-1", lang: languageOf(name) }, name), other ? h("p.original", { lang: languageOf(other) }, other) : null, wait)));
  }
  const words = { try: "tryView", explain: "explain", figures: "figures", sources: "sourcesView" }[parameters.get("view")];
  return words ? h("div.board", {}, h("h1", { tabindex: "-1" }, t(words)), wait) : null;
}
