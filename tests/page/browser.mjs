// The whole page in a browser: every view is drawn, filters, sorts and changes its language, and hostile text
// does nothing.
import assert from "node:assert/strict";
import {join} from "node:path";

import {Chromium} from "./chromium.mjs";

const SECTIONS = ["finding", "curve", "map", "graph", "tree", "table", "limits", "diagnostics", "run"];

const FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

const click = (selector) => `document.querySelector(${JSON.stringify(selector)}).click()`;
const texts = (selector) =>
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.textContent)`;

async function sectionsAreThere(browser) {
  const found = await browser.run("[...document.querySelectorAll('section')].map((s) => s.id)");
  for (const id of SECTIONS) assert.ok(found.includes(id), "no section " + id);
  assert.deepEqual(browser.problems(), []);
  assert.ok(
      await browser.run("document.documentElement.scrollWidth <= window.innerWidth"),
      "the page is wider than its window");
}

async function findingAndGraph(browser, folder) {
  await browser.open(join(folder, "flow.html"));
  await sectionsAreThere(browser);
  assert.match((await browser.run(texts("#finding h1")))[0], /Compute fault/);
  assert.match((await browser.run(texts("#finding h3")))[0], /Torch\.matmul\.0\.forward output\.0/);
  await browser.run(FRAME);
  assert.equal((await browser.run(texts("#graph .node"))).length, 2);
  assert.equal((await browser.run(texts("#graph .edge"))).length, 1);
  assert.ok((await browser.run(texts("#tree .name"))).includes("layers"));
  assert.equal(await browser.run("document.querySelectorAll('#map td.isculprit').length"), 1);
}

async function tableAndDetail(browser) {
  // A run with failures opens on them.
  assert.deepEqual(await browser.run(texts("#table .tr .td:nth-child(5)")), ["output.0", "output.0"]);
  await browser.run("document.querySelector('#table label.pass input').click()");
  assert.equal((await browser.run(texts("#table .tr"))).length, 4);
  await browser.run(`${click("#table .th[title=error]")}`);
  assert.deepEqual(await browser.run(texts("#table .tr .td:nth-child(6)")), ["0.5", "0.25", "0.2", "0"]);
  await browser.run(
      "{ const box = document.querySelector('#search'); box.value = 'relu'; box.dispatchEvent(new Event('input')); }");
  assert.equal((await browser.run(texts("#table .tr"))).length, 2);
  await browser.run(click("#table .tr"));
  assert.ok(await browser.run("document.querySelector('dialog.detail').open"));
  assert.match((await browser.run(texts("dialog h3")))[0], /Torch\.relu\.0\.forward/);
  await browser.run("document.querySelector('dialog .close').click()");
  await browser.run(click("#finding .culprit .buttons button"));
  assert.equal(await browser.run("document.querySelectorAll('dialog rect.bar').length"), 3);
  await browser.run("document.querySelector('dialog .close').click()");
}

async function limitsAndLanguage(browser) {
  await browser.run(`{ const box = document.querySelector('#limits input[type=text]'); box.value = '0.3';
    box.dispatchEvent(new Event('change')); }`);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.deepEqual(await browser.run(texts("#limits .tile strong")), ["0", "1"]);
  await browser.run("document.querySelector('.top button').click()");
  assert.match((await browser.run(texts("#finding h1")))[0], /计算错误/);
  assert.equal(await browser.run("document.documentElement.lang"), "zh");
  await sectionsAreThere(browser);
}

async function oddRuns(browser, folder) {
  for (const name of ["hostile.html", "empty.html", "odd.html"]) {
    await browser.open(join(folder, name));
    await sectionsAreThere(browser);
    assert.equal(
        await browser.run("document.querySelectorAll('#app script, #app img, #app iframe').length"), 0);
  }
}

async function largeRun(browser, folder) {
  const milliseconds = await browser.open(join(folder, "large.html"));
  console.log("100 000 rows open in " + milliseconds + " ms");
  await sectionsAreThere(browser);
  assert.ok(await browser.run("document.querySelectorAll('#table .tr').length") < 100);
  await browser.run("document.querySelector('.tablebox').scrollTop = 1e9");
  await browser.run(FRAME);
  assert.equal(
      await browser.run("document.querySelector('#table .tr:last-child').getAttribute('aria-rowindex')"),
      "100001");
}

export async function testInBrowser(program, folder) {
  const browser = new Chromium(program);
  try {
    await browser.start();
    await browser.size(1280, 900);
    await findingAndGraph(browser, folder);
    await tableAndDetail(browser);
    await limitsAndLanguage(browser);
    await oddRuns(browser, folder);
    await largeRun(browser, folder);
    await browser.size(390, 800, true);
    await browser.open(join(folder, "flow.html"));
    await sectionsAreThere(browser);
    console.log("page.browser: passed");
  } finally {
    await browser.stop();
  }
}
