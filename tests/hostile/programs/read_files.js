// Reads what belongs to the host.
const fs = require("fs");
for (const name of ["/etc/shadow", "/root" + "/.ssh", process.env.PROBE_FILE, "/proc/1/environ", "/var/log"]) {
  try { fs.readFileSync(name); console.log("ESCAPED " + name); }
  catch (error) { console.log(error.code === "EISDIR" ? "ESCAPED " + name : "refused"); }
}
