// Bundles src/ into dist/page.html, which the C++ build embeds. `node build.mjs --check` writes nothing and
// fails where dist/page.html is not what the sources build to.
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));

async function bundle(entry, extra) {
  const result = await build({
    entryPoints: [join(folder, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    target: "es2021",
    legalComments: "none",
    ...extra,
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

export async function page() {
  const script = await bundle("main.ts", {format: "iife"});
  const style = await bundle("page.css", {});
  const license = readFileSync(join(folder, "src", "licenses.txt"), "utf8").trim();
  // Nothing may end the script or the raw string that the page is compiled in.
  for (const text of [script, style, license])
    if (/<\/script|<\/style|<!--|--[>]|\)ulpscope_text"/i.test(text))
      throw new Error("the bundle ends what holds it");
  const policy = [
    "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`,
    "img-src data:", "base-uri 'none'", "form-action 'none'"
  ].join("; ");
  return readFileSync(join(folder, "src", "page.html"), "utf8")
      .replace("{license}", () => license)
      .replace("{policy}", () => policy)
      .replace("{style}", () => style)
      .replace("{script}", () => script);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const built = await page();
  const target = join(folder, "dist", "page.html");
  if (process.argv.includes("--check")) {
    if (readFileSync(target, "utf8") !== built) {
      console.error("dist/page.html is not what the sources build to: run npm run build");
      process.exit(1);
    }
  } else {
    mkdirSync(dirname(target), {recursive: true});
    writeFileSync(target, built);
    console.log(`dist/page.html: ${built.length} characters`);
  }
}
