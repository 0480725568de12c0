// Builds the page into dist, and writes the sums by which web_test.go sees that dist is current.
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

await rm("dist", { recursive: true, force: true });
await mkdir("dist");
const { metafile } = await build({
  entryPoints: { page: "src/main.tsx", style: "src/page.css" },
  outdir: "dist",
  entryNames: "[name]",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome124", "firefox126", "safari17.5"],
  charset: "utf8",
  legalComments: "none", // licenses.txt has them
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
  logLevel: "warning",
});
await copyFile("dist/style.css", "dist/page.css");
await rm("dist/style.css");
await copyFile("src/index.html", "dist/index.html");
await writeFile("dist/licenses.txt", await licenses(Object.keys(metafile.inputs)));
await writeFile("dist/sources.sum", await sums());

// licenses are those of the libraries that the bundle has parts of.
async function licenses(inputs) {
  const names = new Set(inputs.flatMap((file) => file.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []));
  const texts = [];
  for (const name of [...names].sort()) {
    const folder = path.join("node_modules", name);
    const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((f) => /^licen[cs]e/i.test(f));
    if (!file) throw new Error(`${name} has no file with its license`);
    const text = await readFile(path.join(folder, file), "utf8");
    texts.push(`${name} ${version} (${license})\n\n${text.replace(/\r/g, "").trim()}\n`);
  }
  return texts.join("\n" + "-".repeat(80) + "\n\n");
}

async function sums() {
  const files = [".npmrc", "build.mjs", "package-lock.json", "package.json", "tsconfig.json"];
  for (const folder of ["dist", "src"]) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) files.push(path.posix.join(entry.parentPath.replaceAll(path.sep, "/"), entry.name));
    }
  }
  const lines = await Promise.all(files.map(async (file) => `${createHash("sha256").update(await readFile(file)).digest("hex")}  ${file}\n`));
  return lines.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join("");
}
