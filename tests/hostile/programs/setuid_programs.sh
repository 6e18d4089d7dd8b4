# Uses programs that run as the superuser.
for try in "su -c id root" "sudo -n id" "mount -t tmpfs x /tmp" "umount /proc" "newgrp root" \
    "passwd -d root" "pkexec id" "chsh -s /bin/sh root" "newuidmap $$ 0 0 1"; do
    if out=$($try 2>&1 </dev/null) && [ -n "$out" ]; then echo "ESCAPED $try: $out"; fi
done
cp /bin/sh ./shell 2>/dev/null && chmod u+s ./shell && ./shell -p -c 'id -u' | grep -qx 0 && echo ESCAPED
echo refused
