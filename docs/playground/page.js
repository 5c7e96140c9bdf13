// The page: settings in, answers of the worker out. The worker has one request at a time; while it works, only the
// newest settings wait, and an answer that is out of date is dropped.
import { dropped, chosen } from "./files.js";
import { toUtf16 } from "./places.js";
import { linkOf, settingsOf } from "./settings.js";

const at = (id) => document.getElementById(id);
const FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"];
const PAUSE = 15; // milliseconds without a keystroke before the worker is asked
const PAUSE_OF_LINK = 400;
const PATIENCE = 500; // milliseconds until the page says that it works
const EXAMPLE = "ALTernate naïve 東京 unaffable [MASK] e\u200d";
const LONGEST = 300_000; // UTF-16 units of both texts together: what Python in a browser has memory and patience for
const LONGEST_LINK = 8000; // characters of text that a link holds

const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let numbers = 0;
let added = [];
let answered = null; // the newest answer that is shown
let isAsking = false;
let isStale = false;
let timer = 0;
let linkTimer = 0;

function call(kind, values = {}) {
  return new Promise((resolve) => {
    waiting.set(++numbers, resolve);
    worker.postMessage({ number: numbers, kind, ...values });
  });
}

worker.onmessage = ({ data }) => {
  waiting.get(data.number)(data);
  waiting.delete(data.number);
};
worker.onerror = (event) => showError(`Python did not start: ${event.message ?? "the worker failed"}`);

// ---- settings ------------------------------------------------------------------------------------------------------

function settings() {
  return {
    text: at("text").value,
    pair: at("pair").value,
    model: at("model").value,
    profile: at("profile").value,
    against: at("against").value,
    special_tokens: at("special").checked,
    max_length: at("length").value ? Math.max(1, Math.trunc(Number(at("length").value))) : null,
    added,
  };
}

function use(values) {
  at("text").value = values.text ?? EXAMPLE;
  at("pair").value = values.pair ?? "";
  at("special").checked = values.special_tokens ?? true;
  at("length").value = values.max_length ?? "";
  for (const name of ["model", "profile", "against"]) {
    const options = [...at(name).options];
    const known = options.find((option) => option.value === values[name]);
    at(name).value = (known ?? options[0]).value;
  }
  added = values.added ?? [];
  at("adding").open ||= added.length > 0;
  at("options").open ||= Boolean(at("pair").value || at("length").value || !at("special").checked);
  listAdded();
}

// ---- asking --------------------------------------------------------------------------------------------------------

function changed() {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
  clearTimeout(linkTimer);
  linkTimer = setTimeout(keepLink, PAUSE_OF_LINK);
}

async function ask() {
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
    const { answer, took } = await call("ask", { request: { do: "explain", ...asked, pair: asked.pair || null } });
    if (!isStale) show(asked, answer, took);
  } while (isStale);
  isAsking = false;
  clearTimeout(patience);
  at("explanation").ariaBusy = "false";
}

function keepLink() {
  try {
    history.replaceState(null, "", linkOf(settings(), LONGEST_LINK));
  } catch {
    // some browsers allow only so many changes in a while; the next one is kept
  }
}

// ---- showing -------------------------------------------------------------------------------------------------------

function show(asked, answer, took) {
  showError(answer.error);
  for (const id of ["copy", "download", "link"]) at(id).disabled = Boolean(answer.error);
  document.querySelector(".found").classList.toggle("failed", Boolean(answer.error));
  if (answer.error) {
    at("status").textContent = "";
    return;
  }
  answered = { asked, answer };
  const unknown = answer.unknown ? `, ${answer.unknown} unknown` : "";
  const count = answer.ids.length;
  const size = answer.size.toLocaleString("en");
  at("status").textContent = `${count} token${count === 1 ? "" : "s"}${unknown} · ${size} in the vocabulary`;
  at("status").dataset.took = took;
  at("explanation").innerHTML = answer.html; // trietok escapes the text
  at("contrast").innerHTML = answer.contrast ?? "";
  listAdded(answer.added);
  if (at("listing").open) listTokens();
  document.dispatchEvent(new CustomEvent("shown", { detail: answered }));
}

function showError(message) {
  at("error").hidden = !message;
  at("error").textContent = message ?? "";
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
    button.setAttribute("aria-label", `show ${token.token}, at ${token.start} to ${token.end}, in the text`);
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

// ---- added tokens --------------------------------------------------------------------------------------------------

function listAdded(known = []) {
  const kept = new Map(known.map((token) => [token.content, token]));
  at("added-count").textContent = added.length ? `(${added.length})` : "";
  at("added").replaceChildren(...added.map((token, index) => addedItem(token, index, kept.get(token.content))));
}

function addedItem(token, index, kept) {
  const item = document.createElement("li");
  const content = document.createElement("code");
  content.textContent = token.content;
  const flags = document.createElement("small");
  const on = FLAGS.filter((flag) => token[flag]).join(", ");
  const as = kept && kept.token !== token.content ? `kept as ${kept.token}` : "";
  flags.textContent = [as, kept && kept.id !== null && `id ${kept.id}`, on].filter(Boolean).join(" · ");
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

async function take({ name, files }) {
  if (!Object.keys(files).length) {
    showError(`${name || "This"} holds no file of a tokenizer: a vocab.txt, a tokenizer.json or a directory with them.`);
    return;
  }
  at("status").textContent = `Loading ${name}…`;
  const { answer } = await call("drop", { name, files });
  if (answer.error) {
    showError(answer.error);
    return;
  }
  for (const select of [at("model"), at("against")]) {
    if (![...select.options].some((option) => option.value === name)) select.add(new Option(name, name));
  }
  at("model").value = name;
  if (!answer.profiles.includes(at("profile").value)) at("profile").value = answer.profiles[0];
  changed();
}

async function download() {
  const { model, profile } = settings();
  const { answer } = await call("save", { model, profile, added });
  if (answer.error) {
    showError(answer.error);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([answer.bytes], { type: "application/zip" }));
  link.download = `${model.replace(/\.[a-z]+$/, "")}${added.length ? "-extended" : ""}.zip`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
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
for (const id of ["model", "profile", "against", "special"]) at(id).addEventListener("change", changed);
at("add").addEventListener("submit", addToken);
at("listing").addEventListener("toggle", () => at("listing").open && listTokens());
at("copy").onclick = () => copy(`[${answered.answer.ids.join(", ")}]`, at("copy"));
at("link").onclick = () => {
  keepLink();
  copy(location.href, at("link"));
};
at("download").onclick = download;
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
  use(settingsOf(location.hash));
  changed();
});

async function start() {
  at("adding").open = matchMedia("(min-width: 821px)").matches;
  use(settingsOf(location.hash));
  const config = await (await fetch("config.json")).json();
  const { answer } = await call("boot");
  if (answer.error) {
    showError(`Python did not start: ${answer.error}`);
    return;
  }
  if (config.model) {
    const zipped = new Uint8Array(await (await fetch("model.zip")).arrayBuffer());
    const taken = await call("unzip", { zipped });
    const asked = settingsOf(location.hash);
    await take({ name: config.model, files: taken.answer.files });
    use({ model: at("model").value, profile: at("profile").value, ...asked });
  }
  document.documentElement.dataset.booted = Math.round(performance.now());
  ask();
}

start();
