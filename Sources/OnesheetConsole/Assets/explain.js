// “Explain”: what an image's address asks for, what the cache has of it, and why it was fast or slow.
import "./words-tools.js";
import { add, copyButton, h } from "./dom.js";
import { accept, cachePath, posterPath, Problem, queryText, someTitle, view } from "./api.js";
import { closeButton, empty, notice, serversWords } from "./notice.js";
import { ask, order, session } from "./session.js";
import { waterfall } from "./stages.js";
import { bytes, milliseconds, moment, number, t } from "./words.js";

export async function explainView(parameters, go) {
  const address = (parameters.get("url") ?? "").trim();
  // The address of a view of this page stands for its title's poster.
  const meant = posterOf(address);
  const field = h("input", { type: "text", id: "address", value: address, autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
  const outcome = h("div.outcome", { role: "status" });
  const content = h("div.explained");
  const signing = session({ help: t("purgeSignIn"), changed: () => update(), say });
  const node = h("div.board", {}, h("h1", { tabindex: "-1" }, t("explain")), h("p.faint.lead", {}, t("explainHelp")),
    h("form.address", { id: "explain", action: "/", onsubmit: (event) => {
      event.preventDefault();
      const entered = field.value.trim();
      if (entered) return go(view({ view: "explain", url: entered }));
      field.focus();
      return guide();
    } }, h("label", { for: "address" }, t("address")), field, h("button.primary", {}, t("explain"))),
    outcome, content);
  let turn = 0;
  if (meant) await update();
  else guide();
  return { title: t("explain"), node };

  function say(...nodes) {
    outcome.replaceChildren();
    add(outcome, nodes);
  }

  /** Says what to enter, with an address of this server as an example. */
  async function guide() {
    const example = h("span");
    say(empty(t(address && meant === null ? "pageAddress" : "noAddress"), t("noAddressHelp"), example));
    const path = await someAddress();
    if (path) add(example, [t("forExample"), " ", h("a", { href: view({ view: "explain", url: path }) }, h("code", {}, path))]);
  }

  /** @param {boolean} fetches whether to fetch and make the image if necessary */
  async function update(fetches = false) {
    const own = ++turn;
    const query = queryText({ url: meant, accept, ...(fetches ? { fetch: "" } : {}) });
    try {
      const found = await ask(`/explain?${query}`);
      if (own !== turn) return;
      content.replaceChildren(...draw(found));
      say();
    } catch (error) {
      if (own !== turn) return;
      content.replaceChildren(...(error.status === 401 ? [h("section.card-box", {}, signing.node)] : []));
      say(notice(error, () => update(fetches)));
    }
  }

  function draw(found) {
    const path = found.canonical ?? meant;
    return [
      h("section.card-box.verdict", {}, h("h2", {}, t("inShort")), ...verdict(found),
        h("p.actions", {}, h("button", { type: "button", id: "fetch", onclick: () => update(true) }, t(found.missReason ? "fetchNow" : "askNow")),
          h("a.button", { href: view({ view: "try", of: found.title, options: found.options.join("/"), format: found.format }) }, t("tryThis")),
          h("a.button", { href: view({ source: found.source, title: found.id }) }, t("toTitle")))),
      found.stages ? h("section.card-box", {}, h("h2", {}, t("thisTime")), waterfall(found.stages)) : "",
      made(found), found.stored ? stored(found.stored) : "",
      h("section.card-box.wide", {}, h("h2", {}, t("address")), h("dl.details", {},
        row(t("canonical"), found.canonical ? [h("code", {}, path), copyButton(new URL(path, location.href).href, t("copyURL"), t("copied"))] : t("noCanonical")),
        row(t("grammar"), t({ sizes: "grammarSizes", options: "grammarOptions" }[found.grammar] ?? "grammarOther", { name: found.grammar })),
        row(t("options"), found.options.length ? h("code", {}, found.options.join(" ")) : t("asItIs")),
        row(t("format"), (found.format?.toUpperCase() ?? t("formatOwn")) + (found.negotiated ? ` (${t("byAccept")})` : "")),
        found.expires ? row(t("expires"), moment(found.expires * 1000)) : [],
        row(t("cacheKey"), h("code", {}, found.key)))),
      purge(found),
    ].filter(Boolean);
  }

  function purge(found) {
    const box = h("section.card-box", {}, h("h2", {}, t("purge")), h("p", {}, t("purgeRemoves", { title: found.title })));
    if (!found.purge) return add(box, [signing.node]);
    const { entries, bytes: size } = found.purge;
    add(box, [h("p", {}, t("purgeWould", { entries: number(entries), bytes: bytes(size) })), h("p.actions", {},
      h("button", { type: "button", id: "purge", disabled: !entries && t("nothingThere"), onclick: () => remove(found) }, t("purgeTitle")))]);
    return add(box, [signing.node]);
  }

  async function remove(found) {
    try {
      const removed = await order(cachePath(found.source, found.id), "DELETE");
      await update();
      say(h("p.done", {}, t("purged", { entries: number(removed.entries), bytes: bytes(removed.bytes) }), closeButton(() => say())));
    } catch (error) {
      say(notice(error, null, () => say()));
    }
  }
}

/**
 * What to explain for what a reader enters: the poster of a title's view of this page, `source://id` as it is, or an image's address.
 * `null` for a view without a title.
 */
function posterOf(entered) {
  const url = entered && !/^(?!https?:)[\w-]+:/i.test(entered) && URL.canParse(entered, location.href) ? new URL(entered, location.href) : null;
  if (url?.pathname !== "/") return entered;
  const parameters = url.searchParams;
  if (parameters.get("view") === "explain") return posterOf(parameters.get("url") ?? "") || null;
  const id = parameters.get("posters") ?? parameters.get("title");
  return parameters.get("of") ?? (id && parameters.get("source") ? posterPath("w500", parameters.get("source"), id) : null);
}

/** The address of some poster of this server; `null` if there is none, or if its source does not answer. */
async function someAddress() {
  try {
    const title = await someTitle();
    return title && posterPath("w342", title.source, title.id);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return null;
  }
}

const row = (label, value) => [h("dt", {}, label), h("dd", {}, value)];

/** Says whether the next request is quick, and if not, why. */
function verdict(found) {
  const { stored, lastMaking } = found;
  const lines = [];
  if (!found.missReason) lines.push(t("isThere", { tier: tier(stored.tier) }));
  else if (found.missReason === "failed") lines.push(found.fallback ? t("isRedirected", { url: found.fallback }) : t("isFailing"));
  else if (found.missReason === "stale") lines.push(t("isStale"));
  else lines.push(found.originalTier ? t("isMadeOf", { tier: tier(found.originalTier) }) : t("isNowhere"));
  if (!stored && lastMaking?.outcome === "made") lines.push(t(lastMaking.isStorable ? "isGone" : "isNotStorable"));
  if (found.failure) lines.push(serversWords(found.failure));
  const slowest = lastMaking && [...lastMaking.stages].sort((a, b) => b.milliseconds - a.milliseconds)[0];
  if (slowest) {
    const total = lastMaking.stages.reduce((sum, stage) => sum + stage.milliseconds, 0);
    lines.push(t("tookMost", { total: milliseconds(total), stage: t("stage_" + slowest.stage), time: milliseconds(slowest.milliseconds) }));
  } else if (stored && !lastMaking) {
    lines.push(t("madeBefore", { time: milliseconds(stored.cost) }));
  }
  return lines.map((line) => (typeof line === "string" ? h("p", {}, line) : line));
}

const tier = (name) => (["memory", "disk"].includes(name) ? t("tier_" + name) : name);

/** How and why it was last made. */
function made({ lastMaking: making }) {
  if (!making) return h("section.card-box", {}, h("h2", {}, t("lastMade")), h("p.faint", {}, t("notMade")));
  return h("section.card-box", {}, h("h2", {}, t("lastMade")),
    h("p", {}, h("time", { datetime: making.began }, moment(making.began)), " · ", t("outcome_" + making.outcome)),
    h("p", {}, t(making.reason === "stale" ? "becauseStale" : "becauseAbsent"),
      making.askedOrigin === undefined ? null : " " + t(making.askedOrigin ? "originAsked" : "originStored")),
    making.failure ? h("div.alarm", {}, serversWords(making.failure)) : null,
    making.stages.length ? waterfall(making.stages) : null);
}

function stored(found) {
  return h("section.card-box", {}, h("h2", {}, t("inCache")), h("dl.details", {},
    row(t("tier"), tier(found.tier)), row(t("state"), t("state_" + found.state)),
    row(t("age"), t("seconds", { count: number(found.age) })),
    row(t("freshUntil"), found.freshUntil ? moment(found.freshUntil) : t("always")),
    row(t("picture"), [found.width ? `${found.width} × ${found.height}, ` : "", `${found.mediaType.replace("image/", "").toUpperCase()}, ${bytes(found.bytes)}`].join("")),
    row(t("renderTime"), milliseconds(found.cost))));
}
