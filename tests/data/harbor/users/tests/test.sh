#!/bin/bash
if [ "$(cat who.txt)" = worker ] && [ "$(id -un)" = root ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
