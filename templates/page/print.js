// On paper nothing can be clicked: every case that needs attention is printed in full.

import { caseView } from "./case.js";
import { h } from "./dom.js";
import { some, t } from "./words.js";

const MOST = 200;

/** Lay the cases out before printing, and take them away afterwards. */
export function expandWhenPrinted(data) {
  const paper = document.getElementById("paper");
  const folds = () => document.querySelectorAll("#overview details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folds()];
    opened.forEach((fold) => (fold.open = true));
    paper.replaceChildren(...sheets(data));
  });
  addEventListener("afterprint", () => {
    opened.forEach((fold) => (fold.open = false));
    paper.replaceChildren();
  });
}

function sheets(data) {
  const attention = new Set(data.statuses.filter((one) => one.attention).map((one) => one.key));
  const cases = data.cases.filter((one) => attention.has(one.status));
  const left = cases.length - MOST;
  return [
    cases.length ? h("h2", {}, t("page.attention")) : "",
    ...cases.slice(0, MOST).map((one) => caseView(one, { everything: true })),
    left > 0 ? h("p", {}, some("page.not_printed", left)) : "",
  ];
}
