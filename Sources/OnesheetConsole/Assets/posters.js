// “Find another poster”: a title's candidates as pictures, why one of them is the poster, and the administrator's orders.
import { add, h } from "./dom.js";
import { get, titlePath, view } from "./api.js";
import { origin } from "./facts.js";
import { notice } from "./notice.js";
import { poster, watch } from "./poster.js";
import { isSignedIn, order, session } from "./session.js";
import { languageOf, number, t } from "./words.js";

export async function postersView(parameters) {
  const source = parameters.get("source");
  const id = parameters.get("posters");
  const path = titlePath(source, id);
  const [title, first] = await Promise.all([get(path), get(`${path}/posters`)]);
  let posters = first;
  let undo = null;
  const outcome = h("div.outcome", { role: "status" });
  const present = h("div.sheet");
  const list = h("ol.candidates");
  const heading = h("h2");
  const button = (words, name, act) => h("button", { type: "button", "data-order": name, onclick: act }, words);
  const signing = session({ help: t("signInHelp"), changed: () => draw(), say, actions: () => [
    button(t("anew"), "forget", () => run(() => order(`${path}/poster`, "DELETE"), t("didForget"))),
    posters.current ? button(t("block"), "block", block) : null] });
  draw();
  return {
    title: t("another"),
    node: h("div.one", {}, h("p.way", {}, h("a", { href: view({ source, title: id }) }, "‹ " + t("backToTitle", { name: title.name }))),
      h("h1", { tabindex: "-1" }, t("another")), h("p.original", { lang: languageOf(title.name) }, title.name),
      h("div.choice", {}, h("section.present", {}, h("h2", {}, t("inPlace")), present, signing.node), h("section", {}, outcome, heading, list))),
  };

  function draw() {
    present.replaceChildren(poster(source, title, { sizes: "240px", alt: t("posterOf", { name: title.name }), lazy: false, version: version(posters) }));
    heading.textContent = `${t("candidates")} (${number(posters.candidates.length)})`;
    list.replaceChildren(...posters.candidates.map(card));
    signing.draw();
  }

  function card(candidate) {
    const picture = h("img", { src: `${path}/posters/${candidate.candidate}`, alt: t("candidate", { count: candidate.candidate }), loading: "lazy",
      width: candidate.width ?? 2, height: candidate.height ?? 3 });
    const frame = h("span.frame.whole", {}, picture);
    watch(picture, frame, t("notAvailable"));
    const { state } = candidate;
    const act = (words, kind, body, done) => h("button", { type: "button", "data-order": kind, "aria-label": `${words}: ${t("candidate", { count: candidate.candidate })}`,
      disabled: !isSignedIn(), onclick: () => run(() => order(`${path}/poster`, "PUT", body), done) }, words);
    return h("li.candidate", { "data-state": state ?? null }, frame,
      h("div.words", {},
        h("h3", {}, t("candidate", { count: candidate.candidate }), state ? h("span.badge", {}, t(state)) : null),
        h("p", {}, origin(candidate),
          candidate.width ? h("span.faint", {}, ` ${candidate.width} × ${candidate.height}`) : null),
        why(candidate),
        h("p.actions", {},
          state === "pinned" ? null : act(t("pin"), "pin", { candidate: candidate.candidate }, t("didPin", { count: candidate.candidate })),
          state === "rejected" ? null : act(t("reject"), "reject", { reject: candidate.candidate }, t("didReject", { count: candidate.candidate })))));
  }

  // MARK: Orders

  function block() {
    const { hash } = posters.current;
    return run(() => order(`${path}/poster`, "PUT", { block: true }), t("didBlock"), () => order(`/blocked/${hash}`, "DELETE"));
  }

  /** Carries an order out, says so, and offers the way back to how it was before. */
  async function run(act, done, back = restore(posters)) {
    try {
      await act();
      undo = back;
      posters = await get(`${path}/posters`);
      draw();
      say(h("p.done", {}, done, " ", undo ? h("button", { type: "button", id: "undo", onclick: revert }, t("undo")) : null));
    } catch (error) {
      say(notice(error, null));
    }
  }

  async function revert() {
    const back = undo;
    undo = null;
    try {
      await back();
      posters = await get(`${path}/posters`);
      draw();
      say(h("p.done", {}, t("didUndo")));
    } catch (error) {
      say(notice(error, null));
    }
  }

  /** What leads back to these candidates' states: all forgotten, then each order again that stood. */
  function restore(before) {
    const orders = before.candidates.flatMap(({ candidate, state }) =>
      state === "rejected" ? [{ reject: candidate }] : state === "pinned" ? [{ candidate }] : []);
    return async () => {
      await order(`${path}/poster`, "DELETE");
      for (const each of orders) await order(`${path}/poster`, "PUT", each);
    };
  }

  function say(...nodes) {
    outcome.replaceChildren();
    add(outcome, nodes);
  }
}

/** A text that changes with the poster, so that a browser does not show the one that it had. */
const version = (posters) => posters.current?.hash ?? posters.candidates.map((candidate) => candidate.state ?? "").join();

/** Why a candidate is as good as it is, in words; the server's own where there are none for it. */
function why(candidate) {
  if (candidate.score === undefined || candidate.score === null) return h("p.faint", {}, t("onlyOne"));
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
