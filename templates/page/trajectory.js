// The calls of a turn, three ways: expected, base, this pull request; one row a step.

import { h } from "./dom.js";
import { t } from "./words.js";

const SIDES = ["expected", "base", "head"];

/** The table of calls; nothing where nobody called anything. */
export function trajectory(turn) {
  if (turn.steps.length === 0) return null;
  const sides = SIDES.filter((side) => turn[side]);
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, h("span", { class: "unseen" }, t("page.step.what"))),
    sides.map((side) => h("th", { scope: "col" }, t(`side.${side}`))),
  );
  const rows = turn.steps.map((step) =>
    h(
      "tr",
      { class: `step ${step.kind}` },
      h("td", { class: "mark" }, h("span", { class: "glyph", "aria-hidden": "true" }, step.mark), h("span", { class: "unseen" }, step.label)),
      sides.map((side) => cell(step, side)),
    ),
  );
  return h(
    "section",
    {},
    h("h4", {}, t("page.calls")),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": t("page.calls") }, h("table", { class: "trajectory" }, h("thead", {}, head), h("tbody", {}, rows))),
  );
}

function cell(step, side) {
  const said = step[side];
  const attributes = { "data-side": t(`side.${side}`) };
  if (!said) return h("td", { ...attributes, class: "none" }, t("page.none"));
  return h("td", attributes, h("code", {}, said), side === "head" && step.note ? h("div", { class: "note" }, step.note) : null);
}
