// What answers the page on a web site: trietok itself, in a worker of the page.

const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let numbers = 0;
let told = () => {};
let failed = () => {};

function send(message) {
  return new Promise((resolve) => {
    waiting.set(++numbers, resolve);
    worker.postMessage({ number: numbers, ...message });
  });
}

worker.onmessage = ({ data }) => {
  if ("done" in data) told(data.done);
  else {
    waiting.get(data.number)(data.answer);
    waiting.delete(data.number);
  }
};
worker.onerror = (event) => failed(new Error(event.message ?? "the worker failed"));

/** Wait until questions are answered, telling `progress` how much is done, from 0 to 1. */
export async function start(progress) {
  told = progress;
  const broken = new Promise((_, reject) => (failed = reject));
  const answer = await Promise.race([send({}), broken]);
  if (answer.error) throw new Error(answer.error);
  progress(1);
}

/** The answer to a question, which has `error` where there is none. */
export async function ask(question) {
  return send({ question });
}
