// Places in a text: Python counts code points, JavaScript slices UTF-16.

/** The places of JavaScript for some of Python's: a Map, made in one walk over the text. */
export function toUtf16(text, places) {
  const found = new Map();
  const sorted = [...new Set(places)].sort((left, right) => left - right);
  let next = 0;
  let point = 0;
  let unit = 0;
  while (next < sorted.length) {
    while (next < sorted.length && sorted[next] === point) found.set(sorted[next++], unit);
    if (unit >= text.length) break;
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
    point += 1;
  }
  return found;
}
