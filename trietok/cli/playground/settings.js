// The settings in the address: #text=…&model=…&added=[…]. What is as it is by default is left out.

export const FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"];
const PLAIN = { pair: "", model: "trietok-en", profile: "slow" };

/** The part of the address behind the page. A text with a lone surrogate, or a part of one, stands as JSON. */
export function linkOf(settings, longest) {
  const fields = new URLSearchParams();
  const texts = { text: settings.text, pair: settings.pair };
  for (const [name, text] of Object.entries(texts)) {
    if (text === PLAIN[name] || text.length > longest) continue;
    if (text.isWellFormed?.() ?? true) fields.set(name, text);
    else fields.set(`${name}-json`, JSON.stringify(text));
  }
  for (const name of ["model", "profile"]) {
    if (settings[name] !== PLAIN[name]) fields.set(name, settings[name]);
  }
  for (const name of settings.against) fields.append("against", name);
  if (!settings.special_tokens) fields.set("special_tokens", "no");
  if (settings.reasons) fields.set("reasons", "yes");
  if (settings.large) fields.set("large", "yes");
  if (settings.max_length) fields.set("max_length", settings.max_length);
  if (settings.added.length) fields.set("added", JSON.stringify(settings.added));
  return `#${fields}`;
}

/** The settings of an address; what it does not say, or says in another form, is missing. */
export function settingsOf(hash) {
  const fields = new URLSearchParams(hash.slice(1));
  if (!fields.size || hash === "#settings") return {};
  const found = { ...PLAIN, against: fields.getAll("against").filter(Boolean), reasons: fields.get("reasons") === "yes" };
  if (fields.get("large") === "yes") found.large = true; // else it stays as it is, as for a link to an example
  for (const name of ["text", "pair"]) {
    const json = parsed(fields.get(`${name}-json`));
    if (typeof json === "string") found[name] = json;
    else if (fields.has(name)) found[name] = fields.get(name);
  }
  for (const name of ["model", "profile"]) {
    if (fields.get(name)) found[name] = fields.get(name);
  }
  if (fields.get("special_tokens") === "no") found.special_tokens = false;
  const length = Number(fields.get("max_length"));
  if (Number.isInteger(length) && length > 0) found.max_length = length;
  const added = parsed(fields.get("added"));
  if (Array.isArray(added)) found.added = added.filter((token) => typeof token?.content === "string").map(flagged);
  return found;
}

/** An added token with its flags, and nothing else. */
function flagged(token) {
  const flags = FLAGS.filter((flag) => flag in token).map((flag) => [flag, Boolean(token[flag])]);
  return { content: token.content, ...Object.fromEntries(flags) };
}

function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
