/** A thread that starts a program whenever it gets a message, and answers with what came of it. */

declare const self: Worker;

self.onmessage = () => {
  try {
    postMessage(`exit ${Bun.spawnSync(["/bin/sh", "-c", "exit 7"]).exitCode}`);
  } catch (error) {
    postMessage((error as { code: string }).code);
  }
};
