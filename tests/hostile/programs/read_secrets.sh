# Looks for keys and tokens in the usual places.
R=/root
for name in $R/.ssh $R/.aws $R/.netrc $R/.bash_history $R/.config /home/*/.ssh \
    /etc/ssh /var/run/secrets /run/secrets /proc/1$R$R "$HOME/.ssh" /etc/kubernetes; do
    if ls -A "$name" 2>/dev/null | grep -q .; then echo "ESCAPED $name"; fi
done
echo refused
