// Finds out from the address what to show, and leads from view to view without loading the page again.
import { h } from "./dom.js";
import { Problem, shownSource, sources, view } from "./api.js";
import { listView } from "./list.js";
import { notice } from "./notice.js";
import { outline } from "./outline.js";
import { release, resume } from "./poster.js";
import { chooseLanguage, otherLanguage, t } from "./words.js";

const main = document.getElementById("main");
let shown = null;
/** The entry of the history whose view is shown. It lags behind while the next view is loaded. */
let shownEntry = null;
/** Lists that were left, by the number of their entry in the history, so that the way back finds them as they were. */
const left = new Map();
let entry = history.state?.entry ?? 0;

/** The view of an address. The larger ones are loaded when they are needed. */
async function viewOf(parameters, options) {
  if (parameters.has("posters")) return (await import("./posters.js")).postersView(parameters, go, options);
  if (parameters.has("title")) return (await import("./title.js")).titleView(parameters, go, options);
  if (parameters.get("view") === "try") return (await import("./try.js")).tryView(parameters, go);
  if (parameters.get("view") === "explain") return (await import("./explain.js")).explainView(parameters, go);
  if (parameters.get("view") === "figures") return (await import("./figures.js")).figuresView(parameters, go);
  if (parameters.get("view") === "sources") return (await import("./sources.js")).sourcesView(parameters, go);
  if (parameters.get("view")) throw new Problem({ status: 404, detail: t("noView", { name: parameters.get("view") }) });
  const [known, name] = [await sources(), parameters.get("source")];
  const source = shownSource(known, name);
  // Without lists and a search there are pictures by their URL, as those of a site.
  if (known.length && (source ? !source.hasLists && !source.searches : !name)) return (await import("./try.js")).tryView(parameters, go);
  return listView(parameters, go, options);
}

let turn = 0;
let asking = new AbortController();
/** Shows the view of the present address. With `fresh` the view that is shown stays if its new version fails. */
async function show({ focuses = true, returns = false, fresh = false } = {}) {
  const own = ++turn;
  asking.abort();
  asking = new AbortController();
  const parameters = new URLSearchParams(location.search);
  const kept = returns ? left.get(entry) : null;
  // The next view needs the connections.
  if (shown) release(shown.node);
  if (!fresh) shown?.leave?.();
  const timer = setTimeout(() => {
    if (own !== turn) return;
    main.setAttribute("aria-busy", "true");
    const node = shown && !fresh ? outline(parameters) : null;
    if (node) place({ title: node.querySelector("h1").textContent, node }, focuses);
  }, 150);
  let next;
  try {
    next = kept?.view ?? await viewOf(parameters, { signal: asking.signal, fresh });
  } catch (error) {
    if (own !== turn) return;
    if (!(error instanceof Problem)) throw error;
    if (fresh && shown?.complain) {
      main.removeAttribute("aria-busy");
      resume(shown.node);
      return shown.complain(error);
    }
    next = { title: t("problem"), node: notice(error, () => show(), null, "h1") };
  } finally {
    clearTimeout(timer);
  }
  if (own !== turn) {
    // The reader has gone on meanwhile.
    if (!kept) next.leave?.();
    return;
  }
  if (fresh) shown?.leave?.();
  main.removeAttribute("aria-busy");
  // The pictures of an outline come again in the view.
  if (shown) release(shown.node);
  place(next, focuses, kept);
}

/** Puts a view in the place of the one before it, which has been left. */
function place(next, focuses, kept = null) {
  // A control that is in both views keeps the focus: arrows from day to day, say.
  const control = main.contains(document.activeElement) ? document.activeElement.id : "";
  [shown, shownEntry] = [next, entry];
  main.replaceChildren(next.node);
  document.title = next.title === t("nowShowing") ? "Onesheet" : `${next.title} · Onesheet`;
  mark();
  if (kept) {
    resume(next.node);
    next.again?.();
    scrollTo(0, kept.scroll);
  } else if (focuses) {
    scrollTo(0, 0);
  }
  const again = control && main.querySelector(`:is(a, button, input, select)#${CSS.escape(control)}`);
  const focused = main.contains(kept?.focused ?? null) ? kept.focused : again || (main.querySelector("h1") ?? main);
  if (kept || focuses || again) focused.focus({ preventScroll: true });
}

/** Goes to an address of this page; with `fresh` it asks for all of it again, in the same place. */
function go(address, { fresh = false } = {}) {
  if (fresh) {
    sources(true);
    left.clear();
    return show({ focuses: false, fresh: true });
  }
  const isThere = shownEntry === entry;
  // The second half of a double click: it is on its way.
  if (!isThere && new URL(address, location.href).href === location.href) return;
  keep();
  entry += 1;
  for (const each of [...left.keys()]) if (each >= entry) left.delete(each);
  const { list } = history.state ?? {};
  history.pushState({ entry, list: isThere && shown?.again ? 1 : list && list + 1 }, "", address);
  return show();
}

function keep() {
  if (!shown?.again || shownEntry !== entry) return;
  left.set(entry, { view: shown, scroll: scrollY, focused: document.activeElement });
  if (left.size > 10) left.delete(left.keys().next().value);
}

/** Says in the navigation where the reader is. */
function mark() {
  const current = new URLSearchParams(location.search).get("view") ?? "";
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.origin !== location.origin || link.pathname !== "/" || link.hash) return;
  event.preventDefault();
  go(link.href);
});

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest?.("input, textarea, select")) return;
  shown?.key?.(event);
});

// Another tab has decided about a poster, or this page comes out of the browser's memory.
addEventListener("storage", (event) => { if (shown && event.key === "decisions") resume(shown.node); });
addEventListener("pagehide", () => { if (shown) release(shown.node); });
addEventListener("pageshow", (event) => { if (shown && event.persisted) resume(shown.node); });

addEventListener("popstate", (event) => {
  keep();
  entry = event.state?.entry ?? 0;
  show({ returns: true });
});

history.scrollRestoration = "manual";
// `entry` numbers the entries of the history; `list` is how many of them lie between this one and the list that the reader came from.
history.replaceState({ ...history.state, entry }, "");
const skip = document.querySelector(".skip");
skip.textContent = t("skip");
skip.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.getElementById("nav").setAttribute("aria-label", t("views"));
document.getElementById("nav").append(
  ...[["", "nowShowing", view({})], ["try", "tryView", view({ view: "try" })], ["explain", "explain", view({ view: "explain" })],
    ["figures", "figures", view({ view: "figures" })], ["sources", "sourcesView", view({ view: "sources" })]]
    .map(([name, words, address]) => h("a", { href: address, "data-view": name }, t(words))));
const button = document.getElementById("language");
button.textContent = t("otherLanguage");
button.lang = otherLanguage;
button.addEventListener("click", () => chooseLanguage(otherLanguage));
show({ focuses: false });
