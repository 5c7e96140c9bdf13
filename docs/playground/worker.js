// Runs trietok in Python, apart from the page. One request at a time; the page drops answers that are out of date.
import { loadPyodide } from "./pyodide/pyodide.mjs";

let session;

async function bytesOf(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

const started = start();

async function start() {
  const build = await (await fetch("build.json")).json();
  const [pyodide, python, ...wheels] = await Promise.all([
    loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href }),
    bytesOf("session.py"),
    ...build.wheels.map(bytesOf),
  ]);
  wheels.forEach((wheel) => pyodide.unpackArchive(wheel, "wheel"));
  pyodide.FS.writeFile("session.py", python);
  session = pyodide.runPython("import sys; sys.path.insert(0, '.'); import session; session.Session()");
  return pyodide;
}

const answers = {
  boot: async () => ({ python: (await started).version }),
  ask: ({ request }) => JSON.parse(session.ask(JSON.stringify(request))),
  drop: ({ name, files }, pyodide) => {
    const taken = pyodide.toPy(files);
    try {
      session.drop(name, taken);
    } finally {
      taken.destroy();
    }
    return JSON.parse(session.ask(JSON.stringify({ do: "load", model: name })));
  },
  unzip: ({ zipped }, pyodide) => {
    const files = session.unzip(pyodide.toPy(zipped));
    const plain = files.toJs({ dict_converter: Object.fromEntries });
    files.destroy();
    return { files: plain };
  },
  save: ({ model, profile, added }, pyodide) => {
    const tokens = pyodide.toPy(added);
    const made = session.save(model, profile, tokens);
    const bytes = made.toJs();
    made.destroy();
    tokens.destroy();
    return { bytes };
  },
};

self.onmessage = async ({ data: { number, kind, ...values } }) => {
  const begun = performance.now();
  try {
    const answer = await answers[kind](values, await started);
    self.postMessage({ number, answer, took: performance.now() - begun });
  } catch (error) {
    self.postMessage({ number, answer: { error: lastLine(error) } });
  }
};

function lastLine(error) {
  const lines = String(error.message ?? error).trim().split("\n");
  return lines[lines.length - 1];
}
