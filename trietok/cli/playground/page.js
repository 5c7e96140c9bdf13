// The page: settings in, answers out. One question is asked at a time; meanwhile only the newest settings wait, and an
// answer that is out of date is dropped.
import { chosen, dropped } from "./files.js";
import { toUtf16 } from "./places.js";
import { stepItem, stepsOf, wordsOf } from "./search.js";
import { FLAGS, linkOf, settingsOf } from "./settings.js";

const at = (id) => document.getElementById(id);
const PAUSE = 15; // milliseconds without a keystroke before something is asked
const PAUSE_OF_LINK = 400;
const PATIENCE = 500; // milliseconds until the page says that it works
const EXAMPLE = "ALTernate naïve 東京 unaffable [MASK] e\u200d";
const LONGEST = 300_000; // UTF-16 units of both texts together: more takes too long to show
const LONGEST_LINK = 8000; // characters of text that a link holds
const ANSWERED = ["copy", "link", "reasons", "print", "download"]; // buttons that need an answer
const OTHERS = { "/profile": "the other profile", "/plain": "without the added tokens" }; // no name has the slash

let profiles = {}; // of each vocabulary, the one to begin with first
let added = [];
let answered = null; // the newest answer that is shown
let isAsking = false;
let isStale = false;
let timer = 0;
let linkTimer = 0;

// ---- settings ------------------------------------------------------------------------------------------------------

function settings() {
  return {
    text: at("text").value,
    pair: at("pair").value,
    model: at("model").value,
    profile: at("profile").value,
    against: [...at("against").querySelectorAll("input:checked:enabled")].map((box) => box.value),
    special_tokens: at("special").checked,
    max_length: at("length").value ? Math.max(1, Math.trunc(Number(at("length").value))) : null,
    added,
    reasons: at("reasons").ariaPressed === "true",
    large: at("large").ariaPressed === "true",
  };
}

function use(values) {
  at("text").value = values.text ?? EXAMPLE;
  at("pair").value = values.pair ?? "";
  at("special").checked = values.special_tokens ?? true;
  at("length").value = values.max_length ?? "";
  at("reasons").ariaPressed = String(values.reasons ?? false);
  if (values.large) enlarge(true);
  const names = Object.keys(profiles);
  at("model").value = names.includes(values.model) ? values.model : names[0];
  offerProfiles(values.profile);
  const against = values.against?.map((name) => (`/${name}` in OTHERS && !(name in profiles) ? `/${name}` : name)) ?? [];
  for (const box of at("against").querySelectorAll("input")) box.checked = against.includes(box.value);
  added = values.added ?? [];
  at("adding").open ||= added.length > 0;
  at("options").open ||= Boolean(at("pair").value || at("length").value || !at("special").checked);
  listAdded();
}

/** For a lecture: text and tokens in type that is read from the last row, the settings below them. */
function enlarge(isLarge) {
  at("large").ariaPressed = String(isLarge);
  document.documentElement.classList.toggle("large", isLarge);
}

/** List the vocabularies, to be chosen and to be compared with. */
function offer(found) {
  profiles = found;
  const [model, against] = [at("model").value, settings().against];
  at("model").replaceChildren(...Object.keys(profiles).map((name) => new Option(name, name)));
  at("model").value = model in profiles ? model : Object.keys(profiles)[0];
  const boxes = Object.entries({ ...OTHERS, ...Object.fromEntries(Object.keys(profiles).map((name) => [name, name])) });
  at("against").replaceChildren(
    at("against").firstElementChild,
    ...boxes.map(([value, name]) => {
      const [label, box] = [document.createElement("label"), document.createElement("input")];
      Object.assign(box, { type: "checkbox", value, checked: against.includes(value) });
      label.append(box, ` ${name}`);
      return label;
    }),
  );
}

/** Have only the profiles of the vocabulary be chosen, and nothing be compared with itself. */
function offerProfiles(wanted = at("profile").value) {
  const [model, known] = [at("model").value, profiles[at("model").value]];
  for (const option of at("profile").options) option.disabled = !known.includes(option.value);
  at("profile").value = known.includes(wanted) ? wanted : known[0];
  for (const box of at("against").querySelectorAll("input")) {
    box.disabled = box.value === model || (box.value === "/profile" && known.length < 2);
  }
}

