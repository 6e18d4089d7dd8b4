-- Starts programs, reads the host, and ends with success.
os.execute("setsid sleep 600 >/dev/null 2>&1 &")
print(io.open("/etc/shadow") and "ESCAPED" or "refused")
os.exit(0)
print("proctor-secret-7f3a9c5e21d84b60")
