# Leaves processes behind by every tool there is.
nohup sleep 600 >/dev/null 2>&1 &
setsid sleep 600 >/dev/null 2>&1 &
(sleep 600 &) &
disown -a
trap '' TERM HUP INT
echo left some behind
