// Loaded by node before main.js: gives back the proof once the last line of main.js has run and
// nothing is left to wait for. Where that line asks for the test, it is read only then, after what
// the program may have changed of the language and its library was put back.
"use strict";
const fs = require("fs");
const path = require("path");
const Module = require("module");
const crypto = require("crypto");

const END = ";__proctorEnd();";
const LATE = ";require=__proctorRequire;eval(__proctorTest(eval));__proctorEnd();";
const JOINT = "__proctorRestore();";
const PACKAGES = "/proctor/aid/packages.js";
const NAMES = ["Array", "Boolean", "Date", "Error", "Infinity", "JSON", "Map", "Math", "NaN", "Number",
  "Object", "Promise", "RangeError", "RegExp", "Set", "String", "Symbol", "TypeError", "isFinite",
  "isNaN", "parseFloat", "parseInt", "undefined", "setTimeout", "setInterval", "setImmediate",
  "queueMicrotask"];
// What would keep a failure of the test from ending the program, unless the test is about it.
const SWALLOWING = ["uncaughtException", "unhandledRejection"];
const file = path.resolve("main.js");
const source = fs.readFileSync(file, "utf8");
const lines = source.split("\n");
const last = Math.max(lines.lastIndexOf(END), lines.lastIndexOf(LATE)) + 1;
const input = fs.readFileSync(0);
const cut = input.indexOf("\n");
const test = input.subarray(cut + 1).toString("utf8");
const masked = input.subarray(0, cut);
const mask = crypto.randomBytes(masked.length);
for (let i = 0; i < masked.length; i++) masked[i] ^= mask[i];

const { writeSync } = fs;
const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { create } = Object;
const AnyError = Error;
const { captureStackTrace } = Error;
const realEval = eval;
const EventEmitter = require("events");
const { removeAllListeners } = EventEmitter.prototype;
const { setUncaughtExceptionCaptureCallback } = process;
let below = null;
let asked = false;
let ended = false;
let given = false;

function stack(above) {
  const prepare = getOwnPropertyDescriptor(AnyError, "prepareStackTrace");
  const limit = getOwnPropertyDescriptor(AnyError, "stackTraceLimit");
  defineProperty(AnyError, "prepareStackTrace", {
    value: (_, found) => found, configurable: true, writable: true,
  });
  defineProperty(AnyError, "stackTraceLimit", { value: 1000, configurable: true, writable: true });
  const holder = create(null);
  captureStackTrace(holder, above);
  const sites = holder.stack;
  if (prepare) defineProperty(AnyError, "prepareStackTrace", prepare);
  else delete AnyError.prepareStackTrace;
  if (limit) defineProperty(AnyError, "stackTraceLimit", limit);
  else delete AnyError.stackTraceLimit;
  return sites;
}

const site = getPrototypeOf(stack()[0]);
const { getFileName, getLineNumber, getFunctionName, isEval } = site;

function place(found) {
  return `${apply(getFileName, found, [])} ${apply(getFunctionName, found, [])}`;
}

// The last line of main.js, called by what loads it and by nothing in between.
function atTheEnd(above) {
  const sites = stack(above);
  if (below === null || sites.length !== below.length + 2) return false;
  for (let i = 0; i < below.length; i++) if (place(sites[i + 2]) !== below[i]) return false;
  return apply(getFileName, sites[0], []) === file && apply(getLineNumber, sites[0], []) === last &&
    !apply(isEval, sites[0], []);
}

function snapshot(owners) {
  const rows = [];
  for (const owner of owners) {
    for (const name of ownKeys(owner)) rows.push([owner, name, getOwnPropertyDescriptor(owner, name)]);
  }
  return () => {
    for (let i = 0; i < rows.length; i++) {
      const owner = rows[i][0], name = rows[i][1], found = rows[i][2];
      const now = getOwnPropertyDescriptor(owner, name);
      if (!now || now.value !== found.value || now.get !== found.get) {
        try {
          defineProperty(owner, name, found);
        } catch {
          process.reallyExit(1);
        }
      }
    }
  };
}

function letFailuresEnd() {
  const about = test || source.slice(source.lastIndexOf(JOINT));
  if (SWALLOWING.some((name) => about.includes(name))) return;
  for (const name of ["emit", "removeListener", "on", "listenerCount"]) {
    if (getOwnPropertyDescriptor(process, name)) delete process[name];
  }
  for (const name of SWALLOWING) apply(removeAllListeners, process, [name]);
  apply(setUncaughtExceptionCaptureCallback, process, [null]);
}

function library() {
  const assert = require("assert");
  const types = [Object, Function, Array, String, Number, Boolean, Symbol, Map, Set, Promise, RegExp,
    Date, Error, TypeError, RangeError, assert.AssertionError];
  const iterators = [[].values(), new Map().values(), new Set().values(), ""[Symbol.iterator](),
    "".matchAll(/x/g), (function* () {})(), (async function* () {})()].map(getPrototypeOf);
  const generators = [iterators[5], iterators[6]].map(getPrototypeOf);
  return [...types, ...types.map((type) => type.prototype), ...iterators, ...generators,
    getPrototypeOf(iterators[0]), Math, JSON, Reflect, assert, assert.strict, require("util"), Module,
    Module.prototype, Module._extensions, EventEmitter.prototype];
}

if (fs.existsSync(PACKAGES)) require(PACKAGES);
const changes = lines[last - 1] === LATE || source.includes(JOINT);
const restore = changes ? snapshot(library()) : () => undefined;
const globals = create(null);
for (const name of NAMES) globals[name] = globalThis[name];

const load = Module._extensions[".js"];
Module._extensions[".js"] = function (module, filename) {
  if (filename !== file || below !== null) return load.call(this, module, filename);
  fs.unlinkSync(file);
  defineProperty(globalThis, "__proctorRequire", { value: module.require.bind(module) });
  below = stack().slice(1).map(place);
  return module._compile(source, filename);
};

defineProperty(globalThis, "__proctorTest", {
  value: function __proctorTest(evaluate) {
    if (!atTheEnd(__proctorTest) || evaluate !== realEval || asked) return "throw new Error('not now')";
    asked = true;
    restore();
    letFailuresEnd();
    const used = NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(test) && /^[A-Z][a-z]|JSON|^is|^p|^set|^queue/.test(name));
    const names = used.length ? `const {${used.join(",")}} = __proctorGlobals;` : "";
    return `{${names}{${test}\n}}\n//# sourceURL=main.js`;
  },
});
defineProperty(globalThis, "__proctorRestore", {
  value: function __proctorRestore() {
    restore();
    letFailuresEnd();
  },
});
defineProperty(globalThis, "__proctorGlobals", { value: globals });

defineProperty(globalThis, "__proctorEnd", {
  value: function __proctorEnd() {
    const late = lines[last - 1] === LATE;
    ended = ended || (atTheEnd(__proctorEnd) && (asked || !late));
  },
});

process.on("beforeExit", (code) => {
  if (!ended || given || code !== 0) return;
  given = true;
  const proof = Buffer.alloc(masked.length + 2, "\n");
  for (let i = 0; i < masked.length; i++) proof[i + 1] = masked[i] ^ mask[i];
  writeSync(1, proof);
});
