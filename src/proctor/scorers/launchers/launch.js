// Loaded by node before main.js: gives back the proof once the last line of main.js has run and
// nothing is left to wait for.
"use strict";
const fs = require("fs");
const path = require("path");

const END = ";__proctorEnd();";
const PACKAGES = "/proctor/aid/packages.js";
const file = path.resolve("main.js");
const last = fs.readFileSync(file, "utf8").split("\n").lastIndexOf(END) + 1;
const turned = [...fs.readFileSync(0, "utf8").trim()].reverse();
const write = fs.writeSync;
const AnyError = Error;
let ended = false;
let given = false;

if (fs.existsSync(PACKAGES)) require(PACKAGES);

function caller() {
  const kept = Object.getOwnPropertyDescriptor(AnyError, "prepareStackTrace");
  Object.defineProperty(AnyError, "prepareStackTrace", {
    value: (_, sites) => sites, configurable: true, writable: true,
  });
  const holder = {};
  AnyError.captureStackTrace(holder, globalThis.__proctorEnd);
  const site = holder.stack[0];
  if (kept) Object.defineProperty(AnyError, "prepareStackTrace", kept);
  else delete AnyError.prepareStackTrace;
  return site;
}

Object.defineProperty(globalThis, "__proctorEnd", {
  value: function () {
    const site = caller();
    ended = ended || (site.getFileName() === file && site.getLineNumber() === last);
  },
});

process.on("beforeExit", (code) => {
  if (!ended || given || code !== 0) return;
  given = true;
  write(1, "\n" + [...turned].reverse().join("") + "\n");
});
