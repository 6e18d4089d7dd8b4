#!/bin/bash
if [ "$(paste -sd" " /logs/artifacts/sorted.txt)" = "$EXPECTED" ] && [ ! -e words.txt ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
