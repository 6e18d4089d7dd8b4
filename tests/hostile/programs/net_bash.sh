# Connects through the shell's own files.
if (exec 3<>"/dev/tcp/127.0.0.1/$PROBE_PORT") 2>/dev/null; then echo ESCAPED; fi
if (exec 3<>"/dev/tcp/1.1.1.1/80") 2>/dev/null; then echo ESCAPED; fi
echo refused
