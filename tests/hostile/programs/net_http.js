// Asks a server on the host's own loopback address.
const http = require("http");
const ask = (host, port) =>
  new Promise((done) => {
    const request = http.get({ host, port, timeout: 2000 }, () => done("ESCAPED"));
    request.on("error", () => done("refused"));
    request.on("timeout", () => done("refused"));
  });
(async () => {
  console.log(await ask("127.0.0.1", process.env.PROBE_PORT));
  console.log(await ask("1.1.1.1", 80));
  process.exit(0);
})();
