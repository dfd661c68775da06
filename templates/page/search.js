// Which cases are listed, in which order, and how many each choice would leave.

import { FACETS } from "./state.js";

const values = {
  status: (one) => [one.status],
  criterion: (one) => one.scores.filter((score) => score.moved).map((score) => score.name),
  suite: (one) => [one.suite],
  file: (one) => [one.path],
  cause: (one) => (one.cause ? [one.cause] : []),
};
const texts = new WeakMap();

/** The cases that match the words and every facet. */
export function matching(cases, state) {
  const words = wordsOf(state.query);
  return cases.filter((one) => has(one, words) && FACETS.every((name) => chosen(one, name, state)));
}

/** How many cases each value of a facet would leave, everything else as chosen. */
export function counts(cases, name, state) {
  const words = wordsOf(state.query);
  const others = FACETS.filter((facet) => facet !== name);
  const found = new Map();
  for (const one of cases) {
    const left = has(one, words) && others.every((facet) => chosen(one, facet, state));
    for (const value of values[name](one)) {
      found.set(value, (found.get(value) ?? 0) + (left ? 1 : 0));
    }
  }
  return found;
}

/** The cases in order; they come by importance. */
export function sorted(cases, sort) {
  const text = (get) => (a, b) => get(a).localeCompare(get(b), undefined, { numeric: true });
  const orders = {
    importance: null,
    drop: (a, b) => (a.drop ?? Infinity) - (b.drop ?? Infinity),
    name: text((one) => one.name),
    place: (a, b) => text((one) => one.path)(a, b) || a.line - b.line,
  };
  return orders[sort] ? [...cases].sort(orders[sort]) : cases;
}

/** The words looked for. */
export function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

function chosen(one, name, state) {
  const wanted = state.facets[name];
  return wanted.size === 0 || values[name](one).some((value) => wanted.has(value));
}

function has(one, words) {
  if (words.length === 0) return true;
  if (!texts.has(one)) texts.set(one, textOf(one).toLowerCase());
  const text = texts.get(one);
  return words.every((word) => text.includes(word));
}

function textOf(one) {
  const found = [one.name, one.place, one.suite, one.label, one.remark, one.asked, one.cause];
  for (const said of one.why) found.push(...said.map((piece) => piece.code ?? piece));
  for (const score of one.scores) found.push(score.name);
  for (const turn of one.turns ?? []) found.push(...textsOfTurn(turn));
  return found.join("\n");
}

function* textsOfTurn(turn) {
  yield* [turn.asked, turn.expected, turn.base, turn.head];
  for (const row of turn.calls) {
    for (const side of [row.expected, row.base, row.head]) yield side?.call;
  }
  for (const judged of turn.judged) yield* [judged.subject, judged.reason, judged.verdicts];
}
