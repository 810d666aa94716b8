// What failed, why, and what to do next.
import { copyButton, h } from "./dom.js";
import { Problem, view } from "./api.js";
import { t } from "./words.js";

/** Which of the page's texts says what to do after a status. */
export const helpFor = (status) => (status === 0 ? "helpOffline" : { 400: "help400", 401: "help401", 403: "help400", 404: "help404", 429: "help429",
  502: "help502", 503: "help503", 504: "help504" }[status] ?? "help500");

/** @param {Error} error  @param {(() => void)|null} retry what “Try again” does */
export function notice(error, retry) {
  if (!(error instanceof Problem)) throw error;
  return h("section.notice", { role: "alert" },
    h("h2", {}, t("problem")),
    h("p.reason", {}, error.status === 0 ? t("offline") : error.message),
    h("p", {}, t(helpFor(error.status)), error.retryAfter ? " " + t("retryIn", { count: error.retryAfter }) : null),
    h("p.actions", {}, retry ? h("button", { type: "button", onclick: retry }, t("retry")) : null, h("a", { href: view({}) }, t("nowShowing"))),
    error.request ? h("p.faint", {}, t("requestID"), " ", h("code", {}, error.request),
      copyButton(error.request, t("copyRequest"), t("copied"))) : null);
}

/** Nothing went wrong, and there is nothing to show. */
export const empty = (title, help, action) => h("section.notice.calm", {}, h("h2", {}, title), help ? h("p", {}, help) : null,
  action ? h("p.actions", {}, action) : null);