// ---- asking --------------------------------------------------------------------------------------------------------

function changed() {
  clearTimeout(timer);
  timer = setTimeout(explain, PAUSE);
  clearTimeout(linkTimer);
  linkTimer = setTimeout(keepLink, PAUSE_OF_LINK);
}

async function explain() {
  if (isAsking) {
    isStale = true;
    return;
  }
  isAsking = true;
  const patience = setTimeout(() => (at("status").textContent = "Working…"), PATIENCE);
  at("explanation").ariaBusy = "true";
  do {
    isStale = false;
    const asked = settings();
    if (asked.text.length + asked.pair.length > LONGEST) {
      show(asked, { error: `The page takes texts of ${LONGEST.toLocaleString("en")} characters; for more there is trietok explain.` });
      continue;
    }
    const answer = await ask(question(asked));
    if (!isStale) show(asked, answer);
  } while (isStale);
  isAsking = false;
  clearTimeout(patience);
  at("explanation").ariaBusy = "false";
}

/** What to ask: about the first tokenizer, and about each other with what both are called in the reasons. */
function question({ text, pair, model, profile, against, special_tokens, max_length, added, reasons }) {
  const first = { model, profile, added };
  const others = against.map((name) => {
    if (name === "/profile") {
      const other = profile === "slow" ? "fast" : "slow";
      return { ...first, profile: other, names: [profile, other] };
    }
    if (name === "/plain") return { ...first, added: [], names: ["the extended one", "the plain one"] };
    const known = profiles[name];
    return { model: name, profile: known.includes(profile) ? profile : known[0], added, names: [model, name] };
  });
  const asked = { do: "explain", text, pair: pair || null, tokenizers: [first, ...others], reasons };
  return { ...asked, add_special_tokens: special_tokens, ...(max_length && { max_length }) };
}

function keepLink() {
  try {
    history.replaceState(null, "", linkOf(settings(), LONGEST_LINK));
  } catch {
    // some browsers allow only so many changes in a while; the next one is kept
  }
}

// ---- showing -------------------------------------------------------------------------------------------------------

function show(asked, answer) {
  showError(answer.error);
  for (const id of ANSWERED) at(id).disabled = Boolean(answer.error);
  document.querySelector(".work").classList.toggle("failed", Boolean(answer.error));
  if (answer.error) {
    at("status").textContent = "";
    return;
  }
  answered = { asked, answer };
  at("status").dataset.of = `${asked.model} (${asked.profile})`; // on paper, where nothing else names them
  at("status").textContent = counted(answer.counts, `${answer.size.toLocaleString("en")} in the vocabulary`);
  at("explanation").innerHTML = answer.html; // trietok escapes the text
  at("stages").replaceChildren(stagesOf(at("explanation").firstElementChild));
  at("contrast").replaceChildren(...answer.others.map((other, number) => contrastOf(asked.against[number], other)));
  markDifferences();
  listAdded(answer.added);
  offerWords();
  if (at("listing").open) listTokens();
  document.dispatchEvent(new CustomEvent("shown", { detail: answered }));
}

function showError(message) {
  at("error").hidden = !message;
  at("error").textContent = message ?? "";
}

function counted(counts, ...more) {
  const shown = Object.entries(counts).map(([what, number]) => {
    return `${number.toLocaleString("en")} ${number === 1 ? what.replace(/s$/, "") : what}`;
  });
  return [...shown, ...more].join(" · ");
}

/** What stands below the tokens of an explanation, moved to a fragment of its own. */
function stagesOf(explanation) {
  const below = explanation.cloneNode(false);
  below.ariaLabel = "Stages";
  const children = [...explanation.children];
  below.append(...children.slice(children.findIndex((child) => child.matches("h4"))));
  return below;
}

function contrastOf(name, { html, counts }) {
  const made = document.createElement("div");
  made.innerHTML = html;
  made.querySelector(".tt-head b").textContent = OTHERS[name] ?? name;
  made.querySelector(".tt-head").append(` · ${counted(counts)}`);
  return made;
}

/** Mark the tokens that another vocabulary does not have: the left row of each comparison marks them as well. */
function markDifferences() {
  const tokens = at("explanation").querySelectorAll(".tt-t");
  for (const contrast of at("contrast").children) {
    contrast.querySelector(".tt-side").querySelectorAll(".tt-t").forEach((token, number) => {
      if (token.matches(".tt-differs")) tokens[number]?.classList.add("tt-differs");
    });
  }
}

