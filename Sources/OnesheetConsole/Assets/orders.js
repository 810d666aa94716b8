// Administration below the figures: prefetches, the last errors, purging.
import { add, h } from "./dom.js";
import { sources } from "./api.js";
import { closeButton, helpFor, notice, sentence } from "./notice.js";
import { isSignedIn, order, session } from "./session.js";
import { bytes, languageOf, moment, number, t } from "./words.js";

const interval = 5000;

export async function ordersPart() {
  const outcome = h("div.outcome", { role: "status" });
  const jobs = h("section.card-box", { id: "jobs" });
  const errors = h("section.card-box", { id: "errors" });
  const cards = h("div.figures");
  const known = await sources();
  const purge = purgeBox(known.map((source) => source.name), say);
  const signing = session({ help: t("ordersSignIn"), changed: () => restart(), say });
  let timer = null;
  let turn = 0;
  let ended = false;
  restart();
  return {
    node: h("section", {}, h("h2.part", {}, t("administration")), signing.node, outcome, cards),
    restart,
    leave() {
      ended = true;
      clearTimeout(timer);
    },
  };

  function say(...nodes) {
    outcome.replaceChildren();
    add(outcome, nodes);
  }

  function restart() {
    clearTimeout(timer);
    ended = false;
    cards.replaceChildren(...(isSignedIn() ? [jobs, errors, purge] : []));
    if (isSignedIn()) update();
  }

  async function update() {
    const own = ++turn;
    clearTimeout(timer);
    try {
      const [{ jobs: all }, { errors: last }] = await Promise.all([order("/prefetch"), order("/errors")]);
      if (own !== turn) return;
      drawJobs(all);
      errors.replaceChildren(h("h2", {}, t("lastErrors")), last.length ? h("ol.errors", {}, last.slice(0, 10).map(error)) : h("p.faint", {}, t("noErrors")));
    } catch (failure) {
      if (own !== turn) return;
      say(notice(failure, () => {
        say();
        restart();
      }, () => say()));
      return;
    }
    if (!ended && !document.hidden && isSignedIn()) timer = setTimeout(update, interval);
  }

  /** Redraws the jobs. A focused button keeps the focus. */
  function drawJobs(all) {
    const focused = document.activeElement?.dataset?.stop;
    jobs.replaceChildren(h("h2", {}, t("prefetches")), all.length ? h("ol.jobs", {}, all.slice(0, 8).map(job)) : h("p.faint", {}, t("noPrefetches")));
    if (focused) jobs.querySelector(`[data-stop="${focused}"]`)?.focus();
  }

  function job({ number: count, source, answers, began, state, progress, failed }) {
    const done = progress.made + progress.skipped + progress.none + failed;
    return h("li", { "data-state": state }, h("p", {}, h("b", {}, source), ` · ${moment(began)} · `, t("job_" + state)),
      h("progress", { max: Math.max(1, progress.total), value: done, "aria-label": `${t("prefetches")}: ${source}` }),
      h("p.faint", {}, t("jobProgress", { done: number(done), total: number(progress.total), failed: number(failed) }),
        answers ? ` · ${t("jobAnswers", { answers: number(answers) })}` : "",
        progress.none ? ` · ${t("jobNone", { none: number(progress.none) })}` : ""),
      progress.failures.slice(-1).map((failure) => h("p.alarm", { lang: languageOf(failure.reason) }, sentence(failure.reason))),
      state === "running" ? h("p.actions", {}, h("button", { type: "button", "data-stop": count, "aria-label": `${t("stop")}: ${source}`, onclick: () => stop(count) }, t("stop"))) : null);
  }

  async function stop(count) {
    try {
      await order(`/prefetch/${count}`, "DELETE");
      await update();
    } catch (failure) {
      say(notice(failure, null, () => say()));
    }
  }
}

function error({ status, title, detail, path, request, last, count }) {
  return h("li", {}, h("p", {}, h("b", {}, `${status} ${title}`), ` · ${moment(last)}`, count > 1 ? ` · ${t("timesSeen", { count: number(count) })}` : ""),
    h("p.alarm", { lang: languageOf(detail) }, sentence(detail)), h("p", {}, t(helpFor(status))),
    h("p.faint", {}, h("code", {}, path), request ? [" ", t("requestID"), " ", h("code", {}, request)] : null));
}

/** Purges after a count. */
function purgeBox(names, say) {
  const choices = [...names.map((name) => [`/cache/${encodeURIComponent(name)}`, t("purgeSource", { name })]), ["/cache/?expired", t("purgeExpired")], ["/cache/?all", t("purgeAll")]];
  const select = h("select", { id: "purge-what" }, choices.map(([path, words]) => h("option", { value: path }, words)));
  const counted = h("p.actions", { role: "status" });
  select.addEventListener("change", () => counted.replaceChildren());
  return h("section.card-box", { id: "purge-box" }, h("h2", {}, t("purge")),
    h("div.field", {}, h("label", { for: "purge-what" }, t("purgeWhat")), select),
    h("p.actions", {}, h("button", { type: "button", id: "purge-count", onclick: count }, t("countFirst"))), counted);

  async function count() {
    const path = select.value;
    try {
      const found = await order(path + (path.includes("?") ? "&" : "?") + "dry-run", "DELETE");
      counted.replaceChildren(h("span", {}, t("purgeWould", { entries: number(found.entries), bytes: bytes(found.bytes) })),
        h("button", { type: "button", id: "purge-now", disabled: !found.entries && t("nothingThere"), onclick: () => remove(path) }, t("purgeNow")));
      say();
    } catch (failure) {
      say(notice(failure, null, () => say()));
    }
  }

  async function remove(path) {
    try {
      const removed = await order(path, "DELETE");
      counted.replaceChildren();
      say(h("p.done", {}, t("purged", { entries: number(removed.entries), bytes: bytes(removed.bytes) }), closeButton(() => say())));
    } catch (failure) {
      say(notice(failure, null, () => say()));
    }
  }
}
