#!/bin/bash
if [ "$(cat count.txt)" = 2 ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
