// Prints and complains without end.
const fs = require("fs");
for (;;) {
  try { fs.writeSync(1, "x".repeat(1000)); fs.writeSync(2, "x".repeat(1000)); } catch (error) { continue; }
}
