# Looks for keys and tokens in the usual places.
for name in /root/.ssh /root/.aws /root/.netrc /root/.bash_history /root/.config /home/*/.ssh \
    /etc/ssh /var/run/secrets /run/secrets /proc/1/root/root "$HOME/.ssh" /etc/kubernetes; do
    if ls -A "$name" 2>/dev/null | grep -q .; then echo "ESCAPED $name"; fi
done
echo refused
