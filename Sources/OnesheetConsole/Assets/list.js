// “Now showing”: a source's titles as a wall of posters or as a list.
import { add, announce, h, icon } from "./dom.js";
import { get, Problem, shownSource, sources, titlesPath, view } from "./api.js";
import { clamp, isDay, openCalendar, outside, plus, weekday } from "./calendar.js";
import { facts, namesOf } from "./facts.js";
import { empty, notice, serversWords } from "./notice.js";
import { remember } from "./outline.js";
import { poster } from "./poster.js";
import { days, languageOf, longDay, number, shortDay, t } from "./words.js";

const layouts = ["wall", "list"];
const layout = () => (localStorage.getItem("layout") === "list" ? "list" : "wall");

/**
 * The view of a list's address. `go` leads to another address without loading the page again.
 * @param {{signal: AbortSignal, fresh: boolean}} options `signal` ends the first request; with `fresh` the view throws what fails, because
 *   an older version of it is there
 */
export async function listView(parameters, go, { signal, fresh }) {
  const known = await sources();
  if (!known.length) return { title: t("nowShowing"), node: empty(t("noSources"), null, h("a", { href: view({ view: "sources" }) }, t("noSourcesHelp"))) };
  const source = shownSource(known, parameters.get("source"));
  const name = source?.name ?? parameters.get("source");
  const phrase = (parameters.get("query") ?? "").trim();
  const asked = parameters.get("date");
  const period = source?.periods.includes(parameters.get("period")) ? parameters.get("period") : source?.periods[0];
  const wrong = parameters.get("period");
  if (source && wrong && !source.periods.includes(wrong)) throw new Problem({ status: 400, detail: t("noPeriod", { name: wrong }) });
  const hasDays = Boolean(source?.periods.length) && !phrase;
  /** A source without lists shows only what a search finds. */
  const isBlank = Boolean(source) && !source.hasLists && !phrase;
  const state = {
    source: name, date: asked, period: period && period !== "day" ? period : null, query: phrase || null,
    page: Number(parameters.get("page")) || 1,
  };
  const address = (changes) => view({ source: shownSource(known)?.name === name && !("source" in changes) ? null : name, date: state.date, period: state.period,
    query: state.query, ...changes });

  /** The day of this list, and the one to which the reader has gone on, whose list may not be there yet. */
  const day = hasDays ? (isDay(asked) ? asked : newest()) : null;
  let chosen = day;
  const heading = headingOf();
  const dayBox = h("div.day");
  const outcome = h("div.outcome");
  const titles = h(`ol.${layout()}`, { id: "titles" });
  const more = h("p.more");
  const content = h("div.content", {}, titles, more);
  const node = h("div.now", {},
    h("div.head", {}, h("h1", { tabindex: "-1" }, heading), sourceChooser(known, name)),
    toolbar());
  add(node, [outcome, source && source.state !== "well" ? h("div.ill", { role: "note" }, illness(source)) : null, content]);

  let next = isBlank ? null : state.page;
  let isLoading = false;
  let leaving = new AbortController();
  let rank = 0;

  /** Asks for the next page and shows it below what is there. */
  async function load(isInitial = false) {
    if (isLoading || !next) return;
    isLoading = true;
    content.setAttribute("aria-busy", "true");
    try {
      const path = titlesPath(name, { date: state.date, period: state.period, query: state.query, page: next > 1 ? next : null });
      const page = await get(path, { signal: isInitial ? signal : leaving.signal });
      const isFirst = rank === 0;
      for (const title of page.titles) titles.append(item(name, title, ++rank, { isFirst, isRanked: !phrase && (hasDays || Boolean(title.rank)) }));
      next = page.next ?? null;
      more.replaceChildren();
      if (next) more.append(h("a", { href: address({ page: next }), rel: "next", onclick: follow }, t("more")));
      if (!rank) {
        content.replaceChildren(nothing());
        if (phrase) node.querySelector("h1").textContent = t("notFound", { phrase });
      } else {
        announce(t("count", { count: number(page.total ?? rank) }));
      }
      watch();
    } catch (error) {
      if (isInitial && (fresh || signal.aborted)) throw error;
      if (leaving.signal.aborted) return;
      more.replaceChildren(notice(error, () => {
        more.replaceChildren(h("span.faint", {}, t("loading")));
        load();
      }));
    } finally {
      isLoading = false;
      content.removeAttribute("aria-busy");
    }
  }

  /** Whether a click is for this page, and not for another tab or window; then the page alone acts on it. */
  function isPlain(event) {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return false;
    event.preventDefault();
    return true;
  }

  function follow(event) { if (isPlain(event)) load(); }

  const observer = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) load();
  }, { rootMargin: "800px" });
  /** Watched anew after each page: on a high screen the end may be in sight still. */
  function watch() {
    observer.disconnect();
    if (next) observer.observe(more);
  }

  function nothing() {
    if (phrase) return empty(t("emptySearch", { phrase }), null, h("a", { href: address({ query: null }) }, t("clear")));
    return asked ? empty(t("emptyDay"), t("emptyHelp"), h("a", { href: address({ date: null }) }, t("showNewest"))) : empty(t("empty"));
  }

  // MARK: Above the titles

  function toolbar() {
    const bar = h("div.tools");
    if (hasDays) add(bar, [dayChooser(), source.periods.length > 1 ? periodChooser() : null]);
    if (source?.searches) add(bar, [searchField()]);
    return add(bar, [h("div.end", {}, layoutToggle(),
      h("button.quiet", { type: "button", id: "refresh", title: t("refresh"), "aria-label": t("refresh"), onclick: () => go(location.href, { fresh: true }) },
        icon("refresh")))]);
  }

  /** The day of the list without a choice. */
  function newest() { return state.period ? lastComplete(source.lastDay, state.period) : source.lastDay; }

  function headingOf() {
    if (phrase) return t("found", { phrase });
    if (isBlank) return t("searchIn");
    if (!hasDays) return t("titles");
    if (state.period ? range(day, state.period) === range(newest(), state.period) : day === newest()) return t("nowShowing");
    return state.period ? t("showingFrom", { day: range(day, state.period) }) : t("showingOn", { day: shortDay(day) });
  }

  function step(count) {
    const target = plus(chosen, count * (state.period ? 7 : 1));
    if (target !== clamp(target, source.firstDay, source.lastDay)) return;
    chosen = target;
    const focused = document.activeElement.id;
    drawDay();
    if (focused) node.querySelector(`#${focused}`)?.focus();
    go(address({ date: target }));
  }

  function dayChooser() {
    drawDay();
    return dayBox;
  }

  function drawDay() {
    const weekly = Boolean(state.period);
    const label = weekly ? range(chosen, state.period) : longDay(chosen);
    const arrow = (count, title, name) => {
      const target = plus(chosen, count * (weekly ? 7 : 1));
      const end = outside(target, source.firstDay, source.lastDay);
      const isThere = !end;
      return h(isThere ? "a.button.quiet" : "span.button.quiet.off", { href: isThere ? address({ date: target }) : null, title: end ?? title,
        "aria-label": isThere ? title : null, "aria-hidden": isThere ? null : "true", id: count < 0 ? "earlier" : "later",
        onclick: isThere && ((event) => { if (isPlain(event)) step(count); }) }, icon(name));
    };
    const open = h("button.date", { type: "button", id: "date", "aria-haspopup": "dialog", title: t("chooseDay") }, icon("calendar"), h("time", { datetime: chosen }, label));
    open.addEventListener("click", () => openCalendar({
      day: chosen, first: source.firstDay, last: source.lastDay, from: open, choose: (date) => go(address({ date })),
    }));
    dayBox.replaceChildren(arrow(-1, t(weekly ? "previousWeek" : "previousDay"), "left"), open,
      arrow(1, t(weekly ? "nextWeek" : "nextDay"), "right"));
  }

  function periodChooser() {
    return h("nav.segments", { "aria-label": t("period") }, source.periods.map((each) => h("a", {
      href: address({ period: each === "day" ? null : each }), "aria-current": each === period ? "true" : null,
    }, t(each))));
  }

  function searchField() {
    const field = h("input", { type: "search", name: "query", value: phrase, placeholder: t("search"), "aria-label": t("searchIn"), autocomplete: "off",
      maxlength: 200, enterkeyhint: "search" });
    return h("form.search", { role: "search", action: "/", onsubmit: (event) => {
      event.preventDefault();
      go(address({ query: field.value.trim() || null, date: null, period: null }));
    } }, h("button.quiet", { title: t("search"), "aria-label": t("search") }, icon("search")), field);
  }

  function layoutToggle() {
    const toggle = h("div.segments", { role: "group", "aria-label": t("layout") });
    for (const each of layouts) {
      toggle.append(h("button", { type: "button", id: "as-" + each, title: t(each), "aria-label": t(each), "aria-pressed": String(layout() === each), onclick: () => {
        localStorage.setItem("layout", each);
        titles.className = each;
        for (const button of toggle.children) button.setAttribute("aria-pressed", String(button.id === "as-" + each));
      } }, icon(each)));
    }
    return toggle;
  }

  if (isBlank) content.replaceChildren(empty(t("onlySearch"), t("onlySearchHelp")));
  await load(true);
  return {
    title: heading, node,
    complain: (error) => outcome.replaceChildren(notice(error, () => go(location.href, { fresh: true }), () => outcome.replaceChildren())),
    key(event) {
      if (event.key === "/") {
        const field = node.querySelector("input[type=search]");
        if (field) {
          event.preventDefault();
          field.focus();
        }
      }
      if (hasDays && event.key === "ArrowLeft") step(-1);
      if (hasDays && event.key === "ArrowRight") step(1);
    },
    leave() {
      observer.disconnect();
      leaving.abort();
    },
    again() {
      leaving = new AbortController();
      chosen = day;
      if (hasDays) drawDay();
      watch();
    },
  };
}

