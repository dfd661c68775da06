// The calls of a turn, three ways: expected, base, this pull request; one row a call.

import { h } from "./dom.js";
import { some, t } from "./words.js";

const SIDES = ["expected", "base", "head"];
const NEIGHBOURS = 2;
const LONGEST = 240;

/** The table of calls; nothing where nobody called anything. */
export function trajectory(turn) {
  if (turn.calls.length === 0) return null;
  const sides = SIDES.filter((side) => turn[side] !== null);
  const head = sides.map((side) => h("th", { scope: "col" }, t(`side.${side}`)));
  const table = h(
    "table",
    { class: "trajectory" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "n" }, t("page.call")), head)),
    h("tbody", {}, rows(turn.calls, sides)),
  );
  const frame = { class: "scroll", tabindex: "0", role: "group", "aria-label": t("page.calls") };
  return h("section", {}, h("h4", {}, t("page.calls")), h("div", frame, table));
}

/** Every call, but long stretches on which all sides agree only at a click. */
function rows(calls, sides) {
  const near = calls.map((_, at) =>
    calls.slice(Math.max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1).some((call) => !call.quiet),
  );
  const found = [];
  for (let at = 0; at < calls.length; ) {
    const end = near.indexOf(true, at) < 0 ? calls.length : near.indexOf(true, at);
    const stretch = calls.slice(at, end).map((call, by) => callRow(call, at + by + 1, sides));
    found.push(...(stretch.length > NEIGHBOURS + 1 ? [folded(stretch, sides)] : stretch));
    if (end < calls.length) found.push(callRow(calls[end], end + 1, sides));
    at = end + 1;
  }
  return found;
}

function folded(stretch, sides) {
  const said = some("calls.folded", stretch.length);
  const more = h("button", { type: "button", class: "more" }, said);
  const line = h("tr", { class: "fold" }, h("td"), h("td", { colspan: sides.length }, more));
  more.addEventListener("click", () => line.replaceWith(...stretch));
  return line;
}

function callRow(call, number, sides) {
  const cells = sides.map((side) => cell(call[side], side));
  return h("tr", { class: call.quiet ? "quiet" : null }, h("td", { class: "n" }, number), cells);
}

function cell(said, side) {
  const attributes = { "data-side": t(`side.${side}`), class: said ? `${side} ${said.mark ?? ""}` : "none" };
  if (!said) return h("td", attributes, t("page.none"));
  return h("td", attributes, mark(said), " ", said.call && said.mark !== "same" ? code(said.call) : null, argumentChanges(said.changes ?? []));
}

function mark(said) {
  if (!said.sign) return null;
  const told = t(`page.mark.${said.mark}`);
  const shown = said.mark === "same" ? h("span", { class: "unseen" }, told) : h("span", { class: "told" }, told);
  const glyph = h("span", { class: "glyph", "aria-hidden": "true" }, said.sign);
  return [glyph, " ", shown, said.moved ? h("span", { class: "told" }, ` ${said.moved}`) : null];
}

function code(text) {
  if (text.length <= LONGEST) return h("code", {}, text);
  const more = h("button", { type: "button", class: "more" }, "…");
  more.setAttribute("aria-label", t("page.more"));
  const shown = h("code", {}, text.slice(0, LONGEST), more);
  more.addEventListener("click", () => shown.replaceChildren(text));
  return shown;
}

function argumentChanges(found) {
  if (found.length === 0) return null;
  const lines = found.map(([path, before, after]) => [
    h("dt", {}, path || t("page.arguments")),
    h("dd", {}, before ? h("del", {}, before) : null, " ", after ? h("ins", {}, after) : null),
  ]);
  return h("dl", { class: "changes" }, lines);
}