function listTokens() {
  if (!answered) return;
  const { asked, answer } = answered;
  const texts = [asked.text, asked.pair];
  const places = texts.map((text, number) =>
    toUtf16(text, answer.tokens.flatMap((token) => (token.text === number ? [token.start, token.end] : []))),
  );
  at("tokens").replaceChildren(...answer.tokens.map((token) => tokenRow(token, texts, places)));
}

function tokenRow(token, texts, places) {
  const row = document.createElement("tr");
  if (token.kind === "unknown") row.className = "unknown";
  const cells = [token.token, token.id, "", ""].map((content) => {
    const cell = document.createElement("td");
    cell.textContent = content;
    return cell;
  });
  if (token.text !== null) {
    const start = places[token.text].get(token.start);
    const end = places[token.text].get(token.end);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${token.start}-${token.end}`;
    button.setAttribute("aria-label", `${token.start}-${token.end}: show ${token.token} in the text`);
    button.onclick = () => select(token.text, start, end);
    cells[2].append(button);
    cells[3].textContent = texts[token.text].slice(start, end);
  }
  row.append(...cells);
  return row;
}

function select(text, start, end) {
  if (text) at("options").open = true;
  const field = at(text ? "pair" : "text");
  field.focus();
  field.setSelectionRange(start, end);
}

// ---- the search of WordPiece, step by step ---------------------------------------------------------------------------

let words = new Map();
let steps = [];

function offerWords() {
  words = wordsOf(answered.answer.tokens);
  const word = at("word").value;
  at("word").replaceChildren(...[...words.keys()].map((each) => new Option(each, each)));
  const inPieces = [...words].find(([, tokens]) => tokens.length > 1) ?? [...words][0];
  at("search").hidden = !inPieces;
  if (inPieces) chooseWord(words.has(word) ? word : inPieces[0]);
}

function chooseWord(word) {
  at("word").value = word;
  steps = stepsOf(word, words.get(word));
  showSteps(1);
}

function showSteps(count) {
  const shown = Math.min(Math.max(count, 1), steps.length);
  at("steps").replaceChildren(...steps.slice(0, shown).map((step, number) => stepItem(step, number === steps.length - 1)));
  at("steps").scrollTop = at("steps").scrollHeight;
  at("back").disabled = shown === 1;
  at("next").disabled = at("all").disabled = shown === steps.length;
}

/** A token that is chosen in the explanation chooses its word, too. */
function chooseWordOf(summary) {
  const tokens = at("explanation").querySelectorAll(".tt-t:not(.tt-cut)");
  const word = answered.answer.tokens[[...tokens].indexOf(summary)]?.word_text;
  if (words.has(word)) chooseWord(word);
}

// ---- added tokens --------------------------------------------------------------------------------------------------

function listAdded(ids = {}) {
  at("added-count").textContent = added.length ? `(${added.length})` : "";
  at("added").replaceChildren(...added.map((token, index) => addedItem(token, index, ids)));
}

function addedItem(token, index, ids) {
  const item = document.createElement("li");
  const content = document.createElement("code");
  content.textContent = token.content;
  const flags = document.createElement("small");
  const on = FLAGS.filter((flag) => token[flag]).join(", ");
  const kept = [token.content, token.content.toLowerCase()].find((each) => each in ids); // slow lower-cases some
  const as = kept && kept !== token.content ? `kept as ${kept}` : "";
  flags.textContent = [as, kept && `id ${ids[kept]}`, on].filter(Boolean).join(" · ");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "×";
  button.setAttribute("aria-label", `remove ${token.content}`);
  button.onclick = () => {
    added = added.filter((_, other) => other !== index);
    listAdded();
    at("content").focus();
    changed();
  };
  item.append(content, flags, button);
  return item;
}

function addToken(event) {
  event.preventDefault();
  const content = at("content").value;
  if (!content) {
    at("content").focus();
    return;
  }
  const token = { content };
  for (const flag of FLAGS) token[flag] = at("add").elements[flag].checked;
  added = [...added.filter((other) => other.content !== content), token];
  at("content").value = "";
  listAdded();
  changed();
}

// ---- vocabularies --------------------------------------------------------------------------------------------------

function take({ name, files }) {
  if (Object.keys(files).length) load(name, { do: "take", name, files });
  else showError(`${name || "This"} holds no file of a tokenizer: a vocab.txt, a tokenizer.json or a directory with them.`);
}

async function load(name, question) {
  at("status").textContent = `Loading ${name}…`;
  const answer = await ask(question);
  if (answer.error) {
    at("status").textContent = "";
    showError(answer.error);
    return;
  }
  offer(answer.models);
  at("model").value = name;
  offerProfiles();
  changed();
}

async function download() {
  const { model, profile } = settings();
  const answer = await ask({ do: "save", model, profile, added });
  if (answer.error) {
    showError(answer.error);
    return;
  }
  const link = document.createElement("a");
  link.href = `data:application/zip;base64,${answer.zip}`;
  link.download = `${model.replace(/\.[a-z]+$/, "")}${added.length ? "-extended" : ""}.zip`;
  link.click();
}

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    showError("The browser does not let this page copy.");
  }
  setTimeout(() => (button.textContent = label), 1200);
}

// ---- wiring --------------------------------------------------------------------------------------------------------

for (const id of ["text", "pair", "length"]) at(id).addEventListener("input", changed);
for (const id of ["profile", "against", "special"]) at(id).addEventListener("change", changed);
at("model").addEventListener("change", () => {
  offerProfiles();
  changed();
});
at("word").addEventListener("change", () => chooseWord(at("word").value));
at("back").onclick = () => showSteps(at("steps").children.length - 1);
at("next").onclick = () => showSteps(at("steps").children.length + 1);
at("all").onclick = () => showSteps(steps.length);
at("add").addEventListener("submit", addToken);
at("listing").addEventListener("toggle", () => at("listing").open && listTokens());
at("copy").onclick = () => copy(`[${answered.answer.ids.join(", ")}]`, at("copy"));
at("link").onclick = () => {
  keepLink();
  copy(location.href, at("link"));
};
at("reasons").onclick = () => {
  at("reasons").ariaPressed = String(at("reasons").ariaPressed !== "true");
  changed();
};
at("print").onclick = () => print();
at("large").onclick = () => {
  enlarge(at("large").ariaPressed !== "true");
  keepLink();
};
at("hub").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = at("hub-name").value.trim();
  if (name) load(name, { do: "fetch", name });
});
at("download").onclick = download;
at("explanation").addEventListener("click", (event) => {
  const summary = event.target.closest(".tt-t");
  if (summary) chooseWordOf(summary);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const each of document.querySelectorAll(".tt-d[open]")) each.open = false;
});
at("choose-files").onclick = () => at("files").click();
at("choose-folder").onclick = () => at("folder").click();
for (const id of ["files", "folder"]) {
  at(id).addEventListener("change", async () => {
    if (at(id).files.length) take(await chosen(at(id).files));
    at(id).value = "";
  });
}
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dragging");
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dragging");
});
addEventListener("drop", async (event) => {
  document.body.classList.remove("dragging");
  if (!event.dataTransfer.files.length) return; // a piece of text goes where it is dropped
  event.preventDefault();
  take(await dropped(event.dataTransfer));
});
addEventListener("hashchange", () => {
  if (location.hash === "#settings") return; // a link of the page itself
  use(settingsOf(location.hash));
  changed();
});

/** The answer to a question, which has `error` where there is none. */
async function ask(question) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) };
  try {
    const response = await fetch("ask", options);
    return response.ok ? await response.json() : { error: `The server refused: ${response.status} ${response.statusText}` };
  } catch {
    return { error: "The server does not answer: start trietok play again." };
  }
}

async function begin() {
  at("adding").open = matchMedia("(min-width: 821px)").matches;
  at("text").value = settingsOf(location.hash).text ?? EXAMPLE;
  const found = await ask({ do: "models" });
  if (found.error) {
    showError(found.error);
    return;
  }
  offer(found.models);
  const [model, ...against] = found.shown;
  const typed = at("text").value; // meanwhile, perhaps
  use({ model, against, profile: found.models[model]?.[0], ...settingsOf(location.hash), text: typed });
  document.documentElement.dataset.booted = Math.round(performance.now());
  explain();
}

begin();
