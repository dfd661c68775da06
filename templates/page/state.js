// What is shown is in the address, so that a link shows the same to somebody else.

export const FACETS = ["status", "cause", "criterion", "suite", "file"];
export const SORTS = ["importance", "drop", "name", "place"];

/** What an address' hash asks for. */
export function parse(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const turn = Number.parseInt(given.get("turn"), 10);
  const facets = FACETS.map((name) => [name, new Set(given.getAll(name))]);
  return {
    case: given.get("case"),
    turn: turn > 0 ? turn : null,
    query: given.get("q") ?? "",
    sort: SORTS.includes(given.get("sort")) ? given.get("sort") : SORTS[0],
    facets: Object.fromEntries(facets),
  };
}

/** The hash that asks for it; empty for the page as it opens. */
export function format(state) {
  const given = new URLSearchParams();
  if (state.case !== null) given.set("case", state.case);
  if (state.turn !== null) given.set("turn", state.turn);
  if (state.query) given.set("q", state.query);
  if (state.sort !== SORTS[0]) given.set("sort", state.sort);
  for (const name of FACETS) {
    for (const value of state.facets[name]) given.append(name, value);
  }
  const text = given.toString();
  return text ? `#${text}` : "";
}

/** The case a link asks for: by its whole address, or by its id where only one has that. */
export function find(cases, wanted) {
  const exact = cases.find((one) => one.id === wanted);
  if (exact) return exact;
  const named = cases.filter((one) => one.name === wanted);
  return named.length === 1 ? named[0] : null;
}
