// What failed, why, and what to do next.
import { copyButton, h, icon } from "./dom.js";
import { Problem, view } from "./api.js";
import { languageOf, t } from "./words.js";

/** Which of the page's texts says what to do after a status. */
export const helpFor = (status) => ({ 400: "help400", 401: "help401", 403: "help400", 404: "help404", 409: "help409", 413: "help422", 422: "help422",
  429: "help429", 502: "help502", 503: "help503", 504: "help504" }[status] ?? "help500");

/** A sentence of the server that stands alone begins with a capital letter. A name, an address or a value at its beginning stays as it is. */
export const sentence = (text) => text.replace(/^[a-z]+(?= )/, (word) => word[0].toUpperCase() + word.slice(1));

/** What failed: the server's words or, without any, the page's own. */
export const reasonOf = (problem) => (problem.kind ? t(problem.kind) : sentence(problem.message) || t("onlyStatus", { status: problem.status }));

/** What the page says itself of a server or a source that fails, whose own words are for those who run it. */
const failures = { 429: "pictureBusy", 500: "pictureFailed", 502: "pictureOrigin", 503: "pictureBusy", 504: "tooLong" };

/** What failed, in the page's own words as far as it has any. */
export const shortReason = (problem) => (failures[problem.status] ? t(failures[problem.status]) : reasonOf(problem));

/** The server's own words, for who wants them. */
export const serversWords = (text) => h("details", {}, h("summary", {}, t("details")), h("p", { lang: languageOf(text) }, sentence(text)));

/**
 * @param {Error} error
 * @param {(() => void)|null} retry what “Try again” does
 * @param {(() => void)|null} close what closes it; by default nothing does
 * @param {string} heading `h1` if it is the whole view
 */
export function notice(error, retry, close = null, heading = "h2") {
  if (!(error instanceof Problem)) throw error;
  const reason = reasonOf(error);
  // The server speaks English. What it says of an address names what is wrong with it, for readers of English at once.
  const own = error.title === "Quota exhausted" ? t("quotaUsed") : failures[error.status] ? t(failures[error.status]) : languageOf(reason) ? t(helpFor(error.status)) : null;
  // A quota may last until tomorrow.
  const again = error.retryAfter && error.retryAfter <= 3600 ? t("retryIn", { count: error.retryAfter }) : null;
  // What is wrong with a token says what to do.
  const isSaid = [t("noToken"), t("wrongToken")].includes(reason);
  const help = error.kind ? `${error.kind}Help` : helpFor(error.status);
  return h("section.notice", { role: "alert" },
    h(heading, { tabindex: heading === "h1" && "-1" }, t("problem")), close ? closeButton(close) : null,
    h("p.reason", {}, own ?? reason),
    isSaid || (own === t(help) && !again) ? null : h("p", {}, own === t(help) ? null : t(help) + " ", again),
    own && reason !== t("onlyStatus", { status: error.status }) ? serversWords(reason) : own ? h("p.faint", {}, reason) : null,
    h("p.actions", {}, retry ? h("button", { type: "button", onclick: retry }, t("retry")) : null, close ? null : h("a", { href: view({}) }, t("nowShowing"))),
    error.request ? h("p.faint", {}, t("requestID"), " ", h("code", {}, error.request),
      copyButton(error.request, t("copyRequest"), t("copied"))) : null);
}

export const closeButton = (close) => h("button.quiet.closes", { type: "button", "aria-label": t("close"), title: t("close"), onclick: close }, icon("close"));

/** Nothing went wrong, and there is nothing to show. */
export const empty = (title, help, action) => h("section.notice.calm", {}, h("h2", {}, title), help ? h("p", {}, help) : null,
  action ? h("p.actions", {}, action) : null);
