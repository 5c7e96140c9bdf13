// The files of a tokenizer, out of what was dropped or chosen; all others, such as weights, are not read.

const NAMES = [
  "vocab.txt",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "config.json",
];
const LARGEST = 30e6; // bytes

/** What was dropped: a directory, or files. */
export async function dropped(transfer) {
  // All entries have to be asked for before the first wait.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const folder = entries.find((entry) => entry.isDirectory);
  if (!folder) return chosen(transfer.files);
  return taken(folder.name, await filesIn(folder));
}

/** What was chosen: files, or all files of a directory. */
export async function chosen(files) {
  const all = [...files];
  const folder = all[0].webkitRelativePath.split("/")[0];
  const top = all.filter((file) => file.webkitRelativePath.split("/").length <= 2);
  const known = top.filter((file) => NAMES.includes(file.name));
  if (folder || known.length) return taken(folder || known[0].name, known);
  const { name, files: read } = await taken(all[0].name, all.slice(0, 1).filter((file) => /\.(txt|json)$/.test(file.name)));
  const as = name.endsWith(".json") ? "tokenizer.json" : "vocab.txt"; // a file of another name
  return { name, files: name in read ? { [as]: read[name] } : {} };
}

/** The name, and the files by their names, in base64. */
async function taken(name, files) {
  const read = files.filter((file) => file.size <= LARGEST).map(async (file) => [file.name, await base64Of(file)]);
  return { name, files: Object.fromEntries(await Promise.all(read)) };
}

function base64Of(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

async function filesIn(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // a hundred at a time
    if (!entries.length) break;
    found.push(...entries.filter((entry) => entry.isFile && NAMES.includes(entry.name)));
  }
  return Promise.all(found.map((entry) => new Promise((resolve, reject) => entry.file(resolve, reject))));
}
