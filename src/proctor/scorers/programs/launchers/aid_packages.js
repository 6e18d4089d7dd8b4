// Prepares the npm packages that it is called with: loads them, writes their texts into two files,
// loads them from there, and keeps what node has compiled by then. See packages.js.
"use strict";
const fs = require("fs");
const Module = require("module");
const path = require("path");
const vm = require("vm");

const USES = {
  jsdom: ({ JSDOM }) => {
    const { window } = new JSDOM("<p class=a>one <b>two</b></p>");
    const found = new window.DOMParser().parseFromString("<ul id=c><li>x</li></ul>", "text/html");
    return [window.document.querySelector(".a b").textContent, found.body.innerHTML];
  },
  typescript: (ts) =>
    ts.transpileModule("class A { b: number = 2 }\nexport const f = (x: A): number => x.b;", {
      fileName: "main.ts",
      reportDiagnostics: true,
      compilerOptions: { target: ts.ScriptTarget.ES2022, inlineSourceMap: true },
    }),
};

// A module of the new kind that does nothing but pass on one of the old kind. To load it, node
// starts a second loader, which takes longer than most packages do.
const PASSES_ON =
  /^\s*import (\w+) from '(\.\/[\w.\/-]+\.c?js)';\s*export default \1;\s*export \{ \1 as 'module\.exports' \};\s*$/;

const names = process.argv.slice(2);
const texts = new Map();
const calls = new Map();
const before = new Set(Object.keys(Module._cache));

function meant(file) {
  const found = file.endsWith(".mjs") ? PASSES_ON.exec(fs.readFileSync(file, "utf8")) : null;
  return found ? path.join(path.dirname(file), found[2]) : file;
}

function listen() {
  const { _resolveFilename: resolve } = Module;
  const { _compile: compile } = Module.prototype;
  Module._resolveFilename = function (request, parent, ...rest) {
    const found = resolve.call(this, request, parent, ...rest);
    if (!parent || !calls.has(parent.filename)) return found;
    calls.get(parent.filename).push([request, meant(found)]);
    return meant(found);
  };
  Module.prototype._compile = function (text, filename, ...rest) {
    if (/\.c?js$/.test(filename) && stands(text)) {
      texts.set(filename, text.replace(/^#!.*/, ""));
      calls.set(filename, []);
    }
    return compile.call(this, text, filename, ...rest);
  };
  return () => {
    Module._resolveFilename = resolve;
    Module.prototype._compile = compile;
  };
}

function stands(text) {
  try {
    return Boolean(new vm.Script(Module.wrap(text.replace(/^#!.*/, ""))));
  } catch {
    return false;
  }
}

function write() {
  const files = [...texts.keys()];
  for (const found of calls.values()) files.push(...found.map(([, file]) => file));
  const all = [...new Set(files)];
  const numbers = new Map(all.map((file, number) => [file, number]));
  const parts = all.map((file) => (/^[\x00-\x7f]*$/.test(texts.get(file) ?? "") ? 0 : 1));
  const row = (found) => Object.fromEntries(found.map(([id, file]) => [id, numbers.get(file)]));
  ["latin1", "utf8"].forEach((part, which) => {
    const rows = all.filter((file, number) => texts.has(file) && parts[number] === which);
    const bodies = rows.map(
      (file) =>
        `${numbers.get(file)}: function (exports, require, module, __filename, __dirname) {` +
        `${texts.get(file)}\n}`,
    );
    fs.writeFileSync(`${part}.js`, `({${bodies.join(",\n")}})`, part);
  });
  const wanted = all.map((file) => row(calls.get(file) ?? []));
  fs.writeFileSync("packages.json", JSON.stringify({ files: all, parts, calls: wanted }));
}

const silence = listen();
names.forEach((name) => require(name));
silence();
write();
for (const file of Object.keys(Module._cache)) if (!before.has(file)) delete Module._cache[file];
const scripts = require("./packages.js");
for (const name of names) (USES[name] ?? (() => undefined))(require(name));
for (const part of ["latin1", "utf8"]) {
  fs.writeFileSync(`${part}.bin`, scripts[part] ? scripts[part].createCachedData() : "");
}
process.exit(0);