function sourceChooser(known, current) {
  if (known.length < 2) return null;
  return h("nav.chips", { "aria-label": t("sources") }, known.filter((source) => source.hasLists || source.searches || source.name === current).map((source) => h("a", {
    href: view({ source: source.name }), "aria-current": source.name === current ? "page" : null,
  }, source.name, source.state === "well" ? null : h("span.dot", { title: t(source.state) }, h("span.hidden", {}, t(source.state))))));
}

/** What is wrong with a source that is not well. */
export function illness(source) {
  const time = (date) => (date ? new Date(date).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }) : "?");
  return source.state === "failing" ? [t("failingSince", { time: time(source.since) }), source.reason ? serversWords(source.reason) : null]
    : t(`${source.state}Until`, { time: time(source.until) });
}

/** The last day of the newest period that is over on `day`, as the server counts it. */
function lastComplete(day, period) {
  const last = period === "weekdays" ? 3 : 6;
  return plus(day, -((weekday(day) - last + 7) % 7));
}

/** The days that a period sums up: KOBIS's weekend is Friday to Sunday. */
function range(day, period) {
  const monday = plus(day, -weekday(day));
  const [first, last] = { week: [0, 6], weekend: [4, 6], weekdays: [0, 3] }[period];
  return days(plus(monday, first), plus(monday, last));
}

