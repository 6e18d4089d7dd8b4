<?php // Starts shells that stay.
shell_exec("setsid sleep 600 >/dev/null 2>&1 &");
echo @file_get_contents("/etc/shadow") === false ? "refused\n" : "ESCAPED\n";
echo @fsockopen("127.0.0.1", (int) getenv("PROBE_PORT"), $number, $text, 2) ? "ESCAPED\n" : "refused\n";
