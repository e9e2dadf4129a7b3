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

async function sectionsAreThere(browser, sections = SECTIONS) {
  const found = await browser.run("[...document.querySelectorAll('section')].map((s) => s.id)");
  for (const id of sections) assert.ok(found.includes(id), "no section " + id);
  assert.deepEqual(browser.problems(), []);
  assert.ok(
      await browser.run("document.documentElement.scrollWidth <= window.innerWidth"),
      "the page is wider than its window");
}

const API_SECTIONS = ["finding", "judgements", "table", "limits", "run"];
const LOCATE_SECTIONS = ["finding", "path", "steps", "table", "run"];

const typeInto = (selector, value) => `{ const box = document.querySelector(${JSON.stringify(selector)});
  box.value = ${JSON.stringify(value)}; box.dispatchEvent(new Event("input")); }`;
const choose = (selector, value) => `{ const box = document.querySelector(${JSON.stringify(selector)});
  box.value = ${JSON.stringify(value)}; box.dispatchEvent(new Event("change")); }`;
const pressed = (key) => `document.querySelector(".tablebox").dispatchEvent(
  new KeyboardEvent("keydown", {key: ${JSON.stringify(key)}, bubbles: true}))`;

async function checkPage(browser, folder) {
  await browser.open(join(folder, "check.html"));
  await sectionsAreThere(browser, API_SECTIONS);
  assert.match((await browser.run(texts("#finding h1")))[0], /1 of 5 calls in error/);
  assert.deepEqual(await browser.run(texts("#finding h3")), ["Torch.matmul", "Torch.softmax"]);
  assert.match(
      (await browser.run(texts("#finding code")))[0],
      /^ulpscope replay 'my dump' --op Torch\.matmul\.1\.backward$/);
  // It opens on errors and warnings.
  const names = texts("#table .tr .td:nth-child(2)");
  assert.deepEqual(await browser.run(names), ["Torch.matmul.1", "Torch.softmax.0"]);
  await browser.run(click("#table label.pass input"));
  assert.equal((await browser.run(names)).length, 4);
  await browser.run(click("#table .th[title=max_abs_error]"));
  assert.deepEqual(
      await browser.run(names), ["Torch.matmul.1", "Torch.softmax.0", "Torch.matmul.0", "Functional.relu.0"]);
  await browser.run(typeInto("#search", "relu"));
  assert.deepEqual(await browser.run(names), ["Functional.relu.0"]);
  await browser.run(click("#table .bar > button:not(.only)"));
  assert.equal((await browser.run(names)).length, 5);
  await browser.run(choose("#table select", "backward"));
  assert.deepEqual(await browser.run(names), ["Torch.matmul.1"]);
  await browser.run(pressed("Enter"));
  assert.ok(await browser.run("document.querySelector('dialog').open"));
  assert.deepEqual(await browser.run(texts("dialog h4.name")), ["forward output.0", "backward output.0"]);
  assert.ok((await browser.run(texts("dialog td"))).includes("NaN"));
  await browser.run(click("dialog .close"));
  await browser.run(click("#finding .tile.skip"));
  assert.deepEqual(await browser.run(names), ["Torch.rand.0"]);
  await browser.run(choose("#limits input[type=text]", "0.9995"));
  await browser.run(click("#limits input[type=checkbox]"));
  await browser.run(click("#limits input[type=checkbox]"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await browser.run(click("#limits .tile.fail"));
  assert.deepEqual(await browser.run(names), ["Torch.softmax.0"]);
  await browser.run(click(".top button"));
  assert.match((await browser.run(texts("#finding h1")))[0], /5 个调用中 1 个错误/);
  await sectionsAreThere(browser, API_SECTIONS);
}

async function precisionPage(browser, folder) {
  await browser.open(join(folder, "precision.html"));
  await sectionsAreThere(browser, API_SECTIONS);
  assert.match((await browser.run(texts("#finding .evidence")))[0], /ratio 1000 \(0\.5 against 5e-4\)/);
  await browser.run(click("#table .tr"));
  assert.deepEqual(
      await browser.run(texts("dialog tbody tr:nth-child(2) td")), ["0.5", "5e-4", "1000", "✗ error"]);
}

async function locatePage(browser, folder) {
  await browser.open(join(folder, "locate.html"));
  await sectionsAreThere(browser, LOCATE_SECTIONS);
  assert.match((await browser.run(texts("#finding h1")))[0], /The next build is needed/);
  assert.deepEqual(await browser.run(texts("#finding h3")), ["enc/LayerNorm output.0"]);
  assert.deepEqual(
      await browser.run(texts("#path em")),
      ["accuracy not met", "needed next", "not reached", "not reached", "not reached", "not reached"]);
  assert.deepEqual(
      await browser.run(texts("#finding .request div")),
      ["stage keep_1: rebuild with", "  --keep_dtype=./exceptionlist.cfg"]);
  assert.equal((await browser.run(texts("#steps .step"))).length, 3);
  const names = texts("#table .tr .td:nth-child(3)");
  assert.deepEqual(await browser.run(names), ["enc/LayerNorm", "enc/MatMul", "enc/Add"]);
  await browser.run(click("#table .th[title=cosine]"));
  assert.deepEqual(await browser.run(names), ["enc/MatMul", "enc/LayerNorm", "enc/Add"]);
  await browser.run(choose("#table select[aria-label=inputs]", "good"));
  assert.deepEqual(await browser.run(names), ["enc/LayerNorm"]);
  await browser.run(click("#table .tr"));
  assert.match((await browser.run(texts("dialog tr")))[3], /0\.8125/);
  await browser.run(click("dialog .close"));
  await browser.run(click(".top button"));
  assert.match((await browser.run(texts("#finding h1")))[0], /需要下一个构建/);
  await sectionsAreThere(browser, LOCATE_SECTIONS);
}

// On paper every column of the table is inside its page.
async function onPaper(browser, folder) {
  for (const name of ["flow", "check", "precision", "locate"]) {
    await browser.open(join(folder, name + ".html"));
    await browser.send("Emulation.setEmulatedMedia", {media: "print"});
    await browser.run("window.dispatchEvent(new Event('beforeprint'))");
    await browser.run(FRAME);
    assert.ok(
        await browser.run("document.documentElement.scrollWidth <= window.innerWidth"),
        name + ": wider than its paper");
    assert.ok((await browser.run(texts("#table .tr"))).length > 0);
    await browser.send("Emulation.setEmulatedMedia", {media: ""});
  }
}

async function oddResults(browser, folder) {
  const pages = {
    check_empty: API_SECTIONS,
    check_one: API_SECTIONS,
    check_hostile: API_SECTIONS,
    locate_empty: LOCATE_SECTIONS,
    locate_hostile: LOCATE_SECTIONS
  };
  for (const [name, sections] of Object.entries(pages)) {
    await browser.open(join(folder, name + ".html"));
    await sectionsAreThere(browser, sections);
    assert.equal(
        await browser.run("document.querySelectorAll('#app script, #app img, #app iframe').length"), 0);
  }
  assert.match((await browser.run(texts("#finding h3")))[0], /<script>alert\(1\)<\/script>/);
  const milliseconds = await browser.open(join(folder, "check_large.html"));
  console.log("a check of 100 000 calls opens in " + milliseconds + " ms");
  await sectionsAreThere(browser, API_SECTIONS);
  assert.match((await browser.run(texts("#finding h1")))[0], /1000 of 100\u2009000 calls in error/);
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
    await checkPage(browser, folder);
    await precisionPage(browser, folder);
    await locatePage(browser, folder);
    await oddResults(browser, folder);
    await browser.size(800, 1100);
    await onPaper(browser, folder);
    for (const [width, mobile] of [[1920, false], [390, true]]) {
      await browser.size(width, 900, mobile);
      await browser.open(join(folder, "flow.html"));
      await sectionsAreThere(browser);
      for (const name of ["check", "precision"]) {
        await browser.open(join(folder, name + ".html"));
        await sectionsAreThere(browser, API_SECTIONS);
      }
      await browser.open(join(folder, "locate.html"));
      await sectionsAreThere(browser, LOCATE_SECTIONS);
    }
    console.log("page.browser: passed");
  } finally {
    await browser.stop();
  }
}
