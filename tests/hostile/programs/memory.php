<?php // Takes memory, with the interpreter's own limit taken away.
ini_set("memory_limit", "-1");
$held = [];
while (true) { $held[] = str_repeat("x", 10000000); }
