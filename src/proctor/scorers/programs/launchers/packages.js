// Gives npm packages to a program from a few prepared files instead of hundreds: their texts with
// what node has compiled of them, and which file each of their calls of require means.
"use strict";
const fs = require("fs");
const Module = require("module");
const path = require("path");
const vm = require("vm");

const PARTS = ["latin1", "utf8"];
const at = (name) => path.join(__dirname, name);
const index = JSON.parse(fs.readFileSync(at("packages.json"), "utf8"));
const numbers = new Map(index.files.map((file, number) => [file, number]));
const scripts = {};
const made = {};

function functions(part) {
  if (made[part]) return made[part];
  const compiled = fs.existsSync(at(`${part}.bin`)) ? fs.readFileSync(at(`${part}.bin`)) : undefined;
  const script = new vm.Script(fs.readFileSync(at(`${part}.js`), part), {
    filename: at(`${part}.js`),
    cachedData: compiled,
    importModuleDynamically: vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  scripts[part] = script;
  made[part] = script.cachedDataRejected ? {} : script.runInThisContext();
  return made[part];
}

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  const number = parent ? numbers.get(parent.filename) : undefined;
  const found = number === undefined ? undefined : index.calls[number][request];
  return found === undefined ? resolve.call(this, request, parent, ...rest) : index.files[found];
};

const load = Module._extensions[".js"];
Module._extensions[".js"] = function (module, filename) {
  const number = numbers.get(filename);
  const run = number === undefined ? undefined : functions(PARTS[index.parts[number]])[number];
  if (run === undefined) return load.call(this, module, filename);
  const call = (id) => module.require(id);
  call.resolve = (id, options) => Module._resolveFilename(id, module, false, options);
  call.resolve.paths = (id) => Module._resolveLookupPaths(id, module);
  call.main = process.mainModule;
  call.extensions = Module._extensions;
  call.cache = Module._cache;
  run.call(module.exports, module.exports, call, module, filename, path.dirname(filename));
};

module.exports = scripts;
