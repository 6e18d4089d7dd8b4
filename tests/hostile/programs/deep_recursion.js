// Calls itself without end.
const down = (n) => down(n + 1) + 1;
down(0);
