#!/bin/bash
if [ -f empty ] && [ ! -s empty ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
