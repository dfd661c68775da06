// Two texts, word against word. Made when a turn is looked at: a report may hold thousands.

const UNSPACED = "\\u3040-\\u30ff\\u4e00-\\u9fff\\uac00-\\ud7af\\u0e00-\\u0eff";
const TOKEN = new RegExp(`[${UNSPACED}]|[^\\s${UNSPACED}]+|\\n|[^\\S\\n]+`, "gu");
const MOST_EDITS = 1_500;

/** Stretches `[sign, text]` in order; the sign is "=", "-" or "+". */
export function diff(before, after) {
  const old = before.match(TOKEN) ?? [];
  const now = after.match(TOKEN) ?? [];
  const start = shared(old, now, 0, 0);
  const room = Math.min(old.length, now.length) - start;
  const end = Math.min(shared(old.toReversed(), now.toReversed(), 0, 0), room);
  const middle = edits(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const whole = [
    ...old.slice(0, start).map((token) => ["=", token]),
    ...middle,
    ...old.slice(old.length - end).map((token) => ["=", token]),
  ];
  return joined(withoutIslands(joined(whole)));
}

function shared(old, now, i, j) {
  let length = 0;
  while (i + length < old.length && j + length < now.length && old[i + length] === now[j + length]) {
    length += 1;
  }
  return length;
}

/** Myers' greedy algorithm; past so many edits nothing is worth calling shared. */
function edits(old, now) {
  const paths = [];
  const offset = Math.min(old.length + now.length, MOST_EDITS) + 1;
  let furthest = new Int32Array(2 * offset + 1);
  for (let distance = 0; distance < offset; distance += 1) {
    paths.push(furthest.slice());
    for (let k = -distance; k <= distance; k += 2) {
      const down = isDown(furthest, offset, k, distance);
      let x = down ? furthest[offset + k + 1] : furthest[offset + k - 1] + 1;
      x += shared(old, now, x, x - k);
      furthest[offset + k] = x;
      if (x >= old.length && x - k >= now.length) return walkBack(old, now, paths, offset);
    }
  }
  return [...old.map((token) => ["-", token]), ...now.map((token) => ["+", token])];
}

function isDown(furthest, offset, k, distance) {
  if (k === -distance) return true;
  return k !== distance && furthest[offset + k - 1] < furthest[offset + k + 1];
}

function walkBack(old, now, paths, offset) {
  const steps = [];
  let [x, y] = [old.length, now.length];
  for (let distance = paths.length - 1; distance >= 0; distance -= 1) {
    const furthest = paths[distance];
    const k = x - y;
    const down = isDown(furthest, offset, k, distance);
    const fromX = distance === 0 ? 0 : furthest[offset + (down ? k + 1 : k - 1)];
    const fromY = distance === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) steps.push(["=", old[(x -= 1)], (y -= 1)]);
    if (distance > 0) steps.push(down ? ["+", now[(y -= 1)]] : ["-", old[(x -= 1)]]);
  }
  return steps.reverse().map(([mark, token]) => [mark, token]);
}

/** Neighbours with one sign as one; of a change, what went before what came. */
function joined(steps) {
  const found = [];
  let [gone, come] = ["", ""];
  const close = () => {
    if (gone) found.push(["-", gone]);
    if (come) found.push(["+", come]);
    [gone, come] = ["", ""];
  };
  for (const [mark, token] of steps) {
    if (mark === "-") gone += token;
    else if (mark === "+") come += token;
    else {
      close();
      if (found.at(-1)?.[0] === "=") found.at(-1)[1] += token;
      else found.push(["=", token]);
    }
  }
  close();
  return found;
}

/** One shared word or space between two changes is no context: it belongs to both. */
function withoutIslands(steps) {
  return steps.flatMap(([mark, text], index) => {
    const inside = index > 0 && index < steps.length - 1;
    const small = (text.trim().match(TOKEN) ?? []).length <= 1 && !text.includes("\n");
    return mark === "=" && inside && small ? [["-", text], ["+", text]] : [[mark, text]];
  });
}
