# Writes everywhere outside its folder.
for place in / /usr /usr/bin /usr/lib /etc /dev /proc /proctor /root /home /var /lib /bin /sys /opt; do
    if (echo owned > "$place/owned") 2>/dev/null; then echo "ESCAPED $place"; fi
    if mkdir "$place/owned.d" 2>/dev/null; then echo "ESCAPED $place"; fi
done
for file in /etc/passwd /usr/bin/python3 /etc/ld.so.cache; do
    if (echo owned >> "$file") 2>/dev/null; then echo "ESCAPED $file"; fi
    if mv "$file" "$file.x" 2>/dev/null; then echo "ESCAPED $file"; fi
done
echo refused
