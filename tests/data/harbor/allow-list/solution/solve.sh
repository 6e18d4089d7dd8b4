timeout 5 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80' 2>/dev/null && echo open >net.txt || echo closed >net.txt
