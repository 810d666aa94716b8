// The administrator's session: the token is entered once, and kept until the tab is closed.
import { announce, h } from "./dom.js";
import { get, Problem } from "./api.js";
import { notice } from "./notice.js";
import { t } from "./words.js";

export const isSignedIn = () => Boolean(sessionStorage.getItem("token"));
const authorization = () => ({ Authorization: `Bearer ${sessionStorage.getItem("token")}` });

/** A request of the administrator. Without a token, and with a wrong one, it says which of the two it is. */
export async function order(path, method = "GET", body = undefined) {
  if (!isSignedIn()) throw new Problem({ status: 401, detail: t("noToken") });
  try {
    return await get(path, { method, headers: authorization(), body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.status !== 401) throw error;
    throw new Problem({ ...error, detail: t("wrongToken") });
  }
}

/** What anybody may ask for, and the administrator gets more of. */
export const ask = (path) => (isSignedIn() ? order(path) : get(path));

/**
 * The form to sign in, or who is signed in, with the way out.
 * @param {{help: string, changed: () => void, say: (node?: Node) => void, actions?: () => Array}} options `changed` is called when somebody
 *   signs in or out, `say` shows what failed, and `actions` are the buttons of who is signed in
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
    } }, h("p.faint", {}, help), field, h("button.primary", {}, t("signIn"))));
  }

  async function signIn(value) {
    if (!value) return say(notice(new Problem({ status: 401, detail: t("noToken") }), null));
    sessionStorage.setItem("token", value);
    try {
      await order("/blocked/");
    } catch (error) {
      sessionStorage.removeItem("token");
      return say(notice(error, null));
    }
    say();
    draw();
    changed();
    announce(t("signedIn"));
  }

  draw();
  return { node: box, draw };
}
