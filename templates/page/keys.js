// Keys that people know from mail and code review.

const ACTIONS = { "/": "search", j: "next", k: "previous", o: "open", "?": "help", Escape: "close" };

/** Call an action when its key is pressed, but never while somebody writes or reads the help. */
export function listenToKeys(actions) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const writing = event.target.closest("input:not([type=checkbox]), select, textarea");
    if (writing) {
      if (event.key === "Escape") writing.blur();
      return;
    }
    const action = Object.hasOwn(ACTIONS, event.key) ? actions[ACTIONS[event.key]] : null;
    if (!action) return;
    event.preventDefault();
    action();
  });
}
