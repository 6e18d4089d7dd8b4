# Forks without end.
loop { fork { sleep 60 } }
