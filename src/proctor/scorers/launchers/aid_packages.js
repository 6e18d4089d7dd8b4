// Prepares the npm packages that it is called with: loads them, writes their texts into two files,
// loads them from there, and keeps what node has compiled by then. See packages.js.
"use strict";
const fs = require("fs");
const Module = require("module");
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

const names = process.argv.slice(2);
const texts = new Map();
const calls = new Map();
const before = new Set(Object.keys(Module._cache));

function listen() {
  const { _resolveFilename: resolve } = Module;
  const { _compile: compile } = Module.prototype;
  Module._resolveFilename = function (request, parent, ...rest) {
    const found = resolve.call(this, request, parent, ...rest);
    if (parent && calls.has(parent.filename)) calls.get(parent.filename).push([request, found]);
    return found;
  };
  Module.prototype._compile = function (text, filename, ...rest) {
    if (filename.endsWith(".js") && stands(text)) {
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
  const meant = (found) => Object.fromEntries(found.map(([id, file]) => [id, numbers.get(file)]));
  ["latin1", "utf8"].forEach((part, which) => {
    const rows = all.filter((file, number) => texts.has(file) && parts[number] === which);
    const bodies = rows.map(
      (file) =>
        `${numbers.get(file)}: function (exports, require, module, __filename, __dirname) {` +
        `${texts.get(file)}\n}`,
    );
    fs.writeFileSync(`${part}.js`, `({${bodies.join(",\n")}})`, part);
  });
  const wanted = all.map((file) => meant(calls.get(file) ?? []));
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