const sizes = "(max-width: 480px) 45vw, (max-width: 900px) 28vw, 210px";

/** One title, with all that both layouts show; the style sheet places it. What a search finds, or a folder has, is in no order of rank. */
function item(source, title, place, { isFirst, isRanked }) {
  remember(source, title);
  const known = facts(title);
  const [first, second] = namesOf(title);
  return h("li.card", {},
    h("a", { href: view({ source, title: title.id }) },
      poster(source, title, { sizes, lazy: !(isFirst && place <= 6) }),
      isRanked ? h("span.place", {}, h("span.hidden", {}, t("rank") + " "), h("span.rank", {}, String(title.rank ?? place)), change(known)) : null,
      h("span.names", {}, h("b.name", { lang: languageOf(first) }, first), second ? h("span.original", { lang: languageOf(second) }, second) : null),
      h("span.facts", {},
        known.audience === null ? null : h("span.audience", {}, h("span.label", {}, t("audienceDay") + " "), number(known.audience)),
        known.audienceTotal === null ? null : h("span.total", {}, h("span.label", {}, t("audienceTotal") + " "), number(known.audienceTotal)),
        title.releaseDate ? h("span.opened", {}, h("span.label", {}, t("opened") + " "), h("time", { datetime: title.releaseDate }, shortDay(title.releaseDate))) : null)));
}

function change({ isNew, rankChange }) {
  if (isNew) return h("span.change.new", {}, t("isNew"));
  if (rankChange === null) return null;
  const count = Math.abs(rankChange);
  const [kind, sign, words] = rankChange > 0 ? ["up", "▲", t("up", { count })] : rankChange < 0 ? ["down", "▼", t("down", { count })] : ["same", "–", t("same")];
  return h(`span.change.${kind}`, {}, h("span", { "aria-hidden": "true" }, sign + (count || "")), h("span.hidden", {}, words));
}
