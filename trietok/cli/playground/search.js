// WordPiece as the search that it is: the longest piece is looked up first, then shorter ones, until one is found.

/** The words that WordPiece looked up, once each: a Map from a word to its tokens. */
export function wordsOf(tokens) {
  const words = new Map();
  for (let start = 0, end; start < tokens.length; start = end) {
    const first = tokens[start];
    end = start + 1;
    while (end < tokens.length && first.text !== null && tokens[end].text === first.text && tokens[end].word === first.word) end++;
    const isWhole = first.unknown?.reason === "no-piece" || first.match?.left === first.word_text; // truncation cuts words
    if (isWhole && !words.has(first.word_text)) words.set(first.word_text, tokens.slice(start, end));
  }
  return words;
}

/** What is looked up for a word, in order: `tried`, whether it is `found`, and what is `left` from there on. */
export function stepsOf(word, tokens) {
  const [{ unknown }] = tokens;
  const found = unknown ? [...unknown.covered, ""] : tokens.map((token) => token.token);
  const last = [...(unknown ? unknown.left : tokens.at(-1).match.left)];
  const rest = [...word];
  const sizes = found.slice(0, -1).reduce((sum, piece) => sum + [...piece].length, 0);
  const prefix = found.length > 1 ? (sizes + last.length - rest.length) / (found.length - 1) : 0; // as ## has
  const mark = last.slice(0, prefix);
  const steps = [];
  found.forEach((piece, number) => {
    const left = number ? [...mark, ...rest] : [...rest];
    const shortest = [...piece].length || (number ? prefix + 1 : 1);
    for (let size = left.length; size >= shortest; size--) {
      steps.push({ tried: left.slice(0, size).join(""), left: left.slice(size).join(""), found: size === [...piece].length });
    }
    rest.splice(0, [...piece].length - (number ? prefix : 0));
  });
  return steps;
}

/** A step as an item of a list. */
export function stepItem({ tried, left, found }, isLast) {
  const item = document.createElement("li");
  item.className = found ? "found" : "vain";
  const shown = document.createElement("code");
  const letters = document.createElement("mark");
  letters.textContent = tried;
  shown.append(letters, left);
  const end = found ? (left ? "" : ": the whole word has its tokens") : ": the whole word is unknown";
  item.append(shown, found ? ` is an entry${end}` : ` is no entry${isLast ? end : ""}`);
  return item;
}
