// Ends with success before the test is over.
process.on("exit", () => process.reallyExit(0));
process.exit(0);
console.log("proctor-secret-7f3a9c5e21d84b60");
