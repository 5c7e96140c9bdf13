// What answers the page: the trietok that serves it. On a web site a file of this name runs trietok in the browser.

/** Wait until questions are answered, telling `progress` how much is done, from 0 to 1. */
export async function start(progress) {}

/** The answer to a question, which has `error` where there is none. */
export async function ask(question) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) };
  try {
    const response = await fetch("ask", options);
    return response.ok ? await response.json() : { error: `The server refused: ${response.status} ${response.statusText}` };
  } catch {
    return { error: "The server does not answer: start trietok play again." };
  }
}
