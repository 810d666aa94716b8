// “Find another poster”: a title's candidates as pictures, for its poster or another image of it, why one of them is the image, and the
// administrator's orders.
import "./words-tools.js";
import { add, announce, h } from "./dom.js";
import { get, noteDecision, posterVersion, titlePath, view } from "./api.js";
import { namesOf, origin } from "./facts.js";
import { closeButton, notice } from "./notice.js";
import { poster, watch } from "./poster.js";
import { ask, isSignedIn, order, session } from "./session.js";
import { language, languageOf, number, t } from "./words.js";

export async function postersView(parameters, go, { signal }) {
  const source = parameters.get("source");
  const id = parameters.get("posters");
  /** The kind of the image, and its languages if they are not those of the source: `logo.ko`. */
  const image = parameters.get("image") ?? "poster";
  const path = titlePath(source, id);
  const orders = `${path}/poster${ofImage(image)}`;
  const ones = `${path}/posters${ofImage(image)}`;
  /** The candidates. Only the administrator gets their whole names, with which decisions are taken back. */
  const read = () => ask(ones);
  const [title, first] = await Promise.all([get(path, { signal }), read().catch(() => get(ones, { signal }))]);
  const [name] = namesOf(title);
  let posters = first;
  let isBusy = false;
  const outcome = h("div.outcome");
  const present = h("div.sheet");
  const list = h("ol.candidates");
  /** The decision for which the cards were made, as text. */
  let drawn;
  const heading = h("h2");
  const button = (words, kind, act) => h("button", { type: "button", "data-order": kind, onclick: (event) => { if (event.detail < 2) act(); } }, words);
  const signing = session({ help: t("signInHelp"), changed: () => { draw(); look(); }, say: (...nodes) => say(signing.node, ...nodes), actions: () => [
    button(t("anew"), "forget", forget), posters.current?.hash ? button(t("block"), "block", block) : null] });
  draw();
  return {
    title: t("another"),
    node: h("div.one", {}, h("p.way", {}, h("a", { href: view({ source, title: id }) }, "‹ " + t("backToTitle", { name }))),
      h("h1", { tabindex: "-1" }, t("another")), h("p.original", { lang: languageOf(name) }, name), images(),
      h("div.choice", {}, h("section.present", {}, h("h2", {}, t("inPlace")), present, signing.node), h("section", {}, heading, list))),
  };

  /** The kinds of images, and a menu of the languages that the candidates have. */
  function images() {
    const [kind, ...languages] = image.split(".");
    const address = (image) => view({ source, posters: id, image: image === "poster" ? null : image });
    const known = [...new Set([...posters.candidates.map((each) => each.language ?? "none"), ...languages])].filter((tag) => tag !== "und").sort();
    const names = new Intl.DisplayNames(language, { type: "language" });
    const menu = h("select", { "aria-label": t("language"), onchange: ({ target }) => go(address(kind + (target.value && `.${target.value}`))) },
      h("option", { value: "" }, t("anyLanguage")), known.map((tag) => h("option", { value: tag, selected: languages[0] === tag },
        { none: t("noWords"), original: t("original") }[tag] ?? names.of(tag))));
    return h("nav.chips", { "aria-label": t("kind") }, kinds.map((each) => h("a", { href: address(each), "aria-current": each === kind && "true" }, t(`kind_${each}`))),
      known.length > 1 ? menu : null);
  }

  /** Redraws all. */
  function draw() {
    // The placeholder of the title is that of the poster at first.
    const known = posters === first && image === "poster" ? title : { ...title, poster: undefined };
    const frame = poster(source, known, { image, sizes: "240px", alt: t("posterOf", { name }), lazy: false,
      version: posterVersion(source, id) || version(posters) });
    present.replaceChildren(frame);
    if (!posters.current) frame.querySelector("img").addEventListener("load", look, { once: true });
    drawOrders();
  }

  /** Looks again once the picture is there: the server knows only then which one it is. */
  async function look() {
    const before = posters;
    const now = await read().catch(() => before);
    // A press that has begun on a card would be lost if the card were drawn anew.
    while (list.querySelector(":active")) await new Promise((done) => setTimeout(done, 50));
    if (posters !== before || isBusy) return;
    posters = now;
    drawOrders();
  }

  /** Redraws the candidates and the buttons. The focus stays on the button that had it, and what was said stays. */
  function drawOrders() {
    const focused = document.activeElement;
    const { order: kind, candidate } = focused?.dataset ?? {};
    const said = list.contains(outcome) ? outcome.closest(".candidate").querySelector("[data-candidate]").dataset.candidate : null;
    const isSaid = outcome.isConnected;
    heading.textContent = `${t("candidates")} (${number(posters.candidates.length)})`;
    // A card with the same words and buttons stays: a press that has begun on one of them would be lost with it.
    const kept = drawn === JSON.stringify(posters.decision) ? [...list.children] : [];
    drawn = JSON.stringify(posters.decision);
    list.replaceChildren(...posters.candidates.map(card).map((next, place) =>
      (kept[place]?.querySelector(".words").isEqualNode(next.querySelector(".words")) ? kept[place] : next)));
    // The form keeps what is being typed.
    if (isSignedIn()) signing.draw();
    if (isSaid) place(said).append(outcome);
    if (outcome.contains(focused)) focused.focus({ preventScroll: true });
    else if (kind) [kind, opposite[kind]].map((each) => document.querySelector(`[data-order="${each}"]${candidate ? `[data-candidate="${candidate}"]` : ""}`))
      .find(Boolean)?.focus({ preventScroll: true });
  }

  function card(candidate) {
    const { candidate: count, state } = candidate;
    const picture = h("img", { src: `${path}/posters/${count}${ofImage(image)}`, alt: t("candidate", { count }), loading: "lazy",
      width: candidate.width ?? 2, height: candidate.height ?? 3 });
    const frame = h("span.frame.whole", {}, picture);
    watch(picture, frame, t("notAvailable"));
    // Always two, so that no other button comes under the pointer: what is decided can be taken back in the same place.
    const act = (kind, body) => h("button", { type: "button", "data-order": kind, "data-candidate": count,
      "aria-label": `${t(kind)}: ${t("candidate", { count })}`, disabled: !isSignedIn(),
      onclick: (event) => { if (event.detail < 2) run(() => order(orders, "PUT", body), t(done[kind], { count }), count); } }, t(kind));
    const { decision } = posters;
    const without = (change) => ({ decision: { ...decision, ...change }, insteadOf: decision });
    return h("li.candidate", { "data-state": state ?? null }, frame,
      h("div.words", {},
        h("h3", {}, t("candidate", { count }), state ? h("span.badge", {}, t(state)) : null),
        h("p", {}, origin(candidate),
          candidate.width ? h("span.faint", {}, ` ${candidate.width} × ${candidate.height}`) : null),
        why(candidate),
        h("p.actions", {},
          state === "pinned" ? act("unpin", without({ pinned: undefined })) : act("pin", { candidate: count }),
          state === "rejected" ? act("allow", without({ rejected: decision.rejected.filter((name) => name !== candidate.name) }))
            : act("reject", { reject: count }))));
  }

  // MARK: Orders

  function block() {
    const { hash } = posters.current;
    return run(() => order(orders, "PUT", { block: true }), t("didBlock"), null, { back: () => order(`/blocked/${hash}`, "DELETE"), all: true });
  }

  /** Says what is forgotten with it. */
  function forget() {
    const { pinned, rejected } = posters.decision;
    const lost = [pinned && t("lostPin"), rejected.length && t("lostRejections", { count: number(rejected.length) })].filter(Boolean).join(" ");
    return run(() => order(orders, "DELETE"), [t("didForget"), lost].filter(Boolean).join(" "), null);
  }

  /**
   * Carries an order out, says so beside its button, and offers the way back to how it was before.
   * @param {number|null} count the candidate of the order
   * @param {{back?: () => Promise, all?: boolean}} options `back` leads back, by default to the decision of before if nobody has decided anything
   *   since; with `all` the order concerns the posters of other titles too
   */
  async function run(act, done, count, { back, all = false } = {}) {
    if (isBusy) return;
    isBusy = true;
    const { decision: before } = posters;
    say(place(count), h("p.faint", {}, t("saving")));
    try {
      // Before the order too, because the reader may leave before its answer.
      noteDecision(source, id, { all });
      posters = await act();
      const { decision: after } = posters;
      noteDecision(source, id, { all });
      draw();
      say(place(count), h("p.done", {}, done, " ", h("button", { type: "button", id: "undo", onclick: () => revert(count,
        back ?? (() => order(orders, "PUT", { decision: before, insteadOf: after })), all) }, t("undo")), closeButton(clear)));
      announce(done);
    } catch (error) {
      await fail(error, count);
    } finally {
      isBusy = false;
    }
  }

  /** Somebody has decided otherwise: that is what the reader has to see with it. */
  async function fail(error, count) {
    if (error.status === 409) {
      posters = await read().catch(() => posters);
      noteDecision(source, id);
      draw();
    }
    say(place(count), notice(error, null, clear));
  }

  async function revert(count, back, all) {
    if (isBusy) return;
    isBusy = true;
    say(place(count), h("p.faint", {}, t("saving")));
    try {
      noteDecision(source, id, { all });
      await back();
      noteDecision(source, id, { all });
      posters = await read();
      draw();
      say(place(count), h("p.done", {}, t("didUndo"), closeButton(clear)));
      announce(t("didUndo"));
    } catch (error) {
      await fail(error, count);
    } finally {
      isBusy = false;
    }
    outcome.querySelector("button")?.focus({ preventScroll: true });
  }

  /** Where the outcome of an order about a candidate is said: below its buttons, where it covers and moves none of them. */
  function place(count) { return (count && list.children[count - 1]?.querySelector(".words")) || signing.node; }

  function say(place, ...nodes) {
    outcome.replaceChildren();
    add(outcome, nodes);
    place.append(outcome);
    // What is said about the buttons below the picture may be below the screen.
    if (nodes.length) outcome.scrollIntoView({ block: "nearest" });
  }

  function clear() { outcome.replaceChildren(); }
}

