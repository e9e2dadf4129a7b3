// A headless Chromium, spoken to over a pipe in its DevTools protocol: messages of JSON, each ended by a zero
// byte.
import {spawn} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

const ANSWER_MS = 300_000;

export class Chromium {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), "ulpscope_chromium_"));
    this.process = spawn(
        program,
        [
          "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
          "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir=" + this.profile
        ],
        {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    this.waiting = new Map();
    this.events = [];
    this.last = 0;
    let text = "";
    this.process.stdio[4].setEncoding("utf8").on("data", (part) => {
      text += part;
      for (let end = text.indexOf("\0"); end >= 0; end = text.indexOf("\0")) {
        this.take(JSON.parse(text.slice(0, end)));
        text = text.slice(end + 1);
      }
    });
  }

  take(message) {
    const waiting = this.waiting.get(message.id);
    if (!waiting) {
      this.events.push(message);
      return;
    }
    this.waiting.delete(message.id);
    if (message.error)
      waiting.reject(new Error(JSON.stringify(message.error)));
    else
      waiting.resolve(message.result);
  }

  send(method, params = {}) {
    const id = ++this.last;
    this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId: this.session}) + "\0");
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(method + ": no answer")), ANSWER_MS);
      this.waiting.set(id, {
        resolve: (v) => {
          clearTimeout(timer);
          resolve(v);
        },
        reject: (e) => {
          clearTimeout(timer);
          reject(e);
        }
      });
    });
  }

  async start() {
    const {targetId} = await this.send("Target.createTarget", {url: "about:blank"});
    this.session = (await this.send("Target.attachToTarget", {targetId, flatten: true})).sessionId;
    for (const domain of ["Page", "Runtime", "Log"]) await this.send(domain + ".enable");
  }

  async size(width, height, mobile = false) {
    await this.send("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile});
  }
  async scheme(value) {
    await this.send("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value}]});
  }

  // Opens a file and answers how long it took until the page said that it is ready, in milliseconds.
  async open(path) {
    this.events.length = 0;
    const started = Date.now();
    await this.send("Page.navigate", {url: "file://" + path});
    while (Date.now() - started < ANSWER_MS) {
      if (await this.run("document.documentElement.dataset.ready === 'yes'").catch(() => false))
        return Date.now() - started;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(path + ": the page is not ready: " + JSON.stringify(this.problems()));
  }

  // The value of an expression in the page.
  async run(expression) {
    const answer = await this.send("Runtime.evaluate", {expression, returnByValue: true, awaitPromise: true});
    if (answer.exceptionDetails)
      throw new Error(
          expression + ": " + JSON.stringify(answer.exceptionDetails.exception ?? answer.exceptionDetails));
    return answer.result.value;
  }

  // What the page complained of since it was opened: exceptions, refused loads, dialogs.
  problems() {
    return this.events
        .filter(
            (e) => e.method === "Runtime.exceptionThrown" || e.method === "Page.javascriptDialogOpening" ||
                (e.method === "Log.entryAdded" && e.params.entry.level === "error"))
        .map((e) => JSON.stringify(e.params).slice(0, 500));
  }

  async picture(path, whole = false) {
    const {data} = await this.send("Page.captureScreenshot", {
      format: "png",
      captureBeyondViewport: whole,
      ...(whole ? {clip: {...(await this.send("Page.getLayoutMetrics")).cssContentSize, scale: 1}} : {})
    });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  async stop() {
    await this.send("Browser.close").catch(() => undefined);
    await new Promise(
        (resolve) => this.process.exitCode === null ? this.process.on("exit", resolve) : resolve());
    rmSync(this.profile, {recursive: true, force: true});
  }
}
