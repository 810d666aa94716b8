// The administrator's session: the token is entered once, and kept until the tab is closed.
import { announce, h } from "./dom.js";
import { get, Problem } from "./api.js";
import { notice } from "./notice.js";
import { t } from "./words.js";

const stored = () => sessionStorage.getItem("token");
export const isSignedIn = () => Boolean(stored());

/** Sends the administrator's request. The `Problem` of a 401 says whether the token is missing or wrong. */
export async function order(path, method = "GET", body = undefined, token = stored()) {
  if (!token) throw new Problem({ status: 401, detail: t("noToken") });
  try {
    return await get(path, { method, headers: { Authorization: `Bearer ${token}` }, body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.status !== 401) throw error;
    throw new Problem({ ...error, detail: t("wrongToken") });
  }
}

/** Sends a request that anyone may make, with the token if there is one, because the administrator gets more. */
export const ask = (path) => (isSignedIn() ? order(path) : get(path));

/**
 * The form to sign in, or the button to sign out.
 * @param {{help: string, changed: () => void, say: (node?: Node) => void, actions?: () => Array}} options `changed` is called when a reader
 *   signs in or out, `say` shows what failed, and `actions` are the other buttons of the administrator
 */
export function session({ help, changed, say, actions = () => [] }) {
  const box = h("section.administrator");

  function draw() {
    if (isSignedIn()) {
      return box.replaceChildren(h("p.faint", {}, t("signedIn")), h("p.actions", {}, actions(),
        h("button", { type: "button", "data-order": "leave", onclick: () => {
          sessionStorage.removeItem("token");
          draw();
          changed();
        } }, t("signOut"))));
    }
    const field = h("input", { type: "password", autocomplete: "off", "aria-label": t("token"), placeholder: t("token"), id: "token" });
    box.replaceChildren(h("form", { id: "sign-in", onsubmit: (event) => {
      event.preventDefault();
      signIn(field.value);
    } }, h("p.faint", {}, help, " ", t("tokenPlace")), field, h("button.primary", {}, t("signIn"))));
  }

  async function signIn(value) {
    try {
      await order("/blocked/", "GET", undefined, value);
    } catch (error) {
      return say(notice(error, null));
    }
    // Only now: whatever is drawn meanwhile must not take a wrong token for a right one.
    sessionStorage.setItem("token", value);
    say();
    draw();
    changed();
    // The form is gone. A second press of Enter must not decide anything.
    box.querySelector("[data-order=leave]")?.focus();
    announce(t("signedIn"));
  }

  draw();
  return { node: box, draw };
}
