// Runs trietok in Python, apart from the page. One question at a time; the page drops answers that are out of date.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const OF_LOADING = 0.7; // of the bar: files; the rest is Python itself
let session;

function tell(done) {
  self.postMessage({ done });
}

const started = start();

async function start() {
  const build = await (await fetch("build.json")).json();
  countBytes(build.bytes);
  const load = async (name) => new Uint8Array(await (await fetched(name)).arrayBuffer());
  const [pyodide, ...wheels] = await Promise.all([
    loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href }),
    ...build.wheels.map(load),
  ]);
  tell(0.85);
  wheels.forEach((wheel) => pyodide.unpackArchive(wheel, "wheel"));
  session = pyodide.runPython("from trietok.cli.session import Session; Session()");
}

async function fetched(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

/** Have what is fetched from now on, by Pyodide too, move the bar as it arrives. */
function countBytes(all) {
  const plain = self.fetch;
  let read = 0;
  self.fetch = async (...what) => {
    const response = await plain(...what);
    const counted = new TransformStream({
      transform(chunk, to) {
        read += chunk.length;
        tell(Math.min(read / all, 1) * OF_LOADING);
        to.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return response.body ? new Response(response.body.pipeThrough(counted), { status, statusText, headers }) : response;
  };
}

self.onmessage = async ({ data: { number, question } }) => {
  try {
    await started;
    self.postMessage({ number, answer: question ? JSON.parse(session.ask(JSON.stringify(question))) : {} });
  } catch (error) {
    self.postMessage({ number, answer: { error: String(error.message ?? error).trim().split("\n").at(-1) } });
  }
};
