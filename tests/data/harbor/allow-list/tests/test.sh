#!/bin/bash
if [ "$(cat net.txt)" = closed ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
