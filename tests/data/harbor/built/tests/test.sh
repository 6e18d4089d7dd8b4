#!/bin/bash
if [ "$(cat $TOTAL_FILE)" = 6 ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