/** The kinds of images, as the server names them. */
const kinds = ["poster", "season", "backdrop", "logo", "still", "profile", "banner"];
/** The query that means an image, such as a logo. */
const ofImage = (image) => (image === "poster" ? "" : `?image=${encodeURIComponent(image)}`);

/** The orders that take each other's place. */
const opposite = { pin: "unpin", unpin: "pin", reject: "allow", allow: "reject" };
/** What is said after an order about a candidate. */
const done = { pin: "didPin", unpin: "didUnpin", reject: "didReject", allow: "didAllow" };

/** A text that changes with the poster, so that a browser does not show the one that it had: new each time while the server does not know it. */
const version = (posters) => posters.current?.hash ?? String(Date.now());

/** Why a candidate is as good as it is, in words; the server's own where there are none for it. */
function why(candidate) {
  if (candidate.score === undefined || candidate.score === null) {
    return candidate.reasons.length ? h("div.why", {}, h("ul", { lang: "en" }, candidate.reasons.map((reason) => h("li", {}, reason))))
      : h("p.faint", {}, t("onlyOne"));
  }
  const words = candidate.reasons.map((reason) => {
    const [, kind, value] = /^(shape|size|site) ([\d.]+)/.exec(reason) ?? [];
    if (kind) return t(kind + (value >= 0.95 ? "Good" : value >= 0.5 ? "Fair" : "Bad"));
    const announced = /^announced as (.+)$/.exec(reason);
    if (announced) return t("announced", { size: announced[1] });
    const seen = /^(\d+) more show/.exec(reason);
    if (seen) return t("seen", { count: seen[1] });
    return reason === "not looked at" ? t("notLooked") : reason;
  });
  return h("div.why", {}, h("p", {}, h("span.faint", {}, t("score") + " "), h("b", {}, number(candidate.score)), h("meter", { min: 0, max: 1.5, value: candidate.score, "aria-label": t("score") })),
    h("ul", {}, words.map((word) => h("li", {}, word))));
}
