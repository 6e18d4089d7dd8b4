// Turns main.ts into main.js without looking at types; a text that is not TypeScript is an error.
// A script stands by itself; other programs end with a call of the launcher.
"use strict";
const fs = require("fs");
const PACKAGES = "/proctor/aid/packages.js";
if (fs.existsSync(PACKAGES)) require(PACKAGES);
const ts = require("typescript");

const made = ts.transpileModule(fs.readFileSync("main.ts", "utf8"), {
  fileName: "main.ts",
  reportDiagnostics: true,
  compilerOptions: {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    esModuleInterop: true,
    experimentalDecorators: true,
    inlineSourceMap: true,
  },
});
for (const found of made.diagnostics) {
  const { line, character } = found.file.getLineAndCharacterOfPosition(found.start);
  const text = ts.flattenDiagnosticMessageText(found.messageText, "\n");
  console.error(`main.ts:${line + 1}:${character + 1} - error TS${found.code}: ${text}`);
}
if (made.diagnostics.length) process.exit(1);
const at = made.outputText.lastIndexOf("//# sourceMappingURL=");
const [text, map] = [made.outputText.slice(0, at), made.outputText.slice(at)];
const end = process.argv[2] === "script" ? "" : "\n;__proctorEnd();\n";
fs.writeFileSync("main.js", `${text}${end}${map}`);
