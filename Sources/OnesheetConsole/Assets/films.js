// A field for a film by its name: what it finds is offered below it. It takes the address of a title (sample://1) or of a picture too.
import { h } from "./dom.js";
import { get, Problem, sources, titlePath, titlesPath } from "./api.js";
import { namesOf } from "./facts.js";
import { languageOf, t } from "./words.js";

const pause = 400;
const most = 8;
/** The most sources that are searched for one name. */
const mostSources = 4;

/** How a reader names a film to these sources: by a name, by the URL of a picture, or by an id alone. */
export function namesOfFilms(known) {
  const others = known.filter((source) => !source.hasLists && !source.searches);
  const [ids, urls] = [others.find((source) => source.type !== "remote"), others.find((source) => source.type === "remote")];
  const hasNames = others.length < known.length || !known.length;
  return {
    kind: hasNames ? "of" : urls ? "url" : "id", example: hasNames ? "" : urls ? "https://" : `${ids.name}://`,
    help: [hasNames ? t("chooseFilm") : null, urls ? t("chooseURL") : null, ids ? t("chooseID", { name: ids.name }) : null].filter(Boolean).join(" "),
  };
}

/**
 * @param {{first: string, choose: () => void, leave: () => void}} options `first` is the title at the beginning; `choose` is called when another
 *   one is chosen, `leave` when what is written names none
 */
export function filmField({ first, choose, leave }) {
  /** Titles by the names under which they are offered. */
  const films = new Map();
  const offers = h("div.films", { role: "status" });
  const field = h("input", { type: "text", id: "try-of", value: first, required: true, "aria-describedby": "wrong-of", autocomplete: "off",
    spellcheck: "false", oninput: () => typed(), onfocus: () => field.select() });
  let title = first;
  let timer = null;
  let turn = 0;
  name();
  return { field, offers, get title() { return title; }, enter };

  /** Shows the name of the first title instead of its address. */
  async function name() {
    const [, source, id] = /^(?!https?:)([^:]+):\/\/(.+)$/.exec(first) ?? [];
    if (!source) return;
    try {
      const found = label(source, await get(titlePath(source, id)));
      if (field.value === first) field.value = found;
    } catch (error) {
      // The picture says what is wrong with it.
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** Stores a title under its name; under its name and address if another title has that name. */
  function label(source, found) {
    const address = `${source}://${found.id}`;
    const [name] = namesOf(found);
    const own = [undefined, address].includes(films.get(name)) ? name : `${name} (${address})`;
    films.set(own, address);
    return own;
  }

  function typed() {
    const text = field.value.trim();
    const found = text.includes("://") ? text : films.get(text);
    turn += 1;
    clearTimeout(timer);
    if (found) return take(found);
    leave();
    timer = setTimeout(() => search(), pause);
  }

  function take(found) {
    title = found;
    offers.replaceChildren();
    choose();
  }

  /** Takes the first film of the name when the reader presses Enter. Returns whether the field names the title already. */
  function enter() {
    const text = field.value.trim();
    if (text.includes("://") || films.get(text) === title) return true;
    clearTimeout(timer);
    search({ takesFirst: true });
    return false;
  }

  async function search({ takesFirst = false } = {}) {
    const own = ++turn;
    const query = field.value.trim();
    const asked = await searched(query);
    const found = (await Promise.all(asked.map(({ name }) =>
      get(titlesPath(name, { query })).then(({ titles }) => titles.map((title) => label(name, title)), () => [])))).flat().slice(0, most);
    if (own !== turn) return;
    if (takesFirst && found.length) {
      field.value = found[0];
      return take(films.get(found[0]));
    }
    offers.replaceChildren(found.length ? h("ul", { "aria-label": t("films") }, found.map((name) => h("li", {}, h("button", {
      type: "button", lang: languageOf(name), onclick: () => {
        field.value = name;
        take(films.get(name));
        field.focus();
      },
    }, name)))) : asked.length ? t("noFilm", { phrase: query }) : namesOfFilms(await sources().catch(() => [])).help);
  }

  /** The sources to search; without words, those whose lists have something to offer. */
  async function searched(query) {
    const known = await sources().catch(() => []);
    return known.filter((source) => (query ? source.searches : source.hasLists)).slice(0, mostSources);
  }
}
