# Changes the machine through /sys and the control groups.
for place in /sys/power/state /sys/kernel/uevent_helper /sys/fs/cgroup/release_agent \
    /sys/fs/cgroup/pids/cgroup.procs /sys/kernel/mm/ksm/run /sys/class/net; do
    if [ -e "$place" ]; then echo "ESCAPED $place"; fi
done
if mkdir -p /tmp/cg && mount -t cgroup -o pids x /tmp/cg 2>/dev/null; then echo ESCAPED; fi
if mount -t sysfs x /tmp/cg 2>/dev/null; then echo ESCAPED; fi
echo refused
